"""From the layers to the states that are asked for: of Bo, and ω in B."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array, Vec4
from identify.simulation.layered.vector_rows import bodies_last, cross_into, transform_into
from identify.simulation.layered.workspace import Workspace
from identify.simulation.principal_axes import PrincipalBody
from identify.spatial.rotations import (
    quaternion_conjugate,
    quaternion_product,
    rotate_back,
    rotation_from_unit_quaternion,
)


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
        self._to_body = bodies_last(_times(quaternion_conjugate(body.quaternion)))

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


def _times(q: Vec4) -> Array:
    """The matrices that multiply a quaternion by q from the right, shape (..., 4, 4)."""
    return np.moveaxis(quaternion_product(np.eye(4), q[..., None, :]), -1, -2)
