"""General forward simulation: any loads, impulses, added mass and integrator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, PhiLike, as_array
from identify.errors import SimulationError
from identify.simulation.checks import (
    MAX_STEP_ANGLE,
    broadcast_batches,
    divergence_error,
    first_true_index,
    require_simulable,
)
from identify.simulation.forced_body import Forces, momentum_jump
from identify.simulation.free_body import ATTITUDE, MOMENTUM, FreeBody
from identify.simulation.integrators import CLOSED_FORM, Integrator, find_integrator
from identify.simulation.loads import Impulse, Load, LoadLaw, StateLoad, split_loads
from identify.simulation.principal_axes import PrincipalBody
from identify.simulation.schedule import Schedule, make_schedule
from identify.simulation.state import State, StateJump, Trajectory
from identify.spatial.rotations import rotation_from_unit_quaternion
from identify.spatial.vectors import GRAVITY_W


def simulate(
    body: PrincipalBody | PhiLike,
    start: State | None = None,
    *,
    duration: float,
    step: float,
    loads: Sequence[Load | StateLoad | LoadLaw] = (),
    impulses: Sequence[Impulse] = (),
    gravity: ArrayLike = GRAVITY_W,
    integrator: str = "rkmk4",
    added_mass: ArrayLike | None = None,
    every: int = 1,
) -> Trajectory:
    """Simulate free bodies under loads and impulses from time 0 to `duration`.

    Everything with a batch shape (...) is broadcast: bodies, states, loads, impulses, gravity.
    Steps end at instants at which a load starts, ends, jumps or bends, or an impulse acts, so that
    the integrator keeps its order.

    Args:
        body: the ten parameters about Bo in B, `InertialParameters`, an estimate, or shape
            (..., 10); or a `PrincipalBody`, which is simulated in its principal axes.
        start: state at time 0; by default at rest, in the frame of the world.
        duration: [s].
        step: the longest step [s]; the last one may be shorter.
        loads: `ConstantLoad`, `SampledLoad`, `StateLoad`, or another class with the protocol
            `Load`. A callable `(t, state) → [f; t]` is a `StateLoad` at Bo in axes of B.
        impulses: impulses with their times, applied in the order given at equal times; those
            after the end are ignored.
        gravity: g in W [m/s²], shape (3,) or (..., 3).
        integrator: one of `INTEGRATORS`; "exact" is the closed form for a body on which gravity
            alone acts.
        added_mass: added mass of a fluid at rest about Bo in B, linear first, shape (..., 6, 6).
            Gravity acts on the ten parameters alone; buoyancy is a load (`buoyancy`).
        every: return each `every`-th step's state, and the last.

    Returns:
        States at the returned times. At the time of an impulse it is the state after it; `jumps`
        has those before and after.

    Raises:
        SimulationError: a body that is inconsistent, a point or a rod, a duration or step that is
            not positive, a load that is too short, an unknown integrator, "exact" with loads,
            impulses or a fluid, or shapes that do not broadcast.
        Diverged: a body whose motion is unbounded, or turns by more than 1 rad in a step.
        ModelError: a quaternion of zeros, or an invalid added mass.
    """
    method = find_integrator(integrator)
    if method is None:
        if loads or impulses or added_mass is not None:
            raise SimulationError(
                f'integrator = "{CLOSED_FORM}" is for a body without loads, impulses or fluid; use '
                '"rkmk4"'
            )
        from identify.simulation.free_rotation import free_motion

        times = make_schedule(duration, step, every, ())
        times = times.instants[times.is_returned]
        return free_motion(require_simulable(body), start or State(), times, gravity)
    free = FreeBody.of(body, added_mass)
    gravity = as_array(gravity, "gravity", (..., 3), SimulationError)
    start = State() if start is None else start
    lines, laws = split_loads(loads)
    breaks = [
        *(load.break_times() for load in lines),
        np.array([impulse.time for impulse in impulses]),
    ]
    times = make_schedule(duration, step, every, breaks)
    for load in lines:
        load.require_defined(duration)
    shapes = {"body": free.batch, "start": start.position.shape[:-1], "gravity": gravity.shape[:-1]}
    for k, load in enumerate(lines):
        shapes |= {f"load {k}": load.batch, f"point of load {k}": load.point.shape[:-1]}
    for k, law in enumerate(laws):
        shapes[f"point of law {k}"] = law.point.shape[:-1]
    for k, impulse in enumerate(impulses):
        for name in ("linear", "angular", "point"):
            shapes[f"{name} of impulse {k}"] = getattr(impulse, name).shape[:-1]
    if laws:
        batch = broadcast_batches(shapes)
        first = State.from_vector(np.broadcast_to(start.vector, (*batch, 13)))
        for k, law in enumerate(laws):
            shapes[f"law {k}"] = law.wrench(0.0, first, finite=True).shape[:-1]
    batch = broadcast_batches(shapes)
    phase = np.array(np.broadcast_to(free.phase_of(start), (*batch, 13)))
    due: dict[int, list[Impulse]] = defaultdict(list)
    for impulse in impulses:
        if impulse.time <= duration:
            due[times.index_of(impulse.time)].append(impulse)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # checked in each step
        forces = Forces(free, lines, laws, gravity)
        phases, jumps = _integrate(method(free), phase, times, step, forces, due)
        states = free.states_of(phases)
    return Trajectory.from_vectors(times.instants[times.is_returned], states, tuple(jumps))


def _integrate(
    integrator: Integrator,
    phase: Array,
    times: Schedule,
    step: float,
    forces: Forces,
    impulses: Mapping[int, Sequence[Impulse]],
) -> tuple[Array, list[StateJump]]:
    """Integrate phase-space states from time 0; return states (n, ..., 13) and jumps by impulses.

    `impulses` are by the index of their instant; `step` is the longest step.
    """
    breaks = np.unique(
        np.concatenate([np.empty(0), *(load.break_times() for load in forces.linear_loads)])
    )
    body, instants = integrator.body, times.instants.tolist()
    kept, jumps = np.empty((int(times.is_returned.sum()), *phase.shape)), []
    motion, row = forces.forced_body_at(0.5 * instants[1]), 0
    for k, now in enumerate(instants):
        if k > 0:
            before = instants[k - 1]
            middle = 0.5 * (before + now)
            first, last = np.searchsorted(breaks, (motion.time, middle))
            if first != last:  # neither time is a break itself
                motion = forces.forced_body_at(middle)
            phase = integrator.advance(motion, phase, before, now - before)
        for impulse in impulses.get(k, ()):
            unstruck, phase = phase, phase.copy()
            R_WC = rotation_from_unit_quaternion(phase[..., ATTITUDE])
            phase[..., MOMENTUM] += momentum_jump(impulse, body, R_WC)
            states = (State.from_vector(body.states_of(each)) for each in (unstruck, phase))
            jumps.append(StateJump(impulse.time, *states))
        turn = np.where(np.isfinite(phase).all(axis=-1), step * motion.angular_speed(phase), np.nan)
        if not (turn <= MAX_STEP_ANGLE).all():
            index = first_true_index(~(turn <= MAX_STEP_ANGLE))
            raise divergence_error(float(turn[index]), now, step, index)
        if times.is_returned[k]:
            kept[row], row = phase, row + 1
    return kept, jumps
