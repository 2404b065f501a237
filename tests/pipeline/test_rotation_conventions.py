"""Logs whose attitude is stored by one convention, and called another by their schema."""

import tomllib

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.diagnosis import Ranking
from identify.logs import Recording, read_log
from identify.pipeline import check_logs, correcting, fit
from identify.pipeline.checks import Checks
from identify.pipeline.interpretation_comparison import rank_explanations
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors import summarise_log
from tests.close import assert_close
from tests.recordings import Path, record, still_poses, without_effects
from tests.slow import few_or_many, mostly_slow
from tests.strategies import random_body

BODY = random_body(np.random.default_rng(11))
NOISE = {"force": 0.05, "torque": 0.005, "position": 2e-5, "quaternion": 2e-5}
MOVING = record(Path.random(5), BODY, np.arange(0.0, 12.0, 0.02), bias=np.full(6, 0.3), noise=NOISE)
STILL = still_poses(
    BODY,
    Rotation.random(16, random_state=np.random.default_rng(4)),
    bias=np.full(6, 0.3),
    noise=np.repeat([0.05, 0.003], 3),
)
COLUMNS = {
    "position": ["p[0]", "p[1]", "p[2]"],
    "rotation_vector": ["r[0]", "r[1]", "r[2]"],
    "euler": ["r[0]", "r[1]", "r[2]"],
}


def numbers_of(log: Recording, kind: str) -> np.ndarray:
    turn = Rotation.from_quat(log.signals["quaternion"])
    return turn.as_rotvec() if kind == "rotation_vector" else turn.as_euler(kind)


def document(log: Recording, kind: str, **pose: object) -> dict[str, dict[str, object]]:
    order = {} if kind == "rotation_vector" else {"order": kind}
    name = "euler" if order else kind
    placed = {} if log.still else {"position": COLUMNS["position"]}
    return {
        "log": {"still": True} if log.still else {"time": "t"},
        "pose": {**placed, name: COLUMNS[name], **order, **pose},
        "wrench": {
            "force": ["f[0]", "f[1]", "f[2]"],
            "torque": ["tau[0]", "tau[1]", "tau[2]"],
            "frame": "body",
            "acts_on": "body",
        },
    }


def table(log: Recording, numbers: np.ndarray, **changed: np.ndarray) -> dict[str, np.ndarray]:
    own = {"p": "position", "f": "force", "tau": "torque"}
    columns = {name: log.signals[signal] for name, signal in own.items()}
    time = {} if log.time is None else {"t": log.time}
    return {**columns, "r": numbers, **time, **changed}


def ranked(log: Recording) -> Ranking:
    return rank_explanations([ScannedLog(log, summarise_log(log))])


def obeyed(schema: dict[str, dict[str, object]], remedy: str) -> dict[str, dict[str, object]]:
    """The schema of `[pose]` with the lines of a remedy."""
    pose = dict(schema["pose"])
    for line in remedy.partition("[pose]")[2].split("`")[1::2]:
        pose |= tomllib.loads(line) if "=" in line else {}
    if {"euler", "rotation_vector"} <= pose.keys():
        del pose[next(iter({"euler", "rotation_vector"} & schema["pose"].keys()))]
        pose = {k: v for k, v in pose.items() if k != "order" or "euler" in pose}
    return {**schema, "pose": pose}


@pytest.mark.parametrize("log", few_or_many(STILL, MOVING), ids=["still", "moving"])
@pytest.mark.parametrize(
    ("logged", "called"),
    [
        *(("xyz", "rotation_vector"), ("rotation_vector", "xyz"), ("xyz", "XYZ")),
        *(("ZYZ", "xyz"), ("YXZ", "zyz"), ("xyz", "zyx")),
    ],
)
def test_rotation_convention_is_reported_with_schema_lines(log, logged, called):
    schema, columns = document(log, called), table(log, numbers_of(log, logged))
    found = ranked(read_log(columns, schema))
    assert found.best.code == "rotation_convention"
    proper = len({*logged.lower()}) == 2  # such angles are rare in logs of robots
    assert found.best.faults[0].mistake_count == 1 + proper
    assert_close(found.best.mass, BODY[0], 0.02)
    whole = obeyed(schema, found.best.remedy)
    right = Rotation.from_quat(read_log(columns, whole).signals["quaternion"])
    turn = right.inv() * Rotation.from_quat(log.signals["quaternion"])
    assert turn.magnitude().max() < 1e-9


@pytest.mark.parametrize("angle", few_or_many(0.35, 0.8))
@pytest.mark.parametrize(
    ("logged", "called"),
    mostly_slow(
        [("rotation_vector", "xyz"), ("xyz", "rotation_vector")], [("rotation_vector", "xyz")]
    ),
)
def test_three_number_rotation_format_is_recognised(tmp_path, angle, logged, called):
    """Readings that differ by a few degrees: neither a contact, nor a sign, nor a mount."""
    log = record(
        Path.random(8, angle=angle),
        BODY,
        np.arange(0.0, 12.0, 0.02),
        bias=np.full(6, 0.3),
        noise=NOISE,
    )
    columns = table(log, numbers_of(log, logged))
    np.savez(tmp_path / "log.npz", **columns)
    found = ranked(read_log(tmp_path / "log.npz", document(log, called)))
    assert found.best.code == "rotation_convention"
    assert ("rotation_vector" if logged == "rotation_vector" else '"xyz"') in found.best.remedy
    assert_close(found.best.mass, BODY[0], 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("log", [MOVING, STILL], ids=["moving", "still"])
@pytest.mark.parametrize("kind", ["rotation_vector", "ZYX"])
def test_radians_called_degrees_are_named(log, kind):
    schema = document(log, kind, angle_unit="deg")
    found = ranked(read_log(table(log, numbers_of(log, kind)), schema))
    assert found.best.code == "angle_unit"
    assert '`angle_unit = "deg"` to `angle_unit = "rad"`' in found.best.remedy
    assert_close(found.best.mass, BODY[0], 0.02)


@pytest.mark.parametrize("log", few_or_many(STILL, MOVING), ids=["still", "moving"])
def test_a_component_of_the_rotation_vector_of_the_other_sign_is_named(log):
    numbers = numbers_of(log, "rotation_vector") * [-1.0, 1.0, 1.0]
    found = ranked(read_log(table(log, numbers), document(log, "rotation_vector")))
    assert found.best.code == "rotation_convention"
    assert '`rotation_vector = ["-r[0]", "r[1]", "r[2]"]`' in found.best.remedy
    assert_close(found.best.mass, BODY[0], 0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "signal", "code", "lines"),
    [
        ("p", "position", "position_axes", '`position = ["-p[0]", "p[2]", "p[1]"]`'),
        ("f", "force", "wrench_axes", '`force = ["-f[0]", "f[2]", "f[1]"]`'),
        pytest.param(
            *("tau", "torque", "wrench_axes", '`torque = ["-tau[0]", "tau[2]", "tau[1]"]`'),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_mirrored_and_swapped_axes_of_a_vector_are_reported(column, signal, code, lines):
    changed = {column: MOVING.signals[signal][:, [0, 2, 1]] * [-1.0, 1.0, 1.0]}
    columns = table(MOVING, numbers_of(MOVING, "xyz"), **changed)
    found = ranked(read_log(columns, document(MOVING, "xyz")))
    assert found.best.code == code
    assert lines in found.best.remedy
    assert_close(found.best.mass, BODY[0], 0.02)


def test_a_convention_is_corrected_in_a_log_that_holds_its_pose():
    """Angles are read otherwise before the rows that repeat a sample are left out."""
    columns = table(MOVING, numbers_of(MOVING, "xyz"))
    columns |= {name: np.repeat(columns[name][::4], 4, axis=0) for name in "pr"}
    log = without_effects(read_log(columns, document(MOVING, "zyx")))
    found = check_logs(log).findings
    first = next(each for each in found if each.severity == "error")
    assert first.code == "rotation_convention"
    assert '`order = "xyz"`' in first.remedy


@pytest.mark.slow
@pytest.mark.parametrize(
    ("logged", "called"),
    mostly_slow([("xyz", "zyx"), ("rotation_vector", "xyz")], [("rotation_vector", "xyz")]),
)
def test_a_convention_of_a_pose_with_a_clock_of_its_own_is_named_and_corrected(
    tmp_path, monkeypatch, logged, called
):
    """The pose is in a file of its own, starts later and is slower than the wrench."""
    columns, rows = table(MOVING, numbers_of(MOVING, logged)), slice(7, -7, 2)
    pose = {name: columns[name][rows] for name in ("p", "r")}
    np.savez(tmp_path / "pose.npz", pose_t=columns["t"][rows], **pose)
    np.savez(tmp_path / "wrench.npz", **{name: columns[name] for name in ("t", "f", "tau")})
    streams = {
        "pose": {"time": "pose_t", "file": "pose.npz"},
        "wrench": {"time": "t", "file": "wrench.npz"},
    }
    log = read_log(tmp_path, {**document(MOVING, called), "log": {}, "streams": streams})
    assert log.streams
    assert log.attitude_coordinates.shape == (len(columns["t"][rows]), 3)
    found = ranked(log)
    assert found.best.code == "rotation_convention"
    assert ("rotation_vector = " if logged == "rotation_vector" else '"xyz"') in found.best.remedy
    assert_close(found.best.mass, BODY[0], 0.02)
    monkeypatch.setattr(correcting, "run_checks", lambda *_, **__: Checks(ranking=found))
    applied = fit(log, apply=["rotation_convention"])
    assert applied.verdict.usable == "yes"
    assert_close(applied.estimate.parameters.mass, BODY[0], 0.01)


def test_conventions_equivalent_for_a_log_count_as_one():
    """Turns about one axis at a time are alike in any order: so read, nothing is wrong."""
    angles = np.concatenate([np.outer(np.linspace(-2.0, 2.0, 9), axis) for axis in np.eye(3)])
    log = still_poses(
        BODY, Rotation.from_rotvec(angles), bias=np.full(6, 0.3), noise=np.repeat([0.05, 0.003], 3)
    )
    for kind in ("rotation_vector", "xyz", "XYZ"):
        assert ranked(read_log(table(log, angles), document(log, kind))).confirms_schema
    wrong = ranked(read_log(table(log, np.degrees(angles)), document(log, "xyz")))
    assert {each.code for each in wrong.tied} == {"angle_unit"}


def test_static_poses_are_checked_when_a_convention_removes_weight():
    """With the weight taken off, static poses show nothing: that reading is compared too."""
    turns = Rotation.random(8, random_state=np.random.default_rng(2))
    log = still_poses(BODY, turns, bias=np.full(6, 0.3), noise=np.repeat([0.05, 0.003], 3), seed=2)
    wrong = read_log(
        table(log, np.degrees(numbers_of(log, "zxy"))), document(log, "ZYX", angle_unit="deg")
    )
    assert check_logs(wrong).findings[0].code == "rotation_convention"


def test_the_attitude_of_a_tool_point_is_read_by_other_conventions_too():
    turn = Rotation.from_rotvec([0.3, -0.5, 0.8])
    tool = Rotation.from_quat(MOVING.signals["quaternion"]) * turn
    columns = table(MOVING, tool.as_euler("xyz"))
    schema = document(MOVING, "ZYX")
    schema["body"] = {"tcp": {"pose": [0.0, 0.0, 0.0, *turn.as_rotvec().tolist()]}}
    found = ranked(read_log(columns, schema))
    assert '`order = "ZYX"` to `order = "xyz"`' in found.best.remedy
    assert_close(found.best.mass, BODY[0], 0.02)
