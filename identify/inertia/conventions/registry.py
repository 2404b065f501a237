"""The table of conventions: what each is about, in which axes, signs and order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from numpy.typing import ArrayLike

from identify.arrays import Array, Phi
from identify.documents import lookup
from identify.errors import ModelError
from identify.inertia.conventions import orders, records, simulators
from identify.inertia.conventions.central import require_mass
from identify.inertia.conventions.orders import Point, Products, SpatialOrder
from identify.inertia.conventions.sealing import seal_phi


@dataclass(frozen=True, slots=True)
class Convention:
    """How one tool writes a body down: as a record, a matrix 6×6, or else as a vector of ten.

    Attributes:
        name: what it is called here.
        point: what the inertia is about; `mixed` is Gazebo's body matrix.
        record: of the tool's arguments, fields or attributes.
        spatial_order: of the parts of a twist, for a matrix.
        six: order of the last six numbers, for a vector of ten.
        axes: what the inertia is expressed in: the body's axes, principal ones, or a frame that is
            given.
        products: sign of the products of inertia (`none` where there are none).
        needs_mass: whether the tool divides a matrix by the mass.
    """

    name: str
    point: Point
    record: Any = None
    spatial_order: SpatialOrder | None = None
    six: str = ""
    axes: Literal["body", "principal", "given"] = "body"
    products: Products | Literal["none"] = "negative"
    needs_mass: bool = False

    @property
    def from_phi(self) -> Callable[..., Any]:
        """Ten parameters (..., 10) to the tool's record or array.

        A body that cannot be said in it raises `ModelError`.
        """
        return self._array_from_phi if self.record is None else self.record.from_phi

    def to_phi(self, said: Any) -> Phi:
        """The ten parameters, shape (..., 10), of the tool's record or array."""
        if self.record is not None:
            return self.record.to_phi(said)
        if self.spatial_order is not None:
            return orders.phi_from_spatial_matrix(said, self.spatial_order, self.point)
        return orders.phi_from_ten(said, self.six, self.point)

    def _array_from_phi(self, phi: ArrayLike) -> Array:
        if self.needs_mass:
            require_mass(seal_phi(phi), self.name)
        if self.spatial_order is not None:
            return orders.spatial_matrix(phi, self.spatial_order, self.point)
        return orders.ten_from_phi(phi, self.six, self.point)


_ORIGIN, _COM, _ANGULAR = "origin", "centre of mass", "angular first"

_ALL = (
    Convention("pinocchio", _ORIGIN, six="pinocchio"),
    Convention("pinocchio_inertia", _COM, records.PinocchioInertia),
    Convention("drake", _ORIGIN, records.DrakeSpatialInertia),
    Convention("drake_matrix", _ORIGIN, spatial_order=_ANGULAR),
    Convention("featherstone", _ORIGIN, spatial_order=_ANGULAR),
    Convention("dart", _COM, records.DartInertia),
    Convention("dart_parameters", _COM, six="dart"),
    Convention("dart_tensor", _ORIGIN, spatial_order=_ANGULAR, needs_mass=True),
    Convention("gazebo", _COM, simulators.GazeboInertial, axes="given"),
    Convention("gazebo_body_matrix", "mixed", spatial_order="linear first"),
    Convention("mujoco", _COM, simulators.MujocoInertial, axes="principal", products="none"),
    Convention("mujoco_full", _COM, simulators.MujocoFullInertial),
    Convention("urdf", _COM, records.UrdfInertial, axes="given"),
    Convention("sdf", _COM, simulators.SdfInertial, axes="given"),
    Convention("ros", _COM, records.RosInertia),
    Convention("wensing", _ORIGIN, six="wensing"),
    Convention("rigeo", _ORIGIN, six="rigeo"),
    Convention("rigeo_matrix", _ORIGIN, spatial_order=_ANGULAR),
    Convention("cad", _COM, records.CadMassProperties, products="positive"),
)
# Featherstone: Rigid Body Dynamics Algorithms (2008), equation 2.63; `mcI` of spatial_v2. Wensing:
# the comments of spatial_v2_extended's `inertiaVecToMat` and `inertiaMatToVec` list the last three
# as Ixy, Ixz, Iyz; its code, which this follows, does not.

CONVENTIONS: Mapping[str, Convention] = MappingProxyType({entry.name: entry for entry in _ALL})
"""Every convention by its name. A new one is a line here, and a record if it is none of the arrays.

`find_convention` names the nearest to one that is not there."""


def find_convention(name: str) -> Convention:
    """The convention of a name.

    Raises:
        ModelError: no convention is called so.
    """
    return lookup(CONVENTIONS, name, "convention", ModelError)
