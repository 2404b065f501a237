"""The publication's noise: white, in the log's own axes, on accelerations and wrench."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from identify.logs import Recording


@dataclass(frozen=True, slots=True)
class Level:
    """A level of noise.

    Attributes:
        name: as published.
        factor: what the lowest level's sigmas are multiplied by.
    """

    name: str
    factor: float


LEVELS = (Level("none", 0.0), Level("low", 1.0), Level("moderate", 2.0), Level("high", 4.0))
"""The published levels, in order of the seeds."""

LOWEST_SIGMAS: Mapping[str, float] = {
    "linear_acceleration": 0.025,
    "angular_acceleration": 0.25,
    "force": 0.05,
    "torque": 0.0025,
}
"""One sigma of each component at the lowest level [m/s², rad/s², N, N m]."""


def noise_generator(level: int, tool: int, seed: int) -> np.random.Generator:
    """The generator of one run, by numbers: every estimator sees the same noise."""
    return np.random.default_rng([level, tool, seed])


def corrupt(recording: Recording, level: Level, rng: np.random.Generator) -> Recording:
    """Add noise to accelerations and wrench; pose and twist stay exact, and are not differentiated.

    Args:
        recording: with linear and angular acceleration, force and torque.
        level: how much.
        rng: makes the noise.
    """
    noisy = {
        name: recording.signals[name]
        + level.factor * sigma * rng.standard_normal(recording.signals[name].shape)
        for name, sigma in LOWEST_SIGMAS.items()
    }
    return replace(recording, signals={**recording.signals, **noisy})
