"""Preparation of a log: resampling, derivatives, body axes, and rows ready for regression."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.findings import Finding
from identify.logs import Recording
from identify.signals.cutoff import choose_cutoff_hz, motion_cutoff_hz, shortest_segment_rows
from identify.signals.differentiator import Differentiator, default_cutoff_hz
from identify.signals.imu_calibration import ImuCalibration
from identify.signals.prepared_log import BlockRows, FullRateSegment, PreparedLog
from identify.signals.prepared_segment import (
    PreparedSegment,
    all_blocks,
    differentiate_segment,
    form_columns,
)
from identify.signals.resampling import compensate_wrench_delay
from identify.signals.segment_kinematics import static_poses_in_body
from identify.signals.segments import EvenSegment, even_segments
from identify.signals.static_poses import IF_STATIC_POSES
from identify.signals.stream_resampling import on_one_clock
from identify.signals.transform import block_edges
from identify.signals.white_noise import SignalNoise, signal_noise
from identify.spatial import Pose

CROSS_VALIDATION_FOLDS = 5
"""Number of cross-validation folds; a log with fewer blocks is divided again for them."""

_RATE_TOLERANCE = 1e-6
"""Largest relative difference of the sampling rates of two chunks that count as equal."""


_LINEAR_MOTION_SIGNALS = (
    "quaternion",
    "position",
    "linear_velocity",
    "linear_acceleration",
    "accelerometer",
)
"""Signals that give the linear acceleration; without any of them the force is used."""

_NOISE_ROWS = 2**14
"""Rows in the middle of the longest segment from which the noise of the signals is estimated, to
about 2 %."""


class NoUsableSegment(LogError):
    """No segment of the rows is long enough to be used."""


def prepare(
    recording: Recording,
    cutoff_hz: float | None = None,
    span: tuple[float, float] = (-np.inf, np.inf),
    *,
    wide: bool = False,
    rate_hz: float | None = None,
    imu: ImuCalibration | None = None,
) -> PreparedLog:
    """Resample a log to a uniform clock, differentiate missing signals, and form low-pass rows.

    Features and wrench are formed in body axes first and then low-passed by one linear transform,
    so the rows obey the same equation as the samples (products of filtered rates, or a wrench
    filtered in rotating axes, would not).

    Args:
        recording: the log.
        cutoff_hz: highest frequency of the rows [Hz]; by default min(5, rate/10), or higher if the
            motion is faster or all segments of the log are too short for that.
        span: time range of the rows [s]; samples outside serve derivatives only.
        wide: add the columns behind [1, ψ, w]: Rᵀ, ẇ, ẅ and Rᵀp. As the wrench is
            differentiated then, edges are treated as if the motion had to be differentiated.
        rate_hz: of the log's other chunks [Hz]: transforms are shared where the rates are equal but
            for rounding. With it, `motion_cutoff_hz` is estimated even if a cut-off is given.
        imu: calibration from the whole log, of which these rows are a part; by default from these
            rows. The offset of a gyro beside an attitude is always that of these rows.

    Raises:
        NoUsableSegment: the log is too short or has too many gaps.
        LogError: too few rows, or signals missing.
    """
    recording = on_one_clock(recording)
    if recording.still:
        return _prepare_static_poses(recording, wide=wide)
    log = _synchronise(recording, cutoff_hz, rate_hz)
    differentiate = partial(_differentiate, span=span, wide=wide)
    log, imu, parts = _calibrate_imu(log, imu, differentiate)
    return _transform_segments(log, imu, parts, span)


def full_rate_segments(
    recording: Recording,
    cutoff_hz: float | None = None,
    span: tuple[float, float] = (-np.inf, np.inf),
    *,
    rate_hz: float | None = None,
    imu: ImuCalibration | None = None,
) -> list[FullRateSegment]:
    """Return the segments of a log with signals and columns at full rate, without a low-pass.

    Args:
        recording: the log.
        cutoff_hz: as in `prepare`; derivatives have a pass-band of three times it.
        span: as in `prepare`.
        rate_hz: as in `prepare`.
        imu: as in `prepare`.

    Raises:
        NoUsableSegment, LogError: as `prepare`.
    """
    recording = on_one_clock(recording)
    if recording.still:
        return [_full_rate_static_poses(recording)]
    log = _synchronise(recording, cutoff_hz, rate_hz)
    differentiate = partial(_differentiate, span=span, wide=False)
    segments = _calibrate_imu(log, imu, differentiate).segments
    return [segment.full_rate() for segment in segments if len(segment)]


def lacks_acceleration(recording: Recording) -> bool:
    """Return whether a log with one clock has no motion signals but a gyro and its force."""
    names = recording.signals.keys()
    has_rates = not names.isdisjoint({"gyro", "angular_velocity"})
    return has_rates and not recording.still and names.isdisjoint(_LINEAR_MOTION_SIGNALS)


def calibrate_imu(recording: Recording, cutoff_hz: float | None = None) -> ImuCalibration:
    """Calibrate the inertial measurement unit of a log, or the force that serves as accelerometer.

    Raises `NoUsableSegment` or `LogError`: as `prepare`; too few attitudes at rest.
    """
    log = _synchronise(on_one_clock(recording), cutoff_hz, None)
    return _calibrate_imu(log, None, _differentiate_whole).imu


def locate_accelerometer(
    chunks: Iterable[Recording], cutoff_hz: float | None = None
) -> ImuCalibration:
    """Estimate the position of an accelerometer from all chunks of a log together.

    A chunk at rest, or too short to differentiate, does not determine it.

    `cutoff_hz`: see `prepare`; that of the first chunk is used for all.
    Raises `LogError`: the motion of all chunks does not determine the position.
    """
    blocks: list[BlockRows] = []
    imu = ImuCalibration()
    rate_hz = None
    name = "the log"
    for chunk in chunks:
        try:
            log = _synchronise(on_one_clock(chunk), cutoff_hz, rate_hz)
        except NoUsableSegment:
            continue
        cutoff_hz = log.cutoff_hz
        rate_hz = log.rate_hz
        name = chunk.name
        imu = ImuCalibration.of_schema(chunk)
        parts = _differentiate_whole(log, imu)
        if parts and parts[0].samples.in_body.has_redundant_imu:
            blocks += all_blocks(_subtract_gyro_offset(log, imu, parts, _differentiate_whole)[1])
    return _with_fitted_position(name, imu, blocks)


@dataclass(frozen=True, slots=True)
class _UniformLog:
    """Segments of a log on a uniform clock without delay; rate, cut-off, noise of the longest."""

    recording: Recording
    segments: list[EvenSegment]
    rate_hz: float
    cutoff_hz: float
    cutoff_raised: bool
    motion_cutoff_hz: float | None
    noise: SignalNoise


_SegmentDifferentiator: TypeAlias = Callable[[_UniformLog, ImuCalibration], list[PreparedSegment]]
"""Function that differentiates the segments of a log with a calibration."""


def _synchronise(
    recording: Recording, cutoff_hz: float | None, rate_hz: float | None
) -> _UniformLog:
    """Cut a log with one clock into uniform segments and choose its cut-off.

    The arguments are those of `prepare`.
    """
    recording.require_wrench()
    is_rotated = recording.frames["wrench"] == "world" and recording.delay_axes == "body"
    compensated = [
        compensate_wrench_delay(segment, recording.wrench_delay, rotated=is_rotated)
        for segment in even_segments(recording)
    ]
    segments = [_with_rate(segment, rate_hz) for segment in compensated if segment is not None]
    longest = max(segments, key=len, default=None)
    if longest is None:
        raise NoUsableSegment(
            f"{recording.name}: gaps and jumps leave no segment of a few rows; {IF_STATIC_POSES}"
        )
    try:
        rate, motion_hz = longest.rate_hz, None
        estimate_motion = cutoff_hz is None or rate_hz is not None
        if estimate_motion and len(longest) >= shortest_segment_rows(rate, default_cutoff_hz(rate)):
            motion_hz = motion_cutoff_hz(longest.signals, rate)
        cutoff, raised = choose_cutoff_hz(rate, len(longest), cutoff_hz, motion_hz)
    except LogError as error:
        raise NoUsableSegment(f"{recording.name}: {error}") from error
    noise_rows = slice(max(0, (len(longest) - _NOISE_ROWS) // 2), (len(longest) + _NOISE_ROWS) // 2)
    noise = signal_noise(
        {name: values[noise_rows] for name, values in longest.signals.items()},
        rate,
        Differentiator.design(rate, cutoff),
    )
    noise = _with_schema_noise(noise, recording.noise)
    return _UniformLog(recording, segments, rate, cutoff, raised, motion_hz, noise)


class _CalibratedLog(NamedTuple):
    """Log with its calibrated inertial measurement unit.

    Attributes:
        log: the log, with its force as accelerometer if nothing else gives its acceleration.
        imu: the calibration, which is the given one in that case, and else has its position.
        segments: segments differentiated with it.
    """

    log: _UniformLog
    imu: ImuCalibration
    segments: list[PreparedSegment]


def _calibrate_imu(
    log: _UniformLog,
    calibration: ImuCalibration | None,
    differentiate: _SegmentDifferentiator,
) -> _CalibratedLog:
    """Calibrate an inertial measurement unit by the other signals and differentiate with it.

    Raises `LogError`: the unit contradicts the other signals, or its position cannot be determined.
    """
    recording, imu = log.recording, calibration or ImuCalibration.of_schema(log.recording)
    if lacks_acceleration(recording):
        return _with_force_as_accelerometer(log, calibration, differentiate)
    if "accelerometer" in recording.signals or recording.acceleration_kind == "proper":
        from identify.signals.imu_scale import with_gravity_scale  # few logs need it

        longest = max(log.segments, key=len)
        imu = with_gravity_scale(recording, imu, longest.signals, longest.rate_hz)
    parts = differentiate(log, imu)
    if parts and parts[0].samples.in_body.has_redundant_imu:
        imu, parts = _subtract_gyro_offset(log, imu, parts, differentiate)
        if calibration is None and recording.imu is not None and recording.imu.fitted:
            imu = _with_fitted_position(recording.name, imu, all_blocks(parts))
            parts = differentiate(log, imu)
        from identify.signals.imu import consistency_findings

        findings = consistency_findings(recording, imu, all_blocks(parts))
        imu = replace(imu, findings=(*imu.findings, *findings))
    return _CalibratedLog(log, imu, parts)


def _with_force_as_accelerometer(
    log: _UniformLog,
    calibration: ImuCalibration | None,
    differentiate: _SegmentDifferentiator,
) -> _CalibratedLog:
    """Calibrate the force as accelerometer; arguments, results and errors as `_calibrate_imu`."""
    from identify.signals.force_motion import (
        calibrate_at_rest,
        with_accelerometer,
        with_com_position,
        with_noise,
    )

    static, imu = None, calibration
    if imu is None:
        static = calibrate_at_rest(log.recording, log.segments)
        imu = ImuCalibration(static_calibration=(static.mass, *static.force_offset.tolist()))
    log = replace(
        log,
        segments=[with_accelerometer(log.recording, imu, segment) for segment in log.segments],
        noise=with_noise(log.recording, imu, log.noise),
    )
    parts = differentiate(log, imu)
    if parts and static is not None:
        imu = with_com_position(log.recording, imu, all_blocks(parts), static)
        parts = differentiate(log, imu)
    return _CalibratedLog(log, imu, parts)


def _subtract_gyro_offset(
    log: _UniformLog,
    imu: ImuCalibration,
    parts: list[PreparedSegment],
    differentiate: _SegmentDifferentiator,
) -> tuple[ImuCalibration, list[PreparedSegment]]:
    """Estimate the offset of a gyro beside an attitude, and differentiate with it."""
    rate_pairs = np.concatenate([part.columns[:, -6:] for part in parts])
    offset = (rate_pairs[:, :3] - rate_pairs[:, 3:]).mean(axis=0)
    if not offset.any():
        return imu, parts
    imu = replace(imu, gyro_offset=tuple(offset.tolist()))
    return imu, differentiate(log, imu)


def _with_fitted_position(
    name: str, imu: ImuCalibration, blocks: Sequence[BlockRows]
) -> ImuCalibration:
    """Add the estimated position of an accelerometer, with its finding, to a calibration.

    `blocks` are rows with the redundant columns. A motion that shows no position is a `LogError`.
    """
    from identify.signals.imu import FrequencyBandMoments, accelerometer_weights

    fitted = FrequencyBandMoments(blocks).fit_accelerometer_position() if blocks else None
    if fitted is None:
        raise LogError(
            f"{name}: [imu.mount] fitted: the motion does not determine the "
            "position of the accelerometer; turn faster, about two axes, or give translation"
        )
    shift, covariance = fitted
    sigma = np.sqrt(np.diag(covariance))
    intervals = zip(shift, sigma, strict=True)
    shift_mm = ", ".join(f"{1e3 * x:.4g} ± {2e3 * s:.2g}" for x, s in intervals)
    text = f"the log puts the accelerometer at [{shift_mm}] mm from the body's origin."
    finding = Finding("imu_place", "info", text, evidence={"place": shift.tolist()})
    return replace(
        imu,
        X_BI=Pose(imu.X_BI.rotation, imu.X_BI.position + shift),
        covariance=tuple(map(tuple, np.pad(covariance, (0, 4)).tolist())),
        accelerometer_weights=accelerometer_weights(blocks),
        findings=(*imu.findings, finding),
    )


def _differentiate(
    log: _UniformLog,
    imu: ImuCalibration,
    *,
    span: tuple[float, float],
    wide: bool,
) -> list[PreparedSegment]:
    """Form the columns of each segment that is long enough to be differentiated."""
    return [
        differentiate_segment(
            log.recording,
            imu,
            segment,
            log.noise,
            log.cutoff_hz,
            span,
            wide=wide,
        )
        for segment in log.segments
        if len(segment) >= shortest_segment_rows(segment.rate_hz, log.cutoff_hz)
    ]


def _differentiate_whole(log: _UniformLog, imu: ImuCalibration) -> list[PreparedSegment]:
    """Form the columns [1, motion features, wrench] of all samples of a log."""
    return _differentiate(log, imu, span=(-np.inf, np.inf), wide=False)


def _with_rate(segment: EvenSegment, rate_hz: float | None) -> EvenSegment:
    """Set the sampling rate of a segment, if it differs by rounding only."""
    if rate_hz is None or abs(segment.rate_hz - rate_hz) > _RATE_TOLERANCE * rate_hz:
        return segment
    return replace(segment, rate_hz=rate_hz)


def _with_schema_noise(noise: SignalNoise, given: Mapping[str, float]) -> SignalNoise:
    """Replace the estimated noise of signals by the noise that the schema gives."""
    covariance = noise.covariance.copy()
    for index, name in enumerate(noise.names):
        if name in given:
            block = slice(3 * index, 3 * index + 3)
            covariance[block], covariance[:, block] = 0.0, 0.0
            covariance[block, block] = given[name] ** 2 * np.eye(3)
    return replace(noise, covariance=covariance)


def _scale_static_poses(recording: Recording) -> tuple[Recording, ImuCalibration]:
    """Scale the accelerometer of static poses to gravity, if there is one."""
    if "accelerometer" in recording.signals or recording.acceleration_kind == "proper":
        from identify.signals.imu_scale import scaled_to_gravity  # few logs need it

        return scaled_to_gravity(recording)
    return recording, ImuCalibration.of_schema(recording)


def _prepare_static_poses(recording: Recording, *, wide: bool) -> PreparedLog:
    recording, imu = _scale_static_poses(recording)
    count = len(recording)
    pose_numbers = np.arange(float(count))
    position = recording.signals.get("position")
    columns = form_columns(static_poses_in_body(recording), pose_numbers, position, wide=wide)
    return PreparedLog(
        recording=recording,
        time=pose_numbers,
        rows=columns,
        segment_ids=np.arange(count),
        noise=np.zeros(columns.shape[1] - 1),
        imu=imu,
    )


def _full_rate_static_poses(recording: Recording) -> FullRateSegment:
    recording, _ = _scale_static_poses(recording)
    axes, pose_numbers = static_poses_in_body(recording), np.arange(float(len(recording)))
    return FullRateSegment(
        time=pose_numbers,
        signals=recording.signals,
        columns=form_columns(axes, pose_numbers, None, wide=False),
        rotation=axes.rotation if "quaternion" in recording.signals else None,
    )


def _transform_segments(
    log: _UniformLog,
    imu: ImuCalibration,
    parts: list[PreparedSegment],
    span: tuple[float, float],
) -> PreparedLog:
    """Transform the columns of segments into rows by frequency, in blocks of time."""
    recording = log.recording
    rate_hz = log.rate_hz
    cutoff_hz = log.cutoff_hz
    parts = [part for part in parts if len(part) >= rate_hz / cutoff_hz]
    if not parts:
        raise NoUsableSegment(f"{recording.name}: no segment in the requested time span")
    series = [part.averaged_columns() for part in parts]
    by_part = (part.blocks(block_edges(len(part), rate_hz)) for part in parts)
    blocks = tuple(chain.from_iterable(by_part))
    rows = np.array([len(block.rows) for block in blocks])
    stamps = np.zeros(0) if recording.time is None else recording.time
    first, last = np.searchsorted(stamps, span).tolist()
    return PreparedLog(
        recording=recording,
        time=np.concatenate([time for time, _ in series]),
        rows=np.concatenate([columns for _, columns in series]),
        segment_ids=np.repeat(np.arange(len(parts)), [len(time) for time, _ in series]),
        noise=np.average([_mean_noise(block) for block in blocks], axis=0, weights=rows),
        blocks=blocks,
        folds=blocks
        if len(blocks) >= CROSS_VALIDATION_FOLDS
        else tuple(_cross_validation_blocks(parts)),
        signal_noise=log.noise,
        rate_hz=rate_hz,
        cutoff_hz=cutoff_hz,
        cutoff_raised=log.cutoff_raised,
        motion_cutoff_hz=log.motion_cutoff_hz,
        imu=imu,
        segments=tuple(states for part in parts if (states := part.states()) is not None),
        repeated_rows=int((np.diff(stamps[max(first - 1, 0) : last]) == 0.0).sum()),
        unused_rows=max(0, last - first - sum(_rows_within(part.segment, span) for part in parts)),
    )


def _rows_within(segment: EvenSegment, span: tuple[float, float]) -> int:
    """Return the approximate number of the log's rows of a segment in a time span."""
    first, last = np.searchsorted(segment.time, span).tolist()
    return round(segment.row_count * (last - first) / len(segment))


def _mean_noise(block: BlockRows) -> Array:
    """Return the mean noise variance of the columns of a block's rows, shape (K − 1,)."""
    counts = np.bincount(block.groups, minlength=max(block.noise) + 1)
    total = sum(counts[group] * np.diag(moment) for group, moment in block.noise.items())
    return np.asarray(total) / block.samples


def _cross_validation_blocks(parts: list[PreparedSegment]) -> list[BlockRows]:
    """Return validation blocks of a short log, each segment cut in proportion to its length."""
    total = sum(map(len, parts))
    folds: list[BlockRows] = []
    for part in parts:
        n = len(part)
        count = max(1, round(CROSS_VALIDATION_FOLDS * n / total))
        shortest = part.segment.rate_hz / part.cutoff_hz
        count = max(1, min(count, int(n / shortest)))
        folds += part.blocks([n * index // count for index in range(count + 1)])
    return folds
