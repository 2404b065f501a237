"""Inertia of MJCF bodies from their geoms, which only MuJoCo's own compiler tells."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from identify.arrays import Phi
from identify.exchange.xml_text import XmlDocument, XmlElement
from identify.inertia.conventions.mujoco import MujocoInertial


class CompiledBody(NamedTuple):
    """What MuJoCo says of a body; phi is None for one without mass, and where the note says why."""

    phi: Phi | None
    note: str


def has_geoms(body: XmlElement) -> bool:
    """Whether a body has geoms of its own."""
    stack = list(body.children)
    while stack:
        element = stack.pop()
        if element.tag == "geom":
            return True
        if element.tag in ("frame", "replicate", "composite", "flexcomp"):
            stack.extend(element.children)
    return False


def compiled_bodies(document: XmlDocument, bodies: Sequence[XmlElement]) -> dict[int, CompiledBody]:
    """What MuJoCo makes of a file's bodies, by the byte that each begins at.

    Where MuJoCo is not installed, or does not compile the file, every note says so.
    """
    model, why = _compile(document)
    if model is None:
        return {body.start: CompiledBody(None, why) for body in bodies}
    if model.nbody - 1 == len(bodies):
        return {body.start: _compiled(model, n) for n, body in enumerate(bodies, 1)}
    numbers = {model.body(n).name: n for n in range(1, model.nbody)}
    lost = CompiledBody(None, "its inertia comes from its geoms; give it a name to find it by")
    names = {body.start: body.attributes.get("name", "") for body in bodies}
    return {
        start: _compiled(model, numbers[name]) if name and name in numbers else lost
        for start, name in names.items()
    }


def _compile(document: XmlDocument) -> tuple[Any, str]:
    try:
        mujoco = importlib.import_module("mujoco")
    except ImportError:
        return None, "its inertia comes from its geoms, which needs MuJoCo: pip install mujoco"
    try:
        spec = mujoco.MjSpec.from_file(str(document.path))
        spec.compiler.fusestatic = False
        always = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
        if spec.compiler.inertiafromgeom != always:
            _replace_explicit(spec)
        return spec.compile(), ""
    except (ValueError, OSError, RuntimeError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split())[:200]
        return None, f"its inertia comes from its geoms, but MuJoCo does not compile it: {reason}"


def _replace_explicit(spec: Any) -> None:
    """Unit bodies for those with an `<inertial>`, which is read elsewhere and may be impossible."""
    for body in spec.bodies:
        if body.explicitinertial:
            body.mass, body.inertia = 1.0, np.ones(3)
            body.fullinertia = np.full(6, np.nan)


def _compiled(model: Any, number: int) -> CompiledBody:
    mass = float(model.body_mass[number])
    if mass == 0.0:
        return CompiledBody(None, "")
    numbers = (model.body_ipos, model.body_iquat, model.body_inertia)
    pos, quat, moments = (np.array(array[number]) for array in numbers)
    return CompiledBody(MujocoInertial(np.array(mass), pos, quat, moments).to_phi(), "")
