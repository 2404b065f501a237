"""Prior from the shape of a body: points, a mesh, or a box that contains it."""

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
from identify.estimation.priors.prior import NormalMixture, Prior
from identify.estimation.priors.shape_covariance import (
    box_half_sides,
    density_covariance,
    outline_covariance,
    point_parameters,
)
from identify.inertia import inertia_about_com
from identify.inertia.frames import congruence_map
from identify.inertia.shapes import PointMasses, Shape, read_mesh
from identify.inertia.shapes.interior import sample_interior
from identify.inertia.shapes.points import read_points
from identify.spatial import Pose

_DENSITY_DEVIATIONS = np.geomspace(0.05, 1.6, 6)
"""Grid of relative standard deviations of the density about a uniform density."""

_OUTLINE_ERROR_FACTORS = (0.25, 0.5, 1.0, 2.0)
"""Grid of the errors of a body's outline, as multiples of the error that the user gives."""

_POINT_OVERREACH, _OVERREACH_OUTLINE_ERRORS = (0.0, 0.5, 1.0, 1.5), (0.25, 0.5, 1.0)
"""Grid of the distance by which points reach beyond the solid, in their spacing, and of the
relative outline errors in that case."""

_BOX_CONCENTRATIONS = np.geomspace(0.25, 1.0, 4)
"""Grid of the concentration of a body's mass in a box that contains it: from a body that fills much
of the box to one concentrated in a point."""

_OVERLAP_FACTOR = 20.0
"""Total volume of points, in cubes of their spacing, above which they may reach beyond the body."""

_FILL_POINTS = 2000
"""Number of points that fill a mesh or a solid; their spacing is the default outline error."""

_MIN_POINTS = 4
"""Fewest points of a shape."""

_CELLS_PER_BOX_SIDE = 10
"""Number of cells along a side of a box."""

_MIN_SHAPE_DENSITY, _MAX_SHAPE_DENSITY = 1e-2, 1e7
"""Densities [kg/m³] below and above which a shape must be in another unit of length."""

_UNITS_OF_LENGTH = {0.001: "millimetres", 0.01: "centimetres", 0.0254: "inches", 1.0: "metres"}


@dataclass(frozen=True, slots=True, eq=False)
class ShapePrior(Prior):
    """Prior of a body of uniform density plus a normal random field, within a known outline.

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
        """Create a prior from points that fill the body.

        Args:
            points: in A [m], shape (n, 3).
            volumes: that each stands for [m³], shape (n,); alike where not given. Where they add up
                to far more than the cubes between the points, the points may reach beyond the body.
            at: pose of A in B; the same frame where not given.
            error: of the outline [m]; the spacing of the points where not given.
            name: what it is, in words.

        Raises:
            ModelError: not finite, fewer than four points, all in one place or a volume below zero.
            TermError: the error is not above zero.
        """
        shape = PointMasses(points, np.ones(len(points)) if volumes is None else volumes)
        points, weights = shape.positions, shape.weights / shape.weights.sum()
        if at is not None:
            points = at.apply(points)
        if len(points) < _MIN_POINTS:
            raise ModelError(
                f"{name}: {len(points)} points do not define a shape; expected {_MIN_POINTS} or "
                "more"
            )
        spacing = _spacing(points, name)
        mean = weights @ point_parameters(points)
        mean[[4, 7, 9]] += spacing**2 / 6.0  # of a cube about each
        cubes = len(points) * spacing**3
        beyond = volumes is not None and float(shape.weights.sum()) > _OVERLAP_FACTOR * cubes
        error = spacing if error is None else error
        prior = cls._from_points(mean, points, weights, error, cubes, name)
        return replace(prior, spacing=spacing) if beyond else prior

    @classmethod
    def of_shape(
        cls,
        shape: Shape,
        *,
        at: Pose | None = None,
        error: float | None = None,
        name: str | None = None,
    ) -> ShapePrior:
        """Create a prior from a mesh or a solid.

        Args:
            shape: in A.
            at: pose of A in B; the same frame where not given.
            error: of the outline [m]; the spacing of 2000 points that fill it where not given.
            name: what it is, in words.

        Raises:
            ModelError: it fills no volume.
            TermError: the error is not above zero.
        """
        interior = sample_interior(shape, _FILL_POINTS)
        pose = Pose.identity() if at is None else at
        body = shape.body(mass=1.0).in_frame(pose)
        weights = interior.volumes / interior.volumes.sum()
        error = float((shape.measure / _FILL_POINTS) ** (1.0 / 3.0)) if error is None else error
        points, name = pose.apply(interior.points), name or type(shape).__name__.lower()
        return cls._from_points(body.phi, points, weights, error, shape.measure, name)

    @classmethod
    def of_box(cls, sides: Vec3, *, at: Pose | None = None) -> ShapePrior:
        """Create a prior from a box that contains the body.

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
        middles = (np.arange(_CELLS_PER_BOX_SIDE) + 0.5) / _CELLS_PER_BOX_SIDE - 0.5
        points = np.array(list(product(middles, repeat=3))) * sides
        parameters = point_parameters(points if at is None else at.apply(points))
        mean = parameters.mean(axis=0)
        words = " × ".join(f"{1e3 * side:.4g}" for side in sides)
        spread = (parameters - mean).T @ (parameters - mean) / len(parameters)
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
        """Read a shape from a mesh (STL, OBJ, …) or a CSV file of points x, y, z[, volume].

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
            prior = cls.of_points(points, volumes, at=at, error=error, name=path.name)
        else:
            mesh = read_mesh(path, scale=scale)
            prior = cls.of_shape(mesh, at=at, error=error, name=path.name)
        return replace(prior, scale=scale)

    @classmethod
    def _from_points(
        cls,
        mean: Phi,
        points: Vec3,
        weights: Array,
        error: float,
        volume: float,
        name: str,
    ) -> ShapePrior:
        if not (np.isfinite(error) and error > 0.0):
            raise TermError(f"{name}: expected an error of the outline above zero, got {error} m")
        spread = density_covariance(points, weights, _rms_radius(mean))
        return cls(mean, spread, error, 0.0, volume, name)

    def mixture(self, mass: float) -> NormalMixture:
        """Return normal distributions of the parameters for a mass, over a grid of shape errors.

        Raises:
            TermError: no body of that mass is of that size.
        """
        self._require_plausible_density(mass)
        if not self.outline:
            spread = np.multiply.outer(_BOX_CONCENTRATIONS**2, self.density)
            means = np.broadcast_to(self.mean, (len(_BOX_CONCENTRATIONS), 10))
            return _scaled_mixture(mass, means, spread, {"parts": _BOX_CONCENTRATIONS})
        covariance = _covariance_of_points(self.mean)
        squares, axes = np.linalg.eigh(covariance)
        half = box_half_sides(squares)
        kappas, outlines = (
            (_POINT_OVERREACH, _OVERREACH_OUTLINE_ERRORS)
            if self.spacing
            else ((0.0,), _OUTLINE_ERROR_FACTORS)
        )
        s, o = (one.ravel() for one in np.meshgrid(_DENSITY_DEVIATIONS, outlines, indexing="ij"))
        means, spreads = [], []
        for kappa in kappas:
            T = np.eye(4)
            T[:3, :3] = (axes / (1.0 + kappa * self.spacing / half)) @ axes.T
            T[:3, 3] = self.mean[1:4] - T[:3, :3] @ self.mean[1:4]
            shrink = congruence_map(T)
            mean = shrink @ self.mean
            outline = np.outer(o**2, outline_covariance(_covariance_of_points(mean), self.outline))
            density = np.outer(s**2, shrink @ self.density @ shrink.T)
            spreads.append((density + outline).reshape(-1, 10, 10))
            means.append(np.broadcast_to(mean, (len(s), 10)))
        settings = {"density": np.tile(s, len(kappas)), "outline": np.tile(o, len(kappas))}
        if self.spacing:
            settings["overreach"] = np.repeat(kappas, len(s))
        return _scaled_mixture(mass, np.concatenate(means), np.concatenate(spreads), settings)

    def _require_plausible_density(self, mass: float) -> None:
        density = mass / self.volume
        if _MIN_SHAPE_DENSITY < density < _MAX_SHAPE_DENSITY:
            return
        scale = min(
            _UNITS_OF_LENGTH,
            key=lambda unit: abs(np.log(density * (self.scale / unit) ** 3 / 1e3)),
        )
        raise TermError(
            f"the shape ({self.name}) is {2e3 * _rms_radius(self.mean):.4g} mm across: with the "
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
        """Return the prior with its mean and sizes as plain values."""
        return {
            "kind": self.kind,
            "is": str(self),
            "mean": self.mean.tolist(),
            "outline": self.outline,
            "overreach": self.spacing,
            "volume": self.volume,
        }


def _spacing(points: Vec3, name: str) -> float:
    """Return the median distance of points from their nearest neighbours [m]."""
    from scipy.spatial import cKDTree  # slow to import, and rarely needed

    nearest = np.asarray(cKDTree(points).query(points, k=2)[0])[:, 1]
    spacing = float(np.median(nearest[nearest > 0.0])) if nearest.any() else 0.0
    if not spacing > 1e-9 * np.ptp(points, axis=0).max():
        raise ModelError(f"{name}: all points coincide; expected points that fill the body")
    return spacing


def _scaled_mixture(
    mass: float, mean: Phi, spread: Array, settings: Mapping[str, Array]
) -> NormalMixture:
    """Scale normal distributions of bodies of unit mass to an uncertain mass."""
    covariances = mass**2 * (mean[:, :, None] * mean[:, None, :] + spread)
    return NormalMixture(mass * mean, covariances, settings)


def _covariance_of_points(mean: Phi) -> Array:
    """Return the covariance of the points of a body of unit mass, shape (3, 3)."""
    inertia = inertia_about_com(mean)
    return 0.5 * np.trace(inertia) * np.eye(3) - inertia


def _rms_radius(mean: Phi) -> float:
    return float(np.sqrt(np.trace(_covariance_of_points(mean))))
