"""The URDF of an arm with fitted links, in place of the inertias that it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from identify.arms.columns import FRICTION, FURTHER_FRICTION, ROTOR_INERTIA
from identify.arms.fitted_arm import FittedArm
from identify.arms.saved_arm import SavedArm
from identify.arrays import Array, Phi
from identify.exchange import read_model, rewrite_model
from identify.exchange.rewriting import RewrittenModel
from identify.exchange.xml_document import Edit, apply_edits, insertion_edit, parse_xml
from identify.inertia import InertialParameters, pseudo_inertia
from identify.robots import RobotModel

_KEPT_INERTIA_SHARE = 0.5
"""Share of the largest consistent inertia of fixed links that they keep, if they have more."""


class JointDynamics(NamedTuple):
    """Friction and rotor inertia of joints, as simulators take them.

    Attributes:
        damping: viscous friction [N m s/rad or N s/m], shape (n,).
        friction: Coulomb friction [N m or N], shape (n,).
        armature: inertia of the rotor with its gear about the joint's axis [kg m² or kg], (n,).
        left_out: names of friction that models have no place for.
    """

    damping: Array
    friction: Array
    armature: Array
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, arm: FittedArm | SavedArm) -> JointDynamics:
        """Return those of a fitted arm, friction of its first run.

        What motors of several joints, such as those of a coupled wrist, add is left out.
        """
        scalars = arm.scalars.items()
        numbers = {n: value[0] if isinstance(value, tuple) else value for n, value in scalars}
        kinds = (*FRICTION[:2], ROTOR_INERTIA)
        values = (np.array([numbers[f"{j} {kind}"] for j in arm.joints]) for kind in kinds)
        further = (name for name in numbers for kind in FURTHER_FRICTION if f" {kind}" in name)
        return cls(*values, left_out=tuple(further))


def fitted_model(
    robot: RobotModel, links: Phi, dynamics: JointDynamics | None = None
) -> RewrittenModel:
    """Return the URDF of a robot with the inertias of fitted links, and all else as it is.

    A moving link of the fit includes the links that are fixed to it, or behind joints that the log
    lacks. These keep their inertias, which are subtracted from the fitted one. Where more is fixed
    to a link than was fitted, they are scaled down, so that every link is physically consistent.

    Args:
        robot: as it was read from its file.
        links: ten parameters of each moving link about its origin in its axes, shape (L, 10).
        dynamics: friction for `<dynamics>` of the joints; a URDF has no place for the rotors.

    Raises:
        MissingFile: the file of the robot no longer exists.
        ModelError: the file cannot be written to.
    """
    fixed = _fixed_links(robot)
    bodies: dict[str, Array] = {}
    for number, (name, phi) in enumerate(zip(robot.links, links, strict=True)):
        parts = {part: in_link for part, (link, in_link, _) in fixed.items() if link == number}
        rest = np.sum([np.zeros(10), *parts.values()], axis=0)
        share = _consistent_share(phi, rest)
        bodies[name] = phi - share * rest
        if share < 1.0:
            bodies.update({part: share * fixed[part][2] for part in parts})
    model = rewrite_model(robot.path, bodies)
    return model if dynamics is None else _with_friction(model, robot, dynamics)


def _with_friction(
    model: RewrittenModel, robot: RobotModel, dynamics: JointDynamics
) -> RewrittenModel:
    document = parse_xml(model.content, robot.path)
    elements = {each.attributes.get("name"): each for each in document.root.find_all("joint")}
    edits = []
    for name, damping, friction in zip(robot.joints, *dynamics[:2], strict=True):
        text = f'<dynamics damping="{damping:.9g}" friction="{friction:.9g}"/>'
        if (old := elements[name].find("dynamics")) is not None:
            edits.append(Edit(*document.span(old), text))
        else:
            edits.append(insertion_edit(document, elements[name], [text]))
    return replace(model, content=apply_edits(model.content, edits))


def _fixed_links(robot: RobotModel) -> Mapping[str, tuple[int, Array, Array]]:
    """Return moving link, parameters in it, and in its own frame, of each link fixed to one."""
    fixed: dict[str, tuple[int, Array, Array]] = {}
    for link in read_model(robot.path).links:
        number, X_LF = robot.frame(link.name)
        if number < 0 or link.name in robot.links or link.phi is None or not link.phi[0] > 0.0:
            continue
        fixed[link.name] = number, InertialParameters(link.phi).in_frame(X_LF).phi, link.phi
    return fixed


def _consistent_share(whole: Phi, part: Phi) -> float:
    """Return the share of a part that leaves a consistent rest of a body, one if all of it does."""
    if not part[0] > 0.0:
        return 1.0
    largest = eigh(pseudo_inertia(part), pseudo_inertia(whole), eigvals_only=True)[-1]
    return 1.0 if largest < 1.0 else _KEPT_INERTIA_SHARE / float(largest)
