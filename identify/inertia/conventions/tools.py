"""Bodies as objects of Pinocchio, Drake and MuJoCo, by their numbers; see `InertialParameters`.

A tool is imported only where an object of it is made: what is read from one comes with it. Errors
are those that the methods of `InertialParameters` name.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Phi, seal
from identify.errors import MissingExtra, ModelError
from identify.inertia.conventions.central import MassProperties, require_mass
from identify.inertia.conventions.registry import find_convention
from identify.inertia.conventions.simulators import MujocoInertial


class PinocchioInertia(Protocol):
    """A `pinocchio.Inertia`."""

    def toDynamicParameters(self) -> ArrayLike:
        """Mass, first moment and inertia about the origin, shape (10,)."""
        ...


class DrakeInertia(Protocol):
    """A `pydrake.multibody.tree.SpatialInertia`."""

    def CopyToFullMatrix6(self) -> ArrayLike:
        """The matrix, rotation first, shape (6, 6)."""
        ...


class MujocoBody(Protocol):
    """A body of a MuJoCo `MjSpec`, or a view of one of a compiled model."""

    name: str
    mass: ArrayLike
    ipos: ArrayLike
    iquat: ArrayLike
    inertia: ArrayLike


class MujocoSpecBody(MujocoBody, Protocol):
    """A body of a MuJoCo `MjSpec`."""

    fullinertia: ArrayLike
    explicitinertial: bool


def from_pinocchio(inertia: PinocchioInertia) -> Phi:
    """Ten parameters of a `pinocchio.Inertia`, shape (10,)."""
    return find_convention("pinocchio").to_phi(inertia.toDynamicParameters())


def to_pinocchio(phi: Phi) -> Any:
    """Ten parameters, shape (10,), as a `pinocchio.Inertia`; of zeros one without mass."""
    phi = _one(phi, "Pinocchio")
    pinocchio = _module("pinocchio", "pinocchio", "pin")
    if not phi.any():
        return pinocchio.Inertia.Zero()
    mass, com, inertia = find_convention("pinocchio_inertia").from_phi(phi)
    return pinocchio.Inertia(float(mass), com, inertia)


def from_drake(inertia: DrakeInertia) -> Phi:
    """Ten parameters of a `pydrake.multibody.tree.SpatialInertia`, shape (10,)."""
    return find_convention("drake_matrix").to_phi(inertia.CopyToFullMatrix6())


def to_drake(phi: Phi) -> Any:
    """Ten parameters, shape (10,), as a `pydrake.multibody.tree.SpatialInertia`."""
    phi = _one(phi, "Drake")
    tree = _module("pydrake.multibody.tree", "drake", "drake")
    require_mass(phi, "Drake", positive=True)
    mass, com, G = find_convention("drake").from_phi(phi)
    unit = tree.UnitInertia(*np.diagonal(G), G[0, 1], G[0, 2], G[1, 2])
    try:
        return tree.SpatialInertia(float(mass), com, unit)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelError(f"Drake does not take the body: {reason}") from error


def from_mujoco(body: MujocoBody) -> Phi:
    """Ten parameters of a body of an `MjSpec` or of a compiled model, shape (10,)."""
    if not getattr(body, "explicitinertial", True):
        raise ModelError(
            f"MuJoCo: the body {body.name!r} has no inertial of its own, the compiler makes it of "
            f"its geometries; compile the model and take `model.body({body.name!r})`"
        )
    mass, com, quaternion = np.ravel(body.mass)[0], np.array(body.ipos), np.array(body.iquat)
    full = np.array(getattr(body, "fullinertia", np.nan), dtype=np.float64)
    if not np.isnan(full).any():
        return find_convention("mujoco_full").to_phi(MassProperties(mass, com, full))
    if hasattr(body, "ialt"):
        _require_quaternion(body)
    return MujocoInertial(mass, com, quaternion, np.array(body.inertia)).to_phi()


def to_mujoco(phi: Phi, body: MujocoSpecBody) -> None:
    """Write the inertial of a body of an `MjSpec`: principal moments and their axes."""
    said = MujocoInertial.from_phi(_one(phi, "MuJoCo"))
    body.mass, body.ipos, body.iquat = float(said.mass), said.pos, said.quat_wxyz
    body.inertia, body.fullinertia = said.diaginertia, np.full(6, np.nan)
    body.explicitinertial = True


def _require_quaternion(body: Any) -> None:
    """Raises `ModelError` where axes are given by angles, which only MuJoCo's compiler reads."""
    if body.ialt.type.name != "mjORIENTATION_QUAT":
        raise ModelError(
            f"MuJoCo: the axes of the inertial of {body.name!r} are said by {body.ialt.type.name}; "
            f"compile the model and take `model.body({body.name!r})`"
        )


def _module(name: str, extra: str, package: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"an inertia of {extra.capitalize()}", extra, package) from error


def _one(phi: Phi, tool: str) -> Phi:
    return seal(phi, f"one body for {tool}", (10,))
