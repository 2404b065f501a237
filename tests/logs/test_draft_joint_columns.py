"""Drafts of `[joints]` of logs whose columns are named as joints, and of single motors."""

import tomllib

import numpy as np
import pandas as pd
import pytest

from identify.errors import LogError
from identify.logs import read_log
from identify.logs.draft_schema import draft_schema
from identify.logs.schema_fields import negate_column, without_sign
from identify.robots import read_robot
from tests.arms.mechanisms import mechanism_text

T = np.arange(400) / 100.0
Q, TAU = np.sin(T), np.cos(T)


def drafted(tmp_path, columns, robot=None):
    log, schema = tmp_path / "log.csv", tmp_path / "schema.toml"
    pd.DataFrame({"t": T, **columns}).to_csv(log, index=False)
    draft = draft_schema(log, robot=robot)
    schema.write_text(draft.text)
    return draft, log, schema


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ({"q_j1": Q, "q_j2": 2 * Q, "tau_j1": TAU, "tau_j2": 2 * TAU}, ["j1", "j2"]),
        (
            {"joint_1_pos": Q, "joint_2_pos": 2 * Q, "joint_1_trq": TAU, "joint_2_trq": 2 * TAU},
            ["joint_1", "joint_2"],
        ),
        ({"elbow/position": Q, "elbow/effort": TAU}, ["elbow"]),
        ({"angle": Q, "current": TAU}, ["joint_1"]),
        (
            {"-a position": Q, "-b position": 2 * Q, "-a effort": TAU, "-b effort": 2 * TAU},
            ["-a", "-b"],
        ),
    ],
)
def test_columns_named_as_joints_are_found(tmp_path, columns, names):
    draft, log, schema = drafted(tmp_path, columns)
    assert draft.missing_signals == ()
    assert tomllib.loads(draft.text)["joints"]["names"] == names
    recording = read_log(log, schema, sensor="joints")
    factors = np.arange(1, len(names) + 1)
    np.testing.assert_allclose(recording.signals["joint_position"], Q[:, None] * factors)
    np.testing.assert_allclose(recording.signals["effort"], TAU[:, None] * factors)


def test_positions_without_efforts_are_drafted_and_said(tmp_path):
    for efforts in (
        {},
        {"tau_j1": np.nan * T, "tau_j2": TAU},
        {"tau_j1": TAU, "tau_j2": np.nan * T},
    ):
        draft, *_ = drafted(tmp_path, {"q_j1": Q, "q_j2": Q, **efforts})
        assert draft.missing_signals == ("the efforts of joints",)
        assert "[joints]" in draft.text
        assert ("the efforts are not" in draft.text) == bool(efforts)


def test_a_model_drafts_joints_whatever_the_columns_are(tmp_path, pinocchio):
    path = tmp_path / "scara.urdf"
    path.write_text(mechanism_text("scara"))
    draft, *_ = drafted(tmp_path, {"a": Q, "b": TAU}, read_robot(path))
    joints = tomllib.loads(draft.text)["joints"]
    assert joints["names"] == ["j0", "j1", "j2", "j3"]
    assert joints["unit"] == ["rad", "rad", "m", "rad"]
    assert draft.missing_signals == ("the positions of joints", "the efforts of joints")


def test_a_pose_is_no_joint(tmp_path):
    columns = dict.fromkeys(["position_x", "position_y", "position_z", "torque_x", "torque_y"], Q)
    assert "[joints]" not in drafted(tmp_path, columns)[0].text


def test_a_column_named_with_a_minus_can_be_negated():
    assert without_sign("+-fx") == ("-fx", 1.0)
    assert without_sign(negate_column("+-fx")) == ("-fx", -1.0)
    assert negate_column(negate_column("+-fx")) == "+-fx"


@pytest.mark.parametrize(
    ("columns", "unit"),
    [
        ({"j1_pos_deg": Q, "j2_pos_deg": 2 * Q, "j1_load_pct": TAU, "j2_load_pct": 2 * TAU}, "%"),
        (
            {"j1_angle(deg)": Q, "j2_angle(deg)": 2 * Q, "j1_cur_mA": TAU, "j2_cur_mA": 2 * TAU},
            "mA",
        ),
    ],
)
def test_units_behind_names_of_joints_are_those_of_the_schema(tmp_path, columns, unit):
    draft, log, schema = drafted(tmp_path, columns)
    joints = tomllib.loads(draft.text)["joints"]
    assert (joints["names"], joints["unit"], joints["effort_unit"]) == (["j1", "j2"], "deg", unit)
    recording = read_log(log, schema, sensor="joints")
    np.testing.assert_allclose(recording.signals["joint_position"][:, 1], np.radians(2 * Q))
    factor = {"%": 0.01, "mA": 0.001}[unit]
    np.testing.assert_allclose(recording.signals["effort"][:, 1], 2 * factor * TAU)


def test_positions_alone_are_joints_where_a_log_has_little_else(tmp_path):
    draft, *_ = drafted(tmp_path, {"theta": Q, "i_a": TAU})
    assert draft.missing_signals == ("the efforts of joints",)
    others = {f"s{k}": TAU for k in range(4)}
    assert (
        "the efforts of joints" not in drafted(tmp_path, {"theta": Q, **others})[0].missing_signals
    )


def as_list(values, separator=", "):
    return f"[{separator.join(map(str, values))}]"


@pytest.mark.parametrize("names", ["[shoulder, elbow]", "['shoulder', 'elbow']", None])
@pytest.mark.parametrize("separator", [", ", " "])
def test_lists_in_cells_are_arrays(tmp_path, names, separator):
    cells = {} if names is None else {"name": [names] * len(T)}
    rows = np.array([Q, 2 * Q]).T.tolist()
    cells["position"] = [as_list(row, separator) for row in rows]
    cells["effort"] = [as_list((2.0, x), separator) for x in TAU.tolist()]
    draft, log, schema = drafted(tmp_path, cells)
    joints = tomllib.loads(draft.text)["joints"]
    assert joints["names"] == (["shoulder", "elbow"] if names else ["joint_1", "joint_2"])
    recording = read_log(log, schema, sensor="joints")
    np.testing.assert_allclose(recording.signals["joint_position"], rows)
    np.testing.assert_allclose(recording.signals["effort"][:, 1], TAU)


def test_lists_of_other_lengths_are_named_by_their_row(tmp_path):
    lists = [as_list((x, x)) for x in Q.tolist()]
    lists[7] = "[1.0]"
    with pytest.raises(LogError, match="row 9 has other lists"):
        drafted(tmp_path, {"position": lists, "effort": lists})


@pytest.mark.parametrize("efforts", ["block", "flow", "empty"])
def test_echoed_joint_states_are_read(tmp_path, efforts):
    message = (
        "header:\n  stamp:\n    sec: {}\n    nanosec: {}\n  frame_id: ''\nname:\n- shoulder\n"
        "- elbow\nposition:\n- {}\n- {}\nvelocity: []\neffort:{}\n---\n"
    )
    texts = {"block": "\n- {0}\n- {1}", "flow": " [{0}, {1}]", "empty": " []"}
    path = tmp_path / "echo.yaml"
    text = "".join(
        message.format(int(t), round(t % 1 * 1e9), -q, q, texts[efforts].format(e, 2.0 * e))
        for t, q, e in zip(T.tolist(), Q.tolist(), TAU.tolist(), strict=True)
    )
    path.write_text(text + "header:\n  stamp:\n    sec: 9\n")
    draft = draft_schema(path)
    assert tomllib.loads(draft.text)["joints"]["names"] == ["shoulder", "elbow"]
    assert draft.missing_signals == (("the efforts of joints",) if efforts == "empty" else ())
    schema = tmp_path / "schema.toml"
    schema.write_text(draft.text)
    if efforts != "empty":
        recording = read_log(path, schema, sensor="joints")
        np.testing.assert_allclose(recording.time, T)
        np.testing.assert_allclose(recording.signals["joint_position"].T, [-Q, Q])
        np.testing.assert_allclose(recording.signals["effort"].T, [TAU, 2 * TAU])
