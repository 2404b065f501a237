"""Orders of the columns of a regressor compared by the consistent bodies that fit its rows.

All orders have the same free least squares. A wrong one gives numbers that are no body: the
residual of the best consistent body is then larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.errors import SolveError
from identify.estimation.irls import default_length
from identify.estimation.program import constraint_rows, solve_cone_program
from identify.estimation.scaling import Scaling
from identify.estimation.terms import Consistent, ScalarBounds, Term
from identify.inertia import inertia_about_com
from identify.inertia.conventions import ColumnOrder
from identify.inertia.conventions.regressor_orders import other_orders
from identify.regressors import LinearSystem, ParameterSpace
from identify.significance import CLEAR_LIKELIHOOD_LEAD, MIN_LIKELIHOOD_LEAD

_MAX_EXCESS_RATIO = 0.1
"""Largest excess of an order that is named, as a fraction of that of the order given."""

_MAX_ORDER_EXCESS = 100.0
"""Largest excess of an order that is named, per body: noise at the edge of consistency, or a small
error of the model."""

_RANK_TOLERANCE = 1e-10
"""Singular value, relative to the largest, below which a direction is not excited."""


@dataclass(frozen=True, slots=True)
class BetterOrder:
    """Order of columns by which a consistent body fits rows clearly better.

    Attributes:
        orders: for `order`, the names of a tool or of the ten columns; several if they fit alike.
        text: the orders with all tools that have them.
        excess, given_excess: squared residual in excess of free least squares, in units of the
            noise, of this order and of the order given.
    """

    orders: tuple[str | tuple[str, ...], ...]
    text: str
    excess: float
    given_excess: float


def better_order(
    system: LinearSystem,
    terms: Sequence[Term],
    order: str | Sequence[str],
    weights: Array | None = None,
    excess: float | None = None,
) -> BetterOrder | None:
    """Return the order that fits clearly better than the one that rows were read by, if one does.

    Args:
        system: rows in the order of phi, by the order given.
        terms: what is known besides consistency.
        order: the order given.
        weights: of the groups; by default those of the measured power, whose residual is then the
            unit of noise.
        excess: of the order given, if it is known.
    """
    space = system.space
    scaled = np.ones((len(system.padded.groups), 1, 1)) if weights is None else weights
    if weights is None:
        scaled = scaled / np.maximum(system.measured_power(), np.finfo(float).tiny)[..., None]
    problem = system.problem(scaled)
    noise = problem.residual_norm(free_solution(problem.A, problem.b))
    unit = noise / np.sqrt(problem.degrees_of_freedom) if weights is None else 1.0
    A, b = problem.A / unit, problem.b / unit
    given = consistent_excess(A, b, space, terms) if excess is None else excess
    if given is not None and given < CLEAR_LIKELIHOOD_LEAD:
        return None
    back = ColumnOrder.of(order, len(space.bodies), len(space.scalars))
    as_given = np.empty_like(A)
    as_given[:, back.columns] = A * back.signs
    worst = np.inf if given is None else given
    limit = min(
        worst - CLEAR_LIKELIHOOD_LEAD,
        max(_MAX_EXCESS_RATIO * worst, CLEAR_LIKELIHOOD_LEAD),
        _MAX_ORDER_EXCESS * len(space.bodies),
    )
    fitting: list[tuple[float, str | tuple[str, ...], str]] = []
    for candidate, text in other_orders(order):
        columns = ColumnOrder.of(candidate, len(space.bodies), len(space.scalars))
        excess = consistent_excess(columns.to_phi(as_given), b, space, terms)
        if excess is not None and excess < limit:
            fitting.append((excess, candidate, text))
    if not fitting:
        return None
    least = min(excess for excess, _, _ in fitting)
    alike = [entry for entry in fitting if entry[0] <= least + MIN_LIKELIHOOD_LEAD]
    orders = tuple(each for _, each, _ in alike)
    return BetterOrder(orders, "; or ".join(text for _, _, text in alike), least, worst)


def consistent_excess(
    A: Array, b: Array, space: ParameterSpace, terms: Sequence[Term]
) -> float | None:
    """Return min ‖A x − b‖² over consistent bodies in excess of that of all x; None without any.

    `A`, `b`: rows in units of the noise, shapes (n, p) and (n,).
    """
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
    norms = np.linalg.norm(A, axis=0)
    norms = np.where(norms > 0.0, norms, 1.0)
    return np.linalg.lstsq(A / norms, b, rcond=_RANK_TOLERANCE)[0] / norms


def _scaling(space: ParameterSpace, x: Array, A: Array) -> Scaling | None:
    """Return units of the bodies at x; None if one without a default has no mass."""
    lengths = []
    for number, body in enumerate(space.bodies):
        phi = x[space.body_slice(number)]
        if body in space.defaults:
            lengths.append(1.0)  # the default's own
        elif not phi[0] > 0.0:
            return None
        else:
            squared = 0.5 * float(np.trace(inertia_about_com(phi))) / phi[0]
            lengths.append(float(np.sqrt(squared)) if squared > 0.0 else default_length(phi[0]))
    norms = np.linalg.norm(A[:, space.scalar_slice], axis=0)
    units = np.linalg.norm(A @ x) / np.where(norms > 0.0, norms, 1.0)
    return Scaling.of(space, x, lengths, units)
