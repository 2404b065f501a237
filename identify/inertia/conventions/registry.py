"""Conventions of other tools: reference point, axes, signs and order of the inertia of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from identify.arrays import Array, Phi, PhiLike, seal
from identify.documents import lookup
from identify.errors import ModelError
from identify.inertia.conventions.mass_properties import (
    MassProperties,
    central_inertia,
    require_mass,
    seal_fields,
    seal_phi,
)
from identify.inertia.conventions.orders import (
    ProductSign,
    ReferencePoint,
    SpatialOrder,
    convert_product_sign,
    entries_in_order,
    matrix_from_entries,
    phi_from_spatial_matrix,
    spatial_matrix,
)
from identify.inertia.conventions.simulators import GazeboInertial, MujocoInertial, SdfInertial
from identify.inertia.matrices import entries_from_symmetric, inertia_about_origin, phi_from_inertia


@dataclass(frozen=True, slots=True)
class Convention:
    """Convention of one tool for the inertial parameters of a body.

    Attributes:
        name: name of the convention.
        form: `ten` is a vector of m, h and I about the origin, or of m, c and I about the centre of
            mass; `properties` are `MassProperties`; an order of linear and angular part means a
            6×6 matrix. Otherwise the class of a record of the tool.
        point: reference point of the inertia; `mixed` is Gazebo's body matrix.
        entry_order: order of the six entries of the inertia; empty if it is a matrix.
        axes: axes of the inertia: the body's, principal ones, or those of a given frame.
        products: sign of the products of inertia (`none` if there are none).
        per_mass: whether the inertia is divided by the mass [m²].
        mass: requirement of the tool on the mass, beyond that of `point`.
    """

    name: str
    form: Any
    point: ReferencePoint
    entry_order: str = ""
    axes: Literal["body", "principal", "given"] = "body"
    products: ProductSign = "negative"
    per_mass: bool = False
    mass: Literal["any", "not zero", "positive"] = "any"

    def __post_init__(self) -> None:
        if self.point not in get_args(ReferencePoint):
            raise ModelError(
                f"point: expected one of {get_args(ReferencePoint)}, got {self.point!r}"
            )

    @property
    def spatial_order(self) -> SpatialOrder | None:
        """Order of linear and angular part of a 6×6 matrix; None for other forms."""
        return self.form if self.form in get_args(SpatialOrder) else None

    @property
    def from_phi(self) -> Callable[..., Any]:
        """Function that converts ten parameters (..., 10) to this convention.

        That of a record may take more arguments. It raises `ModelError` for a body that the
        convention cannot express.
        """
        return self._numbers_from_phi if isinstance(self.form, str) else self.form.from_phi

    def to_phi(self, numbers: Any) -> Phi:
        """Convert numbers in this convention to ten parameters, shape (..., 10)."""
        if self.spatial_order is not None:
            return phi_from_spatial_matrix(numbers, self.spatial_order, self.point)
        if self.form == "ten":
            ten = seal(numbers, f"ten numbers ({self.name})", (..., 10))
            mass = ten[..., 0]
            com = ten[..., 1:4]
            inertia = ten[..., 4:]
        elif self.form == "properties":
            shapes = {"mass": (), "com": (3,), "inertia": (6,) if self.entry_order else (3, 3)}
            fields = dict(zip(shapes, numbers, strict=True))
            mass, com, inertia = seal_fields(self.name, fields, shapes).values()
        else:
            return self.form.to_phi(numbers)
        if self.entry_order:
            inertia = matrix_from_entries(inertia, self.entry_order)
        inertia = convert_product_sign(inertia, self.products)
        if self.point != "origin":
            return phi_from_inertia(mass, com, inertia)
        mass = mass[..., None]
        h = com if self.form == "ten" else mass * com
        six = entries_from_symmetric(inertia) * (mass if self.per_mass else 1.0)
        return np.concatenate((mass, h, six), axis=-1)

    def _numbers_from_phi(self, phi: PhiLike) -> Array | MassProperties:
        phi = seal_phi(phi)
        if self.mass != "any":
            require_mass(phi, self.name, positive=self.mass == "positive")
        if self.spatial_order is not None:
            return spatial_matrix(phi, self.spatial_order, self.point)
        mass = phi[..., 0]
        com = phi[..., 1:4]
        inertia = inertia_about_origin(phi)
        if (self.form, self.point) != ("ten", "origin"):
            mass, com, central = central_inertia(phi, self.name)
            inertia = inertia if self.point == "origin" else central
        inertia = convert_product_sign(
            inertia / mass[..., None, None] if self.per_mass else inertia, self.products
        )
        if self.entry_order:
            inertia = entries_in_order(inertia, self.entry_order)
        if self.form == "ten":
            return np.concatenate((mass[..., None], com, inertia), axis=-1)
        return MassProperties(mass, com, inertia)


_RECORD_POINT = "centre of mass"

_ALL_CONVENTIONS = (
    Convention("pinocchio", "ten", "origin", "pinocchio"),
    Convention("pinocchio_inertia", "properties", _RECORD_POINT),
    Convention("pinocchio_matrix", "linear first", "origin"),
    Convention("drake", "properties", "origin", per_mass=True),
    Convention("drake_matrix", "angular first", "origin"),
    Convention("featherstone", "angular first", "origin"),
    Convention("dart", "properties", _RECORD_POINT),
    Convention("dart_parameters", "ten", _RECORD_POINT, "dart"),
    Convention("dart_tensor", "angular first", "origin", mass="not zero"),
    Convention("gazebo", GazeboInertial, _RECORD_POINT, axes="given"),
    Convention("gazebo_body_matrix", "linear first", "mixed"),
    Convention("mujoco", MujocoInertial, _RECORD_POINT, axes="principal", products="none"),
    Convention("mujoco_full", "properties", _RECORD_POINT, "mujoco", mass="positive"),
    Convention("urdf", SdfInertial, _RECORD_POINT, axes="given"),
    Convention("sdf", SdfInertial, _RECORD_POINT, axes="given"),
    Convention("ros", "properties", _RECORD_POINT, "ros"),
    Convention("wensing", "ten", "origin", "wensing"),
    Convention("rigeo", "ten", "origin", "rigeo"),
    Convention("rigeo_matrix", "angular first", "origin"),
    Convention("cad", "properties", _RECORD_POINT, products="positive"),
)
# Drake: the unit inertia is about the origin, the vector is that of the centre of mass;
# `MakeFromCentralInertia` takes the properties of Pinocchio. Featherstone: Rigid Body Dynamics
# Algorithms (2008), equation 2.63; `mcI` of spatial_v2. ROS: the message names the point since 2026
# (ros2/common_interfaces #313). URDF: the pose of the record is xyz and rpy. Wensing: the comments
# of spatial_v2_extended's `inertiaVecToMat` and `inertiaMatToVec` list the last three as Ixy, Ixz,
# Iyz; its code, which this follows, does not. CAD: SolidWorks prints `positive tensor notation`
# by default, and its matrix I is about the origin.

CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {entry.name: entry for entry in _ALL_CONVENTIONS}
)
"""Conventions by name. A new one is a line in this table, and a record class if it has a new form.

`find_convention` suggests the nearest name for an unknown one."""


def find_convention(name: str) -> Convention:
    """Return the convention of a name.

    Raises:
        ModelError: unknown name.
    """
    return lookup(CONVENTIONS, name, "convention", ModelError)


def find_matrix_convention(name: str) -> Convention:
    """Return the convention of a 6×6 matrix by its name.

    Raises `ModelError`: no convention of a 6×6 matrix has this name.
    """
    matrices = {c.name: c for c in _ALL_CONVENTIONS if c.spatial_order is not None}
    return lookup(matrices, name, "convention of a 6×6 matrix", ModelError)
