"""Inertial parameters from points of a body, and their covariance by density and outline errors."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.inertia.matrices import entries_from_symmetric

_CORRELATION_LENGTHS = (3.2, 1.6, 0.8, 0.4, 0.2)
"""Correlation lengths of the density field, in root mean square radii of the body, each half the
one before."""

_MAX_POINTS = 600
"""Largest number of points of the double integral."""


def point_parameters(points: Vec3) -> Phi:
    """Compute the ten parameters of a unit point mass at each point, shape (n, 10)."""
    x, y, z = np.asarray(points).T
    xx = x * x
    yy = y * y
    zz = z * z
    ones = np.ones_like(x)
    return np.stack((ones, x, y, z, yy + zz, -x * y, -x * z, xx + zz, -y * z, xx + yy), axis=1)


def density_covariance(points: Vec3, weights: Array, radius: float) -> Array:
    """Compute the covariance of the parameters of a body of unit mass with random density.

    The density is uniform × (1 + a normal field), and the covariance
    E (Σ_ij w_i w_j f_i K_ij f_jᵀ) Eᵀ: f the parameters, E projects out changes of mass, and K is
    the mean of the correlations exp(−|r_i − r_j|²/2ℓ²) over several lengths ℓ: none is preferred.

    `points`: points that fill the body [m], shape (n, 3); `weights`: share of the volume of each
    point, shape (n,); `radius`: root mean square distance of the body from its centroid [m].
    Shape (10, 10), of a field of standard deviation one.
    """
    if len(points) > _MAX_POINTS:
        # The same points each time, so that the same shape gives the same prior.
        drawn = np.random.default_rng(0).choice(len(points), _MAX_POINTS, p=weights)
        points, weights = points[drawn], np.full(_MAX_POINTS, 1.0 / _MAX_POINTS)
    squares = ((points[:, None] - points) ** 2).sum(axis=-1)
    correlation = np.exp(-0.5 / (_CORRELATION_LENGTHS[0] * radius) ** 2 * squares)
    K = correlation / len(_CORRELATION_LENGTHS)
    for _ in _CORRELATION_LENGTHS[1:]:  # half the length is the fourth power
        correlation = np.square(np.square(correlation))
        K += correlation / len(_CORRELATION_LENGTHS)
    parameters = point_parameters(points)
    weighted = weights[:, None] * (parameters - weights @ parameters)
    return weighted.T @ K @ weighted


def outline_covariance(covariance: Mat33, error: float) -> Array:
    """Compute the covariance of the parameters of a body of unit mass with an uncertain outline.

    The body is strained along and across its principal axes, so much that its surface moves by
    that length: Σ_ab v vᵀ, v the moments of εΣ + Σε.

    `covariance`: Σ of the points about their centroid [m²], shape (3, 3); `error`: of the outline
    [m].
    Shape (10, 10).
    """
    squares, axes = np.linalg.eigh(covariance)
    half, (a, b) = box_half_sides(squares), np.triu_indices(3)
    size = error / np.maximum(half[a], half[b])
    size = np.where(a == b, size / (1.0 + 2.0 * size), size) * (squares[a] + squares[b])
    change = size[:, None, None] * axes.T[a, :, None] * axes.T[b, None, :]
    change = change + np.where(a == b, 0.0, 1.0)[:, None, None] * change.swapaxes(1, 2)
    v = np.zeros((6, 10))
    trace = np.trace(change, axis1=1, axis2=2)[:, None, None]
    v[:, 4:] = entries_from_symmetric(trace * np.eye(3) - change)
    return v.T @ v


def box_half_sides(squares: Array) -> Array:
    """Return the half sides of a uniform box from the mean square positions along its axes [m]."""
    return np.sqrt(3.0 * np.maximum(squares, 0.0))
