"""The plain rollout, an oracle: Newton-Euler about Bo and classical Runge-Kutta on 13 states."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, Vec6
from identify.inertia import inertia_about_origin, spatial_inertia
from identify.simulation import State, Trajectory
from identify.spatial import quaternion_product
from identify.spatial.rotations import cross, rotate, rotation_from_quaternion
from identify.spatial.vectors import GRAVITY_W


def state_rate(phi: Phi, gravity: Array) -> Callable[[Array, Vec6], Array]:
    """d/dt of state vectors [p, q, v, ω], shape (..., 13), under a wrench [f; t] at Bo in B.

    M [a'; α] = w − [ω × (ω × h); ω × I ω],   dv/dt = R a' + g
    """
    h, I, inverse = phi[..., 1:4], inertia_about_origin(phi), np.linalg.inv(spatial_inertia(phi))

    def rate(state: Array, wrench: Vec6) -> Array:
        q, v, w = state[..., 3:7], state[..., 7:10], state[..., 10:13]
        momentum = np.einsum("...ij,...j->...i", I, w)
        force = wrench - np.concatenate((cross(w, cross(w, h)), cross(w, momentum)), axis=-1)
        acceleration = np.einsum("...ij,...j->...i", inverse, force)
        pure = np.concatenate((w, np.zeros_like(w[..., :1])), axis=-1)
        falling = rotate(rotation_from_quaternion(q), acceleration[..., :3]) + gravity
        parts = (v, 0.5 * quaternion_product(q, pure), falling, acceleration[..., 3:])
        return np.concatenate(parts, axis=-1)

    return rate


def plain_rollout(
    phi: Phi,
    start: State,
    wrench: Vec6,
    step: float,
    gravity: ArrayLike = GRAVITY_W,
    *,
    interpolation: str = "linear",
) -> Trajectory:
    """What `fast_rollout` computes, with no formula of it; arguments are its own, unchecked."""
    loads, first, g = np.moveaxis(wrench, -2, 0), start.vector, np.asarray(gravity)
    shapes = [array.shape[:-1] for array in (phi, first, g, loads[0])]
    states = np.empty((len(loads), *np.broadcast_shapes(*shapes), 13))
    states[0] = first
    rate = state_rate(phi, g)
    for k in range(len(loads) - 1):
        state, now = states[k], loads[k]
        ahead = loads[k + 1] if interpolation == "linear" else now
        middle = 0.5 * (now + ahead)
        k1 = rate(state, now)
        k2 = rate(state + 0.5 * step * k1, middle)
        k3 = rate(state + 0.5 * step * k2, middle)
        k4 = rate(state + step * k3, ahead)
        after = state + (step / 6.0) * (k1 + 2.0 * (k2 + k3) + k4)
        after[..., 3:7] /= np.linalg.norm(after[..., 3:7], axis=-1, keepdims=True)
        states[k + 1] = after
    return Trajectory.from_vectors(step * np.arange(len(loads)), states)
