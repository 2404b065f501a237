"""`LogSummary`: summary of a scanned log, of bounded size for logs of any length.

Each chunk of a log has a summary; the sum of consecutive summaries is that of the log.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from identify.arrays import Array, Indices, Phi
from identify.logs.recording import Recording, recording_rows
from identify.regressors.corrected_states import corrected_states
from identify.regressors.statistics import Statistics
from identify.regressors.wrench import Drift, block_statistics, fold_statistics, subtract_drift
from identify.signals import Interpretation, PreparedLog, Segment
from identify.signals.preparation import CROSS_VALIDATION_FOLDS
from identify.signals.prepared_log import LogSeries, acceleration_sources
from identify.signals.segments import MIN_SEGMENT_ROWS
from identify.signals.uniform_clock import gap_starts
from identify.signals.white_noise import SignalNoise
from identify.spatial.columns import FIT_COLUMN_COUNT, WRENCH
from identify.spatial.rotations import vector_norms

MAX_SERIES_POINTS = 100_000
"""Largest number of points that are kept of the time series of a log."""

_POINTS_PER_STRETCH = 200
"""Number of consecutive points that are kept or dropped together when a time series is thinned."""

_MAX_SEGMENT_STEP = 5.5
"""Largest time between two chunks, in median time steps, at which a segment continues."""

_MIN_HOLE_SECONDS = 1.0
"""Shortest time span without rows that is reported [s]."""

_DRIFT_INTERVAL = 1e-6
"""Fraction of a log's duration over which a drift is regarded as constant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary(LogSeries):
    """Summary of a scanned log: its statistics, and excerpts of it for figures and replays.

    For a long log the series and the full-rate states are evenly spread excerpts. The arrays of the
    recording are empty: it holds the metadata of the log, such as files, frames and row counts.

    Attributes:
        reading: corrections and settings with which the log was read.
        statistics: sufficient statistics by blocks of time.
        folds: sufficient statistics by cross-validation fold.
        points: number of points of the complete series.
        point_indices: point_indices of the kept points in the complete series, shape (n,).
        last_segment: number of the segment in which the complete series ends.
        span: times of the first and the last point of the complete series [s].
        max_rates: largest speed [m/s] and angular rate [rad/s].
        wrench_range: minimum and maximum force and torque, as logged [N, N m], shape (2, 6).
        holes: start and end of each interval of a second or more without a row [s].
        corrections: maps that were applied to the extended columns, each with the drift subtracted
            after it; full-rate states are corrected on request (`corrected_segments`).
    """

    reading: Interpretation
    statistics: Statistics
    folds: Statistics
    points: int
    point_indices: Indices
    last_segment: int
    span: tuple[float, float]
    max_rates: tuple[float, float]
    wrench_range: Array
    holes: tuple[tuple[float, float], ...] = ()
    corrections: tuple[tuple[Array, Drift], ...] = ()

    @property
    def kept_fraction(self) -> float:
        """Fraction of the points of the log's time series that the summary keeps."""
        return len(self.rows) / self.points

    @property
    def independent_rows(self) -> float:
        """Equivalent number of independent rows."""
        return float(self.statistics.effective_samples.sum())

    @property
    def duration(self) -> float:
        """Duration of the log [s]; zero for static poses."""
        return 0.0 if self.recording.still else self.span[1] - self.span[0]

    @property
    def rows_kept(self) -> int:
        """Number of rows of the log that were not dropped."""
        return self.recording.rows - self.recording.dropped.total

    @classmethod
    def of_chunk(
        cls,
        chunk: PreparedLog,
        reading: Interpretation,
        wrench_range: Array,
        *,
        max_blocks: int,
        max_states: int,
    ) -> LogSummary:
        """Summarise a single chunk.

        Args:
            chunk: the prepared chunk.
            reading: how the log is read; if it has no cut-off, `motion_cutoff_hz` is kept.
            wrench_range: minimum and maximum wrench of the chunk.
            max_blocks: largest number of time blocks of its statistics.
            max_states: largest number of full-rate states to keep.
        """
        series: dict[str, Any] = {f.name: getattr(chunk, f.name) for f in fields(LogSeries)}
        series["recording"] = recording_rows(chunk.recording, 0, 0)
        series["segments"] = _first_states(chunk.segments, max_states)
        series["motion_cutoff_hz"] = (
            (chunk.motion_cutoff_hz or 0.0) if reading.cutoff_hz is None else None
        )
        statistics = block_statistics(chunk, max_blocks)
        shared = chunk.folds is chunk.blocks and len(chunk.blocks) <= max_blocks
        return cls(
            **series,
            reading=reading,
            statistics=statistics,
            folds=statistics if shared else fold_statistics(chunk),
            points=len(chunk.time),
            point_indices=np.arange(len(chunk.time)),
            last_segment=int(chunk.segment_ids[-1]),
            span=(float(chunk.time[0]), float(chunk.time[-1])),
            max_rates=_max_speed_and_rate(chunk.segments),
            wrench_range=wrench_range,
            holes=_time_spans_without_rows(chunk.recording.time),
        ).thinned()

    def __add__(self, later: LogSummary) -> LogSummary:
        """Combine the summaries of two consecutive parts of a log, with the earlier's settings."""
        statistics = self.statistics.append_blocks(later.statistics)
        several = len(np.unique(statistics.block)) >= CROSS_VALIDATION_FOLDS
        step = 0.0 if len(later.time) < 2 else float(np.median(np.diff(later.time)))
        same_segment = later.span[0] - self.span[1] <= _MAX_SEGMENT_STEP * step
        first_segment = self.last_segment + (0 if same_segment else 1)
        samples = [float(part.statistics.samples.sum()) for part in (self, later)]
        raised = self.cutoff_raised or later.cutoff_raised
        motion_hz = None
        if self.motion_cutoff_hz is not None:
            motion_hz = max(self.motion_cutoff_hz, later.motion_cutoff_hz or 0.0)
        return replace(
            self,
            time=np.concatenate((self.time, later.time)),
            rows=np.concatenate((self.rows, later.rows)),
            segment_ids=np.concatenate((self.segment_ids, first_segment + later.segment_ids)),
            noise=np.average((self.noise, later.noise), axis=0, weights=samples),
            signal_noise=_mean_signal_noise(self.signal_noise, later.signal_noise, samples),
            segments=(*self.segments, *later.segments),
            cutoff_raised=raised,
            motion_cutoff_hz=motion_hz,
            repeated_rows=self.repeated_rows + later.repeated_rows,
            unused_rows=self.unused_rows + later.unused_rows,
            statistics=statistics,
            folds=statistics if several else self.folds.append_blocks(later.folds),
            points=self.points + later.points,
            point_indices=np.concatenate((self.point_indices, self.points + later.point_indices)),
            last_segment=first_segment + later.last_segment,
            span=(self.span[0], later.span[1]),
            max_rates=(
                max(self.max_rates[0], later.max_rates[0]),
                max(self.max_rates[1], later.max_rates[1]),
            ),
            wrench_range=merge_ranges(self.wrench_range, later.wrench_range),
            holes=tuple(sorted({*self.holes, *later.holes})),
        ).thinned()

    def corrected(self, M: Array, drift: Drift) -> LogSummary:
        """Correct statistics and time series by a linear map, and subtract a drift.

        Args:
            M: linear map of the wide columns, shape (43, 43).
            drift: mean offset of the mapped wrench between shares of the log's time.
        """
        statistics = subtract_drift(self.statistics.mapped(M), drift)
        folds = statistics
        if self.folds is not self.statistics:
            folds = subtract_drift(self.folds.mapped(M), drift)
        rows = self.rows @ M
        start, stop = self.point_indices / self.points, (self.point_indices + 1.0) / self.points
        rows[:, WRENCH] -= rows[:, :1] * drift(start, stop)
        return replace(
            self,
            statistics=statistics,
            folds=folds,
            rows=rows,
            corrections=(*self.corrections, (M, drift)),
        )

    def corrected_segments(self, phi: Phi) -> tuple[Segment, ...]:
        """Return the full-rate segments with all corrections of the log applied to their states.

        Args:
            phi: parameters of the moving body, shape (10,).
        """
        segments = []
        for segment in self.segments:
            start = np.clip(
                (segment.time - self.span[0]) / self.duration, 0.0, 1.0 - _DRIFT_INTERVAL
            )
            corrections = [
                (M, drift(start, start + _DRIFT_INTERVAL)) for M, drift in self.corrections
            ]
            segments.append(corrected_states(segment, corrections, phi))
        return tuple(segments)

    def details(self) -> dict[str, object]:
        """Return what only a log of a wrench has in its provenance, as plain values."""
        return {
            "repeated_rows": self.repeated_rows,
            "unused_rows": self.unused_rows,
            "noise": _noise_record(self),
            "accelerations": {
                name: route._asdict() for name, route in acceleration_sources(self).items()
            },
            "reading": self.reading.digest,
        }

    def for_report(self, max_points: int) -> LogSummary:
        """Return the summary thinned to so many points, without data for further fits."""
        log = self.thinned(max_points)
        counts = log.statistics.sample_counts()
        return replace(
            log,
            rows=log.rows[:, :FIT_COLUMN_COUNT],
            segments=(),
            corrections=(),
            statistics=counts,
            folds=counts,
        )

    def thinned(self, max_points: int | None = None) -> LogSummary:
        """Reduce the time series to evenly spread stretches of consecutive points.

        Args:
            max_points: largest number of points, `MAX_SERIES_POINTS` if not given.
        """
        max_points = MAX_SERIES_POINTS if max_points is None else max_points
        stride, kept = 1, np.ones(len(self.point_indices), dtype=np.bool_)
        while kept.sum() > max_points and stride * _POINTS_PER_STRETCH < self.points:
            stride *= 2
            kept = self.point_indices // _POINTS_PER_STRETCH % stride == 0
        kept &= np.cumsum(kept) <= max_points
        if kept.all():
            return self
        series = {
            name: getattr(self, name)[kept]
            for name in ("time", "rows", "segment_ids", "point_indices")
        }
        return replace(self, **series)


def _noise_record(log: LogSummary) -> dict[str, object]:
    """Return the noise (one sigma) of each signal's axes in SI, and whether the schema gave it."""
    noise = log.signal_noise
    if noise is None:
        return {}
    sigma = np.sqrt(np.diag(noise.covariance)).reshape(-1, 3)
    return {
        name: {"sigma": of_axes.tolist(), "given": name in log.recording.noise}
        for name, of_axes in zip(noise.names, sigma, strict=True)
    }


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SensorLog:
    """Summary of a log, without its rows.

    Attributes:
        recording: the log without rows (`identify.logs.recording.recording_rows`).
        statistics: sufficient statistics of the log.
        duration: time of its last row [s].
        rate_hz: sampling rate [Hz]; None for static poses.
        cutoff_hz: highest frequency of the rows [Hz]; None for static poses.
    """

    recording: Recording
    statistics: Statistics
    duration: float = 0.0
    rate_hz: float | None = None
    cutoff_hz: float | None = None

    @property
    def name(self) -> str:
        """Name of the log."""
        return self.recording.name

    @property
    def sha256(self) -> str:
        """Digest of its content."""
        return self.recording.sha256

    def details(self) -> dict[str, object]:
        """Return what only a log of its sensor has in its provenance, as plain values."""
        return {}

    def for_report(self, max_points: int) -> Self:
        """Return the summary with so many points, without data for further fits."""
        return replace(self, statistics=self.statistics.sample_counts())


def no_drift(start: Array, stop: Array) -> Array:
    """Return a `Drift` of zero for n intervals of time, shape (n, 6)."""
    return np.zeros((len(start), 6))


def merge_ranges(first: Array, second: Array) -> Array:
    """Merge two ranges [minimum, maximum], shape (2, 6)."""
    return np.array([np.minimum(first[0], second[0]), np.maximum(first[1], second[1])])


def _mean_signal_noise(
    first: SignalNoise | None, second: SignalNoise | None, samples: list[float]
) -> SignalNoise | None:
    if first is None or second is None:
        return first or second
    covariances = (first.covariance, second.covariance)
    return replace(first, covariance=np.average(covariances, axis=0, weights=samples))


def _time_spans_without_rows(time: Array | None) -> tuple[tuple[float, float], ...]:
    if time is None or len(time) < MIN_SEGMENT_ROWS:
        return ()
    hole_ends = [k for k in gap_starts(time) if time[k] - time[k - 1] >= _MIN_HOLE_SECONDS]
    return tuple((float(time[k - 1]), float(time[k])) for k in hole_ends)


def _max_speed_and_rate(segments: tuple[Segment, ...]) -> tuple[float, float]:
    speeds = [float(vector_norms(segment.velocity).max()) for segment in segments]
    rates = [float(vector_norms(segment.angular_velocity).max()) for segment in segments]
    return max(speeds, default=0.0), max(rates, default=0.0)


def _first_states(segments: tuple[Segment, ...], max_states: int) -> tuple[Segment, ...]:
    """Copy a limited number of full-rate states from the first segments, at least two of each."""
    first = []
    for segment in segments:
        if max_states > 1:
            is_short = len(segment.time) <= max_states
            first.append(segment if is_short else segment.select(slice(max_states)))
        max_states -= len(segment.time)
    return tuple(first)
