"""URDF: `<inertial>` with `<origin xyz rpy>`, `<mass>` and `<inertia>`.

The origin places the frame C of the inertia at the centre of mass; `rpy` are angles about the
link's fixed axes, R_LC = Rz(yaw) Ry(pitch) Rx(roll). The inertia is about the centre of mass, in
axes of C; products of inertia are negative integrals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, Vec3
from identify.inertia.conventions.central import Axes, InertialFrame, inertial_frame
from identify.inertia.conventions.euler import rotation_from_rpy, rpy_from_rotation
from identify.inertia.conventions.sealing import seal_fields
from identify.inertia.conventions.six_orders import matrix_from_six, six_in_order
from identify.spatial import Pose


@dataclass(frozen=True, slots=True)
class UrdfInertial:
    """The numbers of URDF's `<inertial>`.

    Attributes:
        mass: [kg], shape (...).
        xyz: centre of mass in the link's frame [m], shape (..., 3).
        rpy: roll, pitch, yaw of the inertia's axes in the link's [rad], shape (..., 3).
        inertia: ixx, ixy, ixz, iyy, iyz, izz [kg m²], shape (..., 6).
    """

    mass: Array
    xyz: Vec3
    rpy: Vec3
    inertia: Array

    def __post_init__(self) -> None:
        seal_fields(self, {"mass": (), "xyz": (3,), "rpy": (3,), "inertia": (6,)})

    @classmethod
    def from_phi(cls, phi: ArrayLike, axes: Axes = "body") -> Self:
        """The numbers of ten parameters about the link's origin.

        Args:
            phi: shape (..., 10).
            axes: of the inertia: the link's (rpy = 0), the principal ones, or a rotation R_LC,
                such as that of an `<origin>` that stays as it is.

        Raises:
            ModelError: a mass of zero.
        """
        mass, X_LC, inertia = inertial_frame(phi, "URDF inertial", axes)
        rpy = rpy_from_rotation(X_LC.rotation)
        return cls(mass, X_LC.position, rpy, six_in_order(inertia, "urdf"))

    def to_phi(self) -> Phi:
        """Ten parameters about the link's origin, shape (..., 10)."""
        X_LC = Pose(rotation_from_rpy(self.rpy), self.xyz)
        return InertialFrame(self.mass, X_LC, matrix_from_six(self.inertia, "urdf")).phi
