"""Recordings of a known body: of a simulated motion, or synthetic ones, exact or with noise.

The wrench of a synthetic one is that of the Newton-Euler equations about Bo,
f = m a' + (α× + ω×ω×) h and t = h × a' + I α + ω × I ω, with a' = a_WBo − g; nothing is
differentiated, so a log without noise is exact to rounding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Phi, Vec3, Vec6, seal
from identify.errors import LogError
from identify.inertia import inertia_about_origin
from identify.logs.parts import Frame
from identify.logs.recording import Recording
from identify.logs.synthetic_motion import MotionSamples, SyntheticMotion, random_motion
from identify.spatial.rotations import (
    exp_rotation,
    quaternion_product,
    rotate,
    rotate_back,
    rotation_from_quaternion,
    rotation_from_unit_quaternion,
)
from identify.spatial.vectors import GRAVITY_W

if TYPE_CHECKING:
    from identify.simulation import Trajectory

MOST_ROWS = 2_000_000
"""Of a synthetic log, which is made as a whole: its fit takes 4 GB."""

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

    Raises:
        LogError: it would have more than `MOST_ROWS`.
    """
    if not duration * rate_hz <= MOST_ROWS:
        raise LogError(
            f"duration = {duration:g} at rate_hz = {rate_hz:g} makes "
            f"{duration * rate_hz:.3g} rows; a synthetic log has at most {MOST_ROWS}"
        )
    phi, bias = seal(phi, "phi", (10,)), seal(bias, "bias", (6,))
    gravity, noise = seal(gravity, "gravity", (3,)), noise or Noise()
    motion = motion or random_motion(rng)
    samples = motion.at(np.arange(round(duration * rate_hz)) / rate_hz)
    wrench = wrench_on_body(phi, samples, gravity) + bias
    R = rotation_from_quaternion(samples.quaternion)
    exact = {"position": samples.position, "force": wrench[:, :3], "torque": wrench[:, 3:]}
    frames: dict[str, Frame] = {"wrench": frame}
    if include in ("twist", "all"):
        frames["twist"] = frame
        exact["linear_velocity"] = rotate_back(R, samples.velocity)
        exact["angular_velocity"] = samples.angular_velocity
    if include == "all":
        frames["acceleration"] = frame
        exact["linear_acceleration"] = rotate_back(R, samples.acceleration)
        exact["angular_acceleration"] = samples.angular_acceleration
    signals = {
        name: signal + getattr(noise, name) * rng.standard_normal(signal.shape)
        for name, signal in exact.items()
    }
    tilt = exp_rotation(noise.orientation * rng.standard_normal((len(R), 3)))
    signals["quaternion"] = quaternion_product(samples.quaternion, tilt)
    if frame == "world":
        R = rotation_from_quaternion(signals["quaternion"])
        for name in signals.keys() - {"position", "quaternion"}:
            signals[name] = rotate(R, signals[name])
    return _recording("synthetic", samples.time, signals, gravity, frames)


def recording_of_motion(path: Trajectory, wrench: Vec6, gravity: Vec3, name: str) -> Recording:
    """The states of one body and the wrench on it as a recording: pose, twist (in W) and wrench.

    Args:
        path: of one body, shape (n, ·).
        wrench: [f; t] on the body at Bo in B, gravity left out, shape (n, 6).
        gravity: g in W [m/s²], shape (3,).
        name: of the recording.

    Raises:
        LogError: more than one body.
    """
    if path.position.ndim != 2:
        raise LogError(
            f"a recording is of one body, got a trajectory of shape {path.position.shape}; take "
            f"one body out of the batch"
        )
    R = rotation_from_unit_quaternion(path.quaternion)
    signals = {
        "position": path.position,
        "quaternion": path.quaternion,
        "linear_velocity": path.velocity,
        "angular_velocity": rotate(R, path.angular_velocity),
        "force": wrench[..., :3],
        "torque": wrench[..., 3:],
    }
    frames: dict[str, Frame] = {"twist": "world", "wrench": "body"}
    return _recording(name, path.time, signals, gravity, frames)


def wrench_on_body(phi: Phi, samples: MotionSamples, gravity: Vec3) -> Vec6:
    """The wrench that makes a body move so, at Bo in B, shape (n, 6)."""
    m, h, inertia = phi[0], phi[1:4], inertia_about_origin(phi)
    w, alpha = samples.angular_velocity, samples.angular_acceleration
    R = rotation_from_quaternion(samples.quaternion)
    a = rotate_back(R, samples.acceleration - gravity)
    force = m * a + np.cross(alpha, h) + np.cross(w, np.cross(w, h))
    torque = np.cross(h, a) + alpha @ inertia + np.cross(w, w @ inertia)
    return np.concatenate((force, torque), axis=-1)


def _recording(
    name: str,
    time: Array,
    signals: Mapping[str, Array],
    gravity: Vec3,
    frames: Mapping[str, Frame],
) -> Recording:
    content = hashlib.sha256()
    for signal in sorted(signals):
        content.update(np.ascontiguousarray(signals[signal]).tobytes())
    return Recording(
        name=name,
        time=seal(time, "time", (None,)),
        signals={key: seal(signal, key, (None, None)) for key, signal in signals.items()},
        frames=frames,
        gravity=seal(gravity, "gravity", (3,)),
        sources=(),
        sha256=content.hexdigest(),
        rows=len(signals["force"]),
    )
