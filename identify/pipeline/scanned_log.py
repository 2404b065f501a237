"""A log that was read, may be read again, and whose raw signals were looked at meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.diagnosis import SignalWatch, Span, signal_spans
from identify.logs import LogFile, Recording
from identify.logs.excerpt import Excerpt
from identify.regressors import WIDE_LAYOUT, LogSummary, scan
from identify.regressors.scanning import Progress
from identify.signals import Reading


class ScannedLog(NamedTuple):
    """A log, which may be read again, and what was found when it was read.

    Attributes:
        source: the log.
        summary: of it.
        spans: of time in which a raw signal cannot be what it says.
    """

    source: Recording | LogFile
    summary: LogSummary
    spans: tuple[Span, ...] = ()

    def again(self, reading: Reading) -> ScannedLog:
        """The log read otherwise, with the cut-off it had, and wide where it was."""
        reading = replace(reading, cutoff_hz=self.summary.cutoff_hz)
        return scan_log(self.source, reading, wide=self.summary.statistics.layout == WIDE_LAYOUT)


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
    if isinstance(
        source, Recording
    ):  # with the rows that `scan` leaves out, or brings to one clock
        spans = signal_spans(reading.apply(source))
        return ScannedLog(source, scan(source, reading, progress, wide=wide), spans)
    watch = SignalWatch()

    def look_at(part: Excerpt) -> None:
        if part.recording.time is not None:
            own = np.searchsorted(part.recording.time, part.span)
            watch.take(part.recording, slice(*own.tolist()))

    summary = scan(source, reading, progress, wide=wide, look_at=look_at)
    return ScannedLog(source, summary, watch.spans())
