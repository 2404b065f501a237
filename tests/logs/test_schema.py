import json

import numpy as np
import pytest
from pydantic import ValidationError

from identify.errors import MissingFile, SchemaError
from identify.logs import Schema, load_schema
from identify.logs.convert import schema_noise

FULL = """
[log]
time = "stamp"
time_unit = "us"
header_lines = 3
separator = ";"
comment = "%"
drop_bad_rows = true

[streams.pose]
file = "pose.csv"
header_lines = 0
separator = "whitespace"

[streams.wrench]
file = "wrench.csv"
time = 4
time_unit = "ns"

[world]
gravity = [0, 0, -9.81]

[pose]
position = ["px", "py", "pz"]
euler = ["roll", "pitch", "yaw"]
order = "ZYX"
maps = "world_to_body"
position_unit = "mm"
angle_unit = "deg"
position_noise = 0.2
angle_noise = 0.1

[twist]
linear = ["vx", "vy", "vz"]
angular = ["wx", "wy", "wz"]
frame = "world"
angle_unit = "deg"
linear_noise = 0.01
angular_noise = 1.5

[acceleration]
linear = ["ax", "ay", "az"]
angular = ["bx", "by", "bz"]
frame = "body"
kind = "proper"
unit = "g"
angle_unit = "deg"
linear_noise = 0.5

[wrench]
force = ["fx", "fy", "fz"]
torque = [3, 4, 5]
frame = "sensor"
acts_on = "sensor"
force_unit = "lbf"
torque_unit = "N mm"
force_noise = 2
torque_noise = 5.0

[wrench.mount]
translation = [0, 0, 0.04]
quaternion = [0, 0, 0.7071068, 0.7071068]
"""


def test_every_key_is_read(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(FULL)
    schema = load_schema(path)
    assert schema.world.gravity == (0.0, 0.0, -9.81)
    assert schema.pose is not None
    assert schema.pose.rotation_kind == "euler"
    assert schema.pose.rotation_columns == ("roll", "pitch", "yaw")
    assert schema.wrench.torque == (3, 4, 5)
    assert schema.wrench.torque_unit == "Nmm"
    assert schema.wrench.mount is not None
    assert schema.wrench.mount.quaternion == pytest.approx((0, 0, 0.5**0.5, 0.5**0.5))
    assert list(schema.groups) == ["pose", "twist", "acceleration", "wrench"]


def test_noise_that_is_given_comes_in_si(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(FULL)
    degree = np.pi / 180.0
    assert schema_noise(load_schema(path)) == pytest.approx(
        {
            "position": 2e-4,
            "quaternion": 0.1 * degree,
            "linear_velocity": 0.01,
            "angular_velocity": 1.5 * degree,
            "linear_acceleration": 0.5 * 9.80665,
            "force": 2 * 4.4482216152605,
            "torque": 5e-3,
        },
        rel=1e-12,
    )


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("[pose]\nposition_noise = 1e-3", "position_noise is given, but there is no position"),
        ("[twist]\nlinear_noise = 1e-3", "linear_noise is given, but there is no linear"),
        ("[wrench]\nforce_noise = -0.1", "force_noise"),
        ("[wrench]\ntorque_noise = 1e300", r"torque_noise: expected a noise of at most 1e\+30"),
        ("[pose]\nangle_noise = 2e30", "angle_noise: expected a noise"),
    ],
)
def test_noise_that_no_signal_of_the_log_can_have_is_rejected(tmp_path, key, message):
    text = """
[log]
rate_hz = 100
[pose]
quaternion = [0, 1, 2, 3]
[twist]
angular = [4, 5, 6]
frame = "body"
[acceleration]
linear = [7, 8, 9]
kind = "proper"
frame = "body"
[wrench]
force = [10, 11, 12]
torque = [13, 14, 15]
frame = "body"
acts_on = "body"
"""
    path = tmp_path / "schema.toml"
    path.write_text(text)
    assert schema_noise(load_schema(path)) == {}
    table = key.split("\n")[0]
    path.write_text(text.replace(table, key))
    with pytest.raises(SchemaError, match=message):
        load_schema(path)


def test_a_stream_overrides_only_what_it_gives(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(FULL)
    schema = load_schema(str(path))
    pose, wrench, twist = map(schema.layout, ("pose", "wrench", "twist"))
    assert (pose.header_lines, pose.separator, pose.comment) == (0, "whitespace", "%")
    assert (pose.time, pose.time_unit) == ("stamp", "us")
    assert (wrench.time, wrench.time_unit, wrench.header_lines) == (4, "ns", 3)
    assert twist == schema.log


def test_a_mapping_may_hold_arrays_of_numpy(schema):
    loaded = load_schema(schema(world={"gravity": np.array([0.0, 0.0, np.float32(-9.5)])}))
    assert loaded.world.gravity == (0.0, 0.0, -9.5)
    with pytest.raises(SchemaError, match=r"expected a file or a mapping of its keys, got \[1\]"):
        load_schema([1])


def test_defaults_are_those_documented(schema):
    loaded = load_schema(schema())
    assert loaded.pose is not None
    assert loaded.world.gravity == (0.0, 0.0, -9.80665)
    assert (loaded.log.header_lines, loaded.log.separator, loaded.log.comment) == (1, ",", "#")
    assert (loaded.pose.rotation_order, loaded.pose.maps) == ("xyzw", "body_to_world")
    assert (loaded.pose.position_unit, loaded.pose.angle_unit) == ("m", "rad")
    assert (loaded.wrench.force_unit, loaded.wrench.torque_unit) == ("N", "Nm")
    assert (loaded.log.time_unit, loaded.log.drop_bad_rows, loaded.log.still) == ("s", False, False)


def test_a_schema_passes_through_and_does_not_change(schema):
    loaded = load_schema(schema())
    assert isinstance(loaded, Schema)
    assert load_schema(loaded) is loaded
    with pytest.raises(ValidationError, match="frozen"):
        loaded.log.time = "other"  # type: ignore[misc]


def test_a_schema_is_json_and_loads_again(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(FULL)
    schema = load_schema(path)
    again = load_schema(json.loads(json.dumps(schema.model_dump(mode="json", exclude_unset=True))))
    assert again == schema


QUATERNION = ["qx", "qy", "qz", "qw"]
WRONG = [
    # unknown keys and tables
    ({"log": {"tme": "t"}}, r"\[log\] unknown key 'tme'; did you mean 'time'\?"),
    ({"pose": {"quaternions": QUATERNION}}, r"unknown key 'quaternions'; did you mean 'quaternion"),
    ({"pose": {"rate_hz": 100}}, r"unknown key 'rate_hz'; it belongs in \[log\]"),
    ({"gravity": [0, 0, -9.81]}, r"unknown key 'gravity'; it belongs in \[world\]"),
    ({"streams": {"poses": {"file": "a"}}}, r"\[streams\] unknown key 'poses'; did you mean 'pose"),
    # missing
    ({"wrench": {"torque": None}}, r"\[wrench\] the key 'torque' is missing"),
    ({"wrench": None, "pose": None}, r"names no columns: give \[pose\] or \[imu\], and \[wrench\]"),
    (
        {"wrench": None, "log": {"time": None, "still": True}},
        r"static poses without a wrench do not identify a body: give \[wrench\]",
    ),
    # the clock
    ({"log": {"time": None}}, r"exactly one of time .* rate_hz .* still = true .*got none"),
    ({"log": {"rate_hz": 100}}, r"\[log\] give exactly one of time, rate_hz and still"),
    ({"log": {"still": True}}, r"\[log\] give exactly one of .* got \('time', 'still'\)"),
    ({"log": {"time": None, "rate_hz": 0}}, r"\[log\] rate_hz: .*greater than 0.*got 0"),
    (
        {"log": {"time_unit": "min"}},
        r"time_unit: expected one of 's', 'ms', 'us', 'ns', 'd', got 'min'",
    ),
    # the layout
    ({"log": {"header_lines": -1}}, r"\[log\] header_lines: .*got -1"),
    ({"log": {"separator": "tab"}}, r"\[log\] separator: expected one character.*got 'tab'"),
    ({"log": {"comment": "1"}}, r"\[log\] comment: expected a mark"),
    # columns
    ({"pose": {"position": ["px", "py"]}}, r"\[pose\] position: expected 3 columns, got 2"),
    ({"pose": {"position": [0, 1, -2]}}, r"name or its zero-based number, got -2"),
    ({"pose": {"position": ["px", "py", "py"]}}, r"column 'py' is named twice"),
    ({"wrench": {"force": ["a", "b", ""]}}, r"\[wrench\] force: expected a column's name"),
    (
        {"wrench": {"torque": ["fx", "fy", "fz"], "force": ["fx", "fy", "fz"]}},
        r"\[wrench\] column 'fx' is named in force and in torque",
    ),
    # rotations
    ({"pose": {"quaternion": None}}, r"\[pose\] give exactly one of quaternion.*got none"),
    ({"pose": {"rotation_vector": ["a", "b", "c"]}}, r"\[pose\] give exactly one of .*got quatern"),
    ({"pose": {"quaternion": None, "matrix": list(range(12))}}, r"\[pose\] matrix: expected 9 or"),
    ({"pose": {"quaternion": None, "matrix": list(range(16))}}, r"a matrix of 16 columns holds th"),
    ({"pose": {"order": "xywz"}}, r"order: expected 'xyzw' or 'wxyz' with quaternion, got 'xywz'"),
    (
        {"pose": {"quaternion": None, "matrix": list(range(9)), "order": "wxyz"}},
        r"order: expected 'row' or 'column' with matrix, got 'wxyz'",
    ),
    (
        {"pose": {"quaternion": None, "rotation_vector": [4, 5, 6], "order": "xyz"}},
        r"order: expected no order with rotation_vector",
    ),
    ({"pose": {"quaternion": None, "euler": [4, 5, 6], "order": "xYz"}}, r"order: expected the ax"),
    ({"pose": {"quaternion": None, "euler": [4, 5, 6], "order": "xxz"}}, r"no axis twice in a row"),
    ({"pose": {"quaternion": None, "euler": [4, 5], "order": "xyz"}}, r"euler names 2 columns, bu"),
    ({"pose": {"position_unit": "cm"}}, r"position_unit: expected one of 'm', 'mm', got 'cm'"),
    # values
    ({"world": {"gravity": [0, 0]}}, r"\[world\] gravity: expected a list of 3 numbers, got 2: \["),
    ({"wrench": {"frame": "tool"}}, r"frame: expected one of 'body', 'world', 'sensor', got 'tool"),
    ({"wrench": {"acts_on": "sensr"}}, r"got 'sensr'; did you mean 'sensor'\?"),
    ({"wrench": {"force_unit": "newton"}}, r"\[wrench\] force_unit: expected one of 'N'"),
    # the mount
    ({"wrench": {"frame": "sensor"}}, r'frame = "sensor" needs \[wrench.mount\]'),
    ({"wrench": {"mount": {}}}, r'\[wrench.mount\] is given, but \[wrench\] frame = "body"'),
    (
        {"wrench": {"frame": "sensor", "mount": {"quaternion": [0, 0, 0, 0]}}},
        r"\[wrench.mount\] quaternion: expected a unit quaternion .* of norm 0",
    ),
    ({"wrench": {"frame": "sensor", "mount": {"position": [0, 0, 0]}}}, r"\[wrench.mount\] unknow"),
    # tables that contradict each other
    ({"twist": {"frame": "body"}}, r"\[twist\] give linear, angular, or both"),
    ({"acceleration": {"linear": ["a", "b", "c"], "frame": "body"}}, r"\[acceleration\] kind: mis"),
    ({"streams": {"twist": {"file": "a"}}}, r"\[streams.twist\] names a file, but there is no \[t"),
    ({"streams": {"pose": {"file": "a", "still": True}}}, r"still = true is for all streams or fo"),
    ({"pose": {"position": None}}, r"nothing determines the linear acceleration"),
    ({"pose": None}, r"without \[pose\], gravity can only come from an accelerometer"),
    ({"pose": None, "wrench": {"frame": "world"}}, r'\[wrench\] frame = "world" needs the orient'),
]
IMU = {
    "acceleration": {"linear": ["a", "b", "c"], "frame": "body", "kind": "proper"},
    "twist": {"angular": ["u", "v", "w"], "frame": "body"},
    "pose": None,
}
WRONG += [
    (IMU | {"twist": {"angular": [1, 2, 3], "frame": "world"}}, r'\[twist\] frame = "world" needs'),
    (IMU | {"twist": None}, r"without \[pose\], the rotation can only come from a gyroscope"),
    (
        IMU | {"acceleration": IMU["acceleration"] | {"kind": "classical"}},
        r'\[acceleration\] kind = "classical" needs the orientation of the body',
    ),
    (
        {"pose": {"position": None}, "acceleration": IMU["acceleration"] | {"kind": "spatial"}},
        r'kind = "spatial" needs the velocity of the body',
    ),
]


UNIT = {"gyro": [20, 21, 22], "accelerometer": [23, 24, 25], "mount": {"translation": [0, 0, 0]}}
FITTED = {"imu": UNIT | {"mount": {"fitted": True}}}
WRONG += [
    ({"imu": {"mount": {"translation": [0, 0, 0]}}}, r"\[imu\] give gyro, accelerometer, or both"),
    ({"imu": UNIT | {"mount": None}}, r"\[imu\] accelerometer needs \[imu.mount\] with transl"),
    (
        {"imu": UNIT | {"mount": {"quaternion": [0, 0, 0, 1]}}},
        r"accelerometer needs \[imu.mount\] with",
    ),
    (
        {"imu": UNIT | {"mount": {"translation": [0, 0, 0], "quaternion": [0, 0, 1, 1]}}},
        r"\[imu.mount\] quaternion: expected a unit quaternion .* of norm 1.41",
    ),
    (
        {"imu": UNIT | {"mount": {"translation": [0, 0, 0], "fitted": True}}},
        r"\[imu.mount\] give translation, or fitted = true to have it estimated, not both",
    ),
    (
        {"imu": UNIT | {"mount": {"translation": [0, 0, 60]}}},
        r'translation: the accelerometer is 60 m from the body.* set unit = "mm"',
    ),
    ({"imu": {"gyro": [1, 2, 3], "mount": {"fitted": True}}}, "there is no accelerometer to place"),
    ({"imu": UNIT | {"unit": "m/s2"}}, r"\[imu\] unit: expected one of 'm/s\^2', 'g'"),
    ({"imu": {"gyro": [1, 2, 3], "accelerometer_noise": 1}}, "noise is given, but there is no acc"),
    ({"streams": {"gyro": {"file": "a"}}}, r"\[streams.gyro\] names a file, but .* no gyro in \["),
    (FITTED | {"pose": None}, r"\[imu.mount\] fitted = true needs a pose and the accelerometer"),
    (FITTED | {"pose": {"position": None}}, r"fitted = true needs the motion of the body's origin"),
    (
        {"pose": None, "imu": {"gyro": [1, 2, 3]}, "log": {"time": None, "still": True}},
        r"with a gyro that includes rest: give \[pose\], or \[imu\] accelerometer with",
    ),
    (
        {"pose": None, "imu": {"gyro": [1, 2, 3]}, "wrench": {"gain_accuracy": 0.01}},
        r"gain_accuracy requires a pose or an accelerometer: .* remove it",
    ),
    (
        {"pose": None, "imu": UNIT | {"gyro": None}},
        r"rotation can only come from a gyroscope: give \[pose\], or \[imu\] gyro",
    ),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_invalid_schema_reports_problem(schema, changes, message):
    with pytest.raises(SchemaError, match=message) as caught:
        load_schema(schema(**changes))
    assert caught.value.exit_code == 2
    assert "pydantic" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        IMU,
        {"pose": None, "imu": {"gyro": [1, 2, 3]}},
        IMU | {"twist": None, "log": {"time": None, "still": True}},
        {"pose": {"position": None}, "log": {"time": None, "still": True}},
        {"pose": {"position": None}, "twist": {"linear": ["a", "b", "c"], "frame": "world"}},
        {"pose": {"position": None}, "acceleration": IMU["acceleration"]},
        {"log": {"time": None}, "streams": {"pose": {"rate_hz": 9}, "wrench": {"rate_hz": 9}}},
        {"pose": {"quaternion": None, "matrix": list(range(16)), "position": None}},
        {"pose": {"quaternion": None, "euler": ["yaw"], "order": "z"}},
    ],
)
def test_optional_tables_may_be_omitted(schema, changes):
    assert load_schema(schema(**changes)).wrench.frame == "body"


def test_a_schema_file_that_is_missing_or_no_toml_is_named(tmp_path):
    (tmp_path / "arm.toml").write_text("[log\n")
    with pytest.raises(MissingFile, match=r"arn.toml: no such file; did you mean 'arm.toml'\?"):
        load_schema(tmp_path / "arn.toml")
    with pytest.raises(SchemaError, match=r"arm.toml: not a TOML file: .*line 1"):
        load_schema(tmp_path / "arm.toml")
    (tmp_path / "arm.toml").write_bytes(b'[log]\ntime = "\xff"\n')
    with pytest.raises(SchemaError, match="save it as UTF-8"):
        load_schema(tmp_path / "arm.toml")
    (tmp_path / "arm.toml").write_text(f"[log]\nheader_lines = {'9' * 9999}\n")
    with pytest.raises(SchemaError, match=r"arm.toml: not a TOML file"):
        load_schema(tmp_path / "arm.toml")
    (tmp_path / "arm.toml").write_text("x = " + "[" * 99_999)
    with pytest.raises(SchemaError, match=r"arm.toml: not a TOML file"):
        load_schema(tmp_path / "arm.toml")
    with pytest.raises(MissingFile, match="is a folder"):
        load_schema(tmp_path)
