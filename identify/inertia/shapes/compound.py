"""`Compound`: solids together, less their holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat33, Mat44, Vec3
from identify.errors import ModelError
from identify.inertia.central_spectrum import ROUNDING
from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.enclosing import enclosing_ellipsoid, enclosing_ellipsoid_of_support
from identify.inertia.shapes.hull import Hull, polytope_hull, sampled_hull
from identify.inertia.shapes.points import Points
from identify.inertia.shapes.shape import MOST_CORNERS, Extent, Shape

_PROTRUSION = 1e-9
"""How far a hole may stick out, relative to the extent of the solids: rounding of their poses."""


@dataclass(frozen=True, slots=True, eq=False)
class Compound(Shape):
    """Shapes of one even density, less holes of the same: a plate with bores, a hollow box.

    Bodies of several densities are sums: `steel.phi(density=7850) + rod.phi(mass=0.3)`.

    Solids must not overlap each other, nor holes each other: what lies in two of them counts twice.
    That is not checked. Checked is what a wrong hole gives away: every hole lies within the convex
    hull of the solids, some measure remains, and some density realises what remains.

    Attributes:
        solids: shapes, or `Placed` ones: all volumes, all areas or all lengths.
        holes: shapes of the same kind that are taken away; they end where the solid ends.
    """

    solids: Sequence[Shape]
    holes: Sequence[Shape] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "solids", tuple(self.solids))
        object.__setattr__(self, "holes", tuple(self.holes))
        if not self.solids:
            raise ModelError("compound: expected at least one solid, got none")
        kinds = {shape.extent for shape in (*self.solids, *self.holes)}
        if len(kinds) > 1:
            raise ModelError(
                f"compound: expected parts that all are one of volume, area or length, got "
                f"{sorted(kinds)}; add the ten parameters of bodies of different kinds instead"
            )
        if self.holes:
            self._check_that_holes_are_inside()
            self._check_that_something_remains()

    @property
    def extent(self) -> Extent:
        """What its parts fill."""
        return self.solids[0].extent

    @property
    def density_if_not_said(self) -> float | None:
        """One where the parts bring their own masses."""
        return self.solids[0].density_if_not_said

    @property
    def measure(self) -> float:
        """That of the solids less that of the holes."""
        return float(self._moments[3, 3])

    @property
    def centroid(self) -> Vec3:
        """Mean position of what remains [m], shape (3,)."""
        moments = self._moments
        return self.solids[0].centroid + moments[:3, 3] / moments[3, 3]

    @property
    def covariance(self) -> Mat33:
        """Covariance of what remains [m²], shape (3, 3)."""
        moments = self._moments
        mean = moments[:3, 3] / moments[3, 3]
        return moments[:3, :3] / moments[3, 3] - np.outer(mean, mean)

    @property
    def corners(self) -> Vec3 | None:
        """Those of the solids where all have corners."""
        corners = [c for solid in self.solids if (c := solid.corners) is not None]
        return np.concatenate(corners) if len(corners) == len(self.solids) else None

    def support_points(self, directions: Vec3) -> Vec3:
        """The farthest of the solids' points; holes do not count."""
        return _farthest(self.solids, directions)

    def bounding_ellipsoid(self) -> BoundingEllipsoid:
        """The smallest around the solids; around several, to the precision of its `method`."""
        if len(self.solids) == 1:
            return self.solids[0].bounding_ellipsoid()
        corners = self.corners
        if corners is not None:
            return enclosing_ellipsoid(corners)
        # A mesh finds its corners anew whenever it is asked: once is enough here.
        outlines = [
            solid if (c := solid.corners) is None else Points.of_equal_weight(c)
            for solid in self.solids
        ]
        return enclosing_ellipsoid_of_support(lambda d: _farthest(outlines, d))

    def hull(self, directions: int = 400) -> Hull:
        """The convex hull of the solids; each is sampled in `directions` of its own frame."""
        corners = self.corners
        if corners is not None and len(corners) <= MOST_CORNERS:
            return polytope_hull(corners)
        hulls = [solid.hull(directions) for solid in self.solids]
        if len(hulls) == 1:
            return hulls[0]
        return sampled_hull(self.support_points, np.concatenate([hull.normals for hull in hulls]))

    @property
    def _moments(self) -> Mat44:
        """Second moment of [r; 1] over what remains, r from the centroid of the first solid."""
        holes = (-_moments_of(hole, self.solids[0].centroid) for hole in self.holes)
        return sum(holes, start=self._moments_of_solids)

    @property
    def _moments_of_solids(self) -> Mat44:
        about = self.solids[0].centroid
        return sum((_moments_of(solid, about) for solid in self.solids), start=np.zeros((4, 4)))

    def _check_that_holes_are_inside(self) -> None:
        hull = self.hull()
        extent = float(np.ptp(hull.vertices, axis=0).max())
        for k, hole in enumerate(self.holes):
            reach = np.sum(hull.normals * hole.support_points(hull.normals), axis=1)
            outside = float((reach - hull.offsets).max())
            if outside > _PROTRUSION * extent:
                raise ModelError(
                    f"compound: hole {k} ({_name(hole)}) sticks out of the solids' convex hull by "
                    f"{outside:.3g} m and would take away what is not there; "
                    f"let it end where the solid ends"
                )

    def _check_that_something_remains(self) -> None:
        gross = self._moments_of_solids
        left = self.measure
        if not left > ROUNDING * gross[3, 3]:
            raise ModelError(
                f"compound: the holes take away {gross[3, 3] - left:.6g} of a {self.extent} of "
                f"{gross[3, 3]:.6g} (SI), so that nothing remains"
            )
        smallest = float(np.linalg.eigvalsh(left * self.covariance)[0])
        if smallest < -ROUNDING * float(np.trace(gross[:3, :3])):
            raise ModelError(
                f"compound: no body is what remains: its mean square about its centroid is "
                f"{smallest / left:.3g} m² in one direction, which cannot be below zero; the holes "
                f"overlap each other or lie where the solids are not"
            )


def _farthest(shapes: Sequence[Shape], directions: Vec3) -> Vec3:
    points = np.stack([shape.support_points(directions) for shape in shapes])
    best = np.argmax(np.sum(points * directions, axis=-1), axis=0)
    return np.take_along_axis(points, best[None, ..., None], axis=0)[0]


def _moments_of(shape: Shape, about: Vec3) -> Array:
    mean = np.append(shape.centroid - about, 1.0)
    moments = np.outer(mean, mean)
    moments[:3, :3] += shape.covariance
    return shape.measure * moments


def _name(shape: Shape) -> str:
    inner = getattr(shape, "shape", shape)
    return type(inner).__name__
