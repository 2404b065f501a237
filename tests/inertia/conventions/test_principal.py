import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.inertia import inertia_about_com
from identify.inertia.conventions import principal_frame, rotation_from_rpy, rpy_from_rotation
from identify.spatial import rotation_from_quaternion
from tests.close import assert_close
from tests.strategies import bodies, rotations

sortings = st.sampled_from(["ascending", "descending", "unless diagonal"])


def check_frame(inertia: np.ndarray, sorting: str) -> None:
    moments, R = principal_frame(inertia, sorting)
    scale = np.abs(inertia).max()
    assert_close(R.T @ R, np.eye(3), 1e-14)
    assert np.linalg.det(R) > 0.999
    assert_close((R * moments) @ R.T, inertia, 4e-15, scale=scale)
    steps = np.diff(moments)
    if sorting != "unless diagonal":
        assert (steps >= 0.0).all() if sorting == "ascending" else (steps <= 0.0).all()


@given(bodies(), sortings)
def test_any_body_has_a_right_handed_principal_frame(phi, sorting):
    check_frame(inertia_about_com(phi), sorting)


@given(
    rotations(),
    st.sampled_from([(1, 1, 1), (1, 1, 2), (1, 2, 2), (0, 1, 1), (1, 1, 1 + 1e-15)]),
    sortings,
)
def test_repeated_moments_have_a_principal_frame(R, moments, sorting):
    turned = (R * np.array(moments, dtype=float)) @ R.T
    check_frame(0.5 * (turned + turned.T), sorting)


@pytest.mark.parametrize("order", list(itertools.permutations([1.0, 2.0, 3.0])))
def test_axes_that_are_principal_already_are_kept_or_permuted(order):
    kept = principal_frame(np.diag(order), "unless diagonal")
    assert np.array_equal(kept.moments, order)
    assert np.array_equal(kept.rotation, np.eye(3))
    noisy = np.diag(order) + 1e-16 * (np.ones((3, 3)) - np.eye(3))
    for sorting, expected in (("ascending", [1, 2, 3]), ("descending", [3, 2, 1])):
        moments, R = principal_frame(noisy, sorting)
        assert np.array_equal(moments, expected)
        assert np.array_equal(np.abs(R), np.abs(np.round(R)))


@given(
    st.floats(-np.pi, np.pi),
    st.sampled_from([0.0, 1e-300, 1e-16, 1e-12, 1e-9, 1e-8, 1e-6]),
    st.floats(-np.pi, np.pi),
    st.sampled_from([1.0, -1.0]),
)
def test_rotation_round_trip_at_gimbal_lock(roll, off, yaw, sign):
    R = rotation_from_rpy(np.array([roll, sign * (np.pi / 2 - off), yaw]))
    assert_close(rotation_from_rpy(rpy_from_rotation(R)), R, 1e-15, scale=4.0)


@given(st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1))
def test_euler_angles_round_trip_about_fixed_axes(roll, pitch, yaw):
    rpy = np.array([roll, pitch, yaw])
    assert_close(rpy_from_rotation(rotation_from_rpy(rpy)), rpy, 1e-13, scale=4.0)
    half = 0.5 * rpy
    x, y, z = (
        rotation_from_quaternion([*(np.sin(half[k]) * np.eye(3)[k]), np.cos(half[k])])
        for k in range(3)
    )
    assert_close(rotation_from_rpy(rpy), z @ y @ x, 1e-15, scale=4.0)
