"""`BoundingEllipsoid`: an ellipsoid that contains a body, and what that says of its inertia."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from identify.arrays import Array, Flags, Mat33, Mat44, Vec3, seal
from identify.errors import ModelError
from identify.spatial import Pose

Method = Literal["closed form", "interior point", "cutting planes"]

_FLAT = 1e-7
"""A semi-axis below this share of the largest one is none: squared it drowns in rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundingEllipsoid:
    """The set {c + Q^½ u : ‖u‖ ≤ 1}, that is (x − c)ᵀ Q⁻¹ (x − c) ≤ 1 where Q has an inverse.

    Attributes:
        centre: c in B [m], shape (3,).
        Q: shape matrix [m²], symmetric and positive semidefinite, shape (3, 3); its eigenvalues are
            the squared semi-axes. Singular for flat bodies.
        method: how it was found. Each gives the ellipsoid of smallest volume: "closed form"
            exactly, "interior point" (around points) to a relative 1e-9 of its volume, "cutting
            planes" (around several shapes, some of them round) to 1e-7.
    """

    centre: Vec3
    Q: Mat33
    method: Method = "closed form"

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

    @classmethod
    def aligned(cls, semi_axes: tuple[float, float, float], z: float = 0.0) -> BoundingEllipsoid:
        """The ellipsoid with its semi-axes [m] along x, y and z and its centre at (0, 0, z)."""
        return cls(np.array([0.0, 0.0, z]), np.diag(np.square(semi_axes)))

    @property
    def semi_axes(self) -> Array:
        """Lengths of the semi-axes, ascending [m], shape (3,)."""
        return np.sqrt(np.maximum(np.linalg.eigvalsh(self.Q), 0.0))

    @property
    def axes(self) -> Mat33:
        """Directions of the semi-axes in B as columns, in the order of `semi_axes`; a rotation."""
        axes = np.linalg.eigh(self.Q)[1]
        return axes * np.array([1.0, 1.0, np.sign(np.linalg.det(axes))])

    @property
    def volume(self) -> float:
        """Volume [m³]; zero of a flat one."""
        return float(4.0 / 3.0 * np.pi * np.prod(self.semi_axes))

    def support(self, directions: Vec3) -> Array:
        """How far it reaches: the maximum of d · x over its points, c · d + √(dᵀ Q d).

        Args:
            directions: shape (..., 3).

        Returns:
            Shape (...).
        """
        d = np.asarray(directions, dtype=np.float64)
        return d @ self.centre + np.sqrt(np.maximum(np.sum(d @ self.Q * d, axis=-1), 0.0))

    def contains(self, points: Vec3, tolerance: float = 1e-9) -> Flags:
        """Whether points lie inside, within `tolerance` times the largest semi-axis.

        Args:
            points: [m], shape (..., 3).
            tolerance: how far outside a point may lie, along each semi-axis.

        Returns:
            Booleans, shape (...).
        """
        offsets = np.abs((np.asarray(points, dtype=np.float64) - self.centre) @ self.axes)
        lengths = self.semi_axes
        beyond = np.maximum(offsets - tolerance * lengths[2], 0.0)
        shares = beyond / np.maximum(lengths, np.finfo(float).tiny)
        return np.sum(np.minimum(shares, 2.0) ** 2, axis=-1) <= 1.0

    @property
    def homogeneous(self) -> Mat44:
        """The matrix E with tr(E Π) ≥ 0 for every body inside; linear in the ten parameters.

            E = [[−Q⁻¹, Q⁻¹ c], [cᵀ Q⁻¹, 1 − cᵀ Q⁻¹ c]],    r̃ᵀ E r̃ = 1 − (r − c)ᵀ Q⁻¹ (r − c)

        with r̃ = [r; 1]: tr(E Π) is the density's integral of a number that is not negative inside.
        With Π ⪰ 0 it is also sufficient: *some* density inside the ellipsoid realises the body
        (Wensing, Kim and Slotine 2018).

        Raises:
            ModelError: a flat ellipsoid, whose Q has no inverse.
        """
        lengths = self.semi_axes
        if lengths[0] <= _FLAT * lengths[2]:
            raise ModelError(
                f"bounding ellipsoid: it is flat (semi-axes {lengths.tolist()} m), so its Q has no "
                f"inverse; give the plate or rod a thickness, as a box or a cylinder"
            )
        inverse = np.linalg.inv(self.Q)
        matrix = np.empty((4, 4))
        matrix[:3, :3] = -inverse
        matrix[:3, 3] = matrix[3, :3] = inverse @ self.centre
        matrix[3, 3] = 1.0 - self.centre @ inverse @ self.centre
        return matrix

    def in_frame(self, X_AB: Pose) -> BoundingEllipsoid:
        """The same ellipsoid in A, where `X_AB` is the pose of this frame B in A."""
        R = X_AB.rotation
        turned = R @ self.Q @ R.T
        return BoundingEllipsoid(X_AB.apply(self.centre), 0.5 * (turned + turned.T), self.method)
