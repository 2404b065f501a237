"""Free flight: where angular acceleration comes from, and axes that the body does not explain."""

import importlib.util
import json
import tomllib

import numpy as np
import pandas as pd
import pytest

import identify
from identify.commands.summary import detail_lines
from identify.errors import LogError
from identify.reporting.logs import data_section
from identify.signals.prepared_log import acceleration_sources
from tests.endtoend.conftest import ROOT

FOLDER = ROOT / "datasets" / "free_flight"


@pytest.fixture(scope="module")
def thrown(tmp_path_factory):
    """Makes a flight of six seconds, with what is said changed, and fits it."""
    spec = importlib.util.spec_from_file_location("generate_thrown", FOLDER / "generate.py")
    flight = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(flight)
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
