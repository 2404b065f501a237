"""One body through a long log, from its first state to the last sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from numpy.typing import ArrayLike

from identify.arrays import Phi, Vec6
from identify.errors import SimulationError
from identify.inertia import InertialParameters
from identify.simulation.checks import Interpolation
from identify.simulation.layered.angular_velocity_by_floats import FloatRungeKutta
from identify.simulation.layered.problem import Problem
from identify.simulation.layered.rollout import integrate
from identify.simulation.layered.shooting import WINDOW, ShootingRecord, WindowedShooting
from identify.simulation.state import State, Trajectory
from identify.spatial.vectors import GRAVITY_W


@dataclass(frozen=True, slots=True)
class SingleShot:
    """A log replayed in one shot.

    Attributes:
        trajectory: states at every sample.
        windows: of time that were integrated in parallel.
        passes: over the segments of a window, in all.
        defeated: when the windows began in which that did not converge [s].
        sequential: share of the steps that were taken one by one, from 0 to 1.
    """

    trajectory: Trajectory
    windows: int = 0
    passes: int = 0
    defeated: tuple[float, ...] = ()
    sequential: float = 1.0

    @property
    def note(self) -> str:
        """What a reader of the result should know; empty if there is nothing."""
        if not self.defeated:
            return ""
        times = ", ".join(f"{time:.4g} s" for time in self.defeated)
        return (
            f"the motion is too unstable to be integrated in parallel (windows from {times} did "
            f"not converge): {100 * self.sequential:.0f} % of the steps were taken one by one"
        )


def single_shot(
    phi: Phi | InertialParameters,
    start: State,
    wrench: Vec6 | None,
    step: float,
    gravity: ArrayLike = GRAVITY_W,
    *,
    interpolation: Interpolation = "linear",
    parallel: bool = False,
    steps: int | None = None,
) -> SingleShot:
    """Motion of one body over a long log: the method of `fast_rollout`, and its results.

    Angular velocity is stepped through in Python's own numbers; all else is sums and products over
    whole stretches of time. With `parallel`, angular velocity is found for 400 segments at a time
    and corrected until they join: two to three times as quick on most logs. The two agree as far as
    the log lets them: where neighbouring motions part quickly, rounding alone separates any two
    ways of computing one of them.

    Args:
        phi: ten parameters about Bo in B, shape (10,).
        start: first state, of shape ().
        wrench: samples of [f; t] on the body at Bo in B, shape (n, 6), the first at the start; None
            where gravity alone acts.
        step: time between samples [s].
        gravity: g in W [m/s²], shape (3,).
        interpolation: the wrench between samples: a straight line, or the last sample held.
        parallel: integrate windows of time in parallel; after two that do not converge, the rest
            is stepped through, and `SingleShot.note` says so.
        steps: how many are taken; n − 1, if a wrench is given and this is not.

    Raises:
        SimulationError: as `fast_rollout`; or more than one body.
    """
    problem = Problem.of(
        phi, start, wrench, step, gravity, interpolation=interpolation, steps=steps
    )
    if problem.batch:
        raise SimulationError(
            f"a single shot is of one body, got a batch of shape {problem.batch}; use fast_rollout"
        )
    if not parallel:
        return SingleShot(integrate(problem, 1, FloatRungeKutta))
    record = ShootingRecord()
    method = partial(WindowedShooting, record=record)
    trajectory = integrate(problem, 1, method, chunk=WINDOW)
    return SingleShot(
        trajectory,
        windows=record.windows,
        passes=record.passes,
        defeated=tuple(step * first for first in record.defeated),
        sequential=record.sequential / max(problem.steps, 1),
    )
