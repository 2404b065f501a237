"""A log that was read, may be read again, and whose raw signals were looked at meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.diagnosis import SignalWatch, Span, signal_spans
from identify.logs import LogFile, Recording
from identify.logs.excerpt import Excerpt
from identify.regressors import WIDE_LAYOUT, LogSummary, Statistics, scan
from identify.regressors.scanning import Progress
from identify.signals import Reading

SummaryChange: TypeAlias = Callable[[LogSummary], LogSummary]
"""A correction of what was read of a log: a map of its columns, a drift taken off."""


class ScannedLog(NamedTuple):
    """A log, which may be read again, and what was found when it was read.

    Attributes:
        source: the log.
        summary: of it, with all changes made.
        spans: of time in which a raw signal cannot be what it says.
        changes: of the summary, in order; made again where the log is read again.
    """

    source: Recording | LogFile
    summary: LogSummary
    spans: tuple[Span, ...] = ()
    changes: tuple[SummaryChange, ...] = ()

    @property
    def wide(self) -> bool:
        """Whether its statistics have all columns."""
        return self.summary.statistics.layout == WIDE_LAYOUT

    def again(self, reading: Reading, *, wide: bool = False) -> ScannedLog:
        """The log read otherwise, with the cut-off it had, wide where it was, changed alike."""
        reading = replace(reading, cutoff_hz=self.summary.cutoff_hz)
        log = scan_log(self.source, reading, wide=wide or self.wide)
        for change in self.changes:
            log = log.changed(change)
        return log

    def timed(self, factor: float) -> ScannedLog | None:
        """The log read from the start with its time so many times as long, the cut-off chosen anew.

        None where that cannot be done: it is read in chunks, has several clocks, or was changed.
        """
        source = self.source
        if not isinstance(source, Recording) or source.time is None:
            return None
        if source.streams or self.changes:
            return None
        time = factor * source.time
        time.flags.writeable = False
        return scan_log(replace(source, time=time), self.summary.reading, wide=self.wide)

    def changed(self, change: SummaryChange) -> ScannedLog:
        """The log with a change of its summary, which is made wide for it."""
        log = self if self.wide else self.again(self.summary.reading, wide=True)
        return log._replace(summary=change(log.summary), changes=(*log.changes, change))

    def mapped(self, M: Array) -> ScannedLog:
        """The log as a linear map of its wide columns makes it; its full-rate states go."""
        return self.changed(partial(_mapped, M=M))


def finest_blocks(log: LogSummary) -> Statistics:
    """Statistics of a log in the most blocks of time that were kept of it."""
    several = len(np.unique(log.folds.block)) > len(np.unique(log.statistics.block))
    return log.folds if several else log.statistics


def _mapped(summary: LogSummary, M: Array) -> LogSummary:
    return replace(
        summary,
        statistics=summary.statistics.mapped(M),
        folds=summary.folds.mapped(M),
        rows=summary.rows @ M,
        segments=(),
    )


def scan_log(
    source: Recording | LogFile,
    reading: Reading,
    progress: Progress | None = None,
    *,
    wide: bool = False,
) -> ScannedLog:
    """Scan a log as `scan` does, and look at its raw signals: of a long one chunk by chunk.

    Raises:
        LogError: the log cannot be used.
    """
    if isinstance(source, Recording):  # its rows as they are, not brought to one clock
        spans = signal_spans(reading.apply(source))
        return ScannedLog(source, scan(source, reading, progress, wide=wide), spans)
    watch = SignalWatch()

    def look_at(part: Excerpt) -> None:
        if part.recording.time is not None:
            own = np.searchsorted(part.recording.time, part.span)
            watch.take(part.recording, slice(*own.tolist()))

    summary = scan(source, reading, progress, wide=wide, look_at=look_at)
    return ScannedLog(source, summary, watch.spans())
