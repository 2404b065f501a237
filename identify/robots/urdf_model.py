"""Reader of robots from URDF files, by Pinocchio.

Pinocchio builds the tree and merges the inertias of links that are fixed to each other or behind
locked joints; meshes are not read. Joint types, limits and `<mimic>` are taken from the XML, so
that errors have a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import as_array
from identify.errors import MissingExtra, ModelError, did_you_mean
from identify.exchange.models import detect_format
from identify.exchange.urdf import Urdf
from identify.exchange.xml_document import XmlDocument, XmlElement, read_xml
from identify.inertia import InertialParameters
from identify.robots.robot_model import FramePlacement, MovingLink, RobotModel
from identify.spatial import Pose
from identify.spatial.vectors import GRAVITY_W

_MOVABLE_TYPES = ("revolute", "continuous", "prismatic")
"""Types of URDF joints with one degree of freedom."""


_INFINITE = re.compile(r"[+-]?(inf(inity)?|1e\+?308)", re.I)
"""Pattern of a limit that is none."""

_UNUSED = frozenset(("limit", "dynamics", "safety_controller", "calibration"))
"""Elements of a joint that Pinocchio's model is built without."""


class _Mimic(NamedTuple):
    """Mimic joint of a URDF: position `multiplier` q + `offset`, q that of the joint `leader`."""

    leader: str
    multiplier: float
    offset: float


class _Limits(NamedTuple):
    """Limits of a joint; a velocity or effort limit of zero in the URDF means no limit."""

    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf

    @property
    def neutral(self) -> float:
        """Position within the limits that is nearest to zero."""
        return min(max(self.lower, 0.0), self.upper)


def read_robot(
    path: Path | str,
    joints: Sequence[str] | None = None,
    *,
    gravity: ArrayLike = GRAVITY_W,
    rest: Mapping[str, float] | None = None,
) -> RobotModel:
    """Read a robot from a URDF file.

    Joints of the file that are not in `joints` are locked at zero, or at the limit nearest to zero;
    joints that mimic another one follow it. Meshes are not read and may be missing.

    Args:
        path: the URDF file.
        joints: names of the joints in the order of the log; by default every joint that moves by
            itself, in the order of the file.
        gravity: g in axes of the robot's base, its root link [m/s²], shape (3,).
        rest: positions of joints that are locked, in place of zero, by name [rad or m].

    Raises:
        MissingFile: no such file.
        MissingExtra: Pinocchio is not installed.
        ModelError: not a URDF, a xacro file, a joint that the file does not have or that cannot be
            a joint of the log, or a floating, planar or spherical joint; with its line if it has
            one.
    """
    document = _read_document(Path(path))
    elements = _moving_joints(document)
    limits = {name: _limits_of_joint(document, joint) for name, joint in elements.items()}
    mimics = {name: _mimicked_joint(document, elements, name) for name in elements}
    names = _joints_of_log(document, elements, mimics, joints)
    rest = rest or {}
    if unknown := set(rest) - set(elements) | set(rest) & set(names):
        raise ModelError(
            f"{document.path}: rest: expected joints that are locked, got {', '.join(unknown)}"
        )
    locked = {
        name: mimic.multiplier * rest.get(mimic.leader, limits[mimic.leader].neutral) + mimic.offset
        for name, mimic in mimics.items()
        if mimic.leader not in names
    }
    try:
        pinocchio = import_module("pinocchio")
    except ImportError as error:
        raise MissingExtra("a robot from a URDF", "robots", "pin") from error
    model = _lock_joints(pinocchio, _build_model(pinocchio, document), locked)
    tree = _link_tree(pinocchio, model, elements, mimics, names)
    return RobotModel(
        path=document.path,
        joints=names,
        tree=tree,
        gravity=as_array(gravity, "gravity", (3,)),
        phi=np.array([InertialParameters.from_pinocchio(body).phi for body in model.inertias[1:]]),
        position_limits=np.array([limits[name][:2] for name in names]),
        velocity_limits=np.array([limits[name].velocity for name in names]),
        effort_limits=np.array([limits[name].effort for name in names]),
        locked=locked,
        frames=_frames(model),
    )


def _read_document(path: Path) -> XmlDocument:
    document = read_xml(path)
    form = detect_format(document)
    if not isinstance(form, Urdf):
        raise document.error(
            f"a robot is read from a URDF, and this is a {form.name.upper()} model", document.root
        )
    for entry in form.read(document):
        if entry.inertia.unreadable:
            problem = f"link {entry.inertia.name!r}: {entry.inertia.note}"
            raise document.error(problem, entry.inertial_element or entry.link_element)
    return document


def _moving_joints(document: XmlDocument) -> dict[str, XmlElement]:
    """Return the movable joints by name, in the order of the file."""
    moving: dict[str, XmlElement] = {}
    for joint in document.root.find_all("joint"):
        name, kind = joint.attributes.get("name", ""), joint.attributes.get("type")
        if kind in _MOVABLE_TYPES:
            if not name or name in moving:
                problem = "a joint without a name" if not name else f"a second joint {name!r}"
                raise document.error(problem, joint)
            moving[name] = joint
        elif kind != "fixed":
            known = ", ".join(_MOVABLE_TYPES)
            raise document.error(
                f"joint {name!r} has the type {kind!r}; expected fixed, {known}: the "
                "robot's base is at rest and each joint has one position",
                joint,
            )
    if not moving:
        raise document.error("the URDF has no joint that moves", document.root)
    return moving


def _mimicked_joint(document: XmlDocument, elements: Mapping[str, XmlElement], name: str) -> _Mimic:
    """Return the joint that a joint mimics, or the joint itself if it mimics none."""
    leader = name
    multiplier = 1.0
    offset = 0.0
    visited: list[str] = []
    while (mimic := elements[leader].find("mimic")) is not None:
        visited.append(leader)
        factor, shift = (
            float(document.attribute_numbers(mimic, key, 1, default).values[0])
            for key, default in (("multiplier", "1"), ("offset", "0"))
        )
        multiplier, offset = multiplier * factor, offset + multiplier * shift
        leader = mimic.attributes.get("joint", "")
        if leader not in elements or leader in visited:
            raise document.error(f"joint {name!r} mimics {leader!r}, which does not move", mimic)
    return _Mimic(leader, multiplier, offset)


def _joints_of_log(
    document: XmlDocument,
    elements: Mapping[str, XmlElement],
    mimics: Mapping[str, _Mimic],
    joints: Sequence[str] | None,
) -> tuple[str, ...]:
    """Return the joints of the log, or by default all joints that mimic no other."""
    if joints is None:
        return tuple(name for name in elements if mimics[name].leader == name)
    unknown = [name for name in joints if name not in elements]
    if unknown:
        unnamed = [name for name in elements if name not in joints]
        hint = did_you_mean(unknown[0], unnamed) if len(unknown) == 1 else ""
        raise ModelError(
            f"{document.path}: no moving joint {', '.join(map(repr, unknown))}; write those of the "
            f"URDF in `names` of [joints], in the order of the columns: {', '.join(elements)}{hint}"
        )
    for name in joints:
        if mimics[name].leader != name:
            raise document.error(
                f"joint {name!r} follows {mimics[name].leader!r} by <mimic>; leave it out",
                elements[name],
            )
    if not joints or len(set(joints)) < len(joints):
        raise ModelError(f"joints: expected different names, got {list(joints)}")
    return tuple(joints)


def _limits_of_joint(document: XmlDocument, joint: XmlElement) -> _Limits:
    """Return the limits of a joint; a range of zero about zero is that of exporters without one."""
    limit = joint.find("limit")
    if limit is None:
        return _Limits()
    lower, upper, velocity, effort = (
        _limit(document, limit, key) for key in ("lower", "upper", "velocity", "effort")
    )
    if joint.attributes["type"] == "continuous" or lower == upper == 0.0:
        lower, upper = -np.inf, np.inf
    if lower > upper:
        problem = f"joint {joint.attributes['name']!r} has limits from {lower:g} to {upper:g}"
        raise document.error(f"{problem}; expected a lower below an upper", limit)
    return _Limits(lower, upper, velocity or np.inf, effort or np.inf)


def _limit(document: XmlDocument, limit: XmlElement, key: str) -> float:
    """Return a limit, which may be infinite as programs write it."""
    text = limit.attributes.get(key, "0").strip()
    if _INFINITE.fullmatch(text):
        return -np.inf if text.startswith("-") else np.inf
    return float(document.attribute_numbers(limit, key, 1, "0").values[0])


def _build_model(pinocchio: Any, document: XmlDocument) -> Any:
    try:
        return pinocchio.buildModelFromXML(_with_plain_limits(document.root))
    except (RuntimeError, ValueError) as error:
        raise document.error(
            f"Pinocchio cannot build the robot ({str(error).strip()}); check that each joint has "
            "a parent and a child link, and that all links are connected to one root",
            document.root,
        ) from error


def _with_plain_limits(element: XmlElement) -> str:
    """Return the URDF with limits that Pinocchio's parser takes, and without friction.

    It refuses joints without limits or with infinite ones, which other programs take, and empty
    dynamics; the limits are read here.
    """
    children = [_with_plain_limits(each) for each in element.children if each.tag not in _UNUSED]
    if element.tag == "joint":
        children.append('<limit lower="-1" upper="1" effort="1" velocity="1"/>')
    attributes = "".join(f" {name}={quoteattr(text)}" for name, text in element.attributes.items())
    return f"<{element.tag}{attributes}>{''.join(children)}</{element.tag}>"


def _lock_joints(pinocchio: Any, model: Any, locked: Mapping[str, float]) -> Any:
    """Return the model with some joints locked, and the locked positions by name."""
    positions = pinocchio.neutral(model)
    for name, value in locked.items():
        joint = model.joints[model.getJointId(name)]
        # Pinocchio has cosine and sine of joints without limits.
        exact = [np.cos(value), np.sin(value)] if joint.nq == 2 else [value]
        positions[joint.idx_q : joint.idx_q + joint.nq] = exact
    if not locked:
        return model
    return pinocchio.buildReducedModel(model, [model.getJointId(n) for n in locked], positions)


def _link_tree(
    pinocchio: Any,
    model: Any,
    elements: Mapping[str, XmlElement],
    mimics: Mapping[str, _Mimic],
    names: tuple[str, ...],
) -> tuple[MovingLink, ...]:
    """Return the moving links behind the joints of Pinocchio's model, whose index 0 is the base."""
    data = model.createData()
    pinocchio.forwardKinematics(model, data, pinocchio.neutral(model))
    links: list[MovingLink] = []
    for index, name in enumerate(model.names[1:], start=1):
        mimic, screw = mimics[name], np.array(data.joints[index].S, dtype=np.float64).ravel()
        child, placement = elements[name].find("child"), model.jointPlacements[index]
        link = MovingLink(
            child.attributes["link"] if child is not None else name,
            model.parents[index] - 1,
            names.index(mimic.leader),
            Pose(placement.rotation, placement.translation),
            screw[:3] + screw[3:],
            bool(screw[:3].any()),
            mimic.multiplier,
            mimic.offset,
        )
        links.append(link)
    return tuple(links)


def _frames(model: Any) -> dict[str, FramePlacement]:
    """Return the frames of a model by name; a link takes precedence over a joint of its name."""
    frames = sorted(model.frames, key=lambda frame: str(frame.type) == "BODY")
    return {
        frame.name: FramePlacement(
            frame.parentJoint - 1, Pose(frame.placement.rotation, frame.placement.translation)
        )
        for frame in frames
        if frame.name != "universe"
    }
