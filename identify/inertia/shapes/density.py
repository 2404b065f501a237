"""Bodies that bring their own weights: point masses, and a density as a function of position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Mat33, Mat44, Vec3, positive, seal
from identify.errors import ModelError
from identify.inertia.shapes.shape import Extent, Moments, Shape

DensityFunction = Callable[[Vec3], Array]
"""Density [kg/m³] at points (n, 3) [m], shape (n,); zero or more."""

_ORDERS = (16, 24, 36, 54, 81, 121, 181, 271)
"""Gauss-Legendre points along each axis, in the order they are tried."""


@dataclass(frozen=True, slots=True, eq=False)
class Points(Shape):
    """Point masses. `body()` takes the weights as masses, `body(mass=...)` their ratios only.

    Attributes:
        positions: in A [m], shape (n, 3), n ≥ 1.
        weights: masses [kg] or shares of the mass, shape (n,), zero or more.
    """

    extent: ClassVar[Extent] = "weight"

    positions: Vec3
    weights: Array

    def __post_init__(self) -> None:
        positions = seal(self.positions, "points: positions", (None, 3))
        weights = seal(self.weights, "points: weights", (len(positions),))
        if (weights < 0.0).any():
            k = int(np.flatnonzero(weights < 0.0)[0])
            raise ModelError(f"points: weight {k} is {weights[k]:g}; expected zero or more")
        if not weights.sum() > 0.0:
            raise ModelError("points: the weights are all zero, or there is no point")
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "weights", weights)

    def moments(self) -> Moments:
        """Sum of the weights [kg], weighted mean [m] and covariance [m²] of the positions."""
        total = self.weights.sum()
        mean = self.weights @ self.positions / total
        offsets = self.positions - mean
        return Moments(float(total), mean, (offsets * (self.weights / total)[:, None]).T @ offsets)


@dataclass(frozen=True, slots=True, eq=False)
class DensityField(Shape):
    """A body of a given density in a box: in kg/m³ for `body()`, in any unit for `body(mass=...)`.

    Mean and covariance are those of the density as a distribution of probability: E[r] = c, and
    S_c = m Σ. (The first moment h = m c is its mean only where m = 1.)

    Attributes:
        density: [kg/m³] at points (n, 3) [m], shape (n,), zero or more; it is asked at many points
            at once. Smooth ones converge to 1e-8 and beyond, ones that jump to about 1e-2. What is
            narrower than a thirtieth of the box may be overlooked.
        lower: smallest coordinates of the box [m], shape (3,). Nothing outside it counts.
        upper: largest coordinates of the box [m], shape (3,).
        tolerance: largest estimated error: of the mass relative to the mass, of the mean in
            standard deviations, of the covariance in variances.
        evaluations: how many densities may be asked for at most.
        error: estimated error that was reached: by how much the last two orders of the product rule
            of Gauss and Legendre differ.

    Raises:
        ModelError: an empty box, a density that is negative or not finite somewhere or zero
            everywhere, or a tolerance that is not reached.
    """

    extent: ClassVar[Extent] = "weight"

    density: DensityFunction
    lower: Vec3
    upper: Vec3
    tolerance: float = 1e-8
    evaluations: int = 4_000_000
    error: float = field(init=False)
    _moments: Moments = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lower = seal(self.lower, "density: lower", (3,))
        upper = seal(self.upper, "density: upper", (3,))
        if not (lower < upper).all():
            raise ModelError(
                f"density: the box from {lower.tolist()} to {upper.tolist()} m is empty; "
                f"expected lower < upper along each axis"
            )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        integrals, error = self._integrate(positive(self.tolerance, "density: tolerance", "1"))
        mean, covariance = _mean_and_covariance(integrals)
        moments = Moments(float(integrals[3, 3]), 0.5 * (lower + upper) + mean, covariance)
        object.__setattr__(self, "error", error)
        object.__setattr__(self, "_moments", moments)

    def moments(self) -> Moments:
        """Mass ∫ρ dV [kg], mean E[r] = c [m], covariance E[(r − c)(r − c)ᵀ] = S_c / m [m²]."""
        return self._moments

    def _integrate(self, tolerance: float) -> tuple[Mat44, float]:
        """∫ρ [r; 1] [r; 1]ᵀ dV about the middle of the box, and its estimated error."""
        before, asked, error = None, 0, np.inf
        for order in _ORDERS:
            if asked + order**3 > self.evaluations:
                break
            asked += order**3
            moments = self._product_rule(order)
            if before is not None and moments[3, 3] > 0.0:
                error = _difference(before, moments)
                if error <= tolerance:
                    return moments, error
            before = moments
        if before is not None and not before[3, 3] > 0.0:
            raise ModelError(
                f"density: it is zero at all {asked} points looked at; "
                f"choose a box that fits the body closely"
            )
        raise ModelError(
            f"density: moments known to a relative {error:.1e} only, expected {tolerance:.1e}, "
            f"after {asked} evaluations (the next order goes beyond {self.evaluations}); give a "
            f"larger tolerance, more evaluations or a closer box; where the density jumps, "
            f"integrate each side in a box of its own, or use a mesh"
        )

    def _product_rule(self, order: int) -> Mat44:
        """The moments by a product rule, a slice across x at a time."""
        nodes, weights = np.polynomial.legendre.leggauss(order)
        half = 0.5 * (self.upper - self.lower)
        points = np.ones((order * order, 4))
        points[:, 1:3] = np.array(list(product(nodes, repeat=2))) * half[1:]
        shares = np.prod(half) * np.multiply.outer(weights, weights).ravel()
        total = np.zeros((4, 4))
        for node, weight in zip(nodes, weights, strict=True):
            points[:, 0] = node * half[0]
            values = self._asked(points[:, :3] + 0.5 * (self.lower + self.upper))
            total += points.T @ (points * (weight * shares * values)[:, None])
        return total

    def _asked(self, points: Vec3) -> Array:
        values = np.asarray(self.density(points), dtype=np.float64)
        if values.shape != (len(points),):
            raise ModelError(
                f"density: expected {len(points)} numbers for points of shape {points.shape}, "
                f"got shape {values.shape}; it is asked at many points at once"
            )
        bad = ~(np.isfinite(values) & (values >= 0.0))
        if bad.any():
            k = int(np.flatnonzero(bad)[0])
            raise ModelError(
                f"density: {values[k]:g} kg/m³ at {points[k].tolist()} m; "
                f"expected zero or more, finite"
            )
        return values


def _mean_and_covariance(moments: Mat44) -> tuple[Vec3, Mat33]:
    mean = moments[:3, 3] / moments[3, 3]
    return mean, moments[:3, :3] / moments[3, 3] - np.outer(mean, mean)


def _difference(before: Mat44, moments: Mat44) -> float:
    """Largest difference of two moments, moved to the centroid, in units of mass and σ."""
    mean, covariance = _mean_and_covariance(moments)
    squares = np.diag(covariance) + mean**2
    move = np.eye(4)
    move[:3, 3] = -mean
    move[:3] /= np.sqrt(np.maximum(np.diag(covariance), 1e-24 * squares))[:, None]
    return float(np.abs(move @ (moments - before) @ move.T).max() / moments[3, 3])
