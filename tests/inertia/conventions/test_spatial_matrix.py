"""The 6×6 matrix in both orders: momentum, energy, and what is no rigid body's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import spatial_inertia, swap_spatial_order
from identify.inertia.conventions import (
    find_convention,
    phi_from_spatial_matrix,
    spatial_matrix,
)
from tests.close import assert_close
from tests.strategies import bodies, phi_of_points, seeds

featherstone = find_convention("featherstone")
orders = st.sampled_from(["linear first", "angular first"])


@given(seeds())
def test_momentum_of_points_is_the_matrix_times_the_twist(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(6, 3)), rng.uniform(0.1, 1.0, 6)
    v, w = rng.normal(size=3), rng.normal(size=3)
    velocities = v + np.cross(w, points)
    p = weights @ velocities
    L = weights @ np.cross(points, velocities)
    phi = phi_of_points(points, weights)
    linear = spatial_matrix(phi, "linear first") @ np.concatenate((v, w))
    angular = featherstone.from_phi(phi) @ np.concatenate((w, v))
    assert_close(linear, np.concatenate((p, L)), 1e-13)
    assert_close(angular, np.concatenate((L, p)), 1e-13)


@given(bodies(), orders)
def test_matrix_holds_the_ten_numbers_bit_for_bit(phi, order):
    matrix = spatial_matrix(phi, order)
    assert np.array_equal(phi_from_spatial_matrix(matrix, order), phi)
    other = {"linear first": "angular first", "angular first": "linear first"}[order]
    assert np.array_equal(swap_spatial_order(matrix), spatial_matrix(phi, other))


@given(bodies(), st.sampled_from([(0, 0), (0, 1), (0, 3), (2, 4), (4, 1)]), orders)
def test_what_is_no_rigid_body_is_refused(phi, entry, order):
    matrix = np.array(spatial_inertia(phi))
    unit = np.repeat([np.sqrt(phi[0]), np.sqrt(phi[[4, 7, 9]].max())], 3)
    matrix[entry] += 1e-6 * unit[entry[0]] * unit[entry[1]]
    if order == "angular first":
        matrix = swap_spatial_order(matrix)
    with pytest.raises(ModelError, match="fluid added mass cannot be said with ten parameters"):
        phi_from_spatial_matrix(matrix, order)


def test_a_matrix_of_printed_digits_is_read():
    phi = np.array([1.0 / 3.0, 0.1, -0.2, 0.3, 2.0 / 7.0, 0.01, 0.02, 0.3, -0.03, 0.4])
    printed = np.array([[float(f"{x:.12g}") for x in row] for row in featherstone.from_phi(phi)])
    assert_close(phi_from_spatial_matrix(printed, "angular first"), phi, 1e-11)


def test_an_order_must_be_one_of_two():
    with pytest.raises(ModelError, match="expected 'linear first' or 'angular first', got 'drake'"):
        spatial_matrix(np.ones(10), "drake")
    with pytest.raises(ModelError, match=r"spatial inertia: expected shape \(6, 6\), got \(3, 3\)"):
        phi_from_spatial_matrix(np.eye(3), "linear first")
