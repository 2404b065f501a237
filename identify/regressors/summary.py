"""`LogSummary`: all that is kept of a log once it was scanned, bounded however long it is."""

from __future__ import annotations

from dataclasses import dataclass

from identify.arrays import Array, Indices, Vec6
from identify.logs import Recording
from identify.regressors.statistics import Statistics
from identify.signals import Reading, Segment
from identify.signals.noise import SignalNoise


@dataclass(frozen=True, slots=True)
class LogSummary:
    """What a scan keeps of a log: its statistics, and excerpts of it for figures and replays.

    Attributes:
        recording: what the log says of itself, such as files, frames and account of rows; its own
            arrays are empty.
        reading: how it was read.
        statistics: sufficient statistics by blocks of time.
        folds: those of the parts of time that are held out in turn.
        time: time of the series [s], shape (n,); the poses' number where all are still.
        rows: series of z = [1, ψ, w], means over short stretches of time, shape (n, 19), or of all
            columns of a wide scan, (n, 40); of a log of still poses the poses. Of a long log
            excerpts, evenly spread.
        segment_ids: number of the uninterrupted segment each of those belongs to, shape (n,).
        shown: share of the series that `rows` are.
        noise: variance of the noise of [ψ, w] in the slow rows, on average, shape (18,).
        signal_noise: of its signals, sample by sample; None for still poses.
        effective: how many independent rows there are.
        duration: time the log spans [s]; zero for still poses.
        rate_hz: sampling rate of the log [Hz]; None for still poses.
        cutoff_hz: highest frequency of the rows [Hz]; None for still poses.
        motion_hz: highest cut-off that the motion of any part asks for [Hz]; None where a person
            chose it.
        segments: full-rate states for the replay, of a long log excerpts; empty where pose or time
            is missing.
        repeated: rows with the stamp of the row before.
        unused: rows in segments too short to be differentiated, not used.
        cutoff_raised: whether the cut-off is higher than the default, as segments are short.
        fastest: largest speed [m/s] and angular rate [rad/s] met.
        wrench_range: least and largest force and torque, as logged [N, N m], shape (2, 6).
    """

    recording: Recording
    reading: Reading
    statistics: Statistics
    folds: Statistics
    time: Array
    rows: Array
    segment_ids: Indices
    shown: float
    noise: Array
    signal_noise: SignalNoise | None
    effective: float
    duration: float
    rate_hz: float | None
    cutoff_hz: float | None
    motion_hz: float | None
    segments: tuple[Segment, ...]
    repeated: int
    unused: int
    cutoff_raised: bool
    fastest: tuple[float, float]
    wrench_range: Array

    @property
    def name(self) -> str:
        """The log's name."""
        return self.recording.name

    @property
    def kept(self) -> int:
        """Rows of the log that were not dropped."""
        return self.recording.rows - self.recording.dropped.total

    @property
    def wrench(self) -> Vec6:
        """Measured wrench of the series, in B, bias included, shape (n, 6)."""
        return self.rows[:, 13:19]

    @property
    def features(self) -> Array:
        """Features ψ of the series, shape (n, 12)."""
        return self.rows[:, 1:13]
