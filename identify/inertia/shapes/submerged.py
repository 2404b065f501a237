"""Added mass of simple shapes in an unbounded ideal fluid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Mat66, Vec3
from identify.inertia.shapes.cylinder import Cylinder
from identify.inertia.shapes.ellipsoid import Ellipsoid, Sphere
from identify.inertia.shapes.ellipsoid_surface import STEP, multiples_of_step
from identify.inertia.shapes.sizes import positive


class _LambIntegrals(NamedTuple):
    """Integrals over λ from 0 to ∞ times abc / Δ, Δ² = (a² + λ)(b² + λ)(c² + λ).

    Attributes:
        alpha: of 1/(a² + λ), and so on, for each axis.
        kappa: of 1/((b² + λ)(c² + λ)), and so on, for each pair of the other two axes.
        mu: of λ/((b² + λ)(c² + λ)), and so on.
    """

    alpha: Array
    kappa: Array
    mu: Array


def ellipsoid_added_mass(shape: Ellipsoid | Sphere, fluid_density: float) -> Mat66:
    """Added mass of an ellipsoid about its centre, linear first [kg, kg m²], shape (6, 6).

    Lamb, Hydrodynamics (6th edition 1932), §§ 114 and 115, with the displaced mass m = 4/3 π ρ abc:

        M_x = m α / (2 − α),    J_x = m/5 (b² − c²)² κ / (2 − (b² + c²) κ),

    κ = (γ − β) / (b² − c²). Integrals of their own for κ, for 2 − α = β + γ and for
    2 − (b² + c²) κ = α + 2 μ keep the digits where axes are equal, and where the ellipsoid is thin.
    A sphere has M = m/2 · 1 and J = 0.

    Args:
        shape: the ellipsoid, or a sphere.
        fluid_density: ρ [kg/m³], positive.

    Raises:
        ModelError: a density that is not positive and finite.
    """
    axes = np.full(3, shape.radius) if isinstance(shape, Sphere) else shape.semi_axes
    displaced = positive(fluid_density, "fluid density", "kg/m³") * shape.volume
    scale = axes.max()
    squares = (axes / scale) ** 2
    alpha, kappa, mu = _lamb_integrals(squares)
    second, third = np.roll(squares, -1), np.roll(squares, -2)
    linear = alpha / (np.roll(alpha, -1) + np.roll(alpha, -2))
    angular = 0.2 * (second - third) ** 2 * kappa / (alpha + 2.0 * mu)
    return np.diag(displaced * np.concatenate((linear, scale**2 * angular)))


def _lamb_integrals(squares: Vec3) -> _LambIntegrals:
    """Lamb's integrals for the squared semi-axes, the largest of which is one."""
    log = multiples_of_step(np.log(squares.min()) - 40.0, 28.0)
    shifted = squares + np.exp(log)[:, None]
    # λ dlnλ √(a²b²c²) / √((a² + λ)(b² + λ)(c² + λ)), without overflow for thin ellipsoids.
    common = STEP * np.exp(log) * np.prod(np.sqrt(squares / shifted), axis=1)
    pairs = common[:, None] / (np.roll(shifted, -1, axis=1) * np.roll(shifted, -2, axis=1))
    return _LambIntegrals(
        alpha=common @ (1.0 / shifted), kappa=pairs.sum(axis=0), mu=np.exp(log) @ pairs
    )


def cylinder_added_mass(shape: Cylinder, fluid_density: float) -> Mat66:
    """Added mass of a long cylinder about its centre by strips, linear first, shape (6, 6).

    Each slice across the axis has the added mass of a circle in plane flow, ρ π r² a length (Lamb,
    § 68): M = ρ π r² l diag(1, 1, 0), J = ρ π r² l³/12 diag(1, 1, 0). The flow around the ends is
    left out, so it is for slender cylinders (DNV-RP-H103 has 0.90 of this M across at l = 10 r). M
    is singular: a recipe that inverts it (`added_mass_about_origin_by_blocks`) does not apply.

    Args:
        shape: the cylinder, along z.
        fluid_density: ρ [kg/m³], positive.

    Raises:
        ModelError: a density that is not positive and finite.
    """
    displaced = positive(fluid_density, "fluid density", "kg/m³") * shape.volume
    lever = shape.length**2 / 12.0
    return displaced * np.diag([1.0, 1.0, 0.0, lever, lever, 0.0])
