"""Clean logs of all kinds, and their false alarms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import lfilter

from experiments.silent_study.scoring import largest_error
from experiments.silent_study.subjects import random_body, random_offset
from identify.arrays import Array, Phi
from identify.errors import IdentifyError
from identify.logs import Noise, Recording, synthetic_recording
from identify.logs.synthetic import random_motion
from identify.pipeline import check_logs

_MAX_ROWS = 30_000
_KINDS = ("white", "white", "white", "coloured", "rounded")
"""Noise of the wrench in successive logs: white, coloured, or below the quantisation step."""

_MEMORY_S = 0.25
"""Memory of coloured noise [s]."""

_STEP = 5.0
"""Quantisation step, in standard deviations of the noise."""

_EXCITATION = ("little_motion", "motion_noise", "completed")
"""Findings on missing excitation, which a clean log can have."""


@dataclass(frozen=True, slots=True)
class CleanScore:
    """Result of one clean log.

    Attributes:
        name: name of the log, with its rate and length.
        alarms: codes of warnings and errors other than those on excitation.
        excitation: codes of findings on missing excitation.
        largest_error: largest error of a reported parameter, in half-widths; NaN without an
            estimate.
        usable: verdict of the fit; "none" without an estimate.
    """

    name: str
    alarms: tuple[str, ...]
    excitation: tuple[str, ...]
    largest_error: float
    usable: str = "none"


def clean_recording(number: int, seed: int) -> tuple[Recording, Phi]:
    """Make a clean log of a random body, motion, rate, sensor and set of signals."""
    rng = np.random.default_rng([seed, 1000 + number])
    phi = random_body(rng)
    rate, bandwidth = np.exp(rng.uniform(np.log([50.0, 0.4]), np.log([2000.0, 2.0])))
    duration = min(float(rng.uniform(15.0, 60.0)), _MAX_ROWS / rate)
    size = np.exp(rng.uniform(np.log(0.3), np.log(3.0), size=4))
    kind = _KINDS[number % len(_KINDS)]
    of_wrench = np.repeat([0.05 * size[0], 0.005 * size[1]], 3)
    white = kind != "coloured"
    noise = Noise(
        force=white * of_wrench[0],
        torque=white * of_wrench[3],
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
    wrench = np.concatenate([log.signals["force"], log.signals["torque"]], axis=1)
    if kind == "coloured":
        wrench = wrench + of_wrench * _coloured(rng, len(wrench), rate)
    if kind == "rounded":
        wrench = _STEP * of_wrench * np.round(wrench / (_STEP * of_wrench))
    signals = {**log.signals, "force": wrench[:, :3], "torque": wrench[:, 3:]}
    schema = {
        "log": {"time": "t"},
        "pose": {"position": list("xyz"), "quaternion": list("abcd")},
        "wrench": {"acts_on": "body"},
    }
    name = f"clean {number}: {include}, {rate:.0f} Hz, {duration:.0f} s, {kind} noise"
    return replace(log, name=name, schema=schema, signals=signals), phi


def _coloured(rng: np.random.Generator, rows: int, rate_hz: float) -> Array:
    """Draw six channels of AR(1) noise of unit variance, shape (rows, 6)."""
    keep = float(np.exp(-1.0 / (_MEMORY_S * rate_hz)))
    steps = rng.normal(size=(rows, 6))
    first = steps[:1] * (1.0 - (1.0 - keep**2) ** 0.5)
    gain = [(1.0 - keep**2) ** 0.5]
    return np.asarray(lfilter(gain, [1.0, -keep], steps, axis=0, zi=first)[0])


def score_clean_log(number: int, seed: int) -> CleanScore:
    """Make and check a clean log, and score the findings."""
    log, phi = clean_recording(number, seed)
    try:
        result = check_logs(log)
    except IdentifyError as error:
        return CleanScore(log.name, (f"refused: {type(error).__name__}",), (), np.nan)
    codes = [f.code for f in result.findings if f.severity != "info"]
    if result.fit_error and not codes:
        codes.append(f"no estimate: {result.fit_error[:60]}")
    alarms = tuple(code for code in codes if code not in _EXCITATION)
    excitation = tuple(code for code in codes if code in _EXCITATION)
    if result.result is None:
        return CleanScore(log.name, alarms, excitation, np.nan)
    off = largest_error(result.result.estimate, phi)
    return CleanScore(log.name, alarms, excitation, off, result.result.verdict.usable)
