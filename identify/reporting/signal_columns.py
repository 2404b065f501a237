"""Figures of the signals of a log over time, with its gaps, rests, constant values and spikes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Span
from identify.diagnosis.signal_marks import recording_marks, rows_per_sample
from identify.logs import Recording
from identify.logs.units import ANGLE_UNITS
from identify.reporting import colors
from identify.reporting.canvas import LABEL_HEIGHT, AxesT, Column, Panel, PanelAxes, make_figure
from identify.reporting.timeline import thin_signal
from identify.signals.uniform_clock import gap_starts
from identify.spatial import unwrap_quaternions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from identify.pipeline.log_overview import TableOverview

_UNITS: Mapping[str, str] = MappingProxyType(
    {
        "position": "m",
        "quaternion": "–",
        "linear_velocity": "m/s",
        "angular_velocity": "rad/s",
        "linear_acceleration": "m/s²",
        "angular_acceleration": "rad/s²",
        "gyro": "rad/s",
        "accelerometer": "m/s²",
        "force": "N",
        "torque": "N m",
        "target_current": "A",
    }
)
"""Units of the signals of a recording that do not depend on the kind of a joint."""

_WRENCH = ("force", "torque")
_COLORS = {**{name: color for name, color, _ in colors.AXIS_STYLES}, "w": colors.MUTED}

_MARK_STYLES: Mapping[str, tuple[str, str, float]] = MappingProxyType(
    {
        "gap": ("gap", colors.AXIS, 0.45),
        "rest": ("at rest", colors.BAND, 0.7),
        "constant": ("constant", colors.CONSTRAINT, 0.3),
        "backward": ("stamps go back", colors.OTHER_BODY, 1.0),
        "finding": ("finding", colors.OTHER_BODY, 0.3),
    }
)
"""Legend text, colour and opacity of marks that are spans of time."""

_MAX_SPANS, _MAX_SPANS_OF_ROW = 25, 150
"""Largest numbers of spans drawn for each kind, in a panel of a signal and in the row of a mark."""

_MAX_POINTS = 48_000
"""Largest number of points of all lines of a page, which keeps it below a megabyte."""

_MAX_PANELS = 8
"""Largest number of panels of one column of a figure."""


@dataclass(frozen=True, slots=True)
class SignalLines:
    """Lines of one panel over time.

    Attributes:
        title: of the column of the figure that the panel belongs to.
        signal: name of the signal, to which marks refer.
        label: of the vertical axis, with its unit.
        note: above the panel.
        x: time [s], or number of the row or static pose, shape (n,).
        lines: values by the name of the line, each of shape (n,).
    """

    title: str
    signal: str
    label: str
    note: str
    x: Array
    lines: Mapping[str, Array]


def recording_lines(recording: Recording) -> list[SignalLines]:
    """Return the signals of a recording in SI: a panel for each vector, or for each joint."""
    panels: list[SignalLines] = []
    clocks = [(recording.time, recording.signals)]
    clocks += [(stream.time, stream.signals) for stream in recording.streams]
    joints = () if recording.joints is None else recording.joints.names
    for time, signals in clocks:
        for name, logged in signals.items():
            values = unwrap_quaternions(logged) if name == "quaternion" else logged
            x = np.arange(1.0, len(values) + 1.0) if time is None else time
            spoken, ratio = name.replace("_", " "), rows_per_sample(logged)
            held = f"new value every {ratio:.3g} rows" if ratio > 1.0 else ""
            if not joints:
                title = "Wrench" if name in _WRENCH else "Motion"
                lines = dict(zip("xyzw", values.T, strict=False))
                acts_on = " on the body" * (name in _WRENCH)  # whatever acts_on is
                label = f"{spoken}{acts_on} [{_UNITS.get(name, 'SI')}]"
                panels.append(SignalLines(title, name, label, held, x, lines))
            for k, (joint, column) in enumerate(zip(joints, values.T, strict=False)):
                title, note = spoken.capitalize(), ", ".join(filter(None, (joint, held)))
                unit = f"[{_UNITS.get(name) or _joint_unit(recording, name, k)}]"
                panels.append(SignalLines(title, name, unit, note, x, {joint: column}))
    return panels


def _joint_unit(recording: Recording, name: str, joint: int) -> str:
    """Return the unit of a signal of a joint, which turns unless the schema has a length."""
    table = recording.schema.get("joints")
    given = table.get("unit", "rad") if isinstance(table, Mapping) else "rad"
    turns = (given if isinstance(given, str) else given[joint]) in ANGLE_UNITS
    units = {"joint_position": ("m", "rad"), "joint_velocity": ("m/s", "rad/s")}
    return units.get(name, ("N", "N m"))[turns]


def raw_lines(table: TableOverview, *, used: bool) -> list[SignalLines]:
    """Return columns of a table as logged: those in use by signal, or all others one by one."""
    raw, x = table.raw, table.raw.abscissa
    title = f"{raw.info.topic or 'Columns'} as logged"
    if not used:
        unused = [use.column for use in table.uses if not use.signal and use.column in raw.columns]
        return [
            SignalLines(title, name, "", name, x, {name: raw.columns[name]})
            for name in unused
            if len(np.unique(raw.columns[name][np.isfinite(raw.columns[name])])) > 1
        ]
    panels: list[SignalLines] = []
    for signal, uses in table.vectors().items():
        name, unit = signal.rpartition(".")[2].replace("_", " "), uses[0].unit or "–"
        groups = [uses] if len(uses) <= len(_COLORS) else [[use] for use in uses]
        for group in groups:
            note = ", ".join(use.column for use in group)
            lines = {use.part or use.column: raw.columns[use.column] for use in group}
            panels.append(SignalLines(title, signal, f"{name} [{unit}]", note, x, lines))
    return panels


def line_columns(
    panels: Sequence[SignalLines], marks: Sequence[Span], xlabel: str, buckets: int
) -> tuple[Column, ...]:
    """Return the columns of a figure, those of one title below each other.

    `panels`: in their order; `marks`: of the log; those that name a signal are drawn in its panels
    only.
    """
    limits, columns = x_limits(panels), []
    for title in dict.fromkeys(panel.title for panel in panels):
        drawn = [_panel(each, marks, limits, buckets) for each in panels if each.title == title]
        for first in range(0, len(drawn), _MAX_PANELS):
            heading = f"{title}, continued" if first else title
            part = tuple(drawn[first : first + _MAX_PANELS])
            columns.append(Column(heading, xlabel, part, zoom_group=_zoom_group(xlabel)))
    return tuple(columns)


def x_limits(panels: Sequence[SignalLines]) -> tuple[float, float]:
    """Return the smallest and the largest abscissa of some panels."""
    ends = [end for panel in panels for end in (np.nanmin(panel.x), np.nanmax(panel.x))]
    low, high = float(min(ends, default=0.0)), float(max(ends, default=1.0))
    return low, high if high > low else low + 1.0


def buckets_of(panels: Sequence[SignalLines]) -> int:
    """Return the number of parts of each line of a page by which it stays small."""
    count = sum(len(panel.lines) for panel in panels)
    return int(np.clip(_MAX_POINTS // (2 * max(count, 1)), 60, 1500))


def _panel(
    panel: SignalLines, marks: Sequence[Span], limits: tuple[float, float], buckets: int
) -> Panel:
    several = len(panel.lines) > 1

    def draw(axes: PanelAxes) -> None:
        for code, (label, color, opacity) in _MARK_STYLES.items():
            spans = [m for m in marks if m.code == code and m.channel in ("", panel.signal)]
            for number, (start, stop) in enumerate(merged_spans(spans, _MAX_SPANS)):
                axes.axvspan(
                    start, stop, color=color, alpha=opacity, lw=0.0, label=None if number else label
                )
        for (name, values), color in zip(panel.lines.items(), _COLORS.values(), strict=False):
            color = _COLORS.get(name, color) if several else colors.ESTIMATE
            label = name if several else None
            axes.plot(*trace(panel.x, values, buckets), color=color, lw=0.8, label=label)
        spikes = [m.start for m in marks if m.code == "spike" and m.channel == panel.signal]
        if spikes:
            rows = np.minimum(np.searchsorted(panel.x, spikes[: 4 * buckets]), len(panel.x) - 1)
            values = np.concatenate([line[rows] for line in panel.lines.values()])
            at = np.tile(panel.x[rows], len(panel.lines))
            axes.plot(at, values, "o", color=colors.OTHER_BODY, ms=2.5, label="spike")
        axes.set_xlim(*limits)

    height = max(0.95 if several else 0.55, LABEL_HEIGHT * len(panel.label))
    return Panel(draw, panel.label, panel.note, height=height)


def trace(x: Array, y: Array, buckets: int) -> tuple[Array, Array]:
    """Return the finite points of a line with its peaks, interrupted at gaps."""
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    gaps = gap_starts(x) if len(x) > 8 else np.zeros(0, dtype=np.intp)
    after = x[gaps] if len(gaps) < buckets else np.zeros(0)
    x, y = thin_signal(x, y, buckets)
    places = np.searchsorted(x, after)
    return np.insert(x, places, after), np.insert(y, places, np.nan)


def merged_spans(spans: Iterable[Span], most: int) -> list[tuple[float, float]]:
    """Return at most so many spans of time: those that are nearest to each other are joined."""
    pairs = sorted((span.start, span.stop) for span in spans)
    if len(pairs) <= most:
        return pairs
    starts, stops = np.array(pairs).T
    stops = np.maximum.accumulate(stops)
    distances = starts[1:] - stops[:-1]
    cuts = np.sort(np.argpartition(-distances, most - 1)[: most - 1])
    first, last = np.append(0, cuts + 1), np.append(cuts, len(starts) - 1)
    return list(zip(starts[first].tolist(), stops[last].tolist(), strict=True))


def marks_column(
    marks: Sequence[Span],
    findings: Mapping[str, Sequence[Span]],
    limits: tuple[float, float],
    xlabel: str,
) -> tuple[Column, ...]:
    """Return the column with a row for each kind of mark, and for each finding."""
    rows: dict[str, list[Span]] = {}
    for mark in marks:
        label = "spikes" if mark.code == "spike" else _MARK_STYLES[mark.code][0]
        signal = mark.channel.rpartition(".")[2].replace("_", " ")
        rows.setdefault(", ".join(filter(None, (label, signal))), []).append(mark)
    rows |= {code.replace("_", " "): list(spans) for code, spans in findings.items()}
    unit = "s" if _zoom_group(xlabel) else "rows"

    def draw(axes: PanelAxes) -> None:
        axes.set_xlim(*limits)
        axes.set_ylim(-0.2, len(rows))
        axes.set_yticks([], [])
        axes.grid(visible=False, axis="y")
        for height, (name, spans) in zip(range(len(rows))[::-1], rows.items(), strict=True):
            code = spans[0].code
            color = _MARK_STYLES["finding" if code == "spike" else code][1]
            color = colors.ESTIMATE if code == "rest" else color
            pairs = np.array(merged_spans(spans, _MAX_SPANS_OF_ROW))
            y = np.full(len(pairs), height + 0.15)
            shortest = 0.002 * (limits[1] - limits[0])
            widths = np.maximum(pairs[:, 1] - pairs[:, 0], shortest)
            axes.barh(y, widths, 0.3, pairs[:, 0], color=color)
            seconds = sum(span.stop - span.start for span in spans)
            number = f"{len(spans)} × " if len(spans) > 1 else ""
            size = f"{seconds / len(spans):.3g} {unit}" if seconds > 0.0 else "one sample"
            axes.annotate(
                f"{name}: {number}{size}",
                (limits[0], height + 0.42),
                xytext=(2.0, 1.0),
                xycoords=("data", "data"),
                textcoords="offset points",
                size=8.0,
                color=colors.TEXT,
            )

    panel = Panel(draw, height=0.26 * len(rows) + 0.1)
    return (Column("Marks", xlabel, (panel,), zoom_group=_zoom_group(xlabel)),)


def _zoom_group(xlabel: str) -> str:
    return "time" if xlabel.startswith("time") else ""


def recording(recording: Recording, *, ax: AxesT | None = None) -> Figure | AxesT:
    """Plot the signals of a recording in SI, with gaps, rests, constant values and spikes marked.

    Args:
        recording: as read.
        ax: axes to draw on in place of a new figure.
    """
    panels = recording_lines(recording)
    xlabel = "number of the static pose [–]" if recording.still else "time [s]"
    columns = line_columns(panels, recording_marks(recording), xlabel, buckets=2500)
    return make_figure(columns, ax=ax)
