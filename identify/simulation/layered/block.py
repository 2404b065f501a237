"""A block of bodies: the three layers, chunk by chunk of time."""

from __future__ import annotations

from math import isfinite
from typing import NoReturn

import numpy as np

from identify.arrays import Array
from identify.simulation.divergence import BEYOND, LARGEST_TURN, Diverged, diverged
from identify.simulation.layered.angular_velocity import Layer1, StageTorques, euler_ratios
from identify.simulation.layered.attitude import AttitudeLayer, attitude_rows, turns
from identify.simulation.layered.principal_frame import LoadLayer, MotionOfOrigin
from identify.simulation.layered.problem import Problem, require_finite_samples
from identify.simulation.layered.translation import TranslationLayer
from identify.simulation.layered.workspace import Workspace
from identify.spatial import quaternion_product
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_unit_quaternion

_LARGEST_SQUARE = (0.5 * LARGEST_TURN) ** 2
"""Of |σ|, half the angle of a step."""


class Block:
    """Bodies small enough in number that a chunk of their motion stays in the cache."""

    def __init__(self, problem: Problem, bodies: slice, chunk: int, method: Layer1) -> None:
        """Make every array of the rollout.

        Args:
            problem: what to integrate.
            bodies: which of its bodies.
            chunk: most steps at a time.
            method: of layer 1.
        """
        body, start = problem.body_of(bodies), problem.start[bodies]
        count, step = len(start), problem.step
        self._problem, self._bodies, self._chunk = problem, bodies, chunk
        self._workspace = Workspace(chunk + 1, count)
        self._loads = self._torques = None
        if problem.wrench is not None:
            nodes, wrench = chunk + int(problem.linear), problem.wrench.of_bodies(bodies)
            self._loads = LoadLayer(body, wrench, step, nodes)
            self._torques = StageTorques(self._loads.torque, linear=problem.linear)
        p, q, v, w = np.split(start, (3, 7, 10), axis=-1)
        R = rotation_from_unit_quaternion(q)
        self._theta = np.empty((3, chunk + 1, count))
        self._theta[:, 0] = (0.5 * step) * rotate_back(
            rotation_from_unit_quaternion(body.quaternion), w
        ).T
        self._ratios = euler_ratios(body.moments).T[:, None].copy()
        self._angular_velocity = method(self._ratios[:, 0], self._theta, self._torques)
        self._attitude = AttitudeLayer(quaternion_product(q, body.quaternion), chunk)
        com_position, com_velocity = p + rotate(R, body.com), v + rotate(R, cross(w, body.com))
        self._translation = TranslationLayer(
            com_position, com_velocity, problem.gravity[bodies], step, chunk
        )
        self._origin = MotionOfOrigin(body, step)

    def run(self, out: Array, every: int) -> None:
        """Integrate from the start to the end.

        Args:
            out: states of the whole batch [p, q, v, ω], shape (13, stored, bodies); every
                `every`-th state after the first is written.
            every: as above.

        Raises:
            Diverged: a motion that is not finite, or turns too far in a step.
        """
        for first in range(0, self._problem.steps, self._chunk):
            steps = min(self._chunk, self._problem.steps - first)
            skipped = every - first % every  # nodes of the chunk before the first that is kept
            kept = slice(skipped, steps + 1, every)
            column = (first + skipped) // every
            states = out[:, column : column + len(range(*kept.indices(steps + 1))), self._bodies]
            self._advance(first, steps, kept, states)
            self._require_finite(first, steps)
            self._restart(steps)

    def _advance(self, first: int, steps: int, kept: slice, states: Array) -> None:
        linear, workspace = self._problem.linear, self._workspace
        force = torque = None
        if self._loads is not None and self._torques is not None:
            nodes = steps + int(linear)
            self._loads.advance(first, nodes, workspace)
            self._torques.refresh()
            force = self._loads.force[:, :nodes]
            torque = self._loads.torque[:, :nodes] if linear else None  # held: it drops out
        self._angular_velocity(steps)
        theta = self._theta[:, : steps + 1]
        turned = turns(theta, self._ratios, torque, workspace)
        if not turned.largest <= _LARGEST_SQUARE:  # NaN neither
            self._refuse_turns(first, turned.square)
        pair = self._attitude.advance(turned.vector, turned.scalar, workspace)
        if force is not None:
            q, R = attitude_rows(pair, workspace)
            self._translation.advance(theta, R, force, workspace, linear=linear)
            q, R = q[:, kept], R[:, :, kept]
        else:
            q, R = attitude_rows(pair[:, kept], workspace)
            self._translation.advance_free(slice(steps, steps + 1))
            self._translation.advance_free(kept)
        if states.shape[1] > 0:
            place = self._translation.position[:, kept], self._translation.travel[:, kept]
            self._origin.write(states, theta[:, kept], q, R, *place, workspace)

    def _restart(self, steps: int) -> None:
        self._theta[:, 0] = self._theta[:, steps]
        self._attitude.restart(steps)
        self._translation.restart(steps)

    def _require_finite(self, first: int, steps: int) -> None:
        """Look at the last node: what is not finite once stays so."""
        spin, place = [self._theta, self._attitude.pair], self._translation.position
        loaded = self._problem.wrench is not None  # then the place comes from all the rest
        looked_at = [place] if loaded else [*spin, place]
        if all(isfinite(abs(np.add.reduce(nodes[:, steps], axis=None))) for nodes in looked_at):
            return
        histories = [*spin, place] if loaded else spin  # of free bodies, not all places are filled
        finite = [np.isfinite(nodes[:, 1 : steps + 1]).all(axis=0) for nodes in histories]
        bad = np.argwhere(~np.all(finite, axis=0))
        node, body = bad[0] if len(bad) else (steps - 1, 0)
        raise self._diverged(np.nan, first + int(node), int(body))

    def _refuse_turns(self, first: int, square: Array) -> NoReturn:
        """The error of the first step whose turn, 2|σ|, is too large or not finite."""
        step, body = (int(i) for i in np.argwhere(~(square <= _LARGEST_SQUARE))[0])
        raise self._diverged(2.0 * float(np.sqrt(square[step, body])), first + step, body)

    def _diverged(self, turn: float, step: int, body: int) -> Diverged:
        """The error of a turn in a step, of one of the block's bodies."""
        if self._problem.wrench is not None:
            require_finite_samples(self._problem.wrench.samples)
        batch, h = self._problem.batch, self._problem.step
        index = np.unravel_index(self._bodies.start + body, batch) if batch else ()
        node = step if turn < BEYOND else step + 1  # where it is not finite
        return diverged(turn, node * h, h, tuple(int(i) for i in index))
