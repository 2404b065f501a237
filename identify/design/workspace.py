"""Limits of an arm in space: a box for its tool, and a floor for the geometry of its links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec3
from identify.errors import IdentifyError, ProblemError
from identify.exchange.link_geometry import bounding_corners
from identify.exchange.urdf import Urdf
from identify.exchange.xml_document import read_xml
from identify.inertia import InertialParameters
from identify.inertia.parameters import default_radius
from identify.robots import FramePlacement, RobotModel, link_poses
from identify.robots.robot_model import BASE
from identify.spatial import Pose

LIMIT_MARGIN = 0.1
"""Distance from a limit at which its share is zero [m]."""


@dataclass(frozen=True, slots=True)
class ReachLimits:
    """A box for the tool's frame and a floor for all links, in axes of the robot's base.

    Attributes:
        tool: the frame of the tool.
        points: points of each moving link in its axes with their radii, (x, y, z, r), shape (k, 4)
            each [m].
        links: names of the moving links.
        box: lowest and highest position of the tool's origin, shape (3, 2) [m]; infinite for none.
        floor: lowest height of all points [m]; −∞ for none.
        all_have_geometry: whether all links have it in the model; else origins of frames serve.
    """

    tool: FramePlacement
    points: tuple[Array, ...]
    links: tuple[str, ...]
    box: Array
    floor: float
    all_have_geometry: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the limits, in the order of `shares`."""
        sides = (f"the {side} {axis} of the box" for axis in "xyz" for side in ("lower", "upper"))
        names = [side for side, x in zip(sides, self.box.flat, strict=True) if np.isfinite(x)]
        if np.isfinite(self.floor):
            names += [f"the floor under {link}" for link in self.links]
        return tuple(names)

    def describe_excess(self, limit: int, share: float) -> str:
        """Describe how far the start is beyond a limit, by its number in `names` and share."""
        excess = 1e3 * LIMIT_MARGIN * (share - 1.0)
        place = f"{excess:.0f} mm beyond it" if excess >= 1.0 else "on it"
        return f"{self.names[limit]}: the start is {place}. Choose another start or a wider limit"

    def remarks(self) -> Iterator[str]:
        """Yield sentences on the limits that hold."""
        if np.isfinite(self.box).any():
            sides = zip("xyz", self.box, strict=True)
            text = ", ".join(f"{axis} {low:g} to {high:g}" for axis, (low, high) in sides)
            yield f"The origin of the tool stays within {text} m of the base."
        if np.isfinite(self.floor):
            missing = (
                ""
                if self.all_have_geometry
                else ", of links without geometry only the origins of frames"
            )
            yield f"All moving links stay above z = {self.floor:g} m of the base{missing}."

    def tool_path(self, robot: RobotModel, q: Array) -> Vec3:
        """Return the position of the tool's origin in the base, shape (N, 3) [m]."""
        return self._tool_positions(link_poses(robot, q), len(q))

    def _tool_positions(self, links: Sequence[Pose], count: int) -> Vec3:
        if self.tool.link == BASE:
            return np.tile(self.tool.X_LF.position, (count, 1))
        link = links[self.tool.link]
        return link.position + link.rotation @ self.tool.X_LF.position

    def shares(self, robot: RobotModel, q: Array) -> Array:
        """Return 1 at each limit, 0 a tenth of a metre inside it, at least −1: (N, limits)."""
        if not self.names:
            return np.zeros((len(q), 0))
        links = link_poses(robot, q)
        inside = (self.box - self._tool_positions(links, len(q))[..., None]) * [-1.0, 1.0]
        distances = list(inside[:, np.isfinite(self.box)].T)
        if np.isfinite(self.floor):
            for link, points in zip(links, self.points, strict=True):
                heights = link.position[:, 2, None] + link.rotation[:, 2] @ points[:, :3].T
                distances.append((heights - points[:, 3]).min(axis=1, initial=np.inf) - self.floor)
        shares = 1.0 - np.stack(distances, axis=1) / LIMIT_MARGIN
        return np.maximum(shares, -1.0)  # far inside, where no gradient is needed


def reach_limits(
    robot: RobotModel,
    tool: FramePlacement,
    *,
    box: Array | None = None,
    floor: float = -np.inf,
    payload: InertialParameters | None = None,
) -> ReachLimits:
    """Return the limits in space, with the geometry of the links in the robot's file.

    A link without collision shapes has its visual ones; without any, or with meshes that are not
    found, the origins of its frames. The payload is a ball about its centre of mass.

    Raises `ProblemError`: a box whose lower side is not below the upper one.
    """
    sides = np.tile([-np.inf, np.inf], (3, 1)) if box is None else np.asarray(box, dtype=float)
    for axis, (low, high) in zip("xyz", sides, strict=True):
        if not low < high:
            raise ProblemError(
                f"box: expected a lower {axis} below the upper one, got {low:g} and {high:g}"
            )
    points: list[list[Array]] = [[] for _ in robot.tree]
    complete = _add_geometry(robot, points)
    for placement in robot.frames.values():
        if placement.link != BASE:
            points[placement.link].append(np.append(placement.X_LF.position, 0.0)[None])
    if payload is not None and tool.link != BASE:
        centre = tool.X_LF.rotation @ payload.com + tool.X_LF.position
        radius = default_radius(float(payload.mass))
        points[tool.link].append(np.append(centre, radius)[None])
    by_link = tuple(np.concatenate(each) if each else np.zeros((0, 4)) for each in points)
    return ReachLimits(tool, by_link, robot.links, sides, floor, complete)


def _add_geometry(robot: RobotModel, points: list[list[Array]]) -> bool:
    """Add the corners of the shapes of moving links; return whether all links have shapes."""
    document = read_xml(robot.path)
    with_shapes: set[int] = set()
    complete = True
    for link in document.root.find_all("link"):
        placement = robot.frames.get(link.attributes.get("name", ""))
        if placement is None or placement.link == BASE:
            continue
        shapes = tuple(Urdf().geometry(document, link))
        role = "collision" if any(shape.role == "collision" for shape in shapes) else "visual"
        for shape in shapes:
            if shape.role != role:
                continue
            try:
                corners = bounding_corners(shape, robot.path)
            except IdentifyError:
                complete = False
                continue
            corners = corners @ placement.X_LF.rotation.T + placement.X_LF.position
            points[placement.link].append(np.column_stack((corners, np.zeros(len(corners)))))
            with_shapes.add(placement.link)
    return complete and len(with_shapes) == len(robot.tree)
