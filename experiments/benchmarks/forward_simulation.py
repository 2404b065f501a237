"""Batched simulation of free bodies under sampled wrenches, compared with MuJoCo (RK4).

MuJoCo runs in two modes: one model with all bodies, which is faster, and a rollout of one body.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.benchmarks.measure import Contender, Effort, ReportLine, Spread, race
from experiments.benchmarks.mujoco_body import GRAVITY, mujoco_many, mujoco_rollout
from identify.arrays import Array, Phi, Vec6
from identify.inertia import phi_from_inertia
from identify.simulation import State, fast_rollout
from tests.simulation.plain_rollout import plain_rollout

BODIES, FEW_BODIES, CROWD = 1000, 10, 100_000
STEPS = 2000
STEP = 1e-3

TARGET_RATIO, TARGET_LAST_RATIO, TARGET_FEW_RATIO = 8.0, 10.0, 4.0
"""Target ratios of steps per second to MuJoCo: many bodies in one model, all states or the last
one; a single body."""

_NODES = 12
"""Number of steps read and written at a time, as in the rollout."""

_MUJOCO_SHARE = 40
"""Factor by which MuJoCo with all bodies runs fewer steps, to keep the benchmark short."""


@dataclass(frozen=True, slots=True)
class Swarm:
    """Bodies, each with its own start and its own wrench."""

    phi: Phi
    start: State
    wrench: Vec6

    @property
    def body_steps(self) -> int:
        """Steps of all bodies together."""
        return len(self.phi) * (self.wrench.shape[1] - 1)

    def first(self) -> tuple[Phi, State, Vec6]:
        """Return parameters, start and wrench of the first body."""
        s = self.start
        start = State(s.position[0], s.quaternion[0], s.velocity[0], s.angular_velocity[0])
        return self.phi[0], start, self.wrench[0]


def run(effort: Effort) -> list[ReportLine]:
    """Measure body-steps per second and ratios to MuJoCo."""
    steps = effort.scaled(STEPS, minimum=50)
    many, few = swarm(BODIES, steps), swarm(FEW_BODIES, steps)
    crowd = swarm(CROWD, max(1, steps * BODIES // CROWD))
    phi, start, wrench = many.first()
    fewer = max(2, steps // _MUJOCO_SHARE)
    contenders = {
        "all": fast_contender(many),
        "linear": fast_contender(many, interpolation="linear"),
        "last": fast_contender(many, every=steps),
        "free all": fast_contender(many, free=True),
        "free last": fast_contender(many, free=True, every=steps),
        "memory": copy_of_states(many),
        "crowd all": fast_contender(crowd),
        "crowd last": fast_contender(crowd, every=crowd.wrench.shape[1] - 1),
        "few": fast_contender(few),
        "plain few": reference_contender(few),
        "mujoco": mujoco_rollout(phi, start, wrench[:-1], STEP),
        "mujoco free": mujoco_rollout(phi, start, steps, STEP),
        "one model": mujoco_many(many.phi, many.start, many.wrench[:, :fewer], STEP),
        "one model free": mujoco_many(many.phi, many.start, fewer, STEP),
    }
    body_steps = {
        "crowd all": crowd.body_steps,
        "crowd last": crowd.body_steps,
        "few": few.body_steps,
        "plain few": few.body_steps,
        "mujoco": steps,
        "mujoco free": steps,
        "one model": BODIES * fewer,
        "one model free": BODIES * fewer,
    }
    seconds = race(contenders, effort)
    return report_lines(
        {name: times / body_steps.get(name, many.body_steps) for name, times in seconds.items()}
    )


def report_lines(each: dict[str, Array]) -> list[ReportLine]:
    """Return the lines of the report, from seconds per body-step."""
    description = f"forward simulation, {BODIES} bodies, RK4 order, "
    return [
        _rate(description + "wrench held between samples, all states", each["all"]),
        _share("… of its time, reading the wrenches and filling as many states", each),
        _rate("… wrench linear between samples, all states", each["linear"]),
        _rate("… wrench held, last state only", each["last"]),
        _rate("… free, all states", each["free all"]),
        _rate("… free, last state only", each["free last"]),
        _rate(
            f"… {CROWD} bodies, as many body-steps in all, wrench held, all states",
            each["crowd all"],
        ),
        _rate("… last state only", each["crowd last"]),
        _rate(f"MuJoCo, {BODIES} bodies in one model, RK4, xfrc_applied", each["one model"]),
        _rate("… free", each["one model free"]),
        _ratio("… wrench held, all states, faster by", each, "one model", "all", TARGET_RATIO),
        _ratio(
            "… wrench held, last state only, faster by",
            each,
            "one model",
            "last",
            TARGET_LAST_RATIO,
        ),
        _ratio("… free, all states, faster by", each, "one model free", "free all", TARGET_RATIO),
        _ratio("… free, last state only, faster by", each, "one model free", "free last"),
        _rate("MuJoCo's rollout of a body alone, RK4, six motors", each["mujoco"]),
        _ratio("… wrench held, all states, faster by", each, "mujoco", "all"),
        _ratio("… wrench held, last state only, faster by", each, "mujoco", "last"),
        _ratio("… free, last state only, faster by", each, "mujoco free", "free last"),
        _ratio(
            f"… {FEW_BODIES} bodies, wrench held, all states, faster by",
            each,
            "mujoco",
            "few",
            TARGET_FEW_RATIO,
        ),
        _ratio(
            f"… {FEW_BODIES} bodies, faster than the plain RK4 of the tests by",
            each,
            "plain few",
            "few",
        ),
    ]


def swarm(bodies: int, steps: int) -> Swarm:
    """Return tumbling hand-sized bodies of about 1 kg; at most `BODIES` of them differ."""
    rng = np.random.default_rng(0)
    phi = np.resize([_body(rng) for _ in range(min(bodies, BODIES))], (bodies, 10))
    q = rng.normal(size=(bodies, 4))
    position, velocity, spin = rng.normal(size=(3, bodies, 3))
    wrench = rng.normal(size=(bodies, steps + 1, 6)) * np.repeat([5.0, 0.3], 3)
    unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return Swarm(phi, State(position, unit, velocity, 3.0 * spin), wrench)


def fast_contender(
    swarm: Swarm, *, interpolation: str = "hold", every: int = 1, free: bool = False
) -> Contender:
    """Return the fast rollout of a swarm."""
    steps = swarm.wrench.shape[1] - 1
    wrench = None if free else swarm.wrench

    def run() -> Array:
        path = fast_rollout(
            swarm.phi,
            swarm.start,
            wrench,
            STEP,
            GRAVITY,
            interpolation="linear" if interpolation == "linear" else "hold",
            every=every,
            steps=steps,
        )
        return path.position[..., -1, :]

    return run


def copy_of_states(swarm: Swarm) -> Contender:
    """Return the cost of copying the states of a swarm, without any computation."""

    def run() -> Array:
        bodies, nodes, _ = swarm.wrench.shape
        states = np.empty((13, nodes, bodies))
        read = np.empty((6, _NODES, bodies))
        for first in range(0, nodes, _NODES):
            part = swarm.wrench[:, first : first + _NODES].transpose(2, 1, 0)
            np.copyto(read[:, : part.shape[1]], part)
            states[:, first : first + _NODES] = read[0, : part.shape[1]]
        return states[:, -1]

    return run


def reference_contender(swarm: Swarm) -> Contender:
    """Return the reference rollout of a swarm, which the tests use."""

    def run() -> Array:
        path = plain_rollout(
            swarm.phi, swarm.start, swarm.wrench, STEP, GRAVITY, interpolation="hold"
        )
        return path.position[..., -1, :]

    return run


def _body(rng: np.random.Generator) -> Phi:
    sides = rng.uniform(0.1, 0.4, 3)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    spread = (axes * sides**2) @ axes.T / 12.0
    mass = rng.uniform(0.5, 2.0)
    inertia = mass * (np.trace(spread) * np.eye(3) - spread)
    return phi_from_inertia(mass, rng.normal(0.0, 0.1, 3), inertia)


def _rate(description: str, seconds: Array) -> ReportLine:
    return ReportLine(description, Spread.of(1e-6 / seconds).text("M body-steps/s"))


def _share(description: str, each: dict[str, Array]) -> ReportLine:
    return ReportLine(description, Spread.of(100.0 * each["memory"] / each["all"]).text("%"))


def _ratio(
    description: str, each: dict[str, Array], slow: str, quick: str, target: float | None = None
) -> ReportLine:
    return ReportLine.of_ratio(description, each[slow] / each[quick], at_least=target)
