"""Moments of a body as averages over its points, and how they vary with its density and outline."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.inertia.matrices import six_from_symmetric

_SCALES = (3.2, 1.6, 0.8, 0.4, 0.2)
"""Lengths over which density may vary, in root mean square radii of the body, halved each time."""

_DRAWN = 600
"""Points that the double integral is over, at the most."""


def features(points: Vec3) -> Phi:
    """Ten parameters of a unit point mass at each point, shape (n, 10)."""
    x, y, z = np.asarray(points).T
    xx, yy, zz = x * x, y * y, z * z
    one = np.ones_like(x)
    return np.stack((one, x, y, z, yy + zz, -x * y, -x * z, xx + zz, -y * z, xx + yy), axis=1)


def of_density(points: Vec3, weights: Array, radius: float) -> Array:
    """Covariance of the parameters of a unit mass whose density is even × (1 + a normal field).

    E (Σ_ij w_i w_j f_i K_ij f_jᵀ) Eᵀ: f the features, E takes off what changes the mass, and K is
    the mean of the correlations exp(−|r_i − r_j|²/2ℓ²) over several lengths ℓ: none is preferred.

    Args:
        points: that fill the body [m], shape (n, 3).
        weights: their shares of the volume, shape (n,).
        radius: root mean square distance of the body from its centroid [m].

    Returns:
        Shape (10, 10), of a field of standard deviation one.
    """
    if len(points) > _DRAWN:
        # The same points each time, so that the same shape gives the same prior.
        drawn = np.random.default_rng(0).choice(len(points), _DRAWN, p=weights)
        points, weights = points[drawn], np.full(_DRAWN, 1.0 / _DRAWN)
    squares = ((points[:, None] - points) ** 2).sum(axis=-1)
    correlation = np.exp(-0.5 / (_SCALES[0] * radius) ** 2 * squares)
    K = correlation / len(_SCALES)
    for _ in _SCALES[1:]:  # half the length is the fourth power
        correlation = np.square(np.square(correlation))
        K += correlation / len(_SCALES)
    own = features(points)
    weighted = weights[:, None] * (own - weights @ own)
    return weighted.T @ K @ weighted


def of_outline(covariance: Mat33, error: float) -> Array:
    """Covariance of the parameters of a unit mass whose outline is known to a length.

    The body is strained along and across its principal axes, so much that its surface moves by
    that length: Σ_ab v vᵀ, v the moments of εΣ + Σε.

    Args:
        covariance: Σ of the points about their centroid [m²], shape (3, 3).
        error: of the outline [m].

    Returns:
        Shape (10, 10).
    """
    squares, axes = np.linalg.eigh(covariance)
    half, (a, b) = half_widths(squares), np.triu_indices(3)
    size = error / np.maximum(half[a], half[b])
    size = np.where(a == b, size / (1.0 + 2.0 * size), size) * (squares[a] + squares[b])
    change = size[:, None, None] * axes.T[a, :, None] * axes.T[b, None, :]
    change = change + np.where(a == b, 0.0, 1.0)[:, None, None] * change.swapaxes(1, 2)
    v = np.zeros((6, 10))
    trace = np.trace(change, axis1=1, axis2=2)[:, None, None]
    v[:, 4:] = six_from_symmetric(trace * np.eye(3) - change)
    return v.T @ v


def half_widths(squares: Array) -> Array:
    """Half sides of the even box with some mean squares along its axes [m]."""
    return np.sqrt(3.0 * np.maximum(squares, 0.0))
