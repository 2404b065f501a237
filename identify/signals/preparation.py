"""From a `Recording` to rows ready for regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from identify.arrays import Array, Vec3
from identify.errors import LogError
from identify.findings import Finding
from identify.logs import Recording
from identify.signals.cutoff import choose_cutoff_hz, motion_cutoff_hz, shortest_segment_rows
from identify.signals.differentiator import Differentiator, default_cutoff_hz
from identify.signals.kinematics import BodyAxes, Samples, still_poses_in_body
from identify.signals.noise import SignalNoise, noise_moments, rate_product_bias, signal_noise
from identify.signals.prepared import BlockRows, FullRate, ImuCalibration, PreparedLog, Segment
from identify.signals.resampling import compensate_wrench_delay
from identify.signals.segments import EvenSegment, even_segments
from identify.signals.streams import on_one_clock
from identify.signals.transform import block_edges, block_transform
from identify.spatial import Pose, rotation_from_quaternion
from identify.spatial.columns import FIT_COLUMNS, PSI, RATE_PRODUCTS, RP, WIDE_COLUMNS, W, within
from identify.spatial.rotations import rotate_back

FOLDS = 5
"""Parts of time that are held out in turn; a log of fewer blocks is cut anew for them."""

_SERIES_POINTS_PER_PERIOD = 4.0
"""Points of the series over time in a period of the highest frequency."""


_RATE_TOLERANCE = 1e-6
"""Share by which the rates of two chunks of a log may differ and be taken for one."""


_LINEAR_MOTION_SIGNALS = (
    "quaternion",
    "position",
    "linear_velocity",
    "linear_acceleration",
    "accelerometer",
)
"""Signals of which a log has none where its force has to tell the linear acceleration."""

_NOISE_ROWS = 2**14
"""Rows that the noise of the signals is read from, in the middle of the longest segment: they tell
its size to some 2 %."""


class NoSegment(LogError):
    """No segment of the rows is long enough to be used."""


def prepare(
    recording: Recording,
    cutoff_hz: float | None = None,
    span: tuple[float, float] = (-np.inf, np.inf),
    *,
    wide: bool = False,
    rate_hz: float | None = None,
    validated: bool = True,
    imu: ImuCalibration | None = None,
) -> PreparedLog:
    """Put a log on an even clock, differentiate what is missing, and take its slow rows.

    Features and wrench are formed in body axes first and then go through one linear transform, so
    the rows obey the same equation as the samples (to form products of filtered rates, or to
    filter a wrench in turning axes, would not).

    Args:
        recording: the log.
        cutoff_hz: highest frequency of the rows [Hz]; where not given, min(5, rate/10), or higher
            where the motion is faster or all segments of the log are too short for that.
        span: time of the log that is made into rows [s]; what is outside serves derivatives alone.
        wide: take the columns behind [1, ψ, w] too: Rᵀ, ẇ, ẅ and Rᵀp. As the wrench is
            differentiated then, edges are treated as in a log whose motion has to be.
        rate_hz: of the log's other chunks [Hz]: where these rows have the same but for rounding,
            transforms are not made anew. With it, `motion_hz` is found though a cut-off is given.
        validated: make what validation needs too: folds, for which time is cut anew where blocks
            are too few to be held out, and the motion at full rate. Else folds are the blocks.
        imu: calibration by the whole log, of which these rows are a part; by these rows where not
            given.

    Raises:
        NoSegment: too short a log, or one of gaps.
        LogError: too few rows, or signals missing.
    """
    recording = on_one_clock(recording)
    if recording.still:
        return _prepare_still(recording, wide=wide)
    log = _synchronise(recording, cutoff_hz, rate_hz)
    differentiate = partial(_differentiate, span=span, wide=wide, states=validated)
    log, imu, parts = _calibrate_imu(log, imu, differentiate)
    return _transform_segments(log, imu, parts, span, folds=validated)


def full_rate(
    recording: Recording,
    cutoff_hz: float | None = None,
    span: tuple[float, float] = (-np.inf, np.inf),
    *,
    rate_hz: float | None = None,
) -> list[FullRate]:
    """Form the samples of a log as `prepare` makes rows of them, at their full rate.

    Args:
        recording: the log.
        cutoff_hz: as of `prepare`; derivatives have a pass-band of three of it.
        span: as of `prepare`.
        rate_hz: as of `prepare`.

    Raises:
        NoSegment, LogError: as `prepare`.
    """
    recording = on_one_clock(recording)
    if recording.still:
        return [_still_poses(recording)]
    log = _synchronise(recording, cutoff_hz, rate_hz)
    differentiate = partial(_differentiate, span=span, wide=False, states=False)
    _, _, parts = _calibrate_imu(log, None, differentiate)
    return [part.full_rate() for part in parts if len(part)]


def lacks_acceleration(recording: Recording) -> bool:
    """Whether a log, all on one clock, has a gyro and its force alone to tell its motion."""
    names = recording.signals.keys()
    rates = not names.isdisjoint({"gyro", "angular_velocity"})
    return rates and not recording.still and names.isdisjoint(_LINEAR_MOTION_SIGNALS)


def calibrate_imu(recording: Recording, cutoff_hz: float | None = None) -> ImuCalibration:
    """Calibrate the inertial measurement unit of a log, or the force that serves as one.

    Raises:
        NoSegment, LogError: as `prepare`; too few attitudes at rest.
    """
    log = _synchronise(on_one_clock(recording), cutoff_hz, None)
    differentiate = partial(_differentiate, span=(-np.inf, np.inf), wide=False, states=False)
    return _calibrate_imu(log, None, differentiate)[1]


@dataclass(frozen=True, slots=True)
class _Synchronised:
    """Segments of a log on an even clock, without delay, and what was read off the longest."""

    recording: Recording
    segments: list[EvenSegment]
    rate_hz: float
    cutoff_hz: float
    cutoff_raised: bool
    motion_hz: float | None
    noise: SignalNoise


def _synchronise(
    recording: Recording, cutoff_hz: float | None, rate_hz: float | None
) -> _Synchronised:
    """Cut a log on one clock into even segments and choose the cut-off; arguments as `prepare`'s.

    Raises:
        NoSegment: no segment is long enough.
    """
    turned = recording.frames["wrench"] == "world" and recording.delay_axes == "body"
    segments = [
        _at_rate(segment, rate_hz)
        for given in even_segments(recording)
        if (segment := compensate_wrench_delay(given, recording.wrench_delay, turned=turned))
        is not None
    ]
    longest = max(segments, key=len, default=None)
    if longest is None:
        raise NoSegment(
            f"{recording.name}: gaps and jumps leave no segment of a few rows; if each row is a "
            f"still pose, set `still = true` in [log]"
        )
    try:
        rate, fast = longest.rate_hz, None
        wanted = cutoff_hz is None or rate_hz is not None
        if wanted and len(longest) >= shortest_segment_rows(rate, default_cutoff_hz(rate)):
            fast = motion_cutoff_hz(longest.signals, rate)
        cutoff, raised = choose_cutoff_hz(rate, len(longest), cutoff_hz, fast)
    except LogError as error:
        raise NoSegment(f"{recording.name}: {error}") from error
    some = slice(max(0, (len(longest) - _NOISE_ROWS) // 2), (len(longest) + _NOISE_ROWS) // 2)
    noise = signal_noise(
        {name: values[some] for name, values in longest.signals.items()},
        rate,
        Differentiator.design(rate, cutoff),
    )
    noise = _with_schema_noise(noise, recording.noise)
    return _Synchronised(recording, segments, rate, cutoff, raised, fast, noise)


def _calibrate_imu(
    log: _Synchronised,
    known: ImuCalibration | None,
    differentiate: Callable[[_Synchronised, ImuCalibration], list[_PreparedSegment]],
) -> tuple[_Synchronised, ImuCalibration, list[_PreparedSegment]]:
    """Calibrate an inertial measurement unit by the rest of the log, and differentiate with it.

    Returns:
        The log, its force as an accelerometer where nothing else tells its acceleration; the
        calibration, which is the known one there; the segments, differentiated.

    Raises:
        LogError: the unit contradicts the rest of the log, or the log does not tell its place.
    """
    recording, imu = log.recording, ImuCalibration.of_schema(log.recording)
    if lacks_acceleration(recording):
        return _with_force_as_accelerometer(log, known, differentiate)
    if "accelerometer" in recording.signals or recording.acceleration_kind == "proper":
        from identify.signals.imu_scale import with_gravity_scale  # few logs need it

        longest = max(log.segments, key=len)
        imu = with_gravity_scale(recording, imu, longest.signals, longest.rate_hz)
    parts = differentiate(log, imu)
    if parts and parts[0].samples.in_body.redundant:
        imu, parts = _calibrate_by_redundancy(log, imu, parts, differentiate)
    return log, imu, parts


def _with_force_as_accelerometer(
    log: _Synchronised,
    known: ImuCalibration | None,
    differentiate: Callable[[_Synchronised, ImuCalibration], list[_PreparedSegment]],
) -> tuple[_Synchronised, ImuCalibration, list[_PreparedSegment]]:
    """Let the force tell the acceleration; arguments, results and errors of `_calibrate_imu`."""
    from identify.signals.force_motion import (
        calibrate_at_rest,
        with_accelerometer,
        with_com_position,
        with_noise,
    )

    rest, imu = None, known
    if imu is None:
        rest = calibrate_at_rest(log.recording, log.segments)
        imu = ImuCalibration(at_rest=(rest.mass, *rest.offset.tolist()))
    log = replace(
        log,
        segments=[with_accelerometer(log.recording, imu, each) for each in log.segments],
        noise=with_noise(log.recording, imu, log.noise),
    )
    parts = differentiate(log, imu)
    if parts and rest is not None:
        imu = with_com_position(log.recording, imu, _blocks_of(parts), rest)
        parts = differentiate(log, imu)
    return log, imu, parts


def _calibrate_by_redundancy(
    log: _Synchronised,
    imu: ImuCalibration,
    parts: list[_PreparedSegment],
    differentiate: Callable[[_Synchronised, ImuCalibration], list[_PreparedSegment]],
) -> tuple[ImuCalibration, list[_PreparedSegment]]:
    """Take off the offset of the gyro, and find the place of the accelerometer where it is asked.

    Returns:
        The calibration, and the segments differentiated with it.

    Raises:
        LogError: the log does not tell that place, or the unit contradicts the rest of the log.
    """
    from identify.signals.imu import (
        accelerometer_weights,
        consistency_findings,
        fit_accelerometer_position,
    )

    recording = log.recording
    both = np.concatenate([part.columns[:, -6:] for part in parts])
    if (offset := (both[:, :3] - both[:, 3:]).mean(axis=0)).any():
        imu = replace(imu, gyro_offset=tuple(offset.tolist()))
        parts = differentiate(log, imu)
    findings: list[Finding] = []
    if recording.imu is not None and recording.imu.fitted:
        found = fit_accelerometer_position(_blocks_of(parts))
        if found is None:
            raise LogError(
                f"{recording.name}: [imu.mount] fitted: the motion does not tell where the "
                "accelerometer is; turn faster, about two axes, or give translation"
            )
        place, covariance = found
        sigma = np.sqrt(np.diag(covariance))
        at = ", ".join(f"{1e3 * x:.4g} ± {2e3 * s:.2g}" for x, s in zip(place, sigma, strict=True))
        text = f"the accelerometer is at [{at}] mm from the body's origin, by the log."
        findings.append(Finding("imu_place", "info", text, evidence={"place": place.tolist()}))
        imu = replace(
            imu,
            X_BI=Pose(imu.X_BI.rotation, imu.X_BI.position + place),
            covariance=tuple(map(tuple, np.pad(covariance, (0, 4)).tolist())),
            shares=accelerometer_weights(_blocks_of(parts)),
        )
        parts = differentiate(log, imu)
    findings += consistency_findings(recording, imu, _blocks_of(parts))
    return replace(imu, findings=(*imu.findings, *findings)), parts


def _differentiate(
    log: _Synchronised,
    imu: ImuCalibration,
    *,
    span: tuple[float, float],
    wide: bool,
    states: bool,
) -> list[_PreparedSegment]:
    """Form the columns of each segment that is long enough; arguments as `prepare`'s."""
    return [
        _differentiate_segment(log, imu, segment, span, wide=wide, states=states)
        for segment in log.segments
        if len(segment) >= shortest_segment_rows(segment.rate_hz, log.cutoff_hz)
    ]


def _blocks_of(parts: Sequence[_PreparedSegment]) -> list[BlockRows]:
    edges = [block_edges(len(part.columns), part.segment.rate_hz) for part in parts]
    whole = [replace(part, core=slice(0, len(part.columns))) for part in parts]
    return [b for part, at in zip(whole, edges, strict=True) for b in part.block_rows(at)]


def _at_rate(segment: EvenSegment, rate_hz: float | None) -> EvenSegment:
    """The segment at that rate, where its own is the same but for rounding."""
    if rate_hz is None or abs(segment.rate_hz - rate_hz) > _RATE_TOLERANCE * rate_hz:
        return segment
    return replace(segment, rate_hz=rate_hz)


def _with_schema_noise(noise: SignalNoise, given: Mapping[str, float]) -> SignalNoise:
    """Noise read off a log, with what the schema gives in the place of its own."""
    covariance = noise.covariance.copy()
    for number, name in enumerate(noise.names):
        if name in given:
            own = slice(3 * number, 3 * number + 3)
            covariance[own], covariance[:, own] = 0.0, 0.0
            covariance[own, own] = given[name] ** 2 * np.eye(3)
    return replace(noise, covariance=covariance)


@dataclass(frozen=True, slots=True)
class _PreparedSegment:
    """What becomes of a segment: full-rate columns z, and how their noise comes about."""

    segment: EvenSegment
    time: Array
    columns: Array
    samples: Samples
    noise: SignalNoise
    cutoff_hz: float
    states: Segment | None
    core: slice

    def __len__(self) -> int:
        return self.core.stop - self.core.start

    def full_rate(self) -> FullRate:
        """Its own samples as they are."""
        lost, own, attitude = self.samples.half_window, self.core, self.samples.quaternion
        return FullRate(
            time=self.time[own],
            signals={
                name: values[lost + own.start : lost + own.stop]
                for name, values in self.segment.signals.items()
            },
            columns=self.columns[own, :FIT_COLUMNS],
            rotation=None if attitude is None else rotation_from_quaternion(attitude[own]),
            rate_hz=self.segment.rate_hz,
            cutoff_hz=self.cutoff_hz,
        )

    def blocks(self, edges: Sequence[int]) -> list[BlockRows]:
        """Rows of the blocks between the edges, counted from the first sample of its own."""
        blocks = self.block_rows(edges)
        if not self.samples.in_body.redundant:
            return blocks
        from identify.signals.imu import fused

        return [fused(block) for block in blocks]

    def block_rows(self, edges: Sequence[int]) -> list[BlockRows]:
        """The same with what is told twice behind the columns of a fit."""
        first, tapered = self.core.start, self.samples.half_window > 0
        parts = [
            (
                block_transform(b - a, self.segment.rate_hz, self.cutoff_hz, tapered=tapered),
                slice(first + a, first + b),
            )
            for a, b in pairwise(edges)
        ]
        offsets = rate_product_bias(self.noise, self.samples.differentiator)
        moments = noise_moments(self.samples, self.noise, parts)
        blocks = []
        for (transform, part), noise in zip(parts, moments, strict=True):
            rows = transform.apply(self.columns[part])
            rows[0, within(RATE_PRODUCTS, PSI)] -= rows[0, 0] * offsets
            share = transform.effective_fraction
            blocks.append(BlockRows(rows, transform.groups, noise, transform.length, share))
        return blocks

    def series(self) -> tuple[Array, Array]:
        """Time and columns, averaged over short stretches."""
        step = max(1, round(self.segment.rate_hz / (_SERIES_POINTS_PER_PERIOD * self.cutoff_hz)))
        step = min(step, len(self))
        count = len(self) // step
        whole = slice(self.core.start, self.core.start + count * step)
        width = WIDE_COLUMNS if self.samples.wide else FIT_COLUMNS
        columns = self.columns[whole, :width].reshape(count, -1, width).mean(axis=1)
        return self.time[whole].reshape(count, -1).mean(axis=1), columns


def _scale_still_poses(recording: Recording) -> tuple[Recording, ImuCalibration]:
    """Scale still poses by an accelerometer so that it reads gravity; others stay as they are."""
    if "accelerometer" in recording.signals or recording.acceleration_kind == "proper":
        from identify.signals.imu_scale import scaled_to_gravity  # few logs need it

        return scaled_to_gravity(recording)
    return recording, ImuCalibration.of_schema(recording)


def _prepare_still(recording: Recording, *, wide: bool) -> PreparedLog:
    recording, imu = _scale_still_poses(recording)
    count = len(recording)
    number = np.arange(float(count))
    position = recording.signals.get("position")
    columns = _form_columns(still_poses_in_body(recording), number, position, wide=wide)
    return PreparedLog(
        recording=recording,
        time=number,
        rows=columns,
        segment_ids=np.arange(count),
        noise=np.zeros(columns.shape[1] - 1),
        imu=imu,
    )


def _still_poses(recording: Recording) -> FullRate:
    recording, _ = _scale_still_poses(recording)
    axes, number = still_poses_in_body(recording), np.arange(float(len(recording)))
    return FullRate(
        time=number,
        signals=recording.signals,
        columns=_form_columns(axes, number, None, wide=False),
        rotation=axes.rotation if "quaternion" in recording.signals else None,
    )


def _differentiate_segment(
    log: _Synchronised,
    imu: ImuCalibration,
    segment: EvenSegment,
    span: tuple[float, float],
    *,
    wide: bool,
    states: bool,
) -> _PreparedSegment:
    differentiator = Differentiator.design(segment.rate_hz, log.cutoff_hz)
    samples = Samples(log.recording, segment.signals, differentiator, imu, wide=wide)
    time = segment.time[samples.half_window : len(segment) - samples.half_window]
    axes = samples.in_body
    columns = _form_columns(axes, time, samples.position if wide else None, wide=wide)
    return _PreparedSegment(
        segment=segment,
        time=time,
        columns=columns,
        samples=samples,
        noise=log.noise,
        cutoff_hz=log.cutoff_hz,
        states=_states(samples, axes, time, columns) if states else None,
        core=slice(*np.searchsorted(time, span).tolist()),
    )


def _states(samples: Samples, axes: BodyAxes, time: Array, columns: Array) -> Segment | None:
    """The motion of a segment at its full rate; None where the log does not give all of it."""
    quaternion, position, velocity = samples.quaternion, samples.position, samples.velocity
    if quaternion is None or position is None or velocity is None:
        return None
    return Segment(
        time=time,
        position=position,
        velocity=velocity,
        quaternion=quaternion,
        angular_velocity=axes.rates,
        wrench=columns[:, W].copy(),
        gravity=samples.recording.gravity,
    )


def _form_columns(axes: BodyAxes, time: Array, position: Vec3 | None, *, wide: bool) -> Array:
    """Columns z = [1, ψ, w], shape (n, 19), or [1, ψ, w, Rᵀ, ẇ, ẅ, Rᵀp], (n, 43).

    Args:
        axes: of the samples.
        time: of each.
        position: p_WoBo_W, for the last of the wide columns.
        wide: whether those are taken.
    """
    columns = np.zeros((len(time), 1 + axes.width(wide=wide)))
    columns[:, 0] = 1.0
    for at, values in axes.column_blocks(wide=wide):
        columns[:, 1 + at.start : 1 + at.stop] = values
    if wide and position is not None and "quaternion" in axes.given:
        columns[:, RP] = rotate_back(axes.rotation, position)
    return columns


def _transform_segments(
    log: _Synchronised,
    imu: ImuCalibration,
    parts: list[_PreparedSegment],
    span: tuple[float, float],
    *,
    folds: bool,
) -> PreparedLog:
    """Transform the columns of segments into rows by frequency, in blocks of time."""
    recording, rate_hz, cutoff_hz = log.recording, log.rate_hz, log.cutoff_hz
    parts = [part for part in parts if len(part) >= rate_hz / cutoff_hz]
    if not parts:
        raise NoSegment(f"{recording.name}: no segment in the time that was asked for")
    series = [part.series() for part in parts]
    blocks = tuple(b for part in parts for b in part.blocks(block_edges(len(part), rate_hz)))
    rows = np.array([len(block.rows) for block in blocks])
    stamps = np.zeros(0) if recording.time is None else recording.time
    first, last = np.searchsorted(stamps, span).tolist()
    return PreparedLog(
        recording=recording,
        time=np.concatenate([of_part for of_part, _ in series]),
        rows=np.concatenate([of_part for _, of_part in series]),
        segment_ids=np.repeat(np.arange(len(parts)), [len(of_part) for of_part, _ in series]),
        noise=np.average([_mean_noise(block) for block in blocks], axis=0, weights=rows),
        blocks=blocks,
        folds=blocks if not folds or len(blocks) >= FOLDS else tuple(_folds(parts)),
        signal_noise=log.noise,
        rate_hz=rate_hz,
        cutoff_hz=cutoff_hz,
        cutoff_raised=log.cutoff_raised,
        motion_hz=log.motion_hz,
        imu=imu,
        segments=tuple(part.states for part in parts if part.states is not None),
        repeated=int((np.diff(stamps[max(first - 1, 0) : last]) == 0.0).sum()),
        unused=max(0, last - first - sum(_rows_within(part.segment, span) for part in parts)),
    )


def _rows_within(segment: EvenSegment, span: tuple[float, float]) -> int:
    """How many of the log's rows that a segment was made of are in a span of time, about."""
    first, last = np.searchsorted(segment.time, span).tolist()
    return round(segment.rows * (last - first) / len(segment))


def _mean_noise(block: BlockRows) -> Array:
    """Variance of the noise in a sample of the slow columns but the constant, shape (K − 1,)."""
    counts = np.bincount(block.groups, minlength=max(block.noise) + 1)
    total = sum(counts[group] * np.diag(moment) for group, moment in block.noise.items())
    return np.asarray(total) / block.samples


def _folds(parts: list[_PreparedSegment]) -> list[BlockRows]:
    """Blocks of a short log, each segment cut in proportion to its length."""
    total = sum(map(len, parts))
    folds: list[BlockRows] = []
    for part in parts:
        n = len(part)
        count = max(1, round(FOLDS * n / total))
        shortest = part.segment.rate_hz / part.cutoff_hz
        count = max(1, min(count, int(n / shortest)))
        folds += part.blocks([n * number // count for number in range(count + 1)])
    return folds
