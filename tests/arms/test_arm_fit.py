import json
from dataclasses import replace

import numpy as np
import pytest

from identify.arms import fit_arm, fit_payload, read_arm, torque_series, write_arm
from identify.arms.equations import equations_of
from identify.arms.model import link_default
from identify.errors import LogError, ModelError, ProblemError
from identify.estimation.priors import NearBody
from identify.inertia import InertialParameters, is_consistent
from identify.robots import read_robot
from tests.arms.simulated import AXES, FRICTION, Motion, arm_text, recording, simulate, torques
from tests.arms.test_rows import true_unknowns
from tests.close import assert_close


@pytest.fixture(scope="module")
def fit(robot):
    return fit_arm(simulate(robot, 1, noise=0.3), robot)


def test_log_without_noise_gives_links_that_predict_torques_exactly(robot):
    fit = fit_arm(simulate(robot, 1), robot)
    assert fit.errors.total < 1e-5
    D = fit.weighted.columns.dependence
    assert_close(D @ fit.solution.x, D @ true_unknowns(robot), 1e-4)
    assert fit.model_errors.total > 0.02


def test_links_are_consistent_and_predict_held_out_torques_better_than_the_model(fit):
    assert is_consistent(fit.links).all()
    assert [held.name for held in fit.held_out] == ["second half", "first half"]
    for held in fit.held_out:
        assert held.consistent.total < 0.7 * held.model.total
        assert held.consistent.total < 1.05 * held.base.total
    assert fit.errors.total < fit.model_errors.total


def test_links_without_information_are_those_of_the_model(robot):
    """The mass of the first link, which turns about a vertical axis, acts on no joint.

    The least-squares links of a log of the model's are consistent, so that no solver rounds.
    """
    motion = Motion.random(1)
    effort = torques(robot, motion, robot.phi)
    effort += 0.01 * np.random.default_rng(1).normal(size=effort.shape)
    fit = fit_arm(recording(motion.time, motion.q, effort, "model"), robot)
    assert_close(fit.links[0][0], robot.phi[0][0], 1e-6)
    assert fit.estimate.decided_by["m"] == "default"


def test_friction_has_intervals_and_is_not_negative(robot):
    fit = fit_arm(simulate(robot, 1, noise=0.3, friction=FRICTION * [1.0, 0.0, 1.0]), robot)
    for joint, (viscous, _, offset) in enumerate(FRICTION):
        values = fit.estimate.scalars
        value, error = values[f"joint_{joint} viscous"]
        assert abs(value - viscous) < 4.0 * error < 0.3 * viscous
        assert values[f"joint_{joint} coulomb"][0] >= -1e-9
        value, error = values[f"joint_{joint} offset"]
        assert abs(value - offset) < 4.0 * error


def test_each_log_may_have_friction_of_its_own(robot):
    logs = [
        simulate(robot, seed, noise=0.1, friction=factor * FRICTION)
        for seed, factor in ((1, 1.0), (2, 1.5))
    ]
    fit = fit_arm(logs, robot, friction="own")
    base = dict(zip(fit.weighted.names, fit.weighted.values.tolist(), strict=True))
    for joint, (viscous, coulomb, _) in enumerate(FRICTION):
        for run, factor in (("", 1.0), (" 1", 1.5)):
            for kind, value in (("viscous", viscous), ("coulomb", coulomb)):
                name = f"joint_{joint} {kind}{run}"
                assert base[name] == pytest.approx(factor * value, rel=0.1)
                assert fit.estimate.scalars[name][0] == pytest.approx(factor * value, rel=0.1)
    shared = fit_arm(logs, robot)
    assert shared.errors.total > 1.5 * fit.errors.total


def test_other_logs_are_scored_where_given(robot):
    logs = [simulate(robot, seed, noise=0.3) for seed in (1, 2)]
    fit = fit_arm(logs[0], robot, held_out=[logs[1]])
    (held,) = fit.held_out
    assert held.name == logs[1].name
    assert held.consistent.total < 0.7 * held.model.total


def test_series_predicts_the_torque_that_was_measured(robot, fit):
    (log,) = fit.logs
    series = torque_series(log, equations_of(fit.solution.system), fit.solution.x)
    assert series.measured.shape == (len(log.time), 3)
    assert np.std(series.measured - series.predicted) == pytest.approx(0.3, rel=0.1)  # the noise
    moving = np.abs(series.velocity) > 0.1
    assert (np.sign(series.friction - FRICTION[:, 2]) == np.sign(series.velocity))[
        moving
    ].mean() > 0.9


def test_impossible_link_of_the_model_has_a_default_with_a_scale():
    point = np.zeros(10)
    assert link_default(point)[0] == pytest.approx(0.05)
    assert is_consistent(link_default(point))
    inside_out = InertialParameters.from_com(
        mass=2.0, com=[0.1, 0.0, 0.2], inertia_about_com=np.diag([0.01, 0.01, 0.05])
    ).phi
    default = link_default(inside_out)
    assert is_consistent(default)
    assert_close(default[:4], inside_out[:4])


def test_saved_arm_is_read_back_the_same(fit, tmp_path):
    saved = read_arm(write_arm(fit.saved, tmp_path / "arm.json"))
    assert saved.joints == fit.robot.joints
    assert_close(np.array(list(saved.links.values())), fit.links, 0.0)
    assert_close(saved.covariance, fit.estimate.joint_covariance, 0.0)
    assert saved.report["held_out"]["first half"] == fit.held_out[1].consistent.total
    totals = saved.statistics.total_factors
    expected = equations_of(fit.solution.system), fit.solution.system.data[0][0].total_factors
    assert_close(
        totals.swapaxes(-1, -2) @ totals, expected[1].swapaxes(-1, -2) @ expected[1], 1e-12
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0 -0.08 0.45", "0 -0.08 0.451"),
        ('rpy="0 0 0"', 'rpy="0 0 0.01"'),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 -1"/>'),
    ],
)
def test_arm_of_other_kinematics_is_refused(robot, fit, tmp_path, old, new):
    path = tmp_path / "other.urdf"
    text = arm_text()
    assert old in text
    path.write_text(text.replace(old, new))
    other = read_robot(path, robot.joints, gravity=robot.gravity)
    with pytest.raises(ModelError, match=r"other kinematics than the robot \(the joint of"):
        fit_payload(simulate(robot, 5), robot=other, frame="tool", arm=fit.saved)


def test_arm_on_a_wall_is_not_the_fitted_one(robot, fit):
    other = replace(robot, gravity=np.array([0.0, 9.81, 0.0]))
    with pytest.raises(ModelError, match=r"give the gravity that it was fitted with"):
        fit_payload(simulate(robot, 5), robot=other, frame="tool", arm=fit.saved)


def test_damaged_arm_is_refused(fit, tmp_path):
    path = write_arm(fit.saved, tmp_path / "arm.json")
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"schema_version": 7}))
    with pytest.raises(ModelError, match=r"version 7, expected 4; fit the arm again"):
        read_arm(path)
    path.write_text("{}")
    with pytest.raises(ModelError, match=r"is not an arm\.json, or is damaged"):
        read_arm(path)


def test_log_is_fitted_or_held_out_once(robot):
    log = simulate(robot, 5)
    with pytest.raises(LogError, match=r"the same content: .*is given once"):
        fit_arm([log, log], robot)
    with pytest.raises(LogError, match=r"fitted or held out"):
        fit_arm(log, robot, held_out=[log])


def test_logs_of_other_joints_are_refused(robot):
    log = replace(simulate(robot, 1), joints=replace(AXES, names=("joint_1", "joint_0", "joint_2")))
    with pytest.raises(ProblemError, match=r"its joints are joint_1, joint_0.*those of the robot"):
        fit_arm(log, robot)
    with pytest.raises(ProblemError, match=r"at least one log"):
        fit_arm([], robot)


def test_links_may_have_priors(robot):
    """The same priors as of rows: true bodies bring links nearer to them than the model does."""
    log = simulate(robot, 1, noise=0.3)
    truth = true_unknowns(robot)[: 10 * len(robot.links)].reshape(-1, 10)
    priors = {
        name: NearBody(phi, weight=100.0, name="the CAD model")
        for name, phi in zip(robot.links, truth, strict=True)
    }
    alone, near = fit_arm(log, robot), fit_arm(log, robot, priors=priors)
    errors = [np.abs(fit.links - truth).sum() for fit in (alone, near)]
    assert errors[1] < 0.5 * errors[0]
    assert is_consistent(near.links).all()
    assert near.estimate.decided_by["m"] == "prior"
    with pytest.raises(ProblemError, match='"bootstrap" does not support priors'):
        fit_arm(log, robot, priors=priors, interval="bootstrap")
    with pytest.raises(ProblemError, match="no body 'hand' among"):
        fit_arm(log, robot, priors={"hand": priors[robot.links[0]]})
