"""Reader of stages of OpenUSD: the bodies and joints of UsdPhysics.

Bodies are prims with `PhysicsRigidBodyAPI`, and prims outside of those with `PhysicsMassAPI`. Only
properties that a prim states are read: programs compute the others from its collision shapes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from identify.errors import ModelError
from identify.exchange.link_inertia import LinkInertia, unit_note
from identify.exchange.model_format import LinkJoint
from identify.exchange.xml_document import ModelFileError
from identify.files import require_file
from identify.inertia.conventions.axes import rotation_from_wxyz
from identify.inertia.conventions.usd import (
    StageUnits,
    center_of_mass,
    import_usd,
    newton_inertia,
    principal_inertia,
    rigid_pose,
    stage_units,
)
from identify.inertia.matrices import phi_from_inertia
from identify.spatial import Pose

USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
"""Suffixes of stages of OpenUSD."""

_SAME_INERTIA = 1e-5
"""Largest relative difference of two forms of an inertia, of which one is in single precision."""

_MESSAGE = re.compile(r" : '(.*)'")
"""Pattern of the message in an error of OpenUSD."""


class StageBodies(NamedTuple):
    """Bodies of a stage.

    Attributes:
        links: in the order of the stage, by the name of the prim, or its path if names repeat.
        joints: of bodies with a parent, by name.
        notes: on the stage.
    """

    links: tuple[LinkInertia, ...]
    joints: Mapping[str, LinkJoint]
    notes: tuple[str, ...]


def read_stage(path: Path) -> StageBodies:
    """Read the bodies of a stage, and the joints between them.

    Raises `MissingFile`: no such file; `MissingExtra`: OpenUSD is not installed; `ModelFileError`:
    it cannot open the file.
    """
    require_file(path)
    usd, geometry, physics = import_usd("Usd", "UsdGeom", "UsdPhysics")
    try:
        stage = usd.Stage.Open(str(path))
    except RuntimeError as error:
        message = _MESSAGE.search(str(error))
        problem = f"OpenUSD cannot open it: {message[1] if message else error}"
        raise ModelFileError(problem, path=path) from error
    units = stage_units(stage)
    notes = [f"not read: {error}" for error in stage.GetCompositionErrors()]
    if not geometry.StageHasAuthoredMetersPerUnit(stage):
        notes.append(f"no metersPerUnit: OpenUSD takes {units.length:g} m for the unit of lengths")
    predicate = usd.TraverseInstanceProxies(
        usd.PrimIsActive & usd.PrimIsLoaded & ~usd.PrimIsAbstract
    )
    prims = list(usd.PrimRange.Stage(stage, predicate))
    bodies = {str(prim.GetPath()): prim for prim in prims if prim.HasAPI(physics.RigidBodyAPI)}
    for prim in prims:
        if prim.HasAPI(physics.MassAPI) and _path_of_body(prim, bodies) is None:
            bodies[str(prim.GetPath())] = prim
    colliders = {_path_of_body(prim, bodies) for prim in prims if prim.HasAPI(physics.CollisionAPI)}
    repeated = Counter(prim.GetName() for prim in bodies.values())
    names = {
        path: prim.GetName() if repeated[prim.GetName()] == 1 else path
        for path, prim in bodies.items()
    }
    links = (_read_link(names[at], prim, units, at in colliders) for at, prim in bodies.items())
    joints = dict(_read_joints(stage, prims, bodies, names, units))
    return StageBodies(tuple(links), joints, tuple(notes))


def _path_of_body(prim: Any, bodies: Mapping[str, Any]) -> str | None:
    """Return the path of the body that a prim is part of; None for none."""
    while prim and str(prim.GetPath()) not in bodies:
        prim = prim.GetParent()
    return str(prim.GetPath()) if prim else None


def _read_link(name: str, prim: Any, units: StageUnits, has_shapes: bool) -> LinkInertia:
    (physics,) = import_usd("UsdPhysics")
    mass = units.mass * float(physics.MassAPI(prim).GetMassAttr().Get() or 0.0)
    com, inertia, notes = center_of_mass(prim, units), principal_inertia(prim, units), []
    try:
        preferred = newton_inertia(prim, units)
    except ModelError as error:
        return LinkInertia(name, note=str(error), unreadable=True)
    if preferred is not None:
        if inertia is not None:
            off = np.abs(inertia - preferred).max() / max(np.abs(preferred).max(), 1e-300)
            text = f"its moments differ from newton:inertia by {100.0 * off:.3g} %"
            notes += [text] if off > _SAME_INERTIA else []
        inertia = preferred
    if com is None and not has_shapes:
        com = np.zeros(3)
    if mass == 0.0 and inertia is None and not has_shapes:
        return LinkInertia(name, massless=True)
    parts = {"mass": mass == 0.0, "inertia": inertia is None, "centre of mass": com is None}
    if missing := ", ".join(part for part, is_missing in parts.items() if is_missing):
        source = "programs take it from its shapes" if has_shapes else "and it has no shapes"
        notes.append(f"no {missing} is written, {source}")
    if mass == 0.0 or inertia is None:
        return LinkInertia(name, note="; ".join(notes))
    printed = phi_from_inertia(mass, np.zeros(3), inertia)
    errors = np.where(printed == 0.0, 0.0, np.abs(inertia).max())
    errors[0] = abs(mass)
    return LinkInertia(
        name,
        phi=None if com is None else phi_from_inertia(mass, com, inertia),
        printed=printed,
        rounding_errors=0.5 * np.finfo(np.float32).eps * errors,
        note="; ".join(filter(None, (*notes, unit_note(printed, None)))),
    )


def _read_joints(
    stage: Any,
    prims: list[Any],
    bodies: Mapping[str, Any],
    names: Mapping[str, str],
    units: StageUnits,
) -> Iterator[tuple[str, LinkJoint]]:
    """Yield joints by name of the child; those of a body's tree after those that close a loop."""
    geometry, physics = import_usd("UsdGeom", "UsdPhysics")
    cache = geometry.XformCache()

    def frame_in_body(relation: Any, side: int) -> tuple[str, Pose] | None:
        """Return the body of one side of a joint, and the pose of the joint's frame in it."""
        target = next(map(stage.GetPrimAtPath, relation.GetTargets()), None)
        path = _path_of_body(target, bodies)
        if target is None or path is None:
            return None
        position, q = (
            relation.GetPrim().GetAttribute(f"physics:local{part}{side}").Get()
            for part in ("Pos", "Rot")
        )
        to_world = cache.GetLocalToWorldTransform(target)
        R_WT = rigid_pose(to_world, units.length).rotation
        R_TJ = rotation_from_wxyz([q.GetReal(), *q.GetImaginary()])
        p_WJ = units.length * np.array(to_world.Transform(position))
        X_WB = rigid_pose(cache.GetLocalToWorldTransform(bodies[path]), units.length)
        return names[path], X_WB.inverse() @ Pose(R_WT @ R_TJ, p_WJ)

    joints = [joint for prim in prims if (joint := physics.Joint(prim))]
    for joint in sorted(joints, key=lambda joint: not joint.GetExcludeFromArticulationAttr().Get()):
        parent = frame_in_body(joint.GetBody0Rel(), 0)
        child = frame_in_body(joint.GetBody1Rel(), 1)
        if parent and child and joint.GetJointEnabledAttr().Get():
            X_PC = parent[1] @ child[1].inverse()
            is_fixed = joint.GetPrim().IsA(physics.FixedJoint)
            yield child[0], LinkJoint(parent[0], is_fixed, lambda X=X_PC: X)
