import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

from identify.signals.segments import jump_starts
from tests.recordings import Path
from tests.strategies import seeds

TIME = np.arange(0.0, 6.0, 0.01)


def moving(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    path = Path.random(seed)
    return path.position(TIME), path.rotation(TIME).as_quat()


@given(seeds())
def test_a_smooth_motion_has_no_jump(seed):
    assert jump_starts(TIME, *moving(seed)).tolist() == []


@given(seeds())
def test_a_quaternion_that_changes_sign_does_not_jump(seed):
    position, quaternion = moving(seed)
    quaternion[200:350] *= -1.0
    assert jump_starts(TIME, position, quaternion).tolist() == []


@pytest.mark.parametrize("noise", [0.0, 1e-5, 1e-3])
def test_noise_is_not_a_jump(noise):
    rng = np.random.default_rng(1)
    position, quaternion = moving()
    noisy = position + rng.normal(0, noise, position.shape)
    assert jump_starts(TIME, noisy, quaternion).tolist() == []


@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_recordings_joined_without_a_motion_between_are_cut_at_the_joint(noise):
    rng = np.random.default_rng(2)
    position, quaternion = moving(1)
    position = position + rng.normal(0, noise, position.shape)
    position[200:] += [0.5, 0.0, 0.0]
    position[400:] -= [0.0, 0.4, 0.0]
    assert jump_starts(TIME, position, quaternion).tolist() == [200, 400]
    assert jump_starts(TIME, position, None).tolist() == [200, 400]


def test_a_jump_of_attitude_alone_is_found():
    position, quaternion = moving(2)
    turned = Rotation.from_quat(quaternion[300:]) * Rotation.from_rotvec([0.0, 0.7, 0.0])
    quaternion[300:] = turned.as_quat()
    assert jump_starts(TIME, position, quaternion).tolist() == [300]
    assert jump_starts(TIME, None, quaternion).tolist() == [300]


@pytest.mark.parametrize("noise", [0.0, 1e-4, 1e-3])
def test_static_poses_that_jump_are_cut_at_every_jump(noise):
    rng = np.random.default_rng(3)
    poses = np.repeat(Rotation.random(6, random_state=4).as_quat(), 200, axis=0)
    poses = poses + rng.normal(0, noise, poses.shape)
    poses /= np.linalg.norm(poses, axis=1, keepdims=True)
    time = np.arange(len(poses)) / 100.0
    assert jump_starts(time, None, poses).tolist() == [200, 400, 600, 800, 1000]


@pytest.mark.parametrize(("seconds_apart", "starts"), [(5.0, [10, 20, 30]), (0.1, [])])
def test_ten_rows_of_each_pose_are_cut_unless_a_slow_sensor_explains_them(seconds_apart, starts):
    poses = np.repeat(Rotation.random(4, random_state=4).as_quat(), 10, axis=0)
    time = 0.01 * np.arange(40) + np.repeat(seconds_apart * np.arange(4), 10)
    assert jump_starts(time, None, poses).tolist() == starts


def test_held_rows_of_a_slower_sensor_do_not_jump():
    position, quaternion = moving(5)
    held = (np.arange(len(TIME)) // 10) * 10
    assert jump_starts(TIME, position[held], quaternion[held]).tolist() == []


def test_a_body_that_starts_to_move_and_stops_again_does_not_jump():
    ramp = np.clip((TIME - 2.0) / 2.0, 0.0, 1.0)
    way = ramp**3 * (10.0 - 15.0 * ramp + 6.0 * ramp**2)
    position = way[:, None] * [0.5, 0.1, 0.0]
    quaternion = Rotation.from_rotvec(way[:, None] * [0.0, 1.0, 0.5]).as_quat()
    assert jump_starts(TIME, position, quaternion).tolist() == []
