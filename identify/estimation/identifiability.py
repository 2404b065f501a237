"""What the data identify: directions of the unknowns that stand out of the motion's noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array

HALF_WIDTH = 1.96
"""Standard errors in a 95 % half-width."""

_NOISE_SHARE = 2.0
"""How often the noise floor is taken off the excitation: once for what noise adds on average, once
more because its level is itself read off the log."""

_NOTHING = 1e-13
"""Excitation below this share of the whole is rounding."""

TRACE = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
"""Picks the trace of the inertia out of the ten parameters."""


@dataclass(frozen=True, slots=True)
class Identifiability:
    """The scaled space of unknowns, split by what the data identify.

    A direction is identifiable where its 95 % half-width, with the motion's noise counted, is below
    the body's own scale.

    Attributes:
        identifiable: columns that span the directions the data identify, shape (p, k).
        unidentifiable: columns that span those they do not, of one body scale each, shape (p, j).
        free: columns that span both: what equalities leave open, shape (p, k + j).
        half_widths: of each scaled unknown, relative to its scale, shape (p,).
        resolved: columns that span every direction with more excitation than noise, shape (p, r).
        size_errors: standard error of the trace of each body's scaled inertia; infinite where that
            is not resolved.
    """

    identifiable: Array
    unidentifiable: Array
    free: Array
    half_widths: Array
    resolved: Array
    size_errors: tuple[float, ...]

    @property
    def complete(self) -> bool:
        """Whether the data identify every direction."""
        return self.unidentifiable.size == 0


def identifiability(
    scaled_matrix: Array, noise_rows: Array, units: Array, free: Array, bodies: int
) -> Identifiability:
    """Split the space of unknowns by the excitation that is left once noise is taken off.

    Noise in acceleration or attitude looks like motion: it enters AᵀA as n N. What remains of AᵀA
    without it is what the body's motion excites. The least that is known of any direction, without
    data, is the body's own scale.

    Args:
        scaled_matrix: A of the whitened problem in scaled unknowns, shape (p, p).
        noise_rows: a root of n N in the same unknowns, shape (l, p).
        units: the scale of each scaled unknown, shape (p,).
        free: columns that span what equalities leave open, in unknowns divided by `units`.
        bodies: how many bodies the unknowns begin with.
    """
    free = units[:, None] * free
    along, noise = scaled_matrix @ free, noise_rows @ free
    information = along.T @ along
    clean = information - _NOISE_SHARE * (noise.T @ noise)
    values, vectors = np.linalg.eigh(0.5 * (clean + clean.T))
    resolved = values > _NOTHING * float(np.trace(information))
    errors = np.full(len(values), np.inf)
    errors[resolved] = values[resolved] ** -0.5
    found = HALF_WIDTH * errors < 1.0
    directions = free @ vectors
    spread = np.minimum(errors, 1.0)
    return Identifiability(
        identifiable=directions[:, found],
        unidentifiable=directions[:, ~found],
        free=free,
        half_widths=HALF_WIDTH * np.linalg.norm(directions / units[:, None] * spread, axis=1),
        resolved=directions[:, resolved],
        size_errors=tuple(
            _size_error(directions[10 * body : 10 * body + 10], errors) for body in range(bodies)
        ),
    )


def _size_error(directions: Array, errors: Array) -> float:
    weights = TRACE @ directions
    matters = np.abs(weights) > 1e-3 * np.abs(weights).max()
    return float(np.linalg.norm(weights[matters] * errors[matters]))


def free_directions(equalities: Array) -> Array:
    """Columns that span the null space of rows E: unit vectors where E fixes single unknowns.

    Args:
        equalities: shape (k, p), of full rank.

    Returns:
        Shape (p, p − k).
    """
    p = equalities.shape[1]
    touched = equalities != 0.0
    if (touched.sum(axis=1) == 1).all():
        return np.eye(p)[:, ~touched.any(axis=0)]
    return np.linalg.qr(equalities.T, mode="complete")[0][:, len(equalities) :]
