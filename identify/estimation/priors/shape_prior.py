"""The shape of a body as the prior of its log: its points, its mesh, or a box that it lies in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Phi, Vec3, seal
from identify.errors import ModelError
from identify.estimation.errors import TermError
from identify.estimation.priors.features import (
    density_covariance,
    half_widths,
    outline_covariance,
    point_parameters,
)
from identify.estimation.priors.prior import NormalMixture, Prior
from identify.inertia import inertia_about_com
from identify.inertia.frames import congruence_map
from identify.inertia.shapes import Points, Shape, read_mesh
from identify.inertia.shapes.interior import sample_interior
from identify.inertia.shapes.points import read_points
from identify.spatial import Pose

_DENSITY = np.geomspace(0.05, 1.6, 6)
"""Standard deviations of the density about even, as shares of it …"""

_OUTLINE = (0.25, 0.5, 1.0, 2.0)
"""… and errors of the outline in its own, that a log chooses among."""

_OVERREACH, _OUTLINE_OF_IT = (0.0, 0.5, 1.0, 1.5), (0.25, 0.5, 1.0)
"""How far points reach beyond the solid where they may, in their spacing, and what then is left."""

_SHARES_OF_BOX = np.geomspace(0.25, 1.0, 4)
"""How much a body that lies somewhere in a box is in one place of it: from a body that fills a good
part of it, as one that stands askew in it does, to one that is in one place. Less would say that it
is the box."""

_FAR_MORE = 20.0
"""Times the cubes between them that volumes of points add up to where they reach beyond it."""

_FILLED = 2000
"""Points that fill a mesh or a solid, whose outline is taken to be known to their spacing."""

_FEWEST_POINTS = 4
"""Points of a shape."""

_CELLS_OF_BOX = 10
"""Cells along a side of a box."""

_LIGHTEST_SHAPE, _DENSEST_SHAPE = 1e-2, 1e7
"""Density [kg/m³] beyond which a shape is in another unit than it is said to be."""

_UNITS_OF_LENGTH = {0.001: "millimetres", 0.01: "centimetres", 0.0254: "inches", 1.0: "metres"}


@dataclass(frozen=True, slots=True, eq=False)
class ShapePrior(Prior):
    """The density of the body is even but for a normal field, within an outline that is known.

    How uneven the density is, and how well the outline is known, the log says: the prior is a grid
    of both, weighed by their evidence. The mass is left to the log.

    Make one with `of_points`, `of_shape`, `of_box` or `read`.

    Attributes:
        mean: ten parameters of the even body of unit mass about Bo in B, shape (10,).
        density: their covariance for a density that varies by its own size, shape (10, 10).
        outline: error of the outline [m]; zero of a box that the body lies somewhere in.
        spacing: of the points, which may reach that far beyond the solid [m]; zero where they do
            not.
        volume: of the shape [m³].
        name: what it is, in words.
        scale: metres per unit that its file was read with.
    """

    kind: ClassVar[str] = "shape"

    mean: Phi
    density: Array
    outline: float
    spacing: float
    volume: float
    name: str
    scale: float = 1.0

    @classmethod
    def of_points(
        cls,
        points: Vec3,
        volumes: Array | None = None,
        *,
        at: Pose | None = None,
        error: float | None = None,
        name: str = "points",
    ) -> ShapePrior:
        """Points that fill the body.

        Args:
            points: in A [m], shape (n, 3).
            volumes: that each stands for [m³], shape (n,); alike where not given. Where they add up
                to far more than the cubes between the points, the points may reach beyond the body.
            at: pose of A in B; the same frame where not given.
            error: of the outline [m]; the spacing of the points where not given.
            name: what it is, in words.

        Raises:
            ModelError: not finite, fewer than four points, all in one place or a volume below zero.
            TermError: the error is none.
        """
        own = Points(points, np.ones(len(points)) if volumes is None else volumes)
        points, weights = own.positions, own.weights / own.weights.sum()
        if at is not None:
            points = at.apply(points)
        if len(points) < _FEWEST_POINTS:
            raise ModelError(
                f"{name}: {len(points)} points say nothing of a shape; expected "
                f"{_FEWEST_POINTS} or more"
            )
        spacing = _spacing(points, name)
        mean = weights @ point_parameters(points)
        mean[[4, 7, 9]] += spacing**2 / 6.0  # of a cube about each
        cubes = len(points) * spacing**3
        beyond = volumes is not None and float(own.weights.sum()) > _FAR_MORE * cubes
        found = cls._filled(mean, points, weights, spacing, error, cubes, name)
        return replace(found, spacing=spacing) if beyond else found

    @classmethod
    def of_shape(
        cls,
        shape: Shape,
        *,
        at: Pose | None = None,
        error: float | None = None,
        name: str | None = None,
    ) -> ShapePrior:
        """A mesh, or a solid.

        Args:
            shape: in A.
            at: pose of A in B; the same frame where not given.
            error: of the outline [m]; the spacing of 2000 points that fill it where not given.
            name: what it is, in words.

        Raises:
            ModelError: it fills no volume.
            TermError: the error is none.
        """
        interior = sample_interior(shape, _FILLED)
        pose = Pose.identity() if at is None else at
        body = shape.body(mass=1.0).in_frame(pose)
        weights = interior.volumes / interior.volumes.sum()
        spacing = (shape.measure / _FILLED) ** (1.0 / 3.0)
        points, name = pose.apply(interior.points), name or type(shape).__name__.lower()
        return cls._filled(body.phi, points, weights, spacing, error, shape.measure, name)

    @classmethod
    def of_box(cls, sides: Vec3, *, at: Pose | None = None) -> ShapePrior:
        """A box that the body lies somewhere in: of its mass nothing more is known.

        The shares of the mass that are in parts of the box follow a Dirichlet process about even.

        Args:
            sides: of the box, centred at Ao, along the axes of A [m], shape (3,).
            at: pose of A in B; the same frame where not given.

        Raises:
            TermError: a side that is not above zero.
        """
        sides = seal(sides, "box: sides", (3,))
        if not (sides > 0.0).all():
            raise TermError(f"box: expected three sides above zero, got {sides.tolist()} m")
        middles = (np.arange(_CELLS_OF_BOX) + 0.5) / _CELLS_OF_BOX - 0.5
        points = np.array(list(product(middles, repeat=3))) * sides
        own = point_parameters(points if at is None else at.apply(points))
        mean = own.mean(axis=0)
        words = " × ".join(f"{1e3 * side:.4g}" for side in sides)
        spread = (own - mean).T @ (own - mean) / len(own)
        return cls(mean, spread, 0.0, 0.0, float(np.prod(sides)), f"box of {words} mm")

    @classmethod
    def read(
        cls,
        path: Path | str,
        *,
        scale: float = 1.0,
        at: Pose | None = None,
        error: float | None = None,
    ) -> ShapePrior:
        """The shape of a file: a mesh (STL, OBJ, …), or a CSV of points x, y, z[, volume].

        Args:
            path: the file.
            scale: metres per unit of the file, 0.001 for one in millimetres.
            at: pose of the file's frame in B.
            error: of the outline [m].

        Raises:
            ModelError: no such file, or one that has no such shape.
        """
        path = Path(path)
        if path.suffix.lower() == ".csv":
            points, volumes = read_points(path, scale=scale)
            found = cls.of_points(points, volumes, at=at, error=error, name=path.name)
        else:
            mesh = read_mesh(path, scale=scale)
            found = cls.of_shape(mesh, at=at, error=error, name=path.name)
        return replace(found, scale=scale)

    @classmethod
    def _filled(
        cls,
        mean: Phi,
        points: Vec3,
        weights: Array,
        spacing: float,
        error: float | None,
        volume: float,
        name: str,
    ) -> ShapePrior:
        error = spacing if error is None else error
        if not (np.isfinite(error) and error > 0.0):
            raise TermError(f"{name}: expected an error of the outline above zero, got {error} m")
        spread = density_covariance(points, weights, _radius(mean))
        return cls(mean, spread, error, 0.0, volume, name)

    def mixture(self, mass: float) -> NormalMixture:
        """The grid of density, outline and overreach, of bodies of about a mass.

        Raises:
            TermError: no body of that mass is of that size.
        """
        self._require_likely(mass)
        if not self.outline:
            spread = np.multiply.outer(_SHARES_OF_BOX**2, self.density)
            means = np.broadcast_to(self.mean, (len(_SHARES_OF_BOX), 10))
            return _mixture(mass, means, spread, {"parts": _SHARES_OF_BOX})
        covariance = _central(self.mean)
        squares, axes = np.linalg.eigh(covariance)
        half = half_widths(squares)
        kappas, outlines = (_OVERREACH, _OUTLINE_OF_IT) if self.spacing else ((0.0,), _OUTLINE)
        s, o = (one.ravel() for one in np.meshgrid(_DENSITY, outlines, indexing="ij"))
        means, spreads = [], []
        for kappa in kappas:
            T = np.eye(4)
            T[:3, :3] = (axes / (1.0 + kappa * self.spacing / half)) @ axes.T
            T[:3, 3] = self.mean[1:4] - T[:3, :3] @ self.mean[1:4]
            shrink = congruence_map(T)
            mean = shrink @ self.mean
            outline = np.outer(o**2, outline_covariance(_central(mean), self.outline))
            density = np.outer(s**2, shrink @ self.density @ shrink.T)
            spreads.append((density + outline).reshape(-1, 10, 10))
            means.append(np.broadcast_to(mean, (len(s), 10)))
        settings = {"density": np.tile(s, len(kappas)), "outline": np.tile(o, len(kappas))}
        if self.spacing:
            settings["overreach"] = np.repeat(kappas, len(s))
        return _mixture(mass, np.concatenate(means), np.concatenate(spreads), settings)

    def _require_likely(self, mass: float) -> None:
        density = mass / self.volume
        if _LIGHTEST_SHAPE < density < _DENSEST_SHAPE:
            return
        scale = min(
            _UNITS_OF_LENGTH, key=lambda one: abs(np.log(density * (self.scale / one) ** 3 / 1e3))
        )
        raise TermError(
            f"the shape ({self.name}) is {2e3 * _radius(self.mean):.4g} mm across: with the "
            f"{mass:.4g} kg of the log its density would be {density:.2g} kg/m³. It is in another "
            f"unit: give scale={scale:g}, on the command line --shape-scale {scale:g} if it is in "
            f"{_UNITS_OF_LENGTH[scale]}"
        )

    def __str__(self) -> str:
        if not self.outline:
            return f"somewhere in a {self.name}"
        beyond = f", points may reach {1e3 * self.spacing:.2g} mm beyond it" if self.spacing else ""
        known = f"outline known to about {1e3 * self.outline:.2g} mm{beyond}"
        return f"shape of {self.name}, its density nearly even, {known}"

    def record(self) -> dict[str, object]:
        """Its mean and sizes too."""
        return {
            "kind": self.kind,
            "is": str(self),
            "mean": self.mean.tolist(),
            "outline": self.outline,
            "overreach": self.spacing,
            "volume": self.volume,
        }


def _spacing(points: Vec3, name: str) -> float:
    """Median distance of points from their nearest neighbour [m]."""
    from scipy.spatial import cKDTree  # slow to import, and rarely needed

    nearest = np.asarray(cKDTree(points).query(points, k=2)[0])[:, 1]
    spacing = float(np.median(nearest[nearest > 0.0])) if nearest.any() else 0.0
    if not spacing > 1e-9 * np.ptp(points, axis=0).max():
        raise ModelError(f"{name}: all points are in one place, which is no shape")
    return spacing


def _mixture(mass: float, mean: Phi, spread: Array, settings: Mapping[str, Array]) -> NormalMixture:
    """Bodies of a mass that is left open, of those of unit mass."""
    own = mass**2 * (mean[:, :, None] * mean[:, None, :] + spread)
    return NormalMixture(mass * mean, own, settings)


def _central(mean: Phi) -> Array:
    """Covariance of the points of a body of unit mass about its centroid, shape (3, 3)."""
    inertia = inertia_about_com(mean)
    return 0.5 * np.trace(inertia) * np.eye(3) - inertia


def _radius(mean: Phi) -> float:
    return float(np.sqrt(np.trace(_central(mean))))
