"""Scores of an estimate against the true body, as the publication defines them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from identify.arrays import Phi, Vec3
from identify.inertia import (
    inertia_about_origin,
    pseudo_inertia,
    smallest_pseudo_eigenvalue,
)


def positive_definite(phi: Phi) -> bool:
    """Whether Pi ≻ 0, judged about the centre of mass and in units of the body's own size."""
    return bool(smallest_pseudo_eigenvalue(phi) > 0.0)


def riemannian_distance(phi: Phi, truth: Phi) -> float:
    """Geodesic distance of pseudo-inertias, √(½ Σ log² λ), λ the eigenvalues of Π⁻¹ Π_true.

    It is the same in every frame and unit. NaN where the estimate is not positive definite.
    """
    if not positive_definite(phi):
        return float("nan")
    ratios = eigh(pseudo_inertia(phi), pseudo_inertia(truth), eigvals_only=True)
    if not ratios[0] > 0.0:
        return float("nan")
    return float(np.sqrt(0.5 * np.sum(np.log(ratios) ** 2)))


def mass_error(phi: Phi, truth: Phi) -> float:
    """|Δm| / m [%]."""
    return float(100.0 * abs(phi[0] - truth[0]) / truth[0])


def first_moment_error(phi: Phi, truth: Phi) -> float:
    """‖Δh‖ / ‖h‖ [%]."""
    return float(100.0 * np.linalg.norm(phi[1:4] - truth[1:4]) / np.linalg.norm(truth[1:4]))


def com_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Mean over the axes of |Δc_i| by the side of the bounding box [%]."""
    offset = phi[1:4] / phi[0] - truth[1:4] / truth[0]
    return float(100.0 * np.mean(np.abs(offset) / sides))


def inertia_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Mean over six entries of |ΔI_ij / (m/12 (δ_ij aᵀa − a_i a_j))| [%].

    Args:
        phi: the estimate; ΔI is its error about the sensor's origin.
        truth: the true body, of mass m.
        sides: sides a of its bounding box [m], shape (3,).
    """
    box = truth[0] / 12.0 * (sides @ sides * np.eye(3) - np.outer(sides, sides))
    change = inertia_about_origin(phi) - inertia_about_origin(truth)
    return float(100.0 * np.mean(np.abs(change / box)[np.triu_indices(3)]))
