"""Bodies of models in memory: MuJoCo's MjSpec, Pinocchio's Model, a stage of OpenUSD.

Each is written with every field that its program prefers to another, so that the body simulated and
the body saved are the same. None of these programs is imported here: the type of the model tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from identify.arrays import Phi
from identify.documents import lookup
from identify.errors import ModelError
from identify.inertia.conventions import tools
from identify.inertia.conventions.usd import write_mass
from identify.inertia.frames import phi_in_frame
from identify.spatial import Pose


def apply_body(phi: Phi, model: Any, name: str) -> None:
    """Write a body into a model in memory, in the frame of the body of that name.

    Raises `ModelError`: a model of another program, no such body, or a setting of the model by
    which it would ignore or change the numbers.
    """
    kind = type(model)
    write = _WRITERS.get((kind.__module__.partition(".")[0], kind.__name__))
    if write is None:
        raise ModelError(
            f"a body cannot be written to a {kind.__module__}.{kind.__name__}; expected an MjSpec "
            "(compile it afterwards), a pinocchio.Model, or a Usd.Stage. For PyBullet write the "
            "URDF (identify export --into): it cannot move the centre of mass of a loaded body"
        )
    write(phi, model, name)


def _apply_to_spec(phi: Phi, spec: Any, name: str) -> None:
    body = lookup({body.name: body for body in spec.bodies}, name, "body", ModelError)
    if int(spec.compiler.inertiafromgeom) == 1:
        raise ModelError(
            "the compiler of this MjSpec has inertiafromgeom 'true', by which it ignores every "
            "inertial: set spec.compiler.inertiafromgeom to 2 (auto)"
        )
    if spec.compiler.settotalmass > 0.0:
        raise ModelError(
            f"the compiler of this MjSpec scales all masses to {spec.compiler.settotalmass:g} kg: "
            "set spec.compiler.settotalmass to -1"
        )
    tools.to_mujoco(phi, body)


def _apply_to_pinocchio(phi: Phi, model: Any, name: str) -> None:
    """Exchange a link's body in the inertia of its joint, and in the frame that keeps it.

    Pinocchio's reader of URDF keeps the inertia of a link on a fixed joint in the frame of that
    joint; that of a moving link is what the frames on its joint leave of the joint's inertia.
    """
    pinocchio = import_module("pinocchio")
    bodies = {frame.name: frame for frame in model.frames if frame.type == pinocchio.BODY}
    body = lookup(bodies, name, "body frame", ModelError)
    X_JB, total = _placement(body), tools.from_pinocchio(model.inertias[body.parentJoint])
    mount = model.frames[body.parentFrame]
    keeper = mount if mount.type == pinocchio.FIXED_JOINT else body
    if keeper is mount or body.inertia.mass != 0.0:
        X_KB = _placement(keeper).inverse() @ X_JB
        earlier = phi_in_frame(tools.from_pinocchio(keeper.inertia), _placement(keeper))
        keeper.inertia = tools.to_pinocchio(phi_in_frame(phi, X_KB))
    else:
        others = [frame for frame in model.frames if frame.parentJoint == body.parentJoint]
        earlier = total - sum(
            phi_in_frame(tools.from_pinocchio(frame.inertia), _placement(frame)) for frame in others
        )
    carried = total - earlier + phi_in_frame(phi, X_JB)
    model.inertias[body.parentJoint] = tools.to_pinocchio(carried)


def _placement(frame: Any) -> Pose:
    """Return the pose of a frame of Pinocchio in its joint."""
    return Pose(frame.placement.rotation, frame.placement.translation)


_WRITERS: Mapping[tuple[str, str], Callable[[Phi, Any, str], None]] = MappingProxyType(
    {
        ("mujoco", "MjSpec"): _apply_to_spec,
        ("pinocchio", "Model"): _apply_to_pinocchio,
        ("pxr", "Stage"): write_mass,
    }
)
"""Functions that write a body, by package and type of the model."""
