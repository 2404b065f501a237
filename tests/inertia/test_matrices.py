"""The ten parameters as matrices: each form against the integrals over a cloud of points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from identify.inertia import (
    PSEUDO_INERTIA_BASIS,
    inertia_about_com,
    inertia_about_origin,
    phi_from_inertia,
    phi_from_pseudo_inertia,
    pseudo_inertia,
    spatial_inertia,
)
from identify.inertia.matrices import six_from_symmetric, symmetric_from_six
from tests.close import assert_close, assert_same_body
from tests.strategies import phi_of_points, seeds, vectors


def cloud(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 3)) + rng.normal(size=3), rng.uniform(0.1, 1.0, 12)


@given(seeds())
def test_pseudo_inertia_is_the_second_moment_of_homogeneous_points(seed):
    points, weights = cloud(seed)
    homogeneous = np.column_stack((points, np.ones(12)))
    Pi = (homogeneous * weights[:, None]).T @ homogeneous
    assert_close(pseudo_inertia(phi_of_points(points, weights)), Pi, 1e-14)


@given(seeds())
def test_inertia_about_com_is_the_integral_about_it(seed):
    points, weights = cloud(seed)
    phi = phi_of_points(points, weights)
    com = weights @ points / weights.sum()
    about_com = phi_of_points(points - com, weights)
    assert_close(inertia_about_com(phi), symmetric_from_six(about_com[4:]), 1e-13)
    assert_same_body(phi_from_inertia(phi[0], com, inertia_about_com(phi)), phi, 1e-14)


@given(vectors(10, 3.0))
def test_phi_to_pseudo_inertia_and_back_for_any_ten_numbers(phi):
    assert_close(phi_from_pseudo_inertia(pseudo_inertia(phi)), phi, 1e-15, scale=10.0)


@given(vectors(16, 3.0))
def test_pseudo_inertia_to_phi_and_back_for_any_symmetric_matrix(entries):
    Pi = entries.reshape(4, 4) + entries.reshape(4, 4).T
    assert_close(pseudo_inertia(phi_from_pseudo_inertia(Pi)), Pi, 1e-15, scale=20.0)


@given(vectors(10, 3.0))
def test_the_basis_is_the_linear_map_to_row_major_entries(phi):
    assert_close((PSEUDO_INERTIA_BASIS @ phi).reshape(4, 4), pseudo_inertia(phi), 1e-15, scale=9.0)


def test_the_basis_has_full_rank_is_symmetric_and_cannot_be_changed():
    assert PSEUDO_INERTIA_BASIS.shape == (16, 10)
    assert np.linalg.matrix_rank(PSEUDO_INERTIA_BASIS) == 10
    for column in PSEUDO_INERTIA_BASIS.T:
        assert_close(column.reshape(4, 4), column.reshape(4, 4).T, 0.0)
    with pytest.raises(ValueError, match="read-only"):
        PSEUDO_INERTIA_BASIS[0, 0] = 1.0


def test_two_point_masses_on_the_x_axis():
    """Half a kilogram at ±1 m: the inertia is diag(0, 1, 1), the second moment diag(1, 0, 0)."""
    phi = phi_of_points(np.array([[1.0, 0, 0], [-1.0, 0, 0]]), np.array([0.5, 0.5]))
    assert_close(phi, [1, 0, 0, 0, 0, 0, 0, 1, 0, 1], 0.0)
    assert_close(pseudo_inertia(phi), np.diag([1.0, 0.0, 0.0, 1.0]), 0.0)


def test_products_of_inertia_are_the_entries_of_the_matrix_with_their_negative_integrals():
    phi = phi_of_points(np.array([[1.0, 2.0, 3.0]]), np.array([1.0]))
    assert_close(phi[4:], [13.0, -2.0, -3.0, 10.0, -6.0, 5.0], 0.0)
    assert_close(symmetric_from_six(phi[4:])[0], [13.0, -2.0, -3.0], 0.0)
    assert_close(symmetric_from_six(phi[4:])[1], [-2.0, 10.0, -6.0], 0.0)


def test_six_entries_of_a_matrix_that_is_not_quite_symmetric_are_those_of_its_symmetric_part():
    matrix = np.arange(9.0).reshape(3, 3)
    assert_close(symmetric_from_six(six_from_symmetric(matrix)), 0.5 * (matrix + matrix.T), 0.0)


def test_everything_takes_batches():
    rng = np.random.default_rng(4)
    points, weights = rng.normal(size=(6, 5, 3)), rng.uniform(0.5, 1.0, (6, 5))
    phi = np.array([phi_of_points(p, m) for p, m in zip(points, weights, strict=True)])
    batch = phi.reshape(2, 3, 10)
    for function in (
        pseudo_inertia,
        spatial_inertia,
        inertia_about_com,
        inertia_about_origin,
        lambda x: phi_from_pseudo_inertia(pseudo_inertia(x)),
        lambda x: phi_from_inertia(x[..., 0], x[..., 1:4] / x[..., :1], inertia_about_com(x)),
    ):
        many = function(batch)
        assert many.shape[:2] == (2, 3)
        for index in np.ndindex(2, 3):
            one = function(batch[index])
            assert_close(many[index], one, 1e-14, scale=np.abs(one).max())
