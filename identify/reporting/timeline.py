"""Common time axis of one or more logs in a figure, and thinning of long signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from identify.arrays import Array
from identify.errors import ProblemError
from identify.exchange import SavedEstimate
from identify.regressors import LogSummary
from identify.reporting import colors
from identify.reporting.canvas import PanelAxes

if TYPE_CHECKING:
    from identify.pipeline import Result

THINNING_BUCKETS = 5000
"""Number of equal parts of a signal, each of which keeps its minimum and maximum if thinned."""

_MAX_LOG_LABELS = 24
"""Maximum number of logs that are numbered above a panel of a figure."""


def require_logs(result: Result, figure: str) -> Result:
    """Return the result of a fit; raise `ProblemError` if it lacks the logs that a figure needs."""
    if isinstance(result, SavedEstimate):
        raise ProblemError(
            f"plot.{figure} shows the logs of a fit, which an estimate does not contain: give the "
            "Result of identify.fit, or use plot.parameters or plot.sources for an estimate"
        )
    if not result.wrench_logs:
        raise ProblemError(
            f"plot.{figure} shows logs of a wrench; those of the result are of "
            f"{result.sensor.title}: its report has their figures"
        )
    return result


class AxisSegment(NamedTuple):
    """Gap-free rows of a log, with x values: time [s], or the number of the static pose."""

    log: int
    rows: slice
    x: Array


@dataclass(frozen=True, slots=True)
class Timeline:
    """Logs one after another on a common time axis.

    Attributes:
        static_poses: whether the axis counts static poses, from one, instead of time.
        segments: in order.
        spans: index of each log, and its begin and end on the axis.
        is_only_timeline: whether all logs are of one kind, in motion or static poses.
    """

    static_poses: bool
    segments: tuple[AxisSegment, ...]
    spans: tuple[tuple[int, float, float], ...]
    is_only_timeline: bool

    @property
    def label(self) -> str:
        """Label of the axis, with its unit."""
        quantity = "number of the static pose [–]" if self.static_poses else "time [s]"
        return f"{quantity}, logs one after another" if len(self.spans) > 1 else quantity

    @property
    def zoom_group(self) -> str:
        """Name of the group of figures that zoom together; empty for static poses."""
        return "" if self.static_poses else "time"

    def title_with_motion(self, title: str) -> str:
        """Return a column's title, with "static poses" or "motion" if the report has both."""
        if self.is_only_timeline:
            return title
        return f"{title}, {'static poses' if self.static_poses else 'in motion'}"

    def trace(self, values: Sequence[Array]) -> tuple[Array, Array]:
        """Join a signal of all logs to one line, thinned but with its peaks, NaN at gaps.

        `values`: of each log, shape (n,).
        """
        total = sum(len(segment.x) for segment in self.segments)
        xs, ys = [], []
        for segment in self.segments:
            buckets = max(2, round(THINNING_BUCKETS * len(segment.x) / total))
            x, y = thin_signal(segment.x, values[segment.log][segment.rows], buckets)
            xs += [x, [np.nan]]
            ys += [y, [np.nan]]
        return np.concatenate(xs), np.concatenate(ys)


def timelines(logs: Sequence[LogSummary], only: int | None = None) -> tuple[Timeline, ...]:
    """Return the timelines of logs in motion and of static poses; an empty one is omitted."""
    indices = range(len(logs)) if only is None else (only,)
    kinds = {
        still: [index for index in indices if logs[index].recording.still == still]
        for still in (False, True)
    }
    return tuple(
        _timeline(logs, members, still, alone=not all(kinds.values()))
        for still, members in kinds.items()
        if members
    )


def _timeline(
    logs: Sequence[LogSummary], members: Sequence[int], still: bool, *, alone: bool
) -> Timeline:
    segments: list[AxisSegment] = []
    spans: list[tuple[int, float, float]] = []
    half = 0.5 if still else 0.0  # a pose extends from number - 0.5 to number + 0.5
    gap = 0.0 if still else 0.01 * sum(logs[index].duration for index in members)
    # The first log keeps its times; those of the others are shifted.
    begin = half if still else float(logs[members[0]].time[0])
    for index in members:
        log = logs[index]
        x = log.time + (begin + half - float(log.time[0]))
        cuts = [] if still else np.flatnonzero(np.diff(log.segment_ids)) + 1
        for start, stop in pairwise((0, *cuts, len(x))):
            segments.append(AxisSegment(index, slice(start, stop), x[start:stop]))
        spans.append((index, float(x[0]) - half, float(x[-1]) + half))
        begin = spans[-1][2] + gap
    return Timeline(still, tuple(segments), tuple(spans), alone)


def thin_signal(x: Array, y: Array, buckets: int) -> tuple[Array, Array]:
    """Thin a signal to the minimum and maximum of each group of neighbouring samples.

    If a bucket is as wide as a pixel, the plot looks like that of the full signal. The first and
    the last sample are kept as well.

    `x`: shape (n,); `y`: finite, shape (n,); `buckets`: their number; signals of up to two samples
    a bucket are returned unchanged.
    """
    count = len(y)
    if buckets < 1 or count <= 2 * buckets:
        return x, y
    size = -(-count // buckets)
    full = -(-count // size)
    padded = np.pad(y, (0, full * size - count), mode="edge").reshape(full, size)
    starts = size * np.arange(full)
    kept = np.concatenate(
        ([0, count - 1], starts + padded.argmin(axis=1), starts + padded.argmax(axis=1))
    )
    kept = np.unique(np.minimum(kept, count - 1))
    return x[kept], y[kept]


def mark_logs(axes: PanelAxes, timeline: Timeline, *, numbered: bool, lift: float = 3.0) -> None:
    """Mark where logs begin in a figure: vertical lines, numbers, and horizontal limits."""
    begin, end = timeline.spans[0][1], timeline.spans[-1][2]
    axes.set_xlim(begin, end if end > begin else begin + 1.0)
    if timeline.static_poses:
        axes.locator_params("x", nbins=10, integer=True)
    if len(timeline.spans) == 1:
        return
    for _, first, _ in timeline.spans[1:]:
        axes.axvline(first, color=colors.MUTED, lw=0.7, dashes=(2, 2))
    if numbered:
        step = -(-len(timeline.spans) // _MAX_LOG_LABELS)
        for index, first, last in timeline.spans[::step]:
            axes.annotate(
                f"log {index + 1}" if len(timeline.spans) <= 6 else f"{index + 1}",
                (0.5 * (first + last), 1.0),
                xytext=(0.0, lift),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="bottom",
                color=colors.MUTED,
                size=8.0,
                annotation_clip=False,
            )
