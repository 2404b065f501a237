from dataclasses import replace

import numpy as np
import pytest

from identify.arms import JointDynamics
from identify.commands.design_summary import design_lines
from identify.design import (
    DesignedMotion,
    Search,
    design_motion,
    joint_limits,
    joint_problem,
    plan_motion,
    unplanned_motion,
)
from identify.design.d_optimal import d_optimality, motion_cost, within_limits
from identify.design.joints import SIGN_SPEED
from identify.design.periodic import scaled_coefficients
from identify.design.prediction import PREDICTED_QUANTITIES, information_rate
from identify.errors import ProblemError
from identify.inertia import in_frame
from identify.robots import inverse_dynamics, read_robot, torque_regressor
from tests.close import assert_close
from tests.design.problems import (
    ARM,
    ARM_BASIS,
    BODY,
    WRIST_BASIS,
    arm,
    drawn,
    motion_of,
    wrist,
)
from tests.robots.arms import arm_text

WRISTS = [{}, {"tilt": 0.6, "sensor_range": (16.0, 1.6)}]


def test_criterion_is_the_schur_complement_of_what_is_fitted_besides(rng):
    Y = rng.normal(size=(30, 2, 7)) * np.logspace(-2, 2, 7)
    flat = Y.reshape(60, 7)
    M = flat.T @ flat
    schur = M[:4, :4] - M[:4, 4:] @ np.linalg.inv(M[4:, 4:]) @ M[4:, :4]
    value, gradient = d_optimality(Y, 4)
    assert_close(value, -np.linalg.slogdet(schur)[1] / 8.0)
    step = 1e-6 * np.abs(Y).mean(axis=(0, 1)) * rng.normal(size=Y.shape)
    ahead, behind = d_optimality(Y + step, 4)[0], d_optimality(Y - step, 4)[0]
    assert_close(np.sum(gradient * step), 0.5 * (ahead - behind), 1e-5)


def test_what_is_known_counts_as_rows_of_the_wanted_unknowns(rng):
    Y, before = rng.normal(size=(30, 2, 7)), rng.normal(size=(2, 9, 7)) * [1, 1, 1, 1, 0, 0, 0]
    flat = before.reshape(18, 7)[:, :4]
    value, gradient = d_optimality(Y, 4, flat.T @ flat)
    joined, of_joined = d_optimality(np.concatenate((Y, before.reshape(9, 2, 7))), 4)
    assert_close(value, joined)
    assert_close(gradient, of_joined[:30])


def test_what_is_known_enters_the_cost_once():
    free = wrist()
    series = WRIST_BASIS.at(WRIST_BASIS.times())
    c = drawn(free, WRIST_BASIS)
    rows = free.rows(series @ scaled_coefficients(WRIST_BASIS, c, free.limits).T)
    once = information_rate(rows.regressor, 10, free.rate_hz)
    again = replace(free, prior_information=once)
    value, twice = (motion_of_cost(p, series, c) for p in (free, again))
    assert_close(value - twice, 0.5 * np.log(2.0), 0.05)  # half of the information is the earlier


def motion_of_cost(problem, series, c):
    return motion_cost(problem, series, c, 0.98)[0]


def test_criterion_is_infinite_if_an_unknown_does_not_act(rng):
    Y = rng.normal(size=(30, 2, 4))
    Y[..., 1] = 0.0
    assert d_optimality(Y, 2)[0] == np.inf


@pytest.mark.parametrize("kwargs", WRISTS)
def test_cost_of_a_wrist_has_the_gradient_of_its_differences(kwargs, rng):
    check_gradient(wrist(**kwargs), WRIST_BASIS, rng)


@pytest.mark.parametrize("whole", [False, True])
def test_cost_of_an_arm_has_the_gradient_of_its_differences(whole, rng, pinocchio):
    check_gradient(arm(whole=whole), ARM_BASIS, rng)


def test_friction_counts_in_the_limits_of_torque(rng, pinocchio):
    dynamics = JointDynamics(*rng.uniform(5.0, 20.0, (3, 6)))
    with_friction, without = arm(dynamics=dynamics), arm()
    check_gradient(with_friction, ARM_BASIS, rng, target=0.1)
    q, v, a = motion = motion_of(without, ARM_BASIS).at(ARM_BASIS.times())
    torque = inverse_dynamics(without.robot, without.start + q, v, a, without.robot.phi)
    Y = torque_regressor(without.robot, without.start + q, v, a)
    link, X_LF = without.robot.frame("tool0")
    torque += Y[..., 10 * link : 10 * link + 10] @ in_frame(BODY, X_LF).phi
    damping, friction, armature = dynamics[:3]
    torque += damping * v + friction * np.tanh(v / SIGN_SPEED) + armature * a
    shares = np.abs(torque) / without.torque_limits
    assert_close(with_friction.rows(motion).shares[:, :6], shares, 1e-9)
    assert "with the friction" in " ".join(with_friction.remarks)


def check_gradient(problem, basis, rng, target=0.98):
    series, c = basis.at(basis.times()), drawn(problem, basis)
    d, h = rng.normal(size=c.shape), 1e-6
    ahead, behind = (motion_cost(problem, series, c + s * d, target)[0] for s in (h, -h))
    _, gradient = motion_cost(problem, series, c, target)
    assert_close(np.sum(gradient * d), (ahead - behind) / (2.0 * h), 1e-5)


@pytest.mark.usefixtures("few_iterations")
@pytest.mark.parametrize("kwargs", WRISTS)
def test_designed_motions_keep_all_limits_and_beat_random_ones(kwargs):
    problem = wrist(**kwargs)
    motion = design_motion(problem, WRIST_BASIS, Search(starts=1))
    fine = motion.at(WRIST_BASIS.times(refinement=10))
    assert np.abs(problem.limits.shares(fine)).max() <= 1.0 + 1e-9
    assert problem.rows(fine).shares.max() <= 1.0 + 1e-9
    unplanned = unplanned_motion(problem, WRIST_BASIS, seed=0)
    assert np.exp(motion.criterion - unplanned.criterion) < 0.7


@pytest.mark.usefixtures("few_iterations")
def test_finished_starts_are_not_designed_again():
    finished, fresh = {}, []
    first = design_motion(wrist(), WRIST_BASIS, Search(starts=1, on_start=finished.__setitem__))
    again = design_motion(
        wrist(),
        WRIST_BASIS,
        Search(2, finished=finished, on_start=lambda number, motion: fresh.append(number)),
    )
    assert fresh == [1]
    assert again.criterion <= first.criterion


def test_a_start_that_breaks_a_limit_is_an_error_that_names_it():
    with pytest.raises(ProblemError, match=r"the force on z: the start uses 147 % of it"):
        within_limits(wrist(sensor_range=(10.0, 5.0)), WRIST_BASIS, drawn(wrist(), WRIST_BASIS))


def two_parallel_axes(tmp_path):
    path = tmp_path / "planar.urdf"
    path.write_text(arm_text(2))
    return read_robot(path), "link_1", np.zeros(2)


def two_axes_of_a_wrist(tmp_path):
    return read_robot(ARM, ["joint4", "joint5"]), "tool0", np.array([0.1, -1.4])


@pytest.mark.parametrize(
    ("axes", "shown"),
    [(two_parallel_axes, {"m", "cx", "cz", "Icyy"}), (two_axes_of_a_wrist, set())],
)
@pytest.mark.usefixtures("few_iterations")
def test_axes_that_show_part_of_a_payload_are_designed_for_it(axes, shown, tmp_path, pinocchio):
    robot, frame, start = axes(tmp_path)
    limits = joint_limits(robot, start, excursion=1.0, shares=(0.9, 0.9))
    problem = joint_problem(
        robot, limits, start, torque_share=1.0, placement=robot.frame(frame), body=BODY
    )
    design = plan_motion(problem, 8.0, Search(starts=1), body=BODY)
    assert design.prediction is not None
    widths = design.prediction.half_widths(8.0)
    assert {name for name, width in widths.items() if np.isfinite(width)} == shown
    assert set(PREDICTED_QUANTITIES) - set(design.prediction.hidden) == shown
    text = "\n".join(design_lines(design))
    assert ("Predicted mass: no motion of these joints shows it." in text) == (not shown)
    assert ("Ixx" in text) == (not shown)  # combinations where the mass is not shown


def test_a_motion_is_periodic():
    motion = DesignedMotion(WRIST_BASIS, drawn(wrist(), WRIST_BASIS), 0.0)
    t = np.linspace(0.0, 3.0, 7)
    assert_close(motion.at(t + WRIST_BASIS.period), motion.at(t), 1e-10)
