import importlib.util
import re
import tomllib
from functools import partial

import numpy as np
import pytest

from identify.logs import read_log
from identify.signals.segment_kinematics import static_poses_in_body
from identify.spatial.rotations import rotation_from_quaternion
from tests.close import assert_close
from tests.endtoend.conftest import ROOT

PAGES = ("ur", "franka", "kuka", "ros2")


@pytest.fixture
def robot_logs(monkeypatch):
    """The script that writes them, at a few instants."""
    path = ROOT / "docs" / "robot_logs.py"
    spec = importlib.util.spec_from_file_location("robot_logs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "Motion", partial(module.Motion, every=400))
    return module


@pytest.mark.parametrize("robot", PAGES)
def test_the_schema_of_a_page_reads_its_log_at_the_flange(robot_logs, tmp_path, robot):
    if robot == "ros2":
        pytest.importorskip("rosbags")
    page = (ROOT / "docs" / f"{robot}.md").read_text(encoding="utf-8")
    (written,) = re.findall(rf"^```toml {robot}\.toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (name,) = re.findall(rf"^python docs/robot_logs.py {robot} (\S+)$", page, re.MULTILINE)
    robot_logs.WRITERS[robot](tmp_path / name)
    log, motion = read_log(tmp_path / name, tomllib.loads(written)), robot_logs.Motion()
    assert log.body_frame.flange is not None
    assert_close(log.body_frame.flange.matrix, np.eye(4), 0.0)  # B is the flange
    assert_close(log.signals["position"], motion.at_flange, 1e-9)
    attitude = rotation_from_quaternion(log.signals["quaternion"])
    assert_close(attitude, motion.flange.as_matrix(), 1e-6)  # a page has angles in six digits
    on_sensor = [motion.flange.inv().apply(x) for x in motion.in_world(motion.at_flange)]
    for got, expected in zip(static_poses_in_body(log).wrench, on_sensor, strict=True):
        assert_close(got, -expected, 1e-6)
