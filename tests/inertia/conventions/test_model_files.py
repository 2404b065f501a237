import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import inertia_about_origin
from identify.inertia.conventions import (
    SdfInertial,
    entries_in_order,
    find_convention,
    rotation_from_rpy,
)
from identify.spatial import Pose, quaternion_from_rotation
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, phi_of_points, rotations, seeds


def centred_cloud(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points whose centre of mass is the origin."""
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(7, 3)), rng.uniform(0.2, 1.0, 7)
    return points - weights @ points / weights.sum(), weights


@given(seeds(), st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6))
def test_points_given_in_the_inertial_frame_are_the_body_in_the_link(seed, numbers):
    xyz, rpy = np.array(numbers[:3]), np.array(numbers[3:])
    X_LC = Pose(rotation_from_rpy(rpy), xyz)
    points, weights = centred_cloud(seed)
    six = entries_in_order(inertia_about_origin(phi_of_points(points, weights)), "urdf")
    expected = phi_of_points(X_LC.apply(points), weights)
    q = quaternion_from_rotation(X_LC.rotation)
    mass = weights.sum()
    forms = (
        SdfInertial(mass, np.concatenate((xyz, rpy)), six),
        SdfInertial(mass, np.concatenate((xyz, np.degrees(rpy))), six, degrees=True),
        SdfInertial(mass, np.concatenate((xyz, 3.0 * q)), six, "quat_xyzw"),
    )
    for form in forms:
        assert_same_body(form.to_phi(), expected, 1e-14)


@given(seeds())
def test_ros_message_is_about_the_centre_of_mass(seed):
    points, weights = centred_cloud(seed)
    com = np.array([0.5, -1.0, 2.0])
    message = find_convention("ros").from_phi(phi_of_points(points + com, weights))
    assert_close(message.com, com, 1e-14)
    central = inertia_about_origin(phi_of_points(points, weights))
    rows, columns = [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]
    assert_close(message.inertia, central[rows, columns], 1e-13, scale=100.0)


@given(bodies(), rotations())
def test_requested_axes_are_used(phi, R):
    kept = SdfInertial.from_phi(phi, R)
    assert_close(kept.X_LC.rotation, R, 1e-14)
    assert_same_body(kept.to_phi(), phi, 1e-14)
    principal = SdfInertial.from_phi(phi, "principal")
    assert np.array_equal(principal.inertia[[1, 2, 4]], np.zeros(3))
    aligned = SdfInertial.from_phi(phi)
    assert np.array_equal(aligned.pose[3:], np.zeros(3))


def test_options_outside_sdformat_are_rejected():
    with pytest.raises(ModelError, match="SDFormat refuses degrees='true'"):
        SdfInertial(1.0, np.zeros(7), np.ones(6), "quat_xyzw", degrees=True)
    with pytest.raises(ModelError, match="expected 'euler_rpy' or 'quat_xyzw', got 'quat'"):
        SdfInertial(1.0, np.zeros(7), np.ones(6), "quat")
    with pytest.raises(ModelError, match=r"SdfInertial.pose: expected shape \(..., 6\), got"):
        SdfInertial(1.0, np.zeros(7), np.ones(6))


def test_axes_that_are_no_rotation_are_rejected():
    phi = phi_of_points(*centred_cloud(1))
    with pytest.raises(ModelError, match="expected 'body', 'principal' or a rotation"):
        SdfInertial.from_phi(phi, "main")
    with pytest.raises(ModelError, match="not a right-handed orthonormal matrix"):
        SdfInertial.from_phi(phi, np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(ModelError, match=r"expected a rotation matrix \(3, 3\), got shape \(2,\)"):
        SdfInertial.from_phi(phi, np.ones(2))
