"""Where the rows of one or more logs stand on the common axis of a plot, and how many are drawn."""

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
from identify.reporting.canvas import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from identify.pipeline import FitResult

BUCKETS = 5000
"""Buckets a signal is thinned to over the width of a panel: a page zooms into them."""

_MOST_NUMBERS = 24


def require_logs(result: FitResult, figure: str) -> FitResult:
    """The result of a fit, for a figure of its logs.

    Raises:
        ProblemError: it is an estimate alone, which holds no signals.
    """
    if isinstance(result, SavedEstimate):
        raise ProblemError(
            f"plot.{figure} shows the logs of a fit, which an estimate does not hold: give the "
            "FitResult of identify.fit. Of an estimate alone there are plot.parameters and "
            "plot.sources"
        )
    return result


class AxisSegment(NamedTuple):
    """Uninterrupted rows of a log, and where they stand: time [s], or the number of the pose."""

    log: int
    rows: slice
    x: Array


@dataclass(frozen=True, slots=True)
class Timeline:
    """Logs one after another.

    Attributes:
        still: whether rows are still poses, numbered from one, and not times.
        segments: in order.
        spans: index of each log, and where it begins and ends.
        alone: whether there is no timeline of the other kind beside it.
    """

    still: bool
    segments: tuple[AxisSegment, ...]
    spans: tuple[tuple[int, float, float], ...]
    alone: bool

    @property
    def label(self) -> str:
        """What the axis shows, with its unit."""
        what = "number of the still pose [–]" if self.still else "time [s]"
        return f"{what}, logs one after another" if len(self.spans) > 1 else what

    @property
    def link(self) -> str:
        """What figures of a page zoom along together; still poses do not."""
        return "" if self.still else "time"

    def titled(self, title: str) -> str:
        """A column's title, with the kind of log where both kinds are shown."""
        if self.alone:
            return title
        return f"{title}, {'still poses' if self.still else 'in motion'}"

    def trace(self, values: Sequence[Array]) -> tuple[Array, Array]:
        """One signal of all logs as a line: thinned so that peaks stay, NaN between segments.

        Args:
            values: of each log, shape (n,).
        """
        total = sum(len(segment.x) for segment in self.segments)
        xs, ys = [], []
        for segment in self.segments:
            share = max(2, round(BUCKETS * len(segment.x) / total))
            x, y = thin(segment.x, values[segment.log][segment.rows], share)
            xs += [x, [np.nan]]
            ys += [y, [np.nan]]
        return np.concatenate(xs), np.concatenate(ys)


def timelines(logs: Sequence[LogSummary], only: int | None = None) -> tuple[Timeline, ...]:
    """Timelines of the logs: one of those with time, one of still poses, where there are any."""
    shown = range(len(logs)) if only is None else (only,)
    kinds = {
        still: [index for index in shown if logs[index].recording.still == still]
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
    half = 0.5 if still else 0.0  # a pose is as wide as its number
    gap = 0.0 if still else 0.01 * sum(logs[index].duration for index in members)
    # The first log keeps its own time; the others follow.
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


def thin(x: Array, y: Array, buckets: int) -> tuple[Array, Array]:
    """The least and the largest of each bucket of neighbouring samples, in their order.

    With a bucket as wide as a pixel the picture is that of the whole signal. First and last sample
    stay as well.

    Args:
        x: shape (n,).
        y: finite, shape (n,).
        buckets: how many; signals of up to two samples a bucket are returned as they are.
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


def mark_logs(axes: Axes, timeline: Timeline, *, numbered: bool, lift: float = 3.0) -> None:
    """Set the horizontal limits, and part several logs by lines."""
    begin, end = timeline.spans[0][1], timeline.spans[-1][2]
    axes.set_xlim(begin, end if end > begin else begin + 1.0)
    if timeline.still:
        axes.locator_params("x", nbins=10, integer=True)
    if len(timeline.spans) == 1:
        return
    for _, first, _ in timeline.spans[1:]:
        axes.axvline(first, color=MUTED, lw=0.7, dashes=(2, 2))
    if numbered:
        step = -(-len(timeline.spans) // _MOST_NUMBERS)
        for index, first, last in timeline.spans[::step]:
            axes.annotate(
                f"log {index + 1}" if len(timeline.spans) <= 6 else f"{index + 1}",
                (0.5 * (first + last), 1.0),
                xytext=(0.0, lift),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                va="bottom",
                color=MUTED,
                size=8.0,
                annotation_clip=False,
            )
