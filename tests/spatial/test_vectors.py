import numpy as np
import pytest
from hypothesis import given

from identify.spatial import (
    Pose,
    adjoint,
    coadjoint,
    cross_force,
    cross_motion,
    exp_rotation,
    hat,
    rotation_from_quaternion,
)
from tests.close import assert_close
from tests.strategies import poses, vectors


def twist_matrix(V: np.ndarray) -> np.ndarray:
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = hat(V[3:]), V[:3]
    return matrix


@given(poses(), vectors(6))
def test_adjoint_is_conjugation_of_the_twist_by_the_pose(X, V):
    T = X.matrix
    conjugated = T @ twist_matrix(V) @ np.linalg.inv(T)
    assert_close(twist_matrix(adjoint(X) @ V), conjugated, 1e-14, scale=10.0)


@given(poses(), vectors(6, 5.0), vectors(6, 5.0))
def test_power_is_the_same_in_both_frames(X, F, V):
    assert_close((coadjoint(X) @ F) @ (adjoint(X) @ V), F @ V, 1e-14, scale=1e3)


@given(vectors(6), vectors(6), vectors(6))
def test_cross_products_are_dual(V, U, F):
    assert_close(cross_force(V), -cross_motion(V).T, 0.0)
    assert_close((cross_force(V) @ F) @ U, -F @ (cross_motion(V) @ U), 1e-14, scale=10.0)


@given(vectors(6), vectors(6), vectors(6))
def test_motion_cross_is_the_bracket_of_twists(V, U, P):
    bracket = twist_matrix(V) @ twist_matrix(U) - twist_matrix(U) @ twist_matrix(V)
    assert_close(twist_matrix(cross_motion(V) @ U), bracket, 1e-15, scale=4.0)
    jacobi = (
        cross_motion(V) @ cross_motion(U) @ P
        + cross_motion(U) @ cross_motion(P) @ V
        + cross_motion(P) @ cross_motion(V) @ U
    )
    assert_close(jacobi, np.zeros(6), 1e-14, scale=10.0)


@pytest.mark.parametrize("map_", [adjoint, coadjoint])
def test_batches_of_poses_give_batches_of_matrices(map_):
    rng = np.random.default_rng(7)
    R = rotation_from_quaternion(exp_rotation(rng.normal(size=(5, 3))))
    p = rng.normal(size=(5, 3))
    assert_close(map_(Pose(R, p))[3], map_(Pose(R[3], p[3])), 0.0)
    assert map_(Pose(R, p[0])).shape == (5, 6, 6)
