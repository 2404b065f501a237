"""Forward recursion over the links of a robot, sample by sample, and the motion of its frames.

Arrays have the samples last: a vector is (3, N), a rotation (3, 3, N). The base is at rest, and its
proper acceleration is −g.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.robots.model import BASE, MovingLink, RobotModel


class LinkMotion(NamedTuple):
    """Motion of a link, in its own axes, samples last.

    Attributes:
        R_PL: rotation of the link in its parent, shape (3, 3, N).
        p_PL: position of its origin in its parent [m], shape (3, N), or (3, 1) if constant.
        w: angular velocity ω [rad/s], shape (3, N).
        alpha: angular acceleration α [rad/s²], shape (3, N).
        a: proper acceleration a' of its origin, classical less gravity [m/s²], shape (3, N).
    """

    R_PL: Array
    p_PL: Array
    w: Array
    alpha: Array
    a: Array


def link_motions(robot: RobotModel, q: Array, v: Array, a: Array) -> Iterator[LinkMotion]:
    """Yield the motion of each link, in the order of the tree.

    Args:
        robot: with n joints.
        q: positions [rad or m], samples last, shape (n, N).
        v: velocities, shape (n, N).
        a: accelerations, shape (n, N).
    """
    zero = np.zeros((3, 1))
    base = LinkMotion(np.eye(3)[..., None], zero, zero, zero, -robot.gravity[:, None])
    motions: list[LinkMotion] = []
    for link in robot.tree:
        parent = base if link.parent == BASE else motions[link.parent]
        motions.append(_next_motion(link, parent, q[link.joint], v[link.joint], a[link.joint]))
        yield motions[-1]


def _next_motion(link: MovingLink, parent: LinkMotion, q: Array, v: Array, a: Array) -> LinkMotion:
    """Return the motion of a link from that of its parent and its joint, shape (N,) each."""
    position = link.multiplier * q + link.offset
    v, a = link.multiplier * v, link.multiplier * a
    axis, rotation, p = link.axis[:, None], link.X_PL.rotation, link.X_PL.position[:, None]
    if link.prismatic:
        R = np.broadcast_to(rotation[..., None], (3, 3, len(q)))
        p = p + (rotation @ axis) * position
    else:
        R = _turned(rotation, link.axis, position)
    w = rotate_back(R, parent.w)
    alpha = rotate_back(R, parent.alpha)
    acceleration = rotate_back(
        R, parent.a + cross(parent.alpha, p) + cross(parent.w, cross(parent.w, p))
    )
    if link.prismatic:
        acceleration += axis * a + 2.0 * cross(w, axis * v)
    else:
        rate = axis * v
        alpha += axis * a + cross(w, rate)
        w += rate
    return LinkMotion(R, p, w, alpha, acceleration)


def _turned(rotation: Array, axis: Array, angle: Array) -> Array:
    """Return R exp(axis× angle) of each angle, shape (3, 3, N), by Rodrigues' formula."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    along = np.outer(axis, axis)
    constant, cosine, sine = (
        (rotation @ each)[..., None] for each in (along, np.eye(3) - along, skew)
    )
    return constant + cosine * np.cos(angle) + sine * np.sin(angle)


def rotate_back(R: Array, vectors: Array) -> Array:
    """Return Rᵀ u of each sample, R (3, 3, N) and u (3, ..., N)."""
    extra = (1,) * (vectors.ndim - 2)
    R = R.reshape(3, 3, *extra, -1)
    return R[0] * vectors[0] + R[1] * vectors[1] + R[2] * vectors[2]


def cross(u: Array, v: Array) -> Array:
    """Return u × v of each sample, components first."""
    return np.stack(
        (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    )
