"""From a log of joint positions and torques to statistics, in chunks of whole blocks of time."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.fft import prev_fast_len

from identify.arms.columns import ArmColumns, JointMotion, joint_columns
from identify.arrays import Array, Flags, Indices
from identify.errors import LogError
from identify.findings import Finding
from identify.logs import LogFile, Recording
from identify.logs.joint_log import effort_is_zero
from identify.logs.log_file import header_of
from identify.logs.recording import Excerpt, recording_rows
from identify.logs.row_selection import RowCounts
from identify.progress import log_progress
from identify.regressors import SensorLog
from identify.regressors.accumulation import statistics_of_blocks
from identify.regressors.log_scan import ReadableLog, excerpts_on_one_clock, log_header
from identify.regressors.statistics import MAX_FACTOR_BYTES, Statistics
from identify.robots import torque_regressor
from identify.signals import Interpretation
from identify.signals.cutoff import choose_cutoff_hz
from identify.signals.differentiator import Differentiator
from identify.signals.prepared_log import BlockRows
from identify.signals.segments import MIN_SEGMENT_ROWS, EvenSegment, even_segments_of
from identify.signals.stream_resampling import on_one_clock
from identify.signals.transform import block_transform

_LOGGER = logging.getLogger(__name__)

ARM_CUTOFF_HZ = 8.0
"""Default cut-off of a log of joints [Hz]; the motions of arms are slower, their modes faster."""

ARM_BLOCK_SECONDS = 2.5
"""Length of a block of time [s], about as long as errors of friction are alike."""

_SUMS_PER_CUTOFF_PERIOD = 8.0
"""Sums of samples per period of the cut-off, so that its frequency is well below half their own."""

_FAST_TRANSFORM_SUMS = 512
"""Number of sums of a block above which its length is one that is fast to transform; the samples
that are left out at the end of a segment are then at most some per cent."""

_CHUNK_SAMPLES = 4096
"""Number of samples whose regressors are in memory at a time."""

_SERIES_POINTS = 2000
"""Approximate number of points of the series of a log."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ArmLog(SensorLog):
    """Summary of a log of joints: the input of every fit of an arm, and a series for figures.

    Attributes:
        columns: meaning of the K columns of the statistics, which are by block of time and joint.
        samples: number of samples used.
        moving: share of them in which each joint moves, shape (n,).
        time: of the series [s], shape (t,).
        z: columns of each joint at these times, shape (t, n, K).
    """

    columns: ArmColumns
    samples: int
    moving: Array
    time: Array
    z: Array

    def details(self) -> dict[str, object]:
        """Return what only a log of joints has in its provenance, as plain values."""
        return {"duration": self.duration}

    def for_report(self, max_points: int) -> ArmLog:
        """Return the summary without data for further fits; its series is in the `FittedArm`."""
        nothing = np.zeros((0, *self.z.shape[1:]))
        counts = self.statistics.sample_counts()
        return replace(self, statistics=counts, time=np.zeros(0), z=nothing)


class _Span(NamedTuple):
    """Whole blocks of a segment: its samples, edges of the blocks, samples that are summed."""

    samples: slice
    edges: Indices
    step: int


def scan_arm(log: ReadableLog, columns: ArmColumns, cutoff_hz: float | None = None) -> ArmLog:
    """Summarise a log of joints in one pass, in chunks as `summarise_log`.

    Samples at which a joint moves more slowly than `still_below` are removed from its equation
    before the transform, since friction at rest is no function of the velocity.

    Args:
        log: positions and torques of the joints, in the order of the robot's.
        columns: columns of the arm.
        cutoff_hz: highest frequency of the rows [Hz]; 8 Hz, or a tenth of the rate, if not given.

    Raises:
        LogError: the log has no effort, is too short, or no joint moves.
    """
    source, still_below = joined_log(log), header_of(log).joint_axes.still_below
    statistics: Statistics | None = None
    findings: tuple[Finding, ...] | None = None
    counts, has_effort = RowCounts(), isinstance(log, Recording)
    cutoff, rate, seconds, total, start, end = np.nan, np.nan, np.nan, 0, 0.0, 0.0
    shares: list[Array] = []
    points: list[tuple[Array, Array]] = []
    samples, ends = 0, (0.0, 0.0)
    moving = np.zeros(len(columns.joints))
    fastest = 0.0
    for chunk, segments in joint_chunks(source, cutoff_hz):
        counts, joined = counts + chunk.defect_counts, chunk.recording
        if not segments:
            continue
        if findings is None:  # the first chunk decides
            longest, findings = max(segments, key=len), joined.findings
            total = sum(map(len, segments)) * len(source) // len(joined)
            rate, ends = longest.rate_hz, (segments[0].time[0], segments[-1].time[-1])
            if len(joined) < len(source):  # about that of the last row of the log
                ends = ends[0], ends[0] + (len(source) - 1) / rate
            default = min(ARM_CUTOFF_HZ, rate / 10.0)
            cutoff = choose_cutoff_hz(rate, len(longest), cutoff_hz, default)[0]
            most = max(1.0, MAX_FACTOR_BYTES / (8 * len(columns.joints) * len(columns) ** 2))
            seconds = max(ARM_BLOCK_SECONDS, total / rate / most)
        end, has_effort = joined.end_time, has_effort or bool(joined.signals["effort"].any())
        blocks: list[BlockRows] = []
        for segment in segments:
            for span in _spans(segment, chunk.span, cutoff, seconds):
                motion = smooth_motion(segment, span.samples, cutoff, ends)
                moves = np.abs(motion.v) > still_below
                fastest = max(fastest, float(np.abs(motion.v).max()))
                sums = _masked_sums(columns, motion, moves, span.step)
                blocks += _block_rows(columns, sums, span, segment.rate_hz, cutoff)
                shares += [moves[a:b].mean(axis=0) for a, b in pairwise(span.step * span.edges)]
                points.append(_points(columns, motion, max(1, total // _SERIES_POINTS)))
                samples, moving = samples + len(moves), moving + moves.sum(axis=0)
                log_progress(_LOGGER, f"preparing {log.name}", samples, total, "samples")
        if blocks:
            part = statistics_of_blocks(blocks, columns.layout, log.sha256, max_blocks=len(blocks))
            statistics = part if statistics is None else statistics.append_blocks(part)
    if isinstance(log, Recording) and log.time is not None:
        start, end = float(log.time[0]), log.end_time
    header = log_header(source, counts)
    if findings is None:
        raise LogError(f"{log.name}: gaps leave no segment of {MIN_SEGMENT_ROWS} rows; check time")
    if not has_effort:
        raise effort_is_zero(header.sources[0].path, len(source))
    if statistics is None or not moving.any():
        raise LogError(
            f"{log.name}: no joint is faster than {np.max(still_below):.3g} rad/s anywhere, "
            f"the fastest moves at {fastest:.2g} rad/s: move the arm, check `unit` of [joints] and "
            "`time_unit` of [log], or lower `still_below` of [joints]"
        )
    share = np.array(shares)[statistics.block, statistics.group]
    return ArmLog(
        recording=replace(header, findings=findings),
        duration=end - start,
        columns=columns,
        statistics=replace(
            statistics,
            samples=share * statistics.samples,
            effective_samples=share * statistics.effective_samples,
        ),
        cutoff_hz=cutoff,
        rate_hz=rate,
        samples=samples,
        moving=moving / samples,
        time=np.concatenate([time for time, _ in points]),
        z=np.concatenate([z for _, z in points]),
    )


def joined_log(log: ReadableLog) -> ReadableLog:
    """Resample a log in memory to one clock; the chunks of a file are, as they are read."""
    return log if isinstance(log, LogFile) else on_one_clock(log)


def joint_chunks(
    source: ReadableLog, cutoff_hz: float | None = None
) -> Iterator[tuple[Excerpt, list[EvenSegment]]]:
    """Iterate over the chunks of a `joined_log`, each with its segments.

    A chunk has none where nearly all its rows were defective.
    """
    for part in excerpts_on_one_clock(source, Interpretation(cutoff_hz=cutoff_hz)):
        rows = part.recording
        if len(rows) < MIN_SEGMENT_ROWS <= len(source):
            yield part, []
            continue
        joined = on_one_clock(rows) if isinstance(source, LogFile) else rows
        yield replace(part, recording=joined), joint_segments(joined)


def first_segment(log: ReadableLog, max_rows: int) -> EvenSegment:
    """Return the longest segment of the first rows of a log."""
    if isinstance(log, LogFile):
        rows = on_one_clock(log.reader()(0, max_rows, 0).recording)
    else:
        rows = recording_rows(on_one_clock(log), 0, max_rows)
    return max(joint_segments(rows), key=len)


def joint_segments(joined: Recording) -> list[EvenSegment]:
    """Cut a log on one clock into even segments, with position, velocity and torque."""
    if "effort" not in joined.signals:
        raise LogError(f"{joined.name}: has no effort; name its columns in [joints] effort")
    return even_segments_of(joined.name, joined.time, joined.signals)


def _spans(
    segment: EvenSegment, inside: tuple[float, float], cutoff: float, seconds: float
) -> Iterator[_Span]:
    """Cut a segment into spans of whole blocks, each of one chunk of samples or one block."""
    rate = segment.rate_hz
    half = Differentiator.design(rate, cutoff).half_window
    step = max(1, int(rate / (_SUMS_PER_CUTOFF_PERIOD * cutoff)))
    start, stop = np.searchsorted(segment.time, inside).tolist()
    start, stop = max(start, half), min(stop, len(segment) - half)
    usable = (stop - start) // step
    count = max(1, round(usable * step / (seconds * rate)))
    if usable < count:
        return
    if usable // count > _FAST_TRANSFORM_SUMS:
        usable = count * prev_fast_len(usable // count)
    edges = usable * np.arange(count + 1) // count
    blocks = max(1, _CHUNK_SAMPLES // (step * int(np.diff(edges).max())))
    for first in range(0, count, blocks):
        part = edges[first : first + blocks + 1]
        samples = slice(*(start + step * part[[0, -1]]).tolist())
        yield _Span(samples, part - part[0], step)


def smooth_motion(
    segment: EvenSegment, samples: slice, cutoff: float, ends: tuple[float, float] | None = None
) -> JointMotion:
    """Smooth and differentiate the positions of some samples of a segment; torques stay raw.

    `ends`: first and last time of the log; those of the segment if not given.
    """
    first, last = ends or (segment.time[0], segment.time[-1])
    differentiator = Differentiator.design(segment.rate_hz, cutoff)
    half = differentiator.half_window
    window = slice(samples.start - half, samples.stop + half)
    q, v = segment.signals["joint_position"][window], segment.signals.get("joint_velocity")
    measured, order = (q, 1) if v is None else (v[window], 0)
    return JointMotion(
        time=segment.time[samples],
        q=differentiator.apply(q, 0),
        v=differentiator.apply(measured, order),
        a=differentiator.apply(measured, order + 1),
        effort=segment.signals["effort"][samples],
        phase=(segment.time[samples] - first) / max(last - first, 1e-9) - 0.5,
    )


def _masked_sums(columns: ArmColumns, motion: JointMotion, moves: Flags, step: int) -> Array:
    """Sum the columns of moving joints over `step` samples each, by √step.

    Returns the columns of each joint that are not zero throughout, one joint after the other, shape
    (Σ k, s / step).
    """
    edges, count = np.cumsum([0, *map(len, columns.nonzero)]), len(motion.time)
    sums = np.empty((edges[-1], count // step))
    chunk = step * max(1, _CHUNK_SAMPLES // step)
    for start in range(0, count, chunk):
        part = JointMotion(*(values[start : start + chunk] for values in motion))
        Y = np.moveaxis(torque_regressor(columns.robot, part.q, part.v, part.a), 0, -1)
        rows = slice(start // step, (start + Y.shape[-1]) // step)
        for joint in range(len(columns.joints)):
            _, z = joint_columns(columns, Y, part, joint)
            z *= moves[start : start + chunk, joint] / np.sqrt(step)
            summed = z if step == 1 else z.reshape(len(z), -1, step).sum(axis=2)
            sums[edges[joint] : edges[joint + 1], rows] = summed
    return sums


def _points(columns: ArmColumns, motion: JointMotion, stride: int) -> tuple[Array, Array]:
    """Return times, and columns of all joints, of every so many samples."""
    part = JointMotion(*(values[::stride] for values in motion))
    Y = np.moveaxis(torque_regressor(columns.robot, part.q, part.v, part.a), 0, -1)
    z = np.zeros((len(part.time), len(columns.joints), len(columns)))
    for joint in range(len(columns.joints)):
        nonzero, values = joint_columns(columns, Y, part, joint)
        z[:, joint, nonzero] = values.T
    return part.time, z


def _block_rows(
    columns: ArmColumns, sums: Array, span: _Span, rate: float, cutoff: float
) -> Iterator[BlockRows]:
    """Transform the sums of each block of a span to rows by joint and frequency."""
    n, K = len(columns.joints), len(columns)
    joint = np.repeat(np.arange(n), [len(numbers) for numbers in columns.nonzero])
    column = np.concatenate(columns.nonzero)
    for start, stop in pairwise(span.edges.tolist()):
        transform = block_transform(stop - start, rate / span.step, cutoff, tapered=True)
        rows = np.zeros((n, transform.row_count, K))
        rows[joint, :, column] = transform.apply(sums[:, start:stop].T, constant=False).T
        yield BlockRows(
            rows=rows.reshape(-1, K),
            groups=np.repeat(np.arange(n), transform.row_count),
            noise={},
            samples=n * span.step * (stop - start),
            effective_fraction=transform.effective_fraction,
        )
