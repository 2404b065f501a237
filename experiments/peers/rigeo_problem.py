"""Least squares with the constraints of rigeo's identification problem.

The original problem is in `rigeo.unused`, which cannot be imported in version 0.2.0.
"""
# requires: rigeo>=0.2,<0.3 cvxpy>=1.7,<2 clarabel

import sys
import types

import cvxpy as cp
from task import answer


def estimate(A, b):
    sys.modules.setdefault("cdd", types.ModuleType("cdd"))  # polyhedra, which it does not need
    from rigeo import pim_must_equal_vec, pim_psd

    phi = cp.Variable(10)
    cost = cp.sum_squares(A @ phi - b) * (0.5 / (len(A) // 6))
    problem = cp.Problem(cp.Minimize(cost), pim_psd(pim_must_equal_vec(phi), 0.0))
    problem.solve(solver="CLARABEL")
    return phi.value


answer(estimate)
