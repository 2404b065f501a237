"""Gradient of a weighted sum of the entries of the joint-torque regressor, by adjoint recursion.

The sum f = Σ_jc W_jc Y_jc is the power, per unit rate of each joint j, of the wrenches [F; T] that
links with the parameters W_j need: Σ_ji v_ji · F_ji + u_ji · T_ji (see `regressor`). Its partial
derivatives with respect to the motion and the unit twists of each link are propagated from the tips
to the base by the transposes of the forward steps (reverse accumulation; Griewank and Walther,
"Evaluating derivatives", 2008, ch. 3), so that a gradient costs a few regressors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array
from identify.robots.link_motion import (
    LinkMotion,
    base_motion,
    cross,
    joint_arrays,
    rotate_back,
)
from identify.robots.regressor import (
    UnitTwists,
    base_twists,
    moving_links,
    write_link_columns,
)
from identify.robots.robot_model import BASE, MovingLink, RobotModel

_INERTIA_INDICES = np.array([[4, 5, 6], [5, 7, 8], [6, 8, 9]])
"""Indices of the entries of the inertia matrix among the ten parameters."""


class _Partials(NamedTuple):
    """Partial derivatives of the sum with respect to the motion of a link and its unit twists.

    Attributes:
        w, alpha, a: with respect to those of `LinkMotion`, shape (3, N).
        linear, angular: with respect to those of `UnitTwists`, shape (3, k, N).
    """

    w: Array
    alpha: Array
    a: Array
    linear: Array
    angular: Array


def regressor_with_pullback(
    robot: RobotModel, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> tuple[Array, Callable[[Array], Array]]:
    """Compute the regressor Y of `torque_regressor`, (N, n, 10 L), and the pullback of a gradient.

    The pullback maps W, shape (N, n, 10 L), to the derivatives of Σ W ⊙ Y of each sample with
    respect to q, v and a, shape (3, N, n).

    `q`, `v`, `a`: positions, velocities and accelerations of the joints, shape (N, n).
    Raises `ModelError`: another shape, or not finite.
    """
    q, v, a = joint_arrays(robot, q, v, a)
    n, samples = q.shape
    links = dict(enumerate(moving_links(robot, q, v, a)))
    blocks = [slice(10 * index, 10 * index + 10) for index in links]
    regressor = np.zeros((n, 10 * len(links), samples))
    for link, block in zip(links.values(), blocks, strict=True):
        write_link_columns(*link, regressor[:, block])
    links[BASE] = base_motion(robot), base_twists(samples)

    def pullback(weights: Array) -> Array:
        weights = np.ascontiguousarray(np.moveaxis(weights, 0, -1))
        partials = [
            _link_partials(*links[index], weights[links[index][1].joints, block])
            for index, block in enumerate(blocks)
        ]
        gradient = np.zeros((3, n, samples))
        for index, link in reversed([*enumerate(robot.tree)]):
            rate = link.multiplier * v[link.joint]
            of_joint, of_parent = _joint_partials(
                link, rate, *links[index], *links[link.parent], partials[index]
            )
            gradient[:, link.joint] += link.multiplier * of_joint
            if link.parent != BASE:
                for total, part in zip(partials[link.parent], of_parent, strict=True):
                    total += part
        return np.moveaxis(gradient, 1, -1)

    return np.moveaxis(regressor, -1, 0), pullback


def _link_partials(motion: LinkMotion, twists: UnitTwists, weights: Array) -> _Partials:
    """Return the derivatives of Σ_j v · F + u · T of a link, without the links that follow.

    With the mass m, first moment h and inertia I in the weights, (k, 10, N), of joint j,

        F = m a + α × h + ω × (ω × h),   T = h × a + I α + ω × I ω.
    """
    a, w, alpha = motion.a[:, None], motion.w[:, None], motion.alpha[:, None]
    v, u = twists.linear, twists.angular
    phi = np.moveaxis(weights, 1, 0)
    m, h, inertia = phi[0], phi[1:4], phi[_INERTIA_INDICES]
    momentum = _dot(inertia, w)  # I ω, as I is symmetric
    return _Partials(
        w=(_centripetal_partial(w, h, v) + cross(momentum, u) + _dot(inertia, cross(u, w))).sum(
            axis=1
        ),
        alpha=(cross(h, v) + _dot(inertia, u)).sum(axis=1),
        a=(m * v + cross(u, h)).sum(axis=1),
        linear=m * a + cross(alpha, h) + cross(w, cross(w, h)),
        angular=cross(h, a) + _dot(inertia, alpha) + cross(w, momentum),
    )


def _joint_partials(
    link: MovingLink,
    rate: Array,
    motion: LinkMotion,
    twists: UnitTwists,
    parent: LinkMotion,
    parent_twists: UnitTwists,
    of: _Partials,
) -> tuple[Array, _Partials]:
    """Propagate the derivatives of a link through its joint.

    Returns the derivatives with respect to position, velocity and acceleration along the joint,
    shape (3, N), and those with respect to the parent of the link.
    """
    axis, R = link.axis[:, None], motion.R_PL.swapaxes(0, 1)
    of_w = of.w + rate * (2.0 * cross(axis, of.a) if link.prismatic else cross(axis, of.alpha))
    # In axes of the parent: of what is rotated by the joint, and of the acceleration at its origin.
    w, alpha, a = (rotate_back(R, each) for each in (of_w, of.alpha, of.a))
    before, p = len(parent_twists.joints), motion.p_PL
    linear, angular = (rotate_back(R, each[:, :before]) for each in (of.linear, of.angular))
    of_parent = _Partials(
        w=w + _centripetal_partial(parent.w, p, a),
        alpha=alpha + cross(p, a),
        a=a,
        linear=linear,
        angular=angular + cross(p[:, None], linear),
    )
    if link.prismatic:
        of_p = cross(a, parent.alpha) + cross(cross(a, parent.w), parent.w)
        of_p += cross(linear, parent_twists.angular).sum(axis=1)
        of_position = _dot((link.X_PL.rotation @ link.axis)[:, None], of_p)
        of_rate = _dot(cross(motion.w, axis), 2.0 * of.a)
        return np.stack((of_position, of_rate, _dot(axis, of.a))), of_parent
    coriolis = cross(motion.w, axis)
    turned = cross(motion.w, of_w) + cross(motion.alpha - rate * coriolis, of.alpha)
    turned += cross(motion.a, of.a)
    turned += (cross(twists.linear, of.linear) + cross(twists.angular, of.angular)).sum(axis=1)
    of_rate = _dot(axis, of.w) + _dot(coriolis, of.alpha)
    return np.stack((-_dot(axis, turned), of_rate, _dot(axis, of.alpha))), of_parent


def _centripetal_partial(w: Array, p: Array, of: Array) -> Array:
    """Return the derivatives of `of` · (ω × (ω × p)) with respect to ω."""
    return of * _dot(w, p) + p * _dot(w, of) - 2.0 * w * _dot(of, p)


def _dot(u: Array, v: Array) -> Array:
    """Return u · v, or u v for symmetric matrices u, of each sample."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
