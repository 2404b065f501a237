from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import identify
from identify.arms import SavedArm, TorqueScale
from identify.arms.columns import ArmColumns
from identify.arms.saved_arm import link_kinematics
from identify.design import (
    EarlierFit,
    PredictedPrecision,
    Search,
    design_static_poses,
    plan_motion,
)
from identify.design.prediction import (
    PREDICTED_QUANTITIES,
    information_rate,
    noise_of_estimate,
    predict_static_poses,
    read_earlier,
    torque_noise_of,
    with_fitted_links,
)
from identify.errors import ModelError, ProblemError
from identify.estimation.intervals import ESTIMATED_QUANTITIES, interval_jacobian
from identify.exchange import read_estimate, write_estimate
from identify.logs.synthetic import Noise, SyntheticMotion, synthetic_recording
from identify.pipeline.required_precision import parse_required_precision
from identify.robots import read_robot, robot_base_columns
from tests.close import assert_close
from tests.design.problems import (
    ARM,
    ARM_BASIS,
    BODY,
    GRAVITY,
    NOISE,
    WRIST_BASIS,
    arm,
    motion_of,
    wrist,
)
from tests.design.test_wrist import AT_REST
from tests.recordings import without_effects


@pytest.fixture(scope="module")
def prediction():
    return predicted(motion_of(wrist(), WRIST_BASIS))


def predicted(motion):
    rows = wrist().rows(motion.at(motion.basis.times()))
    information = information_rate(rows.regressor, 10, NOISE.rate_hz)
    return PredictedPrecision(BODY, information, wrist().base_columns, EarlierFit.of(None))


@pytest.fixture(scope="module")
def fit():
    motion = motion_of(wrist(), WRIST_BASIS)
    angles = SimpleNamespace(derivative=lambda t, order: motion.at(t)[order])
    log = synthetic_recording(
        BODY.phi,
        rng=np.random.default_rng(1),
        motion=SyntheticMotion(AT_REST, angles),
        duration=24.0,
        rate_hz=100.0,
        bias=(1.0, -2.0, 0.5, 0.1, 0.02, -0.1),
        noise=Noise(force=NOISE.force, torque=NOISE.torque),
        include="all",
    )
    return identify.fit(without_effects(log))


def test_information_is_the_schur_complement_by_the_rate(rng):
    Y = rng.normal(size=(40, 3, 8))
    flat = Y.reshape(120, 8)
    M = flat.T @ flat
    schur = M[:5, :5] - M[:5, 5:] @ np.linalg.inv(M[5:, 5:]) @ M[5:, :5]
    assert_close(information_rate(Y, 5, 20.0), schur * 20.0 / 40.0)


def test_predicted_half_widths_are_those_of_a_fit(prediction, fit):
    widths = prediction.half_widths(24.0)
    jacobian = interval_jacobian(BODY.phi)
    sigma = np.sqrt(np.diag(jacobian @ fit.estimate.repeatability @ jacobian.T))
    ratios = [
        widths[name] / (1.96 * sigma[ESTIMATED_QUANTITIES.index(name)])
        for name in PREDICTED_QUANTITIES
    ]
    assert min(ratios) > 0.8
    assert max(ratios) < 1.25


def test_noise_of_an_estimate_is_that_of_its_log(fit, tmp_path):
    path = write_estimate(fit.estimate.saved, tmp_path / "estimate.json")
    noise = noise_of_estimate(read_estimate(path), str(path))
    density = NOISE.sigma**2 / NOISE.rate_hz  # a fit has both below its cut-off alone
    assert_close(noise.sigma**2 / noise.rate_hz / density, np.ones(6), 0.25)
    assert noise.rate_hz < NOISE.rate_hz


def test_an_estimate_without_residuals_is_an_error(fit, tmp_path):
    path = write_estimate(fit.estimate.saved, tmp_path / "estimate.json")
    saved = replace(read_estimate(path), residual_rms=None)
    with pytest.raises(ProblemError, match=r"e\.json: has no residuals"):
        noise_of_estimate(saved, "e.json")


def test_noise_of_torques_is_that_of_each_joint_and_half_of_the_samples(fit, tmp_path):
    path = write_estimate(fit.estimate.saved, tmp_path / "estimate.json")
    of_wrist = read_estimate(path)
    provenance = {**of_wrist.provenance, "robot": {}}
    saved = replace(
        of_wrist,
        residual_rms=np.arange(1.0, 8.0),
        effective_samples=336.0,
        provenance=provenance,
    )
    noise = torque_noise_of(saved, "e.json", 7, payload=True)
    assert_close(noise.sigma, np.arange(1.0, 8.0))
    assert noise.rate_hz == pytest.approx(0.5 * 336.0 / 7 / 24.0)
    assert torque_noise_of(saved, "e.json", 7, payload=False).rate_hz == 2.0 * noise.rate_hz
    with pytest.raises(ProblemError, match=r"e\.json: expected a fit of .* of 6 channels"):
        torque_noise_of(saved, "e.json", 6, payload=True)
    with pytest.raises(ProblemError, match=r"is a fit of a wrist sensor; expected"):
        torque_noise_of(of_wrist, "e.json", 6, payload=True)
    with pytest.raises(ProblemError, match=r"is a fit of the joint torques of an arm;"):
        noise_of_estimate(saved, "e.json")


def earlier_fit(information):
    return EarlierFit(np.linalg.inv(information), np.zeros((10, 10)))


def test_half_widths_fall_with_the_root_of_time_and_with_what_is_known(prediction):
    once, four_times = (prediction.half_widths(t) for t in (10.0, 40.0))
    assert_close(
        [once[n] / four_times[n] for n in PREDICTED_QUANTITIES],
        np.full(len(PREDICTED_QUANTITIES), 2.0),
    )
    known = replace(prediction, earlier=earlier_fit(30.0 * prediction.information))
    assert_close(list(known.half_widths(10.0).values()), list(four_times.values()))


def test_time_of_a_need_is_the_first_whole_number_of_periods_that_meets_it(prediction):
    width = prediction.half_widths(10.0)["m"]
    (need,) = parse_required_precision(f"mass {1e3 * width / 2.0 + 1e-9:.12g}g")
    assert prediction.widest_half_width(need, 40.0) == pytest.approx(need.limit)
    assert prediction.seconds_for([need], 8.0) == 40.0
    assert prediction.seconds_for(parse_required_precision("mass 1e-9%"), 8.0) is None


@pytest.mark.usefixtures("few_iterations")
def test_a_plan_counts_an_earlier_fit_once(prediction):
    earlier = earlier_fit(8.0 * prediction.information)
    design = plan_motion(wrist(), 8.0, Search(starts=1), body=BODY, earlier=earlier)
    assert_close(design.problem.prior_information, prediction.information)
    assert design.prediction.earlier is earlier
    assert design.plan.times[-1] == 8.0
    alone = replace(design, earlier=EarlierFit.of(None)).prediction
    assert design.prediction.half_widths(8.0)["m"] < alone.half_widths(8.0)["m"]


def test_static_poses_give_no_inertia(rng):
    poses = design_static_poses(6, 1.0, GRAVITY, NOISE, rng)
    widths = predict_static_poses(poses, GRAVITY, NOISE, BODY)
    assert widths["m"] > 0.0
    assert {name for name, width in widths.items() if np.isinf(width)} == set(
        PREDICTED_QUANTITIES[4:]
    )


def saved_arm(robot, **report):
    names = {"residual_rms": [1.0] * 6, "effective_samples": 360.0}
    logs = {"logs": [{"rows": 3000, "rate_hz": 100.0}]}
    links = {name: 1.1 * phi for name, phi in zip(robot.links, robot.phi, strict=True)}
    saved = {**names, "provenance": logs, **report}
    base = robot_base_columns(robot)
    columns = ArmColumns(robot, base).layout.columns
    statistics = SimpleNamespace(layout=SimpleNamespace(columns=columns))
    covariance, kinematics = np.eye(1), link_kinematics(robot)
    return SavedArm(
        robot.joints, links, {}, covariance, statistics, kinematics, base.dependence, saved
    )


def test_a_fitted_arm_gives_the_noise_of_its_joints_and_its_links(pinocchio):
    robot = read_robot(ARM)
    saved = saved_arm(robot)
    noise = torque_noise_of(saved, "arm.json", 6, payload=False)
    assert_close(noise.sigma, np.ones(6))
    assert noise.rate_hz == pytest.approx(360.0 / 6 / 30.0)
    assert_close(with_fitted_links(robot, saved, "arm.json").phi, 1.1 * robot.phi)
    assert EarlierFit.of(saved).covariance is None
    with pytest.raises(ProblemError, match=r"arm\.json: expected a fit of moving logs"):
        torque_noise_of(saved_arm(robot, effective_samples=None), "arm.json", 6, payload=True)
    with pytest.raises(ModelError, match=r"arm\.json: the fitted arm has the joints a"):
        with_fitted_links(robot, replace(saved, joints=("a",)), "arm.json")
    other = replace(saved, kinematics=saved.kinematics + 1e-3)
    with pytest.raises(ModelError, match=r"arm\.json: the fitted arm has other kinematics"):
        with_fitted_links(robot, other, "arm.json")


@pytest.mark.parametrize("text", ["{", "[]", '{"arm": 1}'])
def test_an_earlier_fit_that_is_neither_file_is_an_error(tmp_path, text):
    (tmp_path / "e.json").write_text(text)
    with pytest.raises(ModelError, match=r"e\.json"):
        read_earlier(tmp_path / "e.json")


def test_predictions_of_an_arm_have_the_error_of_its_torque_scale(pinocchio):
    """Six joints of 2 % each are a mean of .82 %, as in fits; a known load tells it better."""
    known = EarlierFit.of(None).with_torque_scale(BODY, 6, None)
    problem = arm()
    rows = problem.rows(motion_of(problem, ARM_BASIS).at(ARM_BASIS.times())).regressor
    base = problem.base_columns
    prediction = PredictedPrecision(BODY, information_rate(rows, 10, 2.0), base, known)
    assert prediction.half_widths(1e9, total=True)["m"] == pytest.approx(
        1.96 * 0.02 / np.sqrt(6.0) * BODY.mass, rel=1e-3
    )
    assert prediction.half_widths(1e9)["m"] < 1e-3
    assert prediction.half_widths(1e9, total=True)["cx"] < 1e-4  # a scale moves no centre
    scale = TorqueScale(np.ones(6), 1e-6 * np.ones((6, 6)), "by a load")
    better = EarlierFit.of(None).with_torque_scale(BODY, 6, scale)
    assert_close(better.calibration, 1e-6 * np.outer(BODY.phi, BODY.phi))
