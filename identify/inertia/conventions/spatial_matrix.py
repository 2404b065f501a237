"""The 6×6 spatial inertia about the body's origin, linear or angular part first."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Mat66, Phi
from identify.errors import ModelError
from identify.inertia.conventions.sealing import seal_batch, seal_phi
from identify.inertia.matrices import six_from_symmetric, spatial_inertia, swap_spatial_order
from identify.spatial import vee

SpatialOrder: TypeAlias = Literal["linear first", "angular first"]

_STRUCTURE = 1e-9
"""How far from the form [[m 1, −ĥ], [ĥ, I]] a matrix may be, relative to what its entries are."""


def spatial_matrix(phi: ArrayLike, order: SpatialOrder) -> Mat66:
    """Spatial inertia about Bo in B in a named order of the parts of a twist.

    Linear first it is [[m 1, −ĥ], [ĥ, I]]; angular first [[I, ĥ], [−ĥ, m 1]].

    Args:
        phi: shape (..., 10).
        order: `linear first` (ours, Pinocchio) or `angular first` (Featherstone, Drake, DART).

    Returns:
        Shape (..., 6, 6).
    """
    return _linear_first(spatial_inertia(seal_phi(phi)), order)


def phi_from_spatial_matrix(matrix: ArrayLike, order: SpatialOrder) -> Phi:
    """Ten parameters of a rigid body's spatial inertia; inverse of `spatial_matrix`.

    Args:
        matrix: shape (..., 6, 6).
        order: as in `spatial_matrix`.

    Returns:
        Shape (..., 10).

    Raises:
        ModelError: no rigid body has this matrix (the mass block is not m 1, or the blocks beside
            it are not ±ĥ), as with fluid added mass.
    """
    M = _linear_first(seal_batch(matrix, "spatial inertia", (6, 6)), order)
    phi = np.empty((*M.shape[:-2], 10))
    phi[..., 0] = M[..., 0, 0]
    phi[..., 1:4] = vee(M[..., 3:, :3])
    phi[..., 4:] = six_from_symmetric(M[..., 3:, 3:])
    error = _structure_error(M, spatial_inertia(phi))
    if not (error <= _STRUCTURE):
        raise ModelError(
            f"spatial inertia ({order}): expected the blocks m 1, ±ĥ and a symmetric I of a rigid "
            f"body, got a matrix that is off by {error:.1e} of its scale; fluid added mass cannot "
            f"be said with ten parameters"
        )
    return phi


def _linear_first(matrix: Mat66, order: SpatialOrder) -> Mat66:
    if order == "linear first":
        return matrix
    if order != "angular first":
        raise ModelError(f"order: expected 'linear first' or 'angular first', got {order!r}")
    return swap_spatial_order(matrix)


def _structure_error(M: Mat66, rigid: Mat66) -> float:
    """Largest deviation of any block, each by its own unit: kg, kg m, kg m²."""
    mass = np.abs(M[..., :3, :3]).max(axis=(-2, -1), initial=0.0)
    inertia = np.abs(M[..., 3:, 3:]).max(axis=(-2, -1), initial=0.0)
    root_mass, root_inertia = np.sqrt(mass), np.sqrt(inertia)
    scale = np.repeat(np.stack((root_mass, root_inertia), axis=-1), 3, axis=-1)
    off = np.abs(M - rigid)
    limit = scale[..., :, None] * scale[..., None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(off == 0.0, 0.0, off / limit)
    return float(share.max(initial=0.0))
