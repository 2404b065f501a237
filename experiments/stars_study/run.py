"""Every tool, level of noise and seed through every estimator, in parallel by tool."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import joblib
import numpy as np

from experiments.stars_study import metrics
from experiments.stars_study.corruptions import LEVELS, Level, corrupt, noise_generator
from experiments.stars_study.estimators import ESTIMATORS, Answer, Estimator
from experiments.stars_study.tools import Tool, load_tool, tool_names
from identify.errors import SolveError
from identify.estimation.intervals import DERIVED, derived
from identify.inertia import PHI
from identify.pipeline import block_statistics
from identify.regressors import BlockStatistics
from identify.signals import prepare

NAMES = (*PHI, *DERIVED)
"""Names of the parameters that intervals are given for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One fit and its scores; a fit that failed has its error and NaN for scores.

    Attributes:
        tool, level, seed, estimator: what was fitted.
        seconds: of the estimator alone.
        error: type and message of what was raised, or "".
        solver_failed: whether the solver is to blame, not the log.
        solver: what solved it.
        told: how many of the ten parameters are measured.
        consistent: Pi ≻ 0.
        mass_error, first_moment_error, com_error, inertia_error: [%].
        riemannian: geodesic distance of pseudo-inertias.
        covered: for each of `NAMES`, 1 where the interval holds the truth, 0 where not, NaN where
            there is no interval.
    """

    tool: str
    level: str
    seed: int
    estimator: str
    seconds: float
    error: str = ""
    solver_failed: bool = False
    solver: str = ""
    told: float = float("nan")
    consistent: bool = False
    mass_error: float = float("nan")
    first_moment_error: float = float("nan")
    com_error: float = float("nan")
    inertia_error: float = float("nan")
    riemannian: float = float("nan")
    covered: tuple[float, ...] = field(default=(float("nan"),) * len(NAMES))


def run(
    folder: Path,
    *,
    tools: Sequence[str] | None = None,
    levels: Sequence[Level] = LEVELS,
    seeds: int = 10,
    workers: int = 1,
) -> Iterator[list[Outcome]]:
    """Run the study; yields the outcomes of one tool after the other.

    Args:
        folder: of the data.
        tools: names; all where not given.
        levels: of noise.
        seeds: how many noises a tool and level.
        workers: processes, each with its linear algebra on one thread.
    """
    every = tool_names(folder)
    jobs = [
        joblib.delayed(run_tool)(folder, name, every.index(name), levels, seeds)
        for name in (every if tools is None else tools)
    ]
    if workers == 1:
        yield from (job(*args, **named) for job, args, named in jobs)
        return
    with joblib.parallel_config(backend="loky", n_jobs=workers, inner_max_num_threads=1):
        yield from joblib.Parallel(return_as="generator")(jobs)


def run_tool(
    folder: Path, name: str, number: int, levels: Sequence[Level], seeds: int
) -> list[Outcome]:
    """All levels, seeds and estimators of one tool."""
    tool = load_tool(folder, name)
    return [
        outcome
        for level in levels
        for seed in range(seeds)
        for outcome in run_log(tool, level, number, seed)
    ]


def run_log(tool: Tool, level: Level, number: int, seed: int) -> list[Outcome]:
    """All estimators on one noisy log."""
    rng = noise_generator(LEVELS.index(level), number, seed)
    log = block_statistics(prepare(corrupt(tool.recording, level, rng)))
    return [
        fit_once(tool, level, seed, (label, estimator), log)
        for label, estimator in ESTIMATORS.items()
    ]


def fit_once(
    tool: Tool, level: Level, seed: int, labelled: tuple[str, Estimator], log: BlockStatistics
) -> Outcome:
    """One fit; whatever it raises becomes part of the outcome."""
    label, estimator = labelled
    started = time.perf_counter()
    try:
        answer = estimator(log)
    except Exception as error:  # noqa: BLE001 - any failure of a fit is a finding of the study
        return Outcome(
            tool=tool.name,
            level=level.name,
            seed=seed,
            estimator=label,
            seconds=time.perf_counter() - started,
            error=f"{type(error).__name__}: {error}",
            solver_failed=isinstance(error, SolveError),
        )
    return Outcome(
        tool=tool.name,
        level=level.name,
        seed=seed,
        estimator=label,
        seconds=time.perf_counter() - started,
        solver=answer.solver,
        told=answer.told,
        consistent=metrics.positive_definite(answer.phi),
        mass_error=metrics.mass_error(answer.phi, tool.phi),
        first_moment_error=metrics.first_moment_error(answer.phi, tool.phi),
        com_error=metrics.com_error(answer.phi, tool.phi, tool.sides),
        inertia_error=metrics.inertia_error(answer.phi, tool.phi, tool.sides),
        riemannian=metrics.riemannian_distance(answer.phi, tool.phi),
        covered=coverage(answer, tool),
    )


def coverage(answer: Answer, tool: Tool) -> tuple[float, ...]:
    """For each parameter, whether its interval holds the truth; NaN where it has none."""
    truth = np.concatenate((tool.phi, derived(tool.phi)))
    bounds = [answer.intervals.get(name) for name in NAMES]
    return tuple(
        float("nan") if bound is None else float(bound[0] <= value <= bound[1])
        for bound, value in zip(bounds, truth, strict=True)
    )
