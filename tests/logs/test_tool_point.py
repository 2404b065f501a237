import json
from pathlib import Path as File

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

import identify
from identify.errors import LogError, SchemaError
from identify.logs import LogFile, log_file, open_log, read_log
from identify.logs.log_writing import to_toml, write_log
from identify.logs.patch import patched
from identify.spatial import Pose
from tests.close import assert_close, assert_same_body
from tests.recordings import WRENCH_ARRAYS, Path, _at_sensor
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(4))
PATH = Path.random(3, fastest_hz=0.5)
RATE = 100.0
TIME = np.arange(0.0, 8.0, 1.0 / RATE)
BIAS = np.array([2.0, -1.0, 3.0, 0.2, -0.1, 0.05])
TURN = Rotation.random(random_state=5)
X_FT = Pose(TURN.as_matrix(), 0.12 * np.array([0.48, -0.6, 0.64]))
X_FS = Pose(Rotation.random(random_state=6).as_matrix(), [0.01, 0.03, -0.02])
PENDANT = [*(1e3 * X_FT.position), *TURN.as_rotvec(degrees=True)]
TCP = {"pose": [float(x) for x in PENDANT], "unit": "mm", "angle_unit": "deg"}
XYZ = ("x", "y", "z")


def names(group: str) -> list[str]:
    return [f"{group}{axis}" for axis in XYZ]


def poses(X_BC: Pose, maps: str, axes: str | None, time: np.ndarray = TIME) -> np.ndarray:
    """Position and rotation vector of C as a log has them, [m, rad]."""
    R = PATH.rotation(time) * Rotation.from_matrix(X_BC.rotation.copy())
    p = PATH.position(time) + PATH.rotation(time).apply(X_BC.position.copy())
    logged, inverse = R, maps == "world_to_body"
    if inverse:
        logged = R.inv()
    if axes == "body":
        p = R.inv().apply(p)
    elif inverse and axes is None:
        p = -R.inv().apply(p)
    return np.hstack((p, logged.as_rotvec()))


def wrenches(frame: str, point: Pose, time: np.ndarray = TIME) -> np.ndarray:
    """Of the body with a sensor offset; in world axes at a point, of a sensor in its own."""
    loads = PATH.wrench(PHI, time) + BIAS
    if frame == "sensor":
        return _at_sensor(loads, X_FS)
    if frame == "world":
        R = PATH.rotation(time)
        at_point = _at_sensor(loads, Pose(np.eye(3), point.position))
        return np.hstack((R.apply(at_point[:, :3]), R.apply(at_point[:, 3:])))
    return loads


def logged(
    X_FC: Pose, frame: str = "body", maps: str = "body_to_world", axes: str | None = None
) -> tuple[pd.DataFrame, dict]:
    """A log of a point in the flange, in millimetres and degrees, and its schema without it."""
    pose, wrench = poses(X_FC, maps, axes), wrenches(frame, X_FC)
    table = pd.DataFrame({"t": TIME})
    table[names("p")] = 1e3 * pose[:, :3]
    table[names("r")] = np.degrees(pose[:, 3:])
    table[names("f")], table[names("m")] = wrench[:, :3], wrench[:, 3:]
    schema: dict = {
        "log": {"time": "t"},
        "pose": {
            "position": names("p"),
            "position_unit": "mm",
            "rotation_vector": names("r"),
            "angle_unit": "deg",
            "maps": maps,
        },
        "wrench": {
            "force": names("f"),
            "torque": names("m"),
            "frame": frame,
            "acts_on": "body",
        },
    }
    if axes is not None:
        schema["pose"]["position_axes"] = axes
    if frame == "sensor":
        turn = Rotation.from_matrix(X_FS.rotation.copy()).as_quat().tolist()
        schema["wrench"]["mount"] = {"translation": X_FS.position.tolist(), "quaternion": turn}
    return table, schema


def of_tool(frame: str = "world", **pose) -> tuple[pd.DataFrame, dict]:
    table, schema = logged(X_FT, frame, **pose)
    return table, schema | {"body": {"name": "flange", "tcp": TCP}}


def test_a_log_of_a_tool_point_fits_to_the_body_in_the_flange():
    estimate = identify.fit(read_log(*of_tool("world", maps="world_to_body"))).estimate
    assert_same_body(estimate.parameters.phi, PHI, 1e-5)
    assert estimate.frames.name == "flange"
    assert_close(estimate.frames.flange.matrix, np.eye(4), 0.0)
    assert_close(estimate.frames.tcp.matrix, X_FT.matrix, 1e-12)


@pytest.mark.parametrize("frame", ["body", "sensor"])
def test_a_wrench_that_is_not_in_world_axes_is_left_as_it_is(frame):
    moved, plain = read_log(*of_tool(frame)), read_log(*logged(Pose.identity(), frame))
    for name in ("force", "torque"):
        assert_close(moved.signals[name], plain.signals[name], 0.0)
    assert (moved.X_BS is None) == (plain.X_BS is None) == (frame == "body")
    if frame == "sensor":
        assert_close(moved.X_BS.matrix, plain.X_BS.matrix, 0.0)


def test_a_wrench_in_world_axes_may_be_at_the_flange(tmp_path):
    """As an e-Series of Universal Robots has it: the pose is of the tool point, the wrench not."""
    table, schema = of_tool()
    schema["wrench"]["point"] = "flange"
    recording = read_log(table, schema)
    assert recording.X_BS is None
    assert_close(recording.signals["position"], PATH.position(TIME), 1e-12)
    assert_close(recording.signals["torque"], table[names("m")].to_numpy(), 0.0)
    write_log(recording, tmp_path / "log.csv")
    assert read_log(tmp_path / "log.csv", tmp_path / "log.toml").X_BS is None
    for wrong in ({"wrench": schema["wrench"] | {"frame": "body"}}, {"body": {"name": "flange"}}):
        with pytest.raises(SchemaError, match=r"\[wrench\] point = \"flange\" is of a wrench in w"):
            read_log(table, schema | wrong)


@pytest.mark.parametrize("maps", ["body_to_world", "world_to_body"])
@pytest.mark.parametrize("axes", [None, "body", "world"])
def test_tool_point_is_moved_for_every_rotation_format(maps, axes):
    recording = read_log(*of_tool("body", maps=maps, axes=axes))
    assert_close(recording.signals["position"], PATH.position(TIME), 1e-12)
    turned = Rotation.from_quat(recording.signals["quaternion"].copy())
    assert_close(turned.as_matrix(), PATH.rotation(TIME).as_matrix(), 1e-12)


def test_arrays_of_a_tool_point_are_read_as_a_log_of_it():
    table, schema = of_tool()
    read = read_log(table, schema)
    pose = poses(X_FT, "body_to_world", None)
    recording = read_log(
        {
            "time": TIME,
            "position": pose[:, :3],
            "quaternion": Rotation.from_rotvec(pose[:, 3:]).as_quat(),
            "force": table[names("f")],
            "torque": table[names("m")],
        },
        {
            "log": {"time": "time"},
            "body": {"name": "flange", "tcp": X_FT},
            "pose": {"position": "position", "quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS | {"frame": "world"},
        },
    )
    assert_close(recording.signals["position"], read.signals["position"], 1e-12)
    assert_close(recording.body_frame.tcp.matrix, read.body_frame.tcp.matrix, 1e-12)
    assert_close(recording.X_BS.matrix, read.X_BS.matrix, 1e-12)


def derivative(of, order: int, step: float = 2e-3) -> np.ndarray:
    """Of a function of time by central differences of sixth order."""
    weights = {
        1: ([-1 / 60, 3 / 20, -3 / 4, 3 / 4, -3 / 20, 1 / 60], (-3, -2, -1, 1, 2, 3)),
        2: (
            [1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90],
            (-3, -2, -1, 0, 1, 2, 3),
        ),
    }[order]
    terms = (w * of(TIME + k * step) for w, k in zip(*weights, strict=True))
    return sum(terms) / step**order


def rates_of(X_BC: Pose, axes: str, kind: str) -> dict[str, np.ndarray]:
    """Velocity, acceleration and rates of C, by differentiating where it is."""
    R = PATH.rotation(TIME)
    at = {
        "world": lambda v: v,
        "body": (R * Rotation.from_matrix(X_BC.rotation.copy())).inv().apply,
    }[axes]
    velocity, acceleration = (
        derivative(
            lambda time: PATH.position(time) + PATH.rotation(time).apply(X_BC.position.copy()), k
        )
        for k in (1, 2)
    )
    w, alpha = R.apply(PATH.angular_velocity(TIME)), R.apply(PATH.angular_acceleration(TIME))
    acceleration = (
        acceleration
        - {
            "classical": 0.0,
            "spatial": np.cross(w, velocity),
            "proper": np.array([0.0, 0.0, -9.80665]),
        }[kind]
    )
    return {"v": at(velocity), "w": at(w), "a": at(acceleration), "b": at(alpha)}


def of_rates(X_BC: Pose, twist: str, acceleration: str, kind: str) -> tuple[pd.DataFrame, dict]:
    table, schema = logged(X_BC)
    velocities, changes = rates_of(X_BC, twist, kind), rates_of(X_BC, acceleration, kind)
    for group, values in [(g, velocities[g]) for g in "vw"] + [(g, changes[g]) for g in "ab"]:
        table[names(group)] = values
    schema["twist"] = {"linear": names("v"), "angular": names("w"), "frame": twist}
    schema["acceleration"] = {
        "linear": names("a"),
        "angular": names("b"),
        "frame": acceleration,
        "kind": kind,
    }
    return table, schema


@pytest.mark.parametrize(
    ("twist", "acceleration", "kind"),
    [
        ("body", "body", "classical"),
        ("world", "world", "classical"),
        ("body", "world", "spatial"),
        ("world", "body", "spatial"),
        ("body", "world", "proper"),
        ("world", "body", "proper"),
    ],
)
def test_twist_and_acceleration_match_the_flange(twist, acceleration, kind):
    table, schema = of_rates(X_FT, twist, acceleration, kind)
    moved = read_log(table, schema | {"body": {"tcp": TCP}})
    plain = read_log(*of_rates(Pose.identity(), twist, acceleration, kind))
    assert set(moved.signals) == set(plain.signals)
    for name in ("linear_velocity", "angular_velocity", "angular_acceleration", "position"):
        assert_close(moved.signals[name], plain.signals[name], 1e-9)
    assert_close(moved.signals["linear_acceleration"], plain.signals["linear_acceleration"], 1e-7)


@pytest.mark.parametrize("missing", ["twist", "angular"])
def test_an_acceleration_needs_the_rates_beside_it(missing):
    table, schema = of_rates(X_FT, "body", "body", "classical")
    if missing == "twist":
        del schema["twist"]
    else:
        del schema["acceleration"]["angular"]
    with pytest.raises(SchemaError, match=r"\[body.tcp\], \[acceleration\] linear .* requires"):
        read_log(table, schema | {"body": {"tcp": TCP}})
    table, schema = of_rates(X_FT, "body", "body", "classical")
    del schema["twist"]["angular"], schema["acceleration"]
    with pytest.raises(SchemaError, match=r"\[twist\] linear .* requires \[twist\] angular"):
        read_log(table, schema | {"body": {"tcp": TCP}})


def test_a_long_log_is_moved_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(log_file, "MIN_ROWS_IN_CHUNKS", 500)
    monkeypatch.setattr(log_file, "_HEAD_ROWS", 100)
    table, schema = of_tool()
    table.to_parquet(tmp_path / "log.parquet")
    opened = open_log(tmp_path / "log.parquet", schema)
    assert isinstance(opened, LogFile)
    whole = read_log(tmp_path / "log.parquet", schema)
    part = opened.reader()(300, 500, 20).recording
    for name, values in whole.signals.items():
        assert_close(part.signals[name], values[280:520], 0.0)
    assert_close(part.body_frame.tcp.matrix, X_FT.matrix, 1e-12)


def test_a_wrench_with_a_clock_of_its_own(tmp_path):
    """A wrench in world axes is moved once it has an attitude, which is in other rows."""
    table, schema = of_tool()
    table[["t", *names("p"), *names("r")]].to_csv(tmp_path / "pose.csv", index=False)
    fast = np.arange(0.0, 8.0, 1.0 / 250.0)
    wrench = pd.DataFrame({"t": fast})
    wrench[[*names("f"), *names("m")]] = wrenches("world", X_FT, fast)
    wrench.to_csv(tmp_path / "wrench.csv", index=False)
    schema["streams"] = {"pose": {"file": "pose.csv"}, "wrench": {"file": "wrench.csv"}}
    recording = read_log(tmp_path, schema)
    assert recording.streams
    assert_same_body(identify.fit(recording).estimate.parameters.phi, PHI, 1e-4)


def test_written_log_keeps_body_frame(tmp_path):
    table, schema = of_rates(X_FT, "world", "body", "proper")
    schema["wrench"]["frame"] = "world"
    recording = read_log(table, schema | {"body": {"name": "flange", "tcp": TCP}})
    write_log(recording, tmp_path / "log.csv")
    again = read_log(tmp_path / "log.csv", tmp_path / "log.toml")
    for name, values in recording.signals.items():
        assert_close(again.signals[name], values, 1e-12)
    assert again.body_frame.name == "flange"
    assert_close(again.body_frame.tcp.matrix, X_FT.matrix, 1e-12)
    assert_close(again.X_BS.matrix, recording.X_BS.matrix, 1e-12)


@pytest.mark.parametrize(
    ("wrong", "patch"),
    [
        ({"pose": {"maps": "world_to_body"}}, {"pose.maps": "body_to_world"}),
        ({"pose": {"position_axes": "body"}}, {"pose.position_axes": "world"}),
        ({"pose": {"position_unit": "m"}}, {"pose.position_unit": "mm"}),
        ({"twist": {"angle_unit": "deg"}}, {"twist.angle_unit": "rad"}),
        ({"acceleration": {"kind": "spatial"}}, {"acceleration.kind": "classical"}),
        ({"wrench": {"frame": "body"}}, {"wrench.frame": "world"}),
        ({"wrench": {"frame": "world"}}, {"wrench.frame": "body"}),
    ],
)
def test_patched_log_keeps_tool_point(wrong, patch):
    table, right = of_rates(X_FT, "body", "world", "classical")
    right["body"] = {"tcp": TCP}
    right["wrench"]["frame"] = {"body": "world", "world": "body"}.get(
        wrong.get("wrench", {}).get("frame"), "body"
    )
    schema = {group: keys | wrong.get(group, {}) for group, keys in right.items()}
    expected, found = read_log(table, right), patched(read_log(table, schema), patch)
    for name, values in expected.signals.items():
        assert_close(found.signals[name], values, 1e-11)
    assert found.frames == expected.frames
    assert (found.X_BS is None) == (expected.X_BS is None)


def test_noise_of_lever_terms():
    rng = np.random.default_rng(0)
    count, sigma = 20_000, {"position": 2e-4, "quaternion": 3e-3}
    turns = Rotation.from_rotvec(rng.normal(0.0, sigma["quaternion"], (count, 3)))
    places = rng.normal(0.0, sigma["position"], (count, 3))
    recording = read_log(
        {
            "position": places,
            "quaternion": (TURN * turns).as_quat(),
            "force": rng.normal(size=(count, 3)),
            "torque": rng.normal(size=(count, 3)),
        },
        {
            "log": {"rate_hz": 100.0},
            "body": {"tcp": X_FT},
            "pose": {"position": "position", "quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS,
        },
    )
    _, schema = of_tool()
    schema["pose"] |= {"position_noise": 0.2, "angle_noise": float(np.degrees(3e-3))}
    noise = read_log(logged(X_FT)[0], schema | {"wrench": logged(X_FT)[1]["wrench"]}).noise
    measured = np.sqrt(np.mean(np.var(recording.signals["position"], axis=0)))
    assert noise["position"] == pytest.approx(measured, rel=0.01)
    assert noise["quaternion"] == pytest.approx(3e-3)
    assert noise["position"] > 1.4 * sigma["position"]


def write_schema(folder: File, body: dict) -> File:
    _, schema = logged(X_FT)
    path = folder / "log.toml"
    path.write_text(to_toml(schema | {"body": body}))
    return path


SQUARE = [0.0, 0.0, 65.0, 0.0, 0.0, 0.0]


METRES = r".*65 m from the .*set unit = \"mm\""
BAD_FRAMES = [
    ({"tcp": {"pose": SQUARE}}, r"\[body\] tcp: " + METRES),
    ({"flange": {"translation": [0.0, 0.0, -65.0]}}, r"\[body\] flange: " + METRES),
    ({"tcp": {"pose": SQUARE[:5]}}, r"\[body.tcp\] pose: .*6 numbers, got 5"),
    ({"tcp": {"pose": [0, 0, 0.1, 0, 0, 90]}}, r"\[body.tcp\] .*90 rad.*angle_unit = \"deg\""),
    ({"flange": {"rotation_vector": [0, 0, 30]}}, r"\[body.flange\] .*30 rad.*angle_unit = \"de"),
    ({"flange": {"translation": [0, 0, 0]}, "tcp": {"pose": [0.0] * 6}}, r"\[body\] .*not both"),
    ({"flange": {"quaternion": [0, 0, 0, 2]}}, r"\[body.flange\] quaternion: .* of norm 2"),
    (
        {"flange": {"quaternion": [0, 0, 0, 1], "rotation_vector": [0, 0, 0]}},
        r"\[body.flange\] give quaternion or rotation_vector, not both",
    ),
    ({"tcp": {"pose": [0.0] * 6, "unit": "cm"}}, r"\[body.tcp\] unit: .*one of 'm', 'm"),
    ({"tcp": {"pose": [0.0] * 5 + [float("nan")]}}, r"\[body.tcp\] pose: .*finite num"),
    ({"name": ""}, r"\[body\] name: "),
    ({"name": "a\nb"}, r"\[body\] name: expected one line"),
    ({"tool": {"pose": SQUARE}}, r"\[body\] unknown key 'tool'"),
    ({"flange": [0, 0, 0.1]}, r"\[body.flange\] expected a table"),
]


@pytest.mark.parametrize(("body", "said"), BAD_FRAMES)
def test_invalid_frame_reports_file_and_key(tmp_path, body, said):
    text = json.dumps(body)
    path = write_schema(tmp_path, json.loads(text.replace("NaN", "0")))
    if "NaN" in text:
        path.write_text(path.read_text().replace("0.0, 0]", "0.0, nan]"))
    with pytest.raises(SchemaError, match=rf"log\.toml: {said}"):
        identify.logs.load_schema(path)


def test_logs_of_a_fit_require_equal_body_frame():
    table, schema = logged(Pose.identity())
    first = read_log(table, schema | {"body": {"flange": {"translation": [0, 0, 0.1]}}})
    shifted = table.assign(fx=table["fx"] + 1e-9)
    for body, what in (
        ({}, r"\[body.flange\]"),
        ({"flange": {"translation": [0, 0, 0.2]}}, r"\[body.flange\]"),
        ({"name": "wrist", "flange": {"translation": [0, 0, 0.1]}}, r"\[body\] name"),
    ):
        with pytest.raises(LogError, match=rf"table: .* in table: the logs of one fit .*{what}"):
            identify.fit([first, read_log(shifted, schema | {"body": body})])


def test_a_velocity_without_its_pose_in_the_same_rows_is_rejected(tmp_path):
    table, schema = of_rates(X_FT, "world", "world", "classical")
    del schema["acceleration"]
    table[["t", *names("p"), *names("r")]].iloc[::2].to_csv(tmp_path / "pose.csv", index=False)
    table.drop(columns=[*names("p"), *names("r")]).to_csv(tmp_path / "rest.csv", index=False)
    schema["streams"] = {
        "pose": {"file": "pose.csv"},
        "twist": {"file": "rest.csv"},
        "wrench": {"file": "rest.csv"},
    }
    with pytest.raises(LogError, match=r"rest\.csv: \[body.tcp\]: the linear velocity .* the pose"):
        read_log(tmp_path, schema | {"body": {"tcp": TCP}})


def test_a_pose_in_the_flange_that_is_given_is_written_and_read_back(tmp_path):
    loads = np.ones((len(TIME), 3))
    placed = read_log(
        {
            "time": TIME,
            "position": PATH.position(TIME),
            "quaternion": PATH.rotation(TIME).as_quat(),
            "force": loads,
            "torque": loads,
        },
        {
            "log": {"time": "time"},
            "body": {"flange": X_FT.matrix},
            "pose": {"position": "position", "quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS,
        },
    )
    write_log(placed, tmp_path / "log.csv")
    again = read_log(tmp_path / "log.csv", tmp_path / "log.toml")
    for one in (placed, again):
        assert_close(one.body_frame.flange.matrix, X_FT.matrix, 1e-12)
        assert one.body_frame.tcp is None
