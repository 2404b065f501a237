"""Poses X_AB: position and orientation of frame B in frame A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from identify.arrays import Array, Mat33, Mat44, Vec3, as_real, seal
from identify.errors import ModelError
from identify.spatial.rotations import rotation_from_quaternion

_ORTHOGONALITY_TOLERANCE = 1e-6
"""Largest |RᵀR − 1| of a rotation: logs and models print six to nine digits."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Pose X_AB of frame B in frame A, or a batch of poses: rotation R_AB and position p_AoBo_A.

    Poses compose with `@`, neighbouring frames cancel: `X_AC = X_AB @ X_BC`. Where a function takes
    a pose, a homogeneous transform, shape (..., 4, 4), does as well (`PoseLike`).

    Attributes:
        rotation: R_AB, shape (..., 3, 3).
        position: p_AoBo_A [m], shape (..., 3).
    """

    rotation: Mat33
    position: Vec3

    def __post_init__(self) -> None:
        rotation = seal(self.rotation, "pose: the rotation", (..., 3, 3))
        position = seal(self.position, "pose: the position", (..., 3))
        error = np.abs(np.swapaxes(rotation, -1, -2) @ rotation - np.eye(3)).max(initial=0.0)
        if not (error <= _ORTHOGONALITY_TOLERANCE and (np.linalg.det(rotation) > 0.0).all()):
            raise ModelError(
                f"pose: the rotation is not a right-handed orthonormal matrix (off by {error:.1e})"
            )
        object.__setattr__(self, "rotation", rotation)
        object.__setattr__(self, "position", position)

    @classmethod
    def identity(cls) -> Pose:
        """Return the identity pose."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def of(cls, X_AB: PoseLike) -> Pose:
        """Convert homogeneous transforms, shape (..., 4, 4), to a pose; return a pose unchanged.

        Raises:
            ModelError: not a 4×4 matrix with a rotation and a last row of 0, 0, 0, 1.
        """
        if isinstance(X_AB, Pose):
            return X_AB
        T = seal(X_AB, "pose", (..., 4, 4))
        if (T[..., 3, :] != (0.0, 0.0, 0.0, 1.0)).any():
            raise ModelError(
                f"pose: expected a Pose or a 4×4 matrix whose last row is [0, 0, 0, 1], got "
                f"{T[..., 3, :].tolist()} there"
            )
        return cls(T[..., :3, :3], T[..., :3, 3])

    @classmethod
    def from_quaternion(cls, quaternion: ArrayLike, position: ArrayLike) -> Pose:
        """Create a pose from a quaternion [x, y, z, w] of R_AB, normalised here, and p_AoBo_A."""
        rotation = rotation_from_quaternion(as_real(quaternion, "quaternion"))
        return cls(rotation, as_real(position, "position"))

    @property
    def matrix(self) -> Mat44:
        """Homogeneous transforms T_AB, shape (..., 4, 4)."""
        batch = np.broadcast_shapes(self.rotation.shape[:-2], self.position.shape[:-1])
        matrix = np.zeros((*batch, 4, 4))
        matrix[..., :3, :3] = self.rotation
        matrix[..., :3, 3] = self.position
        matrix[..., 3, 3] = 1.0
        return matrix

    def inverse(self) -> Pose:
        """Return the inverse pose X_BA."""
        transposed = np.swapaxes(self.rotation, -1, -2)
        return Pose(transposed, -np.einsum("...ij,...j->...i", transposed, self.position))

    def apply(self, points: Vec3) -> Vec3:
        """Transform points from B to A: p_A = R_AB p_B + p_AoBo_A.

        Args:
            points: shape (..., 3), broadcast with the poses.
        """
        return np.einsum("...ij,...j->...i", self.rotation, points) + self.position

    def __matmul__(self, other: PoseLike) -> Pose:
        other = Pose.of(other)
        return Pose(self.rotation @ other.rotation, self.apply(other.position))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the homogeneous transforms, so that NumPy uses a pose as its 4×4 matrix."""
        return np.asarray(self.matrix, dtype=dtype)


PoseLike: TypeAlias = Pose | ArrayLike
"""A pose as an argument: a `Pose`, or its 4×4 matrix."""


@dataclass(frozen=True, slots=True)
class BodyFrame:
    """Name of the body frame B, and poses of the flange and of the tool point in it.

    Attributes:
        name: name of the frame, such as "wrist sensor"; None if not given.
        flange: X_BF, the pose of the robot's flange in B; None if unknown.
        tcp: X_BT, the pose of the tool point in B; None if unknown.
    """

    name: str | None = None
    flange: Pose | None = None
    tcp: Pose | None = None
