"""Gains of the joints' torques: by links of the model, by a known load, and of currents."""

import re
from dataclasses import replace

import numpy as np
import pytest

from experiments.cheap_arms_study.cases import Case
from identify.arms import Calibration, SavedArm, TorqueScale, fit_arm, fit_payload
from identify.arms.findings import gain_findings, gains_that_differ
from identify.arms.gains import FittedGains, link_deviations
from identify.arms.model import link_default
from identify.errors import ModelError, ProblemError
from identify.findings import Finding
from identify.inertia import InertialParameters, pseudo_inertia
from identify.logs import Recording
from identify.robots import RobotModel, inverse_dynamics
from tests.arms.simulated import (
    AXES,
    JOINTS,
    LOAD,
    Motion,
    recording,
    torques,
)
from tests.close import assert_close
from tests.slow import mostly_slow

GAINS = np.array([0.6, 1.5, 2.1])
OTHER_LOAD = InertialParameters.from_com(
    mass=2.1, com=[-0.02, 0.05, 0.06], inertia_about_com=np.diag([0.013, 0.016, 0.012])
)


def near_links(robot: RobotModel) -> np.ndarray:
    """Links that differ from those of the model by some per cent of their mass and size."""
    links = []
    for number, phi in enumerate(robot.phi):
        body = InertialParameters(phi)
        links.append(
            InertialParameters.from_com(
                mass=(1.04, 0.95, 1.02)[number] * body.mass,
                com=body.com + 0.004 * np.roll([1.0, -1.0, 0.5], number),
                inertia_about_com=1.02 * body.inertia_about_com,
            ).phi
        )
    return np.array(links)


def log_of(
    robot: RobotModel,
    seed: int,
    load: InertialParameters | None = None,
    *,
    gains: np.ndarray | float = 1.0,
    noise: float = 0.3,
) -> Recording:
    motion = Motion.random(seed)
    effort = torques(robot, motion, near_links(robot), load)
    effort += noise * np.random.default_rng(seed + 1000).normal(size=effort.shape)
    return recording(motion.time, motion.q, gains * effort, f"log {seed}")


def finding(robot: RobotModel, *logs: Recording, **options) -> Finding | None:
    fit = fit_payload(*logs, robot=robot, frame="tool", interval="formula", **options)
    return next(iter(gain_findings(fit.gains, JOINTS)), None)


@pytest.mark.parametrize("sign", mostly_slow([1.0, -1.0], {1.0}))
def test_gains_of_either_sign_are_told_by_the_links_of_the_model(robot, sign):
    gains = GAINS * [1.0, sign, 1.0]
    logs = log_of(robot, 1, LOAD, gains=gains), log_of(robot, 2, gains=gains)
    fit = fit_payload(*logs, robot=robot, frame="tool", interval="formula")
    errors = np.sqrt(np.diag(fit.scale.covariance))
    assert (abs(fit.scale.gains / gains - 1.0) < 3.0 * errors).all()
    assert (errors < 0.2).all()
    low, high = fit.estimate.intervals["m"]
    assert low < LOAD.mass < high
    said = finding(robot, *logs)
    assert (said.code, said.severity) == ("joint_gain", "warning")
    assert "joint_2 2." in said.text
    assert "gains = [" in said.remedy


@pytest.mark.parametrize("has_torque", [True, False])
def test_gains_by_a_known_load_hold_for_another_one(robot, has_torque):
    joints = replace(AXES, has_torque=has_torque)
    weighed, empty, other = (
        replace(log_of(robot, seed, load, gains=GAINS), joints=joints)
        for seed, load in ((1, LOAD), (2, None), (3, OTHER_LOAD))
    )
    calibration = Calibration((weighed,), "tool", LOAD.mass)
    saved = fit_arm(empty, robot, interval="formula", calibration=calibration).saved
    assert isinstance(saved, SavedArm)
    assert_close(saved.scale.gains, GAINS, 0.03)
    fit = fit_payload(other, robot=robot, frame="tool", arm=saved, interval="formula")
    assert_close(fit.scale.gains, GAINS, 0.03)
    assert fit.scale.covariance.mean() < 1.1 * saved.scale.covariance.mean()
    assert fit.estimate.parameters.mass == pytest.approx(OTHER_LOAD.mass, rel=0.05)
    low, high = fit.estimate.intervals["m"]
    assert low < OTHER_LOAD.mass < high
    otherwise = replace(other, joints=replace(joints, has_torque=not has_torque))
    with pytest.raises(ModelError, match=r"arm\.json, one has `gains`"):
        fit_payload(otherwise, robot=robot, frame="tool", arm=saved)


def test_gains_of_currents_are_found_without_a_schema_s(robot):
    """A known load tells them as a regression of the currents on the true torques does."""
    constants = np.array([0.09, 0.11, -0.3])  # A for a N m
    motion = Motion.random(1)
    links = near_links(robot)
    true = torques(robot, motion, links, LOAD)
    currents = log_of(robot, 1, LOAD, gains=constants), log_of(robot, 2, gains=constants)
    currents = [replace(log, joints=replace(AXES, has_torque=False)) for log in currents]
    fit = fit_payload(
        *currents, robot=robot, frame="tool", interval="formula", known_load=LOAD.mass
    )
    effort = currents[0].signals["effort"]
    slopes = np.sum(effort * true, axis=0) / np.sum(true**2, axis=0)
    assert_close(fit.scale.gains, slopes, 0.03)
    (note,) = gain_findings(fit.gains, JOINTS)
    assert (note.code, note.severity) == ("current_gains", "info")


@pytest.mark.parametrize(
    ("gain", "code", "severity"),
    [(1.0, None, None), (0.6, "torque_scale", "warning"), (1.8, "torque_scale", "warning")],
)
def test_scale_of_all_torques_is_compared_with_the_links(robot, gain, code, severity):
    logs = log_of(robot, 1, LOAD, gains=gain), log_of(robot, 2, gains=gain)
    said = finding(robot, *logs)
    assert (said and said.code, said and said.severity) == (code, severity)
    if code:
        assert said.evidence["scale"] == pytest.approx(gain, abs=3.0 * said.evidence["error"])
        assert finding(robot, *logs, link_accuracy=2.0) is None


def test_given_errors_of_the_scale_bound_the_gains(robot):
    logs = log_of(robot, 1, LOAD, gains=GAINS), log_of(robot, 2, gains=GAINS)
    fit = fit_payload(
        *logs, robot=robot, frame="tool", interval="formula", scale=TorqueScale.known(0.0, 3)
    )
    assert_close(fit.scale.gains, np.ones(3), 1e-12)


def test_accuracy_of_the_schema_is_an_error_of_the_scale(robot):
    logs = log_of(robot, 1, LOAD), log_of(robot, 2)
    sure, unsure = (replace(AXES, gain_accuracy=np.array([0.01, s, s])) for s in (0.01, 0.17))
    of_schema = [replace(logs[0], joints=unsure), replace(logs[1], joints=sure)]
    options = {"robot": robot, "frame": "tool", "interval": "formula"}
    fit = fit_payload(*of_schema, **options)
    assert "torque scale of each joint to 1 to 17 % (gain_accuracy)" in fit.estimate.interval_kind
    given = fit_payload(*logs, **options, scale=TorqueScale.known([0.01, 0.17, 0.17], 3))
    assert_close(fit.estimate.covariance, given.estimate.covariance, 1e-9)
    better = fit_payload(*of_schema, **options, scale=TorqueScale.known(0.01, 3))
    assert better.estimate.covariance[0, 0] < 0.9 * fit.estimate.covariance[0, 0]


def test_gains_of_schemas_that_differ_are_said(robot):
    logs = log_of(robot, 1, LOAD), log_of(robot, 2)
    ones, others = np.ones(3), np.array([1.0, 0.7, 1.0])

    def said(*gains):
        pairs = zip(logs, gains, strict=True)
        read = [replace(log, joints=replace(AXES, gains=each)) for log, each in pairs]
        saved = fit_arm(read[1], robot, interval="formula").saved
        return [*gains_that_differ(read, None)], [*gains_that_differ(read[:1], saved)]

    assert said({"torque": ones}, {"torque": ones}) == ([], [])
    assert said({"current": others}, {"torque": ones}) == ([], [])  # logs of different drivers
    (of_logs,), (of_arm,) = said({"torque": others}, {"torque": ones})
    assert (of_logs.code, of_logs.severity) == ("joint_gain", "warning")
    assert "log 1 has [1, 0.7, 1], log 2 [1, 1, 1]" in of_logs.text
    assert "the arm.json [1, 1, 1]" in of_arm.text


def test_deviations_of_a_link_are_those_of_its_mass_place_and_moments(robot):
    """Each is the difference of two bodies, whose torques also differ by it."""
    phi = link_default(robot.phi[1])
    body = InertialParameters(phi)
    second = pseudo_inertia(phi)[:3, :3] - body.mass * np.outer(body.com, body.com)
    values, axes = np.linalg.eigh(second)
    changes = link_deviations(robot.phi[1])
    assert_close(changes[:, 0], phi, 1e-12)
    step = 1e-5
    for k in range(3):
        half_side = axes[:, k] * np.sqrt(3.0 * values[k] / body.mass)
        moved, back = (
            InertialParameters.from_com(
                mass=body.mass,
                com=body.com + sign * step * half_side,
                inertia_about_com=body.inertia_about_com,
            ).phi
            for sign in (1.0, -1.0)
        )
        assert_close(changes[:, 1 + k], (moved - back) / (2.0 * step), 1e-6)
    # Moments: E of unit norm in the axes of the link's own second moments.
    root_inverse = (axes / np.sqrt(values)).T
    E = [root_inverse @ pseudo_inertia(c)[:3, :3] @ root_inverse.T for c in changes[:, 4:].T]
    assert_close([[np.sum(a * b) for a in E] for b in E], np.eye(6), 1e-9)
    motion = Motion.random(4, 2.0)
    links = np.zeros_like(robot.phi)
    links[1] = phi
    with_weight = inverse_dynamics(robot, motion.q, motion.v, motion.a, links)
    links[1] = 1.15 * phi
    heavier = inverse_dynamics(robot, motion.q, motion.v, motion.a, links)
    links[1] = 0.15 * changes[:, 0]
    of_change = inverse_dynamics(robot, motion.q, motion.v, motion.a, links)
    assert_close(heavier - with_weight, of_change, 1e-9)


def test_logs_with_and_without_the_load_that_are_swapped_calibrate_nothing(robot):
    loaded, empty = log_of(robot, 1, LOAD), log_of(robot, 2)
    with pytest.raises(ProblemError, match=r"with and without the load are swapped"):
        fit_arm(loaded, robot, calibration=Calibration((empty,), "tool", LOAD.mass))
    with pytest.raises(ProblemError, match=r"known load of 14 kg: the torques show 1\.\d+ kg"):
        fit_arm(empty, robot, calibration=Calibration((loaded,), "tool", 14.0))


@pytest.mark.parametrize(("arm", "seed"), [(0, 8201), (2, 8200)])
def test_gains_by_a_wrong_known_load_are_those_that_explain_it(arm, seed):
    """Torques, links and load are all off by one factor, which is far from where the fit starts."""
    case = Case("misread", "known load wrong by half", arm, seed)
    score = case.score()
    assert score.codes[0] == "choice_contradicted"
    gain = float(re.search(r"logged torques would be ([\d.]+) of", score.text)[1])
    assert_close(gain, score.true_mass / score.mass, 0.1)


def test_gains_that_nothing_shows_are_not_determined():
    errors = np.diag([0.01, 0.02, 5e6])
    scale = TorqueScale(np.array([0.1, 0.2, 3e-9]), errors**2, "by links")
    of_currents, of_torques = (
        next(gain_findings(FittedGains(scale, None, has_unit=has_unit, are_free=True), JOINTS))
        for has_unit in (False, True)
    )
    assert "joint_0 10 ± 2 %, joint_1 5 ± 3.9 %, joint_2 not determined" in of_currents.text
    assert "`gains = [10, 5, 1]`" in of_torques.remedy
    assert "`gain_accuracy = [0.01, 0.02, 0.5]`" in of_torques.remedy
    assert "joint_2" not in of_torques.text
    known = ["joint_0 0.1 ± 0.002", "joint_1 0.2 ± 0.0078", "joint_2 not determined"]
    assert FittedGains(scale, None).words(JOINTS) == known


def test_a_known_load_calibrates_an_arm_that_does_not_show_all_of_it(robot):
    def log(seed, load, turning):
        motion = Motion.random(seed)
        still = Motion(
            motion.time, *(x * [turning, 1.0, 1.0] for x in (motion.q, motion.v, motion.a))
        )
        effort = torques(robot, still, near_links(robot), load)
        effort += 0.2 * np.random.default_rng(seed).normal(size=effort.shape)
        return recording(still.time, still.q, np.array([1.0, 1.3, 0.8]) * effort, f"log {seed}")

    calibration = Calibration((log(31, LOAD, 0.0),), "tool", LOAD.mass)
    gains = fit_arm(log(32, None, 1.0), robot, calibration=calibration).gains
    assert gains.known_load == LOAD.mass
    off = np.abs(gains.scale.gains / [1.0, 1.3, 0.8] - 1.0)
    assert (off < 1.5 * gains.half_widths)[1:].all()
    assert (gains.half_widths < 0.1)[1:].all()
