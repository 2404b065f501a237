"""Fast rollout of many bodies or of one log, in three layers of order four."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import PhiLike, Vec6
from identify.simulation.checks import Interpolation, require_output_interval
from identify.simulation.decoupled.angular_velocity import batched_layer, scalar_layer
from identify.simulation.decoupled.block import BodyBlock
from identify.simulation.decoupled.problem import RolloutProblem
from identify.simulation.state import State, Trajectory
from identify.spatial.vectors import GRAVITY_W

_MAX_SCALAR_BODIES = 8
"""Number of bodies up to which Python floats are faster than NumPy calls."""

_BLOCK_BODIES = 1024
"""Number of bodies that are integrated together."""

_CHUNK_NODES, _CHUNK_NODES_OF_FEW = 12288, 4096
"""Bodies times steps of a chunk of time, for many and for few bodies: large enough for NumPy to be
efficient, small enough for the cache."""


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
    """Simulate free bodies under a sampled wrench, by decoupled integration.

    A wrench given in the body's frame makes the equations triangular, and they are integrated one
    after the other: angular velocity about the centre of mass in principal axes (Runge-Kutta),
    attitude (Magnus), translation (corrected trapezoid). Each is of order four, as `rollout` is, so
    the two differ by the order's error. Memory beside the output does not grow with the number of
    steps.

    Args:
        phi: ten parameters about Bo in B, shape (..., 10), broadcast with the batch of states.
        start: first states, batch shape (...).
        wrench: samples of [f; t] on the body at Bo in B, shape (..., n, 6), the first at the start;
            None if gravity alone acts.
        step: h, time between samples [s].
        gravity: g in W [m/s²], shape (3,) or (..., 3).
        interpolation: linear interpolation of the wrench, or sample and hold.
        every: return the states 0, every, 2 every, … only.
        steps: number of steps; by default n − 1 if a wrench is given.

    Returns:
        Views of one array in which time and body are the last axes.

    Raises:
        SimulationError: an inconsistent body, a step that is not positive, too few samples, or
            batches that do not broadcast.
        Diverged: a body whose motion is unbounded, or turns by more than 1 rad in a step.
    """
    problem = RolloutProblem.of(
        phi, start, wrench, step, gravity, interpolation=interpolation, steps=steps
    )
    require_output_interval(every)
    count = len(problem.body.mass)
    few = count <= _MAX_SCALAR_BODIES
    size = _CHUNK_NODES_OF_FEW if few else _CHUNK_NODES
    stored = problem.steps // every + 1
    states = np.empty((13, stored, count))
    states[:, 0] = problem.start.T
    with np.errstate(over="ignore", invalid="ignore"):  # diverged motions raise an error
        for first in range(0, count, _BLOCK_BODIES):
            bodies = slice(first, min(first + _BLOCK_BODIES, count))
            chunk = min(max(1, size // (bodies.stop - first)), max(problem.steps, 1))
            BodyBlock(problem, bodies, chunk, scalar_layer if few else batched_layer).run(
                states, every
            )
    shaped = np.moveaxis(states.reshape(13, stored, *problem.batch_shape), 0, -1)
    return Trajectory.from_vectors(every * problem.step * np.arange(stored), shaped)
