"""Euler's equations in axes of body and world, and the rate of the attitude.

In B the inertia is constant and ω × I ω is part of the equation; in W the state is the angular
momentum, and the inertia rotates:

    B:  I ω̇ = τ − ω × I ω,              q̇ = ½ q ⊗ ω_B
    W:  L̇ = τ,  ω = I_W⁻¹ L,  I_W = R I Rᵀ,  İ_W = [ω×] I_W − I_W [ω×],   q̇ = ½ ω_W ⊗ q
        I_W ω̇ + ω × I_W ω = τ  (as İ_W ω = ω × I_W ω)

Moments and torques are about the centre of mass, or about a point fixed in the world.
"""

from __future__ import annotations

import numpy as np

from identify.arrays import Mat33, Vec3, Vec4, as_real
from identify.spatial import hat, quaternion_product, rotation_from_quaternion
from identify.spatial.rotations import cross


def angular_acceleration(inertia: Mat33, angular_velocity: Vec3, torque: Vec3) -> Vec3:
    """Compute the angular acceleration ω̇ = I⁻¹ (τ − ω × I ω) [rad/s²], shape (..., 3).

    All arguments are in the axes of the same frame, B or W: dω/dt is the same vector in both.

    Args:
        inertia: I [kg m²], shape (..., 3, 3).
        angular_velocity: w_WB [rad/s], shape (..., 3).
        torque: τ [N m], shape (..., 3).
    """
    inertia, w = as_real(inertia, "inertia"), as_real(angular_velocity, "angular_velocity")
    momentum = np.einsum("...ij,...j->...i", inertia, w)
    return np.linalg.solve(inertia, (np.asarray(torque) - cross(w, momentum))[..., None])[..., 0]


def inertia_in_world(inertia: Mat33, quaternion: Vec4) -> Mat33:
    """Compute the inertia in axes of the world, I_W = R I Rᵀ [kg m²], shape (..., 3, 3).

    Args:
        inertia: in axes of B [kg m²], shape (..., 3, 3).
        quaternion: R_WB, shape (..., 4).
    """
    R = rotation_from_quaternion(quaternion)
    return R @ np.asarray(inertia) @ np.swapaxes(R, -1, -2)


def inertia_rate_in_world(inertia_W: Mat33, angular_velocity_W: Vec3) -> Mat33:
    """Compute the rate of the inertia in axes of the world, İ_W = [ω×] I_W − I_W [ω×] [kg m²/s].

    Args:
        inertia_W: I_W, shape (..., 3, 3).
        angular_velocity_W: w_WB_W [rad/s], shape (..., 3).
    """
    skew = hat(angular_velocity_W)
    return skew @ inertia_W - inertia_W @ skew


def angular_velocity_of_momentum(inertia: Mat33, quaternion: Vec4, momentum_W: Vec3) -> Vec3:
    """Compute the angular velocity w_WB_W = I_W⁻¹ L from the angular momentum, shape (..., 3).

    Args:
        inertia: in axes of B [kg m²], shape (..., 3, 3).
        quaternion: R_WB, shape (..., 4).
        momentum_W: L in W [kg m²/s], shape (..., 3).
    """
    I_W = inertia_in_world(inertia, quaternion)
    return np.linalg.solve(I_W, np.asarray(momentum_W)[..., None])[..., 0]


def quaternion_rate(quaternion: Vec4, angular_velocity: Vec3) -> Vec4:
    """Compute the rate of the attitude, q̇ = ½ q ⊗ ω_B, shape (..., 4).

    Args:
        quaternion: R_WB, shape (..., 4).
        angular_velocity: w_WB_B [rad/s], shape (..., 3).
    """
    return 0.5 * quaternion_product(quaternion, _pure_quaternion(angular_velocity))


def quaternion_rate_in_world(quaternion: Vec4, angular_velocity_W: Vec3) -> Vec4:
    """Compute the rate of the attitude, q̇ = ½ ω_W ⊗ q, shape (..., 4).

    Args:
        quaternion: R_WB, shape (..., 4).
        angular_velocity_W: w_WB_W [rad/s], shape (..., 3).
    """
    return 0.5 * quaternion_product(_pure_quaternion(angular_velocity_W), quaternion)


def _pure_quaternion(v: Vec3) -> Vec4:
    v = as_real(v, "v")
    return np.concatenate((v, np.zeros_like(v[..., :1])), axis=-1)
