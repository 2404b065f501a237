"""A body given by its density as a function of position."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from identify.arrays import Mat33, Vec3, seal
from identify.errors import ModelError
from identify.inertia.shapes.box import Box
from identify.inertia.shapes.cubature import Cubature, DensityFunction, integrate_density
from identify.inertia.shapes.shape import Extent, Shape
from identify.inertia.shapes.sizes import positive


@dataclass(frozen=True, slots=True, eq=False)
class DensityField(Shape):
    """A body of a given density in a box: in kg/m³ for `phi()`, in any unit for `phi(mass=...)`.

    Mean and covariance are those of the density as a distribution of probability: E[r] = c, and
    S_c = m Σ. (The first moment h = m c is its mean only where m = 1.)

    Attributes:
        density: [kg/m³] at points (n, 3) [m], shape (n,), zero or more. Smooth ones converge to
            1e-8 within a million evaluations, ones that jump to about 1e-2 (their true errors are
            smaller, some 1e-11 and 1e-3). What is narrower than a thirtieth of the box may be
            overlooked.
        lower: smallest coordinates of the box [m], shape (3,). Nothing outside it counts.
        upper: largest coordinates of the box [m], shape (3,).
        tolerance: largest estimated error: of the mass relative to the mass, of the mean in
            standard deviations, of the covariance in variances.
        evaluations: how many densities may be asked for at most.
        cubature: the integrals, with the estimated error that was reached.

    Raises:
        ModelError: an empty box, a density that is negative or not finite somewhere or zero
            everywhere, or a tolerance that is not reached.
    """

    density: DensityFunction
    lower: Vec3
    upper: Vec3
    tolerance: float = 1e-8
    evaluations: int = 4_000_000
    cubature: Cubature = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lower = seal(self.lower, "density: lower", (3,))
        upper = seal(self.upper, "density: upper", (3,))
        if not (lower < upper).all():
            raise ModelError(
                f"density: the box from {lower.tolist()} to {upper.tolist()} m is empty; "
                f"expected lower < upper along each axis"
            )
        tolerance = positive(self.tolerance, "density: tolerance", "1")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(
            self,
            "cubature",
            integrate_density(self.density, lower, upper, tolerance, self.evaluations),
        )

    @property
    def extent(self) -> Extent:
        """Its own density."""
        return "weight"

    @property
    def density_if_not_said(self) -> float:
        """One: the density is in kg/m³."""
        return 1.0

    @property
    def error(self) -> float:
        """Estimated relative error that was reached, at most the tolerance."""
        return self.cubature.error

    @property
    def measure(self) -> float:
        """Mass ∫ρ dV [kg]."""
        return float(self.cubature.moments[3, 3])

    @property
    def mean(self) -> Vec3:
        """Mean of the density, E[r] = c [m], shape (3,)."""
        return self.centroid

    @property
    def centroid(self) -> Vec3:
        """The mean: the centre of mass p_AoAcm_A [m], shape (3,)."""
        moments = self.cubature.moments
        return self.cubature.about + moments[:3, 3] / moments[3, 3]

    @property
    def covariance(self) -> Mat33:
        """Covariance of the density, E[(r − c)(r − c)ᵀ] = S_c / m [m²], shape (3, 3)."""
        moments = self.cubature.moments
        mean = moments[:3, 3] / moments[3, 3]
        return moments[:3, :3] / moments[3, 3] - np.outer(mean, mean)

    @property
    def second_moment(self) -> Mat33:
        """S = ∫ρ r rᵀ dV = m (Σ + c cᵀ) about Ao [kg m²], shape (3, 3)."""
        return self.measure * (self.covariance + np.outer(self.mean, self.mean))

    @property
    def corners(self) -> Vec3:
        """Corners of the box [m]: where in it the density is zero is not known."""
        return 0.5 * (self.lower + self.upper) + Box(*(self.upper - self.lower)).corners

    def support_points(self, directions: Vec3) -> Vec3:
        """The corner of the box that reaches farthest."""
        return np.where(np.asarray(directions) < 0.0, self.lower, self.upper)
