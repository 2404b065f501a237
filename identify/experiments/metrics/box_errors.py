"""Errors relative to the body's bounding box, as published with the STARS tools [%].

Nadeau, Giamou and Kelly (ICRA 2023).
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Phi, Vec3
from identify.inertia import inertia_about_origin


def com_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Mean over the axes of |Δc_i| by the side of the bounding box [%]."""
    offset = phi[1:4] / phi[0] - truth[1:4] / truth[0]
    return float(100.0 * np.mean(np.abs(offset) / sides))


def inertia_error(phi: Phi, truth: Phi, sides: Vec3) -> float:
    """Mean over six entries of |ΔI_ij / (m/12 (δ_ij aᵀa − a_i a_j))| [%].

    Args:
        phi: the estimate; ΔI is its error about Bo.
        truth: the true body, of mass m.
        sides: sides a of its bounding box [m], shape (3,).
    """
    box = truth[0] / 12.0 * (sides @ sides * np.eye(3) - np.outer(sides, sides))
    change = inertia_about_origin(phi) - inertia_about_origin(truth)
    return float(100.0 * np.mean(np.abs(change / box)[np.triu_indices(3)]))
