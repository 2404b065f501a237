"""Joint states in bags, and drafts of `[joints]`."""

import numpy as np
import pytest

from identify.errors import LogError, MissingColumn
from identify.logs import read_joint_log
from tests.close import assert_close

pytest.importorskip("rosbags")
pytest.importorskip("h5py")
from tests.logs.containers import Bag

NAMES = ["shoulder", "elbow", "wrist"]
START = 1_700_000_000_123_456_789
TIME = np.arange(60) / 100.0
Q = 0.4 * np.sin(TIME[:, None] * [3.0, 5.0, 7.0] + [0.1, 0.2, 0.3])
V = 0.4 * np.array([3.0, 5.0, 7.0]) * np.cos(TIME[:, None] * [3.0, 5.0, 7.0] + [0.1, 0.2, 0.3])
TAU = 10.0 * np.cos(TIME[:, None] * [2.0, 4.0, 6.0])
SCHEMA = {
    "log": {"time": "header.stamp"},
    "joints": {
        "names": NAMES,
        "position": "position[names]",
        "velocity": "velocity[names]",
        "effort": "effort[names]",
    },
}


def write_states(path, kind="mcap", *, shuffled=False, gripper=False, effort=True):
    """A bag of `/joint_states`; the messages of a gripper on the same topic come first."""
    rng = np.random.default_rng(3)
    with Bag(path, kind) as bag:
        for k, seconds in enumerate(TIME):
            ns = START + round(1e9 * seconds)
            order = rng.permutation(3).tolist() if shuffled else [0, 1, 2]
            if gripper:
                bag.joints("/joint_states", ns - 3_000_000, ["finger"], [0.01], [0.0], [1.0])
            names = [NAMES[j] for j in order]
            efforts = TAU[k, order] if effort else []
            bag.joints("/joint_states", ns, names, Q[k, order], V[k, order], efforts)
    return path


@pytest.mark.parametrize("kind", ["ros1", "mcap", "sqlite"])
@pytest.mark.parametrize("others", [{}, {"shuffled": True}, {"gripper": True, "shuffled": True}])
def test_joint_states_are_read_by_name_in_any_order(tmp_path, kind, others):
    path = write_states(tmp_path / ("a.bag" if kind == "ros1" else "a"), kind, **others)
    log = read_joint_log(path, SCHEMA)
    assert_close(log.time, TIME, rtol=1e-8)
    np.testing.assert_array_equal(log.position, Q)
    np.testing.assert_array_equal(log.velocity, V)
    np.testing.assert_array_equal(log.effort, TAU)
    assert log.rows == 60
    assert log.dropped.total == 0


def test_an_unknown_joint_names_the_nearest(tmp_path):
    path = write_states(tmp_path / "a", gripper=True)
    joints = {**SCHEMA["joints"], "names": ["shoulder", "elbow", "wirst"]}
    expected = r"/joint_states.*'position\[wirst\]'.*did you mean 'position\[wrist\]'"
    with pytest.raises(MissingColumn, match=expected):
        read_joint_log(path, SCHEMA | {"joints": joints})


def test_joint_states_without_efforts_lack_the_column(tmp_path):
    path = write_states(tmp_path / "a", effort=False)
    with pytest.raises(MissingColumn, match=r"no column 'effort\[shoulder\]'"):
        read_joint_log(path, SCHEMA)


def test_a_message_without_the_efforts_of_the_first_is_named(tmp_path):
    with Bag(tmp_path / "a", "mcap") as bag:
        bag.joints("/joint_states", START, NAMES, Q[0], V[0], TAU[0])
        bag.joints("/joint_states", START + 10_000_000, NAMES, Q[1], V[1], [])
    with pytest.raises(LogError, match=r"message 1: has not all of .*effort\[shoulder\]"):
        read_joint_log(tmp_path / "a", SCHEMA)
