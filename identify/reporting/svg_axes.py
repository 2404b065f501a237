"""Axes of a page's figures: the methods of matplotlib's that panels draw with, as SVG.

Matplotlib takes as long to load as a log takes to fit, and as long again to draw the figures of a
report. Figures that are handed out are matplotlib's (`canvas.compose`), drawn by the same panels.
All lengths are in points, from the upper left corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array
from identify.reporting.canvas import paint
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
"""Widths of characters in a wide font, DejaVu Sans, over its size; of all others 1."""

_WIDTH_OF = {
    character: width for width, characters in _CHARACTER_WIDTHS for character in characters
}

_TICK_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Between ticks, in a power of ten."""

_AXIS_MARGIN = 0.08
"""Above and below the data, where no limits are set, as a share of their reach."""

_FAR_OUTSIDE = 10.0
"""Heights of the axes from which on it is all the same where a point outside them is."""


def text_width(text: str, size: float) -> float:
    """Room that a text takes."""
    return size * sum(_WIDTH_OF.get(character, 1.0) for character in text)


def write_text(text: str, x: float, y: float, size: float, color: str, more: str = "") -> str:
    """A text whose baseline begins at a point."""
    where = f'font-size="{size:g}" x="{x:.2f}" y="{y:.2f}" fill="{paint(color)}"{more}'
    return f"<text {where}>{escape(text)}</text>"


class Ticks(NamedTuple):
    """Places along an axis, and what stands there."""

    places: Array
    labels: tuple[str, ...]


class Note(NamedTuple):
    """A text beside a point of the axes: of the data along one axis, at the end of the other."""

    text: str
    at: tuple[float, float]
    offset: tuple[float, float]
    anchor: str
    size: float
    color: str


class Mark(NamedTuple):
    """A line, an area or markers through points in the units of the data.

    Attributes:
        kind: "line", "area", or the marker.
        x: with NaN between the pieces, and infinity for the edge of the axes.
        y: likewise.
        color: of line or area.
        width: of the line, or size of the marker.
        dashes: lengths of the dashes of a line and of the gaps between them.
        opacity: of line or area.
        clipped: whether it ends at the edge of the axes.
        stroke: width of the lines of a marker.
        label: what it means in the legend.
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
    """One axis: its limits, where they are set, its ticks, and whether it is logarithmic."""

    def __init__(self, most: int, margin: float) -> None:
        self.low: float | None = None
        self.high: float | None = None
        self.log, self.grid, self.integer = False, True, False
        self.most, self._margin = most, margin
        self.fixed: Ticks | None = None
        self._reach: list[float] = []

    def add(self, values: Array) -> None:
        """Take values in that are to lie within the limits; NaN and infinity are of no place."""
        known = values[np.isfinite(values)]
        positive = known[known > 0.0]
        for some in (known, positive):
            self._reach += [float(edge(some)) for edge in (np.min, np.max) if len(some)]

    def limits(self) -> tuple[float, float]:
        """The limits: those that were set, or those of the data with a margin."""
        reach = [value for value in self._reach if value > 0.0 or not self.log]
        ends = self.low, self.high
        low, high = (
            edge(reach, default=least) if end is None else end
            for edge, least, end in zip((min, max), (0.1, 1.0), ends, strict=True)
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

    def shares(self, values: Array) -> Array:
        """Where values are between the limits: 0 at the lower one, 1 at the upper one."""
        low, high = self.limits()
        placed = np.where(values == np.inf, high, np.where(values == -np.inf, low, values))
        if self.log:
            low, high = np.log10(low), np.log10(high)
            placed = np.log10(np.maximum(placed, np.finfo(float).tiny))
        return np.clip((placed - low) / (high - low), -_FAR_OUTSIDE, 1.0 + _FAR_OUTSIDE)

    def ticks(self, room: float, size: float, *, along: bool) -> Ticks:
        """Ticks with labels that do not touch each other.

        Args:
            room: length of the axis.
            size: of the labels.
            along: whether labels are written along the axis.
        """
        low, high = self.limits()
        if self.fixed is not None:
            inside = (self.fixed.places >= low) & (self.fixed.places <= high)
            labels = np.array(self.fixed.labels, dtype=object)[inside]
            return Ticks(self.fixed.places[inside], tuple(labels))
        counts = range(self.most, 0, -1)
        tried = (_even_ticks(low, high, most, integer=self.integer) for most in counts)
        return next(
            (ticks for ticks in tried if not along or _stand_apart(ticks, room, size)),
            _even_ticks(low, high, 1, integer=self.integer),
        )


def _stand_apart(ticks: Ticks, room: float, size: float) -> bool:
    """Whether there is an em and more between labels along an axis."""
    widest = max((text_width(label, size) for label in ticks.labels), default=0.0)
    return len(ticks.places) < 3 or widest + 1.1 * size < room / (len(ticks.places) - 1)


def _even_ticks(low: float, high: float, most: int, *, integer: bool) -> Ticks:
    """Round places, `most` steps at the most between the limits, but two places where it can be."""
    raw = (high - low) / most
    power = int(np.floor(np.log10(raw)))
    steps = sorted({step * 10.0**p for p in (power - 1, power) for step in _TICK_STEPS})
    if integer:
        steps = [step for step in steps if step >= 1.0 and step % 1.0 == 0.0] or [1.0]
    wide = next((k for k, step in enumerate(steps) if step >= raw * (1.0 - 1e-9)), len(steps) - 1)
    tried = [
        (step, step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1.0))
        for step in steps[wide::-1]
    ]
    step, places = next((one for one in tried if len(one[1]) > 1), tried[0])
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    decimals += abs(step * 10.0**decimals - round(step * 10.0**decimals)) > 1e-6
    plain = decimals <= 5 and np.abs(places).max(initial=0.0) < 1e6
    labels = (f"{place + 0.0:.{decimals}f}" if plain else f"{place:.6g}" for place in places)
    return Ticks(places, tuple(label.replace("-", "−") for label in labels))


class _SpanLook(TypedDict, total=False):
    alpha: float
    lw: float
    label: str


class SvgAxes:
    """What a panel draws on: of matplotlib's axes the methods that panels of pages use.

    Attributes:
        x: the horizontal axis.
        y: the vertical one.
        marks: what is drawn, in its order.
        notes: texts beside points.
        legend: what marks mean.
    """

    def __init__(self) -> None:
        self.x, self.y = Scale(7, 0.0), Scale(5, _AXIS_MARGIN)
        self.marks: list[Mark] = []
        self.notes: list[Note] = []
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
        """A line, or markers."""
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
        """The area between two lines."""
        x = np.asarray(x, dtype=np.float64)
        y1, y2 = np.broadcast_to(y1, x.shape), np.broadcast_to(y2, x.shape)
        outline = np.concatenate((x, x[::-1])), np.concatenate((y1, y2[::-1]))
        self._add(label, Mark("area", *outline, color, lw))

    def barh(
        self,
        y: Array,
        width: Array,
        *,
        left: Array,
        height: float,
        color: str,
        label: str | None = None,
        lw: float = 0.0,
    ) -> None:
        """Bars along the horizontal axis."""
        half, gap = 0.5 * height, np.full(len(y), np.nan)
        xs = np.stack((left, left + width, left + width, left, gap), axis=-1)
        ys = np.stack((y - half, y - half, y + half, y + half, gap), axis=-1)
        self._add(label, Mark("area", xs.ravel(), ys.ravel(), color, lw))

    def _span(self, outline: tuple[Array, Array], color: str, **look: Unpack[_SpanLook]) -> None:
        mark = Mark("area", *outline, color, look.get("lw", 0.0), opacity=look.get("alpha", 1.0))
        self._add(look.get("label"), mark)

    def axhspan(self, low: float, high: float, *, color: str, **look: Unpack[_SpanLook]) -> None:
        """The area between two heights; `look` is its alpha, lw and label."""
        across, up = np.array([-1.0, 1.0, 1.0, -1.0]) * np.inf, np.array([low, low, high, high])
        self._span((across, up), color, **look)

    def axvspan(self, low: float, high: float, *, color: str, **look: Unpack[_SpanLook]) -> None:
        """The area between two places along the horizontal axis; `look` as above."""
        across, up = np.array([low, high, high, low]), np.array([-1.0, -1.0, 1.0, 1.0]) * np.inf
        self._span((across, up), color, **look)

    def axhline(self, y: float, *, color: str, lw: float) -> None:
        """A line all along a height."""
        ends = np.array([-np.inf, np.inf]), np.array([y, y])
        self._add(None, Mark("line", *ends, color, lw))

    def axvline(self, x: float, *, color: str, lw: float, dashes: Sequence[float] = ()) -> None:
        """A line from the bottom to the top."""
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
        """Lines along some heights."""
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
        """A text at an offset from the end of an axis (1.0 of "axes fraction") or from data."""
        x, y = (
            np.inf if of == "axes fraction" else at for at, of in zip(xy, xycoords, strict=True)
        )
        down = 0.35 * size if va == "center" else -0.2 * size
        anchor = {"left": "start", "center": "middle"}[ha]
        self.notes.append(
            Note(typeset(text), (x, y), (xytext[0], down - xytext[1]), anchor, size, color)
        )

    def set_xlim(self, low: float, high: float) -> None:
        """Set both limits of the horizontal axis."""
        self.x.low, self.x.high = float(low), float(high)

    def set_ylim(self, bottom: float | None = None, top: float | None = None) -> None:
        """Set limits of the vertical axis; None leaves one as it is."""
        if bottom is not None:
            self.y.low = float(bottom)
        if top is not None:
            self.y.high = float(top)

    def get_xlim(self) -> tuple[float, float]:
        """Limits of the horizontal axis."""
        return self.x.limits()

    def get_ylim(self) -> tuple[float, float]:
        """Limits of the vertical axis."""
        return self.y.limits()

    def set_xscale(self, scale: str) -> None:
        """Make the horizontal axis logarithmic."""
        self.x.log = scale == "log"

    def set_yscale(self, scale: str) -> None:
        """Make the vertical axis logarithmic."""
        self.y.log = scale == "log"

    def set_xticks(
        self, places: ArrayLike, labels: Sequence[str] = (), *, minor: bool = False
    ) -> None:
        """Set what stands along the horizontal axis; there are no minor ticks."""
        if not minor:
            self.x.fixed = Ticks(np.asarray(places, dtype=np.float64), tuple(labels))

    def set_yticks(
        self, places: ArrayLike, labels: Sequence[str] = (), *, minor: bool = False
    ) -> None:
        """Set what stands along the vertical axis."""
        if not minor:
            self.y.fixed = Ticks(np.asarray(places, dtype=np.float64), tuple(labels))

    def locator_params(self, axis: str, *, nbins: int, integer: bool = False) -> None:
        """How many ticks an axis has at the most, and whether at whole numbers alone."""
        scale = self.x if axis == "x" else self.y
        scale.most, scale.integer = nbins, integer

    def grid(self, *, visible: bool, axis: str) -> None:
        """Whether there are lines across an axis."""
        (self.x if axis == "x" else self.y).grid = visible

    def tick_params(self, axis: str, *, length: float) -> None:
        """No ticks beside the names of rows."""
        self.y_ticks_drawn = self.y_ticks_drawn and not (axis == "y" and length == 0.0)

    def get_legend_handles_labels(self) -> tuple[list[list[Mark]], list[str]]:
        """Marks that mean something, and what."""
        return list(self.legend.values()), list(self.legend)


def _dashes(lengths: Sequence[float], width: float) -> tuple[float, ...]:
    """Dashes, which matplotlib gives in widths of the line."""
    return tuple(width * length for length in lengths)
