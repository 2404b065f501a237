"""Windowed replay: simulation of short windows of a log from the body and the wrench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Mat66, Phi, Vec3, Vec4
from identify.errors import SimulationError
from identify.significance import BAND_QUANTILES
from identify.simulation import fast_rollout
from identify.simulation.checks import Interpolation
from identify.spatial.rotations import (
    log_rotation,
    quaternion_conjugate,
    quaternion_product,
    rotation_angle,
)
from identify.validation.noise_growth import NoiseGrowth, require_horizon, simulate_noise_growth
from identify.validation.windows import (
    MIN_WINDOW_STEPS,
    OffsetSegment,
    Windows,
    cut_windows,
    first_state,
    neighbouring_motions,
)

DEFAULT_HORIZON = 1.0
"""Default maximum length of a window [s]."""

_MAX_BAND_SAMPLES = 50
"""Maximum number of samples of a window at which an error band is computed."""

_DIFFERENCE_STEP = 0.01
_CHECKED_SAMPLES = 2
_MAX_LINEARISATION_ERROR = 0.02
"""Relative step towards a sampled body at which motions are differentiated, number of samples that
are fully simulated as a check, and largest error of the linearisation, relative to the largest
replay error."""

_MIN_INDEPENDENT_PART = 1e-6
"""Part of a row outside the span of other rows, relative to its norm, above which it is
independent."""

_MAX_STATES_IN_MEMORY = 200_000
"""Maximum number of states of sampled bodies in memory at a time, 100 bytes each."""


@dataclass(frozen=True, slots=True)
class ReplayErrors:
    """Errors of the simulated pose over the time since the start of the simulation.

    Attributes:
        horizon: time since the start [s], shape (k,).
        position: root mean square over windows [m], shape (k,).
        attitude: root mean square over windows [rad], shape (k,).
    """

    horizon: Array
    position: Array
    attitude: Array


@dataclass(frozen=True, slots=True)
class ErrorBand:
    """Band that contains 95 % of the replay errors of bodies drawn from an estimate.

    Attributes:
        horizon: time since the start [s], shape (k,).
        position: lower and upper [m], shape (2, k).
        attitude: lower and upper [rad], shape (2, k).
        samples: number of drawn bodies.
    """

    horizon: Array
    position: Array
    attitude: Array
    samples: int

    @classmethod
    def of(cls, errors: ReplayErrors) -> ErrorBand:
        """Compute the band from the errors of s bodies, shape (s, k) each."""
        position, attitude = (
            np.quantile(each, BAND_QUANTILES, axis=0) for each in (errors.position, errors.attitude)
        )
        return cls(errors.horizon, position, attitude, len(errors.position))


@dataclass(frozen=True, slots=True)
class Replay:
    """Replays of the same windows with one or more bodies.

    Attributes:
        windows: number of simulated windows.
        errors: errors by name of the body.
        times: time of each replayed sample of the first body [s], shape (windows, k).
        simulated: its positions p_WoBo_W [m], shape (windows, k, 3).
        measured: the measured ones, shape (windows, k, 3).
        band: band of the errors of bodies drawn from the estimate; None without samples.
        noise: errors of the first body expected from noise of the wrench alone, for comparison;
            None if it is unknown.
    """

    windows: int
    errors: Mapping[str, ReplayErrors]
    times: Array
    simulated: Vec3
    measured: Vec3
    band: ErrorBand | None = None
    noise: ReplayErrors | None = None


def replay(
    segments: Sequence[OffsetSegment],
    bodies: Mapping[str, Phi],
    *,
    horizon: float | None = None,
    samples: Phi | None = None,
    interpolation: Interpolation = "linear",
    noise: Mat66 | None = None,
) -> Replay | None:
    """Simulate windows of logs from their measured first states, in one batch.

    Args:
        segments: segments of the logs at full rate, each with its sensor offset to subtract.
        bodies: ten parameters by name; the first is also returned as a trajectory.
        horizon: length of a window [s], at most that of the segments; by default one second, or
            less if noise would exceed a tenth of the motion.
        samples: bodies drawn from the estimate for a band, shape (s, 10).
        interpolation: linear interpolation of the wrench, or sample and hold.
        noise: noise of the wrench, as by `wrench_noise`, if known.

    Returns:
        The errors, or None if no segment is long enough.

    Raises:
        SimulationError: a body is not physically consistent, its motion diverges, or noise exceeds
            a tenth of it in the shortest window.
    """
    require_bodies(bodies)
    phi = np.array(list(bodies.values()))
    stacks = cut_windows(segments, DEFAULT_HORIZON if horizon is None else horizon)
    if not stacks:
        return None
    growth = (
        None if noise is None else _main_rate_noise_growth(stacks, phi[0], noise, interpolation)
    )
    if noise is not None and growth is not None and horizon is None:
        least = min(MIN_WINDOW_STEPS * windows.step for windows in stacks)
        require_horizon(growth, least)
        if growth.horizon < growth.time[-1]:
            stacks = cut_windows(segments, growth.horizon * (1.0 + 1e-9))
            growth = _main_rate_noise_growth(stacks, phi[0], noise, interpolation)
    runs = [_simulate(windows, phi, interpolation) for windows in stacks]
    errors = _pool_rates(runs)
    band = None
    if samples is not None:
        band = ErrorBand.of(
            _pool_rates(_linearised_ensemble(stacks, runs, phi[0], samples, interpolation))
        )
    shown = min(len(run.horizon) for run in runs)
    picks = [np.linspace(0, len(run.horizon) - 1, shown).round().astype(int) for run in runs]
    return Replay(
        windows=sum(len(windows.time) for windows in stacks),
        errors={
            name: ReplayErrors(errors.horizon, errors.position[index], errors.attitude[index])
            for index, name in enumerate(bodies)
        },
        times=np.concatenate([w.time[:, at] for w, at in zip(stacks, picks, strict=True)]),
        simulated=np.concatenate([r.position[:, at] for r, at in zip(runs, picks, strict=True)]),
        measured=np.concatenate([w.position[:, at] for w, at in zip(stacks, picks, strict=True)]),
        band=band,
        noise=growth and ReplayErrors(growth.time, growth.position, growth.attitude),
    )


def _main_rate_noise_growth(
    stacks: Sequence[Windows], phi: Phi, noise: Mat66, interpolation: Interpolation
) -> NoiseGrowth:
    """Simulate the growth of wrench noise in the windows of the most frequent sampling rate."""
    windows = max(stacks, key=lambda stack: len(stack.time))
    return simulate_noise_growth(windows, phi, noise, windows.step, interpolation)


def require_bodies(bodies: Mapping[str, Phi]) -> None:
    """Raise `SimulationError` if there is no body."""
    if not bodies:
        raise SimulationError("replay needs at least one body")


class _WindowErrors(NamedTuple):
    """Squared errors of several bodies, averaged over windows."""

    horizon: Array
    windows: int
    squared_distance: Array  # (b, k)
    squared_angle: Array  # (b, k)
    position: Vec3  # of the first body, (w, k, 3)
    quaternion: Vec4  # likewise, (w, k, 4)


def _simulate(
    windows: Windows, phi: Phi, interpolation: Interpolation, every: int = 1
) -> _WindowErrors:
    """Simulate bodies × windows in one batch and compare every `every`-th sample."""
    path = fast_rollout(
        phi[:, None],
        first_state(windows),
        windows.wrench,
        windows.step,
        windows.gravity,
        interpolation=interpolation,
        every=every,
    )
    distance = np.sum((path.position - windows.position[:, ::every]) ** 2, axis=-1)
    angle = rotation_angle(windows.quaternion[:, ::every], path.quaternion) ** 2
    return _WindowErrors(
        path.time,
        len(windows.time),
        distance.mean(axis=1),
        angle.mean(axis=1),
        path.position[0],
        path.quaternion[0],
    )


def _pool_rates(runs: Sequence[_WindowErrors]) -> ReplayErrors:
    """Average squared errors over the windows of all rates, at the times of the first rate.

    Returns root mean squares of b bodies, shape (b, k) each.
    """
    horizon = runs[0].horizon
    total = sum(run.windows for run in runs)
    squares = (
        sum(
            run.windows / total * _interpolate_squares(run, getattr(run, name), horizon)
            for run in runs
        )
        for name in ("squared_distance", "squared_angle")
    )
    return ReplayErrors(horizon, *map(np.sqrt, squares))


def _interpolate_squares(run: _WindowErrors, squares: Array, horizon: Array) -> Array:
    if run.horizon is horizon:
        return squares
    return np.array([np.interp(horizon, run.horizon, row) for row in squares])


def _linearised_ensemble(
    stacks: Sequence[Windows],
    runs: Sequence[_WindowErrors],
    phi: Phi,
    samples: Phi,
    interpolation: Interpolation,
) -> list[_WindowErrors]:
    """Compute errors of sampled bodies from motions linearised about the estimate's motion.

    For ten of the samples a body near the estimate, in the sample's direction, is simulated: those
    between are consistent. The two farthest samples are simulated in full, and if the linearised
    errors differ from theirs, all are.

    `phi`: the estimate, shape (10,); `samples`: shape (s, 10).
    """
    towards = samples - phi
    scale = np.sqrt(np.mean(towards**2, axis=0))
    scaled = towards / np.where(scale > 0.0, scale, 1.0)
    chosen = _pivot_rows(scaled)
    tried = np.argsort(-np.linalg.norm(scaled, axis=1))[:_CHECKED_SAMPLES]
    if len(chosen) + _CHECKED_SAMPLES < len(samples):
        shares = np.linalg.lstsq(towards[chosen].T, towards.T, rcond=None)[0].T
        near = np.concatenate((phi[None], phi + _DIFFERENCE_STEP * towards[chosen]))
        pairs = zip(stacks, runs, strict=True)
        linear = [
            _simulate_linearised(windows, run, near, shares, interpolation)
            for windows, run in pairs
        ]
        full = [_simulate_in_batches(w, samples[tried], interpolation) for w in stacks]
        if all(
            _linearisation_holds(run, one, tried) for run, one in zip(linear, full, strict=True)
        ):
            return linear
    return [_simulate_in_batches(windows, samples, interpolation) for windows in stacks]


def _pivot_rows(rows: Array) -> Indices:
    """Return indices of rows that span all rows, by Gaussian elimination with pivoting."""
    remainder, chosen = rows, list[int]()
    for _ in range(rows.shape[1]):
        sizes = np.linalg.norm(remainder, axis=1)
        best = int(np.argmax(sizes))
        if sizes[best] <= _MIN_INDEPENDENT_PART * np.linalg.norm(rows[best]):
            break
        chosen.append(best)
        unit = remainder[best] / sizes[best]
        remainder = remainder - np.outer(remainder @ unit, unit)
    return np.array(chosen, dtype=np.intp)


def _simulate_linearised(
    windows: Windows,
    run: _WindowErrors,
    basis_bodies: Phi,
    coefficients: Array,
    interpolation: Interpolation,
) -> _WindowErrors:
    """Compute errors of sampled bodies as linear combinations of the motions of a few bodies.

    `run` has the motion of the first at every sample; how the others go beside it needs fewer.
    """
    every = max(1, windows.time.shape[1] // _MAX_BAND_SAMPLES)
    path = neighbouring_motions(
        basis_bodies[:, None], windows, windows.wrench, windows.step, interpolation, every
    )
    position, quaternion = run.position[:, ::every], run.quaternion[:, ::every]
    from_measured = quaternion_product(
        quaternion_conjugate(windows.quaternion[:, ::every]), quaternion
    )
    beside = quaternion_product(quaternion_conjugate(path.quaternion[0]), path.quaternion)
    away = path.position - path.position[0] + (position - windows.position[:, ::every])
    turned = log_rotation(quaternion_product(from_measured, beside))
    weights = np.concatenate((np.ones((len(coefficients), 1)), coefficients), axis=1)
    squares = []
    for error in (away, turned):
        error[1:] = (error[1:] - error[0]) / _DIFFERENCE_STEP
        moments = np.einsum("bwkx,cwkx->kbc", error, error, optimize=True) / len(windows.time)
        squares.append(np.maximum(np.einsum("sb,kbc,sc->sk", weights, moments, weights), 0.0))
    return _WindowErrors(path.time, len(windows.time), squares[0], squares[1], position, quaternion)


def _linearisation_holds(
    linearised: _WindowErrors, simulated: _WindowErrors, sample_indices: Indices
) -> bool:
    """Return whether linearised motions predict the errors of some fully simulated samples."""
    pairs = (
        (linearised.squared_distance[sample_indices], simulated.squared_distance),
        (linearised.squared_angle[sample_indices], simulated.squared_angle),
    )
    roots = (map(np.sqrt, pair) for pair in pairs)
    return all((np.abs(a - b) <= _MAX_LINEARISATION_ERROR * b.max()).all() for a, b in roots)


def _simulate_in_batches(
    windows: Windows, samples: Phi, interpolation: Interpolation
) -> _WindowErrors:
    """Simulate sampled bodies at some samples, a few bodies at a time, in bounded memory."""
    every = max(1, windows.time.shape[1] // _MAX_BAND_SAMPLES)
    count = max(1, every * _MAX_STATES_IN_MEMORY // windows.time.size)
    batches = [samples[k : k + count] for k in range(0, len(samples), count)]
    runs = [_simulate(windows, batch, interpolation, every) for batch in batches]
    return runs[0]._replace(
        squared_distance=np.concatenate([run.squared_distance for run in runs]),
        squared_angle=np.concatenate([run.squared_angle for run in runs]),
    )
