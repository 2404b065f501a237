"""From statistics to a certified estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from typing import get_args

import numpy as np

from identify.arrays import Array
from identify.errors import ProblemError
from identify.estimation.certificate import Certificate, ScaledProblem, SolverRun, certify
from identify.estimation.estimate import DecidedBy, Estimate
from identify.estimation.intervals import (
    INTERVAL_KIND,
    block_covariance,
    degrees_of_freedom,
    intervals_of,
)
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.program import MARGIN, ConeSolution, cone_program
from identify.inertia import PHI, PSEUDO_INERTIA_BASIS, InertialParameters
from identify.inertia.parameters import DEFAULT_DENSITY, default_radius
from identify.regressors import Bias, BlockStatistics, merge_logs


@dataclass(frozen=True, slots=True)
class EstimatorSettings:
    """What a person may choose.

    Attributes:
        bias: whose sensor bias is fitted.
        mass: known mass [kg], if any.
    """

    bias: Bias = "per_log"
    mass: float | None = None

    def __post_init__(self) -> None:
        if self.bias not in get_args(Bias):
            raise ProblemError(f"bias: expected one of {get_args(Bias)}, got {self.bias!r}")
        if self.mass is not None and not (np.isfinite(self.mass) and self.mass > 0.0):
            raise ProblemError(f"a known mass must be positive and finite, got {self.mass} kg")


def estimate_body(
    logs: Sequence[BlockStatistics], settings: EstimatorSettings | None = None
) -> Estimate:
    """Fit the ten parameters of one body to the statistics of its logs.

    Weighted least squares first; where its body is not a possible one, the semidefinite program
    with the same data and Pi ⪰ 0. What the data do not tell is completed by a compact default body.

    Args:
        logs: block statistics, one for each log.
        settings: bias, known mass.

    Raises:
        ProblemError: the data do not tell mass or centre of mass, or their sign is wrong.
        SolveError: the solver failed, or its solution is not proved.
    """
    settings = settings or EstimatorSettings()
    fit = fit_least_squares(logs, settings)
    theta, certificate = solve_consistent(fit)
    return _assemble(logs, fit, theta, certificate, settings)


def fit_least_squares(
    logs: Sequence[BlockStatistics], settings: EstimatorSettings
) -> LeastSquaresFit:
    """The unconstrained part of `estimate_body`."""
    noise = np.sum([log.samples.sum() * log.noise[:12] for log in logs], axis=0)
    return weighted_least_squares(
        merge_logs([log.total() for log in logs]), noise, bias=settings.bias, mass=settings.mass
    )


def solve_consistent(fit: LeastSquaresFit) -> tuple[Array, Certificate]:
    """The consistent body nearest to the data, and the proof.

    Returns:
        Scaled parameters theta, shape (10,), and the certificate.

    Raises:
        SolveError: the solver failed, or its solution is not proved.
    """
    problem = _scaled_problem(fit)
    if _least_eigenvalue(fit.theta) >= MARGIN and fit.theta[0] >= MARGIN:
        return fit.theta, _certificate(fit, problem, fit.theta, None, SolverRun())
    solution = cone_program(len(problem.fixed)).solve(
        problem.A, problem.b, problem.fixed, problem.fixed @ problem.reference
    )
    run = SolverRun(
        solver="Clarabel",
        status=solution.status,
        iterations=solution.iterations,
        versions=_solver_versions(),
        build_time=solution.build_time,
        solve_time=solution.solve_time,
    )
    theta = _lifted(solution.theta, problem.reference)
    return theta, _certificate(fit, problem, theta, solution, run)


def _scaled_problem(fit: LeastSquaresFit) -> ScaledProblem:
    completed = fit.completed
    mass_given = fit.identifiability.mass_given
    return ScaledProblem(
        A=completed.A,
        b=completed.b,
        floor=completed.floor,
        equations=completed.equations,
        told=np.eye(10)[:, 1:] if mass_given else np.eye(10),
        fixed=np.eye(10)[: int(mass_given)],
        reference=fit.reference,
    )


def _lifted(theta: Array, inside: Array) -> Array:
    """The last step to a solver's solution that is outside the cone by its tolerance.

    The least eigenvalue is concave, so a step towards a body well inside the cone raises it at
    least in proportion.
    """
    least = _least_eigenvalue(theta)
    if least >= MARGIN:
        return theta
    share = (MARGIN - least) / (_least_eigenvalue(inside) - least)
    return theta + share * (inside - theta)


def _least_eigenvalue(theta: Array) -> float:
    return float(np.linalg.eigvalsh((PSEUDO_INERTIA_BASIS @ theta).reshape(4, 4))[0])


def _certificate(
    fit: LeastSquaresFit,
    problem: ScaledProblem,
    theta: Array,
    solution: ConeSolution | None,
    run: SolverRun,
) -> Certificate:
    multiplier = np.zeros((4, 4)) if solution is None else solution.multiplier
    mass_multiplier = 0.0 if solution is None else solution.mass_multiplier
    certificate = certify(problem, theta, multiplier, mass_multiplier, run)
    split = fit.identifiability
    if not split.untold.size:
        return certificate
    singular = np.linalg.svd(fit.scaled_matrix @ split.told, compute_uv=False)
    return replace(certificate, condition=float(singular[0] / singular[-1]), rank=len(singular))


@lru_cache(maxsize=1)
def _solver_versions() -> tuple[tuple[str, str], ...]:
    return tuple((name, version(name)) for name in ("clarabel", "cvxpy"))


def _assemble(
    logs: Sequence[BlockStatistics],
    fit: LeastSquaresFit,
    theta: Array,
    certificate: Certificate,
    settings: EstimatorSettings,
) -> Estimate:
    phi = fit.scaling.phi(theta)
    covariance = block_covariance(fit, logs)
    decided_by = _decide(fit, phi, covariance, settings)
    moment = fit.statistics.residual_moment(phi, fit.bias)
    samples = float(fit.statistics.samples.sum())
    default = None
    if "default" in decided_by.values():
        radius = default_radius(float(phi[0]))
        default = (
            f"solid ball of {DEFAULT_DENSITY:g} kg/m³ about the centre of mass, "
            f"radius {1e3 * radius:.1f} mm"
        )
    return Estimate(
        parameters=InertialParameters(phi),
        least_squares=InertialParameters(fit.phi),
        covariance=covariance,
        intervals=intervals_of(phi, covariance, degrees_of_freedom(fit, logs), decided_by),
        interval_kind=INTERVAL_KIND,
        decided_by=decided_by,
        default_body=default,
        biases=fit.statistics.biases(phi, fit.bias),
        residual_covariance=moment / samples,
        residual_rms=np.sqrt(np.diag(moment) / samples),
        samples=int(samples),
        effective_samples=float(fit.statistics.effective.sum()),
        certificate=certificate,
    )


def _decide(
    fit: LeastSquaresFit, phi: Array, covariance: Array, settings: EstimatorSettings
) -> dict[str, DecidedBy]:
    """What fixed each of the ten parameters."""
    errors = np.sqrt(np.diag(covariance))
    moved = np.abs(phi - fit.phi)
    decided: dict[str, DecidedBy] = {}
    for index, name in enumerate(PHI):
        if index == 0 and settings.mass is not None:
            decided[name] = "given"
        elif moved[index] > errors[index]:
            decided[name] = "constraint"
        elif fit.identifiability.half_widths[index] < 1.0:
            decided[name] = "data"
        else:
            decided[name] = "default"
    return decided
