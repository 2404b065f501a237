"""Symplectic splitting of the kinetic energy into parts with closed-form motions."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.simulation.forced_body import ForcedBody
from identify.simulation.free_body import ANGULAR, ATTITUDE, LINEAR, MOMENTUM, POSITION, FreeBody
from identify.simulation.integrators.explicit import runge_kutta
from identify.simulation.integrators.interface import Integrator
from identify.spatial import exp_rotation, quaternion_product
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_unit_quaternion

Flow = Callable[[Array, float], None]
"""Function that advances a phase in place by the flow of one part of the energy."""


_OUTER_FRACTION = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
"""Length of the outer substeps of Suzuki's method, relative to the step."""
_STEP_FRACTIONS = (
    _OUTER_FRACTION,
    _OUTER_FRACTION,
    1.0 - 4.0 * _OUTER_FRACTION,
    _OUTER_FRACTION,
    _OUTER_FRACTION,
)
"""Lengths of the substeps, relative to the step; the middle substep goes back in time."""


class SuzukiSplitting(Integrator):
    """Suzuki's splitting of order four, symplectic and time-symmetric; it conserves momentum.

    A step is five of Strang's splitting, which is of second order, in shares of the step that take
    the error of third order away (Suzuki, "Fractal decomposition of exponential operators", 1990).

    In each, loads are kicks: half of one before the motion of the free body, half after; where a
    load is a law of the state, by Runge-Kutta, since it may ask for the velocity (of a drag, the
    order is kept, and nothing is symplectic). With M⁻¹ = [[A, Bᵀ], [B, C]], the kinetic energy
    ½ Pᵀ M⁻¹ P of P = [p; L] in axes of C falls into

        ½ pᵀ (A − Bᵀ C⁻¹ B) p  +  Σ ½ cᵢ (sᵢ·p + nᵢ·L)²,    C nᵢ = cᵢ nᵢ,  sᵢ = Bᵀ nᵢ / cᵢ:

    a translation, and for each principal axis nᵢ a screw motion whose angle turns with constant
    speed cᵢ (sᵢ·p + nᵢ·L). Each keeps p, and L about a fixed point, in W. Of a rigid body sᵢ = 0,
    and c₂ ½ |L|², the middle one of all three, goes before the sum: it commutes with all, a turn
    about L; two rotations are left, and a symmetric top is exact.
    Reference: McLachlan and Quispel, "Splitting methods" (2002).
    """

    name: ClassVar[str] = "suzuki"
    order: ClassVar[int] = 4

    def __init__(self, body: FreeBody) -> None:
        super().__init__(body)
        self._flows = _flows(body)

    def advance(self, motion: ForcedBody, phase: Array, time: float, step: float) -> Array:
        """Return the phase-space state after one step."""
        for share in _STEP_FRACTIONS:
            phase = self._strang(motion, phase, time, share * step)
            time += share * step
        return phase

    def _strang(self, motion: ForcedBody, phase: Array, time: float, step: float) -> Array:
        """Return the state after one Strang splitting step of order two."""
        after = phase.copy()
        *outer, inner = self._flows
        _kick(motion, after, time, 0.5 * step)
        for flow in outer:
            flow(after, 0.5 * step)
        inner(after, step)
        for flow in reversed(outer):
            flow(after, 0.5 * step)
        after[..., ATTITUDE] /= np.linalg.norm(after[..., ATTITUDE], axis=-1, keepdims=True)
        _kick(motion, after, time + step, 0.5 * step)
        return after


def _kick(motion: ForcedBody, phase: Array, time: float, duration: float) -> None:
    """Advance the momentum by the loads during a time, with the pose fixed."""
    if motion.is_free:
        return
    R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
    if not motion.state_loads:
        phase[..., MOMENTUM] += duration * motion.wrench(phase, R, time)
        return

    def rate(momentum: Array, _: float) -> Array:
        return motion.wrench(np.concatenate((phase[..., :7], momentum), axis=-1), R, time)

    phase[..., MOMENTUM] += runge_kutta(rate, phase[..., MOMENTUM], time, duration)


def _flows(body: FreeBody) -> list[Flow]:
    """Return the flows of a symmetric splitting of the kinetic energy; the last is the middle."""
    C = body.inverse_inertia[..., 3:, 3:]
    c, n = np.linalg.eigh(0.5 * (C + np.swapaxes(C, -1, -2)))
    if not body.in_fluid:
        middle = c[..., 1, None]
        outer = [_turn(n[..., :, i], c[..., i, None] - middle) for i in (0, 2)]
        return [_drift(1.0 / body.mass[..., None]), _spin(middle), *outer]
    B = body.inverse_inertia[..., 3:, :3]
    screws = []
    for i in range(3):
        axis, strength = n[..., :, i], c[..., i, None]
        screws.append(_screw(axis, rotate_back(B, axis) / strength, strength))
    # The Schur complement of C is the inverse of M's linear block.
    return [_fluid_drift(np.linalg.inv(body.inertia[..., :3, :3])), *screws]


def _drift(inverse_mass: Array) -> Flow:
    """Return the flow of the energy ½ |p|² / m: the centre moves along p."""

    def flow(phase: Array, duration: float) -> None:
        phase[..., POSITION] += duration * inverse_mass * phase[..., LINEAR]

    return flow


def _spin(strength: Array) -> Flow:
    """Return the flow of the energy ½ c |L|²: the body rotates about its momentum L."""

    def flow(phase: Array, duration: float) -> None:
        turned = exp_rotation(duration * strength * phase[..., ANGULAR])
        phase[..., ATTITUDE] = quaternion_product(turned, phase[..., ATTITUDE])

    return flow


def _turn(n: Vec3, strength: Array) -> Flow:
    """Return the flow of the energy ½ c (n·L)²: the body rotates about its axis n."""

    def flow(phase: Array, duration: float) -> None:
        q = phase[..., ATTITUDE]
        n_W = rotate(rotation_from_unit_quaternion(q), n)
        speed = strength * np.sum(n_W * phase[..., ANGULAR], axis=-1, keepdims=True)
        phase[..., ATTITUDE] = quaternion_product(q, exp_rotation(duration * speed * n))

    return flow


def _fluid_drift(mobility: Mat33) -> Flow:
    """Return the flow of the energy ½ pᵀ A p: the centre moves along R A Rᵀ p."""

    def flow(phase: Array, duration: float) -> None:
        R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
        v = np.einsum("...ij,...j->...i", mobility, rotate_back(R, phase[..., LINEAR]))
        _move(phase, duration * rotate(R, v))

    return flow


def _screw(n: Vec3, s: Vec3, strength: Array) -> Flow:
    """Return the flow of the energy ½ c (s·p + n·L)²: a screw motion about the body's axis n."""
    along = np.sum(n * s, axis=-1, keepdims=True) * n
    across = cross(n, s)

    def flow(phase: Array, duration: float) -> None:
        q = phase[..., ATTITUDE]
        R = rotation_from_unit_quaternion(q)
        p, L = rotate_back(R, phase[..., LINEAR]), rotate_back(R, phase[..., ANGULAR])
        angle = duration * strength * np.sum(s * p + n * L, axis=-1, keepdims=True)
        path = angle * along + np.sin(angle) * (s - along) + (1.0 - np.cos(angle)) * across
        phase[..., ATTITUDE] = quaternion_product(q, exp_rotation(angle * n))
        _move(phase, rotate(R, path))

    return flow


def _move(phase: Array, path: Vec3) -> None:
    """Move the centre along `path`, and keep the momentum L about a fixed point constant."""
    phase[..., POSITION] += path
    phase[..., ANGULAR] -= cross(path, phase[..., LINEAR])
