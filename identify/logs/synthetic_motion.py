"""Band-limited motions whose velocity and acceleration are known in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec3, Vec4
from identify.spatial.rotations import (
    exp_rotation,
    quaternion_product,
    rotate_back,
    rotation_from_quaternion,
)


@dataclass(frozen=True, slots=True)
class Harmonics:
    """Sums of sines, x_i(t) = Σ_k a_ik sin(2π f_k t + ϕ_ik).

    Attributes:
        amplitude: a, shape (channels, k).
        phase: ϕ [rad], shape (channels, k).
        frequency_hz: f, shape (k,).
    """

    amplitude: Array
    phase: Array
    frequency_hz: Array

    def derivative(self, t: Array, order: int) -> Array:
        """The derivative of an order (0 is the value itself), shape (len(t), channels)."""
        w = 2.0 * np.pi * self.frequency_hz
        argument = w * t[:, None, None] + self.phase + 0.5 * np.pi * order
        return np.sum(self.amplitude * w**order * np.sin(argument), axis=-1)


@dataclass(frozen=True, slots=True)
class MotionSamples:
    """Pose, velocity and acceleration of a body at some times, exact.

    Attributes:
        time: shape (n,) [s].
        position: p_WoBo_W, shape (n, 3).
        quaternion: R_WB, shape (n, 4).
        velocity: v_WBo_W.
        angular_velocity: w_WB_B.
        acceleration: a_WBo_W, classical.
        angular_acceleration: α_WB_B.
    """

    time: Array
    position: Vec3
    quaternion: Vec4
    velocity: Vec3
    angular_velocity: Vec3
    acceleration: Vec3
    angular_acceleration: Vec3


@dataclass(frozen=True, slots=True)
class SyntheticMotion:
    """A motion of six sums of sines: three of the position, three of angles.

    The attitude is R_WB = R_z(θ₁) R_y(θ₂) R_x(θ₃).

    Attributes:
        position: of p_WoBo_W [m], three channels.
        angles: θ [rad], three channels.
    """

    position: Harmonics
    angles: Harmonics

    def at(self, t: Array) -> MotionSamples:
        """The motion at some times [s].

        The rates follow the chain of axes, as those of a wrist with three joints do:
        ω ← Rᵀω + θ̇ e,  α ← Rᵀα + θ̈ e + Rᵀω × θ̇ e.
        """
        q = np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
        w, alpha = np.zeros((len(t), 3)), np.zeros((len(t), 3))
        theta = [self.angles.derivative(t, order) for order in range(3)]
        for joint, axis in enumerate(np.eye(3)[::-1]):
            turn, rate, second = (angle[:, joint, None] * axis for angle in theta)
            step = exp_rotation(turn)
            R = rotation_from_quaternion(step)
            carried = rotate_back(R, w)
            alpha = rotate_back(R, alpha) + second + np.cross(carried, rate)
            w = carried + rate
            q = quaternion_product(q, step)
        return MotionSamples(
            time=t,
            position=self.position.derivative(t, 0),
            quaternion=q,
            velocity=self.position.derivative(t, 1),
            angular_velocity=w,
            acceleration=self.position.derivative(t, 2),
            angular_acceleration=alpha,
        )


def random_motion(
    rng: np.random.Generator,
    *,
    bandwidth_hz: float = 1.0,
    harmonics: int = 5,
    reach: float = 0.3,
    turn: float = 1.5,
) -> SyntheticMotion:
    """A motion that excites every parameter, no faster than a bandwidth.

    Args:
        rng: what makes it reproducible.
        bandwidth_hz: the highest frequency; the others are its even fractions.
        harmonics: how many sines a channel has.
        reach: bound of each coordinate of the position [m].
        turn: bound of each angle [rad].
    """
    frequency = bandwidth_hz * np.arange(1, harmonics + 1) / harmonics

    def channels(bound: float) -> Harmonics:
        amplitude = rng.uniform(0.5, 1.0, (3, harmonics)) / np.sqrt(np.arange(1, harmonics + 1))
        amplitude *= bound / amplitude.sum(axis=-1, keepdims=True)
        return Harmonics(amplitude, rng.uniform(0.0, 2.0 * np.pi, (3, harmonics)), frequency)

    return SyntheticMotion(position=channels(reach), angles=channels(turn))
