"""Optimum of the posterior under inequality constraints, with its certificate."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from identify.arrays import Array
from identify.errors import ProblemError, SolveError
from identify.estimation.certificate import Certificate, ScaledProblem, certify
from identify.estimation.errors import ContradictoryTerms, TermError
from identify.estimation.least_squares import weighted_least_squares
from identify.estimation.posterior import Posterior, posterior_of
from identify.estimation.priors.prior import BALL
from identify.estimation.program import (
    ConeSolution,
    Infeasible,
    constraint_rows,
    solve_cone_program,
)
from identify.estimation.terms import Consistent, Term
from identify.estimation.terms.consistent import consistency_margin, min_eigenvalue
from identify.regressors import LinearSystem

_VIOLATION_ROUNDING = 1e-12
"""Violation of a constraint, in scaled units, up to which least squares counts as feasible."""

_MIN_SCALED_MASS = 1e-6
"""Smallest scaled mass of a body in the search for contradictory constraints."""

_DEFAULT_BODY_MARGINS = 10.0
"""Second moment to which default bodies are thickened before use, in margins of consistency."""


def solve_constrained(posterior: Posterior, terms: tuple[Term, ...]) -> tuple[Array, Certificate]:
    """Maximise the posterior under constraints, and certify the solution.

    Returns scaled unknowns theta, shape (p,), and the certificate.
    Raises `ContradictoryTerms`: two terms exclude each other; `SolveError`: the solver failed, or
    its solution is not certified.
    """
    problem = _scaled_problem(posterior, terms)
    if max(problem.violations(posterior.theta)) <= _VIOLATION_ROUNDING:
        return posterior.theta, certify(problem, ConeSolution(posterior.theta))
    try:
        theta, certificate = _solve_and_certify(problem)
    except SolveError as error:
        contradiction = _find_contradiction(problem)
        if contradiction is None:
            raise
        raise contradiction from error
    masses = theta[: 10 * len(problem.scaling.bodies) : 10]  # the first of each body's ten
    if masses.min() < _MIN_SCALED_MASS:
        contradiction = _find_contradiction(problem)
        if contradiction is not None:
            raise contradiction
    return theta, certificate


def explain_failure(
    system: LinearSystem, terms: tuple[Term, ...], error: ProblemError
) -> ProblemError:
    """Explain a failure of least squares by the equality constraints; else return the error."""
    known = [str(term) for term in terms if len(term.equalities(system.space)[1])]
    if not known:
        return error
    try:
        fit = weighted_least_squares(system)
    except ProblemError:
        return error
    return _find_contradiction(_scaled_problem(posterior_of(fit, BALL), terms)) or TermError(
        f"with {' and '.join(known)}: {error}. Without this constraint the data identify these "
        "parameters, so they contradict the given value; check it, or leave it out"
    )


def _solve_and_certify(problem: ScaledProblem) -> tuple[Array, Certificate]:
    """Solve and certify the problem, in standard errors if that succeeds.

    Else in scaled unknowns, and once more after rescaling to that solution.
    """
    rows = constraint_rows(problem.terms, problem.scaling)
    try:
        solution = solve_cone_program(problem.A, problem.b, rows, in_standard_errors=True)
        return _project_and_certify(problem, solution)
    except SolveError:
        solution = _solve_program(problem, problem.terms)
    x = problem.scaling.x(solution.theta)
    try:
        return _project_and_certify(problem, solution)
    except SolveError as error:
        if not (x[: 10 * len(problem.scaling.bodies) : 10] > 0.0).all():  # a mass
            raise
        nearer = problem.rescaled_at(x)
        try:
            theta, certificate = _project_and_certify(nearer, _solve_program(nearer, nearer.terms))
        except SolveError:
            raise error from None
        return problem.scaling.theta(nearer.scaling.x(theta)), certificate


def _project_and_certify(
    problem: ScaledProblem, solution: ConeSolution
) -> tuple[Array, Certificate]:
    solution = replace(solution, theta=_project_inside(solution.theta, problem))
    return solution.theta, certify(problem, solution)


def _solve_program(problem: ScaledProblem, terms: tuple[Term, ...]) -> ConeSolution:
    return solve_cone_program(problem.A, problem.b, constraint_rows(terms, problem.scaling))


def _find_contradiction(problem: ScaledProblem) -> ContradictoryTerms | None:
    """Find the first constraint, or pair of constraints, that no body of noticeable mass satisfies.

    Nearly massless bodies are excluded: they satisfy constraints that no other body does, such as
    two disjoint boxes for the centre of mass.
    """
    others = [term for term in problem.terms if not isinstance(term, Consistent)]
    given = (term for term in problem.terms if isinstance(term, Consistent))
    consistent = replace(next(given, Consistent()), least_mass=_MIN_SCALED_MASS)
    for subset in (*((term,) for term in others), *combinations(others, 2)):
        try:
            _solve_program(problem, (consistent, *subset))
        except Infeasible:
            pair = subset if len(subset) > 1 else (consistent, *subset)
            return ContradictoryTerms(tuple(map(str, pair)))
        except SolveError:  # no evidence of a contradiction
            continue
    return None


def _scaled_problem(posterior: Posterior, terms: tuple[Term, ...]) -> ScaledProblem:
    fit, split = posterior.fit, posterior.fit.identifiability
    return ScaledProblem(
        A=posterior.A,
        b=posterior.b,
        min_residual=posterior.min_residual,
        free=split.free,
        reference=fit.default_theta,
        terms=terms,
        scaling=fit.scaling,
        identifiable=split.identifiable,
        optimal_for=posterior.optimal_for,
        equations=fit.problem.equations,
    )


def _project_inside(theta: Array, problem: ScaledProblem) -> Array:
    """Move a solution that violates the cone by the solver's tolerance inside it.

    The smallest eigenvalue is concave, so a step towards a body well inside the cone raises it at
    least in proportion.
    """
    moved = theta.copy()
    for number, body in enumerate(problem.scaling.space.bodies):
        block = slice(10 * number, 10 * number + 10)
        margin = consistency_margin(problem.terms, body)
        outside, inside = theta[block], problem.reference[block]
        least = min_eigenvalue(outside)
        if least < margin:
            inside = _thicken(inside, _DEFAULT_BODY_MARGINS * margin)
            share = (margin - least) / (min_eigenvalue(inside) - least)
            moved[block] = outside + share * (inside - outside)
    return moved


def _thicken(theta: Array, min_second_moment: float) -> Array:
    """Raise the second moments of a body that is too thin, such as a default that is a sheet."""
    if min_eigenvalue(theta) >= min_second_moment:
        return theta
    thick = theta.copy()
    thick[[4, 7, 9]] += 2.0 * min_second_moment
    return thick
