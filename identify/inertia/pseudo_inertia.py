"""The pseudo-inertia, the 4×4 second moment of the mass density in homogeneous coordinates."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Mat44, Phi
from identify.inertia.matrices import inertia_about_origin, six_from_symmetric


def pseudo_inertia(phi: Phi) -> Mat44:
    """Pseudo-inertia of a body, Pi = [[S, h], [hᵀ, m]] with S = ½ tr(I) 1 − I.

    A mass density realises `phi` if and only if Pi is positive semidefinite and m > 0
    (Wensing, Kim and Slotine 2018).

    Args:
        phi: ten parameters about Bo in B, shape (..., 10) [kg, kg m, kg m²].

    Returns:
        Symmetric matrices, shape (..., 4, 4).
    """
    phi = np.asarray(phi, dtype=np.float64)
    inertia = inertia_about_origin(phi)
    trace = np.trace(inertia, axis1=-2, axis2=-1)[..., None, None]
    matrix = np.empty((*phi.shape[:-1], 4, 4))
    matrix[..., :3, :3] = 0.5 * trace * np.eye(3) - inertia
    matrix[..., :3, 3] = matrix[..., 3, :3] = phi[..., 1:4]
    matrix[..., 3, 3] = phi[..., 0]
    return matrix


def phi_from_pseudo_inertia(Pi: Mat44) -> Phi:
    """Ten parameters of a pseudo-inertia: I = tr(S) 1 − S, h and m; inverse of `pseudo_inertia`.

    Args:
        Pi: symmetric matrices, shape (..., 4, 4).

    Returns:
        Shape (..., 10).
    """
    Pi = np.asarray(Pi, dtype=np.float64)
    S = Pi[..., :3, :3]
    inertia = np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S
    h = 0.5 * (Pi[..., :3, 3] + Pi[..., 3, :3])
    return np.concatenate((Pi[..., 3:, 3], h, six_from_symmetric(inertia)), axis=-1)


def _basis() -> Array:
    basis = pseudo_inertia(np.eye(10)).reshape(10, 16).T.copy()
    basis.flags.writeable = False
    return basis


PSEUDO_INERTIA_BASIS: Array = _basis()
"""Matrix of the linear map phi → vec(Pi) in row-major order, shape (16, 10)."""
