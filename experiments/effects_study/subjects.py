"""Simulated logs before noise is added: a body, an exact motion, and their signals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify import InertialParameters, Recording, read_log
from identify.arrays import Array, Phi
from identify.logs.synthetic import MotionSamples, random_motion, wrench_on_body
from identify.spatial import rotations
from identify.spatial.vectors import GRAVITY_W, STANDARD_GRAVITY

STILL, SLOW, SEGMENTS = "still", "slow", "segments"
MOTIONS = {
    "20 s": (20.0, 1.0, 0.2, 1.0),
    "40 s": (40.0, 0.7, 0.3, 1.5),
    SLOW: (30.0, 0.3, 0.15, 0.35),
    SEGMENTS: (60.0, 1.2, 0.25, 1.2),
}
"""Duration [s], bandwidth [Hz], reach [m] and turn [rad] of all motions but static poses."""

BODIES = {
    "slender tool": (0.4, (0.012, -0.005, 0.14), (4.1e-3, 4.1e-3, 6e-5)),
    "gripper": (1.3, (0.004, -0.009, 0.062), (4.2e-3, 3.6e-3, 2.1e-3)),
    "plate": (3.5, (0.035, 0.02, 0.045), (0.0264, 0.0468, 0.0729)),
    "offset block": (8.0, (0.09, -0.05, 0.11), (0.0246, 0.0363, 0.0417)),
}
"""Mass [kg], centre of mass [m] and principal moments about it [kg m²]."""

RUN_IN_S = 0.5
"""Time simulated before the first logged row, so that filters settle [s]."""


@dataclass(frozen=True, slots=True)
class Log:
    """A simulated log before its noise is added.

    Attributes:
        phi: the true body about Bo in B, shape (10,).
        samples: the exact motion with its run-in; the time of static poses is their number.
        position, quaternion: the pose as it is logged, without noise.
        wrench: [f; t] in B at Bo as measured, without noise and offset, shape (n, 6).
        noise: standard deviation of the six channels of the wrench.
        logged: whether the log contains each row, shape (n,).
        rate_hz: sampling rate [Hz]; 0 for static poses.
        gain_accuracy: relative 1σ of force and torque gains, as the schema states it.
    """

    phi: Phi
    samples: MotionSamples
    position: Array
    quaternion: Array
    wrench: Array
    noise: Array
    logged: Array
    rate_hz: float
    gain_accuracy: tuple[float, float] | None = None

    @property
    def scale(self) -> Array:
        """Weight of the body, and weight times lever arm, for the six channels of a wrench."""
        lever = max(float(np.linalg.norm(self.phi[1:4]) / self.phi[0]), 0.03)
        return self.phi[0] * STANDARD_GRAVITY * np.repeat([1.0, lever], 3)

    def in_body(self, v: Array) -> Array:
        """Rotate vectors from W into the true body axes, shape (n, 3)."""
        return rotations.rotate_back(rotations.rotation_from_quaternion(self.samples.quaternion), v)

    def recording(self, rng: np.random.Generator) -> Recording:
        """Return the log as read, with noise of pose and sensor, and the sensor offset."""
        n = len(self.wrench)
        tilt = log_uniform(rng, 2e-5, 3e-4) * rng.normal(size=(n, 3))
        q = rotations.quaternion_product(self.quaternion, rotations.exp_rotation(tilt))
        offset = rng.normal(size=6) * np.repeat([3.0, 0.15], 3)
        wrench = (self.wrench + offset + self.noise * rng.normal(size=(n, 6)))[self.logged]
        position = self.position + log_uniform(rng, 1e-5, 1e-4) * rng.normal(size=(n, 3))
        accuracy = {} if self.gain_accuracy is None else {"gain_accuracy": self.gain_accuracy}
        return read_log(
            {
                "time": self.samples.time[self.logged],
                "position": position[self.logged],
                "quaternion": q[self.logged],
                "force": wrench[:, :3],
                "torque": wrench[:, 3:],
            },
            {
                "log": {"time": "time"} if self.rate_hz else {"still": True},
                "pose": {"position": "position", "quaternion": "quaternion"},
                "wrench": {"force": "force", "torque": "torque", "frame": "body"}
                | {"acts_on": "body", **accuracy},
            },
        )


def clean_log(body: str, motion: str, rng: np.random.Generator) -> Log:
    """Return a clean log: a variation of the named body, in a random motion of a kind."""
    phi = _varied(body, rng)
    rate = 0.0 if motion == STILL else float(rng.choice([100.0, 125.0, 200.0, 250.0]))
    samples = _moving(motion, rate, rng) if rate else _static_poses(rng)
    quiet = 1.0 if rate else 0.2  # rows of static poses are means over some time
    noise = quiet * np.repeat([log_uniform(rng, 0.02, 0.2), log_uniform(rng, 1e-3, 8e-3)], 3)
    logged = samples.time >= 0.0
    if motion == SEGMENTS:  # of 3 to 5 s, with gaps of 1 to 2 s between them
        edges = np.cumsum(rng.uniform([3.0, 1.0], [5.0, 2.0], (30, 2)))
        logged &= np.searchsorted(edges, samples.time) % 2 == 0
    wrench = wrench_on_body(phi, samples, GRAVITY_W)
    return Log(phi, samples, samples.position, samples.quaternion, wrench, noise, logged, rate)


def log_uniform(rng: np.random.Generator, least: float, most: float) -> float:
    """Draw a positive number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))


def direction(rng: np.random.Generator) -> Array:
    """Draw a random unit vector, shape (3,)."""
    v = rng.normal(size=3)
    return np.asarray(v / np.linalg.norm(v))


def _varied(body: str, rng: np.random.Generator) -> Phi:
    """Return the body with its mass changed by up to 20 %, rotated, and shifted by some cm."""
    mass, com, moments = BODIES[body]
    factor = float(rng.uniform(0.8, 1.2))
    R = rotations.rotation_from_quaternion(rotations.exp_rotation(rng.uniform(-0.6, 0.6, 3)))
    inertia = factor * R @ np.diag(moments) @ R.T
    com = R @ com + rng.uniform(-0.02, 0.02, 3)
    return InertialParameters.from_com(factor * mass, com, inertia).phi


def _moving(motion: str, rate_hz: float, rng: np.random.Generator) -> MotionSamples:
    duration, bandwidth, reach, turn = MOTIONS[motion]
    bandwidth *= float(rng.uniform(0.8, 1.2))
    path = random_motion(rng, bandwidth_hz=bandwidth, reach=reach, turn=turn)
    return path.at(np.arange(round(-RUN_IN_S * rate_hz), round(duration * rate_hz)) / rate_hz)


def _static_poses(rng: np.random.Generator) -> MotionSamples:
    n = int(rng.integers(16, 31))
    q, zero = rotations.normalised_quaternion(rng.normal(size=(n, 4))), np.zeros((n, 3))
    return MotionSamples(np.arange(float(n)), rng.uniform(-0.3, 0.3, (n, 3)), q, *[zero] * 4)
