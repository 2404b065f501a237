import itertools
import re
from typing import NamedTuple

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from identify.errors import ProblemError
from identify.exchange import read_estimate
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.reporting import plot
from identify.reporting.canvas import set_log_scale
from identify.reporting.motion import feature_rms
from identify.reporting.timeline import timelines
from identify.reporting.wrenches import predict_wrenches

RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
UNIT = re.compile(r"\[[^\]]+\]")


def figures_of(case) -> list[Figure]:
    figures = [
        plot.wrench(case.result),
        plot.residuals(case.result),
        plot.excitation(case.result),
        plot.parameters(case.result, case.truth),
    ]
    if case.result.validation.replay is not None:
        figures.append(plot.replay(case.result))
    return figures


class Drawn(NamedTuple):
    """A drawn figure, and the texts on it with their boxes."""

    figure: Figure
    texts: list[tuple[str, Bbox]]


def draw(figure: Figure) -> Drawn:
    # Which texts are drawn only drawing tells: labels of ticks beyond the limits are not.
    texts: list[Text] = []
    original = Text.draw

    def record(text: Text, renderer: object) -> None:
        texts.append(text)
        original(text, renderer)

    canvas = FigureCanvasAgg(figure)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", record)
        canvas.draw()
    seen = [text for text in texts if text.get_visible() and text.get_text().strip()]
    renderer = canvas.get_renderer()
    return Drawn(figure, [(text.get_text(), text.get_window_extent(renderer)) for text in seen])


@pytest.fixture(scope="session")
def drawn(case) -> list[Drawn]:
    return [draw(figure) for figure in figures_of(case)]


def test_every_axis_is_named_with_its_unit(drawn):
    for figure, _ in drawn:
        columns: dict[float, list] = {}
        for axes in figure.axes:
            columns.setdefault(round(axes.get_position().x0, 3), []).append(axes)
            named = [label.get_text() for label in axes.get_yticklabels()]
            assert UNIT.search(axes.get_ylabel()) or all(re.search(r"[a-zα-ω]", n) for n in named)
            labelled = axes.xaxis.get_tick_params()["labelbottom"]
            assert bool(axes.get_xlabel()) == labelled
            assert not labelled or UNIT.search(axes.get_xlabel())
        for column in columns.values():
            lowest = min(column, key=lambda axes: axes.get_position().y0)
            assert UNIT.search(lowest.get_xlabel())


def test_axes_contain_data_within_limits(drawn):
    for figure, _ in drawn:
        assert figure.axes
        for axes in figure.axes:
            lines = [line for line in axes.lines if len(line.get_xdata()) > 1]
            seen = [line for line in lines if np.isfinite(line.get_ydata()).any()]
            assert seen
            low, high = axes.get_xlim()
            bottom, top = axes.get_ylim()
            assert low < high
            assert bottom < top
            for line in seen:
                if line.get_transform() != axes.transData:
                    continue
                x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
                inside = np.isfinite(x) & np.isfinite(y)
                slack = 1e-9 * (high - low)
                assert (x[inside] >= low - slack).all()
                assert (x[inside] <= high + slack).all()
                assert (y[inside] >= bottom).all()
                assert (y[inside] <= top).all()


def test_figure_texts_do_not_overlap(drawn):
    for figure, texts in drawn:
        assert len(texts) > 5
        for word, box in texts:
            inside = box.x0 >= 0 and box.y0 >= 0
            inside = inside and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
            assert inside, f"{word!r} is cut off"
        for (one, first), (other, second) in itertools.combinations(texts, 2):
            width = min(first.x1, second.x1) - max(first.x0, second.x0)
            height = min(first.y1, second.y1) - max(first.y0, second.y0)
            assert width < 1.0 or height < 1.0, f"{one!r} and {other!r} overlap"


def test_the_residual_matches_the_estimate(case):
    """By the regressor, sample by sample; its size is that of slow rows and of some noise above."""
    estimate, bias = case.result.estimate, case.result.settings.bias
    summed = np.zeros(6)
    for log, shown in zip(case.result.logs, predict_wrenches(case.result), strict=True):
        Y = np.tensordot(log.features, FEATURE_TENSOR, axes=1)
        offset = log.wrench - Y @ estimate.parameters.phi - shown.residual
        slack = 1e-12 * np.abs(log.wrench).max()
        expected = log.rows[:, :1] * (offset[0] / log.rows[0, 0])
        np.testing.assert_allclose(offset, expected, rtol=0.0, atol=10.0 * slack)
        summed += log.rows[:, 0] @ shown.residual
        if bias == "per_log":
            assert (abs(log.rows[:, 0] @ shown.residual) < len(log.rows) * slack).all()
    if bias == "shared":
        assert (abs(summed) < 1e-9 * len(log.rows)).all()
    if bias == "none":
        np.testing.assert_allclose(offset, 0.0, atol=slack)
    residual = np.concatenate([one.residual for one in predict_wrenches(case.result)])
    rms = np.sqrt(np.mean(residual**2, axis=0))
    slack = 1e-9 * np.abs(np.concatenate([log.wrench for log in case.result.logs])).max()
    assert (rms + slack > 0.8 * estimate.residual_rms).all()
    assert (rms < 2.0 * estimate.residual_rms + slack).all()


def test_lines_break_at_gaps_and_between_logs(case):
    for line in timelines(case.result.logs):
        values = [log.wrench[:, 0] for log in case.result.logs]
        x, y = line.trace(values)
        assert np.isnan(y).sum() == len(line.segments)
        assert (np.isnan(x) == np.isnan(y)).all()
        ordered = x[np.isfinite(x)]
        assert (np.diff(ordered) > 0.0).all()
        for (_, _, last), (_, first, _) in itertools.pairwise(line.spans):
            assert first >= last


def test_excitation_subtracts_mean_when_bias_is_fitted(case):
    motion, noise = feature_rms(case.result)
    features = [log.features for log in case.result.logs]
    together = np.concatenate(features)
    expected = {
        "per_log": np.concatenate([one - one.mean(axis=0) for one in features]),
        "shared": together - together.mean(axis=0),
        "none": together,
    }[case.result.settings.bias]
    np.testing.assert_allclose(motion, np.sqrt(np.mean(expected**2, axis=0)), atol=1e-12)
    assert (noise >= 0.0).all()


@pytest.mark.parametrize("scale", [1e-9, 3e-5, 0.02, 1.0, 400.0, 2e5])
@pytest.mark.parametrize("width", [3.0, 40.0, 1e4])
def test_decades_are_labelled_with_their_values(scale, width):
    figure = Figure()
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    axes.set_xlim(scale, width * scale)
    set_log_scale(axes)
    FigureCanvasAgg(figure).draw()
    low, high = axes.get_xlim()
    labels = {
        float(place): label.get_text()
        for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        if low <= place <= high
    }
    assert labels
    for place, label in labels.items():
        mantissa, _, power = label.rpartition("·")
        if power[:2] == "10" and power[2:3] in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹" and power != "10":
            value = float(mantissa or 1) * 10.0 ** int(power[2:].translate(RAISED))
        else:
            value = float(label)
        assert value == pytest.approx(place, rel=1e-9)


def test_missing_replay_states_reason(still):
    with pytest.raises(ProblemError, match="No replay: Ixx"):
        plot.replay(still)


def lengths_drawn(figure: Figure) -> list[list[float]]:
    """The numbers of all lines and bars of a figure."""
    axes = figure.axes
    lines = [np.nan_to_num(line.get_xdata(), nan=-1.0).tolist() for a in axes for line in a.lines]
    return lines + [[bar.get_width()] for a in axes for bar in a.patches]


@pytest.mark.parametrize("name", ["parameters", "sources"])
def test_an_estimate_is_drawn_as_the_result_that_it_is_of_also_where_it_was_loaded(
    result, tmp_path, name
):
    figure_of = getattr(plot, name)
    result.estimate.save(tmp_path / "estimate.json")
    of_result = lengths_drawn(figure_of(result))
    assert sum(map(len, of_result)) >= 10
    for estimate in (result.estimate, read_estimate(tmp_path / "estimate.json")):
        assert lengths_drawn(figure_of(estimate)) == of_result


@pytest.mark.parametrize("name", ["wrench", "residuals", "excitation", "replay"])
def test_plots_of_logs_reject_an_estimate(result, name):
    with pytest.raises(ProblemError, match=rf"plot.{name} shows the logs.*give the Result"):
        getattr(plot, name)(result.estimate)


def test_saved_figure_ignores_global_matplotlib_settings(result):
    with matplotlib.rc_context({"font.family": ["serif"], "font.size": 30.0}):
        other = draw(plot.wrench(result)).texts
    usual = draw(plot.wrench(result)).texts
    assert [(text, box.bounds) for text, box in other] == [
        (text, box.bounds) for text, box in usual
    ]
