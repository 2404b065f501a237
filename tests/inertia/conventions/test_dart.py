"""Against DART itself where it installs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from identify.inertia.conventions import (
    DartInertia,
    dart_parameters,
    dart_spatial_tensor,
    phi_from_dart_spatial_tensor,
)
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies


@pytest.fixture(scope="module")
def dynamics():
    return pytest.importorskip("dartpy", reason="DART is not installed").dynamics


@given(bodies(flat=False))
def test_arguments_construct_our_tensor(dynamics, phi):
    ours = DartInertia.from_phi(phi)
    theirs = dynamics.Inertia(float(ours.mass), ours.com, ours.moment)
    tensor = theirs.getSpatialTensor()
    assert_close(tensor, dart_spatial_tensor(phi), 1e-14, scale=np.abs(tensor).max())
    assert_same_body(phi_from_dart_spatial_tensor(tensor), phi, 1e-14)
    read = DartInertia(theirs.getMass(), theirs.getLocalCOM(), theirs.getMoment())
    assert_same_body(read.to_phi(), phi, 1e-14)


@given(bodies(flat=False, offset=0.5))
def test_a_tensor_that_is_set_gives_our_arguments(dynamics, phi):
    theirs = dynamics.Inertia(dart_spatial_tensor(phi))
    read = DartInertia(theirs.getMass(), theirs.getLocalCOM(), theirs.getMoment())
    assert_same_body(read.to_phi(), phi, 1e-13)


@given(bodies())
def test_the_ten_numbers_are_the_arguments(phi):
    ours, ten = DartInertia.from_phi(phi), dart_parameters(phi)
    assert ten[0] == ours.mass
    assert np.array_equal(ten[1:4], ours.com)
    assert np.array_equal(ten[4:7], np.diagonal(ours.moment))
    rows, columns = [0, 0, 1], [1, 2, 2]
    assert_close(ten[7:], ours.moment[rows, columns], 1e-14, scale=np.abs(ours.moment).max())
