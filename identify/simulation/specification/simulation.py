"""`Simulation`: all that a forward simulation needs but its duration, step and integrator."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from identify.arrays import Mat66, Vec3
from identify.inertia import InertialParameters
from identify.simulation.impulses import Impulse
from identify.simulation.loads import Load
from identify.simulation.simulate import simulate
from identify.simulation.state import State, Trajectory
from identify.spatial.vectors import GRAVITY_W


@dataclass(frozen=True, slots=True)
class Simulation:
    """A body, its first state and what acts on it.

    Attributes:
        body: the ten parameters about Bo in B.
        start: state at time 0.
        gravity: g in W [m/s²], shape (3,).
        loads: forces and torques over time.
        impulses: each at its time.
        added_mass: of a still fluid about Bo in B, linear first, shape (6, 6); None without fluid.
    """

    body: InertialParameters
    start: State
    gravity: Vec3 = field(default_factory=lambda: np.array(GRAVITY_W))
    loads: tuple[Load, ...] = ()
    impulses: tuple[Impulse, ...] = ()
    added_mass: Mat66 | None = None

    def run(
        self, *, duration: float, step: float, integrator: str = "rk4", every: int = 1
    ) -> Trajectory:
        """The motion from time 0 to `duration`; arguments and errors are those of `simulate`."""
        return simulate(
            self.body,
            self.start,
            duration=duration,
            step=step,
            loads=self.loads,
            impulses=self.impulses,
            gravity=self.gravity,
            integrator=integrator,
            added_mass=self.added_mass,
            every=every,
        )
