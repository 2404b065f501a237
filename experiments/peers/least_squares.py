"""Ordinary least squares with equal weights."""

import numpy as np

from experiments.peers.method import BodyEstimate, Method
from experiments.peers.rows import Rows


def estimate(rows: Rows) -> BodyEstimate:
    """Return the minimiser of ‖A φ − b‖, with textbook intervals."""
    A, b = rows.A, rows.b
    phi = np.linalg.lstsq(A, b, rcond=None)[0]
    variance = np.sum((b - A @ phi) ** 2) / (len(A) - 10)
    half = 1.96 * np.sqrt(variance * np.diag(np.linalg.inv(A.T @ A)))
    return BodyEstimate(phi, np.column_stack((phi - half, phi + half)))


METHOD = Method("least squares", "NumPy `lstsq`, intervals of s² (AᵀA)⁻¹", estimate)
