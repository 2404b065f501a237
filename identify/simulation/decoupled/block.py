"""Integration of a block of bodies through the three layers, in chunks of time."""

from __future__ import annotations

from math import isfinite

import numpy as np

from identify.arrays import Array, Mat33
from identify.simulation.checks import DIVERGENCE_ANGLE, MAX_STEP_ANGLE, Diverged, divergence_error
from identify.simulation.decoupled.angular_velocity import (
    AngularVelocityLayer,
    StageTorques,
    euler_ratios,
)
from identify.simulation.decoupled.attitude import (
    AttitudeLayer,
    attitudes_from_pairs,
    step_rotations,
)
from identify.simulation.decoupled.problem import (
    RolloutProblem,
    SampledWrench,
    require_finite_samples,
)
from identify.simulation.decoupled.translation import TranslationLayer
from identify.simulation.decoupled.workspace import (
    Workspace,
    bodies_last,
    cross_into,
    transform_into,
)
from identify.simulation.principal_axes import PrincipalBody
from identify.spatial import quaternion_product
from identify.spatial.rotations import (
    cross,
    quaternion_conjugate,
    rotate,
    rotate_back,
    rotation_from_unit_quaternion,
)

_MAX_SQUARED_HALF_ANGLE = (0.5 * MAX_STEP_ANGLE) ** 2
"""Maximum squared half of the rotation angle in a step [rad²]."""


class LoadLayer:
    """Scaled forces and torques on a block of bodies, in the units of the layers.

    Nodes are the samples at the beginning of steps and, for linear loads, at the end of the last.

    Attributes:
        force: φ = (h²/12m) R_BPᵀ f [m], shape (3, nodes, bodies).
        torque: τ = (h²/4) I⁻¹ R_BPᵀ (t − c × f), shape (3, nodes, bodies).
    """

    def __init__(
        self, body: PrincipalBody, R_BP: Mat33, wrench: SampledWrench, step: float, nodes: int
    ) -> None:
        """Allocate the arrays for bodies of shape (bodies,) and the wrenches on them."""
        R_PB = R_BP.swapaxes(-1, -2)
        to_force = R_PB * (step**2 / (12.0 * body.mass))[:, None, None]
        of_moment = R_PB * (step**2 / (4.0 * body.moments))[..., None]
        of_force = cross(body.com[:, None], of_moment)  # r · (−c × f) = (c × r) · f, row by row
        to_torque = np.concatenate((of_force, of_moment), axis=-1)
        self._wrench = wrench
        self._to_force, self._to_torque = bodies_last(to_force), bodies_last(to_torque)
        self.force, self.torque = np.empty((2, 3, nodes, len(body.mass)))

    def advance(self, first: int, nodes: int, workspace: Workspace) -> None:
        """Compute the scaled loads at the nodes of a chunk, whose first sample is `first`."""
        samples = self._wrench.rows(first, nodes, workspace)
        transform_into(self.torque[:, :nodes], self._to_torque, samples)
        transform_into(self.force[:, :nodes], self._to_force, samples[:3])


class MotionOfOrigin:
    """Conversion of the motion of centres of mass to states [p, q, v, ω] of origins.

    p_WoBo = p_WoBcm − R c,             q_WB = q_WP ⊗ q_PB,
    v_WBo = (2/h) s − R (ω × c),        w_WB_B = R_BP ω,        ω = (2/h) θ
    """

    def __init__(self, body: PrincipalBody, R_BP: Mat33, step: float) -> None:
        """Precompute the constants of bodies, shape (bodies,)."""
        self._rate = 2.0 / step
        com = rotate_back(R_BP, body.com).T
        self._com, self._fast_com = com[:, None].copy(), self._rate * com[:, None]
        self._fast_axes = self._rate * bodies_last(R_BP)
        x, y, z, w = quaternion_conjugate(body.quaternion).T  # q_PB, and q_WP ↦ q_WP ⊗ q_PB:
        rows = ((w, z, -y, x), (-z, w, x, y), (y, -x, w, z), (-x, -y, -z, w))
        self._to_body = np.array(rows)

    def write(
        self,
        states: Array,
        theta: Array,
        q: Array,
        R: Array,
        position: Array,
        travel: Array,
        workspace: Workspace,
    ) -> None:
        """Compute states of origins from angular velocity, attitude and translation, (13, n, b)."""
        n = states.shape[1]
        lever, turned, scratch = workspace.rows(0, 9, n).reshape(3, 3, n, -1)
        transform_into(turned, R, self._com)
        np.subtract(position, turned, out=states[0:3])
        transform_into(states[3:7], self._to_body, q)
        cross_into(lever, theta, self._fast_com, scratch)
        transform_into(turned, R, lever)
        np.multiply(travel, self._rate, out=scratch)
        np.subtract(scratch, turned, out=states[7:10])
        transform_into(states[10:13], self._fast_axes, theta)


class BodyBlock:
    """Bodies that are integrated together, few enough for a chunk of time to fit into the cache."""

    def __init__(
        self, problem: RolloutProblem, bodies: slice, chunk: int, method: AngularVelocityLayer
    ) -> None:
        """Allocate all arrays for some bodies of a problem, with at most `chunk` steps."""
        body, start = problem.principal_bodies(bodies), problem.start[bodies]
        R_BP = rotation_from_unit_quaternion(body.quaternion)
        count = len(start)
        step = problem.step
        self._problem, self._bodies, self._chunk = problem, bodies, chunk
        self._workspace = Workspace(chunk + 1, count)
        self._loads = self._torques = None
        if problem.wrench is not None:
            nodes, wrench = chunk + int(problem.linear_interpolation), problem.wrench.select(bodies)
            self._loads = LoadLayer(body, R_BP, wrench, step, nodes)
            self._torques = StageTorques(self._loads.torque, linear=problem.linear_interpolation)
        p, q, v, w = np.split(start, (3, 7, 10), axis=-1)
        R = rotation_from_unit_quaternion(q)
        self._theta = np.empty((3, chunk + 1, count))
        self._theta[:, 0] = (0.5 * step) * rotate_back(R_BP, w).T
        self._ratios = euler_ratios(body.moments).T[:, None].copy()
        self._angular_velocity = method(self._ratios[:, 0], self._theta, self._torques)
        self._attitude = AttitudeLayer(quaternion_product(q, body.quaternion), chunk)
        com_position, com_velocity = p + rotate(R, body.com), v + rotate(R, cross(w, body.com))
        self._translation = TranslationLayer(
            com_position, com_velocity, problem.gravity[bodies], step, chunk
        )
        self._origin = MotionOfOrigin(body, R_BP, step)

    def run(self, out: Array, every: int) -> None:
        """Integrate the motion of the bodies from the start to the end.

        `out`: states of the whole batch [p, q, v, ω], shape (13, stored, bodies); every `every`-th
        state after the first is written.
        Raises `Diverged`: a motion that is not finite, or rotates too far in a step.
        """
        for first in range(0, self._problem.steps, self._chunk):
            steps = min(self._chunk, self._problem.steps - first)
            skipped = every - first % every  # nodes of the chunk before the first that is kept
            kept = slice(skipped, steps + 1, every)
            column = (first + skipped) // every
            states = out[:, column : column + len(range(*kept.indices(steps + 1))), self._bodies]
            self._advance(first, steps, kept, states)
            self._require_finite(first, steps)
            self._theta[:, 0] = self._theta[:, steps]
            self._attitude.restart(steps)
            self._translation.restart(steps)

    def _advance(self, first: int, steps: int, kept: slice, states: Array) -> None:
        linear, workspace = self._problem.linear_interpolation, self._workspace
        force = torque = None
        if self._loads is not None and self._torques is not None:
            nodes = steps + int(linear)
            self._loads.advance(first, nodes, workspace)
            self._torques.refresh()
            force = self._loads.force[:, :nodes]
            torque = self._loads.torque[:, :nodes] if linear else None  # held: it drops out
        self._angular_velocity(steps)
        theta = self._theta[:, : steps + 1]
        turned = step_rotations(theta, self._ratios, torque, workspace)
        if not turned.largest <= _MAX_SQUARED_HALF_ANGLE:  # NaN neither
            step, body = (
                int(i) for i in np.argwhere(~(turned.square <= _MAX_SQUARED_HALF_ANGLE))[0]
            )
            turn = 2.0 * float(np.sqrt(turned.square[step, body]))
            raise self._diverged(turn, first + step, body)
        pair = self._attitude.advance(turned.vector, turned.scalar, workspace)
        if force is not None:
            q, R = attitudes_from_pairs(pair, workspace)
            self._translation.advance(theta, R, force, workspace, linear=linear)
            q, R = q[:, kept], R[:, :, kept]
        else:
            q, R = attitudes_from_pairs(pair[:, kept], workspace)
            self._translation.advance_free(slice(steps, steps + 1))
            self._translation.advance_free(kept)
        if states.shape[1] > 0:
            place = self._translation.position[:, kept], self._translation.travel[:, kept]
            self._origin.write(states, theta[:, kept], q, R, *place, workspace)

    def _require_finite(self, first: int, steps: int) -> None:
        """Raise `Diverged` if the state at the end of a chunk is not finite."""
        rotation, position = [self._theta, self._attitude.pair], self._translation.position
        loaded = self._problem.wrench is not None  # then a rotation makes the position not finite
        at_end = [position] if loaded else [*rotation, position]
        if all(isfinite(abs(np.add.reduce(nodes[:, steps], axis=None))) for nodes in at_end):
            return
        histories = [*rotation, position] if loaded else rotation  # free: few positions are set
        finite = [np.isfinite(nodes[:, 1 : steps + 1]).all(axis=0) for nodes in histories]
        bad = np.argwhere(~np.all(finite, axis=0))
        node, body = bad[0] if len(bad) else (steps - 1, 0)
        raise self._diverged(np.nan, first + int(node), int(body))

    def _diverged(self, turn: float, step: int, body: int) -> Diverged:
        """Create the error for a too large rotation in one step of a body of the block."""
        if self._problem.wrench is not None:
            require_finite_samples(self._problem.wrench.samples)
        batch, h = self._problem.batch_shape, self._problem.step
        index = np.unravel_index(self._bodies.start + body, batch) if batch else ()
        node = step if turn < DIVERGENCE_ANGLE else step + 1  # where it is not finite
        return divergence_error(turn, node * h, h, tuple(int(i) for i in index))
