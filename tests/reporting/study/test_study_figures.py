import numpy as np
import pytest

from identify.reporting.canvas import png_bytes
from identify.reporting.study.accuracy import accuracy_figures
from identify.reporting.study.intervals import coverage_figures
from identify.studies.results import proportion_interval
from tests.close import assert_close
from tests.reporting.study.results import rows


def swept(column: str, values: dict[str, float]):
    def metrics(log, corruption, estimator, seed):
        value = values.get(log, values.get(corruption))
        error = 2.0 * (1 + seed) / value if estimator == "ols" else 1.0 / value
        return {"mass_error": error, "consistent": 1.0, column: value}

    logs = [name for name in values if "/" in name] or ["a/0", "a/1"]
    corruptions = [name for name in values if "/" not in name] or ["low"]
    return rows(metrics, logs=logs, corruptions=corruptions, seeds=3)


def test_errors_are_plotted_over_swept_value_with_spread():
    (made,) = accuracy_figures(swept("log_duration", {"a/0": 1.0, "a/1": 10.0, "a/2": 100.0}))
    assert made.name == "accuracy_log_duration"
    mass, consistent = made.figure.axes
    assert (mass.get_xscale(), mass.get_yscale()) == ("log", "log")
    assert consistent.get_xlabel() == "duration of the log [s]"
    lines = {line.get_label(): line for line in mass.get_lines()}
    assert_close(lines["psd"].get_ydata(), [1.0, 0.1, 0.01])
    assert_close(lines["ols"].get_ydata(), [4.0, 0.4, 0.04])
    assert_close(lines["psd"].get_xdata(), [1.0, 10.0, 100.0], rtol=0.03)
    bars = np.reshape(mass.get_lines()[1].get_ydata(), (3, 3))
    assert_close(bars[:, :2], np.outer([1.0, 0.1, 0.01], [2.4, 5.6]))
    assert np.isnan(bars[:, 2]).all()
    assert_close(consistent.get_lines()[0].get_ydata(), 100.0 * np.ones(3))


def test_corruptions_without_sweep_are_drawn_side_by_side():
    def metrics(log, corruption, estimator, seed):
        return {"mass_error": 1.0}

    (made,) = accuracy_figures(rows(metrics, corruptions=("none", "low", "high")))
    ticks = [text.get_text() for text in made.figure.axes[-1].get_xticklabels()]
    assert ticks == ["low", "high"]
    assert accuracy_figures(rows(metrics, corruptions=("low",))) == []


def test_points_are_the_coverage_with_its_interval_and_crosses_the_worst_log():
    def metrics(log, corruption, estimator, seed):
        if estimator == "ols":
            return {"covered_m": None, "covered_hx": None}
        return {
            "covered_m": float(log == "a/0" or seed < 8),
            "covered_hx": 1.0,
            "covered_hy": float(seed < 5),
        }

    (made,) = coverage_figures(rows(metrics, seeds=10, corruptions=("none", "low", "high")))
    low, high = made.figure.axes
    points = {line.get_marker(): line for line in low.get_lines()[-2:]}
    assert_close(points["o"].get_xdata(), [90.0, 100.0])
    assert_close(points["o"].get_ydata(), [2.0, 1.0])
    assert_close([points["<"].get_xdata(), points["<"].get_ydata()], [[70.0], [0.0]])
    crosses = next(line for line in low.get_lines() if line.get_marker() == "x")
    assert_close(crosses.get_xdata(), [80.0, 100.0])
    (ranges,) = low.collections
    assert_close(ranges.get_segments()[0][:, 0], [70.0, 100.0 * proportion_interval(18, 20).high])
    assert_close(ranges.get_segments()[2][:, 0], [70.0, 72.8], 1e-3)  # of 10 of 20
    assert low.get_xlim() == (69.5, 100.5)
    assert [text.get_text() for text in high.get_yticklabels()] == ["m", "hx", "hy"]


@pytest.mark.parametrize("value", [0.0, 1e-12, None])
def test_zero_or_missing_errors_can_be_drawn(value):
    def metrics(log, corruption, estimator, seed):
        return {"mass_error": value if estimator == "ols" else 1.0, "covered_m": 1.0}

    study = rows(metrics, corruptions=("low", "high"))
    made = [*accuracy_figures(study), *coverage_figures(study)]
    assert len(made) == 2
    for each in made:
        assert len(png_bytes(each.figure)) > 1000


def test_points_of_selected_cells_are_crossed_out():
    def metrics(log, corruption, estimator, seed):
        there = estimator == "psd" or seed < (1 if corruption == "low" else 2)
        return {"riemannian": 1.0 if there else None, "consistent": float(there)}

    (made,) = accuracy_figures(rows(metrics, corruptions=("low", "high"), seeds=4))
    distance = made.figure.axes[0]
    crossed = [line for line in distance.get_lines() if line.get_marker() == "x"]
    assert [len(line.get_xdata()) for line in crossed] == [1]
    assert_close(crossed[0].get_xdata(), [distance.get_lines()[0].get_xdata()[0]])
    assert "crossed out" in made.caption


def overlap(figure) -> bool:
    """Whether a legend lies on a title, on anything of an axes, or outside its column."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    found = False
    for place in figure.subfigs:
        assert place.legends
        others = [text.get_window_extent(renderer) for text in place.texts if text.get_text()]
        others += [axes.get_tightbbox(renderer) for axes in place.axes]
        for box in (each.get_window_extent(renderer) for each in place.legends):
            found |= box.x0 < place.bbox.x0 or box.x1 > place.bbox.x1
            found |= any(box.overlaps(other) for other in others)
    return found


@pytest.mark.parametrize(
    "names",
    [
        ("ols", "wls", "psd"),
        ("ols", "wls", "psd", "psd_huber", "wls_known_mass"),
        ("WWWWWWWWWWWWWWWWWWW", "MMMMMMMMMMMMMMMMMMM"),
        tuple(f"{i:03}" for i in range(13)),
        tuple(f"an estimator with options, number {i}" for i in range(14)),
    ],
)
def test_legends_keep_clear_of_title_and_panels(names):
    def metrics(log, corruption, estimator, seed):
        return {"mass_error": 1.0, "log_duration": 1.0 if log == "a/0" else 20.0}

    facets = ("low", "a corruption whose label is too long for the title of a column")
    (made,) = accuracy_figures(rows(metrics, corruptions=facets, estimators=names))
    assert not overlap(made.figure)
    assert "2: `a corruption whose label is too long for" in made.caption
