"""Ellipsoids that contain a body: what they say of its inertia, and the smallest around points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Flags, Mat33, Mat44, Vec3, as_real, seal
from identify.errors import ModelError, SolveError
from identify.spatial import Pose, PoseLike

_FLAT_AXIS = 1e-7
"""A semi-axis below this share of the largest one is none: squared it drowns in rounding."""
_SPANNED = 1e-9
"""Points that leave a plane or a line by less than this share of their extent lie in it."""
_ELLIPSOID_ROUNDS, _ADDED, _WEIGHT_STEPS = 100, 20, 60
_SQUARED_EXCESS, _EXCESS = 1e-11, 1e-11
"""Excess of squared distances, and of distances, at which an ellipsoid counts as the smallest."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundingEllipsoid:
    """The set {c + Q^½ u : ‖u‖ ≤ 1}, that is (x − c)ᵀ Q⁻¹ (x − c) ≤ 1 where Q has an inverse.

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
        """Whether points lie inside, within `tolerance` times the largest semi-axis.

        Args:
            points: [m], shape (..., 3).
            tolerance: how far outside a point may lie, along each semi-axis.

        Returns:
            Booleans, shape (...).
        """
        lengths, axes = self.semi_axes, np.linalg.eigh(self.Q)[1]
        offsets = np.abs((as_real(points, "points") - self.centre) @ axes)
        beyond = np.maximum(offsets - tolerance * lengths[2], 0.0)
        shares = beyond / np.maximum(lengths, np.finfo(float).tiny)
        return np.sum(np.minimum(shares, 2.0) ** 2, axis=-1) <= 1.0

    @property
    def homogeneous(self) -> Mat44:
        """The matrix E with tr(E Π) ≥ 0 for every body inside; linear in the ten parameters.

            E = [[−Q⁻¹, Q⁻¹ c], [cᵀ Q⁻¹, 1 − cᵀ Q⁻¹ c]],    r̃ᵀ E r̃ = 1 − (r − c)ᵀ Q⁻¹ (r − c)

        with r̃ = [r; 1]: tr(E Π) is the density's integral of a number that is not negative inside.
        With Π ⪰ 0 it is also sufficient: *some* density inside the ellipsoid realises the body
        (Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial
        parameter identification: a statistical perspective on the mass distribution", 2018).

        Raises:
            ModelError: a flat ellipsoid, whose Q has no inverse.
        """
        lengths = self.semi_axes
        if lengths[0] <= _FLAT_AXIS * lengths[2]:
            raise ModelError(
                f"bounding ellipsoid: it is flat (semi-axes {lengths.tolist()} m), so its Q has no "
                f"inverse; give the plate or rod a thickness"
            )
        inverse = np.linalg.inv(self.Q)
        matrix = np.empty((4, 4))
        matrix[:3, :3] = -inverse
        matrix[:3, 3] = matrix[3, :3] = inverse @ self.centre
        matrix[3, 3] = 1.0 - self.centre @ inverse @ self.centre
        return matrix

    def in_frame(self, X_AB: PoseLike) -> BoundingEllipsoid:
        """The same ellipsoid in A, where `X_AB` is the pose of this frame B in A."""
        X_AB = Pose.of(X_AB)
        R = X_AB.rotation
        turned = R @ self.Q @ R.T
        return BoundingEllipsoid(X_AB.apply(self.centre), 0.5 * (turned + turned.T))


def enclosing_ellipsoid(points: Vec3) -> BoundingEllipsoid:
    """The ellipsoid of smallest volume that contains points (smallest area where they are flat).

    In the space, plane or line that the points span: the smallest ellipsoid around a few of them,
    to which those that stick out join until none does. No point lies outside.

    Args:
        points: [m], shape (n, 3), n ≥ 1.

    Returns:
        With semi-axes at most a relative 1e-9 above the smallest.

    Raises:
        SolveError: no convergence, which no set of points is known to cause.
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
    some = flat[_spanning(flat)]
    for _ in range(_ELLIPSOID_ROUNDS):
        centre, Q, weights = _smallest(some)
        inverse_root = np.linalg.inv(np.linalg.cholesky(Q))
        distances = np.linalg.norm((flat - centre) @ inverse_root.T, axis=1)
        reach = float(distances.max())
        if reach <= 1.0 + _EXCESS:
            Q = max(reach, 1.0) ** 2 * basis @ Q @ basis.T
            return BoundingEllipsoid(origin + basis @ centre, 0.5 * (Q + Q.T))
        worst = np.argsort(distances)[-_ADDED:]
        worst = worst[distances[worst] > 1.0 + 0.1 * (reach - 1.0)]
        touching = some[weights > 1e-6 * weights.max()]
        some = np.unique(np.concatenate((touching, flat[worst])), axis=0)
    raise SolveError(f"bounding ellipsoid: no convergence in {_ELLIPSOID_ROUNDS} rounds")


def _span(points: Vec3) -> tuple[Vec3, Array]:
    """Mean of points (n, 3), and orthonormal directions that they span up to rounding, (3, d)."""
    origin = points.mean(axis=0)
    offsets = points - origin
    directions = np.linalg.eigh(offsets.T @ offsets)[1][:, ::-1]
    extent = np.abs(offsets @ directions).max(axis=0)
    # Rounding of the positions, not only the extent, decides what is flat.
    floor = max(_SPANNED * extent.max(), 1e-14 * np.abs(points).max())
    return origin, directions[:, extent > floor]


def _spanning(points: Array) -> Array:
    """Indices of a few far points that span all that points (n, d) do.

    Those are the farthest both ways in a direction across all that were found before. Reference:
    Kumar and Yildirim, "Minimum-volume enclosing ellipsoids and core sets" (2005).
    """
    found, across = [], np.zeros((0, points.shape[1]))
    for _ in range(points.shape[1]):
        reach = points @ np.linalg.svd(across)[2][-1]
        found += [np.argmax(reach), np.argmin(reach)]
        across = np.vstack((across, points[found[-2]] - points[found[-1]]))
    return np.unique(found)


def _smallest(points: Array) -> tuple[Array, Array, Array]:
    """The ellipsoid of smallest volume around points that span all dimensions, proved to be it.

    The dual-reduced Newton method of Sun and Freund, "Computation of minimum-volume covering
    ellipsoids" (Operations Research 52, 2004). With weights u of the points aᵢ, their mean c and
    their scatter W, the distances hᵢ = ½ (aᵢ − c)ᵀ W⁻¹ (aᵢ − c) and slacks t fulfil h(u) + t = 1
    and u t = 0 at the optimum.

    Args:
        points: of about unit size, shape (m, d), m a few hundred at most.

    Returns:
        Centre, shape matrix, and the points' weights: zero or more, sum one, positive where a point
        touches. They prove that no ellipsoid has a volume less by a relative 1e-9.

    Raises:
        SolveError: the proof fails.
    """
    count, dimensions = points.shape
    u = np.full(count, 1.0 / count)
    u *= np.diag(_products(points, u)).max() / 0.95
    t = 1.0 - np.diag(_products(points, u))
    excess = np.inf
    for _ in range(_WEIGHT_STEPS):
        products = _products(points, u)
        h = np.diag(products)
        # Optimal if no squared distance, in the covariance of the weighted points, exceeds d
        # (Kiefer and Wolfowitz); any excess bounds how much smaller an ellipsoid could be.
        excess = 2.0 * u.sum() * h.max() / dimensions - 1.0
        if excess <= _SQUARED_EXCESS:
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
    return centre, dimensions * (offsets * weights[:, None]).T @ offsets, weights


def _products(points: Array, u: Array) -> Array:
    """½ (aᵢ − c)ᵀ W⁻¹ (aⱼ − c), shape (m, m)."""
    offsets = points - u @ points / u.sum()
    scatter = (offsets * u[:, None]).T @ offsets
    return 0.5 * offsets @ np.linalg.solve(scatter, offsets.T)


def _longest(values: Array, step: Array) -> float:
    """How far a step may go until a value turns zero."""
    falling = step < 0.0
    return float((values[falling] / -step[falling]).min(initial=np.inf))
