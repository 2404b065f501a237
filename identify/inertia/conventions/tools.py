"""Conversion of bodies to and from objects of Pinocchio, Drake and MuJoCo.

A tool is imported only where an object of it is created. Errors are documented at the methods of
`InertialParameters`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, seal
from identify.errors import MissingExtra, ModelError
from identify.inertia.conventions.mass_properties import MassProperties, require_mass
from identify.inertia.conventions.registry import find_convention
from identify.inertia.conventions.simulators import MujocoInertial

_SAVED_DIGITS = 6
"""Significant digits of numbers in the XML that MuJoCo 4.0 writes."""


class PinocchioInertia(Protocol):
    """Interface of `pinocchio.Inertia`."""

    def toDynamicParameters(self) -> ArrayLike:
        """Return mass, first moment and inertia about the origin, shape (10,)."""
        ...


class DrakeInertia(Protocol):
    """Interface of `pydrake.multibody.tree.SpatialInertia`."""

    def CopyToFullMatrix6(self) -> ArrayLike:
        """Return the matrix, rotation first, shape (6, 6)."""
        ...


class MujocoBody(Protocol):
    """Interface of a body of a MuJoCo `MjSpec`, or of a view of one of a compiled model."""

    name: str
    mass: ArrayLike
    ipos: ArrayLike
    iquat: ArrayLike
    inertia: ArrayLike


class MujocoSpecBody(MujocoBody, Protocol):
    """Interface of a body of a MuJoCo `MjSpec`."""

    fullinertia: ArrayLike
    explicitinertial: bool


def from_pinocchio(inertia: PinocchioInertia) -> Phi:
    """Return the ten parameters of a `pinocchio.Inertia`, shape (10,)."""
    return find_convention("pinocchio").to_phi(inertia.toDynamicParameters())


def to_pinocchio(phi: Phi) -> Any:
    """Create a `pinocchio.Inertia` from ten parameters, shape (10,); zeros give a massless one."""
    phi = _seal_single_body(phi, "Pinocchio")
    pinocchio = _import_tool("pinocchio", "pinocchio", "pin")
    if not phi.any():
        return pinocchio.Inertia.Zero()
    mass, com, inertia = find_convention("pinocchio_inertia").from_phi(phi)
    return pinocchio.Inertia(float(mass), com, inertia)


def from_drake(inertia: DrakeInertia) -> Phi:
    """Return the ten parameters of a `pydrake.multibody.tree.SpatialInertia`, shape (10,)."""
    return find_convention("drake_matrix").to_phi(inertia.CopyToFullMatrix6())


def to_drake(phi: Phi) -> Any:
    """Create a `pydrake.multibody.tree.SpatialInertia` from ten parameters, shape (10,)."""
    phi = _seal_single_body(phi, "Drake")
    tree = _import_tool("pydrake.multibody.tree", "drake", "drake")
    require_mass(phi, "Drake", positive=True)
    mass, com, G = find_convention("drake").from_phi(phi)
    unit = tree.UnitInertia(*np.diagonal(G), G[0, 1], G[0, 2], G[1, 2])
    try:
        return tree.SpatialInertia(float(mass), com, unit)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelError(f"Drake rejects the body: {reason}") from error


def from_mujoco(body: MujocoBody) -> Phi:
    """Return the ten parameters of a body of an `MjSpec` or compiled model, shape (10,)."""
    if not getattr(body, "explicitinertial", True):
        raise ModelError(
            f"MuJoCo: the body {body.name!r} has no explicit inertial, the compiler derives it "
            f"from its geometries; compile the model and use `model.body({body.name!r})`"
        )
    mass = np.ravel(body.mass)[0]
    com = np.array(body.ipos)
    quaternion = np.array(body.iquat)
    full = np.array(getattr(body, "fullinertia", np.nan), dtype=np.float64)
    if not np.isnan(full).any():
        return find_convention("mujoco_full").to_phi(MassProperties(mass, com, full))
    given = getattr(body, "ialt", None)
    given_by = "mjORIENTATION_QUAT" if given is None else given.type.name
    if given_by != "mjORIENTATION_QUAT":  # only MuJoCo's compiler converts angles
        raise ModelError(
            f"MuJoCo: the axes of the inertial of {body.name!r} are given by {given_by}; compile "
            f"the model and use `model.body({body.name!r})`"
        )
    return MujocoInertial(mass, com, quaternion, np.array(body.inertia)).to_phi()


def to_mujoco(phi: Phi, body: MujocoSpecBody) -> None:
    """Write principal moments and their axes to the inertial of a body of an `MjSpec`."""
    inertial = MujocoInertial.from_phi(_seal_single_body(phi, "MuJoCo"))
    body.mass, body.ipos, body.iquat = float(inertial.mass), inertial.pos, inertial.quat_wxyz
    body.inertia = _moments_to_save(inertial.diaginertia)
    body.fullinertia = np.full(6, np.nan)
    body.explicitinertial = True


def _moments_to_save(moments: Array) -> Array:
    """Return descending principal moments A, B, C that MuJoCo still compiles once it saved them.

    `MjSpec.to_xml` and `mj_saveLastXML` print six digits. For a plate, A = B + C, one time in three
    they print A > B + C, which the compiler refuses: A then takes the next six digits below.
    """
    saved = np.array([float(f"{moment:.{_SAVED_DIGITS}g}") for moment in moments])
    largest = saved[0]
    while largest > saved[1] + saved[2]:
        last_digit = 10.0 ** (np.floor(np.log10(saved[0])) - _SAVED_DIGITS + 1)
        largest = float(f"{largest - last_digit:.{_SAVED_DIGITS}g}")
    return moments if largest == saved[0] else np.array([largest, *moments[1:]])


def _import_tool(name: str, extra: str, package: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"an inertia of {extra.capitalize()}", extra, package) from error


def _seal_single_body(phi: Phi, tool: str) -> Phi:
    return seal(phi, f"one body for {tool}", (10,))
