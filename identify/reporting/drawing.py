"""Figures as SVG elements of a page, laid out without matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from identify.arrays import Array
from identify.reporting import colors
from identify.reporting.canvas import COLUMN_MARGIN, COLUMN_WIDTH, Column, Panel
from identify.reporting.svg_axes import Mark, SvgAxes, Ticks, text_width, write_text

_POINTS_PER_INCH = 72.0
_TITLE_SIZE = 9.5
_LABEL_SIZE = 8.5
_SMALL_SIZE = 8.0
"""Font sizes of column titles, of axis labels, and of other text [pt]."""

_BOLD_WIDTH_RATIO = 1.12
"""Ratio of the widths of bold and regular text."""

_LINE_SPACING = 1.4
"""Distance of two baselines, relative to the font size."""

_TICK_LENGTH, _TICK_GAP = 3.0, 3.5
"""Length of a tick, and gap between a tick and its label [pt]."""

_HANDLE_WIDTH = 12.0
_HANDLE_GAP = 4.0
_ENTRY_GAP = 9.6
"""Sizes in a legend [pt]: width of a handle, gap after a handle, gap after an entry."""

_LEFT, _RIGHT = _POINTS_PER_INCH * COLUMN_MARGIN, _POINTS_PER_INCH * (COLUMN_WIDTH - COLUMN_MARGIN)
"""Left and right edge of a column [pt]."""


def column_svg(column: Column, key: str) -> str:
    """Draw a column of panels as an SVG element; its ids begin with a unique key."""
    panels = [_DrawnPanel.of(panel) for panel in column.panels]
    parts, y = _title_and_legend(column.title, [panel.axes for panel in panels])
    x_min, x_max = _horizontal_extent(panels)
    for number, panel in enumerate(panels):
        top = y + panel.top_margin
        box = _AxesBox(x_min, top, x_max - x_min, panel.height, f"{key}-{number}")
        labelled = not column.shared_x or panel is panels[-1]
        drawn = "".join(box.draw(panel, numbered=labelled, zoomable=bool(column.zoom_group)))
        parts.append(box.zoomable_group(panel, drawn) if column.zoom_group else drawn)
        y = top + panel.height
        if labelled:
            y += _TICK_LENGTH + _TICK_GAP + _SMALL_SIZE + _LINE_SPACING * _LABEL_SIZE
            xlabel = panel.xlabel or column.xlabel
            parts.append(
                write_text(xlabel, 0.5 * (x_min + x_max), y, _LABEL_SIZE, colors.TEXT, _MIDDLE)
            )
    labels = "; ".join(panel.ylabel or panel.xlabel or column.xlabel for panel in panels)
    label = escape(f"{column.title}: {labels}")
    size = f"0 0 {_POINTS_PER_INCH * COLUMN_WIDTH:g} {y + _LEFT:.2f}"
    link = f' data-link="{escape(column.zoom_group)}"' if column.zoom_group else ""
    return f'<svg viewBox="{size}" role="img" aria-label="{label}"{link}>{"".join(parts)}</svg>'


_MIDDLE, _END = ' text-anchor="middle"', ' text-anchor="end"'
"""SVG attributes that centre a text at its point, or end the text there."""


@dataclass(frozen=True, slots=True)
class _DrawnPanel:
    """Panel of a figure with the marks drawn on its axes; lengths in points."""

    axes: SvgAxes
    ylabel: str
    xlabel: str
    note: str
    height: float
    y_ticks: Ticks

    @classmethod
    def of(cls, panel: Panel) -> _DrawnPanel:
        axes, height = SvgAxes(), _POINTS_PER_INCH * panel.height
        panel.draw(axes)
        y_ticks = axes.y.ticks(height, _SMALL_SIZE, along=False)
        return cls(axes, panel.ylabel, panel.xlabel, panel.note, height, y_ticks)

    @property
    def top_margin(self) -> float:
        """Height of texts above the axes, and of half of the uppermost tick label."""
        notes = self.axes.notes
        texts = [note.size - note.offset[1] for note in notes if note.point[1] == np.inf]
        return (
            max(0.5 * _SMALL_SIZE, *texts, bool(self.note) * (_TICK_GAP + _SMALL_SIZE))
            + _SMALL_SIZE
        )


def _horizontal_extent(panels: Sequence[_DrawnPanel]) -> tuple[float, float]:
    """Return the left and right edge of a column's axes, which leave room for texts."""
    tick_widths = (
        text_width(label, _SMALL_SIZE) for panel in panels for label in panel.y_ticks.labels
    )
    x_min = _LEFT + max(tick_widths, default=0.0) + _TICK_LENGTH + _TICK_GAP
    if any(panel.ylabel for panel in panels):
        x_min += _LINE_SPACING * _LABEL_SIZE
    notes = (note for panel in panels for note in panel.axes.notes if note.point[0] == np.inf)
    note_widths = (note.offset[0] + text_width(note.text, note.size) for note in notes)
    x_max = _RIGHT - max(note_widths, default=0.0)
    x_labels = (
        panel.axes.x.ticks(x_max - x_min, _SMALL_SIZE, along=True).labels for panel in panels
    )
    overhangs = (0.5 * text_width(labels[-1], _SMALL_SIZE) for labels in x_labels if labels)
    return x_min, min(x_max, _RIGHT - max(overhangs, default=0.0))


def _title_and_legend(title: str, panels: Sequence[SvgAxes]) -> tuple[list[str], float]:
    """Write title and legend of all panels side by side, or below each other if too wide."""
    y = _LEFT + _TITLE_SIZE
    parts = [write_text(title, _LEFT, y, _TITLE_SIZE, colors.TEXT, ' font-weight="bold"')]
    legend = {label: marks for axes in panels[::-1] for label, marks in axes.legend.items()}
    order = dict.fromkeys(label for axes in panels for label in axes.legend)
    indent = _HANDLE_WIDTH + _HANDLE_GAP
    widths = {label: indent + text_width(label, _SMALL_SIZE) for label in order}
    if not order:
        return parts, y
    legend_width = sum(widths.values()) + _ENTRY_GAP * (len(widths) - 1)
    x = _RIGHT - legend_width
    if x < _LEFT + _BOLD_WIDTH_RATIO * text_width(title, _TITLE_SIZE) + _ENTRY_GAP:
        x, y = _LEFT, y + _LINE_SPACING * _SMALL_SIZE
    for label, width in widths.items():
        if x > _LEFT and x + width > _RIGHT + 0.01:
            x, y = _LEFT, y + _LINE_SPACING * _SMALL_SIZE
        handle = _AxesBox(x, y - 0.7 * _SMALL_SIZE, _HANDLE_WIDTH, 0.7 * _SMALL_SIZE, "")
        parts += (handle.legend_handle(mark) for mark in legend[label])
        parts.append(write_text(label, x + indent, y, _SMALL_SIZE, colors.TEXT))
        x += width + _ENTRY_GAP
    return parts, y


@dataclass(frozen=True, slots=True)
class _AxesBox:
    """Rectangle of a pair of axes, given by its upper left corner, and the id of its outline."""

    x_min: float
    top: float
    width: float
    height: float
    key: str

    def zoomable_group(self, panel: _DrawnPanel, drawn: str) -> str:
        """Wrap a drawn panel with the data that a script needs to zoom it."""
        limits = {"x": panel.axes.x.limits(), "y": panel.axes.y.limits()}
        data = "".join(f' data-{k}="{low:.12g} {high:.12g}"' for k, (low, high) in limits.items())
        box = f"{self.x_min:.2f} {self.top:.2f} {self.width:.2f} {self.height:.2f}"
        label = escape(panel.ylabel)
        return f'<g class="panel" data-label="{label}" data-box="{box}"{data}>{drawn}</g>'

    def draw(self, panel: _DrawnPanel, *, numbered: bool, zoomable: bool) -> Iterator[str]:
        """Draw grid, marks, axes with ticks, and texts."""
        axes, bottom = panel.axes, self.top + self.height
        across = axes.x.ticks(self.width, _SMALL_SIZE, along=True)
        xs = (self.x_min + self.width * axes.x.normalise(across.values)).tolist()
        ys = (bottom - self.height * axes.y.normalise(panel.y_ticks.values)).tolist()
        grid = [f"M{x:.2f} {self.top:.2f}v{self.height:.2f}" for x in xs if axes.x.grid]
        grid += [f"M{self.x_min:.2f} {y:.2f}h{self.width:.2f}" for y in ys if axes.y.grid]
        yield _stroke_path("".join(grid), colors.GRID, 0.6, ' class="grid"' if zoomable else "")
        corner = f'x="{self.x_min:.2f}" y="{self.top:.2f}"'
        size = f'width="{self.width:.2f}" height="{self.height:.2f}"'
        yield f'<clipPath id="{self.key}"><rect {corner} {size}/></clipPath>'
        areas = [mark for mark in axes.marks if mark.kind == "area"]
        others = [mark for mark in axes.marks if mark.kind != "area"]
        clipped = [mark for mark in (*areas, *others) if mark.clipped]
        zoom = _UNITS_PER_POINT if zoomable else 1.0
        shapes = "".join(self._draw_mark(mark, axes, zoom) for mark in clipped)
        if zoomable:
            shapes = f'<g class="data" transform="scale({1.0 / _UNITS_PER_POINT:g})">{shapes}</g>'
        yield f'<g clip-path="url(#{self.key})">{shapes}</g>'
        yield from (self._draw_mark(mark, axes) for mark in others if not mark.clipped)
        ticks = [f"M{x:.2f} {bottom:.2f}v{_TICK_LENGTH:g}" for x in xs]
        ticks += [f"M{self.x_min:.2f} {y:.2f}h{-_TICK_LENGTH:g}" for y in ys if axes.y_ticks_drawn]
        edges = f"M{self.x_min:.2f} {self.top:.2f}V{bottom:.2f}H{self.x_min + self.width:.2f}"
        yield _stroke_path(
            edges + "".join(ticks), colors.AXIS, 0.8, ' class="edge"' if zoomable else ""
        )
        up, along = (' class="up"', ' class="across"') if zoomable else ("", "")
        for y, label in zip(ys, panel.y_ticks.labels, strict=True):
            x = self.x_min - _TICK_LENGTH - _TICK_GAP
            yield write_text(
                label, x, y + 0.36 * _SMALL_SIZE, _SMALL_SIZE, colors.TEXT, f"{_END}{up}"
            )
        yield from self._texts(panel)
        if numbered:
            y = bottom + _TICK_LENGTH + _TICK_GAP + 0.75 * _SMALL_SIZE
            for x, label in zip(xs, across.labels, strict=True):
                yield write_text(label, x, y, _SMALL_SIZE, colors.TEXT, f"{_MIDDLE}{along}")

    def _texts(self, panel: _DrawnPanel) -> Iterator[str]:
        if panel.ylabel:
            x, y = _LEFT + 0.8 * _LABEL_SIZE, self.top + 0.5 * self.height
            turned = f'{_MIDDLE} class="name" transform="rotate(-90 {x:.2f} {y:.2f})"'
            yield write_text(panel.ylabel, x, y, _LABEL_SIZE, colors.TEXT, turned)
        if panel.note:
            x, y = self.x_min + self.width, self.top - _TICK_GAP
            yield write_text(panel.note, x, y, _SMALL_SIZE, colors.MUTED, _END)
        for note in panel.axes.notes:
            (x,), (y,) = self._to_page(panel.axes, *np.array(note.point)[:, None])
            anchor = f' text-anchor="{note.anchor}"'
            x, y = float(x) + note.offset[0], float(y) + note.offset[1]
            yield write_text(note.text, x, y, note.size, note.color, anchor)

    def legend_handle(self, mark: Mark) -> str:
        """Draw a mark as the handle of its legend entry."""
        ends = (0.0, 1.0) if mark.kind == "line" else (0.5,)
        x, y = self.x_min + self.width * np.array(ends), np.full(len(ends), self.top)
        if mark.kind == "area":
            x = self.x_min + self.width * np.array([0.0, 1.0, 1.0, 0.0])
            y = self.top + self.height * np.array([0.0, 0.0, 1.0, 1.0])
        else:
            y += 0.5 * self.height
        return _svg_shape(mark, x, y)

    def _draw_mark(self, mark: Mark, axes: SvgAxes, zoom: float = 1.0) -> str:
        x, y = self._to_page(axes, mark.x, mark.y)
        if zoom == 1.0:
            return _svg_shape(mark, x, y)
        return _zoomable_shape(mark, zoom * x, zoom * y, zoom)

    def _to_page(self, axes: SvgAxes, x: Array, y: Array) -> tuple[Array, Array]:
        across, up = self.width * axes.x.normalise(x), self.height * axes.y.normalise(y)
        return self.x_min + across, self.top + self.height - up


def _svg_shape(mark: Mark, x: Array, y: Array) -> str:
    if mark.kind == "area":
        return _filled_path(_path_data(x, y, "Z"), mark)
    if mark.kind == "line":
        return _line_path(_path_data(x, y), mark)
    r = mark.width * (0.7 if mark.kind == "D" else 0.5)  # a square on its corner
    shape = _MARKER_PATHS[mark.kind].format(r=r, d=2.0 * r, minus=-r, back=-2.0 * r)
    finite = np.isfinite(x) & np.isfinite(y)
    pairs = zip(x[finite].tolist(), y[finite].tolist(), strict=True)
    d = "".join(f"M{a:.2f} {b:.2f}{shape}" for a, b in pairs)
    return _stroke_path(d, mark.color, mark.stroke) if mark.kind in "x|" else _filled_path(d, mark)


_UNITS_PER_POINT = 1000.0
"""Units of zoomable paths per point: integer coordinates are exact enough, and short."""


def _zoomable_shape(mark: Mark, x: Array, y: Array, zoom: float) -> str:
    """Draw a mark with integer relative coordinates; all markers become dots."""
    mark = mark._replace(width=zoom * mark.width, dashes=tuple(zoom * d for d in mark.dashes))
    if mark.kind == "area":
        return _filled_path(_path_data(x, y, "Z", "%.0f"), mark)
    name = f' class="series" data-name="{escape(mark.label)}"' if mark.label else ""
    if mark.kind == "line":
        return _line_path(_relative_path(x, y), mark, name)
    return _stroke_path(
        _relative_path(x, y, "h0"), mark.color, mark.width, ' stroke-linecap="round"'
    )


def _filled_path(d: str, mark: Mark) -> str:
    outline = ""
    if mark.kind == "area" and mark.width:
        outline = f' stroke="{colors.css_color(mark.color)}" stroke-width="{mark.width:g}"'
    opacity = f' fill-opacity="{mark.opacity:g}"' if mark.opacity < 1.0 else ""
    return f'<path d="{d}" fill="{colors.css_color(mark.color)}"{outline}{opacity}/>'


def _line_path(d: str, mark: Mark, more: str = "") -> str:
    """Draw the line of a mark along the path `d`, with its dashes and opacity."""
    if mark.dashes:
        more += f' stroke-dasharray="{" ".join(f"{length:g}" for length in mark.dashes)}"'
    if mark.opacity < 1.0:
        more += f' stroke-opacity="{mark.opacity:g}"'
    return _stroke_path(d, mark.color, mark.width, more)


_MARKER_PATHS = {
    "o": "m{minus:g} 0a{r:g} {r:g} 0 1 0 {d:g} 0a{r:g} {r:g} 0 1 0 {back:g} 0z",
    "s": "m{minus:g} {minus:g}h{d:g}v{d:g}h{back:g}z",
    "D": "m{minus:g} 0l{r:g} {minus:g}l{r:g} {r:g}l{minus:g} {r:g}z",
    "x": "m{minus:g} {minus:g}l{d:g} {d:g}m0 {back:g}l{back:g} {d:g}",
    "|": "m0 {minus:g}v{d:g}",
    "<": "m{minus:g} 0l{d:g} {minus:g}v{d:g}z",
    ">": "m{r:g} 0l{back:g} {minus:g}v{d:g}z",
}
"""SVG path of each marker symbol, relative to its centre."""


def _stroke_path(d: str, color: str, width: float, more: str = "") -> str:
    color = colors.css_color(color)
    return f'<path d="{d}" fill="none" stroke="{color}" stroke-width="{width:g}"{more}/>'


def _path_data(x: Array, y: Array, end: str = "", form: str = "%.2f") -> str:
    """Write points as an SVG path, interrupted at points that are not finite."""
    points, runs = _finite_runs(x, y)
    return "".join(
        f"M{' '.join([form] * (2 * (last - first)))}{end}"
        % tuple(points[first:last].ravel().tolist())
        for first, last in runs
    )


def _relative_path(x: Array, y: Array, marker: str = "") -> str:
    """Write points as a path in integer relative coordinates, or a marker at each point."""
    points, runs = _finite_runs(x, y)
    steps = np.diff(points.round().astype(np.int64), axis=0, prepend=[[0, 0]])
    if marker:
        return "".join(f"m{dx} {dy}{marker}" for dx, dy in steps.tolist())
    texts = (" ".join(map(str, steps[a:b].ravel().tolist())) for a, b in runs)
    return "".join(f"m{text}" for text in texts).replace(" -", "-")


def _finite_runs(x: Array, y: Array) -> tuple[Array, list[tuple[int, int]]]:
    """Return the finite points, shape (n, 2), and the index range of each gap-free run."""
    finite = np.isfinite(x) & np.isfinite(y)
    counts = np.cumsum(finite)
    edges = np.flatnonzero(np.diff(finite, prepend=False, append=False))
    firsts, lasts = counts[edges[::2]] - 1, counts[edges[1::2] - 1]
    points = np.stack((x, y), axis=-1)[finite]
    return points, list(zip(firsts.tolist(), lasts.tolist(), strict=True))
