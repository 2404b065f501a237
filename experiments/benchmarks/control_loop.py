"""Cost of a control loop per sample: contact forces, and an online fit."""

from __future__ import annotations

import time

import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread, race
from identify.arrays import Array
from identify.exchange import SavedEstimate
from identify.inertia import InertialParameters
from identify.logs import Noise, Recording, synthetic_recording
from identify.pipeline import Compensator, OnlineFit

PHI = np.array([1.2, 0.024, 0.0, 0.06, 0.006, 0.0, -0.0012, 0.0065, 0.0, 0.003])
SAMPLES = 2000
SECONDS = 120
COMPENSATED, FITTED = 20.0, 50.0
"""Maximum time per compensated sample, and average time per fitted sample [µs]."""

_RATES_HZ = (100.0, 500.0)

_SAMPLES = {
    "pose": {"position": "position", "quaternion": "quaternion"},
    "wrench": {"force": "force", "torque": "torque", "frame": "body", "acts_on": "body"},
}
"""Schema of the samples."""


def run(effort: Effort) -> list[ReportLine]:
    """Measure a compensated sample, and the average and the slowest sample of an online fit."""
    compensator = Compensator(SavedEstimate(InertialParameters(PHI)), offset=np.zeros(6))
    samples = np.random.default_rng(0).standard_normal((effort.scaled(SAMPLES, 10), 3, 6))
    seconds = race({"compensate": lambda: contact_wrenches(compensator, samples)}, effort)
    per_sample = Spread.of(1e6 * seconds["compensate"] / len(samples))
    return [
        ReportLine(
            "`Compensator.update`, a sample",
            per_sample.text("µs"),
            f"≤ {COMPENSATED:g} µs",
            per_sample.median <= COMPENSATED,
        ),
        *(line for rate_hz in _RATES_HZ for line in _online(effort, rate_hz)),
    ]


def contact_wrenches(compensator: Compensator, samples: Array) -> Array:
    """Return contact wrenches of samples [twist, acceleration, wrench] in one attitude."""
    pose = np.eye(4)
    return np.array([compensator.update(pose, *sample) for sample in samples])


def _online(effort: Effort, rate_hz: float) -> list[ReportLine]:
    log = synthetic_recording(
        PHI,
        rng=np.random.default_rng(0),
        duration=effort.scaled(SECONDS, 30),
        rate_hz=rate_hz,
        noise=Noise(position=1e-5, orientation=1e-4, force=0.05, torque=0.005),
    )
    time_online_fit(log)  # warm-up: imports and caches are not part of a sample
    turns = np.array([time_online_fit(log) for _ in range(effort.repetitions)])
    average, longest = Spread.of(1e6 * turns[:, 0]), Spread.of(1e3 * turns[:, 1])
    return [
        ReportLine(
            f"`OnlineFit.update` at {rate_hz:g} Hz, a sample on average",
            average.text("µs"),
            f"≤ {FITTED:g} µs",
            average.median <= FITTED,
        ),
        ReportLine(
            f"the slowest sample at {rate_hz:g} Hz, which completes a block", longest.text("ms")
        ),
    ]


def time_online_fit(log: Recording) -> tuple[float, float]:
    """Return the average and the longest time per sample of a log [s]."""
    fit, total, longest = OnlineFit(schema=_SAMPLES), 0.0, 0.0
    assert log.time is not None
    for stamp, *values in zip(log.time.tolist(), *log.signals.values(), strict=True):
        sample = dict(zip(log.signals, values, strict=True))
        started = time.perf_counter()
        fit.update(stamp, **sample)
        took = time.perf_counter() - started
        total, longest = total + took, max(longest, took)
    fit.finish()
    assert fit.statistics is not None
    return total / len(log), longest
