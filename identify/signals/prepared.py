"""`PreparedLog`: a recording made ready for regression, and the states a replay needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Indices, Vec3, Vec4, Vec6
from identify.logs import Recording


@dataclass(frozen=True, slots=True)
class Segment:
    """An uninterrupted segment of a log at its full rate, in body axes, not low-passed.

    Attributes:
        time: [s], shape (n,).
        position, velocity: of Bo in W [m, m/s], shape (n, 3).
        quaternion: R_WB as [x, y, z, w], shape (n, 4).
        angular_velocity: w_WB_B [rad/s], shape (n, 3).
        wrench: [f; t] measured, on the body at Bo in B, bias included [N, N m], shape (n, 6).
        gravity: g in W [m/s²], shape (3,).
    """

    time: Array
    position: Vec3
    velocity: Vec3
    quaternion: Vec4
    angular_velocity: Vec3
    wrench: Vec6
    gravity: Vec3


@dataclass(frozen=True, slots=True)
class PreparedLog:
    """Rows z = [constant, ψ, w] of a log in body axes, low-passed alike, and their account.

    Attributes:
        recording: what it was made of.
        time: time of the rows [s], shape (n,); their number where all are still poses.
        rows: shape (n, 19).
        segment_ids: number of the uninterrupted segment each row belongs to, shape (n,).
        effective: how many independent samples the rows are worth.
        noise: variance of the noise left in each of the 18 columns [ψ, w], shape (18,).
        rate_hz: sampling rate of the log [Hz]; None for still poses.
        cutoff_hz: cut-off of the low-pass [Hz]; None for still poses, which are not filtered.
        segments: full-rate states for the replay; empty where pose or time is missing.
        repeated: rows with the stamp of the row before; those with its values too are not used.
        unused: rows in segments too short to filter, not used.
        cutoff_raised: whether the cut-off is higher than the default, as segments are short.
    """

    recording: Recording
    time: Array
    rows: Array
    segment_ids: Indices
    effective: float
    noise: Array
    rate_hz: float | None = None
    cutoff_hz: float | None = None
    segments: tuple[Segment, ...] = ()
    repeated: int = 0
    unused: int = 0
    cutoff_raised: bool = False

    @property
    def name(self) -> str:
        """The recording's name."""
        return self.recording.name

    @property
    def wrench(self) -> Vec6:
        """Measured wrench, filtered, in B, bias included, shape (n, 6)."""
        return self.rows[:, 13:]

    @property
    def features(self) -> Array:
        """Features ψ, filtered, shape (n, 12)."""
        return self.rows[:, 1:13]

    @property
    def duration(self) -> float:
        """Time the rows span [s]; zero for still poses."""
        return 0.0 if self.recording.still else float(np.ptp(self.time))
