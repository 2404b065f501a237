"""The table of conventions: what each is about, in which axes, signs and order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from identify.arrays import Array, Phi, PhiLike, seal
from identify.documents import lookup
from identify.errors import ModelError
from identify.inertia.conventions.central import (
    MassProperties,
    central_inertia,
    require_mass,
    seal_fields,
    seal_phi,
)
from identify.inertia.conventions.orders import (
    Point,
    Products,
    SpatialOrder,
    matrix_from_six,
    phi_from_spatial_matrix,
    signed,
    six_in_order,
    spatial_matrix,
)
from identify.inertia.conventions.simulators import GazeboInertial, MujocoInertial, SdfInertial
from identify.inertia.matrices import inertia_about_origin, phi_from_inertia, six_from_symmetric


@dataclass(frozen=True, slots=True)
class Convention:
    """How one tool writes a body down.

    Attributes:
        name: what it is called here.
        form: `ten` is a vector of m, h and I about the origin, or of m, c and I about the centre of
            mass; `properties` are `MassProperties`; an order of the parts of a twist is that of a
            matrix 6×6. Else a class, of a record of the tool's own.
        point: what the inertia is about; `mixed` is Gazebo's body matrix.
        six: order of the six entries of the inertia; empty where it is a matrix.
        axes: what the inertia is expressed in: the body's axes, principal ones, or a frame that is
            given.
        products: sign of the products of inertia (`none` where there are none).
        per_mass: whether the inertia is that of one kilogram [m²].
        mass: what the tool asks of it where `point` asks for less.
    """

    name: str
    form: Any
    point: Point
    six: str = ""
    axes: Literal["body", "principal", "given"] = "body"
    products: Products = "negative"
    per_mass: bool = False
    mass: Literal["any", "not zero", "positive"] = "any"

    def __post_init__(self) -> None:
        if self.point not in get_args(Point):
            raise ModelError(f"point: expected one of {get_args(Point)}, got {self.point!r}")

    @property
    def spatial_order(self) -> SpatialOrder | None:
        """Order of the parts of a twist, for a matrix 6×6."""
        return self.form if self.form in get_args(SpatialOrder) else None

    @property
    def from_phi(self) -> Callable[..., Any]:
        """Ten parameters (..., 10) to what the tool has; a record's may take more arguments.

        A body that cannot be said in it raises `ModelError`.
        """
        return self._said if isinstance(self.form, str) else self.form.from_phi

    def to_phi(self, said: Any) -> Phi:
        """The ten parameters, shape (..., 10), of what the tool has."""
        if self.spatial_order is not None:
            return phi_from_spatial_matrix(said, self.spatial_order, self.point)
        if self.form == "ten":
            ten = seal(said, f"ten numbers ({self.name})", (..., 10))
            mass, com, inertia = ten[..., 0], ten[..., 1:4], ten[..., 4:]
        elif self.form == "properties":
            shapes = {"mass": (), "com": (3,), "inertia": (6,) if self.six else (3, 3)}
            fields = dict(zip(shapes, said, strict=True))
            mass, com, inertia = seal_fields(self.name, fields, shapes).values()
        else:
            return self.form.to_phi(said)
        if self.six:
            inertia = matrix_from_six(inertia, self.six)
        inertia = signed(inertia, self.products)
        if self.point != "origin":
            return phi_from_inertia(mass, com, inertia)
        mass = mass[..., None]
        h = com if self.form == "ten" else mass * com
        six = six_from_symmetric(inertia) * (mass if self.per_mass else 1.0)
        return np.concatenate((mass, h, six), axis=-1)

    def _said(self, phi: PhiLike) -> Array | MassProperties:
        phi = seal_phi(phi)
        if self.mass != "any":
            require_mass(phi, self.name, positive=self.mass == "positive")
        if self.spatial_order is not None:
            return spatial_matrix(phi, self.spatial_order, self.point)
        mass, com, inertia = phi[..., 0], phi[..., 1:4], inertia_about_origin(phi)
        if (self.form, self.point) != ("ten", "origin"):
            mass, com, central = central_inertia(phi, self.name)
            inertia = inertia if self.point == "origin" else central
        inertia = signed(
            inertia / mass[..., None, None] if self.per_mass else inertia, self.products
        )
        if self.six:
            inertia = six_in_order(inertia, self.six)
        if self.form == "ten":
            return np.concatenate((mass[..., None], com, inertia), axis=-1)
        return MassProperties(mass, com, inertia)


_COM = "centre of mass"

_ALL = (
    Convention("pinocchio", "ten", "origin", "pinocchio"),
    Convention("pinocchio_inertia", "properties", _COM),
    Convention("pinocchio_matrix", "linear first", "origin"),
    Convention("drake", "properties", "origin", per_mass=True),
    Convention("drake_matrix", "angular first", "origin"),
    Convention("featherstone", "angular first", "origin"),
    Convention("dart", "properties", _COM),
    Convention("dart_parameters", "ten", _COM, "dart"),
    Convention("dart_tensor", "angular first", "origin", mass="not zero"),
    Convention("gazebo", GazeboInertial, _COM, axes="given"),
    Convention("gazebo_body_matrix", "linear first", "mixed"),
    Convention("mujoco", MujocoInertial, _COM, axes="principal", products="none"),
    Convention("mujoco_full", "properties", _COM, "mujoco", mass="positive"),
    Convention("urdf", SdfInertial, _COM, axes="given"),
    Convention("sdf", SdfInertial, _COM, axes="given"),
    Convention("ros", "properties", _COM, "ros"),
    Convention("wensing", "ten", "origin", "wensing"),
    Convention("rigeo", "ten", "origin", "rigeo"),
    Convention("rigeo_matrix", "angular first", "origin"),
    Convention("cad", "properties", _COM, products="positive"),
)
# Drake: the unit inertia is about the origin, the vector beside it that of the centre of mass;
# `MakeFromCentralInertia` takes the properties of Pinocchio. Featherstone: Rigid Body Dynamics
# Algorithms (2008), equation 2.63; `mcI` of spatial_v2. ROS: the message names the point since 2026
# (ros2/common_interfaces #313). URDF: the pose of the record is xyz and rpy. Wensing: the comments
# of spatial_v2_extended's `inertiaVecToMat` and `inertiaMatToVec` list the last three as Ixy, Ixz,
# Iyz; its code, which this follows, does not. CAD: SolidWorks prints `positive tensor notation`
# unless told otherwise, and its matrix I is about the origin.

CONVENTIONS: Mapping[str, Convention] = MappingProxyType({entry.name: entry for entry in _ALL})
"""Every convention by its name. A new one is a line here, and a record if it is no other form.

`find_convention` names the nearest to one that is not there."""


def find_convention(name: str) -> Convention:
    """The convention of a name.

    Raises:
        ModelError: no convention is called so.
    """
    return lookup(CONVENTIONS, name, "convention", ModelError)


def find_matrix(name: str) -> Convention:
    """The convention of a 6×6 matrix, by its name.

    Raises:
        ModelError: no convention of a matrix is called so.
    """
    matrices = {each.name: each for each in _ALL if each.spatial_order is not None}
    return lookup(matrices, name, "convention of a matrix 6×6", ModelError)
