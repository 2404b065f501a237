"""Explicit one-step methods: Runge-Kutta-Munthe-Kaas and semi-implicit Euler."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Vec3
from identify.simulation.forced_body import ForcedBody
from identify.simulation.free_body import ANGULAR, ATTITUDE, LINEAR, MOMENTUM, POSITION
from identify.simulation.free_rotation.euler_equations import quaternion_rate
from identify.simulation.integrators.interface import Integrator
from identify.spatial import exp_rotation, quaternion_product
from identify.spatial.rotations import cross, rotate, rotation_from_unit_quaternion

_SMALL_ANGLE = 0.1
"""Angle [rad] below which a series replaces the cotangent; the omitted terms are below 1e-15."""


class MuntheKaas4(Integrator):
    """Runge-Kutta-Munthe-Kaas method of order four, in the chart q = q₀ ⊗ exp(θ) of each step.

    The attitude stays a rotation in every stage, and a rotation about a fixed axis is exact.
    Reference: Munthe-Kaas, "High order Runge-Kutta methods on manifolds" (1999).
    """

    name: ClassVar[str] = "rkmk4"
    order: ClassVar[int] = 4

    def advance(self, motion: ForcedBody, phase: Array, time: float, step: float) -> Array:
        """Return the phase-space state after one step."""

        def rate(change: Array, time: float) -> Array:
            """Return the rate of the change [θ, Δx, Δp, ΔL] since the start of the step."""
            now = _apply_change(phase, change)
            v, w, force = motion.rates(now, rotation_from_unit_quaternion(now[..., ATTITUDE]), time)
            return np.concatenate((rotation_vector_rate(change[..., :3], w), v, force), axis=-1)

        after = _apply_change(phase, runge_kutta(rate, np.zeros_like(phase[..., :12]), time, step))
        return _normalised(after)  # a product of unit quaternions is one but for rounding


class SemiImplicitEuler(Integrator):
    """Semi-implicit Euler method in momentum form: p and L are the state, ω is derived from them.

        p, L += h [f; t];    ω = R I⁻¹ Rᵀ L;    x += h v;    q = (q + h q̇) / |q + h q̇|

    L is kept from step to step, so ω follows the attitude and a free body precesses. Where instead
    L is formed anew from the last ω and the attitude of that same step, ω never changes. In a fluid
    it is L about a fixed point that is kept; about the centre it changes by −h v × p.
    """

    name: ClassVar[str] = "semi-implicit-euler"
    order: ClassVar[int] = 1

    def advance(self, motion: ForcedBody, phase: Array, time: float, step: float) -> Array:
        """Return the phase-space state after one step."""
        R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
        after = phase.copy()
        after[..., MOMENTUM] += step * motion.wrench(phase, R, time)
        V = self.body.twist(R, after)
        path = step * rotate(R, V[..., :3])
        after[..., POSITION] += path
        if self.body.in_fluid:
            after[..., ANGULAR] -= cross(path, after[..., LINEAR])
            V = self.body.twist(R, after)
        after[..., ATTITUDE] += step * quaternion_rate(phase[..., ATTITUDE], V[..., 3:])
        return _normalised(after)


def rotation_vector_rate(v: Vec3, w: Vec3) -> Vec3:
    """Return dv/dt of the rotation vector in q = q₀ ⊗ exp(v), from ω in body axes.

        dv/dt = ω + ½ v × ω + c v × (v × ω),    c = (1 − (θ/2) cot(θ/2)) / θ²,    θ = |v| < 2π

    `v`: rotation vectors [rad], shape (..., 3); `w`: [rad/s], shape (..., 3).
    Shape (..., 3).
    """
    squared = np.sum(v * v, axis=-1, keepdims=True)
    angle = np.sqrt(np.maximum(squared, _SMALL_ANGLE**2))
    far = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    terms = 1.0 / 720.0 + squared * (1.0 / 30240.0 + squared * (1.0 / 1209600.0))
    near = 1.0 / 12.0 + squared * terms
    c = np.where(squared < _SMALL_ANGLE**2, near, far)
    twist = cross(v, w)
    return w + 0.5 * twist + c * cross(v, twist)


def runge_kutta(
    rate: Callable[[Array, float], Array], start: Array, time: float, step: float
) -> Array:
    """Return the increment of one classical Runge-Kutta step."""
    half = 0.5 * step
    k1 = rate(start, time)
    k2 = rate(start + half * k1, time + half)
    k3 = rate(start + half * k2, time + half)
    k4 = rate(start + step * k3, time + step)
    return step * (k1 + 2.0 * (k2 + k3) + k4) / 6.0


def _apply_change(start: Array, change: Array) -> Array:
    phase = np.empty_like(start)
    phase[..., ATTITUDE] = quaternion_product(start[..., ATTITUDE], exp_rotation(change[..., :3]))
    phase[..., POSITION] = start[..., POSITION] + change[..., 3:6]
    phase[..., MOMENTUM] = start[..., MOMENTUM] + change[..., 6:]
    return phase


def _normalised(phase: Array) -> Array:
    """Normalise the quaternion of a phase-space state in place, and return the state."""
    phase[..., ATTITUDE] /= np.linalg.norm(phase[..., ATTITUDE], axis=-1, keepdims=True)
    return phase
