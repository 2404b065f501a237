"""Roll, pitch and yaw as URDF and SDF mean them: about the fixed axes x, y, z, in this order."""

from __future__ import annotations

import numpy as np

from identify.arrays import Mat33, Vec3


def rotation_from_rpy(rpy: Vec3) -> Mat33:
    """Rotation of fixed-axis angles, R = Rz(yaw) Ry(pitch) Rx(roll).

    Args:
        rpy: roll, pitch, yaw [rad], shape (..., 3).

    Returns:
        Shape (..., 3, 3).
    """
    rpy = np.asarray(rpy, dtype=np.float64)
    sr, sp, sy = np.moveaxis(np.sin(rpy), -1, 0)
    cr, cp, cy = np.moveaxis(np.cos(rpy), -1, 0)
    rotation = np.empty((*rpy.shape[:-1], 3, 3))
    rotation[..., 0, 0] = cy * cp
    rotation[..., 0, 1] = cy * sp * sr - sy * cr
    rotation[..., 0, 2] = cy * sp * cr + sy * sr
    rotation[..., 1, 0] = sy * cp
    rotation[..., 1, 1] = sy * sp * sr + cy * cr
    rotation[..., 1, 2] = sy * sp * cr - cy * sr
    rotation[..., 2, 0] = -sp
    rotation[..., 2, 1] = cp * sr
    rotation[..., 2, 2] = cp * cr
    return rotation


def rpy_from_rotation(rotation: Mat33) -> Vec3:
    """Fixed-axis angles of a rotation, exact at a pitch of ±π/2 too.

    Yaw comes first, and roll from what remains after it is taken off, Rz(−yaw) R: at a pitch of
    ±π/2, where only their sum or difference is determined, any yaw then finds its roll.

    Args:
        rotation: shape (..., 3, 3).

    Returns:
        Roll and yaw in [−π, π], pitch in [−π/2, π/2] [rad], shape (..., 3).
    """
    R = np.asarray(rotation, dtype=np.float64)
    yaw = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    s, c = np.sin(yaw), np.cos(yaw)
    pitch = np.arctan2(-R[..., 2, 0], np.hypot(R[..., 0, 0], R[..., 1, 0]))
    roll = np.arctan2(s * R[..., 0, 2] - c * R[..., 1, 2], c * R[..., 1, 1] - s * R[..., 0, 1])
    return np.stack((roll, pitch, yaw), axis=-1)
