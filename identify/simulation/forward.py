"""The general forward simulation: any load, impulses, a fluid's added mass, any integrator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, Vec3
from identify.inertia import InertialParameters
from identify.simulation.checks import as_numbers, broadcast_batches
from identify.simulation.divergence import require_followed
from identify.simulation.forced_body import ForcedBody, jump_of
from identify.simulation.free_body import ATTITUDE, MOMENTUM, FreeBody
from identify.simulation.integrators import Integrator, find_integrator
from identify.simulation.loads import Impulse, Load
from identify.simulation.principal_axes import PrincipalBody
from identify.simulation.schedule import Schedule, schedule
from identify.simulation.state import Jump, State, Trajectory
from identify.spatial.rotations import rotation_from_unit_quaternion
from identify.spatial.vectors import GRAVITY_W


class Stepping:
    """A batch of bodies on its way.

    Attributes:
        jumps: what the impulses did so far.
    """

    def __init__(
        self,
        integrator: Integrator,
        loads: Sequence[Load],
        impulses: Sequence[Impulse],
        gravity: Vec3,
        times: Schedule,
        step: float,
    ) -> None:
        self.integrator, self.loads, self.gravity = integrator, loads, gravity
        self.times, self.step = times, step
        self.breaks = np.unique(np.concatenate([np.empty(0), *(one.breaks() for one in loads)]))
        self.impulses: dict[int, list[Impulse]] = defaultdict(list)
        for impulse in impulses:
            self.impulses[times.index_of(impulse.time)].append(impulse)
        self.jumps: list[Jump] = []

    def run(self, phase: Array) -> Array:
        """The kept phases, shape (n, ..., 13), of a phase at time 0.

        Raises:
            SimulationError: a body diverges.
        """
        instants, is_kept = self.times.instants, self.times.kept
        kept = np.empty((int(is_kept.sum()), *phase.shape))
        phase = self._struck(phase, 0)
        motion = self._motion(0.5 * float(instants[1]))
        require_followed(motion, phase, 0.0, self.step)
        kept[0], row = phase, 1
        for k in range(1, len(instants)):
            before, now = float(instants[k - 1]), float(instants[k])
            middle = 0.5 * (before + now)
            if self._breaks_between(motion.time, middle):
                motion = self._motion(middle)
            phase = self._struck(self.integrator.advance(motion, phase, before, now - before), k)
            require_followed(motion, phase, now, self.step)
            if is_kept[k]:
                kept[row], row = phase, row + 1
        return kept

    def _motion(self, time: float) -> ForcedBody:
        return ForcedBody.of(self.integrator.body, self.loads, self.gravity, time)

    def _breaks_between(self, last: float, now: float) -> bool:
        """Whether some load breaks between two instants that are no breaks themselves."""
        first, second = np.searchsorted(self.breaks, (last, now))
        return bool(first != second)

    def _struck(self, phase: Array, instant: int) -> Array:
        """The phase after the impulses at an instant."""
        if instant not in self.impulses:
            return phase
        body = self.integrator.body
        for impulse in self.impulses[instant]:
            before, phase = phase, phase.copy()
            R = rotation_from_unit_quaternion(phase[..., ATTITUDE])
            phase[..., MOMENTUM] += jump_of(impulse, body, R)
            states = (State.from_vector(body.states_of(each)) for each in (before, phase))
            self.jumps.append(Jump(impulse.time, *states))
        return phase


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
    gravity = as_numbers(gravity, "gravity", 3)
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
    shapes = {"body": free.batch, "start": start.position.shape[:-1], "gravity": gravity.shape[:-1]}
    for k, load in enumerate(loads):
        shapes |= {f"load {k}": load.batch, f"point of load {k}": load.point.shape[:-1]}
    for k, one in enumerate(impulses):
        for name in ("linear", "angular", "point"):
            shapes[f"{name} of impulse {k}"] = getattr(one, name).shape[:-1]
    batch = broadcast_batches(shapes)
    return np.array(np.broadcast_to(free.phase_of(start), (*batch, 13)))
