"""Weighted least squares subject to Π ⪰ 0, as commonly written in cvxpy."""

import cvxpy as cp
import numpy as np

from identify.inertia import PSEUDO_INERTIA_BASIS
from identify.studies import TrialData


def estimate(data: TrialData, options: dict[str, object]) -> np.ndarray:
    """Minimise the sum of squares, weighted by channel, over physically consistent bodies."""
    A, b = data.rows.whitened()
    phi = cp.Variable(10)
    Pi = cp.reshape(PSEUDO_INERTIA_BASIS @ phi, (4, 4), order="C")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ phi - b)), [Pi >> 0])
    problem.solve(solver="CLARABEL")
    return np.asarray(phi.value)
