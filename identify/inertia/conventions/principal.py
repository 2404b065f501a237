"""Principal axes as a right-handed frame."""

from __future__ import annotations

import itertools
from typing import Literal, NamedTuple

import numpy as np

from identify.arrays import Mat33, Vec3

Sorting = Literal["ascending", "descending", "unless diagonal"]
"""Order of the moments: `unless diagonal` keeps the body's axes where they are principal already,
and is ascending elsewhere."""

_SIGNS = np.array(list(itertools.product((1.0, -1.0), repeat=3)))
_ROUNDING = 4.0 * np.finfo(np.float64).eps
"""Products of inertia below this, relative to the largest moment, are zero but for rounding."""


class PrincipalFrame(NamedTuple):
    """I = R diag(moments) Rᵀ; the columns of R are the principal axes in B."""

    moments: Vec3
    rotation: Mat33


def principal_frame(inertia: Mat33, sorting: Sorting = "ascending") -> PrincipalFrame:
    """Principal moments and a right-handed set of principal axes.

    Axes are defined up to their signs, and within the plane or space of a repeated moment not at
    all: of the four right-handed choices of sign the one nearest to the body's axes is taken, and
    eigenvectors are orthonormal for repeated moments too, so R is always a proper rotation.

    Args:
        inertia: symmetric matrices, shape (..., 3, 3).
        sorting: order of the moments.

    Returns:
        Moments (..., 3) and rotations R_BC (..., 3, 3).
    """
    inertia = _without_rounding(np.asarray(inertia, dtype=np.float64))
    moments, axes = np.linalg.eigh(inertia)
    diagonal = np.diagonal(inertia, axis1=-2, axis2=-1)
    is_diagonal = (inertia == diagonal[..., None, :] * np.eye(3)).all(axis=(-2, -1))[..., None]
    moments = np.where(is_diagonal, diagonal, moments)
    axes = np.where(is_diagonal[..., None], np.eye(3), axes)
    if sorting != "unless diagonal":
        keys = moments if sorting == "ascending" else -moments
        order = np.argsort(keys, axis=-1, kind="stable")  # repeated moments keep their axes
        moments = np.take_along_axis(moments, order, axis=-1)
        axes = np.take_along_axis(axes, order[..., None, :], axis=-1)
    return PrincipalFrame(moments, axes * _nearest_signs(axes)[..., None, :])


def _without_rounding(inertia: Mat33) -> Mat33:
    scale = np.abs(inertia).max(axis=(-2, -1), keepdims=True, initial=0.0)
    negligible = (np.abs(inertia) <= _ROUNDING * scale) & ~np.eye(3, dtype=bool)
    return np.where(negligible, 0.0, inertia)


def _nearest_signs(axes: Mat33) -> Vec3:
    """Signs of the columns that make the frame right-handed with the largest trace."""
    traces = np.diagonal(axes, axis1=-2, axis2=-1) @ _SIGNS.T
    hand = np.sign(np.linalg.det(axes))[..., None] * _SIGNS.prod(axis=1)
    return _SIGNS[np.argmax(np.where(hand > 0.0, traces, -np.inf), axis=-1)]
