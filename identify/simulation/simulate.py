"""The general forward simulation: any load, impulses, a fluid's added mass, any integrator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, Vec3
from identify.errors import SimulationError
from identify.inertia import InertialParameters
from identify.simulation.free_body import FreeBody
from identify.simulation.impulses import Impulse
from identify.simulation.integrators import find_integrator
from identify.simulation.loads import Load, sealed
from identify.simulation.principal_axes import PrincipalBody
from identify.simulation.schedule import schedule
from identify.simulation.state import State, Trajectory
from identify.simulation.stepping import Stepping
from identify.spatial.vectors import GRAVITY_W


def simulate(
    body: InertialParameters | PrincipalBody | Phi,
    start: State,
    *,
    duration: float,
    step: float,
    loads: Sequence[Load] = (),
    impulses: Sequence[Impulse] = (),
    gravity: ArrayLike = GRAVITY_W,
    integrator: str = "rk4",
    added_mass: ArrayLike | None = None,
    every: int = 1,
) -> Trajectory:
    """Motion of free bodies under loads and impulses, from time 0 to `duration`.

    Everything with a batch shape (...) is broadcast: bodies, states, loads, impulses, gravity. No
    step reaches across an instant at which a load sets in, ends, jumps or bends, or an impulse
    acts: steps are cut there, so that the integrator keeps its order.

    Args:
        body: the ten parameters about Bo in B, shape (..., 10) if an array; or a `PrincipalBody`,
            which is moved in its principal axes.
        start: state at time 0.
        duration: [s].
        step: the longest step [s]; the last one is shorter where it does not divide the duration.
        loads: `ConstantLoad`, `SampledLoad`, or what else does as `Load` says.
        impulses: each at its time, in the order given where times are the same; those after the
            end are not reached.
        gravity: g in W [m/s²], shape (3,) or (..., 3).
        integrator: one of `INTEGRATORS`.
        added_mass: of a still fluid about Bo in B, linear first, shape (..., 6, 6). Gravity acts
            on the ten parameters alone; buoyancy is a load (`buoyancy`).
        every: keep each `every`-th step's state, and the last.

    Returns:
        States at the kept times. At the time of an impulse it is the state after it; `jumps` has
        those before and after.

    Raises:
        SimulationError: a body that is impossible or has no extent, a duration or step that is not
            positive, a load that is too short, an unknown integrator, or shapes that do not go
            together.
        Diverged: a motion that grows beyond all bounds, or turns by more than 1 rad in a step:
            says at which time, and which body of a batch.
        ModelError: a quaternion of zeros, or an added mass that is none.
    """
    method = find_integrator(integrator)
    free = FreeBody.of(body, added_mass)
    gravity = sealed(gravity, "gravity", (3,))
    times = schedule(duration, step, every, _breaks(loads, impulses))
    for load in loads:
        load.require(duration)
    phase = _broadcast(free, start, loads, impulses, gravity)
    reached = [one for one in impulses if one.time <= duration]
    stepping = Stepping(method(free), loads, reached, gravity, times, step)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # looked for in each step
        states = free.states_of(stepping.run(phase))
    return Trajectory.from_vectors(times.instants[times.kept], states, tuple(stepping.jumps))


def _breaks(loads: Sequence[Load], impulses: Sequence[Impulse]) -> list[Array]:
    return [load.breaks() for load in loads] + [np.array([one.time]) for one in impulses]


def _broadcast(
    free: FreeBody,
    start: State,
    loads: Sequence[Load],
    impulses: Sequence[Impulse],
    gravity: Vec3,
) -> Array:
    """The phase of the start, repeated for the whole batch.

    Raises:
        SimulationError: batch shapes that do not go together.
        ModelError: a quaternion of zeros.
    """
    shapes = [free.batch, gravity.shape[:-1]]
    shapes += [start.position.shape[:-1]]
    shapes += [shape for load in loads for shape in (load.batch, load.point.shape[:-1])]
    for one in impulses:
        shapes += [array.shape[:-1] for array in (one.linear, one.angular, one.point)]
    try:
        batch = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise SimulationError(
            f"the batch shapes of body, start, loads, impulses and gravity do not go together: "
            f"{', '.join(map(str, dict.fromkeys(shapes)))}"
        ) from error
    return np.array(np.broadcast_to(free.phase_of(start), (*batch, 13)))
