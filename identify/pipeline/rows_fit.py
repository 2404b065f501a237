"""`solve`: certified estimates of bodies from the rows of a user's regressor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Indices, seal
from identify.errors import ProblemError
from identify.estimation import Estimate
from identify.estimation.certified_solution import CertifiedSolution
from identify.estimation.errors import DependentColumns, NegativeMass, TooLittleMotion
from identify.estimation.estimator import solve_unknowns
from identify.estimation.terms import Term
from identify.inertia import base_columns
from identify.inertia.conventions import ColumnOrder
from identify.pipeline.row_orders import better_order
from identify.pipeline.rows_findings import (
    correlation_of_rows,
    rows_findings,
    unexcited_columns,
    with_verdict,
)
from identify.regressors import (
    ONE_BODY_SPACE,
    LinearSystem,
    ParameterSpace,
    StackedEquations,
    Statistics,
    stacked_statistics,
)
from identify.regressors.triangular import qr_factor


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows A x = b of a regressor in the order of phi, in order of time.

    Attributes:
        A: shape (n, p).
        b: shape (n,).
        groups: name of each row's group, shape (n,).
        numbers: number of each row as it was given, shape (n,).
    """

    A: Array
    b: Array
    groups: np.ndarray
    numbers: Indices

    def without_repeats(self) -> Rows:
        """Return the rows without those that repeat an earlier one in every digit."""
        if len(np.unique(self.b)) == len(self.b):
            return self
        whole = np.ascontiguousarray(np.column_stack((self.A, self.b)))
        keys = whole.view(np.dtype((np.void, whole.strides[0]))).ravel()
        kept = np.sort(np.unique(keys, return_index=True)[1])
        return Rows(self.A[kept], self.b[kept], self.groups[kept], self.numbers[kept])


def solve(
    A: ArrayLike,
    b: ArrayLike,
    *,
    space: ParameterSpace = ONE_BODY_SPACE,
    terms: Sequence[Term] = (),
    groups: Indices | Sequence[object] | None = None,
    order: str | Sequence[str] = "identify",
) -> Estimate:
    """Fit bodies to the stacked rows of a user's regressor, A x = b + noise.

    Weighted by the residuals of each group, physically consistent, certified, with intervals, and
    with findings and a verdict: the same estimate as from a log. Rows are taken to stand in order
    of time, for the intervals; rows that repeat another one count once.

    Columns may depend on each other, as those of the links of a robot do, if each body concerned
    has a default in `space`: what the rows leave open is then that of the default.

    Args:
        A: regressor, SI, shape (n, p): the ten columns of each body in `order`, then the scalars.
        b: what was measured, shape (n,).
        space: of the unknowns; one body where not given.
        terms: what is known besides.
        groups: rows with equal entries have noise of one size, such as those of one joint or of one
            channel of a sensor, shape (n,); all rows where not given.
        order: of a body's columns: "pinocchio", "mujoco" or another name in `REGRESSOR_ORDERS` of
            `identify.inertia.conventions`, or ten names, with "-" before a column of the other
            sign. By default m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about Bo. An order that
            fits clearly better is a finding, `column_order`.

    Returns:
        The estimate of the first body; the others and the scalars are in `others` and `scalars`.

    Raises:
        ProblemError: shapes that do not fit, numbers that are not finite, or data that do not
            identify a mass or a centre of mass.
        DependentColumns: they do not, because columns depend on each other; it has the base
            parameters that the rows identify.
        ContradictoryTerms: two terms exclude each other.
        ModelError: an unknown order.
        SolveError: the solver failed, or its solution is not proved.
    """
    given = _validated_rows(A, b, space, groups, order)
    rows = given.without_repeats()
    p = len(space)
    if len(rows.b) <= p:
        raise ProblemError(f"{len(rows.b)} rows for {p} unknowns: expected more rows than unknowns")
    statistics = stacked_statistics(rows.A, rows.b, rows.groups)
    equations = StackedEquations(space)
    solution = _solve_statistics(statistics, equations, terms, order, rows)
    fraction = correlation_of_rows(solution, rows.A, rows.b, rows.groups).independent_fraction
    if (fraction < 1.0).any():
        effective = statistics.samples * fraction[statistics.group]
        statistics = replace(statistics, effective_samples=effective)
        solution = _solve_statistics(statistics, equations, terms, order, rows)
    findings = rows_findings(solution, order, rows.A, rows.b, rows.groups, rows.numbers)
    return with_verdict(solution.estimate(), findings, repeated=len(given.b) - len(rows.b))


def _validated_rows(
    A: ArrayLike,
    b: ArrayLike,
    space: ParameterSpace,
    groups: Indices | Sequence[object] | None,
    order: str | Sequence[str],
) -> Rows:
    p = len(space)
    columns = ColumnOrder.of(order, len(space.bodies), len(space.scalars))
    rows, measured = seal(A, "A", (None, p)), seal(b, "b", (None,))
    if len(rows) != len(measured):
        raise ProblemError(
            f"A has {len(rows)} rows and b {len(measured)}: expected one measured number a row"
        )
    if groups is not None and len(groups) != len(rows):
        raise ProblemError(f"groups: expected {len(rows)} entries, one a row, got {len(groups)}")
    names = np.zeros(len(rows), dtype=int) if groups is None else np.asarray(groups)
    return Rows(columns.to_phi(rows), measured, names, np.arange(len(rows)))


def _solve_statistics(
    statistics: Statistics,
    equations: StackedEquations,
    terms: Sequence[Term],
    order: str | Sequence[str],
    rows: Rows,
) -> CertifiedSolution:
    """Solve, with errors that speak of rows and columns."""
    system = LinearSystem.of([(statistics, equations)])
    try:
        return solve_unknowns(system, terms)
    except (NegativeMass, TooLittleMotion) as error:
        raise _explained(error, system, terms, order, rows.A) from error


def _explained(
    error: NegativeMass | TooLittleMotion,
    system: LinearSystem,
    terms: Sequence[Term],
    order: str | Sequence[str],
    A: Array,
) -> ProblemError:
    space = system.space
    better = better_order(system, terms, order)
    hint = "" if better is None else f"; in the order {better.text} they fit a consistent body"
    if isinstance(error, NegativeMass):
        return NegativeMass(
            error.mass,
            f"b has the other sign, or A the opposite gravity{hint or ', or another `order`'}",
            error.body,
        )
    zero = unexcited_columns(space, A)
    base = base_columns(qr_factor(A)) if A.any() else None
    if base is not None and len(base.independent) < len(space) and better is None:
        return DependentColumns(error.unidentifiable, base, space.names)
    unexcited = f" (no row excites {', '.join(zero)})" if zero else ""
    return TooLittleMotion(
        error.unidentifiable,
        f"add rows of other motions{unexcited}, a prior or a constraint of the body{hint}",
        subject="the rows do",
    )
