"""Into the axes and units of the layers, and out: loads as samples give them, states of Bo."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array
from identify.simulation.layered.problem import SampledWrench
from identify.simulation.layered.workspace import Workspace, bodies_last, cross_into, transform_into
from identify.simulation.principal_axes import PrincipalBody
from identify.spatial import hat
from identify.spatial.rotations import (
    quaternion_conjugate,
    quaternion_product,
    rotate_back,
    rotation_from_unit_quaternion,
)


class LoadLayer:
    """What moves a block of bodies, in the units of the layers.

    At the samples that steps begin with and, where the load between samples is a straight line, the
    one the last of them ends with.

    Attributes:
        force: φ = (h²/12m) R_BPᵀ f [m], shape (3, nodes, bodies).
        torque: τ = (h²/4) I⁻¹ R_BPᵀ (t − c × f), shape (3, nodes, bodies).
    """

    def __init__(self, body: PrincipalBody, wrench: SampledWrench, step: float, nodes: int) -> None:
        """Make the arrays for bodies of shape (bodies,) and the wrenches on them."""
        R_PB = rotation_from_unit_quaternion(body.quaternion).swapaxes(-1, -2)
        to_force = R_PB * (step**2 / (12.0 * body.mass))[:, None, None]
        of_moment = R_PB * (step**2 / (4.0 * body.moments))[..., None]
        to_torque = np.concatenate((-of_moment @ hat(body.com), of_moment), axis=-1)
        self._wrench = wrench
        self._to_force, self._to_torque = bodies_last(to_force), bodies_last(to_torque)
        self.force, self.torque = np.empty((2, 3, nodes, len(body.mass)))

    def advance(self, first: int, nodes: int, workspace: Workspace) -> None:
        """Fill the first `nodes` of force and torque from the samples `first` and after."""
        samples = self._wrench.rows(first, nodes, workspace)
        transform_into(self.torque[:, :nodes], self._to_torque, samples)
        transform_into(self.force[:, :nodes], self._to_force, samples[:3])


class MotionOfOrigin:
    """States [p, q, v, ω] of Bo, from θ, s and c = p_BoBcm in principal axes P, R = R_WP.

    p_WoBo = p_WoBcm − R c,             q_WB = q_WP ⊗ q_PB,
    v_WBo = (2/h) s − R (ω × c),        w_WB_B = R_BP ω,        ω = (2/h) θ
    """

    def __init__(self, body: PrincipalBody, step: float) -> None:
        """For bodies of shape (bodies,)."""
        self._rate = 2.0 / step
        axes = rotation_from_unit_quaternion(body.quaternion)
        com = rotate_back(axes, body.com).T
        self._com, self._fast_com = com[:, None].copy(), self._rate * com[:, None]
        self._fast_axes = self._rate * bodies_last(axes)
        q_PB = quaternion_conjugate(body.quaternion)
        images = quaternion_product(np.eye(4), q_PB[..., None, :])  # of q_WP ↦ q_WP ⊗ q_PB
        self._to_body = bodies_last(np.moveaxis(images, -1, -2))

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
        """Write the states at some nodes, shape (13, n, bodies), from the layers' there."""
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
