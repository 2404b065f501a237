"""SDFormat: `<inertial>` with `<pose>`, `<mass>` and `<inertia>`.

The pose is that of the frame C at the centre of mass in the link's frame L; its `relative_to` is
not defined here, unlike in other poses (where an old file resolves it all the same, `in_frame`
moves the result). The inertia is about the centre of mass, in axes of C; products of inertia are
negative integrals. SDFormat advises principal axes, which have no products to mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi
from identify.errors import ModelError
from identify.inertia.conventions.central import Axes, InertialFrame, inertial_frame
from identify.inertia.conventions.euler import rotation_from_rpy, rpy_from_rotation
from identify.inertia.conventions.sealing import seal_fields
from identify.inertia.conventions.six_orders import matrix_from_six, six_in_order
from identify.spatial import Pose, quaternion_from_rotation, rotation_from_quaternion

RotationFormat: TypeAlias = Literal["euler_rpy", "quat_xyzw"]
"""The attribute `rotation_format` of `<pose>`."""

_LENGTHS = {"euler_rpy": 6, "quat_xyzw": 7}


@dataclass(frozen=True, slots=True)
class SdfInertial:
    """The numbers of SDFormat's `<inertial>`.

    Attributes:
        mass: [kg], shape (...).
        pose: x, y, z [m] and roll, pitch, yaw about fixed axes, shape (..., 6), or a quaternion
            x, y, z, w, shape (..., 7).
        inertia: ixx, ixy, ixz, iyy, iyz, izz [kg m²], shape (..., 6).
        rotation_format: what follows the position in `pose`.
        degrees: whether roll, pitch and yaw are in degrees.
    """

    mass: Array
    pose: Array
    inertia: Array
    rotation_format: RotationFormat = "euler_rpy"
    degrees: bool = False

    def __post_init__(self) -> None:
        _check_format(self.rotation_format, degrees=self.degrees)
        length = _LENGTHS[self.rotation_format]
        seal_fields(self, {"mass": (), "pose": (length,), "inertia": (6,)})

    @classmethod
    def from_phi(
        cls,
        phi: ArrayLike,
        axes: Axes = "body",
        *,
        rotation_format: RotationFormat = "euler_rpy",
        degrees: bool = False,
    ) -> Self:
        """The numbers of ten parameters about the link's origin.

        Args:
            phi: shape (..., 10).
            axes: of the inertia: the link's, the principal ones, or a rotation R_LC.
            rotation_format: as `<pose rotation_format>`.
            degrees: as `<pose degrees>`.

        Raises:
            ModelError: a mass of zero, or a quaternion in degrees.
        """
        _check_format(rotation_format, degrees=degrees)
        mass, X_LC, inertia = inertial_frame(phi, "SDF inertial", axes)
        if rotation_format == "quat_xyzw":
            rotation = quaternion_from_rotation(X_LC.rotation)
        else:
            rotation = rpy_from_rotation(X_LC.rotation)
            rotation = np.degrees(rotation) if degrees else rotation
        pose = np.concatenate((X_LC.position, rotation), axis=-1)
        six = six_in_order(inertia, "sdf")
        return cls(mass, pose, six, rotation_format, degrees)

    def to_phi(self) -> Phi:
        """Ten parameters about the link's origin, shape (..., 10)."""
        inertia = matrix_from_six(self.inertia, "sdf")
        return InertialFrame(self.mass, self.X_LC, inertia).phi

    @property
    def X_LC(self) -> Pose:
        """Pose of the inertia's frame in the link's."""
        position, numbers = self.pose[..., :3], self.pose[..., 3:]
        if self.rotation_format == "quat_xyzw":
            return Pose(rotation_from_quaternion(numbers), position)
        return Pose(rotation_from_rpy(np.radians(numbers) if self.degrees else numbers), position)


def _check_format(rotation_format: str, *, degrees: bool) -> None:
    if rotation_format not in _LENGTHS:
        raise ModelError(
            f"rotation_format: expected 'euler_rpy' or 'quat_xyzw', got {rotation_format!r}"
        )
    if degrees and rotation_format == "quat_xyzw":
        raise ModelError("degrees: a quaternion has none; SDFormat refuses degrees='true' with it")
