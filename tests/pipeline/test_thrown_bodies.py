"""Free flight: where angular acceleration comes from, and axes that the body does not explain."""

import importlib.util
import json
import tomllib

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

import identify
from identify.commands.summary import detail_lines
from identify.errors import LogError
from identify.pipeline.fit_findings import noisy_motion_findings
from identify.reporting.logs import data_section
from identify.signals.cutoff import motion_cutoff_hz
from identify.signals.prepared_log import acceleration_sources
from identify.validation import HeldOutScores
from tests.endtoend.conftest import ROOT
from tests.recordings import WRENCH_ARRAYS
from tests.slow import few_or_many

FOLDER = ROOT / "datasets" / "free_flight"


@pytest.fixture(scope="module")
def flight():
    """The script of the shipped flight."""
    spec = importlib.util.spec_from_file_location("generate_thrown", FOLDER / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def thrown(tmp_path_factory, flight):
    """Makes a flight of six seconds, with what is said changed, and fits it."""
    noise = dict(flight.NOISE)

    def make(rate=1e-3, couple=0.09, change=None):
        flight.DURATION, flight.LARGEST_COUPLE = 6.0, couple
        flight.NOISE = noise | {"rate": rate}
        folder = tmp_path_factory.mktemp("thrown")
        flight.main(folder)
        table = pd.read_parquet(folder / "free_flight.parquet")
        if change is not None:
            change(table)
        log = identify.read_log(table, FOLDER / "schema.toml")
        return identify.fit(log, mass=flight.MASS), flight.INERTIA_ABOUT_COM

    return make


def test_dead_torque_is_named_where_the_mass_is_given_in_place_of_a_force():
    table = pd.read_parquet(FOLDER / "free_flight.parquet").assign(tx=0.0, ty=0.0, tz=0.0)
    schema = tomllib.loads((FOLDER / "schema.toml").read_text())
    del schema["wrench"]["force"]
    log = identify.read_log(table, schema)
    with pytest.raises(LogError, match="the schema names no force") as without_mass:
        identify.fit(log)
    assert "--mass" in str(without_mass.value)
    with pytest.raises(LogError, match=r"the torque is \[0.0, 0.0, 0.0\]") as dead:
        identify.fit(log, mass=2.0)
    assert "--mass" not in str(dead.value)


def test_angular_acceleration_of_a_gyro_is_a_stated_route_with_its_noise(thrown):
    result, _ = thrown()
    (log,) = result.logs
    route = acceleration_sources(log)["angular_acceleration"]
    assert route.source == "derivative of the angular velocity"
    said = json.loads(json.dumps(result.estimate.provenance["logs"][0]["accelerations"]))
    assert said["angular_acceleration"]["source"] == route.source
    assert said["acceleration"]["source"] == "second derivative of the position"
    noisier, _ = thrown(rate=1e-2)
    ratio = acceleration_sources(noisier.logs[0])["angular_acceleration"].noise / route.noise
    assert ratio == pytest.approx(10.0, rel=0.1)
    line = next(line for line in detail_lines(result) if line.startswith("Read: "))
    whole = np.sqrt(3.0) * route.rms  # of the vector, as the rate before it
    assert f"derivative of the angular velocity, {whole:.2g} rad/s² RMS with noise" in line
    assert "derivative of the angular velocity" in str(data_section(result, None))


def test_gyro_noise_on_weak_axis_is_reported_and_intervals_cover(thrown):
    result, inertia = thrown(rate=3e-2, couple=0.01)
    assert min(result.estimate.r_squared[3:]) < 0.0
    (note,) = [finding for finding in result.findings if finding.code == "motion_noise"]
    assert note.severity == "info"
    assert "derivative of the angular velocity, noise 0." in note.text
    moments = np.linalg.eigvalsh(inertia)
    for name, moment in zip(("I1", "I2", "I3"), moments, strict=True):
        low, high = result.estimate.intervals[name]
        assert low < moment < high


def _reversed(table):
    table["tz"] = table["tz"].to_numpy()[::-1]


def _negated(table):
    table["tz"] *= -1.0


def _late(table):
    table["tz"] = np.roll(table["tz"].to_numpy(), 30)


@pytest.mark.parametrize("change", [_reversed, _negated, _late])
def test_unexplained_torque_axis_is_reported_for_short_logs(thrown, change):
    result, inertia = thrown(change=change)
    off = result.estimate.parameters.principal_moments / np.linalg.eigvalsh(inertia) - 1.0
    assert np.abs(off).max() > 0.05
    assert result.verdict.usable != "yes"
    assert not result.verdict.explains_data
    (said,) = [finding for finding in result.findings if finding.code == "unexplained"]
    assert "tz" in said.text


def test_short_clean_flight_has_no_findings(thrown):
    result, _ = thrown()
    assert result.findings == ()
    assert result.verdict.usable == "yes"


RATE_HZ = 500.0


def shaking(rng, count):
    """Vibration of an accelerometer [m/s²], without power above 60 Hz, as after a low-pass."""
    spectrum = np.fft.rfft(rng.standard_normal((count, 3)), axis=0)
    spectrum[np.fft.rfftfreq(count, 1.0 / RATE_HZ) > 60.0] = 0.0
    return np.fft.irfft(spectrum, count, axis=0)


def thrown_imu(flight, seed, **of_wrench):
    """Four throws of .8 s, two seconds apart, with gyro, accelerometer at B and couple."""
    rng, J, com = np.random.default_rng(seed), flight.INERTIA_ABOUT_COM, flight.COM
    flight.LARGEST_COUPLE = 0.09
    time, parts = np.arange(round(0.8 * RATE_HZ)) / RATE_HZ, []
    for _ in range(4):
        couple = flight.couples(rng)

        def derivative(t, w, couple=couple):
            return np.linalg.solve(J, 5.0 * couple(2.0 * t) - np.cross(w, J @ w))

        start = 4.0 * rng.standard_normal(3)
        rate = solve_ivp(derivative, (0.0, 0.8), start, "DOP853", time, rtol=1e-10).y.T
        alpha = np.array([derivative(t, w) for t, w in zip(time, rate, strict=True)])
        specific_force = -np.cross(alpha, com) - np.cross(rate, np.cross(rate, com))
        parts.append(
            (
                rate + 5e-3 * rng.standard_normal(rate.shape),
                specific_force + shaking(rng, len(time)),
                5.0 * couple(2.0 * time) + 1e-3 * rng.standard_normal(rate.shape),
            )
        )
    gyro, accelerometer, torque = map(np.concatenate, zip(*parts, strict=True))
    return identify.read_log(
        {
            "time": np.concatenate([time + 2.8 * number for number in range(len(parts))]),
            "gyro": gyro,
            "accelerometer": accelerometer,
            "force": np.zeros_like(torque),
            "torque": torque,
        },
        {
            "log": {"time": "time"},
            "imu": {"gyro": "gyro", "accelerometer": "accelerometer", "mount": np.eye(4)},
            "wrench": WRENCH_ARRAYS | of_wrench,
        },
    )


@pytest.mark.parametrize("seed", few_or_many(0, 1))
def test_vibration_of_the_accelerometer_leaves_the_inertia_alone(flight, seed):
    result = identify.fit(thrown_imu(flight, seed), mass=flight.MASS)
    moments = np.linalg.eigvalsh(flight.INERTIA_ABOUT_COM)
    off = result.estimate.parameters.principal_moments / moments - 1.0
    assert np.abs(off).max() < 2e-3
    for name, moment in zip(("I1", "I2", "I3"), moments, strict=True):
        low, high = result.estimate.intervals[name]
        assert low - 0.5 * (high - low) < moment < high + 0.5 * (high - low)  # two half-widths
        assert high - low < 5e-3 * moment
    assert min(result.estimate.r_squared[3:]) > 0.999
    assert result.verdict.usable == "yes"


def test_gain_accuracy_of_the_couple_counts_in_flight(flight):
    plain, scaled = (
        identify.fit(thrown_imu(flight, 3, **accuracy), mass=flight.MASS)
        for accuracy in ({}, {"gain_accuracy": 0.02})
    )
    for name in ("I1", "I2", "I3"):
        before, after = (np.ptp(fit.estimate.intervals[name]) for fit in (plain, scaled))
        size = np.mean(plain.estimate.intervals[name])
        assert np.sqrt(after**2 - before**2) / 2.0 / size > 1.9 * 0.02


def test_vibration_in_flight_is_no_fast_motion(flight):
    signals = dict(thrown_imu(flight, 4).signals)
    signals = {name: signals[name][:400] for name in ("gyro", "accelerometer", "force")}
    assert motion_cutoff_hz(signals, RATE_HZ) < 20.0
    assert motion_cutoff_hz({**signals, "force": signals["force"] + 1.0}, RATE_HZ) > 40.0


def test_fit_far_below_the_noise_is_an_error():
    def severity(r_squared):
        rms = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
        r_squared = np.array([np.nan] * 3 + r_squared)
        normalised, carries = np.sqrt(1.0 - r_squared), ~np.isnan(r_squared)
        scores = HeldOutScores(5, 0, rms, np.where(carries, normalised, 0.0), r_squared, carries)
        return [finding.severity for finding in noisy_motion_findings(scores, [])]

    assert severity([0.9, 0.5, 0.1]) == []
    assert severity([0.9, -0.5, -3.0]) == ["info"]
    assert severity([-190.0, -120.0, -150.0]) == ["error"]
    assert severity([0.9, 0.9, -190.0]) == ["info"]  # an axis that hardly turns
