"""Consistent fit from statistics, compared with cvxpy on all rows and with Clarabel alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import clarabel
import cvxpy as cp
import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread, race
from identify.arrays import Array, Phi, Vec6
from identify.estimation import (
    Estimate,
    EstimatorSettings,
    body_system,
    estimate_body,
    solve_unknowns,
    weighted_least_squares,
)
from identify.estimation.constrained_solution import solve_constrained
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.posterior import posterior_of
from identify.estimation.priors import Ball
from identify.estimation.terms import Consistent
from identify.inertia import phi_from_inertia
from identify.logs.synthetic import random_motion
from identify.regressors import (
    LinearSystem,
    ParameterSpace,
    Statistics,
    WrenchEquations,
    join_logs,
    newton_euler_regressor,
    newton_euler_wrench,
    wrench_statistics,
)
from identify.spatial import BodyMotion
from identify.spatial.rotations import rotate_back, rotation_from_quaternion

SAMPLES = 1000

_GRAVITY = np.array([0.0, 0.0, -9.80665])
_SIGMA = np.array([0.05] * 3 + [0.0025] * 3)
_MAX_SEEDS = 50


@dataclass(frozen=True, slots=True)
class NoisyLog:
    """Samples whose least-squares body is not physically consistent: a solver has to run."""

    motion: BodyMotion
    wrench: Vec6
    blocks: Statistics
    estimate: Estimate

    @property
    def fit(self) -> LeastSquaresFit:
        """Weighted least-squares fit of the samples."""
        return weighted_least_squares(body_system([self.blocks], EstimatorSettings()))


def run(effort: Effort) -> list[ReportLine]:
    """Measure milliseconds of fits and ratios to Clarabel and cvxpy."""
    log = noisy_log(effort.scaled(SAMPLES, minimum=300))
    posterior, two = posterior_of(log.fit, Ball()), two_bodies(log)
    seconds = race(
        {
            "public": lambda: estimate_body([log.blocks]).parameters.phi,
            "solve": lambda: solve_constrained(posterior, (Consistent(),))[0],
            "bounds": lambda: np.array([bound.gap for bound in log.estimate.bounds().values()]),
            "two": lambda: solve_unknowns(two).estimate().parameters.phi,
            "rows": lambda: cvxpy_on_all_rows(log.motion, log.wrench),
            "clarabel": clarabel_alone(log.blocks),
        },
        effort,
    )
    milliseconds = {name: Spread.of(1e3 * values) for name, values in seconds.items()}
    return [
        ReportLine(
            "PSD fit from statistics, warm, certified: estimate_body",
            milliseconds["public"].text("ms"),
        ),
        ReportLine(
            "… of it the semidefinite program and its certificate: solve_constrained",
            milliseconds["solve"].text("ms"),
        ),
        ReportLine(
            "all 29 certified bounds of the fit, with their certificates: Estimate.bounds",
            milliseconds["bounds"].text("ms"),
        ),
        ReportLine(
            "the rod on a tool, and the tool alone, in one fit of both: solve_unknowns",
            milliseconds["two"].text("ms"),
        ),
        ReportLine(
            f"fresh cvxpy on all {6 * len(log.wrench)} rows, with Clarabel",
            milliseconds["rows"].text("ms"),
        ),
        ReportLine(
            "Clarabel alone, called on the same reduced cone problem",
            milliseconds["clarabel"].text("ms"),
        ),
        ReportLine.of_ratio(
            "estimate_body is faster than fresh cvxpy on all rows by",
            seconds["rows"] / seconds["public"],
            at_least=10.0,
        ),
        ReportLine.of_ratio(
            "estimate_body takes as long as Clarabel alone, times",
            seconds["public"] / seconds["clarabel"],
            at_most=15.0,
        ),
        ReportLine.of_ratio(
            "solve_constrained takes as long as Clarabel alone, times",
            seconds["solve"] / seconds["clarabel"],
            at_most=3.0,
        ),
    ]


def noisy_log(count: int) -> NoisyLog:
    """Return ten seconds of a shaken thin rod, with the noise of a force-torque sensor.

    Raises:
        RuntimeError: no seed gives a log for which the solver has to run.
    """
    for seed in range(_MAX_SEEDS):
        rng = np.random.default_rng(seed)
        motion = _motion(count, rng)
        wrench = newton_euler_wrench(_rod(), motion) + _SIGMA * rng.standard_normal((count, 6))
        blocks = wrench_statistics(motion, wrench)
        estimate = estimate_body([blocks])
        if estimate.certificate.solver != "none" and estimate.complete:
            return NoisyLog(motion, wrench, blocks, estimate)
    raise RuntimeError("the least-squares body is physically consistent for every seed")


def two_bodies(log: NoisyLog) -> LinearSystem:
    """Return the system of the rod on a heavier tool, and of the tool alone, in two logs."""
    rng = np.random.default_rng(1)
    count = len(log.wrench)
    motion = _motion(count, rng)
    logs = []
    for body_motion, wrench in (
        (log.motion, log.wrench + newton_euler_wrench(_tool(), log.motion)),
        (motion, newton_euler_wrench(_tool(), motion) + _SIGMA * rng.normal(size=(count, 6))),
    ):
        logs.append(wrench_statistics(body_motion, wrench))
    space = ParameterSpace(("rod", "tool"))
    equations = WrenchEquations(space, bodies=(("rod", "tool"), ("tool",)))
    return LinearSystem.of([(join_logs(logs), equations)])


def cvxpy_on_all_rows(motion: BodyMotion, wrench: Vec6) -> Phi:
    """Fit as commonly written: all rows, body and bias, with a PSD pseudo-inertia."""
    rows = newton_euler_regressor(motion) / _SIGMA[:, None]
    bias_rows = np.tile(np.diag(1.0 / _SIGMA), (len(wrench), 1))
    phi, bias = cp.Variable(10), cp.Variable(6)
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = (phi[i] for i in range(10))
    half = (xx + yy + zz) / 2
    Pi = cp.bmat(
        [
            [half - xx, -xy, -xz, hx],
            [-xy, half - yy, -yz, hy],
            [-xz, -yz, half - zz, hz],
            [hx, hy, hz, m],
        ]
    )
    residual = rows.reshape(-1, 10) @ phi + bias_rows @ bias - (wrench / _SIGMA).ravel()
    problem = cp.Problem(cp.Minimize(cp.sum_squares(residual)), [Pi >> 0])
    problem.solve(solver="CLARABEL")
    assert phi.value is not None
    return phi.value


def clarabel_alone(blocks: Statistics) -> Callable[[], Array]:
    """Return a function that solves only the cone problem of a fit."""
    calls: list[tuple] = []
    original = clarabel.DefaultSolver

    def recording_solver(*problem: object) -> object:
        calls.append(problem)
        return original(*problem)

    clarabel.DefaultSolver = recording_solver
    try:
        estimate_body([blocks])
    finally:
        clarabel.DefaultSolver = original
    return partial(_solution, original, calls[-1])


def _solution(solver: Callable, problem: tuple) -> Array:
    return np.asarray(solver(*problem).solve().x)


def _rod() -> Phi:
    com = np.array([0.15, 0.01, 0.02])
    length, mass = 0.3, 0.4
    across = mass * length**2 / 12.0
    return phi_from_inertia(mass, com, np.diag([1e-3 * across, across, across]))


def _tool() -> Phi:
    return phi_from_inertia(1.5, np.array([0.0, 0.01, 0.04]), np.diag([3e-3, 2.5e-3, 2e-3]))


def _motion(count: int, rng: np.random.Generator) -> BodyMotion:
    samples = random_motion(rng).at(np.arange(count) * (10.0 / count))
    R = rotation_from_quaternion(samples.quaternion)
    return BodyMotion(
        rotate_back(R, samples.acceleration - _GRAVITY),
        samples.angular_velocity,
        samples.angular_acceleration,
    )
