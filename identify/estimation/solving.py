"""From least squares to the unknowns nearest to the data that meet the terms, and their proof."""

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
from identify.estimation.program import ConeSolution, Infeasible, cone_program
from identify.estimation.terms import Consistent, Term
from identify.estimation.terms.consistent import MARGIN, least_eigenvalue
from identify.regressors import System

_MET = 1e-12
"""Violation of a term, in scaled units, that is rounding: least squares meets it."""

_NOTICEABLE = 1e-6
"""Scaled mass from which on a body counts where terms are searched for a contradiction."""


def solve_terms(posterior: Posterior, terms: tuple[Term, ...]) -> tuple[Array, Certificate]:
    """The unknowns nearest to what data and prior say that meet the terms, and the proof.

    Returns:
        Scaled unknowns theta, shape (p,), and the certificate.

    Raises:
        ContradictoryTerms: two terms exclude each other.
        SolveError: the solver failed, or its solution is not proved.
    """
    problem = _scaled_problem(posterior, terms)
    if max(problem.violations(posterior.theta)) <= _MET:
        return posterior.theta, certify(problem, ConeSolution(posterior.theta))
    try:
        theta, certificate = _solved(problem)
    except SolveError as error:
        contradiction = _contradiction(problem)
        if contradiction is None:
            raise
        raise contradiction from error
    if theta[: 10 * len(problem.scaling.bodies) : 10].min() < _NOTICEABLE:
        contradiction = _contradiction(problem)
        if contradiction is not None:
            raise contradiction
    return theta, certificate


def cause_in_terms(system: System, terms: tuple[Term, ...], error: ProblemError) -> ProblemError:
    """What is wrong where least squares fails for what is known exactly; else the same error.

    Args:
        system: data and equations.
        terms: all of them.
        error: of least squares with their equalities.
    """
    known = [str(term) for term in terms if len(term.equalities(system.space)[1])]
    if not known:
        return error
    try:
        fit = weighted_least_squares(system)
    except ProblemError:
        return error
    return _contradiction(_scaled_problem(posterior_of(fit, BALL), terms)) or TermError(
        f"with {' and '.join(known)}: {error}. Without that, the log tells it: the data contradict "
        "what is given; check it, or leave it out"
    )


def _solved(problem: ScaledProblem) -> tuple[Array, Certificate]:
    """The solution and its proof, in units of the problem.

    One that is far from the data is found again in units about itself, where the solver is exact.
    """
    solution = _solution(problem, problem.terms)
    x = problem.scaling.x(solution.theta)
    try:
        return _proved(problem, solution)
    except SolveError as error:
        if not (x[: 10 * len(problem.scaling.bodies) : 10] > 0.0).all():
            raise
        nearer = problem.about(x)
        try:
            theta, certificate = _proved(nearer, _solution(nearer, nearer.terms))
        except SolveError:
            raise error from None
        return problem.scaling.theta(nearer.scaling.x(theta)), certificate


def _proved(problem: ScaledProblem, solution: ConeSolution) -> tuple[Array, Certificate]:
    solution = replace(solution, theta=_moved_inside(solution.theta, problem))
    return solution.theta, certify(problem, solution)


def _solution(problem: ScaledProblem, terms: tuple[Term, ...]) -> ConeSolution:
    program = cone_program(problem.scaling.space, terms)
    return program.solve(problem.A, problem.b, problem.scaling)


def _contradiction(problem: ScaledProblem) -> ContradictoryTerms | None:
    """The first terms that no body of noticeable mass meets, if there are such.

    Bodies of hardly any mass are left out: they meet terms that no other body does, as two boxes
    for the centre of mass that are apart.
    """
    consistent = Consistent(least_mass=_NOTICEABLE)
    others = [term for term in problem.terms if not isinstance(term, Consistent)]
    for said in (*((term,) for term in others), *combinations(others, 2)):
        try:
            _solution(problem, (consistent, *said))
        except Infeasible:
            pair = said if len(said) > 1 else (consistent, *said)
            return ContradictoryTerms(tuple(map(str, pair)))
        except SolveError:  # says nothing of a contradiction
            continue
    return None


def _scaled_problem(posterior: Posterior, terms: tuple[Term, ...]) -> ScaledProblem:
    fit, split = posterior.fit, posterior.fit.identifiability
    return ScaledProblem(
        A=posterior.A,
        b=posterior.b,
        floor=posterior.floor,
        free=split.free,
        reference=fit.prior,
        terms=terms,
        scaling=fit.scaling,
        identifiable=split.identifiable,
        optimal_for=posterior.optimal_for,
        equations=fit.problem.equations,
    )


def _moved_inside(theta: Array, problem: ScaledProblem) -> Array:
    """The last step to a solver's solution that is outside the cone by its tolerance.

    The least eigenvalue is concave, so a step towards a body well inside the cone raises it at
    least in proportion.
    """
    moved = theta.copy()
    for body in range(len(problem.scaling.bodies)):
        block = slice(10 * body, 10 * body + 10)
        outside, inside = theta[block], problem.reference[block]
        least = least_eigenvalue(outside)
        if least < MARGIN:
            share = (MARGIN - least) / (least_eigenvalue(inside) - least)
            moved[block] = outside + share * (inside - outside)
    return moved
