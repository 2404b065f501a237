"""Motions of a robot's joints, designed to identify its payload or the arm itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Phi
from identify.design.d_optimal import DesignRows
from identify.design.periodic import AxisLimits
from identify.design.workspace import ReachLimits
from identify.inertia.frames import frame_map
from identify.robots import FramePlacement, RobotModel, torque_regressor

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGN_SPEED = 0.05
"""Speed at which a smooth sign is .76 in place of that of Coulomb friction [rad/s or m/s]; a fit
leaves slower rows out."""

_POSITION_STEP = 1e-6
"""Step of central differences with respect to positions [rad or m]."""


class RoughPayload(NamedTuple):
    """A rough payload: its ten parameters about its frame, and where the frame is on the arm."""

    phi: Phi
    placement: FramePlacement


@dataclass(frozen=True, slots=True)
class JointProblem:
    """Inertial parameters of a payload, or of an arm, from the torques of the joints.

    Of a payload its ten parameters are wanted, and the links are known. Of an arm its base
    parameters and its viscous and Coulomb friction are wanted. Friction and offsets of the torques
    are fitted besides.

    Attributes:
        limits: of the positions less those at the start, of speed and acceleration.
        robot: the arm.
        start: positions at the start, shape (n,) [rad or m].
        sigma: standard deviation of a sample of each torque, shape (n,) [N m or N].
        torque_limits: shape (n,) [N m or N].
        payload: None for an arm without one.
        base_columns: independent columns of the arm's regressor if the arm is wanted, else None.
        space: limits in space; None for no others.
    """

    limits: AxisLimits
    robot: RobotModel
    start: Array
    sigma: Array
    torque_limits: Array
    payload: RoughPayload | None = None
    base_columns: Indices | None = None
    space: ReachLimits | None = None

    @property
    def wanted(self) -> int:
        """Number of unknowns that shall be identified."""
        if self.base_columns is None:
            return 10
        return len(self.base_columns) + 2 * len(self.robot.joints)

    @property
    def limit_names(self) -> tuple[str, ...]:
        """Names of the limits of `rows`."""
        torques = (f"the torque of {joint}" for joint in self.robot.joints)
        return (*torques, *(() if self.space is None else self.space.names))

    def rows(self, motion: Array) -> DesignRows:
        """Return rows [Y, friction, 1] / σ of each sample, and shares of the torque limits."""
        columns, torque = self._dynamics(*motion)
        regressor = self._with_friction(columns, motion[1])
        shares = np.abs(torque / self.torque_limits)
        if self.space is not None:
            shares = np.hstack((shares, self.space.shares(self.robot, self.start + motion[0])))
        return DesignRows(regressor, shares)

    def slopes(self, motion: Array) -> DesignRows:
        """Return the derivatives of the rows."""
        v = motion[1]
        columns, torque = self._dynamics(*motion)
        samples, n, p = columns.shape
        regressor = np.zeros((samples, n, p + 3 * n, 3, n))
        shares = np.empty((samples, n, 3, n))
        for order, joint, of_columns, of_torque in self._differences(motion, columns, torque):
            regressor[:, :, :p, order, joint] = of_columns / self.sigma[:, None]
            shares[:, :, order, joint] = of_torque / self.torque_limits
        shares *= np.sign(torque)[..., None, None]
        joints = np.arange(n)
        of_sign = (1.0 - np.tanh(v / SIGN_SPEED) ** 2) / SIGN_SPEED
        regressor[:, joints, p + joints, 1, joints] = 1.0 / self.sigma
        regressor[:, joints, p + n + joints, 1, joints] = of_sign / self.sigma
        if self.space is not None and self.space.names:
            shares = np.concatenate((shares, self._space_slopes(self.space, motion[0])), axis=1)
        return DesignRows(regressor, shares)

    def _space_slopes(self, space: ReachLimits, q: Array) -> Array:
        """Return the derivatives of the shares of limits in space, shape (N, limits, 3, n)."""
        n = q.shape[1]
        steps = _POSITION_STEP * np.concatenate((np.eye(n), -np.eye(n)))
        moved = (self.start + q + steps[:, None]).reshape(-1, n)
        ahead, behind = space.shares(self.robot, moved).reshape(2, n, len(q), -1)
        slopes = np.zeros((len(q), len(space.names), 3, n))
        slopes[:, :, 0] = np.moveaxis((ahead - behind) / (2.0 * _POSITION_STEP), 0, -1)
        return slopes

    def _dynamics(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return the columns that are wanted, (N, n, p), and the torques of arm and payload."""
        full = torque_regressor(self.robot, self.start + q, v, a)
        torque = full @ self.robot.phi.ravel()
        if self.payload is None:
            columns = full[..., self.base_columns]
            return columns, torque
        link = 10 * self.payload.placement.link
        on_link = full[..., link : link + 10] @ frame_map(self.payload.placement.X_LF)
        torque += on_link @ self.payload.phi
        return on_link if self.base_columns is None else full[..., self.base_columns], torque

    def _with_friction(self, columns: Array, v: Array) -> Array:
        """Append columns of viscous and Coulomb friction and offsets, and divide by the noise."""
        samples, n, p = columns.shape
        rows = np.zeros((samples, n, p + 3 * n))
        rows[..., :p] = columns
        diagonal = np.arange(n)
        rows[:, diagonal, p + diagonal] = v
        rows[:, diagonal, p + n + diagonal] = np.tanh(v / SIGN_SPEED)
        rows[:, diagonal, p + 2 * n + diagonal] = 1.0
        return rows / self.sigma[:, None]

    def _differences(
        self, motion: Array, columns: Array, torque: Array
    ) -> Iterator[tuple[int, int, Array, Array]]:
        """Yield order, joint and the derivatives of columns and torques.

        Torques are linear in accelerations and quadratic in velocities, so that differences with
        respect to them are exact.
        """
        n = motion.shape[2]
        steps = [(0, _POSITION_STEP), (0, -_POSITION_STEP), (1, 1.0), (1, -1.0), (2, 1.0)]
        moved = np.tile(motion[:, None, None], (1, len(steps), n, 1, 1))
        for k, (order, step) in enumerate(steps):
            for joint in range(n):
                moved[order, k, joint, :, joint] += step
        all_columns, all_torques = self._dynamics(*moved.reshape(3, -1, n))
        all_columns = all_columns.reshape(len(steps), n, *columns.shape)
        all_torques = all_torques.reshape(len(steps), n, *torque.shape)
        for joint in range(n):
            for order, width in ((0, 2.0 * _POSITION_STEP), (1, 2.0)):
                up, down = 2 * order, 2 * order + 1
                yield (
                    order,
                    joint,
                    (all_columns[up, joint] - all_columns[down, joint]) / width,
                    (all_torques[up, joint] - all_torques[down, joint]) / width,
                )
            yield 2, joint, all_columns[4, joint] - columns, all_torques[4, joint] - torque
