"""Covariance from blocks of residuals, and the 95 % intervals it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import stdtrit

from identify.arrays import Array, Phi
from identify.estimation.least_squares import LeastSquaresFit
from identify.inertia import PHI, inertia_about_com
from identify.inertia.matrices import six_from_symmetric
from identify.regressors.blocks import BlockStatistics
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.regressors.statistics import WIDTH

INTERVAL_KIND = "95 %, from blocks of residuals; noise of the motion not counted"
"""What the intervals of this estimator are, in the words every table and file repeats."""

COM = ("cx", "cy", "cz")
INERTIA_ABOUT_COM = ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
DERIVED = (*COM, *INERTIA_ABOUT_COM)
"""Names of what is derived from phi: centre of mass, and inertia about it."""

_BLOCKS_A_PARAMETER = 4
"""Blocks for each parameter from which the sandwich form is believed entry by entry."""

_LEVEL = 0.975


def block_covariance(fit: LeastSquaresFit, blocks: Sequence[BlockStatistics]) -> Array:
    """Covariance of phi, from the scatter of the blocks' contributions to the normal equations.

    With H = AᵀA and g_b = Σ_{t in b} YᵀW r the score of block b, the sandwich H⁻¹ (Σ g_b g_bᵀ) H⁻¹
    holds whatever the correlation within a block. With too few blocks for its 55 entries, H⁻¹ is
    scaled by the scatter's mean over all directions instead, if that is larger than one. Directions
    the data do not tell have the spread of the body's own scale.

    Args:
        fit: the unconstrained estimate.
        blocks: the blocks of each log.

    Returns:
        Shape (10, 10), in the order and units of phi.
    """
    split = fit.identifiability
    told, to_phi = split.told, fit.scaling.to_phi
    columns = fit.scaled_matrix @ told
    root = np.linalg.inv(np.linalg.qr(columns, mode="r"))
    scores = np.concatenate([_scores(fit, log) for log in blocks]) @ to_phi @ told @ root
    count, size = scores.shape
    scatter = scores.T @ scores * (count / max(count - 1, 1))
    if count < _BLOCKS_A_PARAMETER * size:
        scatter = max(1.0, float(np.trace(scatter)) / size) * np.eye(size)
    covariance = told @ root @ scatter @ root.T @ told.T
    covariance = covariance + split.untold @ split.untold.T
    covariance = to_phi @ covariance @ to_phi.T
    return 0.5 * (covariance + covariance.T)


def degrees_of_freedom(fit: LeastSquaresFit, blocks: Sequence[BlockStatistics]) -> float:
    """Of Student's t in the intervals: from blocks, or from equations where blocks are few."""
    count = sum(len(log) for log in blocks)
    if count < _BLOCKS_A_PARAMETER * fit.identifiability.told.shape[1]:
        return fit.problem.degrees_of_freedom
    return float(count - 1)


def _scores(fit: LeastSquaresFit, log: BlockStatistics) -> Array:
    """Σ Yᵀ W r over each block of one log, with features less the log's mean: (blocks, 10)."""
    mean = _bias_mean(fit, log)
    # One product takes rows [1, ψ, w] to [ψ, W r], both less the mean.
    psi_of_row = np.concatenate((-mean[None, :12], np.eye(18)[:, :12]))
    wrench_of_row = np.concatenate((-mean[None, 12:], np.eye(18)[:, 12:]))
    residual_of_row = (wrench_of_row - psi_of_row @ (FEATURE_TENSOR @ fit.phi)) @ fit.weight
    transform = np.concatenate((psi_of_row, residual_of_row), axis=1)
    rows = (log.factors.reshape(-1, WIDTH) @ transform).reshape(-1, WIDTH, WIDTH - 1)
    # Σ_n Y(ψ_n)ᵀ W r_n is linear in the 12×6 moments Σ_n ψ_n (W r_n)ᵀ.
    moments = rows[..., :12].swapaxes(-1, -2) @ rows[..., 12:]
    return moments.reshape(-1, 72) @ FEATURE_TENSOR.reshape(72, 10)


def _bias_mean(fit: LeastSquaresFit, log: BlockStatistics) -> Array:
    """Mean of [ψ, w] that the fitted bias takes out of a log's rows, shape (18,)."""
    if fit.bias == "none":
        return np.zeros(18)
    first = log.total().first_rows[0] if fit.bias == "per_log" else fit.statistics.factor[0]
    return first[1:] / first[0]


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
