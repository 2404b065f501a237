"""One pass through a schedule: from instant to instant, with the loads and impulses on the way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from identify.arrays import Array, Vec3
from identify.simulation.divergence import require_followed
from identify.simulation.forced_body import ForcedBody
from identify.simulation.free_body import ATTITUDE, MOMENTUM
from identify.simulation.impulses import Impulse
from identify.simulation.integrators import Integrator
from identify.simulation.load_piece import jump_of, piece_of
from identify.simulation.loads import Load
from identify.simulation.schedule import Schedule
from identify.simulation.state import Jump, State
from identify.spatial.rotations import rotation_from_unit_quaternion


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
            if self._breaks_between(motion.loads.time, middle):
                motion = self._motion(middle)
            phase = self._struck(self.integrator.advance(motion, phase, before, now - before), k)
            require_followed(motion, phase, now, self.step)
            if is_kept[k]:
                kept[row], row = phase, row + 1
        return kept

    def _motion(self, time: float) -> ForcedBody:
        body = self.integrator.body
        return ForcedBody(body, piece_of(self.loads, body, self.gravity, time))

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
