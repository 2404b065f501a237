import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.logs import Recording, read_log
from identify.signals.static_poses import with_one_row_a_pose
from tests.recordings import WRENCH_ARRAYS

ROWS = [4, 1, 7, 2]


def still_log(attitudes, wrench) -> Recording:
    return read_log(
        {
            "quaternion": attitudes.as_quat(),
            "force": wrench[:, :3],
            "torque": wrench[:, 3:],
        },
        {
            "log": {"still": True},
            "pose": {"quaternion": "quaternion"},
            "wrench": WRENCH_ARRAYS,
        },
    )


@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_rows_of_a_pose_become_their_mean(noise):
    rng = np.random.default_rng(1)
    poses = Rotation.random(len(ROWS), random_state=2)
    number = np.repeat(np.arange(len(ROWS)), ROWS)
    attitudes = poses[number] * Rotation.from_rotvec(noise * rng.normal(size=(len(number), 3)))
    wrench = rng.normal(size=(len(number), 6))
    log = with_one_row_a_pose(still_log(attitudes, wrench))
    means = [wrench[number == pose].mean(axis=0) for pose in range(len(ROWS))]
    np.testing.assert_allclose(np.hstack([log.signals["force"], log.signals["torque"]]), means)
    turned = poses.inv() * Rotation.from_quat(log.signals["quaternion"])
    assert turned.magnitude().max() < 5.0 * noise + 1e-12


def test_a_pose_that_is_visited_again_is_another_observation():
    poses = Rotation.random(3, random_state=3)
    log = with_one_row_a_pose(still_log(poses[[0, 0, 1, 0, 0, 2]], np.ones((6, 6))))
    assert len(log) == 4


def test_rows_of_a_slow_motion_stay():
    turning = Rotation.from_euler("x", np.linspace(0.0, 30.0, 200)[:, None], degrees=True)
    log = still_log(turning, np.ones((200, 6)))
    assert with_one_row_a_pose(log) is log
