"""`summarise_log`: one pass over a log, in chunks of rows, without keeping the rows in memory.

A chunk is a whole number of blocks of time. It is read with as many rows on either side as the
derivatives need, but contributes its own time span alone: no sample is lost or counted twice where
two chunks meet.
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
from identify.logs.recording import Excerpt, ReadExcerpt, excerpt, recording_rows
from identify.logs.row_selection import RowCounts
from identify.regressors.log_summary import LogSummary, merge_ranges, no_drift
from identify.regressors.statistics import MAX_TIME_BLOCKS
from identify.signals import Interpretation, NoUsableSegment, PreparedLog, on_one_clock, prepare
from identify.signals.cutoff import shortest_segment_rows
from identify.signals.differentiator import default_cutoff_hz
from identify.signals.imu_calibration import ImuCalibration
from identify.signals.preparation import (
    calibrate_imu,
    lacks_acceleration,
    locate_accelerometer,
)
from identify.signals.resampling import KERNEL_HALF_WIDTH
from identify.signals.segments import MIN_SEGMENT_ROWS
from identify.signals.spikes import without_spikes
from identify.signals.transform import BLOCK_SECONDS
from identify.signals.uniform_clock import sampling_period

CHUNK_ROWS = 65_536
"""Approximate number of rows of a chunk, rounded to whole blocks, at least one."""

MAX_REPLAY_STATES = 200_000
"""Largest number of full-rate states of a log that are kept for its replay: half of them at the
start of the log, the others spread over it."""

_RATE_ESTIMATE_ROWS = 2000
"""Number of leading rows of a log from which its sampling rate is estimated."""

ReadableLog: TypeAlias = Recording | LogFile
"""A log that can be read repeatedly: in memory, or a long one in a file."""

Progress = Callable[[int, int], None]
"""Callback after each chunk, with the number of processed rows and of all rows."""


class _Chunk(NamedTuple):
    """A range of rows of a log.

    Attributes:
        start, stop: first row, and the row after the last.
        margin: number of rows that are read on either side for derivatives.
    """

    start: int
    stop: int
    margin: int = 0


def summarise_log(
    source: ReadableLog,
    reading: Interpretation | None = None,
    progress: Progress | None = None,
    *,
    wide: bool = False,
    on_chunk: Callable[[Excerpt], None] | None = None,
) -> LogSummary:
    """Read a log once and summarise it for estimation, validation and figures.

    The cut-off frequency of the first chunk is used for all chunks.

    Args:
        source: the log.
        reading: corrections and settings of the reading; those of the schema if not given.
        progress: called after each chunk if there are several.
        wide: include the columns after [1, ψ, w], as in `prepare`; implied by a reading with maps.
        on_chunk: called with each chunk, in order.

    Raises:
        LogError: the log cannot be used.
    """
    reading = reading or Interpretation()
    wide = wide or bool(reading.column_maps)
    source, chunk_reading = _synchronise_source(source, reading)
    imu = _calibrate_whole_log(source, chunk_reading)
    chunks, read = _cut_chunks(source, chunk_reading), _excerpt_reader(source)
    summary: LogSummary | None = None
    first_error: NoUsableSegment | None = None
    counts, unused = RowCounts(), 0
    wrench_range = np.array([np.full(6, np.inf), np.full(6, -np.inf)])
    for chunk in chunks:
        part = read(*chunk)
        part = replace(part, recording=chunk_reading.apply(part.recording))
        chunk_range = _wrench_range(part.recording)
        counts, wrench_range = counts + part.defect_counts, merge_ranges(wrench_range, chunk_range)
        if on_chunk is not None:
            on_chunk(part)
        try:
            prepared = _prepare_chunk(part, chunk, chunk_reading, summary, imu, wide=wide)
        except NoUsableSegment as error:
            first_error = first_error or error
            unused += part.row_count - part.defect_counts.dropped.total
        else:
            chunk_summary = LogSummary.of_chunk(
                prepared,
                reading,
                chunk_range,
                max_blocks=max(1, MAX_TIME_BLOCKS // len(chunks)),
                max_states=_max_states(len(chunks), first=summary is None),
            )
            summary = chunk_summary if summary is None else summary + chunk_summary
        if progress is not None and len(chunks) > 1:
            progress(chunk.stop, chunks[-1].stop)
    header = log_header(source, counts)
    if summary is None:
        raise first_error or LogError(f"{source.name}: the log has no rows")
    header = replace(reading.apply(header), findings=summary.recording.findings)
    summary = replace(
        summary,
        recording=header,
        unused_rows=summary.unused_rows + unused,
        wrench_range=wrench_range,
    )
    return (
        summary.corrected(reading.combined_column_map, no_drift) if reading.column_maps else summary
    )


def iterate_excerpts(
    source: ReadableLog, reading: Interpretation | None = None
) -> Iterator[Excerpt]:
    """Iterate over the chunks of a log, in order, as `summarise_log` reads them.

    `reading`: corrections and settings of the reading; those of the schema if not given.
    Raises `LogError`: the log cannot be used.
    """
    yield from excerpts_on_one_clock(*_synchronise_source(source, reading or Interpretation()))


def excerpts_on_one_clock(source: ReadableLog, reading: Interpretation) -> Iterator[Excerpt]:
    """Iterate over the chunks of a log of any sensor; one in memory has a single clock."""
    read = _excerpt_reader(source)
    for chunk in _cut_chunks(source, reading):
        part = read(*chunk)
        yield replace(part, recording=reading.apply(part.recording))


def log_header(source: ReadableLog, counts: RowCounts) -> Recording:
    """Return a log without its rows; raise if too few of those in a file are usable.

    `counts`: defective rows of all chunks of a file.
    """
    if isinstance(source, Recording):
        return recording_rows(source, 0, 0)
    return source.without_rows(counts)


def calibrate_log(source: ReadableLog) -> ImuCalibration | None:
    """Calibrate the accelerometer of a log from all its chunks.

    Returns the calibration, for `prepare` and `full_rate` of each chunk; None if each chunk
    suffices.
    Raises `LogError`: the log does not determine the calibration.
    """
    return _calibrate_whole_log(*_synchronise_source(source, Interpretation()))


def _prepare_chunk(
    part: Excerpt,
    chunk: _Chunk,
    reading: Interpretation,
    summary: LogSummary | None,
    imu: ImuCalibration | None,
    *,
    wide: bool,
) -> PreparedLog:
    """Prepare a chunk of a log with the cut-off frequency and sampling rate of earlier chunks."""
    recording = part.recording
    if chunk.margin and len(recording) < MIN_SEGMENT_ROWS:
        raise NoUsableSegment(
            f"{recording.name}: a chunk of {len(recording)} rows is too short to differentiate"
        )
    cutoff_hz, rate_hz = reading.cutoff_hz, None
    if summary is not None:
        cutoff_hz, rate_hz = summary.cutoff_hz, summary.rate_hz
    return prepare(
        recording,
        cutoff_hz,
        part.span,
        wide=wide,
        rate_hz=rate_hz,
        imu=imu,
    )


def _wrench_range(recording: Recording) -> Array:
    """Return the minimum and maximum force and torque, shape (2, 6); infinite without rows."""
    wrench = np.hstack([recording.signals[name] for name in ("force", "torque")])
    least, most = wrench.min(axis=0, initial=np.inf), wrench.max(axis=0, initial=-np.inf)
    return np.array([least, most])


def _max_states(chunks: int, *, first: bool) -> int:
    """Return the largest number of full-rate states that a chunk may keep."""
    if chunks == 1:
        return MAX_REPLAY_STATES
    first_chunk = MAX_REPLAY_STATES // 2
    return first_chunk if first else (MAX_REPLAY_STATES - first_chunk) // (chunks - 1)


def _synchronise_source(
    source: ReadableLog, reading: Interpretation
) -> tuple[ReadableLog, Interpretation]:
    """Resample a log in memory to one clock before it is cut into chunks.

    Spikes are removed before. For a file this is done chunk by chunk.
    """
    if not isinstance(source, Recording):
        return source, reading
    source.require_wrench()
    if reading.without_spikes:
        source, reading = without_spikes(source)[0], replace(reading, without_spikes=False)
    return on_one_clock(reading.apply_to_pose(source)), reading


def _calibrate_whole_log(source: ReadableLog, reading: Interpretation) -> ImuCalibration | None:
    """Calibrate the accelerometer of a synchronised log; None if each chunk suffices."""
    if isinstance(source, Recording) and lacks_acceleration(source):
        return calibrate_imu(reading.apply(source), reading.cutoff_hz)
    imu = (source if isinstance(source, Recording) else source.recording).imu
    if imu is None or not imu.fitted or len(_cut_chunks(source, reading)) == 1:
        return None
    recordings = (part.recording for part in excerpts_on_one_clock(source, reading))
    return locate_accelerometer(recordings, reading.cutoff_hz)


def _excerpt_reader(source: ReadableLog) -> ReadExcerpt:
    return partial(excerpt, source) if isinstance(source, Recording) else source.reader()


def nominal_rate_hz(source: ReadableLog) -> float | None:
    """Return the approximate sampling rate of a log; None for static poses."""
    if isinstance(source, LogFile):
        return source.rate_hz
    if source.time is None or len(source) < 2:
        return None
    period = sampling_period(source.time[:_RATE_ESTIMATE_ROWS])
    return 1.0 / period if period > 0.0 else None


def _cut_chunks(source: ReadableLog, reading: Interpretation) -> list[_Chunk]:
    """Cut a log into chunks; static poses are one chunk."""
    total = len(source)
    single_chunk = [_Chunk(0, total)]
    rate = nominal_rate_hz(source)
    if rate is None:
        return single_chunk
    block = block_rows(rate)
    if reading.max_rows is not None and total > reading.max_rows:
        edges = _spread_segments(total, reading.max_rows, block)
        return [_Chunk(*edge) for edge in edges]
    rows = block * max(1, CHUNK_ROWS // block)
    count = max(1, round(total / rows))
    if count == 1:
        return single_chunk
    margin = margin_rows(source, reading, rate, rows)
    edges = [*(rows * number for number in range(count)), total]
    return [_Chunk(start, stop, margin) for start, stop in pairwise(edges)]


def block_rows(rate_hz: float) -> int:
    """Return the approximate number of rows of a block of time."""
    return max(1, round(BLOCK_SECONDS * rate_hz))


def margin_rows(source: ReadableLog, reading: Interpretation, rate_hz: float, max_rows: int) -> int:
    """Return the number of rows beside a chunk that its derivatives and the delay need."""
    cutoff = default_cutoff_hz(rate_hz) if reading.cutoff_hz is None else reading.cutoff_hz
    rows = shortest_segment_rows(rate_hz, cutoff) + _delay_rows(source, reading, rate_hz)
    return int(min(rows, max_rows))


def _delay_rows(source: ReadableLog, reading: Interpretation, rate: float) -> int:
    """Return the number of rows beyond a chunk from which its delayed wrench is resampled."""
    delay = reading.patched_wrench_delay
    if delay is None:
        delay = (source.recording if isinstance(source, LogFile) else source).wrench_delay
    return int(np.ceil(abs(delay) * rate)) + KERNEL_HALF_WIDTH if delay else 0


def _spread_segments(total: int, rows: int, block: int) -> list[tuple[int, int]]:
    """Choose up to 8 evenly spread ranges, of `rows` rows in all and two blocks or more each."""
    count = int(np.clip(rows // (2 * block), 1, 8))
    length = rows // count
    starts = np.linspace(0, total - length, count).astype(int).tolist()
    return [(start, start + length) for start in starts]
