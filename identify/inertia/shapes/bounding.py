"""Bounding ellipsoids: their condition on the inertia of a body, and the smallest around points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Flags, Mat33, Mat44, Vec3, as_real, seal
from identify.errors import ModelError, SolveError
from identify.spatial import Pose, PoseLike

_MIN_AXIS_RATIO = 1e-7
"""Ratio of smallest to largest semi-axis below which an ellipsoid is flat up to rounding."""
_SPAN_TOLERANCE = 1e-9
"""Distance from a plane or line, relative to the points' extent, up to which points lie in it."""
_MAX_CORE_SET_ROUNDS = 100
"""Maximum number of rounds that add points to the core set."""
_MAX_ADDED_POINTS = 20
"""Maximum number of points added to the core set per round."""
_MAX_NEWTON_STEPS = 60
"""Maximum number of Newton steps for one core set."""
_DUALITY_GAP = 1e-11
"""Relative excess of the squared distances at which an ellipsoid counts as the smallest."""
_PROTRUSION_TOLERANCE = 1e-11
"""Relative excess of a distance up to which a point counts as inside an ellipsoid."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundingEllipsoid:
    """Ellipsoid {c + Q^½ u : ‖u‖ ≤ 1}, that is (x − c)ᵀ Q⁻¹ (x − c) ≤ 1 if Q is invertible.

    Attributes:
        centre: c in B [m], shape (3,).
        Q: shape matrix [m²], symmetric and positive semidefinite, shape (3, 3); its eigenvalues are
            the squared semi-axes. Singular for flat bodies.
    """

    centre: Vec3
    Q: Mat33

    def __post_init__(self) -> None:
        Q = seal(self.Q, "bounding ellipsoid: Q", (3, 3))
        size = np.abs(Q).max()
        if np.abs(Q - Q.T).max() > 1e-9 * size or np.linalg.eigvalsh(Q)[0] < -1e-9 * size:
            raise ModelError(
                f"bounding ellipsoid: expected Q symmetric and positive semidefinite, "
                f"got {Q.tolist()}"
            )
        object.__setattr__(self, "Q", Q)
        object.__setattr__(self, "centre", seal(self.centre, "bounding ellipsoid: centre", (3,)))

    @property
    def semi_axes(self) -> Array:
        """Lengths of the semi-axes, ascending [m], shape (3,)."""
        return np.sqrt(np.maximum(np.linalg.eigvalsh(self.Q), 0.0))

    def contains(self, points: Vec3, tolerance: float = 1e-9) -> Flags:
        """Return whether points lie inside, within `tolerance` times the largest semi-axis.

        Args:
            points: [m], shape (..., 3).
            tolerance: allowed distance outside, along each semi-axis, relative to the largest.

        Returns:
            Booleans, shape (...).
        """
        lengths, axes = self.semi_axes, np.linalg.eigh(self.Q)[1]
        offsets = np.abs((as_real(points, "points") - self.centre) @ axes)
        beyond = np.maximum(offsets - tolerance * lengths[2], 0.0)
        shares = beyond / np.maximum(lengths, np.finfo(float).tiny)
        return np.sum(np.minimum(shares, 2.0) ** 2, axis=-1) <= 1.0

    @property
    def containment_matrix(self) -> Mat44:
        """Matrix E with tr(E Π) ≥ 0 for pseudo-inertias Π of bodies inside the ellipsoid.

            E = [[−Q⁻¹, Q⁻¹ c], [cᵀ Q⁻¹, 1 − cᵀ Q⁻¹ c]],    r̃ᵀ E r̃ = 1 − (r − c)ᵀ Q⁻¹ (r − c)

        with r̃ = [r; 1]: tr(E Π) = ∫ρ r̃ᵀ E r̃ dV is linear in the ten parameters and not negative.
        With Π ⪰ 0 it is also sufficient: *some* density inside the ellipsoid realises the body
        (Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial
        parameter identification: a statistical perspective on the mass distribution", 2018).

        Raises:
            ModelError: a flat ellipsoid, whose Q has no inverse.
        """
        lengths = self.semi_axes
        if lengths[0] <= _MIN_AXIS_RATIO * lengths[2]:
            raise ModelError(
                f"bounding ellipsoid: it is flat (semi-axes {lengths.tolist()} m), so its Q is "
                f"singular; give the plate or rod a thickness"
            )
        inverse = np.linalg.inv(self.Q)
        matrix = np.empty((4, 4))
        matrix[:3, :3] = -inverse
        matrix[:3, 3] = matrix[3, :3] = inverse @ self.centre
        matrix[3, 3] = 1.0 - self.centre @ inverse @ self.centre
        return matrix

    def in_frame(self, X_AB: PoseLike) -> BoundingEllipsoid:
        """Return the ellipsoid in A, where `X_AB` is the pose of its frame B in A."""
        X_AB = Pose.of(X_AB)
        R = X_AB.rotation
        rotated = R @ self.Q @ R.T
        return BoundingEllipsoid(X_AB.apply(self.centre), 0.5 * (rotated + rotated.T))


def enclosing_ellipsoid(points: Vec3) -> BoundingEllipsoid:
    """Compute the smallest ellipsoid (by volume; by area if flat) that contains points.

    In the space, plane or line that the points span: the smallest ellipsoid around a core set of
    them, to which points outside are added until there are none. No point lies outside.

    Args:
        points: [m], shape (n, 3), n ≥ 1.

    Returns:
        The ellipsoid, with semi-axes within a relative 1e-9 of the smallest one's.

    Raises:
        SolveError: no convergence (not known to happen for any set of points).
    """
    points = as_real(points, "points")
    origin, basis = _span(points)
    flat = (points - origin) @ basis
    if flat.shape[1] < 2:
        ends = basis @ np.array([flat.min(axis=0), flat.max(axis=0)]).T
        half = 0.5 * (ends[:, 1] - ends[:, 0])
        return BoundingEllipsoid(origin + ends.mean(axis=1), np.outer(half, half))
    scale = np.abs(flat).max(axis=0)
    flat, basis = flat / scale, basis * scale
    core = flat[_spanning_indices(flat)]
    for _ in range(_MAX_CORE_SET_ROUNDS):
        centre, Q, weights = _minimum_volume_ellipsoid(core)
        inverse_root = np.linalg.inv(np.linalg.cholesky(Q))
        distances = np.linalg.norm((flat - centre) @ inverse_root.T, axis=1)
        reach = float(distances.max())
        if reach <= 1.0 + _PROTRUSION_TOLERANCE:
            Q = max(reach, 1.0) ** 2 * basis @ Q @ basis.T
            return BoundingEllipsoid(origin + basis @ centre, 0.5 * (Q + Q.T))
        worst = np.argsort(distances)[-_MAX_ADDED_POINTS:]
        worst = worst[distances[worst] > 1.0 + 0.1 * (reach - 1.0)]
        touching = core[weights > 1e-6 * weights.max()]
        core = np.unique(np.concatenate((touching, flat[worst])), axis=0)
    raise SolveError(f"bounding ellipsoid: no convergence in {_MAX_CORE_SET_ROUNDS} rounds")


def _span(points: Vec3) -> tuple[Vec3, Array]:
    """Return the mean of points (n, 3), and orthonormal directions of their span, (3, d)."""
    origin = points.mean(axis=0)
    offsets = points - origin
    directions = np.linalg.eigh(offsets.T @ offsets)[1][:, ::-1]
    extent = np.abs(offsets @ directions).max(axis=0)
    # Rounding of the positions, not only the extent, decides what is flat.
    floor = max(_SPAN_TOLERANCE * extent.max(), 1e-14 * np.abs(points).max())
    return origin, directions[:, extent > floor]


def _spanning_indices(points: Array) -> Array:
    """Return indices of a few extreme points with the same span as all points (n, d).

    They are the extreme points in directions orthogonal to the previous pairs' differences.
    Reference: Kumar and Yildirim, "Minimum-volume enclosing ellipsoids and core sets" (2005).
    """
    indices, differences = [], np.zeros((0, points.shape[1]))
    for _ in range(points.shape[1]):
        heights = points @ np.linalg.svd(differences)[2][-1]
        indices += [np.argmax(heights), np.argmin(heights)]
        differences = np.vstack((differences, points[indices[-2]] - points[indices[-1]]))
    return np.unique(indices)


def _minimum_volume_ellipsoid(points: Array) -> tuple[Array, Array, Array]:
    """Compute the minimum-volume ellipsoid of points in general position, with a bound.

    The dual-reduced Newton method of Sun and Freund, "Computation of minimum-volume covering
    ellipsoids" (Operations Research 52, 2004). With weights u of the points aᵢ, their mean c and
    their scatter W, the distances hᵢ = ½ (aᵢ − c)ᵀ W⁻¹ (aᵢ − c) and slacks t fulfil h(u) + t = 1
    and u t = 0 at the optimum.

    `points`: coordinates of about unit size, shape (m, d), m a few hundred at most.
    Returns centre, shape matrix, and the points' weights: not negative, sum one, positive for
    points on the surface. They prove that the volume is within a relative 1e-9 of the minimum.
    Raises `SolveError`: the optimality gap exceeds 1e-9.
    """
    count, dimensions = points.shape
    u = np.full(count, 1.0 / count)
    u *= np.diag(_half_mahalanobis(points, u)).max() / 0.95
    t = 1.0 - np.diag(_half_mahalanobis(points, u))
    excess = np.inf
    for _ in range(_MAX_NEWTON_STEPS):
        products = _half_mahalanobis(points, u)
        h = np.diag(products)
        # Optimal if no squared distance, in the covariance of the weighted points, exceeds d
        # (Kiefer and Wolfowitz); any excess bounds how much smaller an ellipsoid could be.
        excess = 2.0 * u.sum() * h.max() / dimensions - 1.0
        if excess <= _DUALITY_GAP:
            break
        theta = u @ t / (10.0 * count)
        slope = -2.0 * (products / u.sum() + products**2)
        slope[np.diag_indices(count)] -= t / u
        complement = theta / u - t
        step_u = np.linalg.solve(slope, 1.0 - h - t - complement)
        step_t = complement - t / u * step_u
        length = min(
            1.0, 0.99 * _max_feasible_step(u, step_u), 0.99 * _max_feasible_step(t, step_t)
        )
        u, t = u + length * step_u, t + length * step_t
    if excess > 1e-9:
        raise SolveError(
            f"bounding ellipsoid of {count} points: optimality not reached (gap {excess:.1e})"
        )
    weights = u / u.sum()
    centre = weights @ points
    offsets = points - centre
    return centre, dimensions * (offsets * weights[:, None]).T @ offsets, weights


def _half_mahalanobis(points: Array, u: Array) -> Array:
    """Return half the Mahalanobis products of all pairs of points with weights u, shape (m, m)."""
    offsets = points - u @ points / u.sum()
    scatter = (offsets * u[:, None]).T @ offsets
    return 0.5 * offsets @ np.linalg.solve(scatter, offsets.T)


def _max_feasible_step(values: Array, step: Array) -> float:
    """Return the step length at which the first value becomes zero."""
    decreasing = step < 0.0
    return float((values[decreasing] / -step[decreasing]).min(initial=np.inf))
