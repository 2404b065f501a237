"""MJCF model of a fitted arm: links, joints with friction and rotor inertia, frames as sites."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

import numpy as np

from identify.arms.urdf_export import JointDynamics
from identify.arrays import Phi
from identify.errors import ModelError
from identify.inertia import InertialParameters
from identify.robots import RobotModel
from identify.robots.robot_model import BASE
from identify.spatial import Pose, quaternion_from_rotation

_DIGITS = 12
"""Significant digits of numbers."""


def fitted_mjcf(robot: RobotModel, links: Phi, dynamics: JointDynamics) -> bytes:
    """Return an MJCF model of an arm, for MuJoCo, without shapes.

    Rotor inertia is `armature`, viscous friction `damping`, and Coulomb friction `frictionloss`.

    Args:
        robot: kinematic tree with its limits.
        links: ten parameters of each moving link about its origin in its axes, shape (L, 10).
        dynamics: of the joints.

    Raises `ModelError`: a joint mimics another, which this model has no place for.
    """
    if len(robot.tree) > len(robot.joints):
        raise ModelError(f"{robot.path}: joints that mimic others are not written to MJCF")
    gravity = _words(robot.gravity)
    lines = [
        f"<mujoco model={quoteattr(robot.path.stem)}>",
        '  <compiler angle="radian" autolimits="true"/>',
        f"  <option gravity={gravity}/>",
        "  <worldbody>",
        *_children(robot, links, dynamics, BASE, "    "),
        "  </worldbody>",
        "</mujoco>",
    ]
    return ("\n".join(lines) + "\n").encode()


def _children(
    robot: RobotModel, links: Phi, dynamics: JointDynamics, parent: int, indent: str
) -> Iterator[str]:
    """Yield the lines of the links behind a link, and of their descendants."""
    inner = f"{indent}  "
    for number, link in enumerate(robot.tree):
        if link.parent != parent:
            continue
        body, joint = InertialParameters(links[number]), link.joint
        I = body.inertia_about_com
        entries = _words(np.append(I.diagonal(), I[[0, 0, 1], [1, 2, 2]]))
        low, high = robot.position_limits[joint]
        limits = f" range={_words(np.array([low, high]))}" if np.isfinite(high - low) else ""
        numbers = {"damping": dynamics.damping, "frictionloss": dynamics.friction}
        numbers["armature"] = dynamics.armature
        values = "".join(f' {key}="{each[joint]:.{_DIGITS}g}"' for key, each in numbers.items())
        kind = "slide" if link.prismatic else "hinge"
        yield f"{indent}<body name={quoteattr(link.name)} {_place(link.X_PL)}>"
        mass = f'mass="{body.mass:.{_DIGITS}g}" pos={_words(body.com)}'
        yield f"{inner}<inertial {mass} fullinertia={entries}/>"
        yield (
            f"{inner}<joint name={quoteattr(robot.joints[joint])} type={quoteattr(kind)} "
            f"axis={_words(link.axis)}{limits}{values}/>"
        )
        for name, frame in robot.frames.items():
            if frame.link == number and name not in (*robot.links, *robot.joints):
                yield f"{inner}<site name={quoteattr(name)} {_place(frame.X_LF)}/>"
        yield from _children(robot, links, dynamics, number, inner)
        yield f"{indent}</body>"


def _place(X: Pose) -> str:
    x, y, z, w = quaternion_from_rotation(X.rotation)
    return f"pos={_words(X.position)} quat={_words(np.array([w, x, y, z]))}"


def _words(numbers: np.ndarray) -> str:
    return f'"{" ".join(f"{float(x):.{_DIGITS}g}" for x in numbers)}"'
