"""Axes that record figures for SVG, with the methods of matplotlib that panels call.

Matplotlib takes as long to load as a log takes to fit, and as long again to draw the figures of a
report. Figures for the user are matplotlib's (`canvas.make_figure`), drawn by the same panels.
All lengths are in points, from the upper left corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array
from identify.reporting import colors
from identify.reporting.rounding import typeset

_CHARACTER_WIDTHS = (
    (0.32, "ijlIJ'′ ,.·’"),
    (0.41, "/:;\\|f()[]t-!²³⁰¹⁴⁵⁶⁷⁸⁹r"),
    (0.53, '"*_`–°“”sz⁻?'),
    (0.6, "cLFkvxyπ"),
    (0.65, "PTYoaäöüeEßhnuσSbdgpq$0123456789{}µ"),
    (0.7, "KαAVXZBRC"),
    (0.79, "UNHDG&OQ"),
    (0.86, "wωM#+<=>^~−±→×≥≤"),
)
"""Widths of characters relative to the font size, in the wide font DejaVu Sans; others have 1."""

_WIDTH_OF_CHARACTER = {
    character: width for width, characters in _CHARACTER_WIDTHS for character in characters
}

_TICK_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Allowed distances between axis ticks, times a power of ten."""

_AXIS_MARGIN = 0.08
"""Margin above and below the data relative to their range, if no limits are set."""

_CLIP_LIMIT = 10.0
"""Maximum distance of drawn points outside the axes, relative to the axis length."""


def text_width(text: str, size: float) -> float:
    """Estimate the width of a text in a font size."""
    return size * sum(_WIDTH_OF_CHARACTER.get(character, 1.0) for character in text)


def write_text(text: str, x: float, y: float, size: float, color: str, more: str = "") -> str:
    """Return an SVG text element whose baseline begins at (x, y)."""
    attributes = (
        f'font-size="{size:g}" x="{x:.2f}" y="{y:.2f}" fill="{colors.css_color(color)}"{more}'
    )
    return f"<text {attributes}>{escape(text)}</text>"


class Ticks(NamedTuple):
    """Values and labels of the ticks of an axis."""

    values: Array
    labels: tuple[str, ...]


class PointNote(NamedTuple):
    """Text in a figure at an offset from a point; the coordinate inf is the end of an axis."""

    text: str
    point: tuple[float, float]
    offset: tuple[float, float]
    anchor: str
    size: float
    color: str


class Mark(NamedTuple):
    """Line, area or markers of a figure through points in data units.

    Attributes:
        kind: "line", "area", or matplotlib's character of a marker.
        x: coordinates, with NaN between segments, and infinity for the edge of the axes.
        y: likewise.
        color: of line or area.
        width: of the line, or size of the marker.
        dashes: lengths of the dashes of a line and of the gaps between them.
        opacity: of line or area.
        clipped: whether it ends at the edge of the axes.
        stroke: width of the lines of a marker.
        label: its text in the legend.
    """

    kind: str
    x: Array
    y: Array
    color: str
    width: float
    dashes: tuple[float, ...] = ()
    opacity: float = 1.0
    clipped: bool = True
    stroke: float = 0.0
    label: str = ""


class Scale:
    """Scale of an axis: linear or logarithmic, with its limits and ticks."""

    def __init__(self, max_ticks: int, margin: float) -> None:
        self.low: float | None = None
        self.high: float | None = None
        self.log, self.grid, self.integer = False, True, False
        self.max_ticks, self._margin = max_ticks, margin
        self.fixed: Ticks | None = None
        self._data_range: list[float] = []

    def add(self, values: Array) -> None:
        """Extend the data range of the scale by finite values."""
        finite = values[np.isfinite(values)]
        positive = finite[finite > 0.0]
        for subset in (finite, positive):
            self._data_range += [float(end(subset)) for end in (np.min, np.max) if len(subset)]

    def limits(self) -> tuple[float, float]:
        """Return the limits that were set, or by default the data range with a margin."""
        data_range = [value for value in self._data_range if value > 0.0 or not self.log]
        ends = self.low, self.high
        low, high = (
            extreme(data_range, default=default) if end is None else end
            for extreme, default, end in zip((min, max), (0.1, 1.0), ends, strict=True)
        )
        if self.log:
            low, high = np.log10(low), np.log10(high)
        if high - low <= 1e-12 * max(abs(low), abs(high)):
            low, high = low - (0.05 * abs(low) or 0.05), high + (0.05 * abs(high) or 0.05)
        extra = self._margin * (high - low)
        low, high = low - extra, high + extra
        if self.log:
            low, high = 10.0**low, 10.0**high
        return (
            float(low) if self.low is None else self.low,
            float(high) if self.high is None else self.high,
        )

    def normalise(self, values: Array) -> Array:
        """Normalise values to 0 at the lower and 1 at the upper limit."""
        low, high = self.limits()
        finite = np.where(values == np.inf, high, np.where(values == -np.inf, low, values))
        if self.log:
            low, high = np.log10(low), np.log10(high)
            finite = np.log10(np.maximum(finite, np.finfo(float).tiny))
        return np.clip((finite - low) / (high - low), -_CLIP_LIMIT, 1.0 + _CLIP_LIMIT)

    def ticks(self, length: float, size: float, *, along: bool) -> Ticks:
        """Return as many ticks as have labels without overlap."""
        low, high = self.limits()
        if self.fixed is not None:
            inside = (self.fixed.values >= low) & (self.fixed.values <= high)
            labels = np.array(self.fixed.labels, dtype=object)[inside]
            return Ticks(self.fixed.values[inside], tuple(labels))
        counts = range(self.max_ticks, 0, -1)
        candidates = (_even_ticks(low, high, count, integer=self.integer) for count in counts)
        return next(
            (ticks for ticks in candidates if not along or _labels_fit(ticks, length, size)),
            _even_ticks(low, high, 1, integer=self.integer),
        )


def _labels_fit(ticks: Ticks, length: float, size: float) -> bool:
    """Return whether labels along an axis are at least one em apart."""
    widest = max((text_width(label, size) for label in ticks.labels), default=0.0)
    return len(ticks.values) < 3 or widest + 1.1 * size < length / (len(ticks.values) - 1)


def _even_ticks(low: float, high: float, max_steps: int, *, integer: bool) -> Ticks:
    """Return ticks at round values, at most `max_steps` steps, and at least two if possible."""
    raw = (high - low) / max_steps
    power = int(np.floor(np.log10(raw)))
    steps = sorted({step * 10.0**p for p in (power - 1, power) for step in _TICK_STEPS})
    if integer:
        steps = [step for step in steps if step >= 1.0 and step % 1.0 == 0.0] or [1.0]
    wide = next((k for k, step in enumerate(steps) if step >= raw * (1.0 - 1e-9)), len(steps) - 1)
    candidates = [
        (step, step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1.0))
        for step in steps[wide::-1]
    ]
    step, values = next((pair for pair in candidates if len(pair[1]) > 1), candidates[0])
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    decimals += abs(step * 10.0**decimals - round(step * 10.0**decimals)) > 1e-6
    plain = decimals <= 5 and np.abs(values).max(initial=0.0) < 1e6
    labels = (f"{value + 0.0:.{decimals}f}" if plain else f"{value:.6g}" for value in values)
    return Ticks(values, tuple(label.replace("-", "−") for label in labels))


class SvgAxes:
    """Axes that record marks for SVG, with the methods of matplotlib's axes that panels call.

    Attributes:
        x: scale of the horizontal axis.
        y: scale of the vertical axis.
        marks: all marks, in the order in which they are drawn.
        notes: texts at points.
        legend: marks by their label.
    """

    def __init__(self) -> None:
        self.x, self.y = Scale(7, 0.0), Scale(5, _AXIS_MARGIN)
        self.marks: list[Mark] = []
        self.notes: list[PointNote] = []
        self.legend: dict[str, list[Mark]] = {}
        self.y_ticks_drawn = True

    def _add(self, label: str | None, *drawn: Mark) -> None:
        marks = [mark._replace(label=label or "") for mark in drawn]
        self.marks += marks
        for mark in marks:
            self.x.add(mark.x)
            self.y.add(mark.y)
        if label is not None:
            self.legend.setdefault(label, []).extend(marks)

    def plot(
        self,
        x: ArrayLike,
        y: ArrayLike,
        fmt: str = "",
        *,
        color: str,
        lw: float = 1.0,
        ls: str | tuple[float, Sequence[float]] | None = None,
        marker: str = "",
        ms: float = 6.0,
        mew: float = 1.0,
        label: str | None = None,
        clip_on: bool = True,
    ) -> None:
        """Draw a line, markers, or both."""
        x, y = (np.asarray(values, dtype=np.float64).ravel() for values in (x, y))
        marker = marker or fmt
        marks = []
        if ls not in ("", "none") and not fmt:
            dashes = _dashes(ls[1], lw) if isinstance(ls, tuple) else ()
            marks.append(Mark("line", x, y, color, lw, dashes))
        if marker:
            marks.append(Mark(marker, x, y, color, ms, clipped=clip_on, stroke=mew))
        self._add(label, *marks)

    def fill_between(
        self,
        x: ArrayLike,
        y1: ArrayLike,
        y2: ArrayLike = 0.0,
        *,
        color: str,
        lw: float = 0.0,
        label: str | None = None,
    ) -> None:
        """Fill the area between two lines."""
        x = np.asarray(x, dtype=np.float64)
        y1, y2 = np.broadcast_to(y1, x.shape), np.broadcast_to(y2, x.shape)
        outline = np.concatenate((x, x[::-1])), np.concatenate((y1, y2[::-1]))
        self._add(label, Mark("area", *outline, color, lw))

    def barh(
        self,
        y: Array,
        width: Array,
        height: float,
        start: Array,
        *,
        color: str,
        label: str | None = None,
        lw: float = 0.0,
    ) -> None:
        """Draw horizontal bars."""
        half, gap = 0.5 * height, np.full(len(y), np.nan)
        xs = np.stack((start, start + width, start + width, start, gap), axis=-1)
        ys = np.stack((y - half, y - half, y + half, y + half, gap), axis=-1)
        self._add(label, Mark("area", xs.ravel(), ys.ravel(), color, lw))

    def axhspan(
        self, low: float, high: float, *, color: str, lw: float, label: str | None = None
    ) -> None:
        """Fill the horizontal band between two values of y."""
        across, up = np.array([-1.0, 1.0, 1.0, -1.0]) * np.inf, np.array([low, low, high, high])
        self._add(label, Mark("area", across, up, color, lw))

    def axvspan(
        self,
        low: float,
        high: float,
        *,
        color: str,
        lw: float,
        alpha: float = 1.0,
        label: str | None = None,
    ) -> None:
        """Fill the vertical band between two values of x."""
        across, up = np.array([low, high, high, low]), np.array([-1.0, -1.0, 1.0, 1.0]) * np.inf
        self._add(label, Mark("area", across, up, color, lw, opacity=alpha))

    def axhline(self, y: float, *, color: str, lw: float) -> None:
        """Draw a horizontal line across the axes."""
        ends = np.array([-np.inf, np.inf]), np.array([y, y])
        self._add(None, Mark("line", *ends, color, lw))

    def axvline(self, x: float, *, color: str, lw: float, dashes: Sequence[float] = ()) -> None:
        """Draw a vertical line across the axes."""
        ends = np.array([x, x]), np.array([-np.inf, np.inf])
        self._add(None, Mark("line", *ends, color, lw, _dashes(dashes, lw)))

    def hlines(
        self,
        y: ArrayLike,
        xmin: ArrayLike,
        xmax: ArrayLike,
        *,
        color: str,
        lw: float,
        alpha: float = 1.0,
    ) -> None:
        """Draw horizontal lines between values of x."""
        y, low, high = np.broadcast_arrays(y, xmin, xmax)
        gap = np.full(y.shape, np.nan)
        xs, ys = np.stack((low, high, gap), axis=-1), np.stack((y, y, gap), axis=-1)
        self._add(None, Mark("line", xs.ravel(), ys.ravel(), color, lw, opacity=alpha))

    def annotate(
        self,
        text: str,
        xy: tuple[float, float],
        *,
        xytext: tuple[float, float],
        xycoords: tuple[str, str],
        textcoords: str,
        size: float,
        color: str,
        ha: str = "left",
        va: str = "baseline",
        annotation_clip: bool = False,
    ) -> None:
        """Write a text at an offset from data or from the end of an axis ("axes fraction")."""
        x, y = (
            np.inf if of == "axes fraction" else at for at, of in zip(xy, xycoords, strict=True)
        )
        down = 0.35 * size if va == "center" else -0.2 * size
        anchor = {"left": "start", "center": "middle"}[ha]
        self.notes.append(
            PointNote(typeset(text), (x, y), (xytext[0], down - xytext[1]), anchor, size, color)
        )

    def set_xlim(self, low: float, high: float) -> None:
        """Set both limits of the horizontal axis."""
        self.x.low, self.x.high = float(low), float(high)

    def set_ylim(self, bottom: float | None = None, top: float | None = None) -> None:
        """Set limits of the vertical axis; None keeps a limit."""
        if bottom is not None:
            self.y.low = float(bottom)
        if top is not None:
            self.y.high = float(top)

    def get_xlim(self) -> tuple[float, float]:
        """Return the limits of the horizontal axis."""
        return self.x.limits()

    def get_ylim(self) -> tuple[float, float]:
        """Return the limits of the vertical axis."""
        return self.y.limits()

    def set_xscale(self, scale: str) -> None:
        """Make the horizontal axis logarithmic."""
        self.x.log = scale == "log"

    def set_yscale(self, scale: str) -> None:
        """Make the vertical axis logarithmic."""
        self.y.log = scale == "log"

    def set_xticks(
        self, values: ArrayLike, labels: Sequence[str] = (), *, minor: bool = False
    ) -> None:
        """Set the ticks of the horizontal axis; minor ticks are ignored."""
        if not minor:
            self.x.fixed = Ticks(np.asarray(values, dtype=np.float64), tuple(labels))

    def set_yticks(
        self, values: ArrayLike, labels: Sequence[str] = (), *, minor: bool = False
    ) -> None:
        """Set the ticks of the vertical axis; minor ticks are ignored."""
        if not minor:
            self.y.fixed = Ticks(np.asarray(values, dtype=np.float64), tuple(labels))

    def locator_params(self, axis: str, *, nbins: int, integer: bool = False) -> None:
        """Set the maximum number of ticks of an axis, and whether they must be whole numbers."""
        scale = self.x if axis == "x" else self.y
        scale.max_ticks, scale.integer = nbins, integer

    def grid(self, *, visible: bool, axis: str) -> None:
        """Show or hide the grid lines of an axis."""
        (self.x if axis == "x" else self.y).grid = visible

    def tick_params(self, axis: str, *, length: float) -> None:
        """Hide the ticks of the vertical axis if their length is zero."""
        self.y_ticks_drawn = self.y_ticks_drawn and not (axis == "y" and length == 0.0)

    def get_legend_handles_labels(self) -> tuple[list[list[Mark]], list[str]]:
        """Return the marks that have a label, and their labels."""
        return list(self.legend.values()), list(self.legend)


def _dashes(lengths: Sequence[float], width: float) -> tuple[float, ...]:
    """Convert a dash pattern from line widths, as in matplotlib, to points."""
    return tuple(width * length for length in lengths)
