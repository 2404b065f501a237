"""A column of panels as an SVG element of a page, its parts put in place by arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, cast

import numpy as np

from identify.arrays import Array
from identify.reporting.canvas import EDGE, GRID, INK, MUTED, PAD, WIDTH, Column, Panel, paint
from identify.reporting.svg_axes import Mark, SvgAxes, Ticks, text_width, write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS_OF_INCH = 72.0
_TITLE_TEXT, _LABEL_TEXT, _SMALL_TEXT = 9.5, 8.5, 8.0
"""Sizes of text."""

_BOLD = 1.12
"""Width of bold text over that of plain text."""

_LINE_SPACING = 1.4
"""From one line of text to the next, over its size."""

_TICK, _TICK_GAP = 3.0, 3.5
"""Length of a tick, and the gap between it and its number."""

_HANDLE, _AFTER_HANDLE, _BETWEEN = 12.0, 4.0, 9.6
"""Of a legend: width of a mark, and the gaps after it and after its word."""

_LEFT, _RIGHT = _POINTS_OF_INCH * PAD, _POINTS_OF_INCH * (WIDTH - PAD)
"""Where a column begins and ends."""


def svg(column: Column, key: str) -> str:
    """A column as an `svg` element for a page; its ids begin with `key`, which is of this figure.

    Returns:
        Markup that is safe to put into a page: all text is escaped.
    """
    panels = [_DrawnPanel.of(panel) for panel in column.panels]
    parts, y = _head(column.title, [panel.axes for panel in panels])
    left, right = _sides(panels)
    for number, panel in enumerate(panels):
        top = y + panel.above
        box = _Box(left, top, right - left, panel.height, f"{key}-{number}")
        labelled = not column.shared or panel is panels[-1]
        drawn = "".join(box.draw(panel, numbered=labelled, zoomed=bool(column.link)))
        parts.append(box.group(panel, drawn) if column.link else drawn)
        y = top + panel.height
        if labelled:
            y += _TICK + _TICK_GAP + _SMALL_TEXT + _LINE_SPACING * _LABEL_TEXT
            xlabel = panel.xlabel or column.xlabel
            parts.append(write_text(xlabel, 0.5 * (left + right), y, _LABEL_TEXT, INK, _MIDDLE))
    labels = "; ".join(panel.ylabel or panel.xlabel or column.xlabel for panel in panels)
    label = escape(f"{column.title}: {labels}")
    size = f"0 0 {_POINTS_OF_INCH * WIDTH:g} {y + _LEFT:.2f}"
    link = f' data-link="{escape(column.link)}"' if column.link else ""
    return f'<svg viewBox="{size}" role="img" aria-label="{label}"{link}>{"".join(parts)}</svg>'


_MIDDLE, _END = ' text-anchor="middle"', ' text-anchor="end"'


@dataclass(frozen=True, slots=True)
class _DrawnPanel:
    """A panel with what was drawn on its axes; lengths in points."""

    axes: SvgAxes
    ylabel: str
    xlabel: str
    note: str
    height: float
    up: Ticks

    @classmethod
    def of(cls, panel: Panel) -> _DrawnPanel:
        axes, height = SvgAxes(), _POINTS_OF_INCH * panel.height
        panel.draw(cast("Axes", axes))  # panels of pages use what both have
        up = axes.y.ticks(height, _SMALL_TEXT, along=False)
        return cls(axes, panel.ylabel, panel.xlabel, panel.note, height, up)

    @property
    def above(self) -> float:
        """Room for what stands above the axes, and for half a number beside their upper end."""
        notes = self.axes.notes
        texts = [note.size - note.offset[1] for note in notes if note.at[1] == np.inf]
        return (
            max(0.5 * _SMALL_TEXT, *texts, bool(self.note) * (_TICK_GAP + _SMALL_TEXT))
            + _SMALL_TEXT
        )


def _sides(panels: Sequence[_DrawnPanel]) -> tuple[float, float]:
    """Where the axes of a column begin and end."""
    words = (text_width(label, _SMALL_TEXT) for panel in panels for label in panel.up.labels)
    left = _LEFT + max(words, default=0.0) + _TICK + _TICK_GAP
    if any(panel.ylabel for panel in panels):
        left += _LINE_SPACING * _LABEL_TEXT
    notes = (note for panel in panels for note in panel.axes.notes if note.at[0] == np.inf)
    beside = (note.offset[0] + text_width(note.text, note.size) for note in notes)
    right = _RIGHT - max(beside, default=0.0)
    found = (panel.axes.x.ticks(right - left, _SMALL_TEXT, along=True).labels for panel in panels)
    last = (0.5 * text_width(labels[-1], _SMALL_TEXT) for labels in found if labels)
    return left, min(right, _RIGHT - max(last, default=0.0))


def _head(title: str, drawn: Sequence[SvgAxes]) -> tuple[list[str], float]:
    """Title, and what the marks of all panels mean, each once: beside it, or in rows below it.

    Returns:
        Their markup, and where it ends.
    """
    y = _LEFT + _TITLE_TEXT
    parts = [write_text(title, _LEFT, y, _TITLE_TEXT, INK, ' font-weight="bold"')]
    legend = {label: marks for axes in drawn[::-1] for label, marks in axes.legend.items()}
    order = dict.fromkeys(label for axes in drawn for label in axes.legend)
    widths = {label: _HANDLE + _AFTER_HANDLE + text_width(label, _SMALL_TEXT) for label in order}
    if not order:
        return parts, y
    whole = sum(widths.values()) + _BETWEEN * (len(widths) - 1)
    x = _RIGHT - whole
    if x < _LEFT + _BOLD * text_width(title, _TITLE_TEXT) + _BETWEEN:
        x, y = _LEFT, y + _LINE_SPACING * _SMALL_TEXT
    for label, width in widths.items():
        if x > _LEFT and x + width > _RIGHT + 0.01:
            x, y = _LEFT, y + _LINE_SPACING * _SMALL_TEXT
        handle = _Box(x, y - 0.7 * _SMALL_TEXT, _HANDLE, 0.7 * _SMALL_TEXT, "")
        parts += (handle.key_of(mark) for mark in legend[label])
        parts.append(write_text(label, x + _HANDLE + _AFTER_HANDLE, y, _SMALL_TEXT, INK))
        x += width + _BETWEEN
    return parts, y


@dataclass(frozen=True, slots=True)
class _Box:
    """A rectangle that axes fill, from its upper left corner, and the id of its outline."""

    left: float
    top: float
    width: float
    height: float
    key: str

    def group(self, panel: _DrawnPanel, drawn: str) -> str:
        """The panel with what a script needs to zoom it: its place, its limits and its label."""
        limits = {"x": panel.axes.x.limits(), "y": panel.axes.y.limits()}
        said = "".join(f' data-{k}="{low:.12g} {high:.12g}"' for k, (low, high) in limits.items())
        box = f"{self.left:.2f} {self.top:.2f} {self.width:.2f} {self.height:.2f}"
        label = escape(panel.ylabel)
        return f'<g class="panel" data-label="{label}" data-box="{box}"{said}>{drawn}</g>'

    def draw(self, panel: _DrawnPanel, *, numbered: bool, zoomed: bool) -> Iterator[str]:
        """Grid, marks, axes with ticks, and texts."""
        axes, bottom = panel.axes, self.top + self.height
        across = axes.x.ticks(self.width, _SMALL_TEXT, along=True)
        xs = (self.left + self.width * axes.x.shares(across.places)).tolist()
        ys = (bottom - self.height * axes.y.shares(panel.up.places)).tolist()
        grid = [f"M{x:.2f} {self.top:.2f}v{self.height:.2f}" for x in xs if axes.x.grid]
        grid += [f"M{self.left:.2f} {y:.2f}h{self.width:.2f}" for y in ys if axes.y.grid]
        yield _stroke("".join(grid), GRID, 0.6, ' class="grid"' if zoomed else "")
        where = f'x="{self.left:.2f}" y="{self.top:.2f}"'
        size = f'width="{self.width:.2f}" height="{self.height:.2f}"'
        yield f'<clipPath id="{self.key}"><rect {where} {size}/></clipPath>'
        areas = [mark for mark in axes.marks if mark.kind == "area"]
        others = [mark for mark in axes.marks if mark.kind != "area"]
        clipped = [mark for mark in (*areas, *others) if mark.clipped]
        shapes = "".join(self._drawn(mark, axes, _ZOOM if zoomed else 1.0) for mark in clipped)
        if zoomed:
            shapes = f'<g class="data" transform="scale({1.0 / _ZOOM:g})">{shapes}</g>'
        yield f'<g clip-path="url(#{self.key})">{shapes}</g>'
        yield from (self._drawn(mark, axes) for mark in others if not mark.clipped)
        ticks = [f"M{x:.2f} {bottom:.2f}v{_TICK:g}" for x in xs]
        ticks += [f"M{self.left:.2f} {y:.2f}h{-_TICK:g}" for y in ys if axes.y_ticks_drawn]
        corner = f"M{self.left:.2f} {self.top:.2f}V{bottom:.2f}H{self.left + self.width:.2f}"
        yield _stroke(corner + "".join(ticks), EDGE, 0.8, ' class="edge"' if zoomed else "")
        up, along = (' class="up"', ' class="across"') if zoomed else ("", "")
        for y, label in zip(ys, panel.up.labels, strict=True):
            x = self.left - _TICK - _TICK_GAP
            yield write_text(label, x, y + 0.36 * _SMALL_TEXT, _SMALL_TEXT, INK, f"{_END}{up}")
        yield from self._texts(panel)
        if numbered:
            y = bottom + _TICK + _TICK_GAP + 0.75 * _SMALL_TEXT
            for x, label in zip(xs, across.labels, strict=True):
                yield write_text(label, x, y, _SMALL_TEXT, INK, f"{_MIDDLE}{along}")

    def _texts(self, panel: _DrawnPanel) -> Iterator[str]:
        if panel.ylabel:
            x, y = _LEFT + 0.8 * _LABEL_TEXT, self.top + 0.5 * self.height
            turned = f'{_MIDDLE} class="name" transform="rotate(-90 {x:.2f} {y:.2f})"'
            yield write_text(panel.ylabel, x, y, _LABEL_TEXT, INK, turned)
        if panel.note:
            x, y = self.left + self.width, self.top - _TICK_GAP
            yield write_text(panel.note, x, y, _SMALL_TEXT, MUTED, _END)
        for note in panel.axes.notes:
            (x,), (y,) = self._place(panel.axes, *np.array(note.at)[:, None])
            anchor = f' text-anchor="{note.anchor}"'
            x, y = float(x) + note.offset[0], float(y) + note.offset[1]
            yield write_text(note.text, x, y, note.size, note.color, anchor)

    def key_of(self, mark: Mark) -> str:
        """A mark of a legend."""
        ends = (0.0, 1.0) if mark.kind == "line" else (0.5,)
        x, y = self.left + self.width * np.array(ends), np.full(len(ends), self.top)
        if mark.kind == "area":
            x = self.left + self.width * np.array([0.0, 1.0, 1.0, 0.0])
            y = self.top + self.height * np.array([0.0, 0.0, 1.0, 1.0])
        else:
            y += 0.5 * self.height
        return _shape(mark, x, y)

    def _drawn(self, mark: Mark, axes: SvgAxes, zoom: float = 1.0) -> str:
        x, y = self._place(axes, mark.x, mark.y)
        return _shape(mark, x, y) if zoom == 1.0 else _fine_shape(mark, zoom * x, zoom * y, zoom)

    def _place(self, axes: SvgAxes, x: Array, y: Array) -> tuple[Array, Array]:
        across, up = self.width * axes.x.shares(x), self.height * axes.y.shares(y)
        return self.left + across, self.top + self.height - up


def _shape(mark: Mark, x: Array, y: Array) -> str:
    """A mark through points on the page."""
    if mark.kind == "area":
        return _filled(_path(x, y, "Z"), mark)
    if mark.kind == "line":
        return _line(_path(x, y), mark)
    r = mark.width * (0.7 if mark.kind == "D" else 0.5)  # a square on its corner
    shape = _MARKERS[mark.kind].format(r=r, d=2.0 * r, minus=-r, back=-2.0 * r)
    there = np.isfinite(x) & np.isfinite(y)
    pairs = zip(x[there].tolist(), y[there].tolist(), strict=True)
    d = "".join(f"M{a:.2f} {b:.2f}{shape}" for a, b in pairs)
    return _stroke(d, mark.color, mark.stroke) if mark.kind in "x|" else _filled(d, mark)


_ZOOM = 1000.0
"""Fine units in a point: what can be zoomed is drawn in whole ones, which is shorter, too."""


def _fine_shape(mark: Mark, x: Array, y: Array, zoom: float) -> str:
    """The same in fine units, each point from the one before; markers are round there."""
    mark = mark._replace(width=zoom * mark.width, dashes=tuple(zoom * d for d in mark.dashes))
    if mark.kind == "area":
        return _filled(_path(x, y, "Z", "%.0f"), mark)
    name = f' class="series" data-name="{escape(mark.label)}"' if mark.label else ""
    if mark.kind == "line":
        return _line(_steps(x, y), mark, name)
    return _stroke(_steps(x, y, "h0"), mark.color, mark.width, ' stroke-linecap="round"')


def _filled(d: str, mark: Mark) -> str:
    """A path that is an area."""
    outline = ""
    if mark.kind == "area" and mark.width:
        outline = f' stroke="{paint(mark.color)}" stroke-width="{mark.width:g}"'
    opacity = f' fill-opacity="{mark.opacity:g}"' if mark.opacity < 1.0 else ""
    return f'<path d="{d}" fill="{paint(mark.color)}"{outline}{opacity}/>'


def _line(d: str, mark: Mark, more: str = "") -> str:
    """A path that is the line of a mark."""
    if mark.dashes:
        more += f' stroke-dasharray="{" ".join(f"{length:g}" for length in mark.dashes)}"'
    if mark.opacity < 1.0:
        more += f' stroke-opacity="{mark.opacity:g}"'
    return _stroke(d, mark.color, mark.width, more)


_MARKERS = {
    "o": "m{minus:g} 0a{r:g} {r:g} 0 1 0 {d:g} 0a{r:g} {r:g} 0 1 0 {back:g} 0z",
    "s": "m{minus:g} {minus:g}h{d:g}v{d:g}h{back:g}z",
    "D": "m{minus:g} 0l{r:g} {minus:g}l{r:g} {r:g}l{minus:g} {r:g}z",
    "x": "m{minus:g} {minus:g}l{d:g} {d:g}m0 {back:g}l{back:g} {d:g}",
    "|": "m0 {minus:g}v{d:g}",
    "<": "m{minus:g} 0l{d:g} {minus:g}v{d:g}z",
    ">": "m{r:g} 0l{back:g} {minus:g}v{d:g}z",
}
"""Paths from the middle of each marker."""


def _stroke(d: str, color: str, width: float, more: str = "") -> str:
    """A path that is a line."""
    return f'<path d="{d}" fill="none" stroke="{paint(color)}" stroke-width="{width:g}"{more}/>'


def _path(x: Array, y: Array, end: str = "", form: str = "%.2f") -> str:
    """Points as a path, in pieces between those that are not finite."""
    points, pieces = _pieces(x, y)
    return "".join(
        f"M{' '.join([form] * (2 * (last - first)))}{end}"
        % tuple(points[first:last].ravel().tolist())
        for first, last in pieces
    )


def _steps(x: Array, y: Array, each: str = "") -> str:
    """The same in whole numbers, relative; with `each` a piece of its own for every point."""
    points, pieces = _pieces(x, y)
    steps = np.diff(points.round().astype(np.int64), axis=0, prepend=[[0, 0]])
    if each:
        return "".join(f"m{dx} {dy}{each}" for dx, dy in steps.tolist())
    texts = (" ".join(map(str, steps[a:b].ravel().tolist())) for a, b in pieces)
    return "".join(f"m{text}" for text in texts).replace(" -", "-")


def _pieces(x: Array, y: Array) -> tuple[Array, list[tuple[int, int]]]:
    """The points that are finite, shape (n, 2), and where each run of them begins and ends."""
    there = np.isfinite(x) & np.isfinite(y)
    places = np.cumsum(there)
    edges = np.flatnonzero(np.diff(there, prepend=False, append=False))
    firsts, lasts = places[edges[::2]] - 1, places[edges[1::2] - 1]
    points = np.stack((x, y), axis=-1)[there]
    return points, list(zip(firsts.tolist(), lasts.tolist(), strict=True))
