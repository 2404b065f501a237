"""Correction of least squares for noise in the columns (errors in variables), in root form.

Fuller, "Measurement error models" (1987).
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Array
from identify.regressors.triangular import (
    cholesky,
    qr_factor,
    solve_transposed,
    whiten_moment,
)

MAX_NOISE_FRACTION = 0.95
"""Largest fraction of the excitation along a direction that is subtracted as noise; with more the
corrected equations would become indefinite (Fuller 1987)."""


def subtract_noise_moment(rows: Array, noise: Array) -> tuple[Array, Array]:
    """Subtract the moment of noise in the regressor from least-squares rows.

    AᵀA = RᵀR − N and Aᵀb = Rᵀr − q, with N and q the expected moments of the noise; in root form
    R⁻ᵀNR⁻¹ = UΛUᵀ and A = (1 − Λ)^½ UᵀR, so that the equations are not squared. If no Λ exceeds its
    bound, the Cholesky factor of 1 − UΛUᵀ is used instead.

    `rows`: [R | r], shape (n, k + 1), n ≥ k; `noise`: moment of the noise in the rows, shape (k +
    1, k + 1).
    Returns A, upper triangular, shape (k, k), and b, shape (k,).
    """
    return subtract_noise_moment_triangular(qr_factor(rows), noise)


def subtract_noise_moment_triangular(reduced: Array, noise: Array) -> tuple[Array, Array]:
    """Subtract the moment of noise from triangular least-squares rows, shape (k + 1, k + 1)."""
    k = len(reduced) - 1
    R, r = reduced[:k, :k], reduced[:k, k]
    if not noise.any():
        return R, r
    share = whiten_moment(noise[:k, :k], R)
    if np.linalg.norm(share) <= MAX_NOISE_FRACTION:  # along every direction
        root = cholesky(np.eye(k) - share)
        return root @ R, solve_transposed(root, r - solve_transposed(R, noise[:k, k]))
    shares, U = np.linalg.eigh(share)
    remaining = np.sqrt(1.0 - np.clip(shares, 0.0, MAX_NOISE_FRACTION))
    clipped = np.clip(shares, np.finfo(float).tiny, None)
    bias = (U.T @ solve_transposed(R, noise[:k, k])) * np.minimum(1.0, MAX_NOISE_FRACTION / clipped)
    right = (U.T @ r - bias) / remaining
    corrected = np.concatenate((remaining[:, None] * (U.T @ R), right[:, None]), axis=1)
    reduced = qr_factor(corrected)
    return reduced[:k, :k], reduced[:k, k]
