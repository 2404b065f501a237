"""Second moments of mass and parallel axes: S = ∫ρ r rᵀ dV and I, about any point."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.inertia.pseudo_inertia import pseudo_inertia

_OPERATIONS = 8.0
"""Rounding errors, of the entries and of the shift to the centre of mass, that may add up."""


def second_moment_from_inertia(inertia: Mat33) -> Mat33:
    """Second moment about the point of an inertia, S = ½ tr(I) 1 − I, shape (..., 3, 3)."""
    inertia = np.asarray(inertia, dtype=np.float64)
    trace = np.trace(inertia, axis1=-2, axis2=-1)[..., None, None]
    return 0.5 * trace * np.eye(3) - inertia


def inertia_from_second_moment(S: Mat33) -> Mat33:
    """Inertia about the point of a second moment, I = tr(S) 1 − S, shape (..., 3, 3)."""
    S = np.asarray(S, dtype=np.float64)
    return np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S


def second_moment_about_com(phi: Phi) -> Mat33:
    """Second moment about the centre of mass, S_c = S − h hᵀ / m: m times the covariance of mass.

    Args:
        phi: shape (..., 10), m not zero.

    Returns:
        Shape (..., 3, 3) [kg m²].
    """
    phi = np.asarray(phi, dtype=np.float64)
    h = phi[..., 1:4]
    about_origin = pseudo_inertia(phi)[..., :3, :3]
    return about_origin - h[..., :, None] * h[..., None, :] / phi[..., 0, None, None]


def rounding_about_com(phi: Phi) -> Array:
    """How well ten numbers in double precision can tell the eigenvalues of S_c [kg m²].

    The ten numbers hold I about Bo, of size tr I + m |c|², so that S_c is known to a few eps of
    that and no better, however small the body: an exact plate a kilometre away has a thickness
    known to 1e-9 of its area.

    Args:
        phi: shape (..., 10), m not zero.

    Returns:
        Shape (...).
    """
    phi = np.asarray(phi, dtype=np.float64)
    h = phi[..., 1:4]
    trace = np.abs(phi[..., [4, 7, 9]]).sum(axis=-1)
    steiner = np.sum(h * h, axis=-1) / np.abs(phi[..., 0])
    return _OPERATIONS * np.finfo(np.float64).eps * (0.5 * trace + steiner)


def move_inertia(
    inertia: Mat33, mass: Array | float, com: Vec3, *, from_point: Vec3, to_point: Vec3
) -> Mat33:
    """Inertia about another point, by the parallel axis theorem through the centre of mass.

        I_p = I_q + m q× q× − m p× p×,    q and p from the centre of mass

    Args:
        inertia: I_q [kg m²], shape (..., 3, 3).
        mass: m [kg], shape (...).
        com: centre of mass [m], shape (..., 3), all points from one origin in one frame's axes.
        from_point: q, the point of `inertia` [m], shape (..., 3).
        to_point: p, the point wanted [m], shape (..., 3).

    Returns:
        I_p, shape (..., 3, 3).
    """
    moved = _outer_difference(mass, com, from_point, to_point)
    return inertia + inertia_from_second_moment(moved)


def move_second_moment(
    S: Mat33, mass: Array | float, com: Vec3, *, from_point: Vec3, to_point: Vec3
) -> Mat33:
    """Second moment about another point, S_p = S_q − m q qᵀ + m p pᵀ, as in `move_inertia`.

    Args:
        S: S_q [kg m²], shape (..., 3, 3).
        mass: m [kg], shape (...).
        com: centre of mass [m], shape (..., 3).
        from_point: the point of `S` [m], shape (..., 3).
        to_point: the point wanted [m], shape (..., 3).

    Returns:
        S_p, shape (..., 3, 3).
    """
    return S + _outer_difference(mass, com, from_point, to_point)


def _outer_difference(mass: Array | float, com: Vec3, from_point: Vec3, to_point: Vec3) -> Mat33:
    """m (p pᵀ − q qᵀ) = ½ m ((p − q)(p + q)ᵀ + (p + q)(p − q)ᵀ), which keeps the digits."""
    q, p = np.subtract(from_point, com), np.subtract(to_point, com)
    outer = (p - q)[..., :, None] * (p + q)[..., None, :]
    return 0.5 * np.asarray(mass)[..., None, None] * (outer + outer.swapaxes(-1, -2))
