"""Recordings of a motion that is known in closed form, made without any file.

The attitude is a sum of sines in each of three angles, R = Rz(ψ) Ry(θ) Rx(φ); rates and their
derivatives are written out by hand. The wrench is Newton's and Euler's about the centre of mass,
carried to Bo: another route than the toolkit's equations about Bo.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.spatial.transform import Rotation

from identify.inertia import inertia_about_com
from identify.logs import Recording
from identify.logs.effect_keys import EFFECT_KEYS
from identify.logs.synthetic import MotionSamples, synthetic_recording
from identify.spatial import BodyMotion, Pose

GRAVITY = np.array([0.0, 0.0, -9.80665])
WRENCH_ARRAYS = {"force": "force", "torque": "torque", "frame": "body", "acts_on": "body"}
"""Schema table of arrays "force" and "torque" on the body, in its axes."""


@dataclass(frozen=True)
class Sines:
    """Σ_k A_k sin(2π f_k t + φ_k) on three axes, and its derivatives."""

    amplitude: np.ndarray
    frequency_hz: np.ndarray
    phase: np.ndarray

    @classmethod
    def random(
        cls, rng: np.random.Generator, amplitude: float, fastest_hz: float, terms: int = 3
    ) -> Self:
        return cls(
            amplitude=amplitude * rng.uniform(0.4, 1.0, (3, terms)) / np.sqrt(terms),
            frequency_hz=fastest_hz * rng.uniform(0.3, 1.0, (3, terms)),
            phase=rng.uniform(0.0, 2.0 * np.pi, (3, terms)),
        )

    def at(self, time: np.ndarray, order: int = 0) -> np.ndarray:
        omega = 2.0 * np.pi * self.frequency_hz
        angle = omega * time[:, None, None] + self.phase + order * 0.5 * np.pi
        return np.sum(self.amplitude * omega**order * np.sin(angle), axis=-1)


@dataclass(frozen=True)
class Path:
    """A motion known at every time, in the names of a recording; angular quantities in B."""

    place: Sines
    angles: Sines

    @classmethod
    def random(
        cls, seed: int = 0, *, fastest_hz: float = 0.8, distance: float = 0.3, angle: float = 0.9
    ) -> Self:
        rng = np.random.default_rng(seed)
        return cls(Sines.random(rng, distance, fastest_hz), Sines.random(rng, angle, fastest_hz))

    def position(self, time: np.ndarray) -> np.ndarray:
        return self.place.at(time)

    def velocity(self, time: np.ndarray) -> np.ndarray:
        return self.place.at(time, 1)

    def acceleration(self, time: np.ndarray) -> np.ndarray:
        return self.place.at(time, 2)

    def rotation(self, time: np.ndarray) -> Rotation:
        roll, pitch, yaw = self.angles.at(time).T
        return Rotation.from_euler("ZYX", np.column_stack((yaw, pitch, roll)))

    def angular_velocity(self, time: np.ndarray) -> np.ndarray:
        roll, pitch, _ = self.angles.at(time).T
        droll, dpitch, dyaw = self.angles.at(time, 1).T
        return np.column_stack(
            (
                droll - dyaw * np.sin(pitch),
                dpitch * np.cos(roll) + dyaw * np.sin(roll) * np.cos(pitch),
                -dpitch * np.sin(roll) + dyaw * np.cos(roll) * np.cos(pitch),
            )
        )

    def angular_acceleration(self, time: np.ndarray) -> np.ndarray:
        r, p, _ = self.angles.at(time).T
        dr, dp, dy = self.angles.at(time, 1).T
        ddr, ddp, ddy = self.angles.at(time, 2).T
        sr, cr, sp, cp = np.sin(r), np.cos(r), np.sin(p), np.cos(p)
        return np.column_stack(
            (
                ddr - ddy * sp - dy * cp * dp,
                ddp * cr - dp * sr * dr + ddy * sr * cp + dy * (cr * dr * cp - sr * sp * dp),
                -ddp * sr - dp * cr * dr + ddy * cr * cp - dy * (sr * dr * cp + cr * sp * dp),
            )
        )

    def motion(self, time: np.ndarray, gravity: np.ndarray = GRAVITY) -> BodyMotion:
        """Proper acceleration and rates in B."""
        proper = self.rotation(time).inv().apply(self.acceleration(time) - gravity)
        return BodyMotion(proper, self.angular_velocity(time), self.angular_acceleration(time))

    def wrench(
        self, phi: np.ndarray, time: np.ndarray, gravity: np.ndarray = GRAVITY
    ) -> np.ndarray:
        """The wrench on the body at Bo in B, by way of its centre of mass."""
        motion = self.motion(time, gravity)
        a, w = motion.proper_acceleration, motion.angular_velocity
        alpha = motion.angular_acceleration
        com, Ic = phi[1:4] / phi[0], inertia_about_com(phi)
        force = phi[0] * (a + np.cross(alpha, com) + np.cross(w, np.cross(w, com)))
        torque = alpha @ Ic + np.cross(w, w @ Ic) + np.cross(com, force)
        return np.concatenate((force, torque), axis=1)


POSE = ("position", "quaternion")
TWIST = ("linear_velocity", "angular_velocity")
ACCELERATIONS = ("linear_acceleration", "angular_acceleration")
ALL = (*POSE, *TWIST, *ACCELERATIONS)


def record(
    path: Path,
    phi: np.ndarray,
    time: np.ndarray,
    give: Iterable[str] = POSE,
    *,
    stamps: np.ndarray | None = None,
    twist: str = "body",
    acceleration: str = "body",
    kind: str = "classical",
    wrench: str = "body",
    X_BS: Pose | None = None,
    bias: np.ndarray | None = None,
    noise: Mapping[str, float] | None = None,
    seed: int = 0,
    gravity: np.ndarray = GRAVITY,
    name: str = "log",
    **extra: object,
) -> Recording:
    """A recording of a path as a log would give it.

    Args:
        path: the motion.
        phi: the body.
        time: when the rows were taken.
        give: signals of the motion that the log has.
        stamps: the time the log says; the true one where not given.
        twist, acceleration, wrench: frames of these groups.
        kind: of linear acceleration.
        X_BS: pose of the sensor, for a wrench in its frame, or taken there and in world axes.
        bias: of the sensor, in its own (or the body's) axes.
        noise: standard deviation of white noise by signal.
        seed: of the noise.
        gravity: in W.
        name: of the log.
        **extra: further fields of the recording.
    """
    signals = _signals(path, time, twist, acceleration, kind, gravity)
    signals = {key: signals[key] for key in give}
    loads = path.wrench(phi, time, gravity)
    assert X_BS is not None or wrench != "sensor"
    X_BS = None if wrench == "body" else X_BS
    if X_BS is not None:
        loads = _at_sensor(loads, X_BS)
    if bias is not None:
        loads = loads + bias
    force, torque = loads[:, :3], loads[:, 3:]
    if wrench == "world":
        force, torque = (path.rotation(time).apply(v) for v in (force, torque))
    signals |= {"force": force, "torque": torque}
    rng = np.random.default_rng(seed)
    for key, sigma in (noise or {}).items():
        signals[key] = signals[key] + rng.normal(0.0, sigma, signals[key].shape)
    return Recording(
        name=name,
        time=np.asarray(time if stamps is None else stamps)
        - (time if stamps is None else stamps)[0],
        signals={key: np.ascontiguousarray(value) for key, value in signals.items()},
        frames={"twist": twist, "acceleration": acceleration, "wrench": wrench},
        gravity=np.asarray(gravity, dtype=float),
        sources=(),
        sha256=hashlib.sha256(signals["force"].tobytes()).hexdigest(),
        rows=len(time),
        acceleration_kind=kind,
        X_BS=X_BS,
        **extra,
    )


def _signals(
    path: Path, time: np.ndarray, twist: str, acceleration: str, kind: str, gravity: np.ndarray
) -> dict[str, np.ndarray]:
    R = path.rotation(time)
    v, w = path.velocity(time), path.angular_velocity(time)
    a, alpha = path.acceleration(time), path.angular_acceleration(time)
    if kind == "proper":
        a = a - gravity
    elif kind == "spatial":
        a = a - np.cross(R.apply(w), v)
    return {
        "position": path.position(time),
        "quaternion": R.as_quat(),
        "linear_velocity": v if twist == "world" else R.inv().apply(v),
        "angular_velocity": R.apply(w) if twist == "world" else w,
        "linear_acceleration": a if acceleration == "world" else R.inv().apply(a),
        "angular_acceleration": R.apply(alpha) if acceleration == "world" else alpha,
    }


def _at_sensor(loads: np.ndarray, X_BS: Pose) -> np.ndarray:
    """Wrench at Bo in B to the one at So in S: the force's lever from the sensor's origin."""
    force = loads[:, :3]
    torque = loads[:, 3:] - np.cross(X_BS.position, force)
    return np.concatenate((force @ X_BS.rotation, torque @ X_BS.rotation), axis=1)


def still_poses(
    phi: np.ndarray,
    rotations: Rotation,
    *,
    bias: np.ndarray | None = None,
    noise: float | np.ndarray = 0.0,
    seed: int = 0,
    wrench: str = "body",
    gravity: np.ndarray = GRAVITY,
    name: str = "still",
) -> Recording:
    """A recording whose rows are static poses: the body's weight, and nothing else."""
    up = -rotations.inv().apply(gravity)
    force = phi[0] * up
    loads = np.concatenate((force, np.cross(phi[1:4], up)), axis=1)
    loads = loads + (0.0 if bias is None else bias)
    loads = loads + np.random.default_rng(seed).normal(size=loads.shape) * noise
    force, torque = loads[:, :3], loads[:, 3:]
    if wrench == "world":
        force, torque = rotations.apply(force), rotations.apply(torque)
    count = len(loads)
    return Recording(
        name=name,
        time=None,
        signals={
            "position": np.zeros((count, 3)),
            "quaternion": rotations.as_quat(),
            "force": force,
            "torque": torque,
        },
        frames={"wrench": wrench},
        gravity=np.asarray(gravity, dtype=float),
        sources=(),
        sha256=hashlib.sha256(force.tobytes()).hexdigest(),
        rows=count,
    )


def with_signals(log: Recording, **signals: np.ndarray) -> Recording:
    return replace(log, signals={**log.signals, **signals})


def with_wrench(log: Recording, added: np.ndarray) -> Recording:
    """The recording with [f; t] added to its wrench."""
    force, torque = log.signals["force"] + added[:, :3], log.signals["torque"] + added[:, 3:]
    return with_signals(log, force=force, torque=torque)


def filtered_truth(
    path: Path,
    time: np.ndarray,
    taps: np.ndarray,
    rate_hz: float,
    gravity: np.ndarray = GRAVITY,
) -> np.ndarray:
    """Features of the path averaged with the taps about the given times, shape (n, 12)."""
    reach = (np.arange(len(taps)) - 0.5 * (len(taps) - 1)) / rate_hz
    times = time[:, None] + reach
    psi = path.motion(times.ravel(), gravity).features.reshape(*times.shape, 12)
    return np.einsum("ntk,t->nk", psi, taps)


class _Still:
    """Random attitudes and places of a body at rest, as `synthetic_recording` asks a motion."""

    def __init__(self, rng: np.random.Generator, poses: int) -> None:
        q = rng.standard_normal((poses, 4))
        rest = np.zeros((poses, 3))
        self.samples = MotionSamples(
            time=np.zeros(poses),
            position=rng.uniform(-0.5, 0.5, (poses, 3)),
            quaternion=q / np.linalg.norm(q, axis=-1, keepdims=True),
            velocity=rest,
            angular_velocity=rest,
            acceleration=rest,
            angular_acceleration=rest,
        )

    def at(self, t: np.ndarray) -> MotionSamples:
        return self.samples


def synthetic_still_recording(
    phi: Any, *, rng: np.random.Generator, poses: int = 12, **options: Any
) -> Recording:
    """A recording of static poses, without time; `options` are those of `synthetic_recording`."""
    motion: Any = _Still(rng, poses)
    return replace(synthetic_recording(phi, rng=rng, motion=motion, **options), time=None)


NO_EFFECTS = "\n".join(("[effects]", *(f"{name} = false" for name in EFFECT_KEYS), ""))
"""The table of a schema that leaves all small faults of the sensor out of a fit."""


def without_effects(recording: Recording) -> Recording:
    """The recording with a schema that leaves all small faults of its sensor out of a fit."""
    left_out = dict.fromkeys(EFFECT_KEYS, False)
    return replace(recording, schema={**recording.schema, "effects": left_out})
