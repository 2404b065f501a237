"""`Placed`: a shape at a pose."""

from __future__ import annotations

from dataclasses import dataclass

from identify.arrays import Mat33, Vec3
from identify.errors import ModelError
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.hull import Hull
from identify.inertia.shapes.shape import Extent, Shape
from identify.spatial import Pose


@dataclass(frozen=True, slots=True, eq=False)
class Placed(Shape):
    """A shape whose own frame A stands at X_BA in B; everything it tells is about Bo in B.

    Attributes:
        shape: the shape in its frame A.
        X_BA: pose of A in B; one pose, not a batch.
    """

    shape: Shape
    X_BA: Pose

    def __post_init__(self) -> None:
        R, p = self.X_BA.rotation, self.X_BA.position
        if R.shape != (3, 3) or p.shape != (3,):
            raise ModelError(
                f"placed shape: expected one pose, got a batch of shapes {R.shape} and {p.shape}"
            )

    @property
    def extent(self) -> Extent:
        """What the shape fills."""
        return self.shape.extent

    @property
    def measure(self) -> float:
        """That of the shape."""
        return self.shape.measure

    @property
    def density_if_not_said(self) -> float | None:
        """That of the shape."""
        return self.shape.density_if_not_said

    @property
    def centroid(self) -> Vec3:
        """p_BoBcm_B [m], shape (3,)."""
        return self.X_BA.apply(self.shape.centroid)

    @property
    def covariance(self) -> Mat33:
        """R_BA Σ R_BAᵀ [m²], shape (3, 3)."""
        R = self.X_BA.rotation
        return R @ self.shape.covariance @ R.T

    @property
    def corners(self) -> Vec3 | None:
        """Those of the shape, in B."""
        corners = self.shape.corners
        return None if corners is None else self.X_BA.apply(corners)

    def support_points(self, directions: Vec3) -> Vec3:
        """Those of the shape in the directions R_BAᵀ d, in B."""
        return self.X_BA.apply(self.shape.support_points(directions @ self.X_BA.rotation))

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """That of the shape, in B."""
        return self.shape.bounding_ellipsoid().in_frame(self.X_BA)

    def hull(self, directions: int = 400) -> Hull:
        """That of the shape, in B."""
        return self.shape.hull(directions).in_frame(self.X_BA)
