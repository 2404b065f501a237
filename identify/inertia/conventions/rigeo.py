"""rigeo: the ten numbers of `InertialParameters.vec`, which are ours; M is angular first.

The upper triangle of the inertia about the origin by rows, after the mass and the first moment.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from identify.arrays import Array, Mat66, Phi
from identify.inertia.conventions.spatial_matrix import phi_from_spatial_matrix, spatial_matrix
from identify.inertia.conventions.ten_orders import phi_from_ten, ten_from_phi


def rigeo_vector(phi: ArrayLike) -> Array:
    """`InertialParameters.vec`, shape (..., 10) to (..., 10)."""
    return ten_from_phi(phi, "rigeo")


def phi_from_rigeo_vector(vector: ArrayLike) -> Phi:
    """Ten parameters of rigeo's; inverse of `rigeo_vector`."""
    return phi_from_ten(vector, "rigeo")


def rigeo_matrix(phi: ArrayLike) -> Mat66:
    """`InertialParameters.M`, angular first, shape (..., 10) to (..., 6, 6)."""
    return spatial_matrix(phi, "angular first")


def phi_from_rigeo_matrix(matrix: ArrayLike) -> Phi:
    """Ten parameters of rigeo's M; inverse of `rigeo_matrix`."""
    return phi_from_spatial_matrix(matrix, "angular first")
