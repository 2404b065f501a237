"""From statistics to a certified estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version

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
from identify.estimation.program import MARGIN, cone_program
from identify.inertia import PHI, PSEUDO_INERTIA_BASIS, InertialParameters
from identify.inertia.default_body import DEFAULT_DENSITY, default_radius
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
    problem = ScaledProblem(
        A=fit.scaled_matrix,
        b=fit.problem.b,
        floor=fit.problem.floor,
        told=fit.identifiability.told,
        fixed=fit.identifiability.fixed,
        reference=fit.reference,
    )
    smallest = np.linalg.eigvalsh((PSEUDO_INERTIA_BASIS @ fit.theta).reshape(4, 4))[0]
    if smallest >= MARGIN and fit.theta[0] >= MARGIN:
        return fit.theta, certify(problem, fit.theta, np.zeros((4, 4)), 0.0, SolverRun())
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
    return solution.theta, certify(
        problem, solution.theta, solution.multiplier, solution.mass_multiplier, run
    )


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
