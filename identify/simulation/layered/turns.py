"""Layer 2a, turns: the rotation of each step from angular velocity at its two ends.

Magnus' expansion to order four, with the integral of ω and of its commutator taken from a cubic
through the values and slopes at both ends. With θ = (h/2) ω in axes of the body and G = (h²/4) α,
the angular acceleration in the same units,

    σ = (θ0 + θ1)/2 + (G0 − G1 + θ0 × θ1)/6,        Δq = (sin|σ| σ/|σ|, cos|σ|)

where |σ| is half the angle turned. In principal axes G = a ∘ (θ2 θ3, …) + τ; a torque that is held
drops out of the difference. (Iserles, Munthe-Kaas, Nørsett and Zanna, Lie-group methods, 2000.)
"""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.simulation.layered.vector_rows import cross_into, euler_term_into
from identify.simulation.layered.workspace import TURNS, Workspace

_MOST_TERMS = 8


class Turns(NamedTuple):
    """Rotations of the steps of a chunk.

    Attributes:
        vector: sin|σ| σ/|σ| in P, shape (3, steps, bodies).
        scalar: cos|σ|, shape (steps, bodies).
        square: |σ|², of half the angle, shape (steps, bodies).
        largest: of them; NaN where one is.
    """

    vector: Array
    scalar: Array
    square: Array
    largest: float


def turns(theta: Array, ratios: Array, torque: Array | None, workspace: Workspace) -> Turns:
    """Rotations of the steps of a chunk.

    Args:
        theta: θ in P at the nodes, shape (3, steps + 1, bodies).
        ratios: a, shape (3, 1, bodies).
        torque: τ at the nodes where it is a straight line between them, else None.
        workspace: where they are worked out and left, for the next layer to write over.
    """
    steps = theta.shape[1] - 1
    turn, scratch, functions = (workspace.rows(TURNS + first, 3, steps) for first in (0, 3, 6))
    slope = workspace.rows(TURNS + 9, 3, steps + 1)
    _six_sigma_into(turn, theta, euler_term_into(slope, ratios, theta), torque, scratch)
    square, sine, cosine = functions
    largest = _half_angle_functions(turn, square, scratch[0], sine, cosine)
    turn *= sine
    return Turns(turn, cosine, square, largest)


def _six_sigma_into(
    out: Array, theta: Array, slope: Array, torque: Array | None, scratch: Array
) -> None:
    """6 σ = θ0 × θ1 + G0 − G1 + 3 (θ0 + θ1)."""
    if torque is not None:
        slope += torque
    cross_into(out, theta[:, :-1], theta[:, 1:], scratch)
    out += slope[:, :-1]
    out -= slope[:, 1:]
    np.add(theta[:, :-1], theta[:, 1:], out=scratch)
    scratch *= 3.0
    out += scratch


def _half_angle_functions(
    six_sigma: Array, square: Array, scratch: Array, sine: Array, cosine: Array
) -> float:
    """sin|σ| / (6|σ|) into `sine` and cos|σ| into `cosine`, from 6σ, shape (3, steps, bodies).

    Returns:
        The largest |σ|².
    """
    np.multiply(six_sigma[0], six_sigma[0], out=square)
    for component in six_sigma[1:]:
        np.multiply(component, component, out=scratch)
        square += scratch
    square *= 1.0 / 36.0
    largest = float(square.max(initial=0.0))
    terms = _terms_needed(largest)
    if terms is None:
        half_angle = np.sqrt(square, out=scratch)
        np.maximum(half_angle, np.finfo(float).tiny, out=half_angle)
        np.cos(half_angle, out=cosine)
        np.sin(half_angle, out=sine)
        sine /= half_angle
        sine /= 6.0
        return largest
    _horner(sine, square, [(-1.0) ** k / (6.0 * factorial(2 * k + 1)) for k in range(terms)])
    _horner(cosine, square, [(-1.0) ** k / factorial(2 * k) for k in range(terms + 1)])
    return largest


def _terms_needed(largest: float) -> int | None:
    """Terms of sin x / x for |x|² up to `largest`, exact to rounding; None where sines are used.

    What is left of the cosine after one term more is x^(2k+2)/(2k+2)!, that of sin x / x
    x^(2k)/(2k+1)!.
    """
    for terms in range(2, _MOST_TERMS + 1):
        if largest**terms / factorial(2 * terms + 1) < 2.0**-55:
            return terms
    return None


def _horner(out: Array, x: Array, coefficients: list[float]) -> None:
    """The polynomial with the given coefficients, constant first, written into `out`."""
    np.multiply(x, coefficients[-1], out=out)
    for coefficient in coefficients[-2:0:-1]:
        out += coefficient
        out *= x
    out += coefficients[0]
