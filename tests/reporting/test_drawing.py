import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from identify.reporting.canvas import Column, Panel, figure_style, label_rows, set_log_scale
from identify.reporting.drawing import column_svg
from identify.reporting.motion import excitation_columns
from identify.reporting.precision import parameter_columns, source_columns
from identify.reporting.replays import replay_columns
from identify.reporting.svg_axes import Scale, SvgAxes, text_width
from identify.reporting.wrenches import residual_columns, wrench_columns


@pytest.fixture(scope="module")
def columns(case) -> list[Column]:
    """All columns of each kind of result."""
    result = case.result
    made = (wrench_columns, residual_columns, excitation_columns, source_columns, replay_columns)
    return [*(column for make in made for column in make(result)), *parameter_columns(result)]


def panels_of(columns):
    return [panel for column in columns for panel in column.panels]


def test_limits_and_legends_match_matplotlib(columns):
    for panel in panels_of(columns):
        here = SvgAxes()
        panel.draw(here)
        with figure_style():
            there = Figure().add_subplot()
            panel.draw(there)
        for ours, axis in ((here.x, there.xaxis), (here.y, there.yaxis)):
            scaled = np.log10 if axis.get_scale() == "log" else np.array
            theirs = scaled(axis.get_view_interval())
            atol = 0.09 * (theirs[1] - theirs[0])
            np.testing.assert_allclose(scaled(ours.limits()), theirs, rtol=0.0, atol=atol)
            assert ours.log == (axis.get_scale() == "log")
        labels = there.get_legend_handles_labels()[1]
        assert set(here.get_legend_handles_labels()[1]) == set(labels)


def boxes_of(drawn: str) -> list[tuple[str, float, float, float, float]]:
    """Texts with their boxes; nothing may be smaller than 8 pt or outside."""
    root = ElementTree.fromstring(drawn)
    _, _, right, bottom = map(float, root.attrib["viewBox"].split())
    boxes = []
    for text in root.iter("text"):
        at, word = text.attrib, text.text or ""
        size, x, y = (float(at[name]) for name in ("font-size", "x", "y"))
        assert size >= 8.0
        width = text_width(word, size)
        left = x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[at.get("text-anchor", "start")]
        box = (left, y - 0.75 * size, left + width, y + 0.2 * size)
        if "transform" in at:
            box = (x - 0.75 * size, y - 0.5 * width, x + 0.2 * size, y + 0.5 * width)
        assert box[0] >= 0.0, f"{word!r} is cut off"
        assert box[1] >= 0.0, f"{word!r} is cut off"
        assert box[2] <= right, f"{word!r} is cut off"
        assert box[3] <= bottom, f"{word!r} is cut off"
        boxes.append((word, *box))
    return boxes


def require_apart(drawn: str) -> None:
    for one, other in itertools.combinations(boxes_of(drawn), 2):
        width = min(one[3], other[3]) - max(one[1], other[1])
        height = min(one[4], other[4]) - max(one[2], other[2])
        assert width < 1.0 or height < 1.0, f"{one[0]!r} and {other[0]!r} overlap"


def test_no_text_is_small_or_cut_off_or_lies_on_another(columns):
    for column in columns:
        require_apart(column_svg(column, "key"))


def test_line_breaks_at_nan():
    def draw(axes):
        axes.plot([0.0, 1.0, np.nan, 3.0, 4.0], [0.0, 1.0, np.nan, 1.0, 2.0], color="red")
        axes.set_xlim(0.0, 4.0)
        axes.set_ylim(0.0, 2.0)

    drawn = column_svg(Column("t", "x [m]", (Panel(draw, "y [m]"),)), "key")
    (d,) = re.findall(r'd="([^"]*)"[^>]*stroke="red"', drawn)
    (frame,) = re.findall(r"<rect ([^>]*)/>", drawn)
    left, top, width, height = (
        float(number) for number in re.findall(r'(?:x|y|width|height)="([\d.]+)"', frame)
    )
    pieces = [np.array(piece.split(), dtype=float).reshape(-1, 2) for piece in d.split("M")[1:]]
    shares = [(piece - [left, top + height]) / [width, -height] for piece in pieces]
    np.testing.assert_allclose(shares[0], [[0.0, 0.0], [0.25, 0.5]], atol=1e-3)
    np.testing.assert_allclose(shares[1], [[0.75, 0.5], [1.0, 1.0]], atol=1e-3)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 37.0, 1e8])
@pytest.mark.parametrize("low", [0.0, -1.0, 12.34])
def test_numbers_of_ticks_are_their_places(scale, low):
    axis = Scale(7, 0.0)
    axis.low, axis.high = low * scale, (low + 1.7) * scale
    ticks = axis.ticks(270.0, 8.0, along=True)
    assert 2 <= len(ticks.values) <= 8
    shown = [float(label.replace("−", "-")) for label in ticks.labels]
    np.testing.assert_allclose(shown, ticks.values, rtol=1e-5, atol=1e-9 * scale)
    assert len(set(ticks.labels)) == len(ticks.labels)


def test_integer_ticks_only():
    axis = Scale(10, 0.0)
    axis.low, axis.high, axis.integer = 0.5, 3.5, True
    assert axis.ticks(270.0, 8.0, along=True).labels == ("1", "2", "3")


def test_text_from_logs_is_escaped():
    hostile = '<script>alert("x")</script>'

    def draw(axes):
        axes.set_xlim(1.0, 100.0)
        set_log_scale(axes)
        label_rows(axes, [hostile], [hostile])
        axes.plot([1.0], [0.0], "o", color="red", label=hostile)

    drawn = column_svg(Column(hostile, hostile, (Panel(draw, hostile, hostile),)), "key")
    assert "<script" not in drawn
    words = [text.text for text in ElementTree.fromstring(drawn).iter("text")]
    assert words.count(hostile) == 7
