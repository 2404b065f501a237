"""Order, drift and time of each integrator."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.integrators_study.cases import BODY, FREE, LOADED, START, Case, truth
from experiments.integrators_study.printed_euler import NAME as PRINTED, printed_euler
from identify.arrays import Array
from identify.simulation import INTEGRATORS, State, Trajectory, simulate
from identify.spatial.rotations import rotate, rotate_back, rotation_angle, rotation_from_quaternion

STEPS = (0.02, 0.01, 0.005)
"""Steps at which the order is measured, over one second [s]."""

DRIFT_STEP = 0.01
_BATCH, _COUNT, _REPEATS = 1000, 100, 7
"""Number of bodies, steps and repeated runs of the time measurement."""


@dataclass(frozen=True, slots=True)
class Order:
    """Decrease of the error after one second with the step.

    Attributes:
        integrator, case: names of integrator and case.
        errors: attitude error [rad] at each of `STEPS`.
        order: slope between the two smaller steps; for a first-order method between a tenth of
            them, since its errors are large at `STEPS`.
    """

    integrator: str
    case: str
    errors: tuple[float, ...]
    order: float


@dataclass(frozen=True, slots=True)
class Drift:
    """Drift of the invariants without loads, relative to their initial values.

    Attributes:
        integrator, case: names of integrator and case.
        energy: largest change of the kinetic energy.
        energy_rate: change of its mean from the first tenth to the last.
        linear: largest change of the linear momentum.
        angular: largest change of the angular momentum about the centre of mass, in a fluid about
            a fixed point.
    """

    integrator: str
    case: str
    energy: float
    energy_rate: float
    linear: float
    angular: float


@dataclass(frozen=True, slots=True)
class Cost:
    """Time per step under gravity and loads [µs]: for a single body, and per body in a batch."""

    integrator: str
    single_body: float
    body_in_batch: float


def measure_order(name: str, case: Case) -> Order:
    """Measure the order of an integrator against DOP853 at 1e-13."""
    quaternion = truth(case, 1.0)

    def error(step: float) -> float:
        path = printed_euler(1.0, step) if name == PRINTED else _run(name, case, 1.0, step, 10**9)
        return float(rotation_angle(path.quaternion[-1], quaternion))

    errors = tuple(error(step) for step in STEPS)
    first_order = name in INTEGRATORS and INTEGRATORS[name].order == 1
    pair = [error(0.1 * step) for step in STEPS[-2:]] if first_order else errors[-2:]
    return Order(name, case.name, errors, float(np.log2(pair[0] / pair[1])))


def measure_drift(name: str, case: Case, duration: float) -> Drift:
    """Measure energy and momentum of a free body at every step."""
    if name == PRINTED:
        path = printed_euler(duration, DRIFT_STEP)
    else:
        path = _run(name, case, duration, DRIFT_STEP, 1)
    energy, linear, angular = _mechanics(path, case)
    relative = energy / energy[0] - 1.0
    tenth = len(relative) // 10
    return Drift(
        name,
        case.name,
        float(np.abs(relative).max()),
        float(relative[-tenth:].mean() - relative[:tenth].mean()),
        _largest(linear),
        _largest(angular),
    )


def measure_costs(names: Sequence[str]) -> list[Cost]:
    """Measure the shortest of several runs; integrators alternate, for equal conditions."""
    parts = (START.position, START.quaternion, START.velocity, START.angular_velocity)
    many = State(*(np.tile(part, (_BATCH, 1)) for part in parts))
    alone, batch = dict.fromkeys(names, np.inf), dict.fromkeys(names, np.inf)
    for _ in range(_REPEATS):
        for name in names:
            alone[name] = min(alone[name], _seconds(name, START, _COUNT))
            batch[name] = min(batch[name], _seconds(name, many, _COUNT))
    return [
        Cost(name, 1e6 * alone[name] / _COUNT, 1e6 * batch[name] / _COUNT / _BATCH)
        for name in names
    ]


def _seconds(name: str, start: State, count: int) -> float:
    began = time.perf_counter()
    _run(name, LOADED, 1e-3 * count, 1e-3, count, start)
    return time.perf_counter() - began


def _run(
    name: str, case: Case, duration: float, step: float, every: int, start: State = START
) -> Trajectory:
    return simulate(
        BODY,
        start,
        duration=duration,
        step=step,
        loads=case.loads,
        gravity=case.gravity,
        integrator=name,
        added_mass=case.added_mass,
        every=every,
    )


def _mechanics(path: Trajectory, case: Case) -> tuple[Array, Array, Array]:
    """Return the kinetic energy, and linear and angular momentum in W."""
    R = rotation_from_quaternion(path.quaternion)
    V = np.concatenate((rotate_back(R, path.velocity), path.angular_velocity), axis=-1)
    P = V @ case.inertia
    p, L = rotate(R, P[:, :3]), rotate(R, P[:, 3:])
    # For a rigid body a fixed point works too, but far from it rounding of the position matters.
    lever = path.position if case.added_mass is not None else -R @ (BODY[1:4] / BODY[0])
    L = L + np.cross(lever, p)
    return 0.5 * np.sum(V * P, axis=1), p, L


def _largest(vectors: Array) -> float:
    change = np.linalg.norm(vectors - vectors[0], axis=1).max()
    return float(change / np.linalg.norm(vectors[0]))


INTEGRATOR_NAMES = tuple(INTEGRATORS)
FREE_INTEGRATOR_NAMES = (PRINTED, *INTEGRATOR_NAMES)
CASES_OF = {PRINTED: (FREE,)}
