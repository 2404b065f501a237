"""Scanned logs, with the faults of their raw signals; a log can be scanned again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Fault, SignalMonitor, Span
from identify.diagnosis.dead_channels import ChannelMonitor, dead_columns
from identify.estimation import FittedEffects
from identify.logs import LogFile, Recording
from identify.logs.recording import Excerpt
from identify.regressors import WIDE_LAYOUT, LogSummary, Statistics, scan
from identify.regressors.log_scan import Progress
from identify.regressors.log_summary import no_drift
from identify.signals import Reading
from identify.signals.offset_steps import OffsetStep

_FIRST_ROWS = 2000
"""Number of rows at the beginning of a log in which repeated values are counted."""

_MIN_STEP_TO_NOISE = 1.5
"""Ratio of rounding step to noise from which on rounding is coarse; noise includes rounding."""


class ScannedLog(NamedTuple):
    """Log with its summary under one interpretation; it can be scanned under another one.

    Attributes:
        source: the log.
        summary: of the log under its reading.
        spans: of time with an invalid raw signal.
        applied: sized faults that its reading corrects, whose sizes are refitted.
    """

    source: Recording | LogFile
    summary: LogSummary
    spans: tuple[Span, ...] = ()
    applied: tuple[Fault, ...] = ()

    @property
    def wide(self) -> bool:
        """Whether the statistics have all columns that comparing explanations needs."""
        return self.summary.statistics.layout == WIDE_LAYOUT

    @property
    def offset_steps(self) -> tuple[Span, ...]:
        """Jumps of the wrench that may be jumps of the sensor's offset."""
        return tuple(span for span in self.spans if span.code == "bias_step")

    def without_offset_steps(self) -> ScannedLog:
        """Rescan the log with the jumps of its sensor's offset subtracted."""
        reading, spans = self.summary.reading, self.offset_steps
        steps = tuple(OffsetStep(span.start, span.stop, span.jump) for span in spans)
        return self.rescan(replace(reading, offset_steps=(*reading.offset_steps, *steps)))

    @property
    def may_be_rounded(self) -> bool:
        """Whether the wrench has few distinct values, farther apart than its noise."""
        source, noise = self.source, self.summary.signal_noise
        first = (
            source.reader()(0, _FIRST_ROWS, 0).recording if isinstance(source, LogFile) else source
        )
        wrench = np.hstack([first.signals[name][:_FIRST_ROWS] for name in ("force", "torque")])
        of_wrench = (("force", 0), ("torque", 0))
        power = np.zeros(6) if noise is None else np.diag(noise.of(of_wrench))
        apart = _MIN_STEP_TO_NOISE * np.sqrt(power)
        return any(
            _is_coarsely_quantised(channel, by) for channel, by in zip(wrench.T, apart, strict=True)
        )

    def rescan(self, reading: Reading) -> ScannedLog:
        """Scan the log under another interpretation, with the same cut-off and columns."""
        if reading == self.summary.reading:
            return self
        reading = replace(reading, cutoff_hz=self.summary.cutoff_hz)
        return scan_log(self.source, reading, wide=self.wide)._replace(applied=self.applied)

    def rescan_subset(
        self,
        rows: int,
        reading: Reading | None = None,
        *,
        wide: bool = False,
    ) -> LogSummary:
        """Scan about `rows` evenly spread rows of the log, also under another interpretation."""
        if reading is None and self.wide and len(self.source) <= rows:
            return self.summary
        reading = replace(
            reading or self.summary.reading, cutoff_hz=self.summary.cutoff_hz, most_rows=rows
        )
        return scan(self.source, reading, wide=wide)

    def rescan_with_time_scale(self, factor: float) -> ScannedLog | None:
        """Scan the log with its time multiplied by a factor and a newly chosen cut-off.

        None where that is impossible: it is read in chunks, has several clocks, or was corrected.
        """
        source = self.source
        if not isinstance(source, Recording) or source.time is None:
            return None
        if source.streams or self.summary.reading.maps:
            return None
        time = factor * source.time
        time.flags.writeable = False
        reading = replace(self.summary.reading, rounding=None)  # the motion differs
        return scan_log(replace(source, time=time), reading, wide=self.wide)


def _is_coarsely_quantised(values: Array, by: float) -> bool:
    """Whether values repeat, and distinct values differ by more than `by`."""
    taken = np.unique(values)
    return 2 < 2 * len(taken) < len(values) and bool(np.diff(taken).min() > by)


def finest_blocks(log: LogSummary) -> Statistics:
    """Return the statistics of a log in its finest division of time: folds or blocks."""
    several = len(np.unique(log.folds.block)) > len(np.unique(log.statistics.block))
    return log.folds if several else log.statistics


def without_effects(
    logs: Sequence[ScannedLog], effects: FittedEffects, *, drift: bool = True
) -> list[ScannedLog]:
    """Correct logs for the fitted small faults of their sensors.

    Args:
        logs: in the order of the fit.
        effects: fitted small faults.
        drift: whether the drift of the offsets is subtracted too.
    """
    maps = effects.model.maps(effects.eta)
    return [
        log._replace(summary=log.summary.corrected(M, own.means if drift else no_drift))
        for log, M, own in zip(logs, maps, effects.drifts, strict=False)
    ]


def scan_log(
    source: Recording | LogFile,
    reading: Reading,
    progress: Progress | None = None,
    *,
    wide: bool = False,
) -> ScannedLog:
    """Scan a log and check its raw signals; a long log chunk by chunk.

    Raises:
        LogError: the log cannot be used.
    """
    signals, channels = SignalMonitor(), ChannelMonitor()

    def watch(recording: Recording, rows: slice = slice(None)) -> None:
        signals.update(recording, rows)
        channels.update(recording, rows)

    def watch_excerpt(part: Excerpt) -> None:
        if part.recording.time is not None:
            edges = np.searchsorted(part.recording.time, part.span)
            watch(part.recording, slice(*edges.tolist()))

    if isinstance(source, LogFile):
        log = scan(source, reading, progress, wide=wide, look_at=watch_excerpt)
    else:
        log = scan(source, reading, progress, wide=wide)
        as_read = reading.apply(source)  # its rows as they are, not brought to one clock
        if as_read.still:
            from identify.diagnosis.zeroed_poses import zeroed_poses  # few logs need it

            spans = (*dead_columns(as_read, log.rows), *zeroed_poses(log.rows))
            return ScannedLog(source, log, spans)
        watch(as_read)
    return ScannedLog(
        source, log, _without_consequences_of_dead_channels(signals.spans(), channels.dead(log))
    )


def _without_consequences_of_dead_channels(
    spans: tuple[Span, ...], dead: tuple[Span, ...]
) -> tuple[Span, ...]:
    """Return spans and dead channels, without faults that another of them causes.

    A channel that dies may jump, and stays at the end of its range only from then on. A channel
    that was saturated before is saturated, not dead.
    """
    causes = list[Span]()
    for channel in dead:
        ends = [s for s in spans if s.code == "saturation" and s.size == abs(channel.size)]
        if any(span.start < channel.start for span in ends):
            continue
        causes.append(channel)
        spans = tuple(
            span
            for span in spans
            if span not in ends
            and not (span.code == "bias_step" and span.start <= channel.start <= span.stop)
        )
    return (*spans, *causes)
