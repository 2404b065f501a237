"""Drafts of `[joints]` of logs whose columns are named as joints, and of single motors."""

import tomllib

import numpy as np
import pandas as pd
import pytest

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
