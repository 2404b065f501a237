"""Jacobi's functions and elliptic integrals from the complementary parameter m₁ = 1 − m.

Near the separatrix m₁ is tiny, and computed from m it would be lost in rounding.

References: Bulirsch, "Numerical calculation of elliptic integrals and elliptic functions" (1965);
Carlson, "Numerical computation of real or complex elliptic integrals" (1995).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import elliprf, elliprj

from identify.arrays import Array

_AGM_TOLERANCE = 1e-8
"""Relative difference of the arithmetic and geometric mean before the last step."""

_MAX_AGM_STEPS = 40
"""Maximum number of steps of the arithmetic-geometric mean, for any m₁ in doubles."""

_MIN_SINE = 1e-140
"""Minimum magnitude of the sine, so that the square of the cotangent does not overflow."""


class JacobiFunctions(NamedTuple):
    """Jacobi's elliptic functions sn u, cn u and dn u."""

    sn: Array
    cn: Array
    dn: Array


class JacobiEvaluator:
    """Jacobi's functions of many arguments at fixed parameters, by descending Gauss steps."""

    __slots__ = ("_last", "_limit", "_pairs")

    def __init__(self, m1: Array) -> None:
        """Precompute arithmetic-geometric means for 0 ≤ m₁ ≤ 1 (m₁ = 0: hyperbolic functions)."""
        self._limit = m1 == 0.0
        arithmetic, geometric = np.ones_like(m1), np.sqrt(np.where(self._limit, 1.0, m1))
        self._pairs: list[tuple[Array, Array]] = []
        for _ in range(_MAX_AGM_STEPS):
            self._pairs.append((arithmetic, geometric))
            done = np.abs(arithmetic - geometric) <= _AGM_TOLERANCE * arithmetic
            arithmetic, geometric = (
                0.5 * (arithmetic + geometric),
                np.sqrt(arithmetic * geometric),
            )
            if np.all(done):
                break
        self._last = arithmetic

    def __call__(self, u: Array) -> JacobiFunctions:
        """Evaluate the functions of arguments that broadcast with the parameters, −K ≤ u ≤ K."""
        angle = self._last * u
        sine = np.sin(angle)
        safe = np.copysign(np.maximum(np.abs(sine), _MIN_SINE), sine)
        cot = np.cos(angle) / safe
        a = cot
        c = self._last * cot
        dn = np.ones_like(cot)
        for arithmetic, geometric in reversed(self._pairs):
            a = a * c
            c = c * dn
            dn = (geometric + a) / (arithmetic + a)
            a = c / arithmetic
        sn = np.copysign(1.0 / np.sqrt(1.0 + c * c), safe)
        cn = c * sn
        if not np.any(self._limit):
            return JacobiFunctions(sn, cn, dn)
        sech = 2.0 * np.exp(-np.abs(u)) / (1.0 + np.exp(-2.0 * np.abs(u)))
        return JacobiFunctions(
            np.where(self._limit, np.tanh(u), sn),
            np.where(self._limit, sech, cn),
            np.where(self._limit, sech, dn),
        )


def incomplete_first_kind(functions: JacobiFunctions) -> Array:
    """Return the elliptic integral of the first kind, sn R_F(cn², dn², 1), for cn ≥ 0."""
    sn, cn, dn = functions
    return sn * elliprf(cn * cn, dn * dn, 1.0)


def incomplete_third_kind(functions: JacobiFunctions, p: Array) -> Array:
    """Return the elliptic integral ∫₀ᵘ sn² / (1 + p sn²) du of the third kind, for cn, p ≥ 0."""
    sn, cn, dn = functions
    square = sn * sn
    return sn * square / 3.0 * elliprj(cn * cn, dn * dn, 1.0, 1.0 + p * square)


def complete_third_kind(m1: Array, p: Array) -> Array:
    """Return the complete elliptic integral ∫ sin²θ / ((1 + p sin²θ) √(1 − m sin²θ)) dθ, m₁ > 0."""
    return elliprj(0.0, m1, 1.0, 1.0 + p) / 3.0
