"""Bodies that an installed program has of a model file: of MuJoCo, Drake and Pinocchio."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Mapping
from importlib import metadata
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Phi
from identify.exchange.link_geometry import PACKAGE_SCHEMES, mesh_file
from identify.exchange.mjcf_compiling import (
    capture_warnings,
    one_line,
    read_compiled_body,
    size_excess,
)
from identify.exchange.xml_document import XmlDocument
from identify.inertia.matrices import phi_from_inertia


class InstalledBodies(NamedTuple):
    """Bodies of a model in an installed program.

    Attributes:
        version: of the program; empty if it is not installed or does not read the format.
        bodies: ten parameters about the link's origin by name of the link, of those with a mass.
        problem: message of the program if it does not load the model.
    """

    version: str = ""
    bodies: Mapping[str, Phi] = MappingProxyType({})
    problem: str = ""


def installed_bodies(document: XmlDocument, program: str) -> InstalledBodies:
    """Load a model, which may differ from its file, in a program of that name if installed."""
    if program not in _LOADERS or size_excess(document):
        return InstalledBodies()
    distribution, load, roots = _LOADERS[program]
    if document.root.tag not in roots:
        return InstalledBodies()
    try:
        version = metadata.version(distribution)
    except ImportError:
        return InstalledBodies()
    try:
        bodies = load(document)
    except (ValueError, RuntimeError, OSError) as error:
        return InstalledBodies(version, problem=one_line(str(error)))
    return InstalledBodies(version, {name: phi for name, phi in bodies.items() if phi[0]})


def _mujoco(document: XmlDocument) -> dict[str, Array]:
    mujoco = importlib.import_module("mujoco")
    with capture_warnings(mujoco, []):
        try:
            if document.content == document.path.read_bytes():
                spec = mujoco.MjSpec.from_file(str(document.path))
            else:
                spec = mujoco.MjSpec.from_string(document.content.decode())
                spec.modelfiledir = str(document.path.parent)
            for mesh in spec.meshes:
                if mesh.file.startswith(PACKAGE_SCHEMES):  # which MuJoCo does not resolve
                    mesh.file = str(mesh_file(mesh.file, document.path))
            model = spec.compile()
        except mujoco.FatalError as error:
            raise RuntimeError(str(error)) from error
    read = ((model.body(n).name, read_compiled_body(model, n).phi) for n in range(1, model.nbody))
    return {name: phi for name, phi in read if phi is not None}


def _drake(document: XmlDocument) -> dict[str, Array]:
    """Return Drake's bodies; those whose names two model instances have are left out."""
    parsing = importlib.import_module("pydrake.multibody.parsing")
    plant = importlib.import_module("pydrake.multibody.plant").MultibodyPlant(0.0)
    kind = {"robot": "urdf", "mujoco": "xml"}.get(document.root.tag, "sdf")
    logger = logging.getLogger("drake")
    level = logger.level
    try:
        logger.setLevel(logging.CRITICAL)
        instances = parsing.Parser(plant).AddModelsFromString(document.content.decode(), kind)
    finally:
        logger.setLevel(level)
    bodies: dict[str, Array] = {}
    repeated: set[str] = set()
    for index in (index for instance in instances for index in plant.GetBodyIndices(instance)):
        body = plant.get_body(index)
        spatial = body.default_spatial_inertia()
        six = spatial.CalcRotationalInertia().CopyToFullMatrix3()[np.triu_indices(3)]
        mass = spatial.get_mass()
        repeated |= bodies.keys() & {body.name()}
        bodies[body.name()] = np.array([mass, *(mass * spatial.get_com()), *six])
    return {name: phi for name, phi in bodies.items() if name not in repeated}


def _pinocchio(document: XmlDocument) -> dict[str, Array]:
    """Return Pinocchio's bodies of a URDF by name of the link that a joint moves."""
    pinocchio = importlib.import_module("pinocchio")
    model = pinocchio.buildModelFromXML(document.content.decode())
    links: dict[int, str] = {}
    for frame in model.frames:
        if frame.type == pinocchio.FrameType.BODY and frame.placement.isIdentity():
            links.setdefault(frame.parentJoint, frame.name)
    return {
        name: phi_from_inertia(body.mass, body.lever, body.inertia)
        for joint, name in links.items()
        if joint
        for body in [model.inertias[joint]]
    }


_ROOTS = "robot", "sdf", "mujoco"
"""Root elements of URDF, SDF and MJCF."""

_LOADERS: Mapping[str, tuple[str, Callable[[XmlDocument], dict[str, Array]], tuple[str, ...]]] = (
    MappingProxyType(
        {
            "mujoco": ("mujoco", _mujoco, _ROOTS),
            "drake": ("drake", _drake, _ROOTS),
            "pinocchio": ("pin", _pinocchio, _ROOTS[:1]),
        }
    )
)
"""Distributions, loaders and the roots they read by name of the program, as in `SIMULATORS`."""
