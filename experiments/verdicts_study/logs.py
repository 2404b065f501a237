"""Simulated logs of the study: random bodies on motions from 2° to full turns, and still poses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from experiments.effects_study.subjects import Log, direction, log_uniform
from identify import InertialParameters
from identify.arrays import Array, Phi
from identify.estimation.scale_accuracy import gain_deviations
from identify.logs.synthetic import Harmonics, MotionSamples, SyntheticMotion, wrench_on_body
from identify.spatial.rotations import (
    exp_rotation,
    normalised_quaternion,
    quaternion_product,
    rotate,
    rotation_from_quaternion,
)
from identify.spatial.vectors import GRAVITY_W

SWINGS = {
    "one axis": (1, (2.0, 180.0), (0.05, 3.0)),
    "two axes": (2, (2.0, 180.0), (0.05, 3.0)),
    "three axes, slow": (3, (2.0, 180.0), (0.05, 0.3)),
    "three axes, fast": (3, (10.0, 180.0), (0.5, 3.0)),
    "shake": (3, (1.0, 3.0), (0.5, 1.5)),
    "translation": (0, (20.0, 20.0), (0.6, 2.0)),
}
"""Number of axes about which the body turns, ranges of the amplitude [deg] and of the largest rate
[rad/s]; their ratio is the frequency, also of the position."""

STILL_POSES = {
    f"{count} poses, {size}": (count, tilt)
    for count in (3, 6, 12)
    for size, tilt in {"small": (2.0, 10.0), "large": (30.0, 180.0)}.items()
}
"""Number of still poses, and range of their largest tilt from a common attitude [deg]."""

MOTIONS = (*SWINGS, *STILL_POSES)

SHAPES = ((1.0, 1.0, 1.0), (1.0, 0.8, 0.1), (1.0, 0.1, 0.1), (1.0, 0.6, 0.35))
"""Ratios of the sides of boxes: cube, plate, rod and brick."""

MAX_FREQUENCY_HZ, MAX_ACCELERATION = 4.0, 5.0
"""Limits of a motion, as of an arm [Hz, m/s²]."""

TILT_OF_WORLD, POINT_OFFSET = 2e-3, 5e-4
"""Constant errors of the pose, 1σ of each coordinate: of its vertical [rad], of its point [m]."""


def random_box(rng: np.random.Generator) -> tuple[Phi, float]:
    """Draw a box of 0.2 to 12 kg and its longest side [m], with its centre up to 0.3 m from Bo."""
    mass, density = log_uniform(rng, 0.2, 12.0), log_uniform(rng, 300.0, 4000.0)
    ratios = np.array(SHAPES[rng.integers(len(SHAPES))])
    sides = min(np.cbrt(mass / density / ratios.prod()), 0.6) * ratios
    R = rotation_from_quaternion(normalised_quaternion(rng.normal(size=4)))
    inertia = R @ np.diag(mass / 12.0 * (sides @ sides - sides**2)) @ R.T
    com = rng.uniform(0.0, 0.3) * direction(rng)
    return InertialParameters.from_com(mass, com, inertia).phi, float(sides.max())


def simulated_log(phi: Phi, motion: str, accuracy: float, rng: np.random.Generator) -> Log:
    """Return the log of a body on one of `MOTIONS`, by a sensor of a given gain accuracy.

    The gains are drawn from the distribution that `gain_accuracy` states: independent errors of the
    channels, and a common one of the forces and of the torques. Of the pose, the vertical and the
    point are slightly off.
    """
    still = motion in STILL_POSES
    rate_hz = 0.0 if still else float(rng.choice([100.0, 125.0]))
    samples = _still_poses(motion, rng) if still else _swing(motion, rate_hz, rng)
    channels, common = np.split(gain_deviations(accuracy)[0], [6])
    gains = 1.0 + channels * rng.normal(size=6) + np.repeat(common * rng.normal(size=2), 3)
    noise = np.repeat([log_uniform(rng, 0.02, 0.2), log_uniform(rng, 1e-3, 8e-3)], 3)
    point = rotate(
        rotation_from_quaternion(samples.quaternion), POINT_OFFSET * rng.normal(size=(1, 3))
    )
    tilt = exp_rotation(TILT_OF_WORLD * rng.normal(size=3))
    return Log(
        phi=phi,
        samples=samples,
        position=rotate(rotation_from_quaternion(tilt), samples.position + point),
        quaternion=quaternion_product(tilt, samples.quaternion),
        wrench=gains * wrench_on_body(phi, samples, GRAVITY_W),
        noise=noise * (0.2 if still else 1.0),  # rows of still poses are means over some time
        logged=np.ones(len(samples.time), dtype=bool),
        rate_hz=rate_hz,
        gain_accuracy=(accuracy, accuracy),
    )


def _swing(motion: str, rate_hz: float, rng: np.random.Generator) -> MotionSamples:
    """Return sines about some axes from a random attitude, and of all coordinates of position."""
    axes, (least, most), rates = SWINGS[motion]
    amplitude = np.radians(log_uniform(rng, least, most))
    frequency = min(log_uniform(rng, *rates) / (2.0 * np.pi * amplitude), MAX_FREQUENCY_HZ)
    turns = amplitude * rng.permutation(np.arange(3) < axes)
    reach = min(log_uniform(rng, 0.01, 0.15), MAX_ACCELERATION / (2.0 * np.pi * frequency) ** 2)
    frequencies = frequency * np.array([1.0, 0.76, 0.58])
    position, angles = (
        Harmonics(np.diag(sizes), rng.uniform(0.0, 2.0 * np.pi, (3, 3)), frequencies)
        for sizes in (np.full(3, reach), turns)
    )
    times = np.arange(round(rng.uniform(12.0, 30.0) * rate_hz)) / rate_hz
    return _from_random_attitude(SyntheticMotion(position, angles).at(times), rng)


def _still_poses(motion: str, rng: np.random.Generator) -> MotionSamples:
    count, (least, most) = STILL_POSES[motion]
    tilt = np.radians(log_uniform(rng, least, most)) * rng.uniform(0.3, 1.0, (count, 1))
    q = exp_rotation(tilt * np.array([direction(rng) for _ in range(count)]))
    position, zero = rng.uniform(-0.3, 0.3, (count, 3)), np.zeros((count, 3))
    samples = MotionSamples(np.arange(float(count)), position, q, *[zero] * 4)
    return _from_random_attitude(samples, rng)


def _from_random_attitude(samples: MotionSamples, rng: np.random.Generator) -> MotionSamples:
    attitude: Array = normalised_quaternion(rng.normal(size=4))
    return replace(samples, quaternion=quaternion_product(attitude, samples.quaternion))
