import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

from identify.errors import ModelError
from identify.spatial import (
    exp_rotation,
    hat,
    log_rotation,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
    unwrap_quaternions,
    vee,
)
from identify.spatial.rotations import (
    normalised_quaternion,
)
from tests.close import assert_close
from tests.strategies import quaternions, vectors

NEAR_ZERO_AND_PI = [0.0, 1e-300, 1e-160, 1e-12, 9.9e-9, 1.1e-8, 1e-6, 1e-3, 3.0]
NEAR_PI = [np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9, np.pi - 1e-13, np.pi]


def same_rotation(p: np.ndarray, q: np.ndarray, rtol: float = 1e-14) -> None:
    assert_close(p * np.sign(p @ q), q, rtol)


@given(vectors(), vectors())
def test_hat_is_the_cross_product_and_vee_its_inverse(a, b):
    assert_close(hat(a) @ b, np.cross(a, b), 1e-15, scale=1.0)
    assert_close(hat(a), -hat(a).T, 0.0)
    assert_close(vee(hat(a)), a, 0.0)


@given(quaternions())
def test_rotation_matrix_matches_scipy(q):
    R = rotation_from_quaternion(q)
    assert_close(R, Rotation.from_quat(q).as_matrix(), 1e-15, scale=4.0)
    assert_close(R.T @ R, np.eye(3), 4e-15)
    assert_close(np.linalg.det(R), 1.0, 4e-15)


@given(quaternions())
def test_quaternion_to_matrix_and_back(q):
    back = quaternion_from_rotation(rotation_from_quaternion(q))
    same_rotation(back, q)
    assert back[3] >= 0.0
    assert_close(np.linalg.norm(back), 1.0, 4e-16)


@pytest.mark.parametrize("axis", [*np.eye(3), [0.6, -0.8, 0.0], [-0.48, 0.6, 0.64]])
@pytest.mark.parametrize("angle", [*NEAR_ZERO_AND_PI, *NEAR_PI])
def test_matrix_to_quaternion_is_exact_near_half_turns(axis, angle):
    q = exp_rotation(angle * np.asarray(axis))
    R = rotation_from_quaternion(q)
    same_rotation(quaternion_from_rotation(R), q)
    same_rotation(quaternion_from_rotation(R), Rotation.from_matrix(R).as_quat())


@given(vectors(3, np.pi / np.sqrt(3.0)))
def test_exp_matches_scipy_and_log_its_inverse(v):
    q = exp_rotation(v)
    assert_close(q, Rotation.from_rotvec(v).as_quat(canonical=False), 1e-15)
    assert_close(log_rotation(q), v, 1e-15, scale=4.0)
    assert_close(log_rotation(-q), v, 1e-15, scale=4.0)


@pytest.mark.parametrize("axis", [*np.eye(3), -np.eye(3)[1], np.array([-0.48, 0.6, 0.64])])
@pytest.mark.parametrize("angle", [*NEAR_ZERO_AND_PI, *NEAR_PI[:-1]])
def test_log_of_exp_keeps_all_digits_near_zero_and_near_pi(axis, angle):
    v = angle * axis
    back = log_rotation(exp_rotation(v))
    # Near zero every digit is kept; near π the quaternion itself has an absolute error.
    assert_close(back, v, 1e-15, scale=max(angle, 1e-300) if angle < 1.0 else 4.0)


@given(quaternions(), quaternions())
def test_product_composes_rotations_as_scipy_does(p, q):
    product = quaternion_product(p, q)
    R = rotation_from_quaternion(p) @ rotation_from_quaternion(q)
    assert_close(rotation_from_quaternion(product), R, 4e-15)
    theirs = (Rotation.from_quat(p) * Rotation.from_quat(q)).as_quat()
    same_rotation(product, theirs)


@given(st.lists(st.sampled_from([-1.0, 1.0]), min_size=1, max_size=30))
def test_unwrap_undoes_any_pattern_of_signs(signs):
    angle = 0.4 * np.arange(len(signs))
    path = exp_rotation(angle[:, None] * [0.0, 0.6, 0.8])
    unwrapped = unwrap_quaternions(np.array(signs)[:, None] * path)
    assert_close(unwrapped, signs[0] * path, 0.0)


def test_batches_agree_with_single_rotations():
    rng = np.random.default_rng(3)
    v = rng.normal(size=(4, 5, 3))
    q = exp_rotation(v)
    R = rotation_from_quaternion(q)
    back = quaternion_from_rotation(R)
    log = log_rotation(q)
    for index in np.ndindex(4, 5):
        assert_close(q[index], exp_rotation(v[index]), 0.0)
        assert_close(R[index], rotation_from_quaternion(q[index]), 0.0)
        assert_close(back[index], quaternion_from_rotation(R[index]), 0.0)
        assert_close(log[index], log_rotation(q[index]), 0.0)


def test_a_quaternion_of_zeros_is_rejected_and_named_by_its_number():
    q = np.tile([0.0, 0.0, 0.0, 1.0], (5, 1))
    q[3] = 0.0
    with pytest.raises(ModelError, match="quaternion 3 has no length"):
        rotation_from_quaternion(q)
    with pytest.raises(ModelError, match="needs a unit quaternion"):
        normalised_quaternion(np.full(4, np.nan))
