"""The plain rollout: classical Runge-Kutta on the 13 states, the reference for faster ways."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, Vec6
from identify.inertia import InertialParameters
from identify.simulation.checks import (
    Interpolation,
    broadcast_batches,
    require_finite_samples,
    require_interpolation,
    require_sample_shape,
    require_simulable,
    require_step,
)
from identify.simulation.divergence import require_states_followed
from identify.simulation.dynamics import RigidBodyDynamics
from identify.simulation.state import State, Trajectory
from identify.spatial.vectors import GRAVITY_W


def rollout(
    phi: Phi | InertialParameters,
    start: State,
    wrench: Vec6,
    step: float,
    gravity: ArrayLike = GRAVITY_W,
    *,
    interpolation: Interpolation = "linear",
) -> Trajectory:
    """Motion of free bodies under a sampled wrench, by RK4 with the quaternion renormalised.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10), broadcast with the batch of states.
        start: first states, batch shape (...).
        wrench: samples of [f; t] on the body at Bo in B, shape (..., n, 6), the first at the start;
            n states come out, so n − 1 steps are taken.
        step: time between samples [s].
        gravity: g in W [m/s²], shape (3,) or (..., 3).
        interpolation: the wrench between samples: a straight line, or the last sample held.

    Raises:
        SimulationError: an impossible body, a step that is not positive, too few samples, or
            batches that do not broadcast.
        Diverged: a motion that grows beyond all bounds, or turns by more than 1 rad in a step
            (says when, and which body).
    """
    require_interpolation(interpolation)
    step = require_step(step)
    wrench = require_finite_samples(require_sample_shape(wrench))
    phi = require_simulable(phi)
    dynamics = RigidBodyDynamics.of(phi, gravity)
    loads = np.moveaxis(wrench, -2, 0)
    first = start.vector
    shapes = [phi.shape, first.shape, np.shape(dynamics.gravity), loads.shape[1:]]
    batch = broadcast_batches([shape[:-1] for shape in shapes])
    states = np.empty((len(loads), *batch, 13))
    states[0] = first
    with np.errstate(over="ignore", invalid="ignore"):  # a motion that diverges is found below
        for k in range(len(loads) - 1):
            ahead = loads[k + 1] if interpolation == "linear" else loads[k]
            states[k + 1] = _runge_kutta(dynamics, states[k], loads[k], ahead, step)
        require_states_followed(states, step)
    return Trajectory.from_vectors(step * np.arange(len(loads)), states)


def _runge_kutta(
    dynamics: RigidBodyDynamics, state: Array, now: Vec6, ahead: Vec6, step: float
) -> Array:
    middle = 0.5 * (now + ahead)
    k1 = dynamics.derivative(state, now)
    k2 = dynamics.derivative(state + 0.5 * step * k1, middle)
    k3 = dynamics.derivative(state + 0.5 * step * k2, middle)
    k4 = dynamics.derivative(state + step * k3, ahead)
    after = state + (step / 6.0) * (k1 + 2.0 * (k2 + k3) + k4)
    after[..., 3:7] /= np.linalg.norm(after[..., 3:7], axis=-1, keepdims=True)
    return after
