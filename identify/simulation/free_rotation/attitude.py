"""Attitude and angular velocity of a free body at any time, from constants of its polhode.

In a frame whose third axis is along L, the attitude of the body is Rz(χ) ⊗ q_min, where q_min is
the shortest rotation of the direction of L in the body to that axis and χ = ψ − φ: ψ is the angle
of axis 3 about L, φ the azimuth of L in the body; χ is continuous where both jump. With
D_p(u) = ∫ sn² / (1 + p sn²) du and ν = I₃ d₁₂ / (I₁ d₂₃), ρ² = 1 + ν, κ = I₁ X / (I₃ Y),

    χ = L t / I₁ − s (L d₁₂ d₁₃ / (I₁² d₂₃ λ)) D_ν(u) − s atan2(ρ sn, cn)
      = L t / I₃ + s (L d₁₃ κ / (I₁ I₃ λ)) D_κ(u)
          + s atan2(ρ sn cn (κ + m sn²) / (√(1+κ) + dn), cn² dn + ρ² √(1+κ) sn²)

The first form is used for ν ≤ 1, the second for ν > 1: the factor of D is then of order one and
L/I₁ or L/I₃ is near the true rate, so that no digits cancel for any moments. The second form
follows from the first by Carlson's relation between R_J(p) and R_J(q) (DLMF 19.21.12).

Time is divided into half periods T = 2 K / λ: χ gains the same in each, and u is in [−K, K].
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Vec3, Vec4
from identify.simulation.free_rotation.checks import require_known_angle
from identify.simulation.free_rotation.elliptic import (
    JacobiEvaluator,
    JacobiFunctions,
    incomplete_third_kind,
)
from identify.simulation.free_rotation.polhode import OrderedSpin, polhode
from identify.spatial import quaternion_from_rotation, quaternion_product
from identify.spatial.rotations import quaternion_conjugate

_MAX_HALF_PERIODS = 2.0**52
"""Maximum number of half periods of ω; a larger number is not exact in doubles."""


class PolhodeRotation:
    """Closed-form rotation of bodies whose ω moves along a polhode, at any time."""

    __slots__ = ("_axes", "_evaluate", "_frames", "_polhode")

    def __init__(self, ordered: OrderedSpin, quaternion: Vec4) -> None:
        """Compute the constants of n bodies at attitudes R_WB, shape (n, 4), at time zero."""
        self._axes, self._polhode = ordered.axes, polhode(ordered)
        self._evaluate = JacobiEvaluator(self._polhode.complementary[:, None])
        first = self._in_principal_axes(np.zeros((len(quaternion), 1)))[0][..., 0]
        q_PB = quaternion_conjugate(quaternion_from_rotation(self._axes))
        q_BN = quaternion_conjugate(quaternion_product(first, q_PB))
        q_WN = quaternion_product(quaternion, q_BN)
        # The matrices, shape (n, 4, 4), of q_NP ↦ q_WN ⊗ q_NP ⊗ q_PB = q_WB.
        from_left = quaternion_product(q_WN[:, None], np.eye(4)).swapaxes(1, 2)
        from_right = quaternion_product(np.eye(4), q_PB[:, None]).swapaxes(1, 2)
        self._frames = from_left @ from_right

    def at(self, time: Array) -> tuple[Vec4, Vec3]:
        """Return attitude R_WB (n, k, 4) and angular velocity w_WB_B (n, k, 3) at times (n, k)."""
        q_NP, w = self._in_principal_axes(time)
        return (self._frames @ q_NP).swapaxes(1, 2), (self._axes @ w).swapaxes(1, 2)

    def _in_principal_axes(self, time: Array) -> tuple[Vec4, Vec3]:
        """Return attitudes R_NP (n, 4, k) and ω in P (n, 3, k), with N's third axis along L."""
        p = self._polhode
        rate = p.rate[:, None]
        start = p.start[:, None]
        T = p.half_period[:, None]
        halves = np.rint((time + start / rate) / T)
        require_known_angle(halves, _MAX_HALF_PERIODS)
        functions = self._evaluate(rate * (time - np.where(np.isinf(T), 0.0, T) * halves) + start)
        gain = (p.lag - np.where(p.slow, 0.0, np.pi * p.handedness))[:, None] * halves
        angle = p.base_rate[:, None] * time + gain + self._periodic_angle(functions)
        sign = np.where(halves % 2.0 == 0.0, 1.0, -1.0)
        components = np.stack((sign * functions.cn, sign * functions.sn, functions.dn), axis=1)
        direction = p.momentum.T[:, :, None] * components
        w = p.amplitude.T[:, :, None] * components
        return _attitude(direction, angle), w

    def _periodic_angle(self, functions: JacobiFunctions) -> Array:
        """Compute the periodic part of the rotation angle about the momentum L."""
        p = self._polhode
        sn, cn, dn = functions
        s, rho = p.handedness[:, None], p.tilt[:, None]
        kappa = np.where(p.slow, p.ratio, 0.0)[:, None]
        m = 1.0 - p.complementary[:, None]
        mu = np.sqrt(1.0 + kappa)
        slow = p.slow[:, None]
        azimuth = s * np.arctan2(
            np.where(slow, rho * sn * cn * (kappa + m * sn * sn) / (mu + dn), -rho * sn),
            np.where(slow, cn * cn * dn + rho * rho * mu * sn * sn, cn),
        )
        parameter = p.parameter[:, None]
        limit = p.complementary[:, None] == 0.0
        if not np.any(limit):
            return azimuth + p.weight[:, None] * incomplete_third_kind(functions, parameter)
        # On the separatrix D_ν(u) = (u − atan(√ν sn)/√ν)/(1 + ν); the part in u is in the rate.
        bounded = JacobiFunctions(*(np.where(limit, 1.0, value) for value in functions))
        third = p.weight[:, None] * incomplete_third_kind(bounded, parameter)
        on_separatrix = s * np.arctan(np.sqrt(parameter) * sn)
        return azimuth + np.where(limit, on_separatrix, third)


def _attitude(direction: Vec3, angle: Array) -> Vec4:
    """Return Rz(angle) ⊗ the shortest rotation of a direction (l₃ ≥ 0) to the third axis."""
    x, y, z = np.moveaxis(direction, 1, 0)
    norm = np.sqrt(x * x + y * y + z * z)
    plane = (y - 1j * x) * np.exp(0.5j * angle)
    polar = (norm + z) * np.exp(0.5j * angle)
    q = np.stack((plane.real, plane.imag, polar.imag, polar.real), axis=1)
    return q / np.sqrt(2.0 * norm * (norm + z))[:, None]
