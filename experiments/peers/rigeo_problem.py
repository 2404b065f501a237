"""Least squares with the constraints of rigeo's identification problem.

The original problem is in `rigeo.unused`, which cannot be imported in version 0.2.0.
"""

import sys
import types

from experiments.peers.method import BodyEstimate, Method, NotInstalled
from experiments.peers.rows import Rows


def estimate(rows: Rows) -> BodyEstimate:
    """Minimise rigeo's mean of squares over positive semidefinite pseudo-inertias."""
    # rigeo imports a library of polyhedra (pycddlib), which this problem does not need.
    sys.modules.setdefault("cdd", types.ModuleType("cdd"))
    try:
        from rigeo import pim_must_equal_vec, pim_psd
    except ImportError as error:
        raise NotInstalled("pip install 'rigeo>=0.2,<0.3'") from error
    import cvxpy as cp

    A, b = rows.whitened()
    phi = cp.Variable(10)
    cost = cp.sum_squares(A @ phi - b) * (0.5 / (len(A) // 6))
    problem = cp.Problem(cp.Minimize(cost), pim_psd(pim_must_equal_vec(phi), 0.0))
    problem.solve(solver="CLARABEL")
    if phi.value is None:
        raise cp.SolverError(f"Clarabel: {problem.status}")
    return BodyEstimate(phi.value)


METHOD = Method("rigeo", "cost and constraints of rigeo, weighted by channel, no shape", estimate)
