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

import numpy as np

from identify.arrays import Array, Flags
from identify.simulation.free_rotation.double_double import (
    PI,
    DoubleDouble,
    sqrt,
    total,
    where,
)
from identify.simulation.free_rotation.elliptic import (
    JacobiFunctions,
    complete_integrals,
    incomplete_first,
)
from identify.simulation.free_rotation.regimes import OrderedSpin, Regime


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
    start = JacobiFunctions(*_circle((s * spin[1] / r).value, spin[0].value), (spin[2] / C).value)

    slow = (nu.high > 1.0) & ~separatrix
    parameter = where(slow, kappa, nu)
    common = L * d13 / (I1 * rate)
    weight = s * where(slow, common * kappa / I3, -common * d12 / (I1 * d23))
    base_rate = L / where(separatrix, I2, where(slow, I3, I1))
    quarter = complete_integrals(where(separatrix, 1.0, m1), parameter)
    half_period = where(separatrix, np.inf, 2.0 * quarter.K / rate)
    turn = base_rate * where(separatrix, 0.0, half_period) + 2.0 * weight * quarter.D
    half_turn = PI * s
    return Polhode(
        handedness=s,
        amplitude=np.stack((A.value, s * (r * A).value, C.value)),
        momentum=np.stack(((I1 * A / L).value, s * (I2 * r * A / L).value, (I3 * C / L).value)),
        complementary=np.where(separatrix, 0.0, m1.value),
        rate=rate,
        half_period=half_period,
        start=_start(start, separatrix),
        tilt=sqrt(1.0 + nu).value,
        slow=slow,
        ratio=kappa.value,
        parameter=parameter.value,
        weight=weight.value,
        base_rate=base_rate,
        precession=where(slow, turn + half_turn, turn),
        turn=where(slow, turn, turn - half_turn),
    )


def _start(functions: JacobiFunctions, separatrix: Flags) -> Array:
    """The argument u₀ of the motion as it is now."""
    bounded = JacobiFunctions(
        functions.sn,
        np.where(separatrix, 1.0, functions.cn),
        np.where(separatrix, 1.0, functions.dn),
    )
    hyperbolic = np.arcsinh(functions.sn / np.where(separatrix, functions.cn, 1.0))
    return np.where(separatrix, hyperbolic, incomplete_first(bounded))


def _circle(sine: Array, cosine: Array) -> tuple[Array, Array]:
    """The pair scaled to the unit circle."""
    length = np.hypot(sine, cosine)
    return sine / length, cosine / length
