"""Types of force-torque sensors, and the accuracy of their scale in a drafted schema."""

import re
import tomllib

import numpy as np
import pytest

from identify.documents import validate
from identify.errors import SchemaError
from identify.logs.draft_schema import draft_schema
from identify.logs.schema import load_schema
from identify.logs.wrench_sensors import WrenchSensor, wrench_sensors
from tests.close import assert_close

SENSORS = wrench_sensors()
COLUMNS = "t,x,y,z,qx,qy,qz,qw,Fx,Fy,Fz,Tx,Ty,Tz"
STATED = {"title": "A", "stated": "a", "source": "b", "address": "c"}


@pytest.fixture
def log(tmp_path):
    rows = np.random.default_rng(0).normal(size=(50, 14))
    rows[:, 0] = 0.01 * np.arange(50)
    np.savetxt(tmp_path / "log.csv", rows, "%.6f", ",", header=COLUMNS, comments="")
    return tmp_path / "log.csv"


@pytest.mark.parametrize("name", SENSORS)
def test_sensor_states_plausible_numbers_and_a_source(name):
    sensor = SENSORS[name]
    assert re.fullmatch(r"[a-z][a-z0-9_]+", name)
    assert sensor.address.startswith("https://")
    accuracy = sensor.gain_accuracy
    if accuracy is None:
        return
    channels = np.atleast_1d(accuracy)
    assert len(channels) in (1, 2, 6)
    assert np.all((channels >= 1e-3) & (channels <= 0.1))
    if sensor.percent is not None:  # the words have the numbers
        words = [float(word) for word in re.findall(r"\d+(?:\.\d+)?", sensor.stated)]
        assert {min(sensor.percent), max(sensor.percent)} <= set(words)
    else:
        pairs = re.findall(r"([\d.]+) N(?: m)? of (\d+) N", sensor.stated)
        assert [float(error) for error, _ in pairs] == list(sensor.error)
        assert [float(rated) for _, rated in pairs] == list(sensor.rated)


def test_titles_are_unique():
    assert len({sensor.title for sensor in SENSORS.values()}) == len(SENSORS)


def test_bounds_become_one_sigma():
    half_width = WrenchSensor(percent=(1.96, 3.92), bound="95 %", **STATED)
    assert_close(half_width.gain_accuracy, [0.01, 0.02], 1e-12)
    uniform = np.random.default_rng(0).uniform(-0.02, 0.02, 100_000).std()
    limit = WrenchSensor(percent=(2.0, 2.0), bound="limit", **STATED)
    assert_close(limit.gain_accuracy, uniform, 0.05)
    of_rated = WrenchSensor(rated=(100.0, 10.0), error=(2.0, 0.4), **STATED)
    assert_close(of_rated.gain_accuracy, [uniform, 2.0 * uniform], 0.05)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "one of percent, error and reason"),
        ({"percent": [1.0, 1.0], "reason": "none"}, "one of percent, error and reason"),
        ({"error": [1.0, 1.0]}, "a rated load for each error"),
        ({"percent": [1.0, -1.0]}, "greater than 0"),
        ({"percent": [1.0, 1.0], "source": ""}, "source"),
    ],
)
def test_invalid_entry_is_refused(keys, words):
    with pytest.raises(SchemaError, match=words):
        validate(WrenchSensor, STATED | keys, "wrench_sensors.toml: [a]")


@pytest.mark.parametrize("name", [name for name in SENSORS if SENSORS[name].gain_accuracy])
@pytest.mark.parametrize("preset", [None, "ati"])
def test_draft_has_the_accuracy_of_the_named_sensor_with_its_source(log, name, preset):
    text = draft_schema(log, preset, sensor=name).text
    written = load_schema(tomllib.loads(text)).wrench.gain_accuracy
    assert_close(written, np.broadcast_to(SENSORS[name].gain_accuracy, np.shape(written)), 1e-12)
    (line,) = re.findall(r"^gain_accuracy = .*$", text, re.MULTILINE)
    assert SENSORS[name].address in line
    plain = draft_schema(log, preset).text
    assert [a for a in text.splitlines() if a not in plain.splitlines()] == [line]


@pytest.mark.parametrize("sensor", [None, "robotiq_ft_300"])
def test_accuracy_that_is_not_known_is_left_out_with_the_way_to_it(log, sensor):
    text = draft_schema(log, sensor=sensor).text
    assert load_schema(tomllib.loads(text)).wrench.gain_accuracy is None
    (line,) = re.findall(r"^# gain_accuracy = .*$", text, re.MULTILINE)
    assert "data sheet or `identify init --sensor NAME`; or weigh the body" in line
    assert (SENSORS["robotiq_ft_300"].explanation in line) == (sensor is not None)


def test_unknown_sensor_is_answered_by_the_nearest(log):
    with pytest.raises(SchemaError, match=r"no force-torque sensor 'ur5' .*did you mean 'ur5e'"):
        draft_schema(log, sensor="ur5")


def test_sensor_whose_scale_is_no_unknown_is_refused(tmp_path):
    names = "t,gyro_x,gyro_y,gyro_z,Fx,Fy,Fz,Tx,Ty,Tz"  # the force is the accelerometer
    rows = np.random.default_rng(0).normal(size=(50, 10))
    rows[:, 0] = 0.01 * np.arange(50)
    np.savetxt(tmp_path / "log.csv", rows, "%.6f", ",", header=names, comments="")
    assert "gain_accuracy" not in draft_schema(tmp_path / "log.csv").text
    with pytest.raises(SchemaError, match="leave --sensor out"):
        draft_schema(tmp_path / "log.csv", sensor="ur5e")
