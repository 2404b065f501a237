"""Rows in cones of a term that is written in cvxpy only."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np

from identify.errors import SolveError
from identify.estimation.cones import ConeBlock, ConicRows


def rows_by_cvxpy(
    term: str, build: Callable[[cp.Variable], list[cp.Constraint]], unknowns: int
) -> ConicRows:
    """Convert the constraints of a term on the scaled unknowns to cvxpy's form for Clarabel.

    `term`: its name; `build`: returns its constraints; `unknowns`: their number.
    Raises `SolveError`: a constraint is not convex, or of a cone that cannot be certified.
    """
    theta = cp.Variable(unknowns)
    constraints = build(theta)
    for constraint in constraints:
        if not constraint.is_dcp():
            raise SolveError(
                f"{term}: the constraint {constraint} is not convex (see cvxpy's rules, DCP)"
            )
    # The objective names every unknown, so that each has a column.
    data = cp.Problem(cp.Minimize(cp.sum(theta)), constraints).get_problem_data("CLARABEL")[0]
    start = data["param_prob"].var_id_to_col[theta.id]
    F, G = np.split(np.roll(-data["A"].toarray(), -start, axis=1), [theta.size], axis=1)
    dims = data["dims"]
    if dims.exp or dims.p3d or getattr(dims, "pnd", None):
        raise SolveError(
            f"{term}: terms with exponential or power cones cannot be certified: use linear, "
            "second-order cone or semidefinite constraints"
        )
    cones = [ConeBlock("zero", dims.zero)] if dims.zero else []
    cones += [ConeBlock("nonnegative", dims.nonneg)] if dims.nonneg else []
    cones += [ConeBlock("second_order", size) for size in dims.soc]
    cones += [ConeBlock("semidefinite", n * (n + 1) // 2) for n in dims.psd]
    return ConicRows(F, G, data["b"], tuple(cones))
