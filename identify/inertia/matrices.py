"""The ten parameters phi as a mass, a first moment and inertia matrices, and back; all batched.

phi = [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] about Bo in B, h = m c; products of inertia are
the matrix's off-diagonal entries. Order of Atkeson, An and Hollerbach (1986).
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat33, Mat66, Phi, Vec3
from identify.spatial import hat

_ROWS = np.array([0, 0, 0, 1, 1, 2])
_COLUMNS = np.array([0, 1, 2, 1, 2, 2])
_OTHER_ORDER = np.array([3, 4, 5, 0, 1, 2])
"""Row and column of the six entries Ixx, Ixy, Ixz, Iyy, Iyz, Izz."""


def symmetric_from_six(six: Array) -> Mat33:
    """Symmetric matrix of its entries xx, xy, xz, yy, yz, zz, shape (..., 6) to (..., 3, 3)."""
    six = np.asarray(six, dtype=np.float64)
    matrix = np.empty((*six.shape[:-1], 3, 3))
    matrix[..., _ROWS, _COLUMNS] = six
    matrix[..., _COLUMNS, _ROWS] = six
    return matrix


def six_from_symmetric(matrix: Mat33) -> Array:
    """Entries xx, xy, xz, yy, yz, zz of a symmetric matrix, shape (..., 3, 3) to (..., 6)."""
    matrix = np.asarray(matrix, dtype=np.float64)
    return 0.5 * (matrix[..., _ROWS, _COLUMNS] + matrix[..., _COLUMNS, _ROWS])


def inertia_about_origin(phi: Phi) -> Mat33:
    """Rotational inertia I_BBo_B [kg m²], shape (..., 3, 3)."""
    return symmetric_from_six(np.asarray(phi)[..., 4:])


def inertia_about_com(phi: Phi) -> Mat33:
    """Rotational inertia about the centre of mass, I_BBcm_B = I_BBo_B + m ĉ ĉ [kg m²].

    Args:
        phi: shape (..., 10), m not zero.

    Returns:
        Shape (..., 3, 3).
    """
    phi = np.asarray(phi, dtype=np.float64)
    h = hat(phi[..., 1:4])
    return inertia_about_origin(phi) + h @ h / phi[..., 0, None, None]


def phi_from_inertia(mass: Array | float, com: Vec3, inertia_about_com: Mat33) -> Phi:
    """Ten parameters from mass, centre of mass and the inertia about it (parallel axis theorem).

    Args:
        mass: [kg], shape (...).
        com: p_BoBcm_B [m], shape (..., 3).
        inertia_about_com: I_BBcm_B [kg m²], shape (..., 3, 3).

    Returns:
        Shape (..., 10).
    """
    mass = np.asarray(mass, dtype=np.float64)[..., None]
    com = np.asarray(com, dtype=np.float64)
    c = hat(com)
    about_origin = inertia_about_com - mass[..., None] * (c @ c)
    return np.concatenate((mass, mass * com, six_from_symmetric(about_origin)), axis=-1)


def spatial_inertia(phi: Phi) -> Mat66:
    """Spatial inertia about Bo in B, linear first: M = [[m 1, −ĥ], [ĥ, I]].

    The momentum [p; L] about Bo of a body with twist V = [v; w] is M V.

    Args:
        phi: shape (..., 10).

    Returns:
        Symmetric matrices, shape (..., 6, 6).
    """
    phi = np.asarray(phi, dtype=np.float64)
    h = hat(phi[..., 1:4])
    matrix = np.zeros((*phi.shape[:-1], 6, 6))
    matrix[..., :3, :3] = phi[..., 0, None, None] * np.eye(3)
    matrix[..., :3, 3:] = -h
    matrix[..., 3:, :3] = h
    matrix[..., 3:, 3:] = inertia_about_origin(phi)
    return matrix


def swap_spatial_order(matrix: Mat66) -> Mat66:
    """A 6×6 matrix with the linear and the angular part exchanged: its own inverse.

    Ours are linear first, as Gazebo's and SDF's; DART's, Drake's and Featherstone's angular first.

    Args:
        matrix: a spatial inertia or an added mass, shape (..., 6, 6).
    """
    return np.asarray(matrix, dtype=np.float64)[..., _OTHER_ORDER[:, None], _OTHER_ORDER]
