"""Mass properties of prims of OpenUSD, by `UsdPhysics.MassAPI` and Newton's schema.

Numbers are in the units of the stage; the quaternion of the principal axes has its scalar first;
`newton:inertia` has Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the centre of mass in axes of the prim.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from identify.arrays import Mat33, Phi, Vec3
from identify.errors import MissingExtra, ModelError
from identify.inertia.conventions.axes import rotation_from_wxyz, wxyz_from_rotation
from identify.inertia.conventions.mass_properties import central_inertia, inertial_frame
from identify.inertia.conventions.orders import entries_in_order, matrix_from_entries
from identify.spatial import Pose

_UNIT_SCALE_TOLERANCE = 1e-6
"""Deviation of a prim's scale from 1 that counts as rounding."""

_NEWTON_INERTIA = "newton:inertia"


class StageUnits(NamedTuple):
    """Units of a stage: a mass [kg] and a length [m]."""

    mass: float
    length: float

    @property
    def inertia(self) -> float:
        """Unit of an inertia [kg m²]."""
        return self.mass * self.length**2


def import_usd(*modules: str) -> list[Any]:
    """Import modules of OpenUSD; raises `MissingExtra` if it is not installed."""
    try:
        return [import_module(f"pxr.{module}") for module in modules]
    except ImportError as error:
        raise MissingExtra("a stage of OpenUSD", "usd", "usd-core") from error


def stage_units(stage: Any) -> StageUnits:
    """Return the units of a stage; those that it does not state are a kilogram and a centimetre."""
    geometry, physics = import_usd("UsdGeom", "UsdPhysics")
    return StageUnits(
        physics.GetStageKilogramsPerUnit(stage), geometry.GetStageMetersPerUnit(stage)
    )


def rigid_pose(to_world: Any, length: float) -> Pose:
    """Return the pose in the world of a transform of USD, without its scale.

    `to_world`: a `Gf.Matrix4d`, which multiplies rows; `length`: unit of the stage [m].
    """
    rows = np.array(to_world.RemoveScaleShear())
    return Pose(rows[:3, :3].T, length * np.array(to_world)[3, :3])


def write_mass(phi: Phi, stage: Any, path: str) -> None:
    """Write mass, centre of mass and both forms of the inertia of a prim, in units of the stage.

    Raises `ModelError`: no such prim, or one that is scaled.
    """
    gf, sdf, geometry, physics = import_usd("Gf", "Sdf", "UsdGeom", "UsdPhysics")
    prim = stage.GetPrimAtPath(path)
    if not prim:
        raise ModelError(f"the stage has no prim {path!r}")
    to_world = np.array(geometry.XformCache().GetLocalToWorldTransform(prim))[:3, :3]
    scale = np.linalg.norm(to_world, axis=1)
    if np.abs(scale - 1.0).max() > _UNIT_SCALE_TOLERANCE:
        raise ModelError(
            f"{path} is scaled by {scale.tolist()}, and USD scales its centre of mass with it: "
            "give the body to a prim without a scale"
        )
    units = stage_units(stage)
    frame = inertial_frame(phi, "OpenUSD", "principal")
    about_com = central_inertia(phi, "OpenUSD", positive=True).inertia / units.inertia
    moments = np.diag(frame.inertia) / units.inertia
    mass = physics.MassAPI.Apply(prim)
    mass.CreateMassAttr().Set(float(frame.mass) / units.mass)
    mass.CreateCenterOfMassAttr().Set(gf.Vec3f(*(frame.X_BC.position / units.length).tolist()))
    mass.CreateDiagonalInertiaAttr().Set(gf.Vec3f(*moments.tolist()))
    mass.CreatePrincipalAxesAttr().Set(gf.Quatf(*wxyz_from_rotation(frame.X_BC.rotation).tolist()))
    prim.AddAppliedSchema("NewtonMassAPI")
    six = prim.CreateAttribute(_NEWTON_INERTIA, sdf.ValueTypeNames.DoubleArray, custom=False)
    six.Set(entries_in_order(about_com, "mujoco").tolist())


def center_of_mass(prim: Any, units: StageUnits) -> Vec3 | None:
    """Return the centre of mass that a prim states, in its axes without scale [m], or None."""
    geometry, physics = import_usd("UsdGeom", "UsdPhysics")
    com = physics.MassAPI(prim).GetCenterOfMassAttr().Get()
    if com is None or not np.isfinite(com).all():
        return None
    to_world = geometry.XformCache().GetLocalToWorldTransform(prim)
    X_WB = rigid_pose(to_world, units.length)
    return X_WB.rotation.T @ (units.length * np.array(to_world.Transform(com)) - X_WB.position)


def principal_inertia(prim: Any, units: StageUnits) -> Mat33 | None:
    """Return I_BBcm_B of the moments and axes that a prim states [kg m²], or None."""
    (physics,) = import_usd("UsdPhysics")
    api = physics.MassAPI(prim)
    moments = api.GetDiagonalInertiaAttr().Get()
    if moments is None or not any(moments):
        return None
    q = api.GetPrincipalAxesAttr().Get()
    wxyz = [q.GetReal(), *q.GetImaginary()]
    R = rotation_from_wxyz(wxyz if any(wxyz) else [1.0, 0.0, 0.0, 0.0])
    return units.inertia * (R * np.array(moments)) @ R.T


def newton_inertia(prim: Any, units: StageUnits) -> Mat33 | None:
    """Return I_BBcm_B of `newton:inertia` [kg m²], or None.

    Raises `ModelError`: it is not six finite numbers.
    """
    attribute = prim.GetAttribute(_NEWTON_INERTIA)
    values = attribute.Get() if attribute else None
    if values is None:
        return None
    six = np.array(values, dtype=np.float64)
    if six.shape != (6,) or not np.isfinite(six).all():
        raise ModelError(f"{_NEWTON_INERTIA}: expected six finite numbers, got {list(values)}")
    return units.inertia * matrix_from_entries(six, "mujoco")
