"""Second moments about the centre of mass, and what of them is rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Mat33, Phi, Vec3
from identify.errors import ModelError
from identify.inertia.second_moment import rounding_about_com, second_moment_about_com

ROUNDING = 1e-12
"""Violations below this, relative to the body's own spread, are rounding of the numbers."""

_FARTHEST, _LARGEST = 1e140, 1e300
"""Sizes [m, kg m²] whose squares and sums would overflow."""


class CentralSpectrum(NamedTuple):
    """Second moments of mass about the centre of mass, and what is zero among them.

    Attributes:
        values: eigenvalues of S_c, ascending [kg m²], shape (..., 3); −inf where m ≤ 0.
        limit: what is no farther from zero than this is zero [kg m²], shape (...).
    """

    values: Array
    limit: Array


def central_spectrum(phi: Phi, tolerance: float = ROUNDING) -> CentralSpectrum:
    """Eigenvalues of S_c, and the limit below which they are rounding.

    The limit is the larger of `tolerance` times the sum of their magnitudes and what double
    precision leaves of S_c in numbers given about Bo (`rounding_about_com`).

    Args:
        phi: shape (..., 10).
        tolerance: relative to the body's own spread.

    Raises:
        ModelError: a number is not finite.
    """
    phi = np.asarray(phi, dtype=np.float64)
    require_finite(phi)
    with np.errstate(over="ignore", invalid="ignore"):
        safe = np.where(phi[..., :1] > 0.0, phi, np.eye(10)[0])
        Sc = second_moment_about_com(safe)
        floor = rounding_about_com(safe)
        com = safe[..., 1:4] / safe[..., :1]
    possible = (phi[..., 0] > 0.0) & within_reach(com, Sc)
    values = np.linalg.eigvalsh(np.where(possible[..., None, None], Sc, 0.0))
    limit = np.maximum(tolerance * np.abs(values).sum(axis=-1), floor)
    return CentralSpectrum(
        np.where(possible[..., None], values, -np.inf), np.where(possible, limit, 0.0)
    )


def within_reach(com: Vec3, Sc: Mat33) -> Flags:
    """Whether a centre of mass and the second moments about it are of a size to reckon with.

    A mass of 1e-310 kg with an ordinary first moment has neither, and is no body.
    """
    near = np.all(np.abs(com) < _FARTHEST, axis=-1)
    return np.asarray(near & np.all(np.abs(Sc) < _LARGEST, axis=(-1, -2)))


def require_finite(phi: Phi) -> None:
    """Refuse ten parameters that are not finite numbers.

    Raises:
        ModelError: names the first of them.
    """
    finite = np.isfinite(phi)
    if phi.shape[-1:] != (10,):
        raise ModelError(f"phi: expected shape (..., 10), got {phi.shape}")
    if not finite.all():
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ModelError(f"phi: entry {where} is {phi[where]}; every entry must be finite")
