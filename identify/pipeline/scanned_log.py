"""Logs scanned under an interpretation, which can be scanned again under another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Fault, SignalMonitor, Span
from identify.diagnosis.dead_channels import ChannelMonitor, dead_columns
from identify.estimation import FittedEffects
from identify.logs import LogFile, Recording
from identify.logs.recording import Excerpt
from identify.regressors import WIDE_LAYOUT, LogSummary, Statistics, summarise_log
from identify.regressors.log_scan import Progress
from identify.regressors.log_summary import no_drift
from identify.signals import Interpretation
from identify.signals.offset_steps import OffsetStep

T = TypeVar("T")

_ROUNDING_CHECK_ROWS = 2000
"""Number of first rows of a log in which repeated values are counted to detect rounding."""

_MIN_STEP_TO_NOISE_RATIO = 1.5
"""Minimum ratio of rounding step to noise at which rounding is coarse; noise includes rounding."""


class ScannedLog(NamedTuple):
    """Log with its summary (signals, noise, regression data) under one interpretation.

    Attributes:
        source: the log.
        summary: of the log under its reading.
        spans: of time with an invalid raw signal.
        corrected_faults: sized faults that its reading corrects, whose sizes are refitted.
    """

    source: Recording | LogFile
    summary: LogSummary
    spans: tuple[Span, ...] = ()
    corrected_faults: tuple[Fault, ...] = ()

    @property
    def has_all_columns(self) -> bool:
        """Whether the regression data have the columns for comparing interpretations."""
        return self.summary.statistics.layout == WIDE_LAYOUT

    @property
    def offset_steps(self) -> tuple[Span, ...]:
        """Time spans of wrench jumps that may be jumps of the sensor's offset."""
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
            source.reader()(0, _ROUNDING_CHECK_ROWS, 0).recording
            if isinstance(source, LogFile)
            else source
        )
        wrench = np.hstack(
            [first.signals[name][:_ROUNDING_CHECK_ROWS] for name in ("force", "torque")]
        )
        of_wrench = (("force", 0), ("torque", 0))
        power = np.zeros(6) if noise is None else np.diag(noise.covariance_of(of_wrench))
        apart = _MIN_STEP_TO_NOISE_RATIO * np.sqrt(power)
        return any(
            _is_coarsely_quantised(channel, by) for channel, by in zip(wrench.T, apart, strict=True)
        )

    def rescan(self, interpretation: Interpretation, *, check_signals: bool = True) -> ScannedLog:
        """Scan the log under another interpretation, with the same cut-off and columns.

        Further linear maps are applied to the summary of the log, which is not read again for them.

        `check_signals`: whether its raw signals are checked; otherwise its `spans` are kept.
        """
        reading = self.summary.reading
        if interpretation == reading:
            return self
        interpretation = replace(interpretation, cutoff_hz=self.summary.cutoff_hz)
        maps, known = interpretation.column_maps, len(reading.column_maps)
        same = replace(reading, cutoff_hz=interpretation.cutoff_hz, column_maps=maps)
        if self.has_all_columns and interpretation == same and maps[:known] == reading.column_maps:
            M = replace(interpretation, column_maps=maps[known:]).combined_column_map
            summary = replace(self.summary, cutoff_raised=False, motion_cutoff_hz=None)
            summary = replace(summary.corrected(M, no_drift), reading=interpretation)
            return self._replace(summary=summary)
        if not check_signals:
            summary = summarise_log(self.source, interpretation, wide=self.has_all_columns)
            return self._replace(summary=summary)
        return scan_log(self.source, interpretation, all_columns=self.has_all_columns)._replace(
            corrected_faults=self.corrected_faults
        )

    def rescan_subset(
        self,
        rows: int,
        interpretation: Interpretation | None = None,
        *,
        all_columns: bool = False,
    ) -> LogSummary:
        """Scan about `rows` evenly spread rows of the log, also under another interpretation."""
        if interpretation is None and self.has_all_columns and len(self.source) <= rows:
            return self.summary
        interpretation = replace(
            interpretation or self.summary.reading, cutoff_hz=self.summary.cutoff_hz, max_rows=rows
        )
        return summarise_log(self.source, interpretation, wide=all_columns)

    def rescan_with_time_scale(self, factor: float) -> ScannedLog | None:
        """Scan the log with its time multiplied by a factor and a newly chosen cut-off.

        None where that is impossible: it is read in chunks, has several clocks, or was corrected.
        """
        source = self.source
        if not isinstance(source, Recording) or source.time is None:
            return None
        if source.streams or self.summary.reading.column_maps:
            return None
        time = factor * source.time
        time.flags.writeable = False
        reading = replace(self.summary.reading, quantisation=None)  # the motion differs
        return scan_log(replace(source, time=time), reading, all_columns=self.has_all_columns)


def _is_coarsely_quantised(values: Array, min_step: float) -> bool:
    """Whether values repeat, and distinct values differ by at least a minimum step."""
    taken = np.unique(values)
    return 2 < 2 * len(taken) < len(values) and bool(np.diff(taken).min() > min_step)


def finest_blocks(log: LogSummary) -> Statistics:
    """Return a log's regression statistics by the shortest time blocks available."""
    has_finer_folds = len(np.unique(log.folds.block)) > len(np.unique(log.statistics.block))
    return log.folds if has_finer_folds else log.statistics


def split_by_body(logs: Sequence[T], n_unloaded: int) -> list[Sequence[T]]:
    """Split the logs of a fit, or values of each, into parts that are of one moving body each.

    `logs`: those of the carrier alone last.
    """
    loaded = len(logs) - n_unloaded
    return [logs[:loaded], logs[loaded:]] if n_unloaded else [logs]


def without_small_faults(
    logs: Iterable[ScannedLog], small_faults: FittedEffects, *, drift: bool = True
) -> Iterator[ScannedLog]:
    """Correct logs for the fitted small faults of their sensors, one after another.

    `logs`: in the order of the fit.
    """
    maps = small_faults.model.maps(small_faults.eta)
    for log, M, log_drift in zip(logs, maps, small_faults.drifts, strict=False):
        yield log._replace(summary=log.summary.corrected(M, log_drift.means if drift else no_drift))


def scan_log(
    source: Recording | LogFile,
    interpretation: Interpretation,
    progress: Progress | None = None,
    *,
    all_columns: bool = False,
) -> ScannedLog:
    """Scan a log and check its raw signals; a long log chunk by chunk.

    Raises `LogError`: the log cannot be used.
    """
    signals, channels = SignalMonitor(), ChannelMonitor()

    def check_rows(recording: Recording, rows: slice = slice(None)) -> None:
        signals.update(recording, rows)
        channels.update(recording, rows)

    def check_excerpt(part: Excerpt) -> None:
        if part.recording.time is not None:
            edges = np.searchsorted(part.recording.time, part.span)  # without neighbouring rows
            check_rows(part.recording, slice(*edges.tolist()))

    if isinstance(source, LogFile):
        log = summarise_log(
            source, interpretation, progress, wide=all_columns, on_chunk=check_excerpt
        )
    else:
        log = summarise_log(source, interpretation, progress, wide=all_columns)
        as_read = interpretation.apply(source)  # its rows as they are, not brought to one clock
        if as_read.still:
            from identify.diagnosis.zeroed_poses import find_zeroed_poses  # few logs need it

            spans = (*dead_columns(as_read, log.rows), *find_zeroed_poses(log.rows))
            return ScannedLog(source, log, spans)
        check_rows(as_read)
    return ScannedLog(
        source,
        log,
        _without_consequences_of_dead_channels(signals.spans(), channels.dead_channels(log)),
    )


def _without_consequences_of_dead_channels(
    spans: tuple[Span, ...], dead: tuple[Span, ...]
) -> tuple[Span, ...]:
    """Return faulty spans, without jumps of the offset and saturation that a dead channel causes.

    A channel that dies may jump, and stays at the end of its range only from then on. A channel
    that was saturated before is saturated, not dead.
    """
    causes = list[Span]()
    for channel in dead:
        # Monitors name channels differently; a dead one stays at the value that looks saturated.
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
