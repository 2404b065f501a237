"""Clean logs of all kinds, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from experiments.silent_study.scoring import largest_error
from experiments.silent_study.subjects import random_body, random_offset
from identify.arrays import Phi
from identify.errors import IdentifyError
from identify.logs import Noise, Recording, synthetic_recording
from identify.logs.synthetic_motion import random_motion
from identify.pipeline import check_logs

_MOST_ROWS = 30_000
_EXCITATION = ("little_motion", "motion_noise", "completed")
"""Findings that say, of a clean log too, what it does not show."""


@dataclass(frozen=True, slots=True)
class CleanScore:
    """Of one clean log.

    Attributes:
        name: of the log, with its rate and length.
        alarms: codes of warnings and errors, of those but for what its motion does not show.
        shown: codes of those.
        off: largest error of a reported parameter, in half-widths; NaN without an estimate.
    """

    name: str
    alarms: tuple[str, ...]
    shown: tuple[str, ...]
    off: float


def clean_recording(number: int, seed: int) -> tuple[Recording, Phi]:
    """A log with nothing wrong of a random body, motion, rate, sensor and set of signals."""
    rng = np.random.default_rng([seed, 1000 + number])
    phi = random_body(rng)
    rate, bandwidth = np.exp(rng.uniform(np.log([50.0, 0.4]), np.log([2000.0, 2.0])))
    duration = min(float(rng.uniform(15.0, 60.0)), _MOST_ROWS / rate)
    size = np.exp(rng.uniform(np.log(0.3), np.log(3.0), size=4))
    noise = Noise(
        force=0.05 * size[0],
        torque=0.005 * size[1],
        position=5e-5 * size[2],
        orientation=1e-4 * size[3],
        linear_velocity=1e-3 * size[2],
        angular_velocity=2e-3 * size[3],
        linear_acceleration=0.02 * size[2],
        angular_acceleration=0.1 * size[3],
    )
    include = ("pose", "twist", "all")[int(rng.choice(3, p=[0.6, 0.15, 0.25]))]
    log = synthetic_recording(
        phi,
        rng=rng,
        motion=random_motion(rng, bandwidth_hz=bandwidth),
        duration=duration,
        rate_hz=rate,
        noise=noise,
        bias=random_offset(rng),
        include=include,
    )
    schema = {
        "log": {"time": "t"},
        "pose": {"position": list("xyz"), "quaternion": list("abcd")},
        "wrench": {"acts_on": "body"},
    }
    name = f"clean {number}: {include}, {rate:.0f} Hz, {duration:.0f} s"
    return replace(log, name=name, schema=schema), phi


def clean_scored(number: int, seed: int) -> CleanScore:
    """Check a clean log, other readings of it too."""
    log, phi = clean_recording(number, seed)
    try:
        found = check_logs(log)
    except IdentifyError as error:
        return CleanScore(log.name, (f"refused: {type(error).__name__}",), (), np.nan)
    codes = [f.code for f in found.findings if f.severity != "info"]
    if found.failure and not codes:
        codes.append(f"no estimate: {found.failure[:60]}")
    alarms = tuple(code for code in codes if code not in _EXCITATION)
    shown = tuple(code for code in codes if code in _EXCITATION)
    off = np.nan if found.result is None else largest_error(found.result.estimate, phi)
    return CleanScore(log.name, alarms, shown, off)
