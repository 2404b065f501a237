"""Which logs are of one sensor: those with its name, or with equal `[wrench]` tables."""

from dataclasses import replace

import numpy as np
import pytest

from identify.errors import SchemaError
from identify.logs import Recording, load_schema, read_log
from identify.logs.patch import patched
from identify.logs.schema_poses import placement_keys
from identify.logs.sensors import require_same_sensor, sensor_key
from identify.logs.synthetic import synthetic_recording
from identify.spatial import Pose
from tests.logs.conftest import NAMES
from tests.recordings import WRENCH_ARRAYS

MOUNT = {"translation": [0.0, 0.0, 0.045], "quaternion": [0.0, 0.0, 0.6, 0.8]}


@pytest.fixture
def log(rows, schema):
    """Reads the small log with changes of its `[wrench]` table."""
    columns = dict(zip(NAMES, rows.T, strict=True))

    def read(name: str = "log", **wrench: object) -> Recording:
        return replace(read_log(columns, schema(wrench=wrench)), name=name)

    return read


def test_equal_sensor_names_give_equal_keys(log):
    a, b = log(sensor="wrist"), log(sensor="wrist", delay_s=0.01, force=["fy", "fx", "fz"])
    assert sensor_key(a) == sensor_key(b) == "wrist"
    assert sensor_key(log(sensor="other")) != sensor_key(a) != sensor_key(log())
    assert hash(sensor_key(a)) == hash("wrist")


def test_unnamed_sensors_are_equal_when_tables_are_equal(log):
    assert sensor_key(log("a")) == sensor_key(log("b", force_unit="N"))  # the default, written
    at_sensor = {"frame": "sensor", "mount": MOUNT}
    assert sensor_key(log(**at_sensor)) == sensor_key(log(**at_sensor))
    keys = [
        sensor_key(log(**wrench))
        for wrench in (
            {},
            {"force_unit": "kgf"},
            {"acts_on": "sensor"},
            {"delay_s": 0.01},
            {"frame": "world"},
            {"force": ["fx", "fy", "-fz"]},
            at_sensor,
            {"frame": "sensor", "mount": {"translation": [0.0, 0.0, 0.05]}},
        )
    ]
    assert len(set(keys)) == len(keys)


def test_sensors_without_schema_are_distinguished_by_wrench_frame():
    phi = [1.0, 0.01, 0.02, 0.1, 0.02, 0.0, 0.0, 0.02, 0.0, 0.01]
    a, b, c = (
        synthetic_recording(phi, rng=np.random.default_rng(k), duration=0.1, frame=frame)
        for k, frame in enumerate(("body", "body", "world"))
    )
    assert sensor_key(a) == sensor_key(b) != sensor_key(c)


def test_arrays_have_a_sensor_too_and_a_patch_gives_it(rows, log):
    arrays = read_log(
        {
            "time": rows[:, 0],
            "position": rows[:, 1:4],
            "quaternion": rows[:, 4:8],
            "force": rows[:, 8:11],
            "torque": rows[:, 11:14],
        },
        {
            "log": {"time": "time"},
            "pose": {"position": "position", "quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS | {"sensor": "wrist"},
        },
    )
    named = patched(log(), {"wrench.sensor": "wrist"})
    assert sensor_key(arrays) == sensor_key(named) == "wrist"
    assert named.schema == log(sensor="wrist").schema
    for name, values in log().signals.items():
        np.testing.assert_array_equal(named.signals[name], values)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "string should have at least 1 character, got ''"),
        (" ", "expected one line of text, got ' '"),
        ("a\nb", r"expected one line of text, got 'a\\nb'"),
        ("a" * 81, "string should have at most 80 characters"),
        (3, "input should be a valid string, got 3"),
        (True, "input should be a valid string, got True"),
    ],
)
def test_invalid_sensor_name_is_rejected(schema, name, message):
    with pytest.raises(SchemaError, match=r"\[wrench\] sensor: " + message):
        load_schema(schema(wrench={"sensor": name}))


def test_sensor_key_is_rejected_in_other_tables(schema):
    with pytest.raises(SchemaError, match=r"unknown key 'sensor'; it belongs in \[wrench\]"):
        load_schema(schema(pose={"sensor": "wrist"}))


def test_same_sensor_allows_equivalent_schemas(log):
    same = Pose.from_quaternion(MOUNT["quaternion"], MOUNT["translation"])
    mounts = (MOUNT, MOUNT | {"translation": [0.0, 0.0, 45.0], "unit": "mm"}, placement_keys(same))
    mounted = [log(frame="sensor", mount=mount, sensor="wrist") for mount in mounts]
    require_same_sensor([*mounted, log(), log(force_unit="kgf"), log(sensor="other")])
    require_same_sensor([log(sensor="a"), log(sensor="a", force_unit="N", delay_s=0.01)])
    require_same_sensor([])


DIFFERENT = [
    ({"force_unit": "lbf"}, "force_unit is 'N' in log 1 .'first'. and 'lbf' in log 3 .'last'.; co"),
    ({"torque_unit": "Nmm"}, "torque_unit is 'Nm' in log 1 .'first'. and 'Nmm' in log 3 .'last'."),
    ({"acts_on": "sensor"}, "acts_on is 'body' in log 1 .'first'. and 'sensor' in log 3 .'last'."),
    ({"frame": "world"}, "frame is 'body' in log 1 .'first'. and 'world' in log 3 .'last'."),
    ({"frame": "world", "force_unit": "mN"}, r"force_unit is 'N' .*; frame is 'body' in"),
    ({"gain_accuracy": 0.02}, "gain_accuracy is None in log 1 .'first'. and 0.02 in log 3"),
]


@pytest.mark.parametrize(("wrench", "message"), DIFFERENT, ids=str)
def test_same_sensor_rejects_different_schemas(log, wrench, message):
    logs = [log("first", sensor="wrist"), log("middle"), log("last", sensor="wrist", **wrench)]
    place = r"^\[wrench\] sensor = 'wrist': a sensor's name on logs of different schemas: "
    with pytest.raises(SchemaError, match=place + message):
        require_same_sensor(logs)


def test_same_sensor_rejects_different_effects(log):
    a, b = log("a"), log("b")
    b = replace(b, schema={**b.schema, "effects": {"cable": False}})
    assert sensor_key(a) != sensor_key(b)  # whose small faults are not shared
    named = [
        replace(one, schema={**one.schema, "wrench": {**one.schema["wrench"], "sensor": "wrist"}})
        for one in (a, b)
    ]
    message = r"\[effects\] is \{\} in log 1 \('a'\) and \{'cable': False\} in log 2 \('b'\)"
    with pytest.raises(SchemaError, match=message):
        require_same_sensor(named)


def test_same_sensor_rejects_different_mounts(log):
    other = MOUNT | {"translation": [0.0, 0.0, 0.05]}
    logs = [
        log(name, frame="sensor", mount=m, sensor="wrist")
        for name, m in (("a", MOUNT), ("b", other))
    ]
    with pytest.raises(SchemaError, match=r"mount is \{.*0.045.*\} in log 1 \('a'\) and \{.*0.05"):
        require_same_sensor(logs)
