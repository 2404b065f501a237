"""Pages from a log to the payload setting, as a user follows them."""

import json
import os
import re
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.exchange import SavedEstimate, read_estimate
from identify.logs import load_schema, read_log
from identify.logs.draft_lines import with_value
from identify.signals.segment_kinematics import static_poses_in_body
from identify.spatial.rotations import rotation_from_quaternion
from tests.close import assert_close
from tests.endtoend.conftest import ROOT, load_script
from tests.slow import mostly_slow

PAGES = ("ur", "franka", "kuka", "ros2")


class Recipe(NamedTuple):
    """What the commands of a page leave behind: the logs that they write, and what they export."""

    logs: list[Path]
    exported: list[str]


@pytest.fixture
def robot_logs(monkeypatch) -> ModuleType:
    """The script that writes the records of the pages, at half its rate."""
    module = load_script("docs/robot_logs.py")
    monkeypatch.setattr(module, "Motion", partial(module.Motion, every=8))
    return module


@pytest.fixture
def follow(robot_logs, cli, tmp_path, monkeypatch) -> Callable[..., Recipe]:
    """Run the blocks of a page that are in given languages, in a new folder, in order.

    `gain_accuracy`: of the sensor's data sheet, which a user enters into the draft.
    """
    monkeypatch.chdir(tmp_path)
    Path("datasets").symlink_to(ROOT / "datasets")
    examples = load_script("scripts/run_examples.py")

    def follow(page: str, *languages: str, gain_accuracy: float | None = None) -> Recipe:
        if page == "ros2":
            pytest.importorskip("rosbags")
        logs, exported = list[Path](), list[str]()

        def run(block: str) -> None:
            for line in block.splitlines():
                program, *words = shlex.split(os.path.expandvars(line), comments=True)
                if program.startswith("D="):
                    monkeypatch.setenv(*program.split("="))
                    continue
                if program == "python":
                    assert words[:2] == ["docs/robot_logs.py", page]
                    logs.append(Path(words[2]))
                    robot_logs.WRITERS[page](logs[0])
                    continue
                assert program == "identify"
                outcome = cli(*words)
                assert outcome.status == 0, outcome
                if words[0] == "init" and gain_accuracy is not None:
                    schema = Path(words[words.index("-o") + 1])
                    text = with_value(schema.read_text(), "wrench.gain_accuracy", gain_accuracy)
                    schema.write_text(text)
                if words[0] == "export":
                    file = words[words.index("-o") + 1] if "-o" in words else None
                    exported.append(Path(file).read_text() if file else outcome.out)

        path, names = ROOT / "docs" / f"{page}.md", dict[str, object]()
        for fence in examples.CODE_FENCE.finditer(path.read_text(encoding="utf-8")):
            if fence[2] in languages:
                examples.run_block(fence, 1, path, names, run)
        return Recipe(logs, exported)

    return follow


@pytest.fixture
def payload(shipped) -> tuple[float, np.ndarray]:
    """Mass [kg] of the shipped log's payload, and its centre of mass in the flange [m]."""
    truth = json.loads((shipped / "truth.json").read_text())
    turned = Rotation.from_euler("z", 30.0, degrees=True).apply(truth["com"])
    return truth["mass"], turned + np.array([0.0, 0.0, 0.0333])


def ur_setting(text: str) -> list[float]:
    """Mass and centre of mass of a line of URScript."""
    (line,) = re.findall(r"^set_target_payload.*$", text, re.MULTILINE)
    return [float(number) for number in re.findall(r"-?\d+\.\d+", line)][:4]


def assert_exported(saved: SavedEstimate, text: str) -> None:
    """Check that a text has mass and centre of mass, in metres or millimetres."""
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", text)]
    assert min(abs(number - saved.mass) for number in numbers) < 1e-5
    for value in saved.com:
        gaps = [min(abs(x - value), 1e-3 * abs(x - 1e3 * value)) for x in numbers]
        assert min(gaps) < 1e-6, (value, text)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
@pytest.mark.parametrize("robot", PAGES)
def test_page_leads_from_the_record_to_the_payload_setting(robot_logs, follow, payload, robot):
    recipe = follow(robot, "console run", "toml", "python")
    log, motion = read_log(recipe.logs[0], load_schema(f"{robot}.toml")), robot_logs.Motion()
    assert log.body_frame.flange is not None
    assert_close(log.body_frame.flange.matrix, np.eye(4), 0.0)  # B is the flange
    assert_close(log.signals["position"], motion.at_flange, 1e-9)
    attitude = rotation_from_quaternion(log.signals["quaternion"])
    assert_close(attitude, motion.flange.as_matrix(), 1e-6)  # a page has angles in six digits
    on_sensor = [motion.flange.inv().apply(x) for x in motion.in_world(motion.at_flange)]
    for got, expected in zip(static_poses_in_body(log).wrench, on_sensor, strict=True):
        assert_close(got, -expected, 1e-6)
    saved = read_estimate("payload/estimate.json")
    assert_close(saved.mass, payload[0], 1e-3)
    assert_close(saved.com, payload[1], 2e-3)
    assert recipe.exported
    for text in recipe.exported:
        assert_exported(saved, text)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
@pytest.mark.parametrize("robot", mostly_slow(PAGES, ("kuka", "ros2")))
def test_page_leads_there_with_errors_of_scale(robot_logs, follow, payload, robot, monkeypatch):
    """Each axis, and all three together, read 1 % wrong (one sigma), as the schema says."""
    rng, motion = np.random.default_rng(PAGES.index(robot)), robot_logs.Motion()
    motion.force *= 1.0 + 0.01 * (rng.normal() + rng.normal(size=3))
    motion.torque *= 1.0 + 0.01 * (rng.normal() + rng.normal(size=3))
    monkeypatch.setattr(robot_logs, "Motion", lambda: motion)
    recipe = follow(robot, "console run", "toml", gain_accuracy=0.01)
    saved = read_estimate("payload/estimate.json")
    assert all(saved.verdict.needs.values())
    low, high = saved.intervals["m"]
    assert low < payload[0] < high
    assert np.abs(saved.com - payload[1]).max() < 2e-3
    for text in recipe.exported:
        assert_exported(saved, text)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report", "pinocchio")
def test_page_on_arms_leads_from_joint_torques_to_the_payload_setting(follow, cli):
    """The fit with `arm.json`, at the end of the page, comes as near as the one with both logs."""
    (exported,) = follow("arms", "console run").exported
    truth = json.loads(Path(os.environ["D"], "truth.json").read_text())
    saved = read_estimate("out/estimate.json")
    for mass, *com in (ur_setting(exported), (saved.mass, *saved.com)):
        assert_close(mass, truth["mass"], 0.06)
        assert np.abs(np.subtract(com, truth["com"])).max() < 0.01
    assert cli("inspect", "fixed.urdf").status == 0


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_getting_started_leads_from_the_shipped_log_to_the_payload_setting(follow, payload):
    mass, *com = ur_setting(follow("getting-started", "console run", "toml").exported[0])
    assert_close(mass, payload[0], 1e-3)
    assert np.abs(np.subtract(com, payload[1])).max() < 1e-4


@pytest.mark.usefixtures("no_report")
def test_page_on_motions_leads_from_static_poses_to_the_payload_setting(cli, tmp_path, monkeypatch):
    """Ten poses by a sensor at the flange, whose channels are up to 1 % off."""
    monkeypatch.chdir(tmp_path)
    rng, mass, com = np.random.default_rng(1), 1.5, np.array([0.01, -0.02, 0.08])
    attitude = Rotation.random(10, rng=rng)
    force = attitude.inv().apply([0.0, 0.0, -9.81 * mass])
    wrench = np.hstack((force, np.cross(com, force))) * rng.uniform(0.99, 1.01, 6)
    wrench += [0.5, -0.8, 1.2, 0.02, -0.03, 0.01] + rng.normal(size=(10, 6)) * 2e-3
    names = ("qx", "qy", "qz", "qw", "fx", "fy", "fz", "tx", "ty", "tz")
    rows = np.hstack((attitude.as_quat(), wrench))
    np.savetxt("poses.csv", rows, delimiter=",", header=",".join(names), comments="")
    page = (ROOT / "docs" / "moving.md").read_text(encoding="utf-8")
    draft, fit = re.findall(r"^identify (.*\bposes\.csv .*)$", page, re.MULTILINE)
    assert cli(*shlex.split(draft)).status == 0
    schema = Path("poses.toml")
    schema.write_text(f"{schema.read_text()}\n[body.flange]\n")
    assert cli("check", "poses.csv", "--schema", schema).status == 0
    assert cli(*shlex.split(fit)).status == 0
    reached, *place = ur_setting(cli("export", "out/estimate.json", "--to", "ur").out)
    assert_close(reached, mass, 0.02)
    assert np.abs(np.subtract(place, com)).max() < 4e-3
