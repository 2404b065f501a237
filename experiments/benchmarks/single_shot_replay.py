"""Single-shot replay of a log of 100 000 samples, compared with MuJoCo's rollout (RK4)."""

from __future__ import annotations

import numpy as np

from experiments.benchmarks.forward_simulation import STEP
from experiments.benchmarks.measure import Contender, Effort, ReportLine, Spread, race
from experiments.benchmarks.mujoco_body import GRAVITY, mujoco_rollout
from identify.arrays import Array, Phi, Vec6
from identify.inertia import phi_from_inertia
from identify.simulation import State, fast_rollout

SAMPLES = 100_000


def run(effort: Effort) -> list[ReportLine]:
    """Measure the time of a replay, and its ratio to MuJoCo."""
    steps = effort.scaled(SAMPLES, minimum=2000) - 1
    phi, start, wrench = tumbling(steps)
    seconds = race(
        {
            "ours": replay(phi, start, wrench),
            "mujoco": mujoco_rollout(phi, start, wrench[:-1], STEP),
        },
        effort,
    )
    return [
        ReportLine(
            f"replay of {steps + 1} samples in one shot",
            Spread.of(1e3 * seconds["ours"]).text("ms"),
        ),
        ReportLine.of_ratio(
            "… time relative to MuJoCo's rollout", seconds["ours"] / seconds["mujoco"], at_most=0.3
        ),
        ReportLine(
            "MuJoCo's rollout of it, RK4, six motors",
            Spread.of(1e3 * seconds["mujoco"]).text("ms"),
        ),
    ]


def tumbling(steps: int) -> tuple[Phi, State, Vec6]:
    """Return a shoebox-sized body with a random wrench: up to 10 rad/s in 100 s."""
    rng = np.random.default_rng(0)
    phi = phi_from_inertia(1.5, np.array([0.05, -0.02, 0.08]), np.diag([0.04, 0.06, 0.075]))
    start = State(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.ones(3))
    return phi, start, rng.normal(size=(steps + 1, 6)) * np.repeat([5.0, 0.3], 3)


def replay(phi: Phi, start: State, wrench: Vec6) -> Contender:
    """Return a function that replays a log and returns the last position."""

    def run() -> Array:
        path = fast_rollout(phi, start, wrench, STEP, GRAVITY, interpolation="hold")
        return path.position[-1]

    return run
