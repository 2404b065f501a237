"""`scan`: one pass over a log, in chunks of rows; nothing keeps the rows.

A chunk is a whole number of blocks of time. It is read with as many rows on either side as the
derivatives need, and what is made of it is of its own time alone: no sample is lost or counted
twice where two chunks meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.logs import LogFile, Recording
from identify.logs.recording import Excerpt, ReadExcerpt, excerpt, rows_of
from identify.logs.rows import RowCounts
from identify.regressors.statistics import MOST_BLOCKS
from identify.regressors.summary import LogSummary, joint_range, no_drift
from identify.signals import NoSegment, PreparedLog, Reading, on_one_clock, prepare
from identify.signals.clock import sampling_period
from identify.signals.cutoff import shortest_segment_rows
from identify.signals.differentiator import default_cutoff_hz
from identify.signals.preparation import calibrate_imu, lacks_acceleration
from identify.signals.prepared import ImuCalibration
from identify.signals.resampling import KERNEL_HALF_WIDTH
from identify.signals.segments import MIN_SEGMENT_ROWS
from identify.signals.spikes import without_spikes
from identify.signals.transform import BLOCK_SECONDS

CHUNK_ROWS = 65_536
"""Rows of a chunk, about: a whole number of blocks, and one block at least."""

MOST_STATES = 200_000
"""Full-rate states that are kept of a log for the replay: half of them at its begin, the others
spread over it."""

_HEAD = 2000
"""Rows from which the rate is read."""

ReadableLog: TypeAlias = Recording | LogFile
"""A log that can be read again: in memory, or a long one in a file."""

Progress = Callable[[int, int], None]
"""Called with the rows done and all rows, after each chunk."""


class _Chunk(NamedTuple):
    """Some rows of a log.

    Attributes:
        start, stop: first row of its own, and the one after the last.
        margin: rows that are read on either side for derivatives.
    """

    start: int
    stop: int
    margin: int = 0


def scan(
    source: ReadableLog,
    reading: Reading | None = None,
    progress: Progress | None = None,
    *,
    wide: bool = False,
    validated: bool = True,
    look_at: Callable[[Excerpt], None] | None = None,
) -> LogSummary:
    """Read a log once, and keep what estimation, validation and figures need of it.

    The cut-off that the first chunk asks for is that of all.

    Args:
        source: the log.
        reading: how it is read; as its schema says where not given.
        progress: told after each chunk of a log of several.
        wide: take the columns behind [1, ψ, w] too, as `prepare` does; a reading with maps does.
        validated: keep what validation needs too, folds of a short log and the motion at full rate.
        look_at: called with each chunk, in order, as it was read.

    Raises:
        LogError: the log cannot be used.
    """
    reading = reading or Reading()
    wide = wide or bool(reading.maps)
    source, of_chunks = _ready(source, reading)
    imu = _calibration_of_whole(source, of_chunks)
    chunks, read = _chunks(source, of_chunks), _reader(source)
    found: LogSummary | None = None
    refused: NoSegment | None = None
    counts, unused = RowCounts(), 0
    wrench_range = np.array([np.full(6, np.inf), np.full(6, -np.inf)])
    for chunk in chunks:
        part = read(*chunk)
        part = replace(part, recording=of_chunks.apply(part.recording))
        own_range = _wrench_range(part.recording)
        counts, wrench_range = counts + part.counts, joint_range(wrench_range, own_range)
        if look_at is not None:
            look_at(part)
        try:
            prepared = _prepared(part, chunk, of_chunks, found, imu, wide=wide, validated=validated)
        except NoSegment as error:
            refused = refused or error
            unused += part.rows - part.counts.dropped.total
        else:
            summary = LogSummary.of_chunk(
                prepared,
                reading,
                own_range,
                most_blocks=max(1, MOST_BLOCKS // len(chunks)),
                most_states=_most_states(len(chunks), first=found is None),
            )
            found = summary if found is None else found + summary
        if progress is not None and len(chunks) > 1:
            progress(chunk.stop, chunks[-1].stop)
    told = rows_of(source, 0, 0) if isinstance(source, Recording) else source.told(counts)
    if found is None:
        raise refused or LogError(f"{source.name}: the log has no rows")
    told = reading.apply(told)
    told = replace(told, findings=found.recording.findings)
    found = replace(found, recording=told, unused=found.unused + unused, wrench_range=wrench_range)
    return found.corrected(reading.column_map, no_drift) if reading.maps else found


def excerpts(source: ReadableLog, reading: Reading | None = None) -> Iterator[Excerpt]:
    """A log in chunks, in order, as `scan` reads them.

    Args:
        source: the log.
        reading: how it is read; as its schema says where not given.

    Raises:
        LogError: the log cannot be used.
    """
    source, reading = _ready(source, reading or Reading())
    read = _reader(source)
    for chunk in _chunks(source, reading):
        part = read(*chunk)
        yield replace(part, recording=reading.apply(part.recording))


def _prepared(
    part: Excerpt,
    chunk: _Chunk,
    reading: Reading,
    found: LogSummary | None,
    imu: ImuCalibration | None,
    *,
    wide: bool,
    validated: bool,
) -> PreparedLog:
    """Rows by frequency of a chunk, with the cut-off and the rate of those before it."""
    recording = part.recording
    if chunk.margin and len(recording) < MIN_SEGMENT_ROWS:
        raise NoSegment(
            f"{recording.name}: {len(recording)} rows of a chunk are too few to see a motion"
        )
    cutoff_hz, rate_hz = reading.cutoff_hz, None
    if found is not None:
        cutoff_hz, rate_hz = found.cutoff_hz, found.rate_hz
    return prepare(
        recording,
        cutoff_hz,
        part.span,
        wide=wide,
        rate_hz=rate_hz,
        validated=validated,
        imu=imu,
    )


def _wrench_range(recording: Recording) -> Array:
    """Least and largest force and torque, shape (2, 6); infinite without rows."""
    wrench = np.hstack([recording.signals[name] for name in ("force", "torque")])
    least, most = wrench.min(axis=0, initial=np.inf), wrench.max(axis=0, initial=-np.inf)
    return np.array([least, most])


def _most_states(chunks: int, *, first: bool) -> int:
    """How many full-rate states a chunk may keep."""
    if chunks == 1:
        return MOST_STATES
    at_begin = MOST_STATES // 2
    return at_begin if first else (MOST_STATES - at_begin) // (chunks - 1)


def _ready(source: ReadableLog, reading: Reading) -> tuple[ReadableLog, Reading]:
    """A log to be cut into chunks, and how those are read.

    Streams and held rows of a log in memory come to one clock, and its spikes are taken out before
    that; those of a file are met with in its chunks.
    """
    if not isinstance(source, Recording):
        return source, reading
    if reading.without_spikes:
        source, reading = without_spikes(source)[0], replace(reading, without_spikes=False)
    return on_one_clock(reading.pose_of(source)), reading


def _calibration_of_whole(source: ReadableLog, reading: Reading) -> ImuCalibration | None:
    """Calibration that takes the whole log: of a force that serves as an accelerometer."""
    if isinstance(source, Recording) and lacks_acceleration(source):
        return calibrate_imu(reading.apply(source), reading.cutoff_hz)
    return None


def _reader(source: ReadableLog) -> ReadExcerpt:
    return partial(excerpt, source) if isinstance(source, Recording) else source.reader()


def rate_of(source: ReadableLog) -> float | None:
    """The rate of a log, about; None where it has none."""
    if isinstance(source, LogFile):
        return source.rate_hz
    if source.time is None or len(source) < 2:
        return None
    period = sampling_period(source.time[:_HEAD])
    return 1.0 / period if period > 0.0 else None


def _chunks(source: ReadableLog, reading: Reading) -> list[_Chunk]:
    """The chunks of a log; of still poses one."""
    total = len(source)
    whole = [_Chunk(0, total)]
    rate = rate_of(source)
    if rate is None:
        return whole
    block = block_rows(rate)
    if reading.most_rows is not None and total > reading.most_rows:
        edges = _spread(total, reading.most_rows, block)
        return [_Chunk(*edge) for edge in edges]
    rows = block * max(1, CHUNK_ROWS // block)
    count = max(1, round(total / rows))
    if count == 1:
        return whole
    margin = margin_rows(source, reading, rate, rows)
    edges = [*(rows * number for number in range(count)), total]
    return [_Chunk(start, stop, margin) for start, stop in pairwise(edges)]


def block_rows(rate_hz: float) -> int:
    """Rows of a block of time, about."""
    return max(1, round(BLOCK_SECONDS * rate_hz))


def margin_rows(source: ReadableLog, reading: Reading, rate_hz: float, most: int) -> int:
    """Rows on either side of a chunk that its derivatives and its wrench need, so many at most."""
    cutoff = default_cutoff_hz(rate_hz) if reading.cutoff_hz is None else reading.cutoff_hz
    return int(
        min(shortest_segment_rows(rate_hz, cutoff) + _of_delay(source, reading, rate_hz), most)
    )


def _of_delay(source: ReadableLog, reading: Reading, rate: float) -> int:
    """Rows beyond a chunk that its wrench is taken from."""
    delay = reading.delay
    if delay is None:
        delay = (source.recording if isinstance(source, LogFile) else source).wrench_delay
    return int(np.ceil(abs(delay) * rate)) + KERNEL_HALF_WIDTH if delay else 0


def _spread(total: int, rows: int, block: int) -> list[tuple[int, int]]:
    """Segments of so many rows in all, evenly spread, as many as have two blocks each."""
    count = int(np.clip(rows // (2 * block), 1, 8))
    length = rows // count
    starts = np.linspace(0, total - length, count).astype(int).tolist()
    return [(start, start + length) for start in starts]
