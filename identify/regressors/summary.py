"""`LogSummary`: all that is kept of a log once it was scanned, bounded however long it is.

Each chunk of a log gives one; those of chunks in order of time add up to that of the log.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from identify.arrays import Array, Indices, Phi
from identify.logs.recording import rows_of
from identify.regressors.corrected_states import corrected_states
from identify.regressors.statistics import Statistics
from identify.regressors.wrench import Drift, block_statistics, fold_statistics, without_drift
from identify.signals import PreparedLog, Reading, Segment
from identify.signals.clock import gap_starts
from identify.signals.noise import SignalNoise
from identify.signals.preparation import FOLDS
from identify.signals.prepared import ImuCalibration, LogSeries
from identify.signals.segments import MIN_SEGMENT_ROWS
from identify.spatial.columns import W
from identify.spatial.rotations import lengths

MOST_POINTS = 100_000
"""Points of the series that are kept of a log."""

_STRETCH = 200
"""Points of the series that stay together where it is thinned."""

_SAME_SEGMENT = 5.5
"""Points of the series across the edge of two chunks are of one segment up to so many steps."""


_HOLE = 1.0
"""Time without rows that is told [s]."""

_MOMENT = 1e-6
"""Share of a log's time over which a drift is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary(LogSeries):
    """What a scan keeps of a log: its statistics, and excerpts of it for figures and replays.

    Of a long log the series and the full-rate states are excerpts, evenly spread, and the arrays of
    the recording are empty: it has what the log says of itself, such as files, frames and account
    of rows.

    Attributes:
        reading: how it was read.
        statistics: sufficient statistics by blocks of time.
        folds: those of the parts of time that are held out in turn.
        points: of the whole series, those that are not kept among them.
        numbers: which of them those of the series are, shape (n,).
        last_segment: the number of the segment that the whole series ends in.
        span: times of the first and the last point of the whole series [s].
        fastest: largest speed [m/s] and angular rate [rad/s] met.
        wrench_range: least and largest force and torque, as logged [N, N m], shape (2, 6).
        holes: begin and end of each time of a second or more without a row [s].
        corrections: maps of the wide columns that were made, each with the drift that was taken
            off then; full-rate states are as they were read, until they are asked for.
    """

    reading: Reading
    statistics: Statistics
    folds: Statistics
    points: int
    numbers: Indices
    last_segment: int
    span: tuple[float, float]
    fastest: tuple[float, float]
    wrench_range: Array
    holes: tuple[tuple[float, float], ...] = ()
    corrections: tuple[tuple[Array, Drift], ...] = ()

    @property
    def shown(self) -> float:
        """Share of the whole series that is kept."""
        return len(self.rows) / self.points

    @property
    def effective(self) -> float:
        """How many independent rows there are."""
        return float(self.statistics.effective_samples.sum())

    @property
    def duration(self) -> float:
        """Time the log spans [s]; zero for still poses."""
        return 0.0 if self.recording.still else self.span[1] - self.span[0]

    @property
    def kept(self) -> int:
        """Rows of the log that were not dropped."""
        return self.recording.rows - self.recording.dropped.total

    @classmethod
    def of_chunk(
        cls,
        chunk: PreparedLog,
        reading: Reading,
        wrench_range: Array,
        *,
        most_blocks: int,
        most_states: int,
    ) -> LogSummary:
        """The summary of a chunk by itself.

        Args:
            chunk: its rows, prepared.
            reading: how the log is read; where it has no cut-off, `motion_hz` is kept.
            wrench_range: as the attribute.
            most_blocks: into which its statistics may be cut.
            most_states: full-rate states that may be kept.
        """
        series: dict[str, Any] = {f.name: getattr(chunk, f.name) for f in fields(LogSeries)}
        series["recording"] = rows_of(chunk.recording, 0, 0)
        series["segments"] = _first_states(chunk.segments, most_states)
        series["motion_hz"] = (chunk.motion_hz or 0.0) if reading.cutoff_hz is None else None
        statistics = block_statistics(chunk, most_blocks)
        shared = chunk.folds is chunk.blocks and len(chunk.blocks) <= most_blocks
        return cls(
            **series,
            reading=reading,
            statistics=statistics,
            folds=statistics if shared else fold_statistics(chunk),
            points=len(chunk.time),
            numbers=np.arange(len(chunk.time)),
            last_segment=int(chunk.segment_ids[-1]),
            span=(float(chunk.time[0]), float(chunk.time[-1])),
            fastest=_fastest(chunk.segments),
            wrench_range=wrench_range,
            holes=_holes(chunk.recording.time),
        ).thinned()

    def __add__(self, later: LogSummary) -> LogSummary:
        """The summary of two chunks of a log, in the terms of the earlier one."""
        statistics = self.statistics.followed_by(later.statistics)
        several = len(np.unique(statistics.block)) >= FOLDS
        step = 0.0 if len(later.time) < 2 else float(np.median(np.diff(later.time)))
        goes_on = later.span[0] - self.span[1] <= _SAME_SEGMENT * step
        first_segment = self.last_segment + (0 if goes_on else 1)
        samples = [float(each.statistics.samples.sum()) for each in (self, later)]
        raised = self.cutoff_raised or later.cutoff_raised
        motion_hz = None
        if self.motion_hz is not None:
            motion_hz = max(self.motion_hz, later.motion_hz or 0.0)
        return replace(
            self,
            imu=_with_both_places(self.imu, later.imu, samples),
            time=np.concatenate((self.time, later.time)),
            rows=np.concatenate((self.rows, later.rows)),
            segment_ids=np.concatenate((self.segment_ids, first_segment + later.segment_ids)),
            noise=np.average((self.noise, later.noise), axis=0, weights=samples),
            signal_noise=_mean_noise(self.signal_noise, later.signal_noise, samples),
            segments=(*self.segments, *later.segments),
            cutoff_raised=raised,
            motion_hz=motion_hz,
            repeated=self.repeated + later.repeated,
            unused=self.unused + later.unused,
            statistics=statistics,
            folds=statistics if several else self.folds.followed_by(later.folds),
            points=self.points + later.points,
            numbers=np.concatenate((self.numbers, self.points + later.numbers)),
            last_segment=first_segment + later.last_segment,
            span=(self.span[0], later.span[1]),
            fastest=(
                max(self.fastest[0], later.fastest[0]),
                max(self.fastest[1], later.fastest[1]),
            ),
            wrench_range=joint_range(self.wrench_range, later.wrench_range),
            holes=tuple(sorted({*self.holes, *later.holes})),
        ).thinned()

    def corrected(self, M: Array, drift: Drift) -> LogSummary:
        """The log under a map of its wide columns: statistics, series and, when asked for, states.

        Args:
            M: linear map of its wide columns, shape (43, 43).
            drift: mean offset of the mapped wrench between shares of the log's time.
        """
        statistics = without_drift(self.statistics.mapped(M), drift)
        folds = statistics
        if self.folds is not self.statistics:
            folds = without_drift(self.folds.mapped(M), drift)
        rows = self.rows @ M
        start, stop = self.numbers / self.points, (self.numbers + 1.0) / self.points
        rows[:, W] -= rows[:, :1] * drift(start, stop)
        return replace(
            self,
            statistics=statistics,
            folds=folds,
            rows=rows,
            corrections=(*self.corrections, (M, drift)),
        )

    def corrected_segments(self, phi: Phi) -> tuple[Segment, ...]:
        """Full-rate states with all corrections, as `corrected_states` has them.

        Args:
            phi: the body that moved, shape (10,).
        """
        done = []
        for segment in self.segments:
            start = np.clip((segment.time - self.span[0]) / self.duration, 0.0, 1.0 - _MOMENT)
            of_segment = [(M, drift(start, start + _MOMENT)) for M, drift in self.corrections]
            done.append(corrected_states(segment, of_segment, phi))
        return tuple(done)

    def thinned(self, most: int | None = None) -> LogSummary:
        """With so few stretches of the series, evenly spread and each whole, as may be kept.

        Args:
            most: points, `MOST_POINTS` where not given; of one stretch the first ones stay.
        """
        most = MOST_POINTS if most is None else most
        stride, kept = 1, np.ones(len(self.numbers), dtype=np.bool_)
        while kept.sum() > most and stride * _STRETCH < self.points:
            stride *= 2
            kept = self.numbers // _STRETCH % stride == 0
        kept &= np.cumsum(kept) <= most
        if kept.all():
            return self
        series = {
            name: getattr(self, name)[kept] for name in ("time", "rows", "segment_ids", "numbers")
        }
        return replace(self, **series)


def no_drift(start: Array, stop: Array) -> Array:
    """Drift of a sensor that has none, shape (n, 6)."""
    return np.zeros((len(start), 6))


def joint_range(first: Array, second: Array) -> Array:
    """Least and largest of two ranges, shape (2, 6)."""
    return np.array([np.minimum(first[0], second[0]), np.maximum(first[1], second[1])])


def _with_both_places(
    first: ImuCalibration, second: ImuCalibration, samples: list[float]
) -> ImuCalibration:
    """Calibration of the earlier of two parts, with the mean's error where each found a place.

    What the errors of both make of a fit of both is about what that of their mean makes.
    """
    if first.at_rest or not (first.covariance and second.covariance):
        return first
    weights = np.square(np.array(samples) / sum(samples))
    both = np.array([first.covariance, second.covariance])
    of_mean = np.tensordot(weights, both, axes=1)
    return replace(first, covariance=tuple(map(tuple, of_mean.tolist())))


def _mean_noise(
    first: SignalNoise | None, second: SignalNoise | None, samples: list[float]
) -> SignalNoise | None:
    if first is None or second is None:
        return first or second
    covariances = (first.covariance, second.covariance)
    return replace(first, covariance=np.average(covariances, axis=0, weights=samples))


def _holes(time: Array | None) -> tuple[tuple[float, float], ...]:
    if time is None or len(time) < MIN_SEGMENT_ROWS:
        return ()
    after = [k for k in gap_starts(time) if time[k] - time[k - 1] >= _HOLE]
    return tuple((float(time[k - 1]), float(time[k])) for k in after)


def _fastest(segments: tuple[Segment, ...]) -> tuple[float, float]:
    speeds = [float(lengths(segment.velocity).max()) for segment in segments]
    rates = [float(lengths(segment.angular_velocity).max()) for segment in segments]
    return max(speeds, default=0.0), max(rates, default=0.0)


def _first_states(segments: tuple[Segment, ...], most: int) -> tuple[Segment, ...]:
    """The first states of some segments, which do not hold on to the others; never a single one."""
    kept = []
    for segment in segments:
        if most > 1:
            kept.append(_first_rows(segment, most))
        most -= len(segment.time)
    return tuple(kept)


def _first_rows(segment: Segment, rows: int) -> Segment:
    if len(segment.time) <= rows:
        return segment
    values = {each.name: getattr(segment, each.name) for each in fields(segment)}
    gravity = values.pop("gravity")
    return Segment(**{name: array[:rows].copy() for name, array in values.items()}, gravity=gravity)
