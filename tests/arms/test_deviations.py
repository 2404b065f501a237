"""Deviations from the model: each is named first with its size, and right logs have none."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.arms import ArmColumns
from identify.arms.deviation_findings import deviation_findings
from identify.arms.deviations import ArmMoments, Deviation, DeviationKind, likeliest_deviations
from identify.arms.joint_fits import ArmPoints, arm_points
from identify.arms.rows import scan_arm
from identify.findings import Finding
from identify.inertia import InertialParameters
from identify.logs import Recording, read_log
from identify.pipeline.hypotheses import findings_of
from identify.pipeline.joint_hypotheses import JointLogs, joint_hypotheses
from identify.robots import RobotModel, inverse_dynamics, read_robot
from tests.arms.simulated import JOINTS, LOAD, Motion, recording, torques
from tests.arms.test_gains import near_links

CUTOFF_HZ = 8.0
LOGS = ("loaded", "empty")


def log_of(robot: RobotModel, seed: int, *, load=None, links=None, noise=0.3) -> Recording:
    motion = Motion.random(seed)
    links = near_links(robot) if links is None else links
    effort = torques(robot, motion, links, load)
    effort += noise * np.random.default_rng(seed + 1000).normal(size=effort.shape)
    return recording(motion.time, motion.q, effort, f"log {seed}")


def with_signal(log: Recording, name: str, values: np.ndarray) -> Recording:
    return replace(log, signals={**log.signals, name: values})


def points_of(robot: RobotModel, *logs: Recording, frame: str | None = "tool") -> list[ArmPoints]:
    """The first log has the load."""
    columns = ArmColumns.of(robot)
    frames = [frame] + [None] * (len(logs) - 1)
    return [
        arm_points(log, columns, CUTOFF_HZ, load).few
        for log, load in zip(logs, frames, strict=True)
    ]


def found(points: list[ArmPoints]) -> tuple[list[Deviation], list[Finding]]:
    deviations = likeliest_deviations(points, CUTOFF_HZ, 0.15, 3.0)
    return deviations, [*deviation_findings(deviations, points[0].robot, ("logs", "others"))]


@pytest.fixture(scope="module")
def pair(robot) -> tuple[Recording, Recording]:
    return log_of(robot, 3, load=LOAD), log_of(robot, 4)


def with_tree(robot: RobotModel, index: int, factor: float) -> RobotModel:
    tree = list(robot.tree)
    X = tree[index].X_PL
    tree[index] = replace(tree[index], X_PL=replace(X, position=factor * X.position))
    return replace(robot, tree=tuple(tree))


def test_right_logs_have_no_finding(robot, pair):
    assert found(points_of(robot, *pair))[1] == []
    assert found(points_of(robot, pair[1], frame=None))[1] == []


@pytest.mark.parametrize(("joint", "degrees"), [(1, 5.0), (2, -30.0)])
def test_zero_of_a_joint_is_named_with_its_size(robot, pair, joint, degrees):
    shift = np.radians(degrees) * np.eye(3)[joint]
    logs = [with_signal(x, "joint_position", x.signals["joint_position"] - shift) for x in pair]
    (best, *_), (finding,) = found(points_of(robot, *logs))
    assert finding.code == "joint_zero"
    assert f"{JOINTS[joint]} is {'-+'[degrees > 0]}" in finding.text
    assert abs(best.values[0] - np.radians(degrees)) < 3.0 * best.errors[0]
    assert f"rad to {JOINTS[joint]}" in finding.remedy


def test_tilted_base_is_named_with_its_gravity(robot, pair):
    tilt = Rotation.from_rotvec(np.radians(12.0) * np.array([0.6, 0.8, 0.0])).as_matrix()
    wrong = replace(robot, gravity=tilt @ robot.gravity)
    _, (finding,) = found(points_of(wrong, *pair))
    assert finding.code == "gravity_direction"
    assert "gravity is 12 ±" in finding.text
    told = finding.remedy.partition("[")[2].partition("gravity = [")[2].partition("]")[0]
    assert np.linalg.norm(np.array(told.split(","), float) - robot.gravity) < 0.15


def test_longer_link_is_named_with_its_length(robot, pair):
    length = float(np.linalg.norm(robot.tree[2].X_PL.position))
    shorter = with_tree(robot, 2, 1.0 - 0.06 / length)
    _, (finding,) = found(points_of(shorter, *pair))
    assert finding.code == "link_length"
    assert finding.evidence["size"] == pytest.approx(0.06, abs=3.0 * finding.evidence["error"])


@pytest.fixture(scope="module")
def six_axes(pinocchio) -> tuple[RobotModel, Recording, Recording]:
    """An arm of enough joints that the load does not take up what differs between its logs."""
    folder = Path(__file__).parents[2] / "datasets/arms/six_axes"
    logs = (read_log(folder / f"{name}.parquet", folder / "schema.toml") for name in LOGS)
    loaded, empty = logs
    names = empty.joint_axes.names
    return read_robot(folder / "arm.urdf", names, gravity=empty.gravity), loaded, empty


@pytest.mark.parametrize("scale", [1.0, 1.12])
def test_scale_by_the_statistics_of_an_earlier_log_is_that_by_its_points(six_axes, scale):
    robot, log, empty = six_axes
    loaded = with_signal(log, "effort", scale * log.signals["effort"])
    points = points_of(robot, loaded, empty, frame="tool0")
    statistics = scan_arm(empty, points[0].columns, CUTOFF_HZ).statistics
    moments = ArmMoments.of(statistics, np.ones(len(robot.joints)))
    by_statistics = likeliest_deviations(points[:1], CUTOFF_HZ, 0.15, 3.0, moments)
    findings = [*deviation_findings(by_statistics, robot, ("loaded", "arm"))]
    if scale == 1.0:
        assert findings == []
        return
    (best,) = by_statistics
    assert [finding.code for finding in findings] == ["torque_scale"]
    assert abs(best.values[0] - 0.12) < 3.0 * best.errors[0]
    (by_points,) = (each for each in found(points)[0] if each.kind.name == "scale")
    assert abs(best.values[0] - by_points.values[0]) < 2.0 * by_points.errors[0]
    assert 0.5 < best.errors[0] / by_points.errors[0] < 2.0


def test_scale_of_the_loaded_log_alone_is_named(six_axes):
    robot, *logs = six_axes
    loaded, empty = (with_signal(x, "effort", 1.12 * x.signals["effort"]) for x in logs)
    assert found(points_of(robot, loaded, empty, frame="tool0"))[1] == []
    _, (finding,) = found(points_of(robot, loaded, logs[1], frame="tool0"))
    assert finding.code == "torque_scale"
    assert finding.evidence["size"] == pytest.approx(0.12, abs=3.0 * finding.evidence["error"])


def test_logs_of_different_arms_are_named(six_axes):
    """The upper arm and forearm of the empty log weigh other than those of the loaded one."""
    robot, loaded, empty = six_axes
    links = robot.phi * np.array([0.0, 0.3, -0.4, 0.5, 0.0, 0.0])[:, None]
    q = empty.signals["joint_position"]
    more = inverse_dynamics(robot, q, 0.0 * q, 0.0 * q, links)
    other = with_signal(empty, "effort", empty.signals["effort"] + more)
    _, (finding,) = found(points_of(robot, loaded, other, frame="tool0"))
    assert finding.code == "arms_differ"


def test_load_on_another_link_than_that_of_the_frame_is_named(robot, pair):
    wrong = replace(robot, frames={**robot.frames, "tool": robot.frames["link_1"]})
    _, (finding,) = found(points_of(wrong, *pair))
    assert finding.code == "load_frame"
    assert "--frame link_2" in finding.remedy


def test_load_on_the_next_link_is_named(six_axes):
    """It moves the arm alike: no other deviation has a score."""
    robot, loaded, empty = six_axes
    assert found(points_of(robot, loaded, empty, frame="tool0"))[1] == []
    _, (finding,) = found(points_of(robot, loaded, empty, frame="link5"))
    assert finding.code == "load_frame"
    assert "`--frame link6`" in finding.remedy


def test_load_of_the_arm_s_own_log_is_named_before_what_is_as_likely(robot, pair):
    points = points_of(robot, pair[0], frame=None)
    load = found(points)[0][0]
    assert load.kind.name == "load"
    gain = load._replace(kind=load.kind._replace(name="gain"), values=np.array([0.3]))
    zero = load._replace(kind=load.kind._replace(name="zero", part=1), values=np.array([0.1]))

    def named(*leads: float, heavy: bool = False) -> list[Finding]:
        pairs = zip((gain, zero, load), leads, strict=True)
        every = sorted((x._replace(lead=lead) for x, lead in pairs), key=lambda x: -x.lead)
        return [*deviation_findings(every, robot, ("log", ""), heavy=heavy)]

    (finding,) = named(20.0, 5.0, 15.0)
    assert (finding.code, finding.severity) == ("arm_loaded", "warning")
    assert "or, as likely, the torques are 1.3 ±" in finding.text
    assert "joint_1" not in finding.text
    (finding,) = named(0.0, 20.0, 15.0)
    assert (finding.code, finding.severity) == ("arm_loaded", "error")
    assert named(30.0, 5.0, 15.0) == []  # a finding of the gains
    assert named(6.0, 0.0, 5.0) == []
    (finding,) = named(6.0, 0.0, 5.0, heavy=True)
    assert finding.code == "arm_loaded"


def test_load_of_a_log_without_a_frame_is_named(robot, pair):
    (best, *_), (finding,) = found(points_of(robot, pair[0], frame=None))
    assert (finding.code, finding.severity) == ("arm_loaded", "warning")
    mass, error = robot.phi[2, 0] * np.array([best.values[0], best.errors[0]])
    assert abs(mass - LOAD.mass) < 3.0 * error


@pytest.mark.parametrize(
    ("scale", "error", "severity"), [(-0.05, 0.01, "warning"), (0.12, 0.02, "error")]
)
def test_torque_constants_of_warm_motors_are_no_error(robot, scale, error, severity):
    kind = DeviationKind("scale", 0, 0.5, 1, None)
    deviation = Deviation(kind, np.array([scale]), np.array([error]), 500.0, 0.0, 0.1)
    (found,) = deviation_findings([deviation], robot, ("loaded", "empty"))
    assert (found.code, found.severity) == ("torque_scale", severity)
    assert f"torques of loaded are {1.0 + scale:.3g} ± " in found.text
    assert "times those of empty" in found.text


def test_load_that_is_left_on_the_run_without_it_is_named(robot, pair):
    half, empty = pair
    loaded, left = log_of(robot, 3, load=InertialParameters(2.0 * LOAD.phi)), half

    def first(*logs: Recording) -> Finding | None:
        judged = JointLogs(logs=logs, robot=robot, loaded=1, frame="tool")
        return next(iter(findings_of(joint_hypotheses(judged))), None)

    assert first(loaded, empty) is None
    assert (first(loaded, left).code, first(loaded, left).where) == ("arm_loaded", left.name)
