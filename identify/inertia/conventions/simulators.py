"""Inertial records of MuJoCo, SDFormat, URDF and Gazebo: about the centre of mass, in a frame.

**MuJoCo.** `diaginertia` is in the frame given by `quat` (scalar first), and kept as given;
`fullinertia` is in axes of the body, excludes `quat`, and the compiler converts it to principal
moments in descending order.

**SDFormat.** `<pose>` is that of the frame C at the centre of mass in the link's frame L; its
`relative_to` is not defined here, unlike in other poses (if an old file uses it, `in_frame` moves
the result). Principal axes are recommended, because they have no products with ambiguous signs.
URDF has the same numbers, its `xyz` and `rpy` are the pose.

**Gazebo.** `gz::math::Inertial` is a `MassMatrix3` and the pose of its frame Bi in the link.
`Moi()` is in axes of the link. `BodyMatrix()` (gz-math 7 and newer) is linear first and holds that
`Moi()` beside the off-diagonal blocks that belong to the link's origin: a mixture of two points, so
it is not the spatial inertia about either point, and may have negative eigenvalues. It is here for
reading and writing, not for computation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np

from identify.arrays import Array, Flags, Mat33, Mat66, Phi, PhiLike, Vec3, Vec4, seal
from identify.errors import ModelError
from identify.inertia.conventions.axes import (
    principal_frame,
    rotation_from_rpy,
    rotation_from_wxyz,
    rpy_from_rotation,
    wxyz_from_rotation,
)
from identify.inertia.conventions.mass_properties import (
    Axes,
    FieldShapes,
    InertialFrame,
    SealedRecord,
    central_inertia,
    inertial_frame,
)
from identify.inertia.conventions.orders import (
    entries_in_order,
    matrix_from_entries,
    spatial_matrix,
)
from identify.spatial import Pose, quaternion_from_rotation, rotation_from_quaternion

MUJOCO_MIN_INERTIA = 1e-15
"""Smallest mass [kg] and `diaginertia` [kg m²] of a moving body that MuJoCo compiles (mjMINVAL)."""

MUJOCO_MIN_FULL_INERTIA = 1e-14
"""Smallest principal moment of `fullinertia` that MuJoCo compiles [kg m²] (mjEPS)."""

RotationFormat: TypeAlias = Literal["euler_rpy", "quat_xyzw"]
"""Attribute `rotation_format` of SDFormat's `<pose>`."""

_POSE_LENGTHS = {"euler_rpy": 6, "quat_xyzw": 7}


@dataclass(frozen=True, slots=True)
class MujocoInertial(SealedRecord):
    """MuJoCo's `<inertial pos quat mass diaginertia>`.

    Attributes:
        mass: [kg], shape (...).
        pos: centre of mass in the body's frame [m], shape (..., 3).
        quat_wxyz: orientation of the principal axes in the body's frame, scalar first, shape
            (..., 4).
        diaginertia: principal moments about the centre of mass [kg m²], shape (..., 3).
    """

    SHAPES: ClassVar = {"mass": (), "pos": (3,), "quat_wxyz": (4,), "diaginertia": (3,)}
    mass: Array
    pos: Vec3
    quat_wxyz: Vec4
    diaginertia: Vec3

    @classmethod
    def from_phi(cls, phi: PhiLike) -> Self:
        """Create the inertial from ten parameters, with moments in the compiler's descending order.

        Raises:
            ModelError: a mass of zero or below it.
        """
        mass, com, inertia = central_inertia(phi, "mujoco", positive=True)
        moments, R = principal_frame(inertia, "descending")
        return cls(mass, com, wxyz_from_rotation(R), moments)

    def to_phi(self) -> Phi:
        """Compute the ten parameters about the body's origin, shape (..., 10)."""
        X_BC = Pose(rotation_from_wxyz(self.quat_wxyz), self.pos)
        return InertialFrame(self.mass, X_BC, self.diaginertia[..., None, :] * np.eye(3)).phi

    @property
    def compiles(self) -> Flags:
        """Whether MuJoCo's compiler accepts the numbers for a moving body, shape (...).

        It requires the mass and the moments to be at least `MUJOCO_MIN_INERTIA`, and A + B ≥ C
        exactly, without a tolerance, for any order of the moments (unless `balanceinertia` is on).
        """
        a, b, c = np.moveaxis(self.diaginertia, -1, 0)
        large = (self.mass >= MUJOCO_MIN_INERTIA) & (self.diaginertia >= MUJOCO_MIN_INERTIA).all(-1)
        return large & (a + b >= c) & (a + c >= b) & (b + c >= a)


@dataclass(frozen=True, slots=True)
class SdfInertial(SealedRecord):
    """SDFormat's `<inertial>`; with angles in radians also URDF's.

    Attributes:
        mass: [kg], shape (...).
        pose: x, y, z [m] and roll, pitch, yaw about fixed axes, shape (..., 6), or a quaternion
            x, y, z, w, shape (..., 7).
        inertia: ixx, ixy, ixz, iyy, iyz, izz in axes of C [kg m²], shape (..., 6).
        rotation_format: format of the rotation after the position in `pose`.
        degrees: whether roll, pitch and yaw are in degrees.
    """

    mass: Array
    pose: Array
    inertia: Array
    rotation_format: RotationFormat = "euler_rpy"
    degrees: bool = False

    def _shapes(self) -> FieldShapes:
        if self.rotation_format not in _POSE_LENGTHS:
            raise ModelError(
                f"rotation_format: expected 'euler_rpy' or 'quat_xyzw', "
                f"got {self.rotation_format!r}"
            )
        if self.degrees and self.rotation_format == "quat_xyzw":
            raise ModelError(
                "degrees: a quaternion has none; SDFormat refuses degrees='true' with it"
            )
        return {"mass": (), "pose": (_POSE_LENGTHS[self.rotation_format],), "inertia": (6,)}

    @classmethod
    def from_phi(
        cls,
        phi: PhiLike,
        axes: Axes = "body",
        *,
        rotation_format: RotationFormat = "euler_rpy",
        degrees: bool = False,
    ) -> Self:
        """Create the inertial from ten parameters about the link's origin.

        Args:
            phi: shape (..., 10).
            axes: axes of the inertia: the link's, the principal ones, or a rotation R_LC.
            rotation_format: as `<pose rotation_format>`.
            degrees: as `<pose degrees>`.

        Raises:
            ModelError: a mass of zero, or a quaternion in degrees.
        """
        mass, X_LC, inertia = inertial_frame(phi, "SDF or URDF inertial", axes)
        if rotation_format == "quat_xyzw":
            rotation = quaternion_from_rotation(X_LC.rotation)
        else:
            rotation = rpy_from_rotation(X_LC.rotation)
            rotation = np.degrees(rotation) if degrees else rotation
        pose = np.concatenate((X_LC.position, rotation), axis=-1)
        return cls(mass, pose, entries_in_order(inertia, "sdf"), rotation_format, degrees)

    def to_phi(self) -> Phi:
        """Compute the ten parameters about the link's origin, shape (..., 10)."""
        return InertialFrame(self.mass, self.X_LC, matrix_from_entries(self.inertia, "sdf")).phi

    @property
    def X_LC(self) -> Pose:
        """Pose of the inertia's frame C in the link's frame L."""
        position, numbers = self.pose[..., :3], self.pose[..., 3:]
        if self.rotation_format == "quat_xyzw":
            return Pose(rotation_from_quaternion(numbers), position)
        return Pose(rotation_from_rpy(np.radians(numbers) if self.degrees else numbers), position)


@dataclass(frozen=True, slots=True)
class GazeboInertial(SealedRecord):
    """Gazebo's `Inertial(MassMatrix3(mass, ixxyyzz, ixyxzyz), Pose3(position, quaternion))`.

    F is the link's frame, Bi that of the mass matrix.

    Attributes:
        mass: [kg], shape (...).
        ixxyyzz: diagonal moments about the centre of mass, in Bi [kg m²], shape (..., 3).
        ixyxzyz: products of inertia [kg m²], shape (..., 3).
        position: centre of mass in F [m], shape (..., 3).
        quaternion_wxyz: quaternion of R_FBi, scalar first as in Gazebo's `Quaternion`, shape
            (..., 4).
    """

    SHAPES: ClassVar = {
        "mass": (),
        "ixxyyzz": (3,),
        "ixyxzyz": (3,),
        "position": (3,),
        "quaternion_wxyz": (4,),
    }
    mass: Array
    ixxyyzz: Vec3
    ixyxzyz: Vec3
    position: Vec3
    quaternion_wxyz: Vec4

    @classmethod
    def from_phi(cls, phi: PhiLike, axes: Axes = "body") -> Self:
        """Create the inertial from ten parameters about the link's origin.

        Args:
            phi: shape (..., 10).
            axes: axes of Bi. `principal` makes the mass matrix diagonal, as
                `SetMassMatrixRotation(Quaternion::Identity)`: axes that are principal already keep
                their order, else the moments ascend.

        Raises:
            ModelError: a mass of zero.
        """
        mass, X_FBi, inertia = inertial_frame(phi, "gazebo", axes)
        six = entries_in_order(inertia, "gazebo")
        quaternion = wxyz_from_rotation(X_FBi.rotation)
        return cls(mass, six[..., :3], six[..., 3:], X_FBi.position, quaternion)

    def to_phi(self) -> Phi:
        """Compute the ten parameters about the link's origin, shape (..., 10)."""
        return InertialFrame(self.mass, self.pose, self.mass_matrix_moi).phi

    @property
    def pose(self) -> Pose:
        """Pose of the mass matrix in the link, X_FBi, as `Inertial::Pose()`."""
        return Pose(rotation_from_wxyz(self.quaternion_wxyz), self.position)

    @property
    def mass_matrix_moi(self) -> Mat33:
        """Inertia I_BBcm_Bi in axes of Bi, as `MassMatrix3::Moi()` [kg m²], shape (..., 3, 3)."""
        return matrix_from_entries(np.concatenate((self.ixxyyzz, self.ixyxzyz), axis=-1), "gazebo")

    @property
    def moi(self) -> Mat33:
        """Inertia about the centre of mass in axes of the link, as `Inertial::Moi()`."""
        R = self.pose.rotation
        return R @ self.mass_matrix_moi @ np.swapaxes(R, -1, -2)

    @property
    def body_matrix(self) -> Mat66:
        """Matrix [[m 1, m ĉᵀ], [m ĉ, I_BBcm_B]] as `Inertial::BodyMatrix()`, of mixed points."""
        return spatial_matrix(self.to_phi(), "linear first", "mixed")

    def spatial_matrix(self, fluid_added_mass: Mat66) -> Mat66:
        """Add an added mass to the body matrix, as `Inertial::SpatialMatrix()`."""
        return self.body_matrix + seal(fluid_added_mass, "fluid added mass", (..., 6, 6))
