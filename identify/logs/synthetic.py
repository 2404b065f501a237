"""Synthetic logs: recordings of a body whose parameters are known, exact or with noise.

They serve tests and examples. The wrench is that of the Newton-Euler equations about Bo,
f = m a' + (α× + ω×ω×) h and t = h × a' + I α + ω × I ω, with a' = a_WBo − g; nothing is
differentiated, so a log without noise is exact to rounding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, Vec3, Vec6, seal
from identify.inertia import inertia_about_origin
from identify.logs.recording import Frame, Recording
from identify.logs.synthetic_motion import MotionSamples, SyntheticMotion, random_motion
from identify.spatial.rotations import (
    exp_rotation,
    quaternion_product,
    rotate,
    rotate_back,
    rotation_from_quaternion,
)
from identify.spatial.vectors import GRAVITY_W

Included: TypeAlias = Literal["pose", "twist", "all"]
"""The signals besides the wrench: the pose, with the twist, or with the acceleration too."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviation of the white noise of each component of a signal, in SI."""

    position: float = 0.0
    orientation: float = 0.0
    """Of the rotation vector, in body axes [rad]."""
    linear_velocity: float = 0.0
    angular_velocity: float = 0.0
    linear_acceleration: float = 0.0
    angular_acceleration: float = 0.0
    force: float = 0.0
    torque: float = 0.0


def synthetic_recording(
    phi: ArrayLike,
    *,
    rng: np.random.Generator,
    motion: SyntheticMotion | None = None,
    duration: float = 20.0,
    rate_hz: float = 200.0,
    gravity: ArrayLike = GRAVITY_W,
    bias: ArrayLike = (0.0,) * 6,
    noise: Noise | None = None,
    include: Included = "pose",
    frame: Literal["body", "world"] = "body",
) -> Recording:
    """A recording of a body that moves as `motion` says.

    Args:
        phi: ten parameters about Bo in B, shape (10,).
        rng: makes the motion, where none is given, and the noise.
        motion: how the body moves; a random one by default.
        duration: length of the log [s].
        rate_hz: samples a second.
        gravity: g in W [m/s²].
        bias: what the sensor adds to the wrench, [f; t] in body axes.
        noise: standard deviations; none by default.
        include: which signals the log has besides the wrench.
        frame: axes of the twist, the acceleration and the wrench.
    """
    motion = motion or random_motion(rng)
    samples = motion.at(np.arange(round(duration * rate_hz)) / rate_hz)
    sensor = _Sensor(
        seal(phi, "phi", (10,)), seal(gravity, "gravity", (3,)), seal(bias, "bias", (6,))
    )
    signals = sensor.measure(samples, noise or Noise(), rng, include)
    return _recording(samples.time, signals, sensor.gravity, frame)


def synthetic_still_recording(
    phi: ArrayLike,
    *,
    rng: np.random.Generator,
    poses: int = 12,
    gravity: ArrayLike = GRAVITY_W,
    bias: ArrayLike = (0.0,) * 6,
    noise: Noise | None = None,
    frame: Literal["body", "world"] = "body",
) -> Recording:
    """A recording of still poses in random attitudes, without time; arguments as above."""
    q = rng.standard_normal((poses, 4))
    still = np.zeros((poses, 3))
    samples = MotionSamples(
        time=np.zeros(poses),
        position=rng.uniform(-0.5, 0.5, (poses, 3)),
        quaternion=q / np.linalg.norm(q, axis=-1, keepdims=True),
        velocity=still,
        angular_velocity=still,
        acceleration=still,
        angular_acceleration=still,
    )
    sensor = _Sensor(
        seal(phi, "phi", (10,)), seal(gravity, "gravity", (3,)), seal(bias, "bias", (6,))
    )
    signals = sensor.measure(samples, noise or Noise(), rng, "pose")
    return _recording(None, signals, sensor.gravity, frame)


def wrench_on_body(phi: Phi, samples: MotionSamples, gravity: Vec3) -> Vec6:
    """The wrench that makes a body move so, at Bo in B, shape (n, 6)."""
    m, h, inertia = phi[0], phi[1:4], inertia_about_origin(phi)
    w, alpha = samples.angular_velocity, samples.angular_acceleration
    R = rotation_from_quaternion(samples.quaternion)
    a = rotate_back(R, samples.acceleration - gravity)
    force = m * a + np.cross(alpha, h) + np.cross(w, np.cross(w, h))
    torque = np.cross(h, a) + alpha @ inertia + np.cross(w, w @ inertia)
    return np.concatenate((force, torque), axis=-1)


@dataclass(frozen=True, slots=True)
class _Sensor:
    phi: Phi
    gravity: Vec3
    bias: Vec6

    def measure(
        self, samples: MotionSamples, noise: Noise, rng: np.random.Generator, include: Included
    ) -> dict[str, Array]:
        """Signals in body axes, position and attitude in world axes, with noise and bias."""
        wrench = wrench_on_body(self.phi, samples, self.gravity) + self.bias
        R = rotation_from_quaternion(samples.quaternion)
        exact = {"position": samples.position, "force": wrench[:, :3], "torque": wrench[:, 3:]}
        if include in ("twist", "all"):
            exact["linear_velocity"] = rotate_back(R, samples.velocity)
            exact["angular_velocity"] = samples.angular_velocity
        if include == "all":
            exact["linear_acceleration"] = rotate_back(R, samples.acceleration)
            exact["angular_acceleration"] = samples.angular_acceleration
        signals = {
            name: signal + getattr(noise, name) * rng.standard_normal(signal.shape)
            for name, signal in exact.items()
        }
        tilt = exp_rotation(noise.orientation * rng.standard_normal((len(R), 3)))
        return signals | {"quaternion": quaternion_product(samples.quaternion, tilt)}


def _recording(
    time: Array | None, signals: Mapping[str, Array], gravity: Vec3, frame: Frame
) -> Recording:
    if frame == "world":
        R = rotation_from_quaternion(signals["quaternion"])
        fixed = ("position", "quaternion")
        signals = {k: s if k in fixed else rotate(R, s) for k, s in signals.items()}
    present = {
        "twist": "linear_velocity" in signals,
        "acceleration": "linear_acceleration" in signals,
        "wrench": True,
    }
    content = hashlib.sha256()
    for name in sorted(signals):
        content.update(np.ascontiguousarray(signals[name]).tobytes())
    return Recording(
        name="synthetic",
        time=None if time is None else seal(time, "time", (None,)),
        signals={name: seal(signal, name, (None, None)) for name, signal in signals.items()},
        frames={group: frame for group, given in present.items() if given},
        gravity=gravity,
        sources=(),
        sha256=content.hexdigest(),
        rows=len(signals["force"]),
    )
