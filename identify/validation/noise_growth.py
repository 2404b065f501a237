"""What noise of the wrench alone makes of a replay, and for how long it leaves a motion to compare.

Noise that is added to the measured wrench moves the simulated body away from where it is without:
white noise of the force by t^1.5, of the torque, through gravity along the wrong axis, by t^3.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Mat66, Phi
from identify.errors import SimulationError
from identify.inertia import inertia_about_com
from identify.regressors import LogSummary
from identify.signals import Segment
from identify.simulation.checks import Interpolation
from identify.spatial import coadjoint
from identify.spatial.rotations import rotation_angle
from identify.validation.windows import (
    OffsetSegment,
    averaged,
    neighbouring_motions,
    rows_of_segment,
)

SHARE = 0.1
"""Of the motion: beyond it noise hides whether the body is the right one."""

_MOST_NOISE_SAMPLES = 200
"""Samples of a motion at which its noise is worked out."""

_NOISE_DRAWS = 8
"""Of the noise, for a single motion; of many windows one each."""

_SEED = 0

_WRENCH_ROUNDING = 1e-9
"""Share of the wrench below which what is read off it is no noise."""

_LITTLE = 1e-3
"""Share of the noise that is simulated: what it makes grows with it, as long as it is small."""

_WINDOWS = 100
"""Of a segment that say how far it goes in a time."""

_COARSE = 0.01
"""Steps that are long enough to tell how noise grows in one shot [s]."""

_FIRST, _NEXT_LONGER = 2.0, 4
"""Time that is looked at first [s], and how many times as long each that follows."""


class NoiseGrowth(NamedTuple):
    """RMS distance of motions with noise from those without, and how far these went, over time.

    Attributes:
        time: since the start [s], shape (k,).
        position, attitude: [m] and [rad], shape (k,).
        shares: noise over motion, both with the angle as a length by the radius of gyration: (k,).
    """

    time: Array
    position: Array
    attitude: Array
    shares: Array

    @property
    def horizon(self) -> float:
        """The last time at which noise is a tenth of the motion at the most; zero for none [s]."""
        small = np.flatnonzero(self.shares <= SHARE)
        return float(self.time[small[-1]]) if len(small) else 0.0

    def until(self, time: float) -> NoiseGrowth:
        """The same up to a time [s]."""
        return NoiseGrowth(*(values[self.time <= time] for values in self))


def wrench_noise(logs: Sequence[LogSummary]) -> Mat66 | None:
    """Noise of the wrench on average over some logs, as it was read off them or given.

    Returns:
        Covariance of a sample of [f; t] at Bo in B times its step, shape (6, 6); None if not known.
    """
    found = []
    for log in logs:
        noise = log.signal_noise
        if noise is None or not {"force", "torque"} <= set(noise.names) or not log.rate_hz:
            continue
        covariance = noise.of((("force", 0), ("torque", 0)))
        if np.trace(covariance) <= (_WRENCH_ROUNDING * np.abs(log.wrench_range).max()) ** 2:
            continue
        if log.recording.frames["wrench"] == "world":  # the body turns in it
            sizes = np.diag(covariance).reshape(2, 3).mean(axis=1)
            covariance = np.diag(np.repeat(sizes, 3))
        if log.recording.X_BS is not None:
            Ad = coadjoint(log.recording.X_BS)
            covariance = Ad @ covariance @ Ad.T
        found.append(covariance / log.rate_hz)
    return np.mean(found, axis=0) if found else None


def simulate_noise_growth(
    motions: Segment,
    phi: Phi,
    noise: Mat66,
    step: float,
    interpolation: Interpolation,
    whole: Segment | None = None,
) -> NoiseGrowth:
    """How noise grows in one motion, or in some windows.

    Args:
        motions: their samples, shape (n, ·) or (w, n, ·); the wrench without sensor offset.
        phi: the body, shape (10,).
        noise: as `wrench_noise` has it.
        step: between samples [s].
        interpolation: the wrench between samples.
        whole: what a single motion is the beginning of: it goes as far as that does in its time.

    Raises:
        SimulationError: the body is not possible, or its motion grew beyond all bounds.
    """
    wrench = motions.wrench if motions.wrench.ndim > 2 else motions.wrench[None]
    draws = 1 if len(wrench) > 1 else _NOISE_DRAWS
    rng, (values, axes) = np.random.default_rng(_SEED), np.linalg.eigh(noise / step)
    root = axes * np.sqrt(np.maximum(values, 0.0))
    added = _LITTLE * rng.standard_normal((draws, *wrench.shape)) @ root.T
    every = max(1, wrench.shape[-2] // _MOST_NOISE_SAMPLES)
    wrenches = np.concatenate((wrench[None], wrench + added))
    path = neighbouring_motions(phi, motions, wrenches, step, interpolation, every)
    p, q = path.position, path.quaternion
    away = _rms(p[1:] - p[:1]) / _LITTLE, _rms(rotation_angle(q[:1], q[1:])[..., None]) / _LITTLE
    shown = slice(None, None, every)
    p, q = motions.position[..., shown, :], motions.quaternion[..., shown, :]
    if whole is not None:
        rows = _windows(len(whole.time), wrench.shape[-2], every)
        p, q = whole.position[rows], whole.quaternion[rows]
    went = _rms(p - p[..., :1, :]), _rms(rotation_angle(q[..., :1, :], q)[..., None])
    size = np.sqrt(max(np.trace(inertia_about_com(phi)) / (2.0 * phi[0]), 0.0))
    moved = np.maximum.accumulate(np.hypot(went[0], size * went[1]))
    noisy = np.hypot(away[0], size * away[1])
    shares = np.where(moved > 0.0, noisy / np.where(moved > 0.0, moved, 1.0), np.inf)
    return NoiseGrowth(path.time, away[0], away[1], shares)


def single_shot_noise_growth(
    longest: OffsetSegment, phi: Phi, noise: Mat66, step: float, interpolation: Interpolation
) -> NoiseGrowth:
    """How noise grows over a segment, or over as much of it as noise leaves a motion.

    Args:
        longest: the segment with its sensor offset.
        phi: the body, shape (10,).
        noise: as `wrench_noise` has it.
        step: between its samples [s].
        interpolation: the wrench between samples.

    Raises:
        SimulationError: as `noise_growth`.
    """
    segment, bias = longest
    stride = max(1, int(_COARSE / step))
    coarse = rows_of_segment(segment, slice(None, None, stride))
    coarse = replace(coarse, wrench=averaged(segment.wrench - bias, stride))
    samples = max(2, int(_FIRST / (stride * step)))
    while True:
        part = rows_of_segment(coarse, slice(samples))
        growth = simulate_noise_growth(part, phi, noise, step * stride, interpolation, coarse)
        if samples >= len(coarse.time) or not growth.shares[-1] < 1.0:
            return growth
        samples *= _NEXT_LONGER


def require_time(growth: NoiseGrowth, least: float) -> None:
    """Raise `SimulationError` where noise hides the motion before a time [s]."""
    if growth.horizon < least:
        raise SimulationError(
            f"noise of the wrench alone is more than a tenth of the motion over {least:.2g} s, so "
            "that no error says anything of the body"
        )


def _windows(count: int, samples: int, every: int) -> Indices:
    """Rows of some windows of so many samples, evenly spread over so many rows: (w, k)."""
    first = np.unique(np.linspace(0, count - samples, _WINDOWS).round().astype(np.intp))
    return first[:, None] + np.arange(0, samples, every)


def _rms(values: Array) -> Array:
    """Root mean square of the lengths over all motions, (..., n, c) to (n,)."""
    squares = (values**2).sum(axis=-1)
    return np.sqrt(squares.reshape(-1, squares.shape[-1]).mean(axis=0))
