"""Covariance from blocks of residuals, and the 95 % intervals it gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import stdtrit

from identify.arrays import Array, Phi
from identify.estimation.least_squares import LeastSquaresFit
from identify.inertia import PHI, inertia_about_com
from identify.inertia.matrices import six_from_symmetric

INTERVAL_KIND = "95 %, from blocks of residuals; noise of the motion not counted"
"""What the intervals of this estimator are, in the words every table and file repeats."""

COM = ("cx", "cy", "cz")
INERTIA_ABOUT_COM = ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
DERIVED = (*COM, *INERTIA_ABOUT_COM)
"""Names of what is derived from phi: centre of mass, and inertia about it."""

_BLOCKS_A_PARAMETER = 4
"""Blocks for each parameter from which the sandwich form is believed entry by entry."""

_LEVEL = 0.975


def block_covariance(fit: LeastSquaresFit) -> Array:
    """Covariance of x, from the scatter of the blocks' contributions to the normal equations.

    With H = AᵀA and g_b = Σ_{t in b} BᵀW r the score of block b, the sandwich H⁻¹ (Σ g_b g_bᵀ) H⁻¹
    holds whatever the correlation within a block. With too few blocks for its entries, H⁻¹ is
    scaled by the scatter's mean over all directions instead, if that is larger than one. Directions
    the data do not identify have the spread of the body's own scale.

    Args:
        fit: the unconstrained estimate.

    Returns:
        Shape (p, p), in the order and units of x.
    """
    split, to_x = fit.identifiability, fit.scaling.to_x
    along = split.identifiable
    root = np.linalg.inv(np.linalg.qr(fit.scaled_matrix @ along, mode="r"))
    scores = fit.data.system.scores(fit.x, fit.weights) @ to_x @ along @ root
    count, size = scores.shape
    scatter = scores.T @ scores * (count / max(count - 1, 1))
    if count < _BLOCKS_A_PARAMETER * size:
        scatter = max(1.0, float(np.trace(scatter)) / size) * np.eye(size)
    covariance = along @ root @ scatter @ root.T @ along.T
    covariance = covariance + split.unidentifiable @ split.unidentifiable.T
    covariance = to_x @ covariance @ to_x.T
    return 0.5 * (covariance + covariance.T)


def degrees_of_freedom(fit: LeastSquaresFit) -> float:
    """Of Student's t in the intervals: from blocks, or from equations where blocks are few."""
    count = fit.data.system.blocks
    if count < _BLOCKS_A_PARAMETER * fit.identifiability.identifiable.shape[1]:
        return fit.problem.degrees_of_freedom
    return float(count - 1)


def intervals_of(
    phi: Phi, covariance: Array, degrees: float, decided_by: Mapping[str, str]
) -> dict[str, tuple[float, float] | None]:
    """95 % intervals of the ten parameters, the centre of mass and the inertia about it.

    Args:
        phi: the estimate, shape (10,).
        covariance: of phi, shape (10, 10).
        degrees: of freedom of Student's t.
        decided_by: what decided each of the ten; one that was not measured has no interval (None).
    """
    factor = float(stdtrit(degrees, _LEVEL))
    values = np.concatenate((phi, derived(phi)))
    jacobian = np.concatenate((np.eye(10), derived_jacobian(phi)))
    half = factor * np.sqrt(np.einsum("ij,jk,ik->i", jacobian, covariance, jacobian))
    measured: dict[str, bool] = {name: decided_by[name] != "default" for name in PHI}
    known = {
        **measured,
        **{name: measured[f"h{name[1]}"] for name in COM},
        **{name: measured[f"I{name[2:]}"] for name in INERTIA_ABOUT_COM},
    }
    return {
        name: (float(value - width), float(value + width)) if known[name] else None
        for name, value, width in zip((*PHI, *DERIVED), values, half, strict=True)
    }


def derived(phi: Phi) -> Array:
    """Centre of mass and the six entries of the inertia about it, shape (9,)."""
    return np.concatenate((phi[1:4] / phi[0], six_from_symmetric(inertia_about_com(phi))))


def derived_jacobian(phi: Phi) -> Array:
    """∂(c, I_c)/∂phi, shape (9, 10): c = h/m and I_c = I − (hᵀh 1 − h hᵀ)/m."""
    m, h = phi[0], phi[1:4]
    jacobian = np.zeros((9, 10))
    jacobian[:3, 0] = -h / m**2
    jacobian[:3, 1:4] = np.eye(3) / m
    jacobian[3:, 4:] = np.eye(6)
    one = np.eye(3)
    jacobian[3:, 0] = six_from_symmetric(h @ h * one - np.outer(h, h)) / m**2
    along = one[:, :, None] * h  # along[k] = e_k hᵀ
    change = 2.0 * h[:, None, None] * one - along - along.swapaxes(-1, -2)
    jacobian[3:, 1:4] = -six_from_symmetric(change).T / m
    return jacobian
