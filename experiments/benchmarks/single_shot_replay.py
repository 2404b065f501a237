"""A log of 100 000 samples replayed in one shot, against MuJoCo's rollout with RK4."""

from __future__ import annotations

import numpy as np

from experiments.benchmarks.forward_simulation import STEP
from experiments.benchmarks.measure import Contender, Effort, Line, Spread, race
from experiments.benchmarks.mujoco_body import GRAVITY, mujoco_rollout
from identify.arrays import Array, Phi, Vec6
from identify.inertia import phi_from_inertia
from identify.simulation import SingleShot, State, single_shot
from identify.spatial.rotations import rotation_angle

SAMPLES = 100_000

REACH, REACH_PARALLEL = 0.3, 0.12
"""Times what MuJoCo takes."""


def run(effort: Effort) -> list[Line]:
    """Milliseconds of a replay, ratios, and how far the two ways end from each other."""
    steps = effort.scaled(SAMPLES, least=2000) - 1
    phi, start, wrench = tumbling(steps)
    seconds = race(
        {
            "sequential": replay(phi, start, wrench, parallel=False),
            "parallel": replay(phi, start, wrench, parallel=True),
            "mujoco": mujoco_rollout(phi, start, wrench[:-1], STEP),
        },
        effort,
    )
    both = [_shot(phi, start, wrench, parallel=parallel) for parallel in (False, True)]
    return [
        *_compared(f"replay of {steps + 1} samples in one shot", seconds, "sequential", REACH),
        *_compared("… in parallel windows", seconds, "parallel", REACH_PARALLEL),
        Line(
            "MuJoCo's rollout of it, RK4, six motors",
            Spread.of(1e3 * seconds["mujoco"]).written("ms"),
        ),
        Line("the two ways differ at most by", _difference(*both) + _note(both[1])),
    ]


def tumbling(steps: int) -> tuple[Phi, State, Vec6]:
    """A body of the size of a box of shoes, shaken at random: up to 10 rad/s in 100 s."""
    rng = np.random.default_rng(0)
    phi = phi_from_inertia(1.5, np.array([0.05, -0.02, 0.08]), np.diag([0.04, 0.06, 0.075]))
    start = State(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.ones(3))
    return phi, start, rng.normal(size=(steps + 1, 6)) * np.repeat([5.0, 0.3], 3)


def replay(phi: Phi, start: State, wrench: Vec6, *, parallel: bool) -> Contender:
    """The replay of a log; returns the last position."""
    return lambda: _shot(phi, start, wrench, parallel=parallel).trajectory.position[-1]


def _shot(phi: Phi, start: State, wrench: Vec6, *, parallel: bool) -> SingleShot:
    return single_shot(phi, start, wrench, STEP, GRAVITY, interpolation="hold", parallel=parallel)


def _compared(what: str, seconds: dict[str, Array], name: str, reach: float) -> list[Line]:
    ratio = Spread.of(seconds[name] / seconds["mujoco"])
    return [
        Line(what, Spread.of(1e3 * seconds[name]).written("ms")),
        Line(
            "… takes as long as MuJoCo's rollout, times",
            ratio.written("×"),
            f"≤ {reach:g} ×",
            ratio.median <= reach,
        ),
    ]


def _difference(one: SingleShot, other: SingleShot) -> str:
    a, b = one.trajectory, other.trajectory
    place = np.linalg.norm(a.position - b.position, axis=-1).max()
    angle = rotation_angle(a.quaternion, b.quaternion).max()
    return f"{place:.1e} m, {angle:.1e} rad"


def _note(shot: SingleShot) -> str:
    return f" ({shot.note})" if shot.note else ""
