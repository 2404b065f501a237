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

import numpy as np

from identify.arrays import Array
from identify.simulation.layered.vector_rows import cross_into, euler_term_into
from identify.simulation.layered.workspace import TURNS, Workspace

_MOST_TERMS = 8


def turns(
    theta: Array, ratios: Array, torque: Array | None, workspace: Workspace
) -> tuple[Array, Array]:
    """Rotations of the steps of a chunk.

    Args:
        theta: θ in P at the nodes, shape (3, steps + 1, bodies).
        ratios: a, shape (3, 1, bodies).
        torque: τ at the nodes where it is a straight line between them, else None.
        workspace: where they are worked out and left.

    Returns:
        sin|σ| σ/|σ| in P, shape (3, steps, bodies), and cos|σ|, shape (steps, bodies).
    """
    steps = theta.shape[1] - 1
    turn, scratch, functions = (workspace.rows(TURNS + first, 3, steps) for first in (0, 3, 6))
    slope = workspace.rows(TURNS + 9, 3, steps + 1)
    _six_sigma_into(turn, theta, euler_term_into(slope, ratios, theta), torque, scratch)
    square, sine, cosine = functions
    _half_angle_functions(turn, square, scratch[0], sine, cosine)
    turn *= sine
    return turn, cosine


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
) -> None:
    """sin|σ| / (6|σ|) into `sine` and cos|σ| into `cosine`, from 6σ, shape (3, steps, bodies)."""
    np.multiply(six_sigma[0], six_sigma[0], out=square)
    for component in six_sigma[1:]:
        np.multiply(component, component, out=scratch)
        square += scratch
    square *= 1.0 / 36.0
    terms = _terms_needed(float(square.max(initial=0.0)))
    if terms is None:
        np.sqrt(square, out=square)
        np.maximum(square, np.finfo(float).tiny, out=square)
        np.cos(square, out=cosine)
        np.sin(square, out=sine)
        sine /= square
        sine /= 6.0
        return
    _horner(sine, square, [(-1.0) ** k / (6.0 * factorial(2 * k + 1)) for k in range(terms)])
    _horner(cosine, square, [(-1.0) ** k / factorial(2 * k) for k in range(terms + 1)])


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
