"""Area and second moments of the surface of an ellipsoid, to machine precision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Vec3

STEP = 0.375
"""Step of the trapezoid rule in a logarithm. The integrands are analytic for |Im ln t| < π, so that
the error falls as exp(−2 π²/step); it is 1e-14 at 0.5. Multiples of 3/8 are exact numbers: with
others the spacing itself is rounded, by as much."""


class SurfaceMoments(NamedTuple):
    """Moments of a surface of even density an area.

    Attributes:
        area: [m²].
        mean_squares: means of x², y² and z² over the surface [m²], shape (3,).
    """

    area: float
    mean_squares: Array


def multiples_of_step(lower: float, upper: float) -> Array:
    """The multiples of `STEP` from `lower` to `upper`."""
    return STEP * np.arange(np.floor(lower / STEP), np.ceil(upper / STEP) + 1.0)


def ellipsoid_surface(semi_axes: Vec3) -> SurfaceMoments:
    """Area and mean squares of the surface of an ellipsoid.

    With n even on the unit sphere, x = a n₁ and dA = √(Σ pⱼ nⱼ²) dΩ, p = (b²c², c²a², a²b²):

        area = 4π E[√(Σ p n²)],     ∫ x² dA = a² 4π E[n₁² √(Σ p n²)]

    Both means are one-dimensional integrals. With √s = ∫ (1 − e^{−ts}) t^{−3/2} dt / (2√π) and a
    Gaussian x = r n in the place of n, E e^{−t Σ p x²} = Π (1 + 2 t pⱼ)^{−1/2} = G(t), and by parts

        E[n₁^{2k} √(Σ p n²)] ∝ ∫ t^{½} G(t) (1 + 2 t p₁)^{−k} Σ wⱼ pⱼ / (1 + 2 t pⱼ) d ln t,

    wⱼ = 1, and 1 + 2k for j = 1. They are summed by the trapezoid rule in ln t, which converges
    exponentially. Measured against Carlson's symmetric integrals (area 4π R_G, DLMF 19.33.1) and a
    40-digit quadrature, for axes up to 1 : 10⁶: relative error below 1e-15.

    Args:
        semi_axes: a, b, c [m], positive, shape (3,).
    """
    scale = semi_axes.max()
    lengths = semi_axes / scale
    squares = lengths**2
    p = np.prod(squares) / squares
    log_t = multiples_of_step(-np.log(p.max()) - 76.0, -np.log(p.min()) + 26.0)
    t = np.exp(log_t)
    damping = 1.0 / (1.0 + 2.0 * t[:, None] * p)
    common = np.sqrt(t * np.prod(damping, axis=1))
    terms = p * damping
    total = terms.sum(axis=1)
    # For three Gaussians E r = 2 √(2/π), E r³ = 4 E r, and 4π / (√π E r) = √2 π.
    plain = common @ total
    weighted = common @ (damping * (total[:, None] + 2.0 * terms)) / 4.0
    area = np.sqrt(2.0) * np.pi * STEP * plain
    return SurfaceMoments(area * scale**2, squares * scale**2 * weighted / plain)
