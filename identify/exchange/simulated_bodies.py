"""Bodies that programs simulate for the links of a model, by rules of our own.

The rules were measured with MuJoCo 4.0.0, Drake 1.51.1, Pinocchio 4.1.0, PyBullet 3.2.7
(`URDF_USE_INERTIA_FROM_FILE`), DART 6.20.0 and Newton 1.8.0; Gazebo's are those of its libsdformat,
in Drake. The tests repeat those of installed programs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from identify.arrays import Phi
from identify.errors import ModelError
from identify.exchange.link_geometry import inertia_from_shapes
from identify.exchange.model_format import (
    LinkEntry,
    LinkJoint,
    ModelFormat,
    first_of_fixed_groups,
)
from identify.exchange.mujoco_compiler import MujocoCompiler
from identify.exchange.simulators import SIMULATORS
from identify.exchange.xml_document import XmlDocument
from identify.inertia import in_frame
from identify.inertia.conventions.mass_properties import InertialFrame, inertial_frame
from identify.inertia.matrices import inertia_about_com, phi_from_inertia
from identify.inertia.parameters import DEFAULT_DENSITY
from identify.spatial import Pose

UNIT_BODY = phi_from_inertia(1.0, np.zeros(3), np.eye(3))
"""A kilogram with 1 kg m² about each axis, which programs give links without `<inertial>`."""


class SimulatedBody(NamedTuple):
    """Body that a program simulates for a link.

    Attributes:
        phi: ten parameters about the link's origin in its axes, shape (10,); zeros without a mass;
            None if it has no body of its own, or an unknown one.
        changes: what the program changes, a sentence part each.
        judged: body of the link that it judges in place of the numbers in the file, shape (10,);
            None if it judges those.
    """

    phi: Phi | None
    changes: tuple[str, ...] = ()
    judged: Phi | None = None


@dataclass(frozen=True, slots=True)
class LinkedModel:
    """Links of a model file with their joints.

    Attributes:
        document: the file.
        form: its format.
        entries: of the links, in the order of the file.
        joints: of links with a parent, by name.
    """

    document: XmlDocument
    form: ModelFormat
    entries: Sequence[LinkEntry]
    joints: Mapping[str, LinkJoint]

    @classmethod
    def of_document(cls, document: XmlDocument, form: ModelFormat) -> LinkedModel:
        """Read the links and joints of a document."""
        entries = form.read(document)
        return cls(document, form, entries, form.joints(document, entries))

    def phi_in_file(self, entry: LinkEntry) -> Phi | None:
        """Return the body of a link by the rules of its format; zeros without a mass."""
        if not entry.inertia.massless:
            return entry.inertia.phi
        by_default = self.form.name == "sdf" and entry.inertial_element is None
        return UNIT_BODY if by_default else np.zeros(10)

    def collision_body(self, entry: LinkEntry) -> SimulatedBody:
        """Return the collision shapes of a link at 1000 kg/m³."""
        shapes = [
            shape
            for shape in self.form.geometry(self.document, entry.link_element)
            if shape.role == "collision"
        ]
        if not shapes:
            return SimulatedBody(np.zeros(10))
        try:
            shape = inertia_from_shapes(shapes, self.document.path)
        except ModelError as error:
            return SimulatedBody(None, (f"it takes the body of its collision shapes: {error}",))
        change = f"it fills {shape.description} with {DEFAULT_DENSITY:g} kg/m³"
        return SimulatedBody(DEFAULT_DENSITY * shape.phi, (change,))


def _mujoco(model: LinkedModel) -> dict[str, SimulatedBody]:
    """Return bodies as MuJoCo compiles them."""
    compiler = MujocoCompiler.of_document(model.document)
    bodies = _mujoco_before_scaling(model, compiler)
    if model.form.name == "mjcf":  # its reader scales
        return bodies
    factor = _total_mass_factor(compiler, bodies)
    return {name: _scaled(body, factor) for name, body in bodies.items()}


def _total_mass_factor(compiler: MujocoCompiler, bodies: Mapping[str, SimulatedBody]) -> float:
    masses = [float(body.phi[0]) for body in bodies.values() if body.phi is not None]
    return compiler.scale(sum(masses))


def _scaled(body: SimulatedBody, factor: float) -> SimulatedBody:
    """Return a body scaled to the total mass of its model."""
    if factor == 1.0 or body.phi is None or not body.phi.any():
        return body
    change = f"settotalmass scales mass and inertia by {factor:.6g}"
    return body._replace(phi=factor * body.phi, changes=(*body.changes, change))


def _mujoco_before_scaling(
    model: LinkedModel, compiler: MujocoCompiler
) -> dict[str, SimulatedBody]:
    bodies: dict[str, SimulatedBody] = {}
    by_shapes: set[str] = set()
    changed: set[str] = set()
    for entry in model.entries:
        name = entry.inertia.name
        if model.form.name == "mjcf":  # as its reader compiled it
            body = model.phi_in_file(entry)
            is_by_shapes = entry.inertia.printed is None and not entry.inertia.massless
            bodies[name] = SimulatedBody(body, (), body if compiler.changes_inertias else None)
            is_changed = "<compiler> " in entry.inertia.note
        else:
            shapes = _mujoco_shapes(model, entry, compiler)
            bodies[name], is_changed = _mujoco_body(model, entry, compiler, shapes)
            is_by_shapes = shapes is not None
        by_shapes |= {name} if is_by_shapes else set()
        changed |= {name} if is_changed else set()
    if compiler.fuses_static:
        if compiler.inertia_from_geoms == "true":
            bodies = _by_shapes_of_group(model, bodies, by_shapes, changed)
        else:
            changed = set()
        with_joints = {
            entry.inertia.name
            for entry in model.entries
            if any(child.tag in ("joint", "freejoint") for child in entry.link_element.children)
        }
        bodies = _fused(model.joints, bodies, moving_roots=with_joints, apart=changed)
    return bodies


def body_in_own_program(
    document: XmlDocument, form: ModelFormat, entry: LinkEntry
) -> SimulatedBody:
    """Return the body of a link, without others fixed to it, in the program that a file is for.

    This is MuJoCo for MJCF and for a URDF with `<mujoco>`; for other files the body is as written.
    """
    if form.name != "urdf" or document.root.find("mujoco") is None:
        return SimulatedBody(entry.inertia.phi)
    model = LinkedModel.of_document(document, form)
    compiler = MujocoCompiler.of_document(document)
    body, _ = _mujoco_body(model, entry, compiler, _mujoco_shapes(model, entry, compiler))
    bodies = _mujoco_before_scaling(model, compiler)
    return _scaled(body, _total_mass_factor(compiler, bodies))


def _mujoco_shapes(
    model: LinkedModel, entry: LinkEntry, compiler: MujocoCompiler
) -> SimulatedBody | None:
    """Return the shapes of a link of a URDF, filled, if MuJoCo takes its inertia from them."""
    never = compiler.inertia_from_geoms == "false"
    explicit = compiler.inertia_from_geoms == "auto" and entry.inertial_element is not None
    if never or explicit or not compiler.groups[0] <= 0.0 <= compiler.groups[1]:
        return None
    shapes = model.collision_body(entry)
    return None if shapes.phi is not None and not shapes.phi.any() else shapes


def _mujoco_body(
    model: LinkedModel,
    entry: LinkEntry,
    compiler: MujocoCompiler,
    shapes: SimulatedBody | None,
) -> tuple[SimulatedBody, bool]:
    """Return the body that MuJoCo makes of one link of a URDF, and whether it changes its numbers.

    Bodies are not fused here. A negative mass counts as zero; the centre of mass of a link without
    mass is its position in its parent.
    """
    if shapes is not None and shapes.phi is None:
        return shapes, False
    changes: tuple[str, ...] = () if shapes is None else shapes.changes
    if shapes is not None and shapes.phi is not None:
        frame = inertial_frame(shapes.phi, "shapes")
    elif entry.frame is not None:
        frame = entry.frame._replace(mass=np.maximum(entry.frame.mass, 0.0))
    elif entry.inertia.massless:
        joint = model.joints.get(entry.inertia.name)
        X = Pose.identity() if joint is None else joint.read_pose()
        frame = InertialFrame(np.array(0.0), X, np.zeros((3, 3)))
    else:
        return SimulatedBody(None), False
    phi, further = compiler.compiled(frame)
    is_negative = entry.frame is not None and shapes is None and bool(entry.frame.mass < 0.0)
    changes = (*changes, *further)
    return SimulatedBody(phi, changes, phi if changes else None), bool(further) or is_negative


def _by_shapes_of_group(
    model: LinkedModel,
    bodies: Mapping[str, SimulatedBody],
    by_shapes: set[str],
    changed: set[str],
) -> dict[str, SimulatedBody]:
    """Drop inertias that are lost where fused bodies always have the inertia of their geoms."""
    first = first_of_fixed_groups(bodies, model.joints)
    with_shapes = {first[name] for name in by_shapes}
    apart = {first[name] for name in changed}
    return {
        name: body
        if name in by_shapes
        or first[name] in apart
        or (first[name] == name and name not in with_shapes)
        else SimulatedBody(np.zeros(10), ("it counts by its geoms alone",), body.judged)
        for name, body in bodies.items()
    }


def _fused(
    joints: Mapping[str, LinkJoint],
    bodies: Mapping[str, SimulatedBody],
    *,
    moving_roots: Collection[str] = (),
    apart: Collection[str] = (),
) -> dict[str, SimulatedBody]:
    """Add links that are fixed to a link to its body; those fixed to the world have none.

    A group stays `apart` with one of these links in it.
    """
    first = first_of_fixed_groups(bodies, joints)
    groups_apart = {first[name] for name in apart}
    moving = {name for name, joint in joints.items() if not joint.fixed} | set(moving_roots)
    fused: dict[str, SimulatedBody] = {}
    for name, body in bodies.items():
        group = first[name]
        if group not in moving:
            reason = "it is fixed to the world, and has no body"
            fused[name] = SimulatedBody(None, (reason,), body.judged)
        elif group in groups_apart:
            fused[name] = body
        elif group != name:
            fused[name] = SimulatedBody(None, (f"it is part of {group!r}",), body.judged)
        else:
            members = [other for other in bodies if first[other] == name]
            added = [(other, _added_to(name, other, joints, bodies)) for other in members]
            if any(phi is None for _, phi in added):
                reason = "a body that is fixed to it is not known"
                fused[name] = SimulatedBody(None, (*body.changes, reason), body.judged)
                continue
            names = [
                other for other, phi in added if other != name and phi is not None and phi.any()
            ]
            change = (f"it includes {', '.join(names)}",) if names else ()
            total = np.sum([phi for _, phi in added if phi is not None], axis=0)
            phi = total if names else body.phi
            fused[name] = SimulatedBody(phi, (*body.changes, *change), body.judged)
    return fused


def fused_bodies(
    joints: Mapping[str, LinkJoint], bodies: Mapping[str, SimulatedBody]
) -> tuple[Mapping[str, str], dict[str, SimulatedBody]]:
    """Return the first link of each link's fixed group, and the bodies of groups, static or not."""
    roots = bodies.keys() - joints.keys() - {"world"}
    return first_of_fixed_groups(bodies, joints), _fused(joints, bodies, moving_roots=roots)


def _added_to(
    first: str, name: str, joints: Mapping[str, LinkJoint], bodies: Mapping[str, SimulatedBody]
) -> Phi | None:
    """Return the body of a link in the frame of the first link of its group."""
    phi, X = bodies[name].phi, Pose.identity()
    while name != first:
        joint = joints[name]
        X, name = joint.read_pose() @ X, joint.parent
    return None if phi is None else in_frame(phi, X)


def _drake(model: LinkedModel) -> dict[str, SimulatedBody]:
    """Return bodies as Drake reads them: a ball of water for an inertia that it refuses."""

    def body(entry: LinkEntry) -> SimulatedBody:
        phi = model.phi_in_file(entry)
        refused = any(SIMULATORS["drake"].refusals(entry.inertia))
        if phi is None or not phi.any() or not refused:
            return SimulatedBody(phi)
        mass = float(phi[0]) if phi[0] > 0.0 else 1.0
        com = entry.frame.X_BC.position if entry.frame is not None else np.zeros(3)
        radius = np.cbrt(3.0 * mass / (4.0 * np.pi * DEFAULT_DENSITY))
        ball = phi_from_inertia(mass, com, 0.4 * mass * radius**2 * np.eye(3))
        return SimulatedBody(ball, (f"it takes a ball of water of {mass:.6g} kg",))

    return {entry.inertia.name: body(entry) for entry in model.entries}


def _pinocchio(model: LinkedModel) -> dict[str, SimulatedBody]:
    """Return bodies as Pinocchio adds them to its joints, with those fixed to them."""
    return _fused(model.joints, _as_written(model))


def _gazebo(model: LinkedModel) -> dict[str, SimulatedBody]:
    """Return bodies as Gazebo reads them; of a URDF, fixed links become part of their parents."""
    bodies = _as_written(model)
    return bodies if model.form.name == "sdf" else fused_bodies(model.joints, bodies)[1]


def _with_unit_body(model: LinkedModel) -> dict[str, SimulatedBody]:
    """Return bodies of programs that give links without `<inertial>` a kilogram."""
    change = "a link without <inertial> gets 1 kg and 1 kg m² about each axis"
    return {
        entry.inertia.name: SimulatedBody(UNIT_BODY, (change,))
        if entry.inertial_element is None and entry.inertia.massless
        else SimulatedBody(model.phi_in_file(entry))
        for entry in model.entries
    }


def _bullet(model: LinkedModel) -> dict[str, SimulatedBody]:
    """Return bodies as Bullet reads them: an inertia with A + B < C becomes zero."""
    bodies = _with_unit_body(model)
    for entry in model.entries:
        phi = model.phi_in_file(entry)
        if phi is not None and phi[0] > 0.0 and any(SIMULATORS["bullet"].refusals(entry.inertia)):
            point = phi_from_inertia(phi[0], phi[1:4] / phi[0], np.zeros((3, 3)))
            bodies[entry.inertia.name] = SimulatedBody(point, ("it sets the inertia to zero",))
    return bodies


def _newton(model: LinkedModel) -> dict[str, SimulatedBody]:
    """Return bodies as Newton reads them: shapes without `<inertial>`, deficits on all axes."""

    def body(entry: LinkEntry) -> SimulatedBody:
        body = SimulatedBody(model.phi_in_file(entry))
        if entry.inertial_element is None and model.form.name == "urdf":
            body = model.collision_body(entry)
        phi = body.phi
        if phi is None or not phi.any():
            return body
        if not phi[0] > 0.0:
            return SimulatedBody(np.zeros(10), (f"a mass of {phi[0]:.6g} kg becomes none",))
        if not any(SIMULATORS["newton"].refusals(entry.inertia)):
            return body
        inertia = inertia_about_com(phi)
        a, b, c = np.linalg.eigvalsh(inertia).tolist()
        excess = c - b - a
        raised = inertia + excess * np.eye(3)
        change = f"it adds {excess:.6g} kg m², by which C exceeds A + B, to each moment"
        return SimulatedBody(phi_from_inertia(phi[0], phi[1:4] / phi[0], raised), (change,))

    return {entry.inertia.name: body(entry) for entry in model.entries}


def _as_written(model: LinkedModel) -> dict[str, SimulatedBody]:
    return {entry.inertia.name: SimulatedBody(model.phi_in_file(entry)) for entry in model.entries}


_RULES: Mapping[str, Callable[[LinkedModel], dict[str, SimulatedBody]]] = MappingProxyType(
    {
        "mujoco": _mujoco,
        "drake": _drake,
        "gazebo": _gazebo,
        "dart": _with_unit_body,
        "pinocchio": _pinocchio,
        "bullet": _bullet,
        "newton": _newton,
    }
)
"""Rules by name of the program, as in `SIMULATORS`."""


def simulated_bodies(
    document: XmlDocument, form: ModelFormat, program: str
) -> dict[str, SimulatedBody]:
    """Return the body that a program simulates for each link, by name of the link.

    `program` is a name in `SIMULATORS`. MJCF has rules for MuJoCo only: of others the result is
    empty. Raises `ModelFileError`: as the reader of the format.
    """
    if form.name == "mjcf" and program != "mujoco":
        return {}
    return _RULES[program](LinkedModel.of_document(document, form))
