"""`RobotModel`: the moving links of a robot as a tree, with gravity and limits of its joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Phi, Vec3, seal
from identify.documents import lookup
from identify.errors import ModelError
from identify.spatial import Pose

BASE = -1
"""Index of the base in `MovingLink.parent` and `FramePlacement.link`."""


class FramePlacement(NamedTuple):
    """Frame F of a robot: the moving link L to which it is fixed, or `BASE`, and its pose X_LF."""

    link: int
    X_LF: Pose


@dataclass(frozen=True, slots=True)
class MovingLink:
    """Moving link L: a joint of the URDF, and all bodies fixed to each other behind it.

    The axes of L are those of the URDF's link, its origin is on the axis of the joint. The joint is
    at `multiplier` q + `offset`, where q is the position of the robot's joint with index `joint`.

    Attributes:
        name: name of the URDF's link behind the joint.
        parent: index of the link that carries it, lower than its own; `BASE` for the base.
        joint: index in `RobotModel.joints` of the joint that moves it.
        X_PL: pose of L in its parent, where the joint is at zero.
        axis: unit vector of the joint's axis in axes of L, shape (3,).
        prismatic: whether the joint translates along its axis instead of turning about it.
        multiplier: 1, except for a joint that mimics another.
        offset: position at q = 0 [rad or m], 0 except for a joint that mimics another.
    """

    name: str
    parent: int
    joint: int
    X_PL: Pose
    axis: Vec3
    prismatic: bool = False
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", seal(self.axis, "axis", (3,)))


@dataclass(frozen=True, slots=True, eq=False)
class RobotModel:
    """Robot arm: a tree of L moving links, moved by n joints.

    Positions are in rad, and in m for prismatic joints; torques in N m and N.

    Attributes:
        path: the model's file.
        joints: names of the joints, in the order of positions and torques.
        tree: the moving links, parents before children.
        gravity: g in axes of the base [m/s²], shape (3,).
        phi: ten parameters of each moving link about its origin in its axes, with all that is fixed
            to it, as the model has them, shape (L, 10).
        position_limits: lowest and highest position of each joint, infinite for continuous joints,
            shape (n, 2).
        velocity_limits: [rad/s or m/s], infinite where the model has none, shape (n,).
        effort_limits: [N m or N], infinite where the model has none, shape (n,).
        locked: joints of the model that are kept at a fixed position, with that position.
        frames: every link and joint of the model as a frame, by name.
    """

    path: Path
    joints: tuple[str, ...]
    tree: tuple[MovingLink, ...]
    gravity: Vec3
    phi: Phi
    position_limits: Array
    velocity_limits: Array
    effort_limits: Array
    locked: Mapping[str, float] = field(default_factory=dict)
    frames: Mapping[str, FramePlacement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.joints)
        object.__setattr__(self, "path", Path(self.path))
        object.__setattr__(self, "gravity", seal(self.gravity, "gravity", (3,)))
        object.__setattr__(self, "phi", seal(self.phi, "phi of the links", (len(self.tree), 10)))
        for name, shape in (("position", (n, 2)), ("velocity", (n,)), ("effort", (n,))):
            limits = np.array(getattr(self, f"{name}_limits"), dtype=np.float64).reshape(shape)
            limits.flags.writeable = False
            object.__setattr__(self, f"{name}_limits", limits)
        object.__setattr__(self, "locked", MappingProxyType(dict(self.locked)))
        object.__setattr__(self, "frames", MappingProxyType(dict(self.frames)))

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the moving links, in the order of `phi`."""
        return tuple(link.name for link in self.tree)

    @property
    def prismatic(self) -> Flags:
        """Whether each joint is prismatic, with positions in m and forces in N, shape (n,)."""
        flags = np.zeros(len(self.joints), dtype=bool)
        for link in self.tree:
            if (link.multiplier, link.offset) == (1.0, 0.0):
                flags[link.joint] |= link.prismatic
        return flags

    def frame(self, name: str) -> FramePlacement:
        """Return the moving link L to which a frame F is fixed, and the pose X_LF.

        Raises:
            ModelError: the model has no such frame; names the nearest.
        """
        return lookup(self.frames, name, f"frame of {self.path}", ModelError)

    def moving_frame(self, name: str) -> FramePlacement:
        """Return the placement of a frame that a joint of the log moves.

        Raises:
            ModelError: the model has no such frame, or it is fixed to the base.
        """
        placement = self.frame(name)
        if placement.link == BASE:
            moving = [other for other, place in self.frames.items() if place.link != BASE]
            raise ModelError(
                f"{self.path}: no joint of the log moves the frame {name!r}, which is fixed to the "
                f"base; expected one that moves: {', '.join(moving)}"
            )
        return placement

    def require_inertias(self) -> None:
        """Check that the model has the inertia of at least one moving link.

        Raises:
            ModelError: no moving link has a mass.
        """
        if not self.phi[:, 0].any():
            raise ModelError(
                f"{self.path}: no moving link has a mass, so that the model has no dynamics; "
                "expected a URDF with the <inertial> of its links"
            )

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with plain dicts, as mapping views cannot be pickled."""
        values = (getattr(self, name) for name in self.__slots__)
        plain = (dict(v) if isinstance(v, MappingProxyType) else v for v in values)
        return RobotModel, tuple(plain)
