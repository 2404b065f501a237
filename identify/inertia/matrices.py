"""The ten parameters phi as inertia, spatial, pseudo-inertia and second-moment matrices, and back.

phi = [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] about Bo in B, h = m c; products of inertia are
the matrix's off-diagonal entries. The order is that of Atkeson, An and Hollerbach, "Estimation of
inertial parameters of manipulator loads and links" (1986). Momentum and kinetic energy are products
with the spatial inertia.
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat33, Mat44, Mat66, Phi, PhiLike, Vec3, Vec6, as_real, seal
from identify.spatial import Pose, PoseLike, hat
from identify.spatial.rotations import cross, rotate

_SIX_ROWS = np.array([0, 0, 0, 1, 1, 2])
"""Row of each of the six entries Ixx, Ixy, Ixz, Iyy, Iyz, Izz."""
_SIX_COLUMNS = np.array([0, 1, 2, 1, 2, 2])
"""Row and column of the six entries Ixx, Ixy, Ixz, Iyy, Iyz, Izz."""
_SWAPPED_ORDER = np.array([3, 4, 5, 0, 1, 2])
"""Indices that exchange the linear and the angular part of a 6×6 matrix."""
_ROUNDING_ULPS = 8.0
"""Number of rounding errors that add up in second moments about the centre of mass."""


def symmetric_from_entries(six: Array) -> Mat33:
    """Build symmetric matrices from xx, xy, xz, yy, yz, zz, shape (..., 6) to (..., 3, 3)."""
    six = as_real(six, "six")
    matrix = np.empty((*six.shape[:-1], 3, 3))
    matrix[..., _SIX_ROWS, _SIX_COLUMNS] = six
    matrix[..., _SIX_COLUMNS, _SIX_ROWS] = six
    return matrix


def entries_from_symmetric(matrix: Mat33) -> Array:
    """Return xx, xy, xz, yy, yz, zz of symmetric matrices, shape (..., 3, 3) to (..., 6)."""
    matrix = as_real(matrix, "matrix")
    return 0.5 * (matrix[..., _SIX_ROWS, _SIX_COLUMNS] + matrix[..., _SIX_COLUMNS, _SIX_ROWS])


def inertia_about_origin(phi: PhiLike) -> Mat33:
    """Return the rotational inertia about the origin, I_BBo_B [kg m²], shape (..., 3, 3)."""
    return symmetric_from_entries(as_real(phi, "phi")[..., 4:])


def inertia_about_com(phi: PhiLike) -> Mat33:
    """Return the rotational inertia about the centre of mass, I_BBcm_B = I_BBo_B + m ĉ ĉ [kg m²].

    Args:
        phi: shape (..., 10), m not zero.

    Returns:
        Shape (..., 3, 3).
    """
    phi = as_real(phi, "phi")
    h = hat(phi[..., 1:4])
    return inertia_about_origin(phi) + h @ h / phi[..., 0, None, None]


def phi_from_inertia(mass: Array | float, com: Vec3, inertia_about_com: Mat33) -> Phi:
    """Compute the ten parameters from mass, centre of mass and the inertia about it.

    Args:
        mass: [kg], shape (...).
        com: p_BoBcm_B [m], shape (..., 3).
        inertia_about_com: I_BBcm_B [kg m²], shape (..., 3, 3).

    Returns:
        Shape (..., 10).
    """
    mass = as_real(mass, "mass")[..., None]
    com = as_real(com, "com")
    c = hat(com)
    about_origin = inertia_about_com - mass[..., None] * (c @ c)
    return np.concatenate((mass, mass * com, entries_from_symmetric(about_origin)), axis=-1)


def spatial_inertia(phi: PhiLike) -> Mat66:
    """Return the spatial inertia about Bo in B, linear first: M = [[m 1, −ĥ], [ĥ, I]].

    The momentum [p; L] about Bo of a body with twist V = [v; w] is M V.

    Args:
        phi: shape (..., 10).

    Returns:
        Symmetric matrices, shape (..., 6, 6).
    """
    phi = as_real(phi, "phi")
    h = hat(phi[..., 1:4])
    matrix = np.zeros((*phi.shape[:-1], 6, 6))
    matrix[..., :3, :3] = phi[..., 0, None, None] * np.eye(3)
    matrix[..., :3, 3:] = -h
    matrix[..., 3:, :3] = h
    matrix[..., 3:, 3:] = inertia_about_origin(phi)
    return matrix


def swap_spatial_order(matrix: Mat66) -> Mat66:
    """Exchange the linear and the angular part of a 6×6 matrix; the function is its own inverse.

    This toolkit, Gazebo and SDF put the linear part first; DART, Drake and Featherstone the
    angular part.

    Args:
        matrix: a spatial inertia or an added mass, shape (..., 6, 6).
    """
    return as_real(matrix, "matrix")[..., _SWAPPED_ORDER[:, None], _SWAPPED_ORDER]


def second_moment_from_inertia(inertia: Mat33) -> Mat33:
    """Return the second moment about the same point, S = ½ tr(I) 1 − I, shape (..., 3, 3)."""
    inertia = as_real(inertia, "inertia")
    trace = np.trace(inertia, axis1=-2, axis2=-1)[..., None, None]
    return 0.5 * trace * np.eye(3) - inertia


def inertia_from_second_moment(S: Mat33) -> Mat33:
    """Return the inertia about the same point, I = tr(S) 1 − S, shape (..., 3, 3)."""
    S = as_real(S, "S")
    return np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S


def pseudo_inertia(phi: PhiLike) -> Mat44:
    """Return the pseudo-inertia of a body, Pi = [[S, h], [hᵀ, m]] with S = ½ tr(I) 1 − I.

    A mass density realises `phi` if and only if Pi is positive semidefinite and m > 0. Reference:
    Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial
    parameter identification: a statistical perspective on the mass distribution" (2018).

    Args:
        phi: ten parameters about Bo in B, shape (..., 10) [kg, kg m, kg m²].

    Returns:
        Symmetric matrices, shape (..., 4, 4).
    """
    phi = as_real(phi, "phi")
    matrix = np.empty((*phi.shape[:-1], 4, 4))
    matrix[..., :3, :3] = second_moment_from_inertia(inertia_about_origin(phi))
    matrix[..., :3, 3] = matrix[..., 3, :3] = phi[..., 1:4]
    matrix[..., 3, 3] = phi[..., 0]
    return matrix


def phi_from_pseudo_inertia(Pi: Mat44) -> Phi:
    """Compute the ten parameters from a pseudo-inertia: m, h and I = tr(S) 1 − S.

    Args:
        Pi: symmetric matrices, shape (..., 4, 4).

    Returns:
        Shape (..., 10).
    """
    Pi = as_real(Pi, "Pi")
    inertia = inertia_from_second_moment(Pi[..., :3, :3])
    h = 0.5 * (Pi[..., :3, 3] + Pi[..., 3, :3])
    return np.concatenate((Pi[..., 3:, 3], h, entries_from_symmetric(inertia)), axis=-1)


PSEUDO_INERTIA_BASIS: Array = seal(
    pseudo_inertia(np.eye(10)).reshape(10, 16).T.copy(), "basis", (16, 10)
)
"""Matrix of the linear map phi → vec(Pi) in row-major order, shape (16, 10)."""


def second_moment_about_com(phi: PhiLike) -> Mat33:
    """Return the second moment about the centre of mass, S_c = S − h hᵀ / m.

    It is m times the covariance of the mass distribution.

    Args:
        phi: shape (..., 10), m not zero.

    Returns:
        Shape (..., 3, 3) [kg m²].
    """
    phi = as_real(phi, "phi")
    h = phi[..., 1:4]
    about_origin = second_moment_from_inertia(inertia_about_origin(phi))
    return about_origin - h[..., :, None] * h[..., None, :] / phi[..., 0, None, None]


def rounding_error_about_com(phi: PhiLike) -> Array:
    """Return the rounding error of second moments about the centre of mass [kg m²].

    phi holds I about Bo, of size tr I + m |c|², so that S_c is accurate to a few eps of that,
    however small the body: the thickness of an exact plate a kilometre away is known to 1e-9 of
    its area. `phi` of shape (..., 10), m not zero, gives shape (...).
    """
    phi = as_real(phi, "phi")
    h = phi[..., 1:4]
    trace = np.abs(phi[..., [4, 7, 9]]).sum(axis=-1)
    steiner = np.sum(h * h, axis=-1) / np.abs(phi[..., 0])
    return _ROUNDING_ULPS * np.finfo(np.float64).eps * (0.5 * trace + steiner)


def move_inertia(
    inertia: Mat33, mass: Array | float, com: Vec3, *, from_point: Vec3, to_point: Vec3
) -> Mat33:
    """Move an inertia to another point by the parallel axis theorem.

        I_p = I_q + m q× q× − m p× p×,    q and p from the centre of mass

    Args:
        inertia: I_q [kg m²], shape (..., 3, 3).
        mass: m [kg], shape (...).
        com: centre of mass [m], shape (..., 3), all points from one origin in one frame's axes.
        from_point: q, the point of `inertia` [m], shape (..., 3).
        to_point: p, the new point [m], shape (..., 3).

    Returns:
        I_p, shape (..., 3, 3).
    """
    change = _second_moment_change(mass, com, from_point, to_point)
    return inertia + inertia_from_second_moment(change)


def move_second_moment(
    S: Mat33, mass: Array | float, com: Vec3, *, from_point: Vec3, to_point: Vec3
) -> Mat33:
    """Move a second moment to another point, S_p = S_q − m q qᵀ + m p pᵀ, as in `move_inertia`.

    Args:
        S: S_q [kg m²], shape (..., 3, 3).
        mass: m [kg], shape (...).
        com: centre of mass [m], shape (..., 3).
        from_point: the point of `S` [m], shape (..., 3).
        to_point: the new point [m], shape (..., 3).

    Returns:
        S_p, shape (..., 3, 3).
    """
    return S + _second_moment_change(mass, com, from_point, to_point)


def _second_moment_change(
    mass: Array | float, com: Vec3, from_point: Vec3, to_point: Vec3
) -> Mat33:
    """Return m (p pᵀ − q qᵀ), as ½ m ((p − q)(p + q)ᵀ + (p + q)(p − q)ᵀ) to avoid cancellation."""
    q, p = np.subtract(from_point, com), np.subtract(to_point, com)
    outer = (p - q)[..., :, None] * (p + q)[..., None, :]
    return 0.5 * np.asarray(mass)[..., None, None] * (outer + outer.swapaxes(-1, -2))


def spatial_momentum(phi: PhiLike, V: Vec6) -> Vec6:
    """Return the momentum [p; L] about Bo in B: p = m v + ω × h, L = h × v + I ω.

    It is M V, computed without the 6×6 matrix.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10).
        V: twist [v; ω] of the body, v of Bo, in B [m/s, rad/s], shape (..., 6).

    Returns:
        [p; L] [kg m/s, kg m²/s], shape (..., 6).
    """
    phi, V = as_real(phi, "phi"), as_real(V, "V")
    m = phi[..., :1]
    h = phi[..., 1:4]
    v = V[..., :3]
    w = V[..., 3:]
    return np.concatenate((m * v + cross(w, h), cross(h, v) + _inertia_times(phi, w)), axis=-1)


def kinetic_energy(phi: PhiLike, V: Vec6) -> Array:
    """Return the kinetic energy ½ Vᵀ M V [J], which is the same in every frame.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10).
        V: twist [v; ω], v of Bo, in B [m/s, rad/s], shape (..., 6).

    Returns:
        Shape (...).
    """
    return 0.5 * np.sum(spatial_momentum(phi, V) * V, axis=-1)


def momentum_in_frame(momentum: Vec6, X_AB: PoseLike) -> Vec6:
    """Express a momentum about Ao in A: p_A = R p, L_A = R L + p_AB × p_A, that is Ad*_AB [p; L].

    A wrench, the rate of a momentum, transforms in the same way.

    Args:
        momentum: [p; L] about Bo in B, shape (..., 6).
        X_AB: pose of B in A; a batch of poses broadcasts with `momentum`.

    Returns:
        Shape (..., 6).
    """
    momentum, X_AB = as_real(momentum, "momentum"), Pose.of(X_AB)
    linear = rotate(X_AB.rotation, momentum[..., :3])
    angular = rotate(X_AB.rotation, momentum[..., 3:]) + cross(X_AB.position, linear)
    return np.concatenate((np.broadcast_to(linear, angular.shape), angular), axis=-1)


def _inertia_times(phi: Phi, w: Array) -> Array:
    """Compute I ω from the six entries of phi, shape (..., 3)."""
    xx, xy, xz, yy, yz, zz = np.moveaxis(phi[..., 4:], -1, 0)
    x, y, z = np.moveaxis(w, -1, 0)
    rows = (xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z)
    return np.stack(rows, axis=-1)
