"""Path of ω in the body (polhode), and rotation about L during a period.

With axis 3 the one encircled and d_ij = |I_i − I_j|:

    X = I₁ d₁₃ ω₁² + I₂ d₂₃ ω₂²,    Y = I₂ d₁₂ ω₂² + I₃ d₁₃ ω₃²
    m = d₁₂ X / (d₂₃ Y),            1 − m = d₁₃ |2 K I_mid − L²| / (d₂₃ Y)
    ω = (A cn u, s r A sn u, C dn u),  u = λ t + u₀,  λ² = d₂₃ Y / (I₁ I₂ I₃),  s = sign(I₃ − I₁)

Reference: Whittaker, "A treatise on the analytical dynamics of particles and rigid bodies" (1917),
§ 69; the angle about L is rearranged (see `attitude.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from scipy.special import ellipkm1

from identify.arrays import Array, Flags, Mat33, Vec3
from identify.simulation.free_rotation.elliptic import (
    JacobiFunctions,
    complete_third_kind,
    incomplete_first_kind,
)
from identify.simulation.free_rotation.principal_spin import principal_spin
from identify.spatial.rotations import vector_norms


class Regime(IntEnum):
    """Kind of motion of the angular velocity in the body."""

    AT_REST = 0
    """No rotation."""
    STEADY = 1
    """ω is constant: about a principal axis, or any axis of a sphere."""
    ABOUT_SMALLEST = 2
    """ω encircles the axis of the smallest moment: 2 K I_mid > L²."""
    ABOUT_LARGEST = 3
    """ω encircles the axis of the largest moment: 2 K I_mid < L²."""
    SEPARATRIX = 4
    """ω tends to the axis of the middle moment, without a period: 2 K I_mid = L²."""


class OrderedSpin(NamedTuple):
    """Principal moments and components of ω, in an order in which ω encircles axis 3.

    I₁ ≥ I₂ ≥ I₃ if axis 3 has the smallest moment, else I₁ ≤ I₂ ≤ I₃; the axes P are
    right-handed with ω₁ ≥ 0 and ω₃ ≥ 0.

    Attributes:
        moments: I₁, I₂, I₃, shape (3, n).
        gaps: |I₁ − I₂| and |I₂ − I₃|, shape (2, n).
        spin: ω₁, ω₂, ω₃, shape (3, n).
        axes: R_BP, shape (n, 3, 3).
        excess: 2 K I_mid − L², shape (n,).
        regime: a `Regime` of each, shape (n,).
    """

    moments: Array
    gaps: Array
    spin: Array
    axes: Mat33
    excess: Array
    regime: np.ndarray

    def select(self, bodies: Flags) -> OrderedSpin:
        """Return the moments and components of some of the bodies."""
        return OrderedSpin(
            self.moments[:, bodies],
            self.gaps[:, bodies],
            self.spin[:, bodies],
            self.axes[bodies],
            self.excess[bodies],
            self.regime[bodies],
        )


def ordered_spin(inertia: Mat33, angular_velocity: Vec3) -> OrderedSpin:
    """Compute principal moments and components of ω, ordered with the encircled axis third.

    `inertia`: about the centre of mass, scaled to order one, shape (n, 3, 3); `angular_velocity`:
    w_WB_B, scaled to order one, shape (n, 3).
    """
    (moments, gaps, spin, terms, excess), axes = principal_spin(inertia, angular_velocity)
    moving = spin != 0.0
    on_outer_axis = (moving[0] ^ moving[2]) & ~moving[1]
    without_terms = (terms == 0.0).all(axis=0)
    regime = np.select(
        [~moving.any(axis=0), on_outer_axis | without_terms, excess > 0.0, excess < 0.0],
        [Regime.AT_REST, Regime.STEADY, Regime.ABOUT_SMALLEST, Regime.ABOUT_LARGEST],
        Regime.SEPARATRIX,
    )
    reverse = excess > 0.0
    moments, gaps, spin = (np.where(reverse, rows[::-1], rows) for rows in (moments, gaps, spin))
    axes = np.where(reverse[:, None, None], axes[:, :, ::-1], axes)
    signs = np.where(spin < 0.0, -1.0, 1.0)
    signs[1] = np.sign(np.linalg.det(axes)) * signs[0] * signs[2]
    return OrderedSpin(moments, gaps, spin * signs, axes * signs.T[:, None], excess, regime)


@dataclass(frozen=True, slots=True)
class Polhode:
    """Constants of motions with varying ω, one entry per body.

    Attributes:
        handedness: s = sign(I₃ − I₁), shape (n,).
        amplitude: amplitudes of ω₁, ω₂ (with s) and ω₃, shape (3, n).
        momentum: I₁ A, s I₂ r A, I₃ C over L: the components of L/|L|, shape (3, n).
        complementary: m₁ = 1 − m; zero on the separatrix, shape (n,).
        rate: λ [1/time], shape (n,).
        half_period: T = 2 K(m) / λ, infinite on the separatrix, shape (n,).
        start: u₀ in [−K, K], shape (n,).
        tilt: ρ = r I₂ / I₁ = √(1 + ν): the azimuth of L in the body is s atan2(ρ sn, cn).
        slow: whether L passes close to axis 3: the second form of the angle is used (ν > 1).
        ratio: κ = I₁ X / (I₃ Y), shape (n,).
        parameter: parameter of the integral of the third kind, ν or, if slow, κ, shape (n,).
        weight: factor of that integral in the angle about L, shape (n,).
        base_rate: L/I₁ or, if slow, L/I₃; on the separatrix L/I₂, shape (n,).
        lag: 2 `weight` D, gain of the angle in half a period in addition to `base_rate` T,
            shape (n,).
    """

    handedness: Array
    amplitude: Array
    momentum: Array
    complementary: Array
    rate: Array
    half_period: Array
    start: Array
    tilt: Array
    slow: Flags
    ratio: Array
    parameter: Array
    weight: Array
    base_rate: Array
    lag: Array

    @property
    def precession(self) -> Array:
        """Angle by which axis 3 turns about L in half a period; infinite on the separatrix."""
        half_turn = np.where(self.slow, np.pi * self.handedness, 0.0)
        return self.base_rate * self.half_period + self.lag + half_turn


def polhode(ordered: OrderedSpin) -> Polhode:
    """Compute the constants of the motion of ω, which must be neither steady nor zero."""
    (I1, I2, I3), (d12, d23), (w1, w2, w3) = ordered.moments, ordered.gaps, ordered.spin
    d13 = d12 + d23
    X = I1 * d13 * w1 * w1 + I2 * d23 * w2 * w2
    Y = I2 * d12 * w2 * w2 + I3 * d13 * w3 * w3
    L = vector_norms((ordered.moments * ordered.spin).T)
    s = np.where(ordered.regime == Regime.ABOUT_SMALLEST, -1.0, 1.0)
    separatrix = ordered.regime == Regime.SEPARATRIX
    m1 = np.where(separatrix, 1.0, d13 * np.abs(ordered.excess) / (d23 * Y))
    rate = np.sqrt(d23 * Y / (I1 * I2 * I3))
    nu, kappa = I3 * d12 / (I1 * d23), I1 * X / (I3 * Y)
    slow = (nu > 1.0) & ~separatrix
    common = s * L * d13 / (I1 * rate)
    weight = np.where(slow, common * kappa / I3, -common * d12 / (I1 * d23))
    r = np.sqrt(I1 * d13 / (I2 * d23))
    amplitude = np.sqrt(np.stack((X / (I1 * d13), X / (I2 * d23), Y / (I3 * d13))))
    amplitude[1] *= s
    sine = s * w2 / r
    cosine = w1
    dn = w3 / amplitude[2]
    length = np.hypot(sine, cosine)
    sn, cn = sine / length, cosine / length
    hyperbolic = np.arcsinh(sn / np.where(separatrix, cn, 1.0))
    bounded = JacobiFunctions(sn, np.where(separatrix, 1.0, cn), np.where(separatrix, 1.0, dn))
    parameter = np.where(slow, kappa, nu)
    return Polhode(
        handedness=s,
        amplitude=amplitude,
        momentum=ordered.moments * amplitude / L,
        complementary=np.where(separatrix, 0.0, m1),
        rate=rate,
        half_period=np.where(separatrix, np.inf, 2.0 * ellipkm1(m1) / rate),
        start=np.where(separatrix, hyperbolic, incomplete_first_kind(bounded)),
        tilt=np.sqrt(1.0 + nu),
        slow=slow,
        ratio=kappa,
        parameter=parameter,
        weight=weight,
        base_rate=L / np.where(separatrix, I2, np.where(slow, I3, I1)),
        lag=2.0 * weight * complete_third_kind(m1, parameter),
    )
