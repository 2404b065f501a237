"""Orders of the columns of a regressor compared by the consistent bodies that fit its rows.

All orders have the same free least squares. A wrong one gives numbers that are no body: the
residual of the best consistent body is then larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from identify.arrays import Array
from identify.errors import SolveError
from identify.estimation.irls import default_lengths, has_positive_masses
from identify.estimation.program import constraint_rows, solve_cone_program
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Consistent, ScalarBounds, Term
from identify.inertia import default_body
from identify.inertia.conventions import ColumnOrder
from identify.inertia.conventions.regressor_orders import other_orders
from identify.regressors import LinearProblem, ParameterSpace
from identify.regressors.triangular import singular_values
from identify.significance import CLEAR_LIKELIHOOD_LEAD, MIN_LIKELIHOOD_LEAD, PRIOR_EXCLUDED_P

_MAX_EXCESS_RATIO = 0.1
"""Largest excess of an order that is named, as a fraction of that of the order given."""

_MAX_ORDER_EXCESS = 100.0
"""Largest excess of an order that is named, per body: noise at the edge of consistency, or a small
error of the model."""

_MAX_ACTIVE_PER_BODY = 2
"""Second moments of a body at the edge of consistency that noise makes negative; the excess of
bodies is chi-square with so many degrees of freedom each."""

_RANK_TOLERANCE = 1e-10
"""Singular value, relative to the largest, below which a direction is not excited."""


class BetterOrder(NamedTuple):
    """Orders of columns by which a consistent body fits rows clearly better, all alike.

    Attributes:
        orders: for `order`: names of a tool, or of the ten columns.
        text: the orders with all tools that have them.
        excess: squared residual beyond that of free least squares, in units of the noise.
    """

    orders: tuple[str | tuple[str, ...], ...]
    text: str
    excess: float


def better_order(
    problem: LinearProblem,
    space: ParameterSpace,
    terms: Sequence[Term],
    order: str | Sequence[str],
    excess: float | None = None,
) -> BetterOrder | None:
    """Return orders that fit clearly better than the one that rows were read by, if any does.

    `problem`: rows in units of the noise, in the order of phi by the `order` given; `terms`: known
    besides consistency; `excess`: of the order given; without, bodies are in units of a ball.
    """
    if excess is None:
        masses = free_solution(problem.A, problem.b)[: 10 * len(space.bodies) : 10]
        ball = default_body(float(np.abs(masses).max()) or 1.0, np.zeros(3))
        space = space.with_defaults({**dict.fromkeys(space.bodies, ball), **space.defaults})
        excess = consistent_excess(problem.A, problem.b, space, terms)
    excess = np.inf if excess is None else excess  # no body fits
    if excess < excess_by_chance(space):
        return None
    counts = len(space.bodies), len(space.scalars)
    back, given = ColumnOrder.of(order, *counts), np.empty_like(problem.A)
    given[:, back.columns] = problem.A * back.signs
    limit = min(
        excess - CLEAR_LIKELIHOOD_LEAD,
        max(_MAX_EXCESS_RATIO * excess, CLEAR_LIKELIHOOD_LEAD),
        _MAX_ORDER_EXCESS * len(space.bodies),
    )
    fitting: list[tuple[float, str | tuple[str, ...], str]] = []
    for candidate, text in other_orders(order):
        A = ColumnOrder.of(candidate, *counts).to_phi(given)
        left_over = consistent_excess(A, problem.b, space, terms)
        if left_over is not None and left_over < limit:
            fitting.append((left_over, candidate, text))
    if not fitting:
        return None
    least = min(each for each, _, _ in fitting)
    alike = [entry for entry in fitting if entry[0] <= least + MIN_LIKELIHOOD_LEAD]
    orders = tuple(each for _, each, _ in alike)
    return BetterOrder(orders, "; or ".join(text for _, _, text in alike), least)


def excess_by_chance(space: ParameterSpace) -> float:
    """Return the excess that noise alone does not exceed, of bodies at the edge of consistency."""
    degrees = _MAX_ACTIVE_PER_BODY * len(space.bodies)
    return max(CLEAR_LIKELIHOOD_LEAD, float(chdtri(degrees, PRIOR_EXCLUDED_P)))


def consistent_excess(
    A: Array, b: Array, space: ParameterSpace, terms: Sequence[Term]
) -> float | None:
    """Return min ‖A x − b‖² over consistent bodies in excess of that of all x; None without any."""
    x = free_solution(A, b)
    scaling = _scaling(space, x, A)
    if scaling is None:
        return None
    consistent = () if any(isinstance(term, Consistent) for term in terms) else (Consistent(),)
    every = (*consistent, *((ScalarBounds(),) if space.scalars else ()), *terms)
    if max(term.violation(x, scaling) for term in every) <= 0.0:
        return 0.0
    try:
        theta = solve_cone_program(A @ scaling.to_x, b, constraint_rows(every, scaling)).theta
    except SolveError:
        return None
    least = float(np.sum((A @ x - b) ** 2))
    return max(float(np.sum((A @ scaling.x(theta) - b) ** 2)) - least, 0.0)


def free_solution(A: Array, b: Array) -> Array:
    """Return least squares of least norm in columns of norm one."""
    norms = column_norms(A)
    return np.linalg.lstsq(A / norms, b, rcond=_RANK_TOLERANCE)[0] / norms


def independent_columns(A: Array) -> bool:
    """Return whether all columns, of norm one, are independent but for rounding."""
    singular = singular_values(A / column_norms(A))
    return bool(singular[-1] > _RANK_TOLERANCE * singular[0])


def column_norms(A: Array) -> Array:
    """Return the norm of each column, one for columns that are zero."""
    norms = np.linalg.norm(A, axis=0)
    return np.where(norms > 0.0, norms, 1.0)


def _scaling(space: ParameterSpace, x: Array, A: Array) -> Scaling | None:
    """Return units of the bodies at x; None if one without a default has no mass."""
    if not has_positive_masses(space, x):
        return None
    norms = np.linalg.norm(A[:, space.scalar_slice], axis=0)
    units = np.linalg.norm(A @ x) / np.where(norms > 0.0, norms, 1.0)
    return Scaling.of(space, x, default_lengths(space, x), units)
