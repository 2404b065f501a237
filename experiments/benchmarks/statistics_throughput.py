"""One-pass statistics of samples in memory, compared with stacked regressor rows."""

from __future__ import annotations

import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread, race
from identify.arrays import Array, Phi, Vec6
from identify.regressors import (
    LinearProblem,
    LinearSystem,
    WrenchEquations,
    newton_euler_regressor,
    newton_euler_wrench,
    wrench_statistics,
)
from identify.spatial import BodyMotion

SAMPLES = 1_000_000
_CHUNK = 2048
_PHI = np.array([1.3, 0.03, -0.02, 0.08, 0.021, 0.001, -0.002, 0.019, 0.0015, 0.009])


def run(effort: Effort) -> list[ReportLine]:
    """Measure the throughput of `wrench_statistics`, and its ratio to rows with QR."""
    count = effort.scaled(SAMPLES, minimum=100)
    motion, wrench = samples(count)
    _require_same_answer(motion, wrench)
    seconds = race(
        {
            "statistics": lambda: wrench_statistics(motion, wrench).factors,
            "rows": lambda: factor_of_regressor_rows(motion, wrench),
        },
        effort,
    )
    rate = Spread.of(1e-6 * count / seconds["statistics"])
    rows = Spread.of(1e-6 * count / seconds["rows"])
    return [
        ReportLine(f"one-pass statistics of {count} samples in memory", rate.text("M samples/s")),
        ReportLine("rows of the 6×10 regressor stacked, QR in chunks", rows.text("M samples/s")),
        ReportLine.of_ratio(
            "statistics are faster than such rows by",
            seconds["rows"] / seconds["statistics"],
            at_least=5.0,
        ),
    ]


def samples(count: int) -> tuple[BodyMotion, Vec6]:
    """Return white-noise motion, and its wrench with a little noise."""
    rng = np.random.default_rng(0)
    motion = BodyMotion(*(rng.standard_normal((count, 3)) for _ in range(3)))
    return motion, newton_euler_wrench(_PHI, motion) + 1e-3 * rng.standard_normal((count, 6))


def factor_of_regressor_rows(motion: BodyMotion, wrench: Vec6) -> Array:
    """Return the QR factor R of all rows [Y | w], unweighted and without bias, shape (11, 11)."""
    factor = np.zeros((0, 11))
    for start in range(0, len(wrench), _CHUNK):
        part = slice(start, start + _CHUNK)
        chunk = BodyMotion(
            motion.proper_acceleration[part],
            motion.angular_velocity[part],
            motion.angular_acceleration[part],
        )
        rows = np.concatenate((newton_euler_regressor(chunk), wrench[part, :, None]), axis=2)
        stacked = np.concatenate((factor, rows.reshape(-1, 11)))
        factor = np.linalg.qr(stacked, mode="r")
    return factor


def problem_of(motion: BodyMotion, wrench: Vec6) -> LinearProblem:
    """Return the unweighted least-squares problem of the statistics, without an offset."""
    statistics = wrench_statistics(motion, wrench)
    return LinearSystem.of([(statistics, WrenchEquations(offsets="none"))]).problem([np.eye(6)])


def _require_same_answer(motion: BodyMotion, wrench: Vec6) -> None:
    problem = problem_of(motion, wrench)
    factor = factor_of_regressor_rows(motion, wrench)
    ours: Phi = np.linalg.solve(problem.A, problem.b)
    theirs: Phi = np.linalg.solve(factor[:10, :10], factor[:10, 10])
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)
