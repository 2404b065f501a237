"""The path of ω in the body, and what turns about L while it goes round once.

With axis 3 the one encircled and d_ij = |I_i − I_j|:

    X = I₁ d₁₃ ω₁² + I₂ d₂₃ ω₂²,    Y = I₂ d₁₂ ω₂² + I₃ d₁₃ ω₃²
    m = d₁₂ X / (d₂₃ Y),            1 − m = d₁₃ |2 K I_mid − L²| / (d₂₃ Y)
    ω = (A cn u, s r A sn u, C dn u),  u = λ t + u₀,  λ² = d₂₃ Y / (I₁ I₂ I₃),  s = sign(I₃ − I₁)

All differences and sums are formed to twice the precision, so that nothing is lost near the
separatrix or for nearly equal moments.

Reference: Whittaker, "A treatise on the analytical dynamics of particles and rigid bodies" (1917),
§ 69; the angle about L is rearranged (see `attitude.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Vec3
from identify.simulation.free_rotation.double_double import (
    PI,
    DoubleDouble,
    double_double,
    sqrt,
    total,
    where,
)
from identify.simulation.free_rotation.elliptic import (
    JacobiFunctions,
    complete_integrals,
    incomplete_first,
)
from identify.simulation.free_rotation.principal_moments import (
    principal_moments,
    take,
    take_columns,
)

_NEGLIGIBLE = 1e-110
"""Components of ω below this, relative to the largest, are zero: their squares would underflow."""


class Regime(IntEnum):
    """What the angular velocity does in the body."""

    AT_REST = 0
    """There is none."""
    STEADY = 1
    """It is constant: about a principal axis, or any axis of a sphere."""
    ABOUT_SMALLEST = 2
    """It encircles the axis of the smallest moment: 2 K I_mid > L²."""
    ABOUT_LARGEST = 3
    """It encircles the axis of the largest moment: 2 K I_mid < L²."""
    SEPARATRIX = 4
    """It tends to the axis of the middle moment and never comes back: 2 K I_mid = L²."""


class OrderedSpin(NamedTuple):
    """Principal moments and components, numbered so that axis 3 is the one encircled.

    I₁ ≥ I₂ ≥ I₃ where it belongs to the smallest moment, I₁ ≤ I₂ ≤ I₃ elsewhere; the axes P are
    right-handed with ω₁ ≥ 0 and ω₃ ≥ 0.

    Attributes:
        moments: I₁, I₂, I₃, shape (3, n).
        deviations: the same less one number, to form differences of, shape (3, n).
        spin: ω₁, ω₂, ω₃, shape (3, n).
        axes: R_BP, shape (3, 3, n).
        excess: 2 K I_mid − L², shape (n,).
        regime: a `Regime` of each, shape (n,).
    """

    moments: DoubleDouble
    deviations: DoubleDouble
    spin: DoubleDouble
    axes: Array
    excess: DoubleDouble
    regime: np.ndarray

    def of(self, bodies: Flags) -> OrderedSpin:
        """Those of some bodies."""
        return OrderedSpin._make(field[..., bodies] for field in self)


def ordered_spin(inertia: DoubleDouble, angular_velocity: Vec3) -> OrderedSpin:
    """Principal moments and components of ω in the order of their motion.

    Args:
        inertia: about the centre of mass, in units in which it is of order one, shape (3, 3, n).
        angular_velocity: w_WB_B in such units, shape (n, 3).
    """
    moments, deviations, axes = principal_moments(inertia)
    spin = total(axes * double_double(angular_velocity.T)[:, None], axis=0)
    largest = np.abs(spin.high).max(axis=0)
    spin = where(np.abs(spin.high) > _NEGLIGIBLE * largest, spin, 0.0)

    smallest_term = moments[0] * (deviations[1] - deviations[0]) * spin[0] * spin[0]
    largest_term = moments[2] * (deviations[2] - deviations[1]) * spin[2] * spin[2]
    excess = smallest_term - largest_term
    moving = np.abs(spin.high) > 0.0
    on_an_outer_axis = (moving[0] ^ moving[2]) & ~moving[1]
    neither = (smallest_term.high == 0.0) & (largest_term.high == 0.0)
    steady = on_an_outer_axis | neither
    regime = np.select(
        [~moving.any(axis=0), steady, excess.high > 0.0, excess.high < 0.0],
        [Regime.AT_REST, Regime.STEADY, Regime.ABOUT_SMALLEST, Regime.ABOUT_LARGEST],
        Regime.SEPARATRIX,
    )

    descending = excess.high > 0.0
    order = np.where(descending, np.array([[2], [1], [0]]), np.array([[0], [1], [2]]))
    moments, deviations, spin = (take(rows, order) for rows in (moments, deviations, spin))
    axes = take_columns(axes, order)
    signs = np.where(spin.high < 0.0, -1.0, 1.0)
    handed = np.sign(np.linalg.det(np.moveaxis(axes.high, -1, 0)))
    signs[1] = handed * signs[0] * signs[2]
    return OrderedSpin(moments, deviations, spin * signs, axes.value * signs, excess, regime)


@dataclass(frozen=True, slots=True)
class Polhode:
    """Constants of motions whose ω is not constant, one entry a body.

    Attributes:
        handedness: s = sign(I₃ − I₁), shape (n,).
        amplitude: of ω₁, ω₂ (with s) and ω₃, shape (3, n).
        momentum: I₁ A, s I₂ r A, I₃ C over L: the components of L/|L|, shape (3, n).
        complementary: m₁ = 1 − m; zero on the separatrix, shape (n,).
        rate: λ [1/time], shape (n,).
        half_period: T = 2 K(m) / λ, infinite on the separatrix, shape (n,).
        start: u₀ in [−K, K], shape (n,).
        tilt: ρ = r I₂ / I₁ = √(1 + ν): the azimuth of L in the body is s atan2(ρ sn, cn).
        slow: whether L passes so close to axis 3 that the second form of the angle serves (ν > 1).
        ratio: κ = I₁ X / (I₃ Y), shape (n,).
        parameter: of the integral of the third kind, ν or, where slow, κ, shape (n,).
        weight: its factor in the angle about L, shape (n,).
        base_rate: L/I₁ or, where slow, L/I₃; on the separatrix L/I₂, shape (n,).
        precession: angle by which axis 3 turns about L in half a period, shape (n,).
        turn: the same in the frame that turns with the body about axis 3, shape (n,).
    """

    handedness: Array
    amplitude: Array
    momentum: Array
    complementary: Array
    rate: DoubleDouble
    half_period: DoubleDouble
    start: Array
    tilt: Array
    slow: Flags
    ratio: Array
    parameter: Array
    weight: Array
    base_rate: DoubleDouble
    precession: DoubleDouble
    turn: DoubleDouble


def polhode(ordered: OrderedSpin) -> Polhode:
    """Constants of the motion of ω from where it is now; none may be steady or at rest."""
    moments, deviations, spin = ordered.moments, ordered.deviations, ordered.spin
    I1, I2, I3 = moments[0], moments[1], moments[2]
    d12, d23, d13 = (abs(deviations[i] - deviations[j]) for i, j in ((0, 1), (1, 2), (0, 2)))
    square = spin * spin
    X = I1 * d13 * square[0] + I2 * d23 * square[1]
    Y = I2 * d12 * square[1] + I3 * d13 * square[2]
    L = sqrt(total(moments * moments * square))
    s = np.where(ordered.regime == Regime.ABOUT_SMALLEST, -1.0, 1.0)

    separatrix = ordered.regime == Regime.SEPARATRIX
    m1 = d13 * abs(ordered.excess) / (d23 * Y)
    rate = sqrt(d23 * Y / (I1 * I2 * I3))
    nu = I3 * d12 / (I1 * d23)
    kappa = I1 * X / (I3 * Y)
    A, C = sqrt(X / (I1 * d13)), sqrt(Y / (I3 * d13))
    r = sqrt(I1 * d13 / (I2 * d23))
    sine, cosine, dn = (s * spin[1] / r).value, spin[0].value, (spin[2] / C).value
    length = np.hypot(sine, cosine)
    sn, cn = sine / length, cosine / length
    hyperbolic = np.arcsinh(sn / np.where(separatrix, cn, 1.0))
    bounded = JacobiFunctions(sn, np.where(separatrix, 1.0, cn), np.where(separatrix, 1.0, dn))

    slow = (nu.high > 1.0) & ~separatrix
    parameter = where(slow, kappa, nu)
    common = L * d13 / (I1 * rate)
    weight = s * where(slow, common * kappa / I3, -common * d12 / (I1 * d23))
    base_rate = L / where(separatrix, I2, where(slow, I3, I1))
    K, D = complete_integrals(where(separatrix, 1.0, m1), parameter)
    half_period = where(separatrix, np.inf, 2.0 * K / rate)
    turn = base_rate * where(separatrix, 0.0, half_period) + 2.0 * weight * D
    half_turn = PI * s
    return Polhode(
        handedness=s,
        amplitude=np.stack((A.value, s * (r * A).value, C.value)),
        momentum=np.stack(((I1 * A / L).value, s * (I2 * r * A / L).value, (I3 * C / L).value)),
        complementary=np.where(separatrix, 0.0, m1.value),
        rate=rate,
        half_period=half_period,
        start=np.where(separatrix, hyperbolic, incomplete_first(bounded)),
        tilt=sqrt(1.0 + nu).value,
        slow=slow,
        ratio=kappa.value,
        parameter=parameter.value,
        weight=weight.value,
        base_rate=base_rate,
        precession=where(slow, turn + half_turn, turn),
        turn=where(slow, turn, turn - half_turn),
    )
