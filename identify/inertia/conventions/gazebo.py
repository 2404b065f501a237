"""Gazebo: `gz::math::Inertial`, which is a `MassMatrix3` and the pose of its frame in the link.

Bi, the frame of the mass matrix, has its origin at the centre of mass; its axes need not be the
link's. `Moi()` is about the centre of mass, in axes of the link. `BodyMatrix()` (gz-math 7 and
newer) is linear first and holds that `Moi()` beside the off-diagonal blocks that belong to the
link's origin: a mixture of two points, so it is neither the spatial inertia about the one nor about
the other, and may have negative eigenvalues. It is here to read and write it, not to compute with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Mat66, Phi, Vec3, Vec4
from identify.errors import ModelError
from identify.inertia.conventions.central import (
    Axes,
    InertialFrame,
    central_inertia,
    inertial_frame,
    require_mass,
)
from identify.inertia.conventions.quaternions import rotation_from_wxyz, wxyz_from_rotation
from identify.inertia.conventions.sealing import seal_batch, seal_fields
from identify.inertia.conventions.six_orders import matrix_from_six, six_in_order
from identify.inertia.conventions.spatial_matrix import phi_from_spatial_matrix, spatial_matrix
from identify.inertia.matrices import inertia_about_origin, phi_from_inertia
from identify.spatial import Pose


@dataclass(frozen=True, slots=True)
class GazeboMassMatrix3:
    """Arguments of `MassMatrix3(mass, ixxyyzz, ixyxzyz)`.

    Attributes:
        mass: [kg], shape (...).
        ixxyyzz: diagonal moments about the centre of mass, in Bi [kg m²], shape (..., 3).
        ixyxzyz: off-diagonal ones [kg m²], shape (..., 3).
    """

    mass: Array
    ixxyyzz: Vec3
    ixyxzyz: Vec3

    def __post_init__(self) -> None:
        seal_fields(self, {"mass": (), "ixxyyzz": (3,), "ixyxzyz": (3,)})

    @property
    def moi(self) -> Mat33:
        """`MassMatrix3::Moi()`, I_BBcm_Bi [kg m²], shape (..., 3, 3)."""
        return matrix_from_six(np.concatenate((self.ixxyyzz, self.ixyxzyz), axis=-1), "gazebo")


@dataclass(frozen=True, slots=True)
class GazeboInertial:
    """Arguments of `Inertial(MassMatrix3, Pose3)`; F is the link's frame.

    Attributes:
        mass_matrix: mass and inertia in Bi.
        position: of the centre of mass in F [m], shape (..., 3).
        quaternion_wxyz: of R_FBi, scalar first as the constructor of `Quaternion`, shape (..., 4).
    """

    mass_matrix: GazeboMassMatrix3
    position: Vec3
    quaternion_wxyz: Vec4

    def __post_init__(self) -> None:
        seal_fields(self, {"position": (3,), "quaternion_wxyz": (4,)})
        if self.position.shape[:-1] != self.mass_matrix.mass.shape:
            raise ModelError(
                f"GazeboInertial: expected one batch shape, got mass matrices "
                f"{self.mass_matrix.mass.shape} and positions {self.position.shape[:-1]}"
            )

    @classmethod
    def from_phi(cls, phi: ArrayLike, axes: Axes = "body") -> Self:
        """The inertial of ten parameters about the link's origin.

        Args:
            phi: shape (..., 10).
            axes: of Bi. `principal` makes the mass matrix diagonal, as
                `SetMassMatrixRotation(Quaternion::Identity)`: axes that are principal already keep
                their order, else the moments ascend.

        Raises:
            ModelError: a mass of zero.
        """
        mass, X_FBi, inertia = inertial_frame(phi, "Gazebo Inertial", axes)
        six = six_in_order(inertia, "gazebo")
        mass_matrix = GazeboMassMatrix3(mass, six[..., :3], six[..., 3:])
        return cls(mass_matrix, X_FBi.position, wxyz_from_rotation(X_FBi.rotation))

    def to_phi(self) -> Phi:
        """Ten parameters about the link's origin, shape (..., 10)."""
        return InertialFrame(self.mass_matrix.mass, self.pose, self.mass_matrix.moi).phi

    @property
    def pose(self) -> Pose:
        """`Inertial::Pose()`, X_FBi."""
        return Pose(rotation_from_wxyz(self.quaternion_wxyz), self.position)

    @property
    def moi(self) -> Mat33:
        """`Inertial::Moi()`: about the centre of mass, in axes of the link, shape (..., 3, 3)."""
        R = self.pose.rotation
        return R @ self.mass_matrix.moi @ np.swapaxes(R, -1, -2)

    @property
    def body_matrix(self) -> Mat66:
        """`Inertial::BodyMatrix()`, linear first, of two points: see the module."""
        return gazebo_body_matrix(self.to_phi())

    def spatial_matrix(self, fluid_added_mass: Mat66) -> Mat66:
        """`Inertial::SpatialMatrix()`: the body matrix and an added mass, added up as they are."""
        return self.body_matrix + seal_batch(fluid_added_mass, "fluid added mass", (6, 6))


def gazebo_body_matrix(phi: ArrayLike) -> Mat66:
    """`BodyMatrix()`: [[m 1, m ĉᵀ], [m ĉ, I_BBcm_B]], linear first, shape (..., 6, 6).

    A mass of zero raises `ModelError`.
    """
    _, _, about_com = central_inertia(phi, "Gazebo BodyMatrix")
    matrix = spatial_matrix(phi, "linear first")
    matrix[..., 3:, 3:] = about_com
    return matrix


def phi_from_gazebo_body_matrix(matrix: ArrayLike) -> Phi:
    """Ten parameters of a `BodyMatrix()` without added mass; inverse of `gazebo_body_matrix`."""
    mixed = phi_from_spatial_matrix(matrix, "linear first")
    require_mass(mixed, "Gazebo BodyMatrix")
    com = mixed[..., 1:4] / mixed[..., :1]
    return phi_from_inertia(mixed[..., 0], com, inertia_about_origin(mixed))
