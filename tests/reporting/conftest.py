"""Fits of small logs, one of each kind that a report must cope with."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from identify.inertia import InertialParameters
from identify.logs import Recording
from identify.logs.synthetic import Noise, synthetic_recording
from identify.pipeline import FitSettings, Result, fit
from tests.recordings import synthetic_still_recording

BODY = InertialParameters.from_com(
    1.3,
    np.array([0.02, -0.015, 0.06]),
    np.array([[31.0, 4.0, -3.0], [4.0, 26.0, 5.0], [-3.0, 5.0, 17.0]]) * 1e-4,
)
ROD = InertialParameters.from_com(0.4, np.array([0.1, 0.0, 0.0]), np.diag([0.0, 7.0, 7.0]) * 1e-4)
"""A body without width: noise puts it outside what is possible, and the constraint decides."""

SENSOR = Noise(force=0.02, torque=1e-3)
BIAS = (1.0, -2.0, 3.0, 0.1, -0.2, 0.05)


def moving(
    seed: int, body: InertialParameters = BODY, noise: Noise = SENSOR, **options: object
) -> Recording:
    rng = np.random.default_rng(seed)
    options = {"bias": BIAS} | options
    recording = synthetic_recording(
        body.phi, rng=rng, duration=8.0, rate_hz=100.0, noise=noise, **options
    )
    return replace(recording, name=f"motion {seed}")


def _still(seed: int) -> Recording:
    rng = np.random.default_rng(seed)
    recording = synthetic_still_recording(BODY.phi, rng=rng, poses=7, bias=BIAS, noise=SENSOR)
    return replace(recording, name=f"poses {seed}")


def _with_a_gap(seed: int) -> Recording:
    """Two stretches of a log of a sensor without an offset, far apart in time."""
    recording = moving(seed, bias=np.zeros(6))
    assert recording.time is not None
    return replace(recording, time=recording.time + 5.0 * (recording.time > 4.0))


def _rods() -> list[Recording]:
    noise = Noise(linear_acceleration=0.02, angular_acceleration=0.2, force=0.1, torque=0.005)
    return [moving(seed, ROD, noise, include="all") for seed in (10, 11)]


_CASES: dict[str, tuple[InertialParameters, Callable[[], Result]]] = {
    "one log": (BODY, lambda: fit(moving(11), command="identify fit LOG")),
    "static poses": (BODY, lambda: fit(_still(1))),
    "several logs, constrained": (ROD, lambda: fit(_rods(), FitSettings(bias="shared"))),
    "a gap, mass given": (
        BODY,
        lambda: fit(_with_a_gap(14), FitSettings(mass=BODY.mass, bias="none")),
    ),
}


class Case:
    def __init__(self, name: str) -> None:
        self.name = name
        self.truth, make = _CASES[name]
        self.result = make()


_made: dict[str, Case] = {}


def _case(name: str) -> Case:
    if name not in _made:
        _made[name] = Case(name)
    return _made[name]


@pytest.fixture(params=list(_CASES), scope="session")
def case(request) -> Case:
    return _case(request.param)


@pytest.fixture(scope="session")
def case_of() -> Callable[[str], Case]:
    return _case


@pytest.fixture(scope="session")
def result() -> Result:
    """The usual one: a log with time and pose."""
    return _case("one log").result


@pytest.fixture(scope="session")
def still() -> Result:
    """Static poses, which leave the inertia to the default body."""
    return _case("static poses").result


@pytest.fixture(scope="session")
def constrained() -> Result:
    result = _case("several logs, constrained").result
    assert result.estimate.certificate.solver == "Clarabel"
    return result


@pytest.fixture(scope="session")
def long(result) -> Result:
    """A hundred thousand rows that no thinning can spare: each with its own noise."""
    log = result.logs[0]
    rng = np.random.default_rng(0)
    count = 100_000
    rows = np.tile(log.rows, (-(-count // len(log.rows)), 1))[:count]
    rows[:, 1:19] += rng.standard_normal((count, 18))
    stretched = replace(
        log,
        rows=rows,
        time=np.arange(count) / 1000.0,
        segment_ids=np.zeros(count, dtype=int),
        point_indices=np.arange(count),
        points=count,
    )
    return replace(result, logs=(stretched,))
