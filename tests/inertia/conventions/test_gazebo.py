import importlib

import numpy as np
import pytest
from hypothesis import given

from identify.errors import ModelError
from identify.inertia import inertia_about_com, phi_from_inertia, swap_spatial_order
from identify.inertia.conventions import GazeboInertial, find_convention
from identify.spatial import hat
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, rotations

BODY_MATRIX = find_convention("gazebo_body_matrix")
DART_TENSOR = find_convention("dart_tensor")


def theirs_of(gz, inertial: GazeboInertial):
    """The same inertial, made with Gazebo's classes."""
    return gz.Inertiald(
        gz.MassMatrix3d(
            float(inertial.mass), gz.Vector3d(*inertial.ixxyyzz), gz.Vector3d(*inertial.ixyxzyz)
        ),
        gz.Pose3d(gz.Vector3d(*inertial.position), gz.Quaterniond(*inertial.quaternion_wxyz)),
    )


def array(matrix) -> np.ndarray:
    return np.array([[matrix(i, j) for j in range(3)] for i in range(3)])


@pytest.fixture(scope="module")
def gz():
    """Gazebo's maths, by its newer names or its older one."""
    for name in ("gz.math", "gz.math8", "gz.math7"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return pytest.importorskip("ignition.math", reason="Gazebo's maths is not installed")


@given(bodies(flat=False), rotations())
def test_moi_is_that_of_gazebo(gz, phi, R):
    for axes in ("body", "principal", R):
        ours = GazeboInertial.from_phi(phi, axes)
        theirs = theirs_of(gz, ours)
        scale = np.abs(ours.moi).max()
        assert theirs.mass_matrix().is_valid()
        assert_close(array(theirs.moi()), ours.moi, 1e-14, scale=scale)
        assert_close(array(theirs.mass_matrix().moi()), ours.mass_matrix_moi, 1e-15, scale=scale)


@given(bodies(flat=False), rotations())
def test_moi_is_about_the_centre_of_mass_in_axes_of_the_link(phi, R):
    Ic = inertia_about_com(phi)
    for axes in ("body", "principal", R):
        ours = GazeboInertial.from_phi(phi, axes)
        assert_close(ours.moi, Ic, 1e-14, scale=10.0 * np.abs(Ic).max())
        assert_close(ours.pose.position, phi[1:4] / phi[0], 1e-15)
        assert_same_body(ours.to_phi(), phi, 1e-14)


@given(rotations())
def test_principal_axes_are_those_that_gazebo_finds(gz, R):
    turned = (R * [1.0, 2.0, 2.5]) @ R.T
    phi = phi_from_inertia(3.0, np.array([0.1, 0.2, -0.3]), 0.5 * (turned + turned.T))
    ours = GazeboInertial.from_phi(phi, "principal")
    theirs = theirs_of(gz, GazeboInertial.from_phi(phi))
    theirs.set_mass_matrix_rotation(gz.Quaterniond(1.0, 0.0, 0.0, 0.0), 1e-12)
    found = theirs.mass_matrix().diagonal_moments()
    assert_close([found.x(), found.y(), found.z()], ours.ixxyyzz, 1e-6)
    assert np.array_equal(ours.ixyxzyz, np.zeros(3))


@given(bodies())
def test_body_matrix_has_the_blocks_of_the_text(phi):
    m, c = phi[0], hat(phi[1:4] / phi[0])
    Ic = inertia_about_com(phi)
    expected = np.block([[m * np.eye(3), m * c.T], [m * c, Ic]])
    matrix = GazeboInertial.from_phi(phi).body_matrix
    scale = np.abs(DART_TENSOR.from_phi(phi)).max()
    assert_close(matrix, expected, 1e-14, scale=scale)
    assert_close(BODY_MATRIX.from_phi(phi), expected, 1e-14, scale=scale)
    # What DART adds to go from one point to the other.
    tensor = swap_spatial_order(DART_TENSOR.from_phi(phi))
    assert_close(tensor[3:, 3:] - matrix[3:, 3:], m * c @ c.T, 1e-14, scale=scale)
    assert_same_body(BODY_MATRIX.to_phi(matrix), phi, 1e-14)


def test_spatial_matrix_adds_the_added_mass_as_it_is():
    phi = phi_from_inertia(1.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))
    ours = GazeboInertial.from_phi(phi)
    added = np.diag([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    assert np.array_equal(ours.spatial_matrix(added), ours.body_matrix + added)
    with pytest.raises(ModelError, match="fluid added mass cannot be said"):
        BODY_MATRIX.to_phi(ours.spatial_matrix(added))
