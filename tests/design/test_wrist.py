from types import SimpleNamespace

import numpy as np
import pytest

from identify.design.wrist import wrist_features, wrist_jacobian
from identify.logs.synthetic import SyntheticMotion, wrench_on_body
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate_back
from tests.close import assert_close
from tests.design.problems import BODY, GRAVITY, NOISE, WRIST_BASIS, motion_of, wrist

AT_REST = SimpleNamespace(derivative=lambda t, order: np.zeros((len(t), 3)))


def samples_of(motion, t):
    """The motion of the designed angles by another route, that of synthetic logs."""
    angles = SimpleNamespace(derivative=lambda t, order: motion.at(t)[order])
    return SyntheticMotion(AT_REST, angles).at(t)


def test_features_are_those_of_a_synthetic_motion_of_the_same_angles():
    motion, t = motion_of(wrist(), WRIST_BASIS), np.linspace(0.0, 8.0, 50)
    expected = samples_of(motion, t)
    psi = wrist_features(np.moveaxis(motion.at(t), 1, 0), GRAVITY)
    R = rotation_from_quaternion(expected.quaternion)
    assert_close(psi[:, :3], rotate_back(R, np.tile(-GRAVITY, (50, 1))))
    assert_close(psi[:, 3:6], expected.angular_acceleration)
    w = expected.angular_velocity
    assert_close(psi[:, 6:9], w**2)
    assert_close(psi[:, 9:], w[:, [0, 0, 1]] * w[:, [1, 2, 2]])


def test_jacobian_is_that_of_central_differences(rng):
    states, h = rng.normal(size=(4, 3, 3)), 1e-6
    jacobian = wrist_jacobian(states, GRAVITY)
    for order in range(3):
        for axis in range(3):
            step = np.zeros((3, 3))
            step[order, axis] = h
            ahead, behind = (wrist_features(states + s * step, GRAVITY) for s in (1.0, -1.0))
            assert_close(
                jacobian[:, :, order, axis], (ahead - behind) / (2.0 * h), 1e-7, scale=20.0
            )


@pytest.mark.parametrize(
    ("sensor_range", "expected"),
    [
        ((20.0, 2.0), "deg/s2, force 20 N and torque 2 Nm on each axis of the sensor; with"),
        ((20.0, np.inf), "deg/s2, force 20 N on each axis of the sensor; with"),
        ((np.inf, 2.0), "deg/s2, torque 2 Nm on each axis of the sensor; with"),
        ((np.inf, np.inf), "deg/s2; with"),
    ],
)
def test_remarks_name_the_limits_that_hold(sensor_range, expected):
    _, limits, _ = wrist(sensor_range=sensor_range).remarks
    assert expected in limits


def test_rows_and_shares_are_the_wrench_and_the_tilt_of_the_motion():
    problem = wrist(tilt=0.5, sensor_range=(20.0, 2.0))
    motion, t = motion_of(problem, WRIST_BASIS), WRIST_BASIS.times()
    samples = samples_of(motion, t)
    wrench = wrench_on_body(BODY.phi, samples, GRAVITY)
    rows = problem.rows(motion.at(t))
    offsets = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    expected = (wrench + offsets) / NOISE.sigma
    assert_close(rows.regressor @ np.append(BODY.phi, offsets), expected)
    assert_close(rows.shares[:, 1:], np.abs(wrench) / np.repeat([20.0, 2.0], 3))
    down = rotation_from_quaternion(samples.quaternion)[:, 2, 2]
    assert_close(rows.shares[:, 0], (1.0 - down) / (1.0 - np.cos(0.5)))
