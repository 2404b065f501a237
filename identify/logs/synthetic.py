"""Synthetic recordings of a known body, exact or with noise.

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

from identify.arrays import Array, Phi, Vec3, Vec4, Vec6, seal
from identify.errors import LogError, ProblemError
from identify.inertia import InertialParameters, inertia_about_origin
from identify.logs.recording import Recording
from identify.logs.recording_parts import Frame
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
        """Return a derivative by order (0 is the value), shape (len(t), channels)."""
        w = 2.0 * np.pi * self.frequency_hz
        argument = w * t[:, None, None] + self.phase + 0.5 * np.pi * order
        return np.sum(self.amplitude * w**order * np.sin(argument), axis=-1)


@dataclass(frozen=True, slots=True)
class MotionSamples:
    """Exact pose, velocity and acceleration of a body at given times.

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
    """Motion given by sums of sines, three for the position and three for angles.

    The attitude is R_WB = R_z(θ₁) R_y(θ₂) R_x(θ₃).

    Attributes:
        position: of p_WoBo_W [m], three channels.
        angles: θ [rad], three channels.
    """

    position: Harmonics
    angles: Harmonics

    def at(self, t: Array) -> MotionSamples:
        """Return the motion at given times [s].

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
    """Draw a motion that excites every parameter within a bandwidth.

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


BOX_DENSITIES = (100.0, 8000.0)
"""Least and largest density of a random box [kg/m³]: of foam and of steel."""

_MAX_DRAWS = 2000


def random_box(
    rng: np.random.Generator, mass: float | tuple[float, float], size: float | tuple[float, float]
) -> tuple[InertialParameters, Vec3]:
    """Draw a solid box of a possible density, turned, with its centre within half a size of Bo.

    Sides are drawn until the density is within `BOX_DENSITIES`.

    Args:
        rng: what makes it reproducible.
        mass: [kg], or the ends of a range in which its logarithm is uniform.
        size: longest side that the box may have [m], or such a range.

    Returns:
        The body about Bo in B, and the extent of the box along the axes of B [m].

    Raises:
        ProblemError: no box of this mass and size has a possible density.
    """
    weight = _draw(rng, mass)
    low, high = BOX_DENSITIES
    for _ in range(_MAX_DRAWS):
        longest = _draw(rng, size)
        sides = longest * rng.uniform(0.2, 1.0, 3)
        if low <= weight / sides.prod() <= high:
            break
    else:
        raise ProblemError(
            f"no box of mass = {weight:g} kg and size = {size} m drawn in {_MAX_DRAWS} trials "
            f"has a density of {low:g} to {high:g} kg/m³: change mass or size"
        )
    R = rotation_from_quaternion(exp_rotation(rng.uniform(-np.pi, np.pi, 3)))
    com = 0.5 * longest * rng.uniform(-1.0, 1.0, 3)
    inertia = R @ np.diag(weight / 12.0 * (sides @ sides - sides**2)) @ R.T
    body = InertialParameters.from_com(weight, com, 0.5 * (inertia + inertia.T))
    return body, np.abs(R) @ sides


def _draw(rng: np.random.Generator, value: float | tuple[float, float]) -> float:
    """Return a number, or draw one whose logarithm is uniform between two ends."""
    if isinstance(value, tuple):
        low, high = value
        return float(low * (high / low) ** rng.uniform())
    return value


MAX_ROWS = 2_000_000
"""Maximum number of rows of a synthetic log (its fit takes 4 GB)."""

IncludedSignals: TypeAlias = Literal["pose", "twist", "all"]
"""Motion signals of a synthetic log: pose; pose and twist; or also acceleration."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviation of the white noise of each component of a signal, in SI."""

    position: float = 0.0
    orientation: float = 0.0
    """Noise of the rotation vector in body axes [rad]."""
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
    include: IncludedSignals = "pose",
    frame: Literal["body", "world"] = "body",
) -> Recording:
    """Simulate the recording of a body that moves as `motion`.

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
        LogError: it would have more than `MAX_ROWS`.
    """
    if not duration * rate_hz <= MAX_ROWS:
        raise LogError(
            f"duration = {duration:g} at rate_hz = {rate_hz:g} makes "
            f"{duration * rate_hz:.3g} rows; a synthetic log has at most {MAX_ROWS}"
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
    """Return states and wrench of a body as a recording: pose, twist (in W) and wrench.

    `path`: of one body, shape (n, ·); `wrench`: [f; t] on the body at Bo in B, gravity left out,
    shape (n, 6); `gravity`: g in W [m/s²], shape (3,).
    Raises `LogError`: more than one body.
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
    """Compute the wrench that produces a body's motion, at Bo in B, shape (n, 6)."""
    m = phi[0]
    h = phi[1:4]
    inertia = inertia_about_origin(phi)
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
