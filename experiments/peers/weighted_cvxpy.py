"""Weighted least squares subject to Pi ⪰ 0, as commonly written in cvxpy."""

from experiments.peers.method import BodyEstimate, Method
from experiments.peers.rows import Rows
from identify.inertia import PSEUDO_INERTIA_BASIS


def estimate(rows: Rows) -> BodyEstimate:
    """Minimise the weighted sum of squares over physically consistent bodies."""
    import cvxpy as cp  # imported here, so that its memory is counted for this method

    A, b = rows.whitened()
    phi = cp.Variable(10)
    Pi = cp.reshape(PSEUDO_INERTIA_BASIS @ phi, (4, 4), order="C")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ phi - b)), [Pi >> 0])
    problem.solve(solver="CLARABEL")
    if phi.value is None:
        raise cp.SolverError(f"Clarabel: {problem.status}")
    return BodyEstimate(phi.value)


METHOD = Method(
    "weighted, in cvxpy", "sum of squares by channel, Π ⪰ 0, Clarabel with its defaults", estimate
)
