"""Resampling of streams with separate clocks to a common clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Indices, seal
from identify.errors import LogError
from identify.findings import Finding
from identify.logs import Recording
from identify.logs.recording_parts import Stream
from identify.signals.interpolated_rows import slower_samples
from identify.signals.resampling import kernel_reach, resample
from identify.signals.sample_and_hold import sampled_rows
from identify.signals.segments import MIN_SEGMENT_ROWS, EvenSegment, even_segments_of
from identify.signals.uniform_clock import sampling_period
from identify.spatial.rotations import normalised_quaternion

_SIGNALS_BY_SENSOR: Mapping[str, tuple[str, ...]] = {
    "pose": ("position", "quaternion"),
    "twist": ("linear_velocity", "angular_velocity"),
    "acceleration": ("linear_acceleration", "angular_acceleration"),
    "gyro": ("gyro",),
    "accelerometer": ("accelerometer",),
    "wrench": ("force", "torque"),
    "joints": ("joint_position", "joint_velocity"),
    "effort": ("effort",),
}
"""Signals that one sensor may provide, in the order of a recording."""


def on_one_clock(recording: Recording) -> Recording:
    """Resample all signals of a recording to the clock of its slowest stream.

    Rows that only hold the last sample of a slower sensor are dropped, and signals that were
    interpolated between such samples are reduced to these. The slowest stream then gives the
    clock: it is not resampled, so its noise is unchanged, and the faster ones are low-passed and
    evaluated at its times, attitudes by the components of the unwrapped quaternion. Nothing
    is interpolated across a gap of any stream, or a jump of the pose; each of them, like each
    end of a faster stream, costs 12 samples. Times are those of the recording's clock.

    A recording with one clock that holds nothing is returned unchanged.

    Raises:
        LogError: a stream has too few rows, or the streams have no time in common.
    """
    if recording.time is None:
        return recording
    main = Stream(_describe_signals(tuple(recording.signals)), recording.time, recording.signals)
    given = (main, *recording.streams)
    findings: list[Finding] = []
    without_holds = [part for stream in given for part in _drop_holds(stream, findings)]
    streams = [part for stream in without_holds for part in _drop_interpolated(stream, findings)]
    if len(streams) == 1:
        if not findings:
            return recording
        time, signals = streams[0].time, streams[0].signals
    else:
        time, signals = _join_streams(recording.name, streams, findings)
    names = [name for group in _SIGNALS_BY_SENSOR.values() for name in group if name in signals]
    joined = replace(
        recording,
        time=seal(time, "time", (None,)),
        signals={name: seal(signals[name], name, (None, None)) for name in names},
        streams=(),
        findings=(*recording.findings, *findings),
    )
    if joined.attitude_coordinates is None:
        return joined
    with_pose = next((stream for stream in given if "quaternion" in stream.signals), main)
    numbers, rows = joined.attitude_coordinates, np.searchsorted(with_pose.time, time)
    return replace(joined, attitude_coordinates=numbers[rows.clip(max=len(numbers) - 1)])


def _drop_holds(stream: Stream, findings: list[Finding]) -> Iterator[Stream]:
    """Yield a stream for each sensor of a stream, without rows that repeat a held sample."""
    sampled = sampled_rows(list(stream.signals.values()), stream.time)
    if sampled is not None:
        findings.append(_held_finding(stream, sampled))
        signals = {name: values[sampled] for name, values in stream.signals.items()}
        yield from _drop_holds(Stream(stream.name, stream.time[sampled], signals), findings)
        return
    rest = dict(stream.signals)
    for sensor in _signals_by_sensor(stream.signals):
        part = Stream(_describe_signals(sensor), stream.time, {name: rest[name] for name in sensor})
        is_separable = len(sensor) < len(stream.signals)
        thinner = list(_drop_holds(part, findings)) if is_separable else [part]
        if len(thinner) > 1 or len(thinner[0]) < len(stream):
            yield from thinner
            for name in sensor:
                del rest[name]
    if rest:
        name = stream.name if len(rest) == len(stream.signals) else _describe_signals(tuple(rest))
        yield Stream(name, stream.time, rest)


def _drop_interpolated(stream: Stream, findings: list[Finding]) -> Iterator[Stream]:
    """Yield a stream for each sensor of a stream, reduced to the samples before interpolation."""
    rest = dict(stream.signals)
    for name in [name for group in _SIGNALS_BY_SENSOR.values() for name in group]:
        samples = slower_samples(rest[name], stream.time) if name in rest else None
        if samples is None:
            continue
        same_samples = [other for other in rest if other == name or samples.shared_by(rest[other])]
        signals = {other: samples.signal_at_samples(rest.pop(other)) for other in same_samples}
        part = Stream(_describe_signals(same_samples), samples.times(stream.time), signals)
        findings.append(_interpolated_finding(stream, part))
        yield part
    if rest:
        name = stream.name if len(rest) == len(stream.signals) else _describe_signals(tuple(rest))
        yield Stream(name, stream.time, rest)


def _signals_by_sensor(signals: Mapping[str, Array]) -> list[tuple[str, ...]]:
    """Return the signals by sensor: by group, or one by one if there is a single group."""
    groups = [
        tuple(name for name in group if name in signals) for group in _SIGNALS_BY_SENSOR.values()
    ]
    groups = [group for group in groups if group]
    return [(name,) for name in groups[0]] if len(groups) == 1 else groups


def _describe_signals(signals: Sequence[str]) -> str:
    groups = [
        group
        for group, names in _SIGNALS_BY_SENSOR.items()
        if any(name in signals for name in names)
    ]
    return " and ".join(groups if len(signals) > 1 else [signals[0].replace("_", " ")])


def _held_finding(stream: Stream, sampled: Indices) -> Finding:
    rates = [_mean_rate(time) for time in (stream.time, stream.time[sampled])]
    held = len(stream) - len(sampled)
    return Finding(
        "held_samples",
        "info",
        f"{stream.name} sampled at {rates[1]:.4g} Hz, held in a log of {rates[0]:.4g} Hz: {held} "
        f"of {len(stream)} rows repeat a sample and are dropped.",
        evidence={"rate_hz": rates[1], "logged_hz": rates[0], "held": held, "rows": len(stream)},
    )


def _interpolated_finding(stream: Stream, part: Stream) -> Finding:
    rates = [_mean_rate(samples.time) for samples in (part, stream)]
    return Finding(
        "interpolated_samples",
        "info",
        f"{part.name} sampled at {rates[0]:.4g} Hz, interpolated in a log of {rates[1]:.4g} Hz: "
        f"its {len(part)} samples are used instead of {len(stream)} rows.",
        evidence={"rate_hz": rates[0], "logged_hz": rates[1], "samples": len(part)},
    )


def _mean_rate(time: Array) -> float:
    span = float(time[-1] - time[0])
    return (len(time) - 1) / span if span > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class _SegmentedStream:
    """Stream with its uniformly sampled segments."""

    stream: Stream
    segments: list[EvenSegment]

    @property
    def rate_hz(self) -> float:
        return max(self.segments, key=len).rate_hz


def _join_streams(
    log: str, streams: Sequence[Stream], findings: list[Finding]
) -> tuple[Array, dict[str, Array]]:
    """Return time and signals of all streams at the times of the slowest."""
    _require_overlap(log, streams)
    even = [_SegmentedStream(stream, _stream_segments(log, stream)) for stream in streams]
    slowest = min(even, key=lambda stream: stream.rate_hz)
    others = [stream for stream in even if stream is not slowest]
    runs: list[tuple[Array, dict[str, Array]]] = []
    last = -np.inf
    for reference in slowest.segments:
        for overlapping in _overlaps(reference, [stream.segments for stream in others]):
            time, signals = _on_common_times(reference, overlapping, last)
            if len(time) >= MIN_SEGMENT_ROWS:
                runs.append((time, signals))
                last = float(time[-1])
    if not runs:
        raise LogError(
            f"{log}: between gaps, jumps and ends of its streams there is no segment of "
            f"{MIN_SEGMENT_ROWS} rows of the slowest: {_list_spans(streams)}. Check the time "
            f"stamps and their unit; a gap in one stream is a gap in all"
        )
    time = np.concatenate([run for run, _ in runs])
    signals = {name: np.concatenate([run[name] for _, run in runs]) for name in runs[0][1]}
    findings.append(_joined_finding(even, slowest, len(time)))
    return time, signals


def _stream_segments(log: str, stream: Stream) -> list[EvenSegment]:
    segments = even_segments_of(f"{log}: {stream.name}", stream.time, stream.signals)
    if not segments:
        raise LogError(
            f"{log}: {stream.name}: gaps and jumps leave no segment of {MIN_SEGMENT_ROWS} rows "
            f"of {len(stream)}; check its time stamps"
        )
    return segments


def _overlaps(
    reference: EvenSegment, others: Sequence[Sequence[EvenSegment]]
) -> list[tuple[EvenSegment, ...]]:
    """Return all choices of a segment from each other stream that overlap a reference segment."""
    overlaps = [(float(reference.time[0]), float(reference.time[-1]), ())]
    for segments in others:
        starts = [segment.time[0] for segment in segments]
        ends = [segment.time[-1] for segment in segments]
        overlaps = [
            (max(start, starts[k]), min(end, ends[k]), (*chosen, segments[k]))
            for start, end, chosen in overlaps
            for k in range(np.searchsorted(ends, start), np.searchsorted(starts, end))
        ]
    return [chosen for _, _, chosen in overlaps]


def _on_common_times(
    reference: EvenSegment, others: Sequence[EvenSegment], after: float
) -> tuple[Array, dict[str, Array]]:
    """Return time and signals of overlapping segments at the times of the reference."""
    inside = reference.time > after
    for other in others:
        lost = kernel_reach(other.rate_hz, reference.rate_hz)
        inside &= reference.time >= other.time[0] + lost
        inside &= reference.time <= other.time[-1] - lost
    rows = np.flatnonzero(inside)
    if len(rows) < MIN_SEGMENT_ROWS:
        return np.empty(0), {}
    time = reference.time[rows]
    signals = {name: values[rows] for name, values in reference.signals.items()}
    for other in others:
        start, rate = float(other.time[0]), other.rate_hz
        for name, values in other.signals.items():
            resampled = resample(values, start, rate, time, reference.rate_hz)
            if name == "quaternion":
                resampled = normalised_quaternion(resampled)
            signals[name] = resampled
    return time, signals


def _require_overlap(log: str, streams: Sequence[Stream]) -> None:
    late = max(streams, key=lambda stream: stream.time[0])
    early = min(streams, key=lambda stream: stream.time[-1])
    common = early.time[-1] - late.time[0]
    slowest = max(sampling_period(stream.time) for stream in streams if len(stream) > 1)
    if common > MIN_SEGMENT_ROWS * slowest:
        return
    shared = "no time" if common <= 0.0 else f"{common:.3g} s, which is too little,"
    raise LogError(
        f"{log}: its streams have {shared} in common: {_list_spans(streams)}. Check time_unit and "
        "rate_hz of each stream in the schema; clocks that do not start together need a common "
        "zero"
    )


def _list_spans(streams: Sequence[Stream]) -> str:
    return ", ".join(
        f"{stream.name} {stream.time[0]:.6g} to {stream.time[-1]:.6g} s in {len(stream)} rows"
        for stream in streams
    )


def _joined_finding(
    even: Sequence[_SegmentedStream], slowest: _SegmentedStream, rows: int
) -> Finding:
    rates = ", ".join(f"{part.stream.name} {part.rate_hz:.4g} Hz" for part in even)
    return Finding(
        "clocks_joined",
        "info",
        f"streams with separate clocks ({rates}) are resampled to the rows of the slowest, "
        f"{slowest.stream.name}: {rows} of its {len(slowest.stream)}.",
        evidence={part.stream.name: part.rate_hz for part in even} | {"rows": rows},
    )
