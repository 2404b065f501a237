"""What the data identify: directions of the unknowns that stand out of the motion's noise.

Fuller, "Measurement error models" (1987).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.regressors.triangular import cholesky, qr_factor, solve_transposed, whiten_moment
from identify.significance import HALF_WIDTH_SIGMA

_MOST_CORRECTED = 0.95
"""Share of the excitation along a direction that is taken off as noise, at the most: with more the
corrected equations would turn indefinite (Fuller 1987)."""

LEVEL_KNOWN = 0.3
"""Relative error of that noise: its level is itself read off the log."""

LEAST_KNOWN = 3.0
"""Scales of the body within which any unknown is, where that share is worked out."""

NOTHING = 1e-13
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
        errors: standard error along each of those, in body scales, shape (r,).
        size_errors: standard error of the trace of each body's scaled inertia; infinite where that
            is not resolved.
    """

    identifiable: Array
    unidentifiable: Array
    free: Array
    half_widths: Array
    resolved: Array
    errors: Array
    size_errors: tuple[float, ...]

    @property
    def complete(self) -> bool:
        """Whether the data identify every direction."""
        return self.unidentifiable.size == 0


def identifiability(
    scaled_matrix: Array,
    noise: Array,
    noise_scatter: Array,
    units: Array,
    free: Array,
    bodies: int,
) -> Identifiability:
    """Split the space of unknowns by how well the data fix each direction once noise is taken off.

    Noise in acceleration or attitude looks like motion: it enters AᵀA as N. What remains of AᵀA
    without it is what the body's motion excites. The least that is known of any direction, without
    data, is the body's own scale.

    Args:
        scaled_matrix: A of the whitened problem in scaled unknowns, shape (p, p).
        noise: N in the same unknowns, shape (p, p).
        noise_scatter: scatter of the scores from the noise cross term, in the same, shape (p, p).
        units: the scale of each scaled unknown, shape (p,).
        free: columns that span what equalities leave open, in unknowns divided by `units`.
        bodies: how many bodies the unknowns begin with.
    """
    free = units[:, None] * free
    along = scaled_matrix @ free
    count = free.shape[1]
    weak = np.eye(count) / LEAST_KNOWN
    R = qr_factor(np.concatenate((along, weak)))
    noise = free.T @ noise @ free
    root = R
    if noise.any():
        shares, U = np.linalg.eigh(whiten_moment(noise, R))
        root = np.sqrt(1.0 - np.clip(shares, 0.0, _MOST_CORRECTED))[:, None] * (U.T @ R)
    clean = root.T @ root - weak.T @ weak
    values, vectors = np.linalg.eigh(0.5 * (clean + clean.T))
    information = float(np.linalg.norm(along) ** 2)
    resolved = values > NOTHING * information
    # B⁻¹ (H + X) B⁻¹ along the eigenvectors of B, and what an error of N does to one body scale
    scatter = along.T @ along + free.T @ noise_scatter @ free
    turned = vectors[:, resolved] / values[resolved]
    errors = np.full(count, np.inf)
    known = vectors[:, resolved]
    of_level = LEVEL_KNOWN * (known * (noise @ known)).sum(axis=0)
    # X is no square: large, it could make less of H than nothing.
    of_rows = ((along @ turned) ** 2).sum(axis=0)
    by_chance = np.maximum(np.einsum("ij,ik,kj->j", turned, scatter, turned), of_rows)
    errors[resolved] = np.sqrt(by_chance + (of_level / values[resolved]) ** 2)
    found = HALF_WIDTH_SIGMA * errors < 1.0
    directions = free @ vectors
    spread = np.minimum(errors, 1.0)
    return Identifiability(
        identifiable=directions[:, found],
        unidentifiable=directions[:, ~found],
        free=free,
        half_widths=HALF_WIDTH_SIGMA * np.linalg.norm(directions / units[:, None] * spread, axis=1),
        resolved=directions[:, resolved],
        errors=errors[resolved],
        size_errors=tuple(
            _size_error(directions[10 * body : 10 * body + 10], errors) for body in range(bodies)
        ),
    )


def without_noise(rows: Array, noise: Array) -> tuple[Array, Array]:
    """Equations whose noise in the columns is taken off: A y = b, least squares as before.

    AᵀA = RᵀR − N and Aᵀb = Rᵀr − q, with N and q what noise adds to the moments of the rows; in
    root form, R⁻ᵀNR⁻¹ = UΛUᵀ and A = (1 − Λ)^½ UᵀR, so that nothing is squared that counts. Where
    no Λ is bounded, Cholesky's root of 1 − UΛUᵀ does the same.

    Args:
        rows: [R | r], shape (n, k + 1), n ≥ k.
        noise: the moment of its noise, shape (k + 1, k + 1).

    Returns:
        A, upper triangular, shape (k, k), and b, shape (k,).
    """
    return of_triangle(qr_factor(rows), noise)


def of_triangle(reduced: Array, noise: Array) -> tuple[Array, Array]:
    """`without_noise` of rows that are upper triangular already, shape (k + 1, k + 1)."""
    k = len(reduced) - 1
    R, r = reduced[:k, :k], reduced[:k, k]
    if not noise.any():
        return R, r
    share = whiten_moment(noise[:k, :k], R)
    if np.linalg.norm(share) <= _MOST_CORRECTED:  # along every direction
        left = cholesky(np.eye(k) - share)
        return left @ R, solve_transposed(left, r - solve_transposed(R, noise[:k, k]))
    shares, U = np.linalg.eigh(share)
    kept = np.sqrt(1.0 - np.clip(shares, 0.0, _MOST_CORRECTED))
    taken = np.clip(shares, np.finfo(float).tiny, None)
    pull = (U.T @ solve_transposed(R, noise[:k, k])) * np.minimum(1.0, _MOST_CORRECTED / taken)
    turned = np.concatenate((kept[:, None] * (U.T @ R), ((U.T @ r - pull) / kept)[:, None]), axis=1)
    reduced = qr_factor(turned)
    return reduced[:k, :k], reduced[:k, k]


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
