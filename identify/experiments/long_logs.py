"""Logs larger than memory: a Parquet file in chunks of rows, each made into block statistics.

    chunks = log_chunks("long.parquet", "schema.toml", rows=1_000_000)
    with choose_executor(workers=4) as executor:
        blocks = reduce_statistics(chunks, chunk_blocks, join_blocks, executor)
    estimate = estimate_body([blocks])

A chunk is read with as many rows on either side as the filters need, and keeps the outputs of its
own time: none is lost or counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from identify.errors import LogError
from identify.files import require_file
from identify.logs import Recording, read_log
from identify.regressors import Statistics, block_statistics
from identify.signals import prepare
from identify.signals.filters import choose_cutoff_hz, shortest_segment

_HEAD = 2000
"""Rows from which the rate is read."""


@dataclass(frozen=True, slots=True)
class LogChunk:
    """Some rows of a long log, small enough to send to a worker, which reads them.

    Attributes:
        path: the Parquet file.
        schema: what its columns mean.
        start: first row of its own.
        stop: row after its last.
        margin: rows that are read on either side for the filters.
        rows: of the whole log.
        cutoff_hz: of the low-pass [Hz], the same for all chunks.
    """

    path: Path
    schema: Path
    start: int
    stop: int
    margin: int
    rows: int
    cutoff_hz: float


def log_chunks(
    path: Path | str, schema: Path | str, *, rows: int = 500_000, cutoff_hz: float | None = None
) -> list[LogChunk]:
    """Cut a long log with a time column into chunks.

    Args:
        path: a Parquet file; other formats have to be converted first.
        schema: what its columns mean.
        rows: of a chunk, about.
        cutoff_hz: of the low-pass [Hz]; chosen by the rate of the first rows where not given.

    Raises:
        LogError: not Parquet, still poses, or too few rows in a chunk for the filters.
    """
    path, schema = Path(path).resolve(), Path(schema).resolve()
    total = _count(path)
    head = read_log(path, schema, rows=(0, min(_HEAD, total)))
    if head.time is None or len(head) < 2:
        raise LogError(f"{path}: a log is cut into chunks by its time, and this one has none")
    rate = 1.0 / float(np.median(np.diff(head.time)))
    chosen, _ = choose_cutoff_hz(rate, min(rows, total), cutoff_hz)
    # A hair below: rounding of the rate must not change the decimation from chunk to chunk.
    cutoff = chosen * (1.0 - 1e-6)
    count = max(1, round(total / rows))
    edges = np.linspace(0, total, count + 1).astype(int).tolist()
    margin = int(shortest_segment(rate, cutoff))
    return [
        LogChunk(path, schema, start, stop, margin, total, cutoff)
        for start, stop in pairwise(edges)
    ]


def chunk_blocks(chunk: LogChunk) -> Statistics:
    """Block statistics of a chunk's own time, as a worker makes them.

    Raises:
        LogError: the rows cannot be read or prepared.
    """
    first = max(0, chunk.start - chunk.margin)
    last = min(chunk.rows, chunk.stop + chunk.margin)
    recording = read_log(chunk.path, chunk.schema, rows=(first, last))
    begin = -np.inf if first == chunk.start else _time(recording, chunk.start - first)
    end = np.inf if chunk.stop == chunk.rows else _time(recording, chunk.stop - first)
    return block_statistics(prepare(recording, chunk.cutoff_hz, (begin, end)))


def join_blocks(first: Statistics, second: Statistics) -> Statistics:
    """Blocks of two segments of one log, the earlier first."""
    return first + replace(second, block=second.block + first.block.max() + 1)


def _time(recording: Recording, row: int) -> float:
    """Time of a row of the chunk [s]; the reader may have left rows out."""
    time = np.zeros(1) if recording.time is None else recording.time
    return float(time[min(row, len(time) - 1)])


def _count(path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    require_file(path)
    try:
        return pq.read_metadata(path).num_rows
    except pa.ArrowInvalid as error:
        raise LogError(f"{path}: is not Parquet; convert it, then cut it into chunks") from error
