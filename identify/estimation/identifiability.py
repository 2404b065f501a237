"""Identifiable directions of the unknowns, with noise in the motion taken into account.

Fuller, "Measurement error models" (1987).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.estimation.errors_in_variables import MAX_NOISE_FRACTION
from identify.regressors.triangular import eigh, qr_factor, svd, whiten_moment
from identify.significance import HALF_WIDTH_SIGMA

NOISE_LEVEL_RELATIVE_ERROR = 0.3
"""Relative error of the noise level that is estimated from the log."""

_MIN_EXCITATION_OF_ONE_BODY = 1e-12
"""Singular value of a direction of one body without noise in its motion, relative to the total,
below which it is rounding error."""

_MIN_EXCITATION_OF_BODIES = 1e-10
"""Relative singular value of a direction of several bodies below which it is rounding error: their
columns depend on each other to fewer digits."""

_MIN_SQUARED_EXCITATION = 1e-9
"""Squared excitation of a direction, relative to the total, below which squares have lost digits
that matter."""

WEAK_PRIOR_SCALE = 3.0
"""Standard deviation of the weak prior with which noise fractions are computed, in body scales."""

MIN_RELATIVE_EXCITATION = 1e-13
"""Excitation of a direction, relative to the total, below which it is rounding error."""

INERTIA_TRACE = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
"""Row vector whose product with the ten parameters is the trace of the inertia."""


@dataclass(frozen=True, slots=True)
class Identifiability:
    """Identifiable and unidentifiable directions of the scaled unknowns.

    A direction is identifiable if its 95 % half-width, including noise in the motion, is below the
    body's own scale.

    Attributes:
        identifiable: basis of the identifiable directions, shape (p, k).
        unidentifiable: basis of the other directions, of one body scale each, shape (p, j).
        free: basis of all directions that equalities leave free, shape (p, k + j).
        half_widths: 95 % half-width of each scaled unknown, relative to its scale, shape (p,).
        excited_basis: basis of the directions with more excitation than noise, shape (p, r).
        direction_errors: standard error along each excited direction, in body scales, shape (r,).
        size_errors: standard error of the trace of each body's scaled inertia; infinite if it is
            not excited.
    """

    identifiable: Array
    unidentifiable: Array
    free: Array
    half_widths: Array
    excited_basis: Array
    direction_errors: Array
    size_errors: tuple[float, ...]

    @property
    def complete(self) -> bool:
        """Whether the data identify every direction of the unknowns."""
        return self.unidentifiable.size == 0


def identifiability(
    scaled_matrix: Array,
    noise: Array,
    noise_scatter: Array,
    units: Array,
    free: Array,
    bodies: int,
) -> Identifiability:
    """Split the unknowns into identifiable and unidentifiable directions.

    Noise in acceleration or attitude looks like motion: it enters AᵀA as N, and AᵀA − N is the
    information from the body's motion. Without data, each direction is known to the body's own
    scale.

    `scaled_matrix`: A of the whitened problem in scaled unknowns, shape (p, p); `noise`: N in the
    scaled unknowns, shape (p, p); `noise_scatter`: covariance of the scores from the noise cross
    term, shape (p, p); `units`: scale of each scaled unknown, shape (p,); `free`: basis of the
    directions that equalities leave free, in unknowns divided by `units`.
    """
    free = units[:, None] * free
    along = scaled_matrix @ free
    count = free.shape[1]
    score_covariance = clean = along.T @ along
    information = float(np.linalg.norm(along) ** 2)
    level_error: Array | float = 0.0
    if noise.any():
        weak = np.eye(count) / WEAK_PRIOR_SCALE
        R = qr_factor(np.concatenate((along, weak)))
        noise = free.T @ noise @ free
        shares, U = eigh(whiten_moment(noise, R))
        root = np.sqrt(1.0 - np.clip(shares, 0.0, MAX_NOISE_FRACTION))[:, None] * (U.T @ R)
        clean = root.T @ root - weak.T @ weak
    values, vectors = eigh(0.5 * (clean + clean.T))
    excited = values > MIN_RELATIVE_EXCITATION * information
    if values.min(initial=np.inf) < _MIN_SQUARED_EXCITATION * information and not noise.any():
        # without squares, which lose the inertia of a body of 1 mm beside its mass
        _, singular, Vt = svd(along)
        values, vectors = singular[::-1] ** 2, Vt[::-1].T
        least = _MIN_EXCITATION_OF_ONE_BODY if bodies == 1 else _MIN_EXCITATION_OF_BODIES
        excited = values > least**2 * information
    # B⁻¹ (H + X) B⁻¹ along the eigenvectors of B, and the effect of an error of N on one body scale
    if noise_scatter.any():
        score_covariance = score_covariance + free.T @ noise_scatter @ free
    axes = vectors[:, excited]
    solved_axes = axes / values[excited]
    errors = np.full(count, np.inf)
    if noise.any():
        level_error = NOISE_LEVEL_RELATIVE_ERROR * (axes * (noise @ axes)).sum(axis=0)
    # X need not be positive semidefinite: H + X may have negative eigenvalues.
    row_variance = ((along @ solved_axes) ** 2).sum(axis=0)
    variance = (solved_axes * (score_covariance @ solved_axes)).sum(axis=0)
    variance = np.maximum(variance, row_variance)
    errors[excited] = np.sqrt(variance + (level_error / values[excited]) ** 2)
    identifiable = HALF_WIDTH_SIGMA * errors < 1.0
    directions = free @ vectors
    spread = np.minimum(errors, 1.0)
    return Identifiability(
        identifiable=directions[:, identifiable],
        unidentifiable=directions[:, ~identifiable],
        free=free,
        half_widths=HALF_WIDTH_SIGMA * np.linalg.norm(directions / units[:, None] * spread, axis=1),
        excited_basis=directions[:, excited],
        direction_errors=errors[excited],
        size_errors=tuple(
            _inertia_trace_error(directions[10 * body : 10 * body + 10], errors)
            for body in range(bodies)
        ),
    )


def _inertia_trace_error(directions: Array, errors: Array) -> float:
    weights = INERTIA_TRACE @ directions
    relevant = np.abs(weights) > 1e-3 * np.abs(weights).max()
    return float(np.linalg.norm(weights[relevant] * errors[relevant]))


def free_directions(equalities: Array) -> Array:
    """Return a basis of the null space of equalities E; unit vectors if E fixes single unknowns.

    `equalities`: rows E, shape (k, p), of full rank.
    Shape (p, p − k).
    """
    p = equalities.shape[1]
    nonzero = equalities != 0.0
    if (nonzero.sum(axis=1) == 1).all():
        return np.eye(p)[:, ~nonzero.any(axis=0)]
    return np.linalg.qr(equalities.T, mode="complete")[0][:, len(equalities) :]
