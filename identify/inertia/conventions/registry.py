"""The conventions by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from identify.arrays import Phi
from identify.errors import ModelError, did_you_mean
from identify.inertia.conventions import (
    cad,
    dart,
    drake,
    featherstone,
    gazebo,
    mujoco,
    pinocchio,
    rigeo,
    ros,
    sdf,
    urdf,
    wensing,
)
from identify.inertia.conventions.six_orders import Products
from identify.inertia.conventions.spatial_matrix import SpatialOrder


@dataclass(frozen=True, slots=True)
class Convention:
    """How one tool writes a body down.

    Attributes:
        name: what it is called here.
        from_phi: ten parameters (..., 10) to the tool's record or array; a body that cannot be said
            in it raises `ModelError`.
        to_phi: and back.
        point: what the inertia is about; `mixed` is Gazebo's body matrix.
        axes: what it is expressed in: the body's axes, principal ones, or a frame that is given.
        products: sign of the products of inertia (`none` where there are none).
        spatial_order: of a 6×6 matrix.
    """

    name: str
    from_phi: Callable[..., Any]
    to_phi: Callable[[Any], Phi]
    point: Literal["origin", "centre of mass", "mixed"]
    axes: Literal["body", "principal", "given"] = "body"
    products: Products | Literal["none"] = "negative"
    spatial_order: SpatialOrder | None = None


_ORIGIN, _COM = "origin", "centre of mass"

_ALL = (
    Convention(
        "pinocchio", pinocchio.dynamic_parameters, pinocchio.phi_from_dynamic_parameters, _ORIGIN
    ),
    Convention(
        "pinocchio_inertia",
        pinocchio.PinocchioInertia.from_phi,
        pinocchio.PinocchioInertia.to_phi,
        _COM,
    ),
    Convention(
        "drake", drake.DrakeSpatialInertia.from_phi, drake.DrakeSpatialInertia.to_phi, _ORIGIN
    ),
    Convention(
        "drake_matrix",
        drake.drake_matrix,
        drake.phi_from_drake_matrix,
        _ORIGIN,
        spatial_order="angular first",
    ),
    Convention(
        "featherstone",
        featherstone.featherstone_inertia,
        featherstone.phi_from_featherstone_inertia,
        _ORIGIN,
        spatial_order="angular first",
    ),
    Convention("dart", dart.DartInertia.from_phi, dart.DartInertia.to_phi, _COM),
    Convention("dart_parameters", dart.dart_parameters, dart.phi_from_dart_parameters, _COM),
    Convention(
        "dart_tensor",
        dart.dart_spatial_tensor,
        dart.phi_from_dart_spatial_tensor,
        _ORIGIN,
        spatial_order="angular first",
    ),
    Convention(
        "gazebo", gazebo.GazeboInertial.from_phi, gazebo.GazeboInertial.to_phi, _COM, axes="given"
    ),
    Convention(
        "gazebo_body_matrix",
        gazebo.gazebo_body_matrix,
        gazebo.phi_from_gazebo_body_matrix,
        "mixed",
        spatial_order="linear first",
    ),
    Convention(
        "mujoco",
        mujoco.MujocoInertial.from_phi,
        mujoco.MujocoInertial.to_phi,
        _COM,
        axes="principal",
        products="none",
    ),
    Convention(
        "mujoco_full", mujoco.MujocoFullInertial.from_phi, mujoco.MujocoFullInertial.to_phi, _COM
    ),
    Convention("urdf", urdf.UrdfInertial.from_phi, urdf.UrdfInertial.to_phi, _COM, axes="given"),
    Convention("sdf", sdf.SdfInertial.from_phi, sdf.SdfInertial.to_phi, _COM, axes="given"),
    Convention("ros", ros.RosInertia.from_phi, ros.RosInertia.to_phi, _COM),
    Convention("wensing", wensing.wensing_parameters, wensing.phi_from_wensing_parameters, _ORIGIN),
    Convention("rigeo", rigeo.rigeo_vector, rigeo.phi_from_rigeo_vector, _ORIGIN),
    Convention(
        "rigeo_matrix",
        rigeo.rigeo_matrix,
        rigeo.phi_from_rigeo_matrix,
        _ORIGIN,
        spatial_order="angular first",
    ),
    Convention(
        "cad",
        cad.CadMassProperties.from_phi,
        cad.CadMassProperties.to_phi,
        _COM,
        products="positive",
    ),
)

CONVENTIONS: Mapping[str, Convention] = MappingProxyType({entry.name: entry for entry in _ALL})
"""Every convention by its name. A new one is a file and a line here."""


def find_convention(name: str) -> Convention:
    """The convention of a name.

    Raises:
        ModelError: no convention is called so.
    """
    if name not in CONVENTIONS:
        hint = did_you_mean(name, CONVENTIONS)
        raise ModelError(f"no convention {name!r} among {sorted(CONVENTIONS)}{hint}")
    return CONVENTIONS[name]
