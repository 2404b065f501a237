"""Where the rows of one or more logs stand on the common axis of a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from identify.arrays import Array
from identify.reporting.thinning import thin
from identify.signals import PreparedLog

BUCKETS = 600
"""Buckets a signal is thinned to over the width of a panel, a few for each pixel."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Uninterrupted rows of a log.

    Attributes:
        log: index of the log.
        rows: its rows.
        x: where they stand: time [s], or the number of the pose.
    """

    log: int
    rows: slice
    x: Array


@dataclass(frozen=True, slots=True)
class Timeline:
    """Logs one after another.

    Attributes:
        still: whether rows are still poses, numbered from one, and not times.
        stretches: in order.
        spans: index of each log, and where it begins and ends.
        alone: whether there is no timeline of the other kind beside it.
    """

    still: bool
    stretches: tuple[Stretch, ...]
    spans: tuple[tuple[int, float, float], ...]
    alone: bool = True

    @property
    def label(self) -> str:
        """What the axis shows, with its unit."""
        what = "number of the still pose [–]" if self.still else "time [s]"
        return f"{what}, logs one after another" if len(self.spans) > 1 else what

    def titled(self, title: str) -> str:
        """A column's title, with the kind of log where both kinds are shown."""
        if self.alone:
            return title
        return f"{title}, {'still poses' if self.still else 'in motion'}"

    def trace(self, values: Sequence[Array]) -> tuple[Array, Array]:
        """One signal of all logs as a line: thinned so that peaks stay, NaN between stretches.

        Args:
            values: of each log, shape (n,).
        """
        total = sum(len(stretch.x) for stretch in self.stretches)
        xs, ys = [], []
        for stretch in self.stretches:
            share = max(2, round(BUCKETS * len(stretch.x) / total))
            x, y = thin(stretch.x, values[stretch.log][stretch.rows], share)
            xs += [x, [np.nan]]
            ys += [y, [np.nan]]
        return np.concatenate(xs), np.concatenate(ys)


def timelines(logs: Sequence[PreparedLog], chosen: int | None = None) -> tuple[Timeline, ...]:
    """Timelines of the logs: one of those with time, one of still poses, where there are any.

    Args:
        logs: all logs.
        chosen: index of the only log to show, if any.
    """
    picked = range(len(logs)) if chosen is None else (chosen,)
    moving = [index for index in picked if not logs[index].recording.still]
    still = [index for index in picked if logs[index].recording.still]
    return tuple(
        replace(_timeline(logs, members, is_still), alone=not (moving and still))
        for members, is_still in ((moving, False), (still, True))
        if members
    )


def _timeline(logs: Sequence[PreparedLog], members: Sequence[int], still: bool) -> Timeline:
    stretches, spans = [], []
    total = sum(logs[index].duration for index in members)
    begin = 0.5 if still else None
    for index in members:
        log = logs[index]
        x = log.time + 1.0 if still else log.time
        first, last = float(x[0]), float(x[-1])
        if still:
            first, last = first - 0.5, last + 0.5
        # The first log keeps its own time; the others follow.
        shift = 0.0 if begin is None else begin - first
        x, first, last = x + shift, first + shift, last + shift
        stretches += _stretches(index, log, x, still)
        spans.append((index, first, last))
        begin = last if still else last + 0.01 * total
    return Timeline(still, tuple(stretches), tuple(spans))


def _stretches(index: int, log: PreparedLog, x: Array, still: bool) -> list[Stretch]:
    cuts = np.zeros(0, dtype=int) if still else np.flatnonzero(np.diff(log.segment_ids)) + 1
    edges = [0, *(int(cut) for cut in cuts), len(x)]
    return [Stretch(index, slice(start, stop), x[start:stop]) for start, stop in pairwise(edges)]
