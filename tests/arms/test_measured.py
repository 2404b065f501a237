"""Logs of real arms: errors of torques, base parameters of others, and the load of a pair."""

import csv
import re
from dataclasses import replace

import numpy as np
import pytest

from identify.arms import ArmColumns, fit_arm, fit_payload
from identify.arms.deviation_findings import deviation_findings
from identify.arms.deviations import likeliest_deviations
from identify.arms.joint_fits import arm_points
from identify.logs import JointAxes, Recording, read_log
from identify.robots import RobotModel, read_robot
from tests.close import assert_close

GEARS = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
"""Ratios of the TX40's motors; motor 6 also turns with joint 5."""

SCALARS = {"Ia": "rotor_inertia", "fv": "viscous", "fs": "coulomb", "off": "offset"}
LINK_PARAMETERS = {"mx": "hx", "my": "hy", "mz": "hz"}


@pytest.fixture(scope="module")
def tx40(shared_data, pinocchio) -> tuple[RobotModel, Recording]:
    folder = shared_data / "tx40"
    robot = read_robot(folder / "tx40.urdf", gravity=(0.0, 0.0, -9.81))
    position, torque = (
        np.loadtxt(folder / name, delimiter=",", skiprows=1)
        for name in ("pos_read_data.csv", "curr_data.csv")
    )
    R = GEARS.copy()
    R[5, 4] = 32.0
    q = position @ np.linalg.inv(R).T + np.array([0.0, -0.5, 0.5, 0.0, 0.0, 0.0]) * np.pi
    log = Recording(
        name="tx40",
        time=np.arange(len(q)) / 5000.0,
        signals={"joint_position": q, "effort": torque @ R},
        gravity=robot.gravity,
        frames={},
        sources=(),
        sha256="tx40",
        rows=len(q),
        joints=JointAxes(robot.joints, np.full(6, 0.05), R),
    )
    return robot, log


def reference(names: tuple[str, ...], robot: RobotModel, folder):
    """Combinations of unknowns of the reference, its values by weighted least squares, errors."""
    for text, _, _, value, percent in csv.reader(
        (folder / "reference_base_parameters.csv").read_text().splitlines()
    ):
        row = np.zeros(len(names))
        for term in re.split(r" (?=[+-] )", text):
            sign, size, symbol, joint = re.match(
                r"(?:([+-]) )?(?:([\d.]+)\*)?([A-Za-z]+?)(\d)$", term.strip()
            ).groups()
            if symbol in ("Iam", "fvm", "fsm"):
                name = f"motor of joint_{joint} {SCALARS[symbol[:-1]]}"
            elif symbol in SCALARS:
                name = f"joint_{joint} {SCALARS[symbol]}"
            else:
                name = f"{robot.links[int(joint) - 1]}.{LINK_PARAMETERS.get(symbol, symbol)}"
            row[names.index(name)] += (-1.0 if sign == "-" else 1.0) * float(size or 1.0)
            if joint in "56" and symbol in ("fv", "Ia"):  # ours of the joint are without the motor
                row[names.index(f"motor of joint_6 {SCALARS[symbol]}")] += 1.0
        yield text, row, float(value), abs(float(value)) * float(percent) / 100.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cutoff", "most", "most_held_out"), [(40.0, 0.057, 0.074), (10.0, 0.045, 0.065)]
)
def test_tx40_is_that_of_the_data_s_authors(tx40, shared_data, cutoff, most, most_held_out):
    robot, log = tx40
    fit = fit_arm(log, robot, cutoff_hz=cutoff)
    assert fit.errors.total < most
    assert max(held.consistent.total for held in fit.held_out) < most_held_out
    assert len(fit.weighted.values) == 61
    base, D = fit.weighted, fit.weighted.columns.dependence
    precise = 0
    for text, row, value, error in reference(
        fit.solution.system.space.names, robot, shared_data / "tx40"
    ):
        u = np.linalg.lstsq(D.T, row, rcond=None)[0]
        own_error = float(np.sqrt(u @ base.covariance @ u))
        assert abs(u @ base.values - value) < 3.0 * np.hypot(error, own_error), text
        if error < 0.05 * abs(value):
            precise += 1
            assert abs(u @ base.values - value) < 3.0 * error, text
            if text.startswith("fv"):
                assert_close(row @ fit.solution.x, value, 0.03)
    assert precise == 19


def ur10e_pair(folder, still_below: float = 0.05, **changes):
    robot = read_robot(folder / "ur10e.urdf")
    schema = {
        "log": {"time": "t"},
        "world": {"gravity": [0.0, 0.0, -9.80665]},
        "joints": {
            "names": list(robot.joints),
            "position": [f"q{k}" for k in range(1, 7)],
            "velocity": [f"qd{k}" for k in range(1, 7)],
            "effort": [f"tau{k}" for k in range(1, 7)],
            "still_below": still_below,
            **changes,
        },
    }
    return robot, *(read_log(folder / f"{name}.csv", schema) for name in ("loaded", "empty"))


@pytest.mark.slow
def test_load_of_the_ur10e_is_within_its_interval_by_target_currents(shared_data, pinocchio):
    words = {"effort": "i", "target_current": "itgt", "target_effort": "tautgt"}
    columns = {key: [f"{word}{k}" for k in range(1, 7)] for key, word in words.items()}
    folder = shared_data / "ur10e_payload"
    robot, *logs = ur10e_pair(folder, effort_unit="A", **columns)
    fit = fit_payload(*logs, robot=robot, frame="tool0")
    low, high = fit.estimate.intervals["m"]
    assert low < 2.805 < high
    assert high - low < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("friction", ["own", "shared"])
def test_load_of_the_ur10e_is_within_its_interval(shared_data, pinocchio, friction):
    robot, loaded, empty = ur10e_pair(shared_data / "ur10e_payload")
    fit = fit_payload(loaded, empty, robot=robot, frame="tool0", friction=friction)
    assert_close(fit.estimate.parameters.mass, 2.805, 0.03)
    low, high = fit.estimate.intervals["m"]
    assert low < 2.805 < high
    assert high - low < 0.2
    assert fit.errors.total < 0.04
    assert len(ArmColumns.of(robot).base.independent) == 36


@pytest.mark.slow
@pytest.mark.parametrize(
    ("joint_shift", "loaded_gain", "code", "size"),
    [
        (0.0, 1.0, None, 0.0),
        (np.radians(5.0), 1.0, "joint_zero", np.radians(5.0)),
        (0.0, 1.12, "torque_scale", 0.12),
    ],
)
def test_deviations_of_the_ur10e_are_named(
    shared_data, pinocchio, joint_shift, loaded_gain, code, size
):
    """The logs are right as they are; a zero of the elbow and a scale of one log are put in."""
    robot, *logs = ur10e_pair(shared_data / "ur10e_payload")
    columns, points = ArmColumns.of(robot), []
    for log, gain, frame in zip(logs, (loaded_gain, 1.0), ("tool0", None), strict=True):
        q, effort = log.signals["joint_position"], log.signals["effort"]
        moved = {"joint_position": q + joint_shift * np.eye(6)[2], "effort": gain * effort}
        changed = replace(log, signals={**log.signals, **moved})
        points.append(arm_points(changed, columns, 3.0, frame).few)
    deviations = likeliest_deviations(points, 8.0, 0.15, 5.0)
    findings = [*deviation_findings(deviations, robot, ("logs", ""))]
    assert [each.code for each in findings] == [code] * (code is not None)
    if code is not None:
        assert abs(deviations[0].size - size) < 3.0 * deviations[0].errors[0]
