"""Adaptive integration of a density's moments over a box."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Mat44, Vec3
from identify.errors import ModelError

DensityFunction = Callable[[Vec3], Array]
"""Density [kg/m³] at points (n, 3) [m], shape (n,); zero or more."""

_START = 4
"""Cells along each axis to begin with, of six points each."""
_CHUNK = 400
"""Cells whose points are in memory at once: some 140 000 points."""
_OCTANTS = np.array(list(product((-1.0, 1.0), repeat=3)))


class Cubature(NamedTuple):
    """Moments of a density.

    Attributes:
        moments: ∫ρ [r; 1] [r; 1]ᵀ dV about `about` [kg, kg m, kg m²], shape (4, 4).
        about: reference point, the middle of the box [m], shape (3,).
        error: estimated error of the moments about the centroid: of the mass relative to it, of the
            centroid in standard deviations σ, of the covariance in σ².
        evaluations: how many densities were asked for.
    """

    moments: Mat44
    about: Vec3
    error: float
    evaluations: int


class _Cells(NamedTuple):
    """Cells of the subdivision, their moments about the middle of the box, and their errors."""

    centres: Vec3
    halves: Vec3
    moments: Array
    errors: Array

    def only(self, rows: Indices) -> _Cells:
        return _Cells(self.centres[rows], self.halves[rows], self.moments[rows], self.errors[rows])


def integrate_density(
    density: DensityFunction, lower: Vec3, upper: Vec3, tolerance: float, most: int
) -> Cubature:
    """Moments of a density over a box, by adaptive cubature.

    A cell is cut into eight where the product rules of 6³ and of 5³ Gauss-Legendre points differ;
    the difference is the error of the lower one, so the estimate is a careful one.

    Args:
        density: asked at many points at once.
        lower: smallest coordinates of the box [m], shape (3,).
        upper: largest coordinates [m], shape (3,).
        tolerance: largest `Cubature.error`.
        most: largest number of evaluations.

    Raises:
        ModelError: a density that is negative, not finite or zero everywhere, or no convergence.
    """
    about, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    steps = (2.0 * np.arange(_START) + 1.0) / _START - 1.0
    centres = np.array(list(product(steps, repeat=3))) * half
    cells = _evaluated(density, centres, np.tile(half / _START, (len(centres), 1)), about)
    evaluations = len(centres) * len(_NODES)
    while True:
        total = cells.moments.sum(axis=0)
        if not total[3, 3] > 0.0:
            raise ModelError(
                f"density: it is zero at all {evaluations} points looked at; "
                f"choose a box that fits the body closely"
            )
        share = _relative(cells.errors, total)
        error = float(share.sum())
        if error <= tolerance:
            return Cubature(total, about, error, evaluations)
        # The cells with the smallest errors may keep half of what is allowed; others are cut.
        order = np.argsort(share)
        kept = np.cumsum(share[order]) <= 0.5 * tolerance
        keep, cut = cells.only(order[kept]), cells.only(order[~kept])
        fresh = 8 * len(cut.centres) * len(_NODES)
        if evaluations + fresh > most:
            raise ModelError(
                f"density: moments known to a relative {error:.1e} only, expected {tolerance:.1e}, "
                f"after {evaluations} evaluations (the next round goes beyond {most}); give a "
                f"larger tolerance, more evaluations or a closer box; where the density jumps, "
                f"integrate each side in a box of its own, or use a mesh"
            )
        evaluations += fresh
        cells = _joined(keep, _evaluated(density, *_octants(cut), about))


def _octants(cells: _Cells) -> tuple[Vec3, Vec3]:
    halves = np.repeat(0.5 * cells.halves, 8, axis=0)
    return np.repeat(cells.centres, 8, axis=0) + halves * np.tile(
        _OCTANTS, (len(cells.centres), 1)
    ), halves


def _joined(first: _Cells, second: _Cells) -> _Cells:
    return _Cells(
        centres=np.concatenate((first.centres, second.centres)),
        halves=np.concatenate((first.halves, second.halves)),
        moments=np.concatenate((first.moments, second.moments)),
        errors=np.concatenate((first.errors, second.errors)),
    )


def _relative(errors: Array, total: Mat44) -> Array:
    """Largest entry of each cell's error, moved to the centroid, in units of mass and σ."""
    mass, mean = total[3, 3], total[:3, 3] / total[3, 3]
    squares = np.diag(total)[:3] / mass
    sigma = np.sqrt(np.maximum(squares - mean**2, 1e-24 * squares))
    move = np.eye(4)
    move[:3, 3] = -mean
    move[:3] /= sigma[:, None]
    return np.abs(move @ errors @ move.T).max(axis=(1, 2)) / mass


def _evaluated(density: DensityFunction, centres: Vec3, halves: Vec3, about: Vec3) -> _Cells:
    moments, errors = np.empty((2, len(centres), 4, 4))
    for start in range(0, len(centres), _CHUNK):
        some = slice(start, start + _CHUNK)
        points = centres[some, None] + halves[some, None] * _NODES
        values = _checked(density, (points + about).reshape(-1, 3)).reshape(points.shape[:2])
        values = 8.0 * np.prod(halves[some], axis=1)[:, None] * values
        homogeneous = np.concatenate((points, np.ones((*points.shape[:2], 1))), axis=2)
        transposed = np.swapaxes(homogeneous, 1, 2)
        moments[some] = transposed @ (homogeneous * (values * _WEIGHTS)[..., None])
        errors[some] = transposed @ (homogeneous * (values * _DIFFERENCE)[..., None])
    return _Cells(centres, halves, moments, errors)


def _checked(density: DensityFunction, points: Vec3) -> Array:
    values = np.asarray(density(points), dtype=np.float64)
    if values.shape != (len(points),):
        raise ModelError(
            f"density: expected {len(points)} numbers for points of shape {points.shape}, "
            f"got shape {values.shape}; it is asked at many points at once"
        )
    bad = ~(np.isfinite(values) & (values >= 0.0))
    if bad.any():
        k = int(np.flatnonzero(bad)[0])
        raise ModelError(
            f"density: {values[k]:g} kg/m³ at {points[k].tolist()} m; expected zero or more, finite"
        )
    return values


def _product_rule(order: int) -> tuple[Array, Array]:
    """Gauss-Legendre points in [−1, 1]³ and weights that sum to one."""
    x, w = np.polynomial.legendre.leggauss(order)
    return np.array(list(product(x, repeat=3))), np.array(list(product(w, repeat=3))).prod(1) / 8.0


_SIXTH, _FIFTH = _product_rule(6), _product_rule(5)
_NODES = np.concatenate((_SIXTH[0], _FIFTH[0]))
_WEIGHTS = np.concatenate((_SIXTH[1], np.zeros(len(_FIFTH[1]))))
_DIFFERENCE = np.concatenate((_SIXTH[1], -_FIFTH[1]))
