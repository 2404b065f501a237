"""`scan`: one pass over a log, in chunks of rows; nothing keeps the rows.

A chunk is a whole number of blocks of time. It is read with as many rows on either side as the
derivatives need, and what is made of it is of its own time alone: no sample is lost or counted
twice where two chunks meet. So the statistics of chunks, made anywhere, are those of the scan:

    statistics = reduce(join_blocks, map(chunk_statistics, scan_chunks(recording)))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import LogError
from identify.logs import LogFile, Recording
from identify.logs.excerpt import Excerpt, ReadExcerpt, excerpt, rows_of
from identify.logs.rows import RowCounts
from identify.regressors.statistics import MOST_BLOCKS, Statistics, add_up
from identify.regressors.summary import LogSummary
from identify.regressors.wrench import block_statistics, fold_statistics, scan_statistics
from identify.signals import NoSegment, PreparedLog, Reading, Segment, on_one_clock, prepare
from identify.signals.clock import sampling_period
from identify.signals.filters import shortest_segment
from identify.signals.kernels import default_cutoff_hz
from identify.signals.noise import SignalNoise
from identify.signals.preparation import FOLDS
from identify.signals.resampling import HALF_WIDTH
from identify.signals.segments import FEWEST_ROWS
from identify.signals.spikes import without_spikes
from identify.signals.transform import BLOCK_SECONDS
from identify.spatial.rotations import lengths

CHUNK_ROWS = 65_536
"""Rows of a chunk, about: a whole number of blocks, and one block at least."""

MOST_POINTS = 100_000
"""Points of the series that are kept of a log."""

MOST_STATES = 200_000
"""Full-rate states that are kept of a log for the replay."""

_HEAD = 2000
"""Rows from which the rate is read."""

_STRETCH = 200
"""Points of the series that stay together where it is thinned."""

_SAME_SEGMENT = 5.5
"""Points of the series across the edge of two chunks are of one segment up to so many steps."""

ReadableLog: TypeAlias = Recording | LogFile
"""A log that can be read again: in memory, or a long one in a file."""

Progress = Callable[[int, int], None]
"""Called with the rows done and all rows, after each chunk."""


@dataclass(frozen=True, slots=True)
class ScanChunk:
    """Some rows of a log and how they are read, small enough to send to a worker.

    Attributes:
        source: the log.
        reading: how it is read; with the cut-off, where it is known already.
        start, stop: first row of its own, and the one after the last.
        margin: rows that are read on either side for derivatives.
        rate_hz: of the log [Hz], where it is known already.
        most_blocks: into which its statistics may be cut.
        wide: whether the columns behind [1, ψ, w] are taken too.
    """

    source: ReadableLog
    reading: Reading
    start: int
    stop: int
    margin: int = 0
    rate_hz: float | None = None
    most_blocks: int = MOST_BLOCKS
    wide: bool = False

    def read(self, reader: ReadExcerpt | None = None) -> Excerpt:
        """The rows, as they are read.

        Args:
            reader: of the log, where chunks before this one were read.
        """
        part = (reader or _reader(self.source))(self.start, self.stop, self.margin)
        return replace(part, recording=self.reading.apply(part.recording))

    def prepare(self, part: Excerpt) -> PreparedLog:
        """Rows by frequency of what `read` gave.

        Raises:
            NoSegment: there is none to be made into rows.
            LogError: as `prepare`.
        """
        name, rows = part.recording.name, len(part.recording)
        if self.margin and rows < FEWEST_ROWS:
            raise NoSegment(f"{name}: {rows} rows of a chunk are too few to see a motion")
        return prepare(
            part.recording,
            self.reading.cutoff_hz,
            part.span,
            wide=self.wide,
            rate_hz=self.rate_hz,
        )


def scan(
    source: ReadableLog,
    reading: Reading | None = None,
    progress: Progress | None = None,
    *,
    wide: bool = False,
    look_at: Callable[[Excerpt], None] | None = None,
) -> LogSummary:
    """Read a log once, and keep what estimation, validation and figures need of it.

    Args:
        source: the log.
        reading: how it is read; as its schema says where not given.
        progress: told after each chunk of a log of several.
        wide: take the columns behind [1, ψ, w] too, as `prepare` does.
        look_at: called with each chunk, in order, as it was read.

    Raises:
        LogError: the log cannot be used.
    """
    reading = reading or Reading()
    source, of_chunks = _ready(source, reading)
    chunks = _cut(source, of_chunks)
    found = _Found(chunks)
    first: PreparedLog | None = None
    refused: NoSegment | None = None
    reader, counts = _reader(source), RowCounts()
    for cut in chunks:
        chunk = replace(_after(first, cut), wide=wide)
        part = chunk.read(reader)
        counts += part.counts
        found.look_at(part.recording)
        if look_at is not None:
            look_at(part)
        try:
            prepared = chunk.prepare(part)
        except NoSegment as error:
            refused = refused or error
            found.unused += part.rows - part.counts.dropped.total
        else:
            found.take(prepared, chunk)
            first = first or replace(prepared, blocks=(), folds=(), segments=())
        if progress is not None and len(chunks) > 1:
            progress(chunk.stop, chunks[-1].stop)
    told = rows_of(source, 0, 0) if isinstance(source, Recording) else source.told(counts)
    if first is None:
        raise refused or LogError(f"{source.name}: the log has no rows")
    told = replace(told, findings=first.recording.findings)
    return found.summary(reading.apply(told), reading, first)


def scan_chunks(source: ReadableLog, reading: Reading | None = None) -> list[ScanChunk]:
    """The chunks of a log, each to be made into statistics anywhere, as `scan` makes them.

    The first is prepared here, for the cut-off that all share.

    Raises:
        LogError: the log cannot be used.
    """
    source, reading = _ready(source, reading or Reading())
    chunks = _cut(source, reading)
    refused, reader = None, _reader(source)
    for chunk in chunks:
        try:
            first = chunk.prepare(chunk.read(reader))
        except NoSegment as error:
            refused = refused or error
        else:
            return [_after(first, each) for each in chunks]
    raise refused or LogError(f"{source.name}: the log has no rows")


def chunk_statistics(chunk: ScanChunk) -> Statistics | None:
    """Statistics of a chunk's own time; None where it has no segment that can be used.

    Raises:
        LogError: the rows cannot be read or prepared.
    """
    try:
        return _statistics(chunk.prepare(chunk.read()), chunk)
    except NoSegment:
        return None


def join_blocks(first: Statistics | None, second: Statistics | None) -> Statistics | None:
    """Blocks of two segments of one log, the earlier first."""
    parts = [part for part in (first, second) if part is not None]
    return _joined(parts) if parts else None


def _joined(parts: Sequence[Statistics]) -> Statistics:
    """Blocks of segments of one log, in order of time; that of one segment as it is."""
    if len(parts) == 1:
        return parts[0]
    begin = np.cumsum([0, *(int(part.block.max()) + 1 for part in parts)])
    return add_up(
        [replace(part, block=part.block + start) for part, start in zip(parts, begin, strict=False)]
    )


def _statistics(prepared: PreparedLog, chunk: ScanChunk) -> Statistics:
    if prepared.recording.still:
        return block_statistics(prepared)
    return scan_statistics(prepared.blocks, prepared.recording.sha256, chunk.most_blocks)


def _after(first: PreparedLog | None, chunk: ScanChunk) -> ScanChunk:
    """The chunk, read like the first that could be prepared."""
    if first is None:
        return chunk
    reading = replace(chunk.reading, cutoff_hz=first.cutoff_hz)
    return replace(chunk, reading=reading, rate_hz=first.rate_hz)


def _ready(source: ReadableLog, reading: Reading) -> tuple[ReadableLog, Reading]:
    """A log to be cut into chunks, and how those are read.

    Streams and held rows of a log in memory come to one clock, and its spikes are taken out before
    that; those of a file are met with in its chunks.
    """
    if not isinstance(source, Recording):
        return source, reading
    if reading.without_spikes:
        source, reading = without_spikes(source)[0], replace(reading, without_spikes=False)
    return on_one_clock(source), reading


def _reader(source: ReadableLog) -> ReadExcerpt:
    return partial(excerpt, source) if isinstance(source, Recording) else source.reader()


def _rate_hz(source: ReadableLog) -> float | None:
    """The rate of a log, about; None where it has none."""
    if isinstance(source, LogFile):
        return source.rate_hz
    if source.time is None or len(source) < 2:
        return None
    period = sampling_period(source.time[:_HEAD])
    return 1.0 / period if period > 0.0 else None


def _cut(source: ReadableLog, reading: Reading) -> list[ScanChunk]:
    """The chunks of a log; of still poses one."""
    total = len(source)
    whole = [ScanChunk(source, reading, 0, total)]
    rate = _rate_hz(source)
    if rate is None:
        return whole
    block = max(1, round(BLOCK_SECONDS * rate))
    if reading.most_rows is not None and total > reading.most_rows:
        edges = _spread(total, reading.most_rows, block)
        return [ScanChunk(source, reading, start, stop) for start, stop in edges]
    rows = block * max(1, CHUNK_ROWS // block)
    count = max(1, round(total / rows))
    if count == 1:
        return whole
    cutoff = default_cutoff_hz(rate) if reading.cutoff_hz is None else reading.cutoff_hz
    margin = int(min(shortest_segment(rate, cutoff) + _of_delay(source, reading, rate), rows))
    edges = [*(rows * number for number in range(count)), total]
    most = max(1, MOST_BLOCKS // count)
    return [
        ScanChunk(source, reading, start, stop, margin, most_blocks=most)
        for start, stop in pairwise(edges)
    ]


def _of_delay(source: ReadableLog, reading: Reading, rate: float) -> int:
    """Rows beyond a chunk that its wrench is taken from."""
    delay = reading.delay
    if delay is None:
        delay = (source.recording if isinstance(source, LogFile) else source).wrench_delay
    return int(np.ceil(abs(delay) * rate)) + HALF_WIDTH if delay else 0


def _spread(total: int, rows: int, block: int) -> list[tuple[int, int]]:
    """Segments of so many rows in all, evenly spread, as many as have two blocks each."""
    count = int(np.clip(rows // (2 * block), 1, 8))
    length = rows // count
    starts = np.linspace(0, total - length, count).astype(int).tolist()
    return [(start, start + length) for start in starts]


class _Points(NamedTuple):
    """Points of the series: their numbers in it, time, rows z, numbers of segments."""

    number: Indices
    time: Array
    rows: Array
    segment_ids: Indices

    def thinned(self, stride: int) -> _Points:
        """Every `stride`-th stretch."""
        if stride == 1:
            return self
        kept = self.number // _STRETCH % stride == 0
        return _Points(self.number[kept], self.time[kept], self.rows[kept], self.segment_ids[kept])


class _Series:
    """Points over time; of too many, stretches evenly spread stay, each whole."""

    def __init__(self) -> None:
        self._parts: list[_Points] = []
        self._stride, self._segment, self._last = 1, -1, -np.inf
        self.points = 0

    def take(self, log: PreparedLog) -> None:
        step = 0.0 if len(log.time) < 2 else float(np.median(np.diff(log.time)))
        goes_on = float(log.time[0]) - self._last <= _SAME_SEGMENT * step
        ids = log.segment_ids + (self._segment + (0 if goes_on else 1))
        points = _Points(self.points + np.arange(len(ids)), log.time, log.rows, ids)
        self._parts.append(points.thinned(self._stride))
        self.points += len(ids)
        self._segment, self._last = int(ids[-1]), float(log.time[-1])
        while sum(len(part.number) for part in self._parts) > MOST_POINTS:
            self._stride *= 2
            self._parts = [part.thinned(self._stride) for part in self._parts]

    def all(self) -> _Points:
        """Those of all chunks together."""
        if len(self._parts) == 1:
            return self._parts[0]
        return _Points(*(np.concatenate(columns) for columns in zip(*self._parts, strict=True)))


class _States:
    """Full-rate states: half of them at the begin of the log, the others spread over it."""

    def __init__(self, chunks: int) -> None:
        self._first = MOST_STATES if chunks == 1 else MOST_STATES // 2
        self._others = (MOST_STATES - self._first) // max(chunks - 1, 1)
        self.kept: list[Segment] = []
        self.fastest = (0.0, 0.0)

    def take(self, segments: Sequence[Segment]) -> None:
        left = self._others if self.kept else self._first
        for segment in segments:
            speed, spin = _fastest(segment.velocity), _fastest(segment.angular_velocity)
            self.fastest = max(self.fastest[0], speed), max(self.fastest[1], spin)
            if left > 1:
                self.kept.append(_begin(segment, left))
            left -= len(segment.time)


def _fastest(values: Array) -> float:
    return float(lengths(values).max())


def _begin(segment: Segment, rows: int) -> Segment:
    """The first rows of a segment, which do not hold on to the others."""
    if len(segment.time) <= rows:
        return segment
    values = {each.name: getattr(segment, each.name) for each in fields(segment)}
    gravity = values.pop("gravity")
    return Segment(**{name: array[:rows].copy() for name, array in values.items()}, gravity=gravity)


class _Found:
    """What a scan has found so far; it grows no further than its bounds."""

    def __init__(self, chunks: Sequence[ScanChunk]) -> None:
        self.series, self.states = _Series(), _States(len(chunks))
        self.statistics: list[Statistics] = []
        self.folds: list[Statistics] = []
        self.noise: list[Array] = []
        self.signal_noise: list[SignalNoise] = []
        self.rows: list[int] = []
        self.unused = self.repeated = 0
        self.raised, self.motion_hz = False, 0.0
        self.begin, self.end = np.inf, -np.inf
        self.least, self.most = np.full(6, np.inf), np.full(6, -np.inf)

    def look_at(self, recording: Recording) -> None:
        """Take in what is seen of rows whether they can be used or not."""
        if len(recording):
            wrench = [recording.signals[name] for name in ("force", "torque")]
            self.least = np.minimum(self.least, np.hstack([each.min(axis=0) for each in wrench]))
            self.most = np.maximum(self.most, np.hstack([each.max(axis=0) for each in wrench]))

    def take(self, log: PreparedLog, chunk: ScanChunk) -> None:
        """Take in what was made of a chunk."""
        self.statistics.append(_statistics(log, chunk))
        self.folds.append(fold_statistics(log))
        self.series.take(log)
        self.states.take(log.segments)
        self.noise.append(log.noise)
        if log.signal_noise is not None:
            self.signal_noise.append(log.signal_noise)
        self.rows.append(sum(len(block.rows) for block in log.blocks) or len(log.rows))
        self.unused += log.unused
        self.repeated += log.repeated
        self.raised |= log.cutoff_raised
        self.motion_hz = max(self.motion_hz, log.motion_hz or 0.0)
        self.begin = min(self.begin, float(log.time[0]))
        self.end = max(self.end, float(log.time[-1]))

    def _signal_noise(self) -> SignalNoise | None:
        """That of the chunks on average."""
        if len(self.signal_noise) < 2:
            return next(iter(self.signal_noise), None)
        covariances = [noise.covariance for noise in self.signal_noise]
        mean = np.average(covariances, axis=0, weights=self.rows)
        return replace(self.signal_noise[0], covariance=mean)

    def summary(self, recording: Recording, reading: Reading, first: PreparedLog) -> LogSummary:
        """All of it, in the terms of the first chunk that could be used."""
        statistics = _joined(self.statistics)
        series = self.series.all()
        several = len(np.unique(statistics.block)) >= FOLDS and len(self.statistics) > 1
        one = len(self.noise) == 1
        return LogSummary(
            recording=recording,
            reading=reading,
            statistics=statistics,
            folds=statistics if several else _joined(self.folds),
            time=series.time,
            rows=series.rows,
            segment_ids=series.segment_ids,
            shown=len(series.rows) / self.series.points,
            noise=self.noise[0] if one else np.average(self.noise, axis=0, weights=self.rows),
            signal_noise=self._signal_noise(),
            effective=float(statistics.effective_samples.sum()),
            duration=0.0 if recording.still else self.end - self.begin,
            rate_hz=first.rate_hz,
            cutoff_hz=first.cutoff_hz,
            motion_hz=self.motion_hz if reading.cutoff_hz is None else None,
            segments=tuple(self.states.kept),
            repeated=self.repeated,
            unused=self.unused,
            cutoff_raised=self.raised,
            fastest=self.states.fastest,
            wrench_range=np.array([self.least, self.most]),
        )
