"""Featherstone's spatial inertia: angular first, about the origin of the body's coordinates.

[[I, ĥ], [ĥᵀ, m 1]], I = Ic + m ĉ ĉᵀ: Rigid Body Dynamics Algorithms (2008), equation 2.63; `mcI` of
spatial_v2.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from identify.arrays import Mat66, Phi
from identify.inertia.conventions.spatial_matrix import phi_from_spatial_matrix, spatial_matrix


def featherstone_inertia(phi: ArrayLike) -> Mat66:
    """Spatial inertia, angular first, shape (..., 10) to (..., 6, 6)."""
    return spatial_matrix(phi, "angular first")


def phi_from_featherstone_inertia(matrix: ArrayLike) -> Phi:
    """Ten parameters of an angular-first spatial inertia; inverse of `featherstone_inertia`."""
    return phi_from_spatial_matrix(matrix, "angular first")
