"""The ellipsoid of smallest volume around a few points, by an interior-point method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.errors import SolveError

_STEPS = 60
_GAP = 1e-11
"""Excess of the largest lifted distance at which the weights count as optimal."""


class SmallestEllipsoid(NamedTuple):
    """The set (x − c)ᵀ Q⁻¹ (x − c) ≤ 1.

    Attributes:
        centre: c, shape (d,).
        Q: shape matrix, shape (d, d).
        weights: multipliers of the points, zero or more, sum one; positive where a point touches.
    """

    centre: Array
    Q: Array
    weights: Array


def smallest_ellipsoid(points: Array) -> SmallestEllipsoid:
    """The ellipsoid of smallest volume around points that span all dimensions.

    The dual-reduced Newton method of Sun and Freund, "Computation of minimum-volume covering
    ellipsoids" (Operations Research 52, 2004). With weights u of the points aᵢ, their mean c and
    their scatter W, the distances hᵢ = ½ (aᵢ − c)ᵀ W⁻¹ (aᵢ − c) and slacks t fulfil h(u) + t = 1
    and u t = 0 at the optimum.

    Args:
        points: of about unit size, shape (m, d), m a few hundred at most.

    Returns:
        With its optimality checked: the weighted points prove that no ellipsoid around them has a
        volume less by a relative 1e-9.

    Raises:
        SolveError: the proof fails.
    """
    count, dimensions = points.shape
    u = np.full(count, 1.0 / count)
    u *= _half_distances(points, u).max() / 0.95
    t = 1.0 - _half_distances(points, u)
    excess = np.inf
    for _ in range(_STEPS):
        centre = u @ points / u.sum()
        offsets = points - centre
        scatter = (offsets * u[:, None]).T @ offsets
        products = 0.5 * offsets @ np.linalg.solve(scatter, offsets.T)
        h = np.diag(products)
        # Optimal if no squared distance, in the covariance of the weighted points, exceeds d
        # (Kiefer and Wolfowitz); any excess bounds how much smaller an ellipsoid could be.
        excess = 2.0 * u.sum() * h.max() / dimensions - 1.0
        if excess <= _GAP:
            break
        theta = u @ t / (10.0 * count)
        slope = -2.0 * (products / u.sum() + products**2)
        slope[np.diag_indices(count)] -= t / u
        complement = theta / u - t
        step_u = np.linalg.solve(slope, 1.0 - h - t - complement)
        step_t = complement - t / u * step_u
        length = min(1.0, 0.99 * _longest(u, step_u), 0.99 * _longest(t, step_t))
        u, t = u + length * step_u, t + length * step_t
    if excess > 1e-9:
        raise SolveError(
            f"bounding ellipsoid: not proved the smallest around {count} points (gap {excess:.1e})"
        )
    weights = u / u.sum()
    centre = weights @ points
    offsets = points - centre
    Q = dimensions * (offsets * weights[:, None]).T @ offsets
    return SmallestEllipsoid(centre, Q, weights)


def _half_distances(points: Array, u: Array) -> Array:
    offsets = points - u @ points / u.sum()
    scatter = (offsets * u[:, None]).T @ offsets
    return 0.5 * np.sum(offsets * np.linalg.solve(scatter, offsets.T).T, axis=1)


def _longest(values: Array, step: Array) -> float:
    """How far a step may go until a value turns zero."""
    falling = step < 0.0
    return float((values[falling] / -step[falling]).min(initial=np.inf))
