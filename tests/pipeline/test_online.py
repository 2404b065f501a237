"""A fit of samples against the fit of their log, and what is promised against what then comes."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import identify
from identify.errors import LogError, ProblemError, SchemaError
from identify.logs import Noise, synthetic_recording
from identify.logs.recording import recording_rows
from identify.logs.synthetic import MotionSamples
from identify.pipeline import FitSettings, online
from identify.pipeline.required_precision import parse_required_precision
from identify.regressors import log_scan, summarise_log
from tests.close import assert_close
from tests.recordings import WRENCH_ARRAYS, without_effects

PHI = np.array([1.2, 0.024, 0.012, 0.06, 6e-3, -2e-4, -1e-3, 6e-3, 5e-4, 3e-3])
NOISE = Noise(position=2e-5, orientation=1e-4, force=0.1, torque=0.01)
RATE = 100.0
SCHEMA = {
    "pose": {"position": "position", "quaternion": "quaternion"},
    "wrench": WRENCH_ARRAYS,
}
NEEDS = "mass 1%, com 2mm"


@pytest.fixture(scope="module")
def log() -> identify.Recording:
    rng = np.random.default_rng(5)
    return synthetic_recording(PHI, rng=rng, duration=64.0, rate_hz=RATE, noise=NOISE)


def given(log: identify.Recording, fit: identify.OnlineFit, start: float = 0.0) -> None:
    columns = [log.signals[name] for name in log.signals]
    for time, *values in zip(log.time.tolist(), *columns, strict=True):
        fit.update(start + time, **dict(zip(log.signals, values, strict=True)))


@pytest.mark.parametrize("duration", [6.0, 14.0, 31.0, 64.0])
def test_samples_give_the_statistics_of_the_same_blocks_of_their_log(log, monkeypatch, duration):
    monkeypatch.setattr(log_scan, "CHUNK_ROWS", 1000)
    part = recording_rows(log, 0, round(RATE * duration))
    fit, theirs = identify.OnlineFit(schema=SCHEMA), summarise_log(part).statistics
    given(part, fit, start=2.0**30)
    fit.finish()
    ours = fit.statistics
    assert ours is not None
    for name in ("block", "group", "samples", "effective_samples"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    scale = np.abs(theirs.factors).max()
    assert_close(np.abs(ours.factors), np.abs(theirs.factors), 1e-6, scale=scale)
    assert_close(ours.noise_rows, theirs.noise_rows, 1e-5, scale=np.abs(theirs.noise_rows).max())


def test_the_estimate_matches_the_log_to_a_share_of_its_standard_errors(log):
    fit, theirs = identify.OnlineFit(schema=SCHEMA), identify.fit(without_effects(log)).estimate
    given(log, fit)
    fit.finish()
    ours, errors = fit.estimate(), np.sqrt(np.diag(theirs.covariance))
    assert np.abs((ours.parameters.phi - theirs.parameters.phi) / errors).max() < 0.3
    assert_close(np.sqrt(np.diag(ours.covariance)) / errors, np.ones(10), 0.1)
    assert fit.seconds == pytest.approx(64.0, abs=0.02)


def test_online_fit_is_ready_when_needs_are_met(log):
    fit, said = identify.OnlineFit(FitSettings(needs=NEEDS), SCHEMA), []
    with pytest.raises(ProblemError, match=r"no block is complete yet: the first needs 15 s"):
        fit.estimate()
    for start in range(0, len(log), 100):
        fit.extend(recording_rows(log, start, start + 100))
        said.append((fit.seconds, fit.ready(), fit.ready("mass 0.0001%")))
    assert not said[0][1]
    assert said[-1][1:] == (True, False)
    for need in parse_required_precision(NEEDS):
        assert need.is_met(fit.estimate())
    first = next(seconds for seconds, ready, _ in said if ready)
    assert first == pytest.approx(10.0, abs=0.1)


def test_samples_that_are_not_finite_are_left_out(log):
    part = recording_rows(log, 0, 1200)
    clean, holed = identify.OnlineFit(schema=SCHEMA), identify.OnlineFit(schema=SCHEMA)
    given(part, clean)
    for number, time in enumerate(part.time.tolist()):
        sample = {name: values[number] for name, values in part.signals.items()}
        if number in (0, 700):
            holed.update(time, **(sample | {"force": [np.nan, 0.0, 0.0]}))
        holed.update(time, **sample)
    for fit in (clean, holed):
        fit.finish()
    assert_close(holed.statistics.factors, clean.statistics.factors, 1e-12, scale=1e3)


def test_blocks_of_a_long_log_are_joined(log, monkeypatch):
    monkeypatch.setattr(online, "MAX_TIME_BLOCKS", 2)
    fit, whole = identify.OnlineFit(schema=SCHEMA), identify.fit(log).estimate
    fit.extend(log)
    fit.finish()
    assert len(np.unique(fit.statistics.block)) <= 4
    assert fit.statistics.samples.sum() == pytest.approx(len(log), rel=0.05)
    errors = np.sqrt(np.diag(whole.covariance))
    assert np.abs((fit.estimate().parameters.phi - whole.parameters.phi) / errors).max() < 0.5


@dataclass(frozen=True)
class _Turns:
    """Turning to and fro about one axis until a time, and then about another."""

    first: str
    until: float
    then: str

    def at(self, t: np.ndarray) -> MotionSamples:
        swing = 2.0 * np.pi / 4.0
        zero = np.zeros((len(t), 3))
        angle, rate, change = zero.copy(), zero.copy(), zero.copy()
        parts = (self.first, t < self.until, 0.15), (self.then, t >= self.until, np.pi / 4)
        for axis, now, size in parts:
            k, phase = "xyz".index(axis), swing * (t[now] - self.until)
            angle[now, k] = size * np.sin(phase)
            rate[now, k] = size * swing * np.cos(phase)
            change[now, k] = -size * swing**2 * np.sin(phase)
        quaternion = Rotation.from_rotvec(angle).as_quat()
        return MotionSamples(t, zero, quaternion, zero, rate, zero, change)


@pytest.mark.parametrize(("first", "best"), [("x", "y"), ("y", "x")])
def test_advised_rotation_meets_needs_in_predicted_time(first, best):
    needs = "com 1mm"

    def fitted(then: str, seconds: float) -> identify.OnlineFit:
        motion = _Turns(first, 20.0, then)
        log = synthetic_recording(
            PHI,
            rng=np.random.default_rng(3),
            motion=motion,
            duration=20.0 + seconds,
            rate_hz=RATE,
            noise=NOISE,
        )
        fit = identify.OnlineFit(schema=SCHEMA)
        fit.extend(log)
        fit.finish()
        return fit

    before = fitted(best, 0.0)
    turn = before.best_oscillation(needs)
    assert not before.ready(needs)
    assert turn.axis == best
    assert str(turn).startswith(f"turn to and fro about {best}, ±45° in 4 s, for about ")
    (need,) = parse_required_precision(needs)
    reached = {
        axis: need.half_width(fitted(axis, turn.seconds).estimate(), total=False) for axis in "xyz"
    }
    assert min(reached, key=reached.get) == best
    assert 0.4 < reached[best] < 1.4
    assert before.best_oscillation("com 0.0001mm").seconds is None


@pytest.mark.parametrize("choice", [{"bias": "none"}, {"mass": 1.2}, {"cutoff_hz": 3.0}])
def test_advised_rotation_includes_known_values(log, choice):
    fit = identify.OnlineFit(FitSettings(needs="mass 0.1%, inertia 1%", **choice), SCHEMA)
    fit.extend(recording_rows(log, 0, 2000))
    fit.finish()
    turn = fit.best_oscillation()
    assert turn.axis in "xyz"
    assert turn.seconds is None or 10.0 <= turn.seconds < 1000.0
    assert fit.best_oscillation("mass 50%").seconds == 10.0


def test_repeated_error_does_not_accumulate_traceback(log):
    fit = identify.OnlineFit(schema=SCHEMA)
    depths = []
    for _ in range(3):
        with pytest.raises(ProblemError) as caught:
            fit.estimate()
        depths.append(len(caught.traceback))
    assert depths[0] == depths[2]


def test_invalid_online_input_is_rejected(log):
    with pytest.raises(SchemaError, match="apply"):
        identify.OnlineFit(FitSettings(apply=("delay",)))
    with pytest.raises(SchemaError, match="acts_on"):
        identify.OnlineFit(schema=SCHEMA | {"wrench": WRENCH_ARRAYS | {"acts_on": "somebody"}})
    sample = {name: values[0] for name, values in log.signals.items()}
    with pytest.raises(SchemaError, match="samples need a schema"):
        identify.OnlineFit().update(0.0, **sample)
    fit = identify.OnlineFit(schema=SCHEMA)
    fit.update(0.0, **sample)
    with pytest.raises(LogError, match=r"sample: expected .*'torque'.*, got \['force'\]"):
        fit.update(0.1, force=[0, 0, 0])
    with pytest.raises(LogError, match="sample: expected 13 numbers, got 14"):
        fit.update(0.1, **(sample | {"force": [0, 0, 0, 0]}))
    fit = identify.OnlineFit()
    fit.extend(recording_rows(log, 100, 200))
    with pytest.raises(LogError, match="time goes back"):
        fit.extend(recording_rows(log, 0, 100))
    with pytest.raises(SchemaError, match="best_oscillation: expected needs"):
        fit.best_oscillation()
    with pytest.raises(SchemaError, match="is not a need"):
        fit.ready("mass 1 stone")
