import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

from identify.errors import ModelError
from identify.spatial import Pose, exp_rotation, rotation_from_quaternion
from tests.close import assert_close
from tests.strategies import poses, quaternions, vectors


@given(poses(), poses())
def test_composition_is_the_product_of_homogeneous_transforms(X_AB, X_BC):
    assert_close((X_AB @ X_BC).matrix, X_AB.matrix @ X_BC.matrix, 1e-15, scale=10.0)


@given(poses())
def test_inverse_matches_the_matrix_and_undoes_the_pose(X):
    assert_close(X.inverse().matrix, np.linalg.inv(X.matrix), 1e-14, scale=10.0)
    assert_close((X @ X.inverse()).matrix, np.eye(4), 1e-14)
    assert_close((X.inverse() @ X).matrix, np.eye(4), 1e-14)


@given(quaternions(), vectors())
def test_from_quaternion_reads_scalar_last_and_normalises(q, p):
    X = Pose.from_quaternion(3.0 * q, p)
    assert_close(X.rotation, Rotation.from_quat(q).as_matrix(), 4e-15)
    assert_close(X.position, p, 0.0)


def test_batch_broadcasts_positions_against_single_rotation():
    rng = np.random.default_rng(5)
    R = rotation_from_quaternion(exp_rotation(rng.normal(size=3)))
    positions = rng.normal(size=(6, 3))
    batch = Pose(R, positions)
    assert batch.matrix.shape == (6, 4, 4)
    assert_close(batch.matrix[4], Pose(R, positions[4]).matrix, 0.0)
    assert_close(batch.inverse().matrix[2], Pose(R, positions[2]).inverse().matrix, 1e-15)
    assert_close((batch @ batch.inverse()).matrix, np.tile(np.eye(4), (6, 1, 1)), 1e-14)


def test_pose_is_read_only_copy():
    R, p = np.eye(3), np.zeros(3)
    X = Pose(R, p)
    p[0] = 7.0
    assert X.position[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        X.position[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        X.rotation[0, 0] = 1.0


@pytest.mark.parametrize(
    ("rotation", "position", "message"),
    [
        (np.diag([1.0, 1.0, -1.0]), np.zeros(3), "not a right-handed orthonormal"),
        (1.001 * np.eye(3), np.zeros(3), "not a right-handed orthonormal"),
        (np.zeros((3, 3)), np.zeros(3), "not a right-handed orthonormal"),
        (np.full((3, 3), np.nan), np.zeros(3), r"the rotation: entry \(0, 0\) is nan"),
        (np.full((3, 3), np.inf), np.zeros(3), r"the rotation: entry \(0, 0\) is inf"),
        (np.eye(3), np.array([0.0, np.nan, 0.0]), r"the position: entry \(1,\) is nan"),
        (np.eye(3), np.array([0.0, np.inf, 0.0]), r"the position: entry \(1,\) is inf"),
        (np.eye(4), np.zeros(3), r"rotation: expected shape \(..., 3, 3\), got \(4, 4\)"),
        (np.eye(3), np.zeros(4), r"position: expected shape \(..., 3\), got \(4,\)"),
    ],
)
def test_invalid_pose_is_rejected(rotation, position, message):
    with pytest.raises(ModelError, match=message):
        Pose(rotation, position)


def test_rotations_printed_to_seven_digits_are_admitted():
    R = rotation_from_quaternion(exp_rotation(np.array([0.3, -0.8, 0.5])))
    Pose(np.round(R, 7), np.zeros(3))
    with pytest.raises(ModelError, match="orthonormal"):
        Pose(np.round(R, 3), np.zeros(3))
