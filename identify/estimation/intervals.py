"""Covariance of an estimate, and the 95 % intervals it gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import stdtrit

from identify.arrays import Array, Phi
from identify.estimation.least_squares import LeastSquaresFit
from identify.inertia import PHI, inertia_about_com
from identify.inertia.matrices import six_from_symmetric
from identify.regressors.triangular import triangle

INTERVAL_KIND = "95 %, noise of wrench and motion counted"
"""What the intervals of this estimator are, in the words every table and file repeats."""

COM = ("cx", "cy", "cz")
INERTIA_ABOUT_COM = ("Icxx", "Icxy", "Icxz", "Icyy", "Icyz", "Iczz")
DERIVED = (*COM, *INERTIA_ABOUT_COM)
"""Names of what is derived from phi: centre of mass, and inertia about it."""

_FEWEST_DEGREES = 3.0
"""Below this Student's t has no variance."""

_LEVEL = 0.975

_LEAST_SCATTER = -0.8
"""Least X in shares of H."""


def covariance_of(fit: LeastSquaresFit) -> Array:
    """Covariance of x: B⁻¹ (H + X) B⁻¹ along the identifiable directions.

    H is the information of the rows, B what is left of it without noise in the columns, X the
    scatter of noise that meets noise. Directions the data do not identify have the spread of the
    body's own scale.

    Args:
        fit: the unconstrained estimate.

    Returns:
        Shape (p, p), in the order and units of x.
    """
    split, to_x = fit.identifiability, fit.scaling.to_x
    known = to_x @ split.identifiable
    root = triangle(fit.problem.A @ known)
    whitened = np.linalg.solve(root.T, np.linalg.solve(root.T, known.T @ fit.scatter @ known).T)
    # X is read off the residuals and is no square: of chance alone it could leave nothing of H.
    shares, U = np.linalg.eigh(0.5 * (whitened + whitened.T))
    scores = np.sqrt(1.0 + np.maximum(shares, _LEAST_SCATTER))[:, None] * (U.T @ root)
    along = scores @ _inverse_information(fit) @ split.identifiable.T
    covariance = along.T @ along
    covariance = covariance + split.unidentifiable @ split.unidentifiable.T
    covariance = to_x @ covariance @ to_x.T
    return 0.5 * (covariance + covariance.T)


def _inverse_information(fit: LeastSquaresFit) -> Array:
    """B⁻¹ along the identifiable directions, shape (k, k)."""
    A, _ = fit.corrected
    inverse = np.linalg.inv(A)
    return inverse @ inverse.T


def degrees_of_freedom(fit: LeastSquaresFit) -> Array:
    """Of Student's t for each unknown (Satterthwaite 1946): those of the groups it rests on.

    Returns:
        Shape (p,).
    """
    split = fit.identifiability
    along = fit.scaling.to_x @ split.identifiable @ _inverse_information(fit)
    along = along @ split.identifiable.T @ fit.scaling.to_x.T
    system = fit.data.system
    whole, squares = np.zeros(len(along)), np.zeros(len(along))
    for group, information in zip(system.groups, system.moments(fit.weights), strict=True):
        share = np.einsum("ij,jk,ik->i", along, information, along)
        whole += share
        # A size a kind of channel is what is learned of a group.
        alike = group.channels / len(set(group.group.kinds))
        squares += share**2 / max(alike * group.effective_samples, 1.0)
    return np.where(squares > 0.0, whole**2 / np.where(squares > 0.0, squares, 1.0), np.inf)


def intervals_of(
    phi: Phi, covariance: Array, degrees: Array | float, decided_by: Mapping[str, str]
) -> dict[str, tuple[float, float] | None]:
    """95 % intervals of the ten parameters, the centre of mass and the inertia about it.

    Args:
        phi: the estimate, shape (10,).
        covariance: of phi, shape (10, 10).
        degrees: of freedom of Student's t for each of the ten, shape (10,), or one number for all.
        decided_by: what decided each of the ten; one that was not measured has no interval (None).
    """
    own = np.broadcast_to(degrees, 10)
    least = [*own, *own[1:4], *own[4:]]  # of what is derived: those of its own moment
    factor = stdtrit(np.maximum(least, _FEWEST_DEGREES), _LEVEL)
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
