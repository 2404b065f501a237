"""Rotations, poses, spatial vectors (linear first) and the motion of a body."""

from identify.spatial.motion import BodyMotion
from identify.spatial.pose import BodyFrame, Pose, PoseLike
from identify.spatial.rotations import (
    exp_rotation,
    hat,
    log_rotation,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
    unwrap_quaternions,
    vee,
)
from identify.spatial.vectors import adjoint, coadjoint, cross_force, cross_motion

__all__ = [
    "BodyFrame",
    "BodyMotion",
    "Pose",
    "PoseLike",
    "adjoint",
    "coadjoint",
    "cross_force",
    "cross_motion",
    "exp_rotation",
    "hat",
    "log_rotation",
    "quaternion_from_rotation",
    "quaternion_product",
    "rotation_from_quaternion",
    "unwrap_quaternions",
    "vee",
]
