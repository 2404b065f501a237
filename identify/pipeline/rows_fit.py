"""`solve`: certified estimates of bodies from the rows of a user's regressor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Indices
from identify.errors import IdentifyError, ProblemError, SolveError
from identify.estimation import Estimate
from identify.estimation.certified_solution import CertifiedSolution
from identify.estimation.errors import DependentColumns, NegativeMass, TooLittleMotion
from identify.estimation.estimator import solve_unknowns
from identify.estimation.priors.prior import BALL, Prior
from identify.estimation.terms import Term
from identify.findings import Finding
from identify.inertia import base_columns
from identify.pipeline.row_orders import better_order, free_solution, independent_columns
from identify.pipeline.rows import Noise, Rows, sets_of_rows
from identify.pipeline.rows_findings import (
    MIN_RELATIVE_EXCESS,
    agreement_of_groups,
    noise_ratios,
    row_correlations,
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
from identify.regressors.statistics import sum_statistics
from identify.significance import BODY_CHANGE_P, CONTRADICTED_CONSTRAINT_SIGMA

_MAX_PARTS = 40
"""Number of parts of rows at which the statistics of pairs are merged; even."""


def solve(
    A: ArrayLike | Statistics | Iterable[tuple[ArrayLike, ...]],
    b: ArrayLike | None = None,
    *,
    space: ParameterSpace = ONE_BODY_SPACE,
    terms: Sequence[Term] = (),
    groups: Indices | Sequence[object] | None = None,
    order: str | Sequence[str] = "identify",
    noise: Noise | None = None,
    prior: Prior | Mapping[str, Prior] = BALL,
    residual_bound: float | None = None,
) -> Estimate:
    """Fit bodies to the stacked rows of a user's regressor, A x = b + noise.

    Weighted by the noise, or by the residuals of each group, physically consistent, certified, with
    intervals, findings and a verdict: the same estimate as from a log. Rows are taken to stand in
    order of time, for the intervals; rows that repeat another one count once.

    Rows may come in parts, of which no more than one is in memory: an iterator of (A, b) or
    (A, b, groups), each with rows of every group, in place of A, or the sum of their
    `stacked_statistics` in the order of phi. Single rows are then not examined.

    Many sets of rows are fitted by one call: b of shape (n, k) for one A, or A of shape (k, n, p)
    with b of shape (k, n). The result is then a tuple of what k calls give: estimates, and the
    error of a set that has none.

    Columns may depend on each other, as those of the links of a robot do, if each body concerned
    has a prior, or a default in `space`: what the rows leave open is then that of the default.

    Args:
        A: regressor, SI, shape (n, p): the ten columns of each body in `order`, then the scalars;
            or a stack of them, parts, or statistics.
        b: what was measured, shape (n,), or of a stack; not with parts or statistics.
        space: of the unknowns; one body where not given.
        terms: what is known besides, also of several bodies (`LinearEquality`).
        groups: rows with equal entries have noise of one size, such as those of one joint or of one
            channel of a sensor, shape (n,); all rows where not given.
        order: of a body's columns: "pinocchio", "mujoco" or another name in `REGRESSOR_ORDERS` of
            `identify.inertia.conventions`, or ten names, with "-" before a column of the other
            sign. By default m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about Bo. An order that
            fits clearly better is a finding, `column_order`.
        noise: standard error of b: a number, one a row, or by group a number or a covariance of k
            successive rows of the group; larger residuals widen intervals. Estimated if not given.
        prior: of the first body, or of bodies by name.
        residual_bound: largest Σ r²/σ², for priors `NearBody(…, weight="bound")`: the nearest
            bodies within it are found. It needs `noise`, which may be 1.

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
    if residual_bound is not None and noise is None:
        raise ProblemError("residual_bound: give the noise of the rows too; 1 for plain squares")
    for name, value, kinds, expected in (
        ("terms", terms, Sequence, "a sequence of terms, such as [KnownMass(1.3)]"),
        ("order", order, Sequence, "the name of an order, or ten names"),
        ("prior", prior, (Prior, Mapping), "a prior, or a mapping of bodies to priors"),
    ):
        if not isinstance(value, kinds):
            raise ProblemError(f"{name}: expected {expected}, got {type(value).__name__}")
    priors = {space.bodies[0]: prior} if isinstance(prior, Prior) else prior
    space = _with_nominal_bodies(space, priors)
    problem = _RowsProblem(
        StackedEquations(space, noise_known=noise is not None),
        tuple(terms),
        order,
        priors,
        residual_bound,
    )
    if b is None:
        parts = A if isinstance(A, Statistics) else _sum_parts(A, space, order, noise)
        return problem.estimate_of(parts)
    regressor: Any = A
    if np.ndim(b) == 1 and np.ndim(regressor) == 2:
        return problem.estimate(Rows.of(regressor, b, space, groups, order), noise)
    results: list[Any] = []
    for pair in sets_of_rows(regressor, b):
        try:
            results.append(problem.estimate(Rows.of(*pair, space, groups, order), noise))
        except IdentifyError as error:
            results.append(error)
    if results and all(isinstance(each, IdentifyError) for each in results):
        raise results[0]
    return tuple(results)  # pyright: ignore[reportReturnType]


def _sum_parts(
    parts: Any, space: ParameterSpace, order: str | Sequence[str], noise: Noise | None
) -> Statistics:
    """Return the statistics of rows in parts, each a block of time, of which pairs are merged."""
    blocks: list[Statistics] = []
    for part in parts:
        if not isinstance(part, tuple) or len(part) not in (2, 3):
            raise ProblemError("parts of rows: expected tuples (A, b) or (A, b, groups)")
        rows = Rows.of(part[0], part[1], space, part[2] if len(part) > 2 else None, order)
        if noise is not None:
            rows = rows.whitened(noise)
        statistics = stacked_statistics(rows.A, rows.b, rows.groups).merged()
        if blocks and statistics.layout != blocks[0].layout:
            raise ProblemError(
                f"parts of rows: expected rows of the groups "
                f"{', '.join(group.name for group in blocks[0].layout.groups)} in each part, got "
                f"{', '.join(group.name for group in statistics.layout.groups)}"
            )
        blocks.append(statistics)
        if len(blocks) == _MAX_PARTS:
            blocks = [blocks[k] + blocks[k + 1] for k in range(0, _MAX_PARTS, 2)]
    if not blocks:
        raise ProblemError("parts of rows: there are none")
    return sum_statistics(
        [replace(part, block=np.full_like(part.block, k)) for k, part in enumerate(blocks)]
    )


def _with_nominal_bodies(space: ParameterSpace, priors: Mapping[str, Prior]) -> ParameterSpace:
    """Return the space with the bodies of priors as defaults of bodies without one."""
    for name in priors:
        space.body_slice(name)  # raises if there is none
    nominal = {
        name: prior.nominal
        for name, prior in priors.items()
        if prior.nominal is not None and name not in space.defaults
    }
    return space.with_defaults({**space.defaults, **nominal}) if nominal else space


@dataclass(frozen=True, slots=True)
class _RowsProblem:
    """Unknowns of rows, with all that is known of them besides the rows."""

    equations: StackedEquations
    terms: tuple[Term, ...]
    order: str | Sequence[str]
    priors: Mapping[str, Prior]
    residual_bound: float | None

    def estimate(self, given: Rows, noise: Noise | None) -> Estimate:
        """Return the estimate of rows, with findings and verdict."""
        has_covariance = isinstance(noise, Mapping) and any(np.ndim(v) > 1 for v in noise.values())
        rows = given if has_covariance else given.without_repeats()
        if noise is not None:
            rows = rows.whitened(noise)
        p = len(self.equations.space)
        if len(rows.b) <= p and noise is None:
            raise ProblemError(
                f"{len(rows.b)} rows for {p} unknowns: expected more rows than unknowns, or their "
                "noise"
            )
        statistics = stacked_statistics(rows.A, rows.b, rows.groups)
        return self.estimate_of(statistics, rows, len(given.b) - len(rows.b))

    def estimate_of(
        self, statistics: Statistics, rows: Rows | None = None, repeated: int = 0
    ) -> Estimate:
        """Return the estimate of statistics, with findings; `repeated`: rows left out of them."""
        solution, share = self.solve(statistics), np.ones(len(statistics.layout.groups))
        if rows is not None:
            correlation = row_correlations(solution, rows)
            share = (1.0 - correlation) / (1.0 + correlation)  # as of a first-order process
        ratios = np.ones_like(share)
        if self.equations.noise_known and self.residual_bound is None:
            ratios = noise_ratios(solution, share)
        effective = statistics.effective_samples / np.maximum(ratios, 1.0)[statistics.group]
        statistics = replace(statistics, effective_samples=effective)
        if (share < 1.0).any() or (ratios > 1.0).any():
            effective = effective * share[statistics.group]
            solution = self.solve(replace(statistics, effective_samples=effective))
        contradicted = self.contradicted_terms(solution, statistics)
        findings = [*contradicted, *rows_findings(solution, self.order, ratios, rows)]
        if repeated:
            text = f"{repeated} rows repeat others in every digit; they count once."
            findings.append(Finding("held_samples", "info", text))
        return with_verdict(solution.estimate(), findings)

    def solve(self, statistics: Statistics) -> CertifiedSolution:
        """Solve, with errors that speak of rows and columns."""
        system = LinearSystem.of([(statistics, self.equations)])
        try:
            return solve_unknowns(
                system, self.terms, prior=self.priors, residual_bound=self.residual_bound
            )
        except (NegativeMass, TooLittleMotion, SolveError) as error:
            raise self._explained(error, system) from error

    def contradicted_terms(
        self, solution: CertifiedSolution, statistics: Statistics
    ) -> Iterator[Finding]:
        """Yield a finding on each term that the rows contradict, each held against none."""
        if not self.terms:
            return
        from identify.pipeline.check_findings import quantities_that_differ
        from identify.pipeline.contradicted_choices import largest_deviation

        try:
            free = replace(self, terms=()).solve(statistics).estimate()
        except IdentifyError:  # the rows do not identify the bodies without them
            return
        for term in self.terms:
            alone = solution
            if len(self.terms) > 1:
                try:
                    alone = replace(self, terms=(term,)).solve(statistics)
                except IdentifyError:
                    continue
            pairs = list(zip(alone.estimate().bodies, free.bodies, strict=True))
            apart = max(largest_deviation(*pair) for pair in pairs)
            if apart > CONTRADICTED_CONSTRAINT_SIGMA:
                matters = any(
                    quantities_that_differ([each.parameters.phi for each in pair]) for pair in pairs
                )
                yield Finding(
                    "choice_contradicted",
                    "error" if matters else "info",
                    f"the rows contradict {term}, by {apart:.2g} standard errors. Without, the "
                    f"mass is {free.parameters.mass:.5g} kg.",
                    "Check the given values, and correct or omit what is wrong.",
                    {"standard_errors": apart, "mass_by_data": free.parameters.mass},
                )

    def _explained(
        self, error: NegativeMass | TooLittleMotion | SolveError, system: LinearSystem
    ) -> IdentifyError:
        space, least = system.space, np.sqrt(np.finfo(float).tiny)
        power = np.maximum(system.measured_power()[..., None], least)
        problem = system.problem(1.0 / power)
        free = free_solution(problem.A, problem.b)
        squares = system.residual_moments(free) / system.padded.samples[:, None, None]
        squares *= problem.equations / problem.degrees_of_freedom
        in_noise = system.problem(1.0 / np.maximum(squares, MIN_RELATIVE_EXCESS**2 * power))
        agreement = agreement_of_groups(system)
        group, differ = agreement.other_sign, agreement.p_value < BODY_CHANGE_P
        # Whether groups differ does not depend on the order of the columns.
        better = None if differ else better_order(in_noise, space, self.terms, self.order)
        hint = "" if better is None else f"; in the order {better.text} they fit a consistent body"
        if group is not None:
            hint = f"; with the other sign of b of group {group!r} they fit one"
        elif differ:
            hint = f"; {agreement.text} are not of the same bodies: check their units and columns"
        if isinstance(error, SolveError):
            return SolveError(f"{error}{hint}")
        if isinstance(error, NegativeMass):
            other = hint or ", or another `order`"
            cause = f"b has the other sign, or A the opposite gravity{other}"
            if group is not None:
                cause = f"b of group {group!r} has the other sign"
            return NegativeMass(error.mass, cause, error.body)
        zero = unexcited_columns(space, problem.A)
        if problem.A.any() and better is None and not (differ and independent_columns(problem.A)):
            base = base_columns(problem.A)
            if len(base.independent) < len(space):
                return DependentColumns(error.unidentifiable, base, space.names)
        unexcited = f" (no row excites {', '.join(zero)})" if zero else ""
        return TooLittleMotion(
            error.unidentifiable,
            f"add rows of other motions{unexcited}, a prior or a constraint of the body{hint}",
            subject="the rows do",
        )
