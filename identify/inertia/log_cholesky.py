"""Log-Cholesky coordinates: ten unconstrained numbers for a positive definite pseudo-inertia.

Rucker and Wensing, "Smooth parameterization of rigid-body inertia" (2022). Pi = U Uᵀ with the upper
triangular

    U = e^α [[e^d1, s12,  s13,  t1],
             [0,    e^d2, s23,  t2],
             [0,    0,    e^d3, t3],
             [0,    0,    0,    1 ]]

so m = e^2α and t is the centre of mass; s and e^d are lengths. In their order,
theta = [α, d1, d2, d3, s12, s23, s13, t1, t2, t3].
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat44, Phi, PhiLike, as_real
from identify.errors import ModelError
from identify.inertia.consistency import BodyKind, body_kinds, format_body_index
from identify.inertia.matrices import phi_from_pseudo_inertia, second_moment_about_com

LOG_CHOLESKY = ("alpha", "d1", "d2", "d3", "s12", "s23", "s13", "t1", "t2", "t3")
"""Names of the ten log-Cholesky coordinates."""

_ENTRY_ROWS = np.array([0, 1, 2, 0, 1, 0, 0, 1, 2])
"""Rows of d1, d2, d3, s12, s23, s13, t1, t2, t3 in the Cholesky factor U."""
_ENTRY_COLUMNS = np.array([0, 1, 2, 1, 2, 2, 3, 3, 3])
"""Columns of d1, d2, d3, s12, s23, s13, t1, t2, t3 in the Cholesky factor U."""


def phi_from_log_cholesky(theta: Array) -> Phi:
    """Compute ten parameters from log-Cholesky coordinates; any numbers give a consistent body.

    Args:
        theta: [α, d1, d2, d3, s12, s23, s13, t1, t2, t3], shape (..., 10).

    Returns:
        Shape (..., 10).
    """
    U = _cholesky_factor(as_real(theta, "theta"))
    return phi_from_pseudo_inertia(U @ np.swapaxes(U, -1, -2))


def log_cholesky_from_phi(phi: PhiLike) -> Array:
    """Compute the log-Cholesky coordinates of a body, the inverse of `phi_from_log_cholesky`.

    Args:
        phi: shape (..., 10).

    Returns:
        theta, shape (..., 10).

    Raises:
        ModelError: a body whose pseudo-inertia is not positive definite: flat, massless or
            inconsistent.
    """
    phi = as_real(phi, "phi")
    _require_solid(phi)
    mass = phi[..., 0]
    covariance = second_moment_about_com(phi) / mass[..., None, None]
    theta = np.empty(phi.shape)
    theta[..., 0] = 0.5 * np.log(mass)
    theta[..., 7:] = phi[..., 1:4] / mass[..., None]
    third = np.sqrt(covariance[..., 2, 2])
    s13, s23 = covariance[..., 0, 2] / third, covariance[..., 1, 2] / third
    second = np.sqrt(covariance[..., 1, 1] - s23**2)
    s12 = (covariance[..., 0, 1] - s13 * s23) / second
    first = np.sqrt(covariance[..., 0, 0] - s12**2 - s13**2)
    theta[..., 1:4] = np.log(np.stack((first, second, third), axis=-1))
    theta[..., 4], theta[..., 5], theta[..., 6] = s12, s23, s13
    return theta


def log_cholesky_jacobian(theta: Array) -> Array:
    """Return the derivative of phi with respect to theta, from dPi = dU Uᵀ + U dUᵀ.

    Its determinant is not zero anywhere; the derivative of theta by phi is the inverse.

    Args:
        theta: shape (..., 10).

    Returns:
        ∂phi_i / ∂theta_k, shape (..., 10, 10).
    """
    theta = as_real(theta, "theta")
    U = _cholesky_factor(theta)
    derivatives = np.zeros((*theta.shape[:-1], 10, 4, 4))
    derivatives[..., 0, :, :] = U
    scale = U[..., 3, 3, None]
    derivatives[..., np.arange(1, 10), _ENTRY_ROWS, _ENTRY_COLUMNS] = scale
    diagonal = np.arange(3)
    derivatives[..., 1 + diagonal, diagonal, diagonal] = U[..., diagonal, diagonal]
    half = derivatives @ np.swapaxes(U, -1, -2)[..., None, :, :]
    return np.swapaxes(phi_from_pseudo_inertia(half + np.swapaxes(half, -1, -2)), -1, -2)


def _cholesky_factor(theta: Array) -> Mat44:
    """Return the Cholesky factor U of Pi = U Uᵀ, shape (..., 4, 4)."""
    U = np.zeros((*theta.shape[:-1], 4, 4))
    U[..., _ENTRY_ROWS[:3], _ENTRY_COLUMNS[:3]] = np.exp(theta[..., 1:4])
    U[..., _ENTRY_ROWS[3:], _ENTRY_COLUMNS[3:]] = theta[..., 4:]
    U[..., 3, 3] = 1.0
    return U * np.exp(theta[..., 0])[..., None, None]


def _require_solid(phi: Phi) -> None:
    """Raise `ModelError` unless the pseudo-inertia is positive definite."""
    kinds = body_kinds(phi)
    outside = np.argwhere(kinds != BodyKind.SOLID)
    if len(outside):
        raise ModelError(
            f"log-Cholesky: {format_body_index(outside[0])} is of kind "
            f"{str(kinds[tuple(outside[0])])!r}; the coordinates exist for solid bodies only, "
            f"whose pseudo-inertia is positive definite. `nearest_consistent` with a margin "
            f"returns one"
        )
