import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.design import design_static_poses
from identify.errors import ProblemError
from tests.close import assert_close
from tests.design.problems import NOISE

GRAVITY = np.array([3.0, -4.0, -8.0])


def test_rotation_vectors_give_the_directions_within_the_tilt(rng):
    poses = design_static_poses(6, np.radians(40.0), GRAVITY, NOISE, rng)
    down = GRAVITY / np.linalg.norm(GRAVITY)
    turned = Rotation.from_rotvec(poses.rotation_vectors).inv().apply(down)
    assert_close(turned, poses.directions)
    tilts = np.degrees(np.arccos(np.clip(poses.directions @ down, -1.0, 1.0)))
    assert 39.0 < tilts.max() <= 40.0 + 1e-6


def test_poses_within_a_tilt_beat_random_ones_and_all_around_they_do_not(rng):
    within = design_static_poses(10, np.radians(45.0), GRAVITY, NOISE, rng)
    around = design_static_poses(10, np.pi, GRAVITY, NOISE, rng)
    gains = [np.exp(poses.criterion - poses.random_criterion) for poses in (within, around)]
    assert gains[0] <= 0.75
    assert 0.9 < gains[1] < 1.0


def test_rows_of_a_pose_are_the_weight_of_the_body(rng):
    poses = design_static_poses(4, 1.0, GRAVITY, NOISE, rng)
    strength = np.linalg.norm(GRAVITY)
    rows = poses.regressor(strength, NOISE) * NOISE.sigma[:, None]
    mass, h = 1.7, np.array([0.1, -0.2, 0.05])
    force = -mass * strength * poses.directions
    torque = np.cross(h, -strength * poses.directions)
    assert_close(rows @ np.array([mass, *h, *np.zeros(6)]), np.hstack((force, torque)))


@pytest.mark.parametrize(
    ("count", "tilt", "message"),
    [
        (2, 1.0, "poses: expected at least 3, got 2"),
        (4, 0.0, "tilt: expected an angle above 0"),
        (4, -0.1, "tilt: expected an angle above 0"),
        (4, 4.0, "up to 180 degrees, got 229"),
    ],
)
def test_too_few_poses_and_no_tilt_are_errors(count, tilt, message, rng):
    with pytest.raises(ProblemError, match=message):
        design_static_poses(count, tilt, GRAVITY, NOISE, rng)
