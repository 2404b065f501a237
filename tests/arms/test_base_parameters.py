import numpy as np
import pytest

from identify.arms import ArmColumns, BaseParameters, scan_arm
from identify.arms.base_parameters import arm_base_columns, fit_base_parameters
from identify.arms.equations import equations_of
from identify.arms.model import arm_system
from identify.errors import ProblemError
from tests.arms.simulated import Motion, recording, simulate, torques, true_links
from tests.arms.test_rows import true_unknowns
from tests.close import assert_close


def fitted(robot, log, *, weighted=True) -> BaseParameters:
    columns = ArmColumns.of(robot)
    system = arm_system(scan_arm(log, columns).statistics, columns, runs=(0,))
    return fit_base_parameters(system, arm_base_columns(equations_of(system)), weighted=weighted)


@pytest.mark.parametrize("weighted", [False, True])
def test_log_without_noise_gives_the_true_base_parameters(robot, weighted):
    base = fitted(robot, simulate(robot, 1), weighted=weighted)
    assert_close(base.values, base.columns.dependence @ true_unknowns(robot), 1e-5)


def test_inertia_of_the_first_rotor_is_part_of_that_of_the_first_link(robot):
    base = fitted(robot, simulate(robot, 1))
    first = base.names[0]
    assert first.startswith("Izz of link_0")
    assert "+ joint_0 rotor_inertia" in first
    assert not any(name.startswith("joint_0 rotor_inertia") for name in base.names)
    assert base.names[-1] == "joint_2 offset"


def test_motor_of_two_joints_has_friction_of_its_own(robot):
    # Motor 3 turns with joints 1 and 2; motor 2 does not turn with joint 1.
    coupling = np.array([[50.0, 0.0, 0.0], [30.0, 0.0, 60.0], [0.0, 20.0, 40.0]])
    columns = ArmColumns.of(robot, coupling)
    (second, shares), (third, wrist) = columns.motors
    assert (second, third) == ("motor 2", "motor of joint_2")
    assert_close(shares, [0.5, 0.0, 1.0])
    assert_close(wrist, [0.0, 0.5, 1.0])
    motion = Motion.random(6)
    velocity, acceleration = motion.v @ wrist, motion.a @ wrist
    torque = 0.7 * velocity + 0.9 * np.sign(velocity) + 0.1 * acceleration
    effort = torques(robot, motion, true_links(robot)) + torque[:, None] * wrist
    log = recording(motion.time, motion.q, effort, "coupled")
    system = arm_system(scan_arm(log, columns).statistics, columns, runs=(0,))
    base = fit_base_parameters(system, arm_base_columns(equations_of(system)))
    values = dict(zip(base.names, base.values.tolist(), strict=True))
    assert values["motor of joint_2 coulomb"] == pytest.approx(0.9, rel=1e-3)
    assert values["motor 2 coulomb"] == pytest.approx(0.0, abs=1e-3)


def test_errors_of_base_parameters_are_as_large_as_their_intervals_say(robot):
    pulls = []
    for seed in range(12):
        base = fitted(robot, simulate(robot, seed, noise=0.2))
        pulls.append((base.values - base.columns.dependence @ true_unknowns(robot)) / base.errors)
    rms = float(np.sqrt(np.mean(np.square(pulls))))
    assert 0.85 < rms < 1.2


def test_weights_by_joint_are_better_where_joints_differ(robot):
    noise = np.array([2.0, 2.0, 0.01])
    errors: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(4):
        log = simulate(robot, seed)
        q, effort = log.signals["joint_position"], log.signals["effort"]
        noisy = effort + noise * np.random.default_rng(seed).normal(size=effort.shape)
        for weighted in (False, True):
            base = fitted(robot, recording(log.time, q, noisy, "n"), weighted=weighted)
            error = base.values - base.columns.dependence @ true_unknowns(robot)
            errors[weighted] += [error[base.names.index(f"h{axis} of link_2")] for axis in "xz"]
            assert_close(base.noise[:2], noise[:2], 0.1)
    assert np.std(errors[True]) < 0.1 * np.std(errors[False])


def test_motion_that_excites_too_little_is_refused_with_names(robot):
    motion = Motion.random(1)
    q, v, a = (np.array(x) for x in (motion.q, motion.v, motion.a))
    for x in (q, v, a):
        x[:, 1:] = x[:, :1]  # all joints move as one
    alike = Motion(motion.time, q, v, a)
    log = recording(motion.time, q, torques(robot, alike, true_links(robot)), "alike")
    with pytest.raises(ProblemError, match=r"does not excite .* of link_.*move all joints at once"):
        fitted(robot, log)
