"""Full physical consistency: m > 0 and Pi ⪰ 0."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Flags, Mat44, Phi
from identify.inertia.central_spectrum import ROUNDING, central_spectrum
from identify.inertia.matrices import inertia_about_com
from identify.inertia.pseudo_inertia import pseudo_inertia


def normalised_pseudo_inertia(phi: Phi) -> Mat44:
    """Pi of the body about its centre of mass, in units of its mass and radius of gyration.

    With T the shift to the centre of mass and the change of unit of length, Pi_n = T Pi Tᵀ / m:
    its last row is [0, 0, 0, 1] and its upper block S_c / (m L²), L² = tr|S_c| / m. Congruence
    keeps the signs of the eigenvalues, so Pi ⪰ 0 if and only if Pi_n ⪰ 0, and a gram of screw and a
    hundred tonnes of satellite are judged by the same numbers.

    Args:
        phi: shape (..., 10), m > 0.

    Returns:
        Shape (..., 4, 4).
    """
    phi = np.asarray(phi, dtype=np.float64)
    Ic = inertia_about_com(phi)
    trace = np.trace(Ic, axis1=-2, axis2=-1)[..., None, None]
    Sc = 0.5 * trace * np.eye(3) - Ic
    spread = np.abs(np.linalg.eigvalsh(Sc)).sum(axis=-1)[..., None, None]
    matrix = np.zeros((*phi.shape[:-1], 4, 4))
    matrix[..., :3, :3] = Sc / np.where(spread > 0.0, spread, 1.0)
    matrix[..., 3, 3] = 1.0
    return matrix


def smallest_pseudo_eigenvalue(phi: Phi) -> Array:
    """Smallest eigenvalue of the normalised pseudo-inertia; −inf where m ≤ 0.

    Zero or more: some density realises the body. At most 1/3, for a ball.

    Args:
        phi: shape (..., 10).

    Returns:
        Shape (...).
    """
    phi = np.asarray(phi, dtype=np.float64)
    positive = phi[..., 0] > 0.0
    safe = np.where(positive[..., None], phi, np.eye(10)[0])
    smallest = np.linalg.eigvalsh(normalised_pseudo_inertia(safe))[..., 0]
    return np.where(positive, smallest, -np.inf)


def is_consistent(phi: Phi, tolerance: float = ROUNDING) -> Flags:
    """Whether a density realises the body: m > 0 and no second moment below zero but by rounding.

    Args:
        phi: shape (..., 10).
        tolerance: relative to the body's own spread, as in `central_spectrum`.

    Returns:
        Booleans, shape (...).

    Raises:
        ModelError: a number is not finite.
    """
    values, limit = central_spectrum(phi, tolerance)
    return values[..., 0] >= -limit


def pseudo_eigenvalues(phi: Phi) -> Array:
    """Eigenvalues of Pi about the body's origin, ascending, shape (..., 4)."""
    return np.linalg.eigvalsh(pseudo_inertia(phi))
