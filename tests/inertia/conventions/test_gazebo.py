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


def array(matrix) -> np.ndarray:
    return np.array([[matrix(i, j) for j in range(3)] for i in range(3)])


@given(bodies(flat=False), rotations())
def test_moi_is_about_the_centre_of_mass_in_axes_of_the_link(phi, R):
    Ic = inertia_about_com(phi)
    for axes in ("body", "principal", R):
        ours = GazeboInertial.from_phi(phi, axes)
        assert_close(ours.moi, Ic, 1e-14, scale=10.0 * np.abs(Ic).max())
        assert_close(ours.pose.position, phi[1:4] / phi[0], 1e-15)
        assert_same_body(ours.to_phi(), phi, 1e-14)


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
    with pytest.raises(ModelError, match="fluid added mass cannot be expressed"):
        BODY_MATRIX.to_phi(ours.spatial_matrix(added))
