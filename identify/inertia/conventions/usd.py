"""Mass properties of prims of OpenUSD, by `UsdPhysics.MassAPI` and Newton's schema.

Numbers are in the units of the stage; the quaternion of the principal axes has its scalar first;
`newton:inertia` has Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the centre of mass in axes of the prim.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.errors import MissingExtra, ModelError
from identify.inertia.conventions.axes import rotation_from_wxyz, wxyz_from_rotation
from identify.inertia.conventions.mass_properties import central_inertia, inertial_frame
from identify.inertia.conventions.orders import entries_in_order, matrix_from_entries
from identify.inertia.matrices import entries_from_symmetric
from identify.spatial import Pose

_UNIT_SCALE_TOLERANCE = 1e-6
"""Deviation of a prim's scale from 1 that counts as rounding."""

_NEWTON_INERTIA = "newton:inertia"

_SAME_INERTIA = 1e-5
"""Largest relative difference of two forms of an inertia, of which one is in single precision."""


class StageUnits(NamedTuple):
    """Units of a stage: a mass [kg] and a length [m]."""

    mass: float
    length: float

    @property
    def inertia(self) -> float:
        """Unit of an inertia [kg m²]."""
        return self.mass * self.length**2


class PrimMass(NamedTuple):
    """Mass properties that a prim states itself, in SI and in its axes without their scale.

    Attributes:
        mass: [kg]; 0 if none is written.
        com: centre of mass from the prim's origin [m], shape (3,); None if none is written.
        axes: R_BC of the axes C of the inertia, shape (3, 3).
        inertia: I_BBcm_C [kg m²], shape (3, 3); None if none is written.
        order: of its numbers, by its name in `ENTRY_ORDERS`, or `diagonal`.
        notes: what is doubtful, a sentence part each.
    """

    mass: float
    com: Vec3 | None
    axes: Mat33
    inertia: Mat33 | None
    order: str
    notes: tuple[str, ...]

    @property
    def inertia_in_prim(self) -> Mat33:
        """Inertia about the centre of mass in axes of the prim [kg m²]; zeros for none."""
        inertia = np.zeros((3, 3)) if self.inertia is None else self.inertia
        return self.axes @ inertia @ self.axes.T

    @property
    def rounding_errors(self) -> Array:
        """Half a unit in single precision of mass and six entries, of what is written in it."""
        entries = np.zeros(6) if self.inertia is None else entries_from_symmetric(self.inertia)
        numbers = np.array([self.mass, 0.0, 0.0, 0.0, *entries])
        numbers[4:] *= self.order == "diagonal"
        return 0.5 * np.finfo(np.float32).eps * np.abs(numbers)


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
    scale = _scale(geometry.XformCache().GetLocalToWorldTransform(prim))
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


def read_mass(prim: Any, units: StageUnits) -> PrimMass:
    """Read the mass properties that a prim states itself; `newton:inertia` goes before moments.

    Raises `ModelError`: a `newton:inertia` that is not six finite numbers.
    """
    geometry, physics = import_usd("UsdGeom", "UsdPhysics")
    if not prim.HasAPI(physics.MassAPI):
        return PrimMass(0.0, None, np.eye(3), None, "diagonal", ())
    api = physics.MassAPI(prim)
    to_world = geometry.XformCache().GetLocalToWorldTransform(prim)
    scale = _scale(to_world)
    notes = []
    if np.abs(scale - 1.0).max() > _UNIT_SCALE_TOLERANCE:
        by = ", ".join(f"{x:.4g}" for x in scale)
        notes.append(f"its prim is scaled by {by}, and its centre of mass with it")
    com = np.array(api.GetCenterOfMassAttr().Get())
    quaternion = api.GetPrincipalAxesAttr().Get()
    wxyz = np.array([quaternion.GetReal(), *quaternion.GetImaginary()])
    axes = rotation_from_wxyz(wxyz) if wxyz.any() else np.eye(3)
    moments = units.inertia * np.array(api.GetDiagonalInertiaAttr().Get())
    inertia = np.diag(moments) if moments.any() else None
    six = _newton_inertia(prim)
    order = "diagonal"
    if six is not None:
        matrix = units.inertia * matrix_from_entries(six, "mujoco")
        if inertia is not None:
            off = np.abs((axes * moments) @ axes.T - matrix).max() / np.abs(matrix).max(initial=0.0)
            if not off <= _SAME_INERTIA:
                notes.append(f"its moments differ from {_NEWTON_INERTIA} by {100.0 * off:.3g} %")
        axes, inertia, order = np.eye(3), matrix, "mujoco"
    position = units.length * com if np.isfinite(com).all() else None
    if position is not None:
        in_world = units.length * np.array(to_world.Transform(com.tolist()))
        X_WB = rigid_pose(to_world, units.length)
        position = X_WB.rotation.T @ (in_world - X_WB.position)
    mass = units.mass * float(api.GetMassAttr().Get())
    return PrimMass(mass, position, axes, inertia, order, tuple(notes))


def _newton_inertia(prim: Any) -> Array | None:
    attribute = prim.GetAttribute(_NEWTON_INERTIA)
    values = attribute.Get() if attribute else None
    if values is None:
        return None
    six = np.array(values, dtype=np.float64)
    if six.shape != (6,) or not np.isfinite(six).all():
        raise ModelError(f"{_NEWTON_INERTIA}: expected six finite numbers, got {list(values)}")
    return six


def _scale(to_world: Any) -> Vec3:
    """Return the lengths of a prim's axes in the world."""
    return np.linalg.norm(np.array(to_world)[:3, :3], axis=1)
