"""The fast rollout in three layers of NumPy, each of order four: of many bodies, or of one log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, PhiLike, Vec6
from identify.errors import SimulationError
from identify.simulation.checks import Interpolation, require_every
from identify.simulation.layered.angular_velocity import Layer1, StageTorques, by_floats, by_rows
from identify.simulation.layered.block import Block
from identify.simulation.layered.problem import Problem
from identify.simulation.state import State, Trajectory
from identify.spatial.vectors import GRAVITY_W

_FEW_BODIES = 8
"""Up to here Python's numbers are quicker than two dozen NumPy calls a step."""

_BODIES = 1024
"""Of a block."""

_NODES, _NODES_OF_FEW = 12288, 4096
"""Bodies times steps of a chunk: enough of them that a NumPy call costs little beside its work, few
enough that what it works on is still in the cache."""


def fast_rollout(
    phi: PhiLike,
    start: State,
    wrench: Vec6 | None,
    step: float,
    gravity: ArrayLike = GRAVITY_W,
    *,
    interpolation: Interpolation = "linear",
    every: int = 1,
    steps: int | None = None,
) -> Trajectory:
    """Motion of free bodies under a sampled wrench: what `rollout` computes, by a faster way.

    A wrench given in the body's frame makes the equations triangular, and they are integrated one
    after the other: angular velocity about the centre of mass in principal axes (Runge-Kutta),
    attitude (Magnus), translation (corrected trapezoid). Each is of order four, as `rollout` is, so
    the two differ by the order's error. Memory beside the output does not grow with the number of
    steps.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10), broadcast with the batch of states.
        start: first states, batch shape (...).
        wrench: samples of [f; t] on the body at Bo in B, shape (..., n, 6), the first at the start;
            None where gravity alone acts.
        step: h, time between samples [s].
        gravity: g in W [m/s²], shape (3,) or (..., 3).
        interpolation: the wrench between samples: a straight line, or the last sample held.
        every: keep the states 0, every, 2 every, … only.
        steps: how many are taken; n − 1, if a wrench is given and this is not.

    Returns:
        Views of one array in which time and body are the last axes.

    Raises:
        SimulationError: an impossible body, a step that is not positive, too few samples, or
            batches that do not broadcast.
        Diverged: a motion that grows beyond all bounds, or turns by more than 1 rad in a step
            (says when, and which body).
    """
    problem = Problem.of(
        phi, start, wrench, step, gravity, interpolation=interpolation, steps=steps
    )
    few = len(problem.body.mass) <= _FEW_BODIES
    return integrate(problem, every, by_floats if few else by_rows)


def integrate(problem: Problem, every: int, method: Layer1, chunk: int | None = None) -> Trajectory:
    """Integrate a problem, block by block of its bodies, `chunk` steps at a time if given.

    Raises:
        SimulationError: `every` is not a positive whole number.
        Diverged: as `fast_rollout`.
    """
    require_every(every)
    count = len(problem.body.mass)
    stored = problem.steps // every + 1
    states = np.empty((13, stored, count))
    states[:, 0] = problem.start.T
    with np.errstate(over="ignore", invalid="ignore"):  # a motion that diverges is found and said
        for first in range(0, count, _BODIES):
            bodies = slice(first, min(first + _BODIES, count))
            nodes = _NODES_OF_FEW if count <= _FEW_BODIES else _NODES
            size = chunk or max(1, nodes // (bodies.stop - first))
            Block(problem, bodies, min(size, max(problem.steps, 1)), method).run(states, every)
    shaped = np.moveaxis(states.reshape(13, stored, *problem.batch), 0, -1)
    return Trajectory.from_vectors(every * problem.step * np.arange(stored), shaped)


@dataclass(frozen=True, slots=True)
class SingleShot:
    """A log replayed in one shot.

    Attributes:
        trajectory: states at every sample.
        windows: of time that were integrated in parallel.
        passes: over the segments of a window, in all.
        not_converged: when the windows began in which that did not converge [s].
        sequential: share of the steps that were taken one by one, from 0 to 1.
    """

    trajectory: Trajectory
    windows: int = 0
    passes: int = 0
    not_converged: tuple[float, ...] = ()
    sequential: float = 1.0

    @property
    def note(self) -> str:
        """What a reader of the result should know; empty if there is nothing."""
        if not self.not_converged:
            return ""
        times = ", ".join(f"{time:.4g} s" for time in self.not_converged)
        return (
            f"the motion is too unstable to be integrated in parallel (windows from {times} did "
            f"not converge): {100 * self.sequential:.0f} % of the steps were taken one by one"
        )


def single_shot(
    phi: PhiLike,
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
    whole segments of time. With `parallel`, angular velocity is found for 400 segments at a time
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
        return SingleShot(integrate(problem, 1, by_floats))
    # Only where it is asked for: a replay does without.
    from identify.simulation.layered.shooting import WINDOW, WindowedShooting

    made: list[WindowedShooting] = []

    def shooting(
        ratios: Array, theta: Array, torques: StageTorques | None
    ) -> Callable[[int], None]:
        made.append(WindowedShooting(ratios, theta, torques))
        return made[-1].advance

    trajectory = integrate(problem, 1, shooting, chunk=WINDOW)
    (shot,) = made
    return SingleShot(
        trajectory,
        windows=shot.windows,
        passes=shot.passes,
        not_converged=tuple(step * first for first in shot.not_converged),
        sequential=shot.sequential / max(problem.steps, 1),
    )
