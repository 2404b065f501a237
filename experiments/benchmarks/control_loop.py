"""What a control loop pays a sample: contact forces."""

from __future__ import annotations

import numpy as np

from experiments.benchmarks.measure import Effort, Line, Spread, race
from identify.arrays import Array
from identify.exchange import SavedEstimate
from identify.inertia import InertialParameters
from identify.pipeline import Compensator

PHI = np.array([1.2, 0.024, 0.0, 0.06, 0.006, 0.0, -0.0012, 0.0065, 0.0, 0.003])
SAMPLES = 2000
COMPENSATED = 20.0
"""Microseconds a sample, at the most."""


def run(effort: Effort) -> list[Line]:
    """A compensated sample."""
    compensator = Compensator(SavedEstimate(InertialParameters(PHI)), offset=np.zeros(6))
    samples = np.random.default_rng(0).standard_normal((effort.scaled(SAMPLES, 10), 3, 6))
    seconds = race({"compensate": lambda: compensated(compensator, samples)}, effort)
    each = Spread.of(1e6 * seconds["compensate"] / len(samples))
    return [
        Line(
            "`Compensator.update`, a sample",
            each.written("µs"),
            f"≤ {COMPENSATED:g} µs",
            each.median <= COMPENSATED,
        )
    ]


def compensated(compensator: Compensator, samples: Array) -> Array:
    """Contact wrenches of samples [twist, acceleration, wrench], all in one attitude."""
    pose = np.eye(4)
    return np.array([compensator.update(pose, *sample) for sample in samples])
