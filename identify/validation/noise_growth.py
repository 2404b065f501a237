"""Errors of a replay from wrench noise alone, and the time for which they stay small.

Noise of the measured wrench displaces the simulated body: white noise of the force by t^1.5, of the
torque, through gravity along the wrong axis, by t^3.5.
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
    block_means,
    neighbouring_motions,
)

MAX_NOISE_TO_MOTION = 0.1
"""Largest ratio of the displacement by noise to the motion at which a replay is meaningful."""

_MAX_NOISE_SAMPLES = 200
"""Maximum number of samples of a motion at which the effect of noise is computed."""

_NOISE_DRAWS = 8
"""Number of noise realisations for a single motion; each of many windows has one realisation."""

_SEED = 0

_WRENCH_ROUNDING = 1e-9
"""Noise, relative to the range of the wrench, up to which the noise is rounding."""

_SIMULATED_NOISE_FRACTION = 1e-3
"""Fraction of the noise that is simulated, so that its effect is linear."""

_AVERAGED_WINDOWS = 100
"""Number of windows of a segment over which the size of the motion is averaged."""

_SINGLE_SHOT_STEP = 0.01
"""Time step of the simulation of noise in a single-shot replay [s]; longer than the log's."""

_FIRST_DURATION, _DURATION_FACTOR = 2.0, 4
"""First simulated duration of a single-shot replay [s], and factor of each further duration."""


class NoiseGrowth(NamedTuple):
    """RMS displacement of simulated motions that wrench noise causes, over time.

    Attributes:
        time: time since the start [s], shape (k,).
        position, attitude: displacement [m] and [rad], shape (k,).
        noise_to_motion: displacement over motion, angles times the radius of gyration, shape (k,).
    """

    time: Array
    position: Array
    attitude: Array
    noise_to_motion: Array

    @property
    def horizon(self) -> float:
        """Last time at which noise is at most a tenth of the motion [s]; zero for none."""
        small = np.flatnonzero(self.noise_to_motion <= MAX_NOISE_TO_MOTION)
        return float(self.time[small[-1]]) if len(small) else 0.0

    def until(self, time: float) -> NoiseGrowth:
        """Return the growth up to a time [s]."""
        return NoiseGrowth(*(values[self.time <= time] for values in self))


def wrench_noise(logs: Sequence[LogSummary]) -> Mat66 | None:
    """Return the noise density of the wrench, averaged over logs.

    Returns:
        Covariance of a sample of [f; t] at Bo in B times its step, shape (6, 6); None if unknown.
    """
    densities = []
    for log in logs:
        noise = log.signal_noise
        if noise is None or not {"force", "torque"} <= set(noise.names) or not log.rate_hz:
            continue
        covariance = noise.covariance_of((("force", 0), ("torque", 0)))
        if np.trace(covariance) <= (_WRENCH_ROUNDING * np.abs(log.wrench_range).max()) ** 2:
            continue
        if log.recording.frames["wrench"] == "world":  # the body turns in it
            sizes = np.diag(covariance).reshape(2, 3).mean(axis=1)
            covariance = np.diag(np.repeat(sizes, 3))
        if log.recording.X_BS is not None:
            Ad = coadjoint(log.recording.X_BS)
            covariance = Ad @ covariance @ Ad.T
        densities.append(covariance / log.rate_hz)
    return np.mean(densities, axis=0) if densities else None


def simulate_noise_growth(
    motions: Segment,
    phi: Phi,
    noise: Mat66,
    step: float,
    interpolation: Interpolation,
    whole_segment: Segment | None = None,
) -> NoiseGrowth:
    """Simulate the growth of errors by wrench noise in one motion, or in windows.

    `motions`: samples, shape (n, ·) or (w, n, ·); the wrench without sensor offset; `phi`: the
    body, shape (10,); `step`: time between samples [s].
    Raises `SimulationError`: the body is not physically consistent, or its motion diverges.
    A single motion is the beginning of `whole_segment`, over which its size over time is averaged.
    """
    wrench = motions.wrench if motions.wrench.ndim > 2 else motions.wrench[None]
    draws = 1 if len(wrench) > 1 else _NOISE_DRAWS
    rng, (values, axes) = np.random.default_rng(_SEED), np.linalg.eigh(noise / step)
    root = axes * np.sqrt(np.maximum(values, 0.0))
    added = _SIMULATED_NOISE_FRACTION * rng.standard_normal((draws, *wrench.shape)) @ root.T
    every = max(1, wrench.shape[-2] // _MAX_NOISE_SAMPLES)
    wrenches = np.concatenate((wrench[None], wrench + added))
    path = neighbouring_motions(phi, motions, wrenches, step, interpolation, every)
    p, q = path.position, path.quaternion
    away = (
        _rms(p[1:] - p[:1]) / _SIMULATED_NOISE_FRACTION,
        _rms(rotation_angle(q[:1], q[1:])[..., None]) / _SIMULATED_NOISE_FRACTION,
    )
    shown = slice(None, None, every)
    p, q = motions.position[..., shown, :], motions.quaternion[..., shown, :]
    if whole_segment is not None:
        rows = _windows(len(whole_segment.time), wrench.shape[-2], every)
        p, q = whole_segment.position[rows], whole_segment.quaternion[rows]
    went = _rms(p - p[..., :1, :]), _rms(rotation_angle(q[..., :1, :], q)[..., None])
    size = np.sqrt(max(np.trace(inertia_about_com(phi)) / (2.0 * phi[0]), 0.0))
    moved = np.maximum.accumulate(np.hypot(went[0], size * went[1]))
    noisy = np.hypot(away[0], size * away[1])
    shares = np.where(moved > 0.0, noisy / np.where(moved > 0.0, moved, 1.0), np.inf)
    return NoiseGrowth(path.time, away[0], away[1], shares)


def single_shot_noise_growth(
    longest: OffsetSegment, phi: Phi, noise: Mat66, step: float, interpolation: Interpolation
) -> NoiseGrowth:
    """Simulate the errors by wrench noise along a segment, until noise exceeds the motion.

    `phi`: the body, shape (10,); `step`: time between its samples [s].
    Raises `SimulationError`: as `noise_growth`.
    """
    segment, bias = longest
    stride = max(1, int(_SINGLE_SHOT_STEP / step))
    coarse = segment.select(slice(None, None, stride))
    coarse = replace(coarse, wrench=block_means(segment.wrench - bias, stride))
    samples = max(2, int(_FIRST_DURATION / (stride * step)))
    while True:
        part = coarse.select(slice(samples))
        growth = simulate_noise_growth(part, phi, noise, step * stride, interpolation, coarse)
        if samples >= len(coarse.time) or not growth.noise_to_motion[-1] < 1.0:
            return growth
        samples *= _DURATION_FACTOR


def require_horizon(growth: NoiseGrowth, min_horizon: float) -> None:
    """Raise `SimulationError` if noise exceeds a tenth of the motion before a given time [s]."""
    if growth.horizon < min_horizon:
        raise SimulationError(
            f"noise of the wrench alone is more than a tenth of the motion over {min_horizon:.2g} "
            "s, so that errors are not informative about the body"
        )


def _windows(count: int, samples: int, every: int) -> Indices:
    """Return row indices of evenly spread windows of `samples` rows out of `count`, (w, k)."""
    first = np.unique(np.linspace(0, count - samples, _AVERAGED_WINDOWS).round().astype(np.intp))
    return first[:, None] + np.arange(0, samples, every)


def _rms(values: Array) -> Array:
    """Return the root mean square of vector norms over all motions, (..., n, c) to (n,)."""
    squares = (values**2).sum(axis=-1)
    return np.sqrt(squares.reshape(-1, squares.shape[-1]).mean(axis=0))
