"""Against DART itself where it installs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from identify.inertia.conventions import MassProperties, find_convention
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies

DART, TENSOR = find_convention("dart"), find_convention("dart_tensor")


@pytest.fixture(scope="module")
def dynamics():
    return pytest.importorskip("dartpy", reason="DART is not installed").dynamics


@given(bodies(flat=False))
def test_arguments_construct_our_tensor(dynamics, phi):
    ours = DART.from_phi(phi)
    theirs = dynamics.Inertia(float(ours.mass), ours.com, ours.inertia)
    tensor = theirs.getSpatialTensor()
    assert_close(tensor, TENSOR.from_phi(phi), 1e-14, scale=np.abs(tensor).max())
    assert_same_body(TENSOR.to_phi(tensor), phi, 1e-14)
    read = MassProperties(theirs.getMass(), theirs.getLocalCOM(), theirs.getMoment())
    assert_same_body(DART.to_phi(read), phi, 1e-14)


@given(bodies(flat=False, offset=0.5))
def test_a_tensor_that_is_set_gives_our_arguments(dynamics, phi):
    theirs = dynamics.Inertia(TENSOR.from_phi(phi))
    read = MassProperties(theirs.getMass(), theirs.getLocalCOM(), theirs.getMoment())
    assert_same_body(DART.to_phi(read), phi, 1e-13)


@given(bodies())
def test_the_ten_numbers_are_the_arguments(phi):
    ours, ten = DART.from_phi(phi), find_convention("dart_parameters").from_phi(phi)
    assert ten[0] == ours.mass
    assert np.array_equal(ten[1:4], ours.com)
    assert np.array_equal(ten[4:7], np.diagonal(ours.inertia))
    rows, columns = [0, 0, 1], [1, 2, 2]
    assert_close(ten[7:], ours.inertia[rows, columns], 1e-14, scale=np.abs(ours.inertia).max())
