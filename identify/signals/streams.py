"""Streams with clocks of their own are brought to one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Indices, seal
from identify.errors import LogError
from identify.findings import Finding
from identify.logs import Recording
from identify.logs.parts import Stream
from identify.signals.clock import sampling_period
from identify.signals.interpolated import slower_samples
from identify.signals.resampling import kernel_reach, resample
from identify.signals.sample_and_hold import sampled_rows
from identify.signals.segments import MIN_SEGMENT_ROWS, EvenSegment, even_segments_of
from identify.spatial.rotations import normalised_quaternion

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "pose": ("position", "quaternion"),
    "twist": ("linear_velocity", "angular_velocity"),
    "acceleration": ("linear_acceleration", "angular_acceleration"),
    "gyro": ("gyro",),
    "accelerometer": ("accelerometer",),
    "wrench": ("force", "torque"),
}
"""Signals that one sensor may give, in the order of a recording."""


def on_one_clock(recording: Recording) -> Recording:
    """A recording all of whose signals have the same rows, at even times between gaps.

    Rows that only hold the last sample of a slower sensor are left out, and signals that were
    interpolated between such samples are taken at these. Then the slowest stream gives the clock:
    it stays as it is, which keeps its noise what it was, and the faster ones are low-passed and
    evaluated at its times, attitudes by the components of the unwrapped quaternion. Nothing
    is interpolated across a gap of any stream, or a jump of the pose; by each of them, as by the
    ends of a faster stream, 12 samples are lost. Times stay those of the recording's clock, so that
    parts of a log stay where they are.

    A recording of one clock that holds nothing is returned as it is.

    Raises:
        LogError: a stream has too few rows, or the streams have no time in common.
    """
    if recording.time is None:
        return recording
    own = Stream(_name_of(tuple(recording.signals)), recording.time, recording.signals)
    given = (own, *recording.streams)
    found: list[Finding] = []
    thinned = [each for stream in given for each in _drop_holds(stream, found)]
    streams = [each for stream in thinned for each in _drop_interpolated(stream, found)]
    if len(streams) == 1:
        if not found:
            return recording
        time, signals = streams[0].time, streams[0].signals
    else:
        time, signals = _join_streams(recording.name, streams, found)
    names = [name for group in _GROUPS.values() for name in group if name in signals]
    posed = next((stream for stream in given if "quaternion" in stream.signals), own)
    numbers, rows = recording.rotation_numbers, np.searchsorted(posed.time, time)
    return replace(
        recording,
        time=seal(time, "time", (None,)),
        signals={name: seal(signals[name], name, (None, None)) for name in names},
        streams=(),
        rotation_numbers=None if numbers is None else numbers[rows.clip(max=len(numbers) - 1)],
        findings=(*recording.findings, *found),
    )


def _drop_holds(stream: Stream, found: list[Finding]) -> Iterator[Stream]:
    """The stream without the rows that only hold a sample, each sensor's samples on their own."""
    kept = sampled_rows(list(stream.signals.values()))
    if kept is not None:
        found.append(_held_finding(stream, kept))
        signals = {name: values[kept] for name, values in stream.signals.items()}
        yield from _drop_holds(Stream(stream.name, stream.time[kept], signals), found)
        return
    rest = dict(stream.signals)
    for sensor in _sensors(stream.signals):
        part = Stream(_name_of(sensor), stream.time, {name: rest[name] for name in sensor})
        thinner = list(_drop_holds(part, found)) if len(sensor) < len(stream.signals) else [part]
        if len(thinner) > 1 or len(thinner[0]) < len(stream):
            yield from thinner
            for name in sensor:
                del rest[name]
    if rest:
        name = stream.name if len(rest) == len(stream.signals) else _name_of(tuple(rest))
        yield Stream(name, stream.time, rest)


def _drop_interpolated(stream: Stream, found: list[Finding]) -> Iterator[Stream]:
    """The stream, of which what was interpolated between slower samples is taken at those."""
    rest = dict(stream.signals)
    for name in [name for group in _GROUPS.values() for name in group]:
        samples = slower_samples(rest[name], stream.time) if name in rest else None
        if samples is None:
            continue
        alike = [other for other in rest if other == name or samples.shared_by(rest[other])]
        signals = {other: samples.signal_at_samples(rest.pop(other)) for other in alike}
        part = Stream(_name_of(alike), samples.times(stream.time), signals)
        found.append(_interpolated_finding(stream, part))
        yield part
    if rest:
        name = stream.name if len(rest) == len(stream.signals) else _name_of(tuple(rest))
        yield Stream(name, stream.time, rest)


def _sensors(signals: Mapping[str, Array]) -> list[tuple[str, ...]]:
    """The groups that signals are of, or, of signals of one group, each alone."""
    groups = [tuple(name for name in group if name in signals) for group in _GROUPS.values()]
    groups = [group for group in groups if group]
    return [(name,) for name in groups[0]] if len(groups) == 1 else groups


def _name_of(signals: Sequence[str]) -> str:
    whole = [group for group, names in _GROUPS.items() if any(name in signals for name in names)]
    return " and ".join(whole if len(signals) > 1 else [signals[0].replace("_", " ")])


def _held_finding(stream: Stream, kept: Indices) -> Finding:
    rates = [_mean_rate(time) for time in (stream.time, stream.time[kept])]
    held = len(stream) - len(kept)
    return Finding(
        "held_samples",
        "info",
        f"{stream.name} sampled at {rates[1]:.4g} Hz, held in a log of {rates[0]:.4g} Hz: {held} "
        f"of {len(stream)} rows repeat a sample and are left out.",
        evidence={"rate_hz": rates[1], "logged_hz": rates[0], "held": held, "rows": len(stream)},
    )


def _interpolated_finding(stream: Stream, part: Stream) -> Finding:
    rates = [_mean_rate(each.time) for each in (part, stream)]
    return Finding(
        "interpolated_samples",
        "info",
        f"{part.name} sampled at {rates[0]:.4g} Hz, interpolated in a log of {rates[1]:.4g} Hz: "
        f"taken at its {len(part)} samples, not at {len(stream)} rows.",
        evidence={"rate_hz": rates[0], "logged_hz": rates[1], "samples": len(part)},
    )


def _mean_rate(time: Array) -> float:
    span = float(time[-1] - time[0])
    return (len(time) - 1) / span if span > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class _SegmentedStream:
    """A stream as even segments."""

    stream: Stream
    segments: list[EvenSegment]

    @property
    def rate_hz(self) -> float:
        return max(self.segments, key=len).rate_hz


def _join_streams(
    log: str, streams: Sequence[Stream], found: list[Finding]
) -> tuple[Array, dict[str, Array]]:
    """Time and signals of all streams, at the times of the slowest."""
    _require_overlap(log, streams)
    even = [_SegmentedStream(stream, _segments(log, stream)) for stream in streams]
    slowest = min(even, key=lambda each: each.rate_hz)
    others = [each for each in even if each is not slowest]
    runs: list[tuple[Array, dict[str, Array]]] = []
    last = -np.inf
    for own in slowest.segments:
        for rest in _overlaps(own, [each.segments for each in others]):
            time, signals = _on_common_times(own, rest, last)
            if len(time) >= MIN_SEGMENT_ROWS:
                runs.append((time, signals))
                last = float(time[-1])
    if not runs:
        raise LogError(
            f"{log}: between gaps, jumps and ends of its streams there is no segment of "
            f"{MIN_SEGMENT_ROWS} rows of the slowest: {_spans(streams)}. Check the time stamps "
            f"and their unit; a gap in one stream is a gap of all"
        )
    time = np.concatenate([run for run, _ in runs])
    signals = {name: np.concatenate([run[name] for _, run in runs]) for name in runs[0][1]}
    found.append(_joined_finding(even, slowest, len(time)))
    return time, signals


def _segments(log: str, stream: Stream) -> list[EvenSegment]:
    segments = even_segments_of(f"{log}: {stream.name}", stream.time, stream.signals)
    if not segments:
        raise LogError(
            f"{log}: {stream.name}: gaps and jumps leave no segment of {MIN_SEGMENT_ROWS} rows "
            f"of {len(stream)}; check its time stamps"
        )
    return segments


def _overlaps(
    own: EvenSegment, others: Sequence[Sequence[EvenSegment]]
) -> list[tuple[EvenSegment, ...]]:
    """One segment of each other stream, wherever all of them meet the own one, in order."""
    found = [(float(own.time[0]), float(own.time[-1]), ())]
    for segments in others:
        starts = [segment.time[0] for segment in segments]
        ends = [segment.time[-1] for segment in segments]
        found = [
            (max(start, starts[k]), min(end, ends[k]), (*chosen, segments[k]))
            for start, end, chosen in found
            for k in range(np.searchsorted(ends, start), np.searchsorted(starts, end))
        ]
    return [chosen for _, _, chosen in found]


def _on_common_times(
    own: EvenSegment, others: Sequence[EvenSegment], after: float
) -> tuple[Array, dict[str, Array]]:
    """Time and signals of one segment of each stream, where all are there."""
    inside = own.time > after
    for other in others:
        lost = kernel_reach(other.rate_hz, own.rate_hz)
        inside &= (own.time >= other.time[0] + lost) & (own.time <= other.time[-1] - lost)
    rows = np.flatnonzero(inside)
    if len(rows) < MIN_SEGMENT_ROWS:
        return np.empty(0), {}
    time = own.time[rows]
    signals = {name: values[rows] for name, values in own.signals.items()}
    for other in others:
        start, rate = float(other.time[0]), other.rate_hz
        for name, values in other.signals.items():
            there = resample(values, start, rate, time, own.rate_hz)
            signals[name] = normalised_quaternion(there) if name == "quaternion" else there
    return time, signals


def _require_overlap(log: str, streams: Sequence[Stream]) -> None:
    late = max(streams, key=lambda stream: stream.time[0])
    early = min(streams, key=lambda stream: stream.time[-1])
    common = early.time[-1] - late.time[0]
    slowest = max(sampling_period(stream.time) for stream in streams if len(stream) > 1)
    if common > MIN_SEGMENT_ROWS * slowest:
        return
    had = "no time" if common <= 0.0 else f"{common:.3g} s, which is too little,"
    raise LogError(
        f"{log}: its streams have {had} in common: {_spans(streams)}. Check time_unit and rate_hz "
        f"of each stream in the schema; clocks that do not start together need a common zero"
    )


def _spans(streams: Sequence[Stream]) -> str:
    return ", ".join(
        f"{stream.name} {stream.time[0]:.6g} to {stream.time[-1]:.6g} s in {len(stream)} rows"
        for stream in streams
    )


def _joined_finding(
    even: Sequence[_SegmentedStream], slowest: _SegmentedStream, rows: int
) -> Finding:
    said = ", ".join(f"{each.stream.name} {each.rate_hz:.4g} Hz" for each in even)
    return Finding(
        "clocks_joined",
        "info",
        f"streams with clocks of their own ({said}) are taken at the rows of the slowest, "
        f"{slowest.stream.name}: {rows} of its {len(slowest.stream)}.",
        evidence={each.stream.name: each.rate_hz for each in even} | {"rows": rows},
    )
