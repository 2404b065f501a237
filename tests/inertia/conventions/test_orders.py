from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import inertia_about_origin, spatial_inertia, swap_spatial_order
from identify.inertia.conventions import (
    ENTRY_ORDERS,
    Convention,
    MassProperties,
    entries_in_order,
    find_convention,
    matrix_from_entries,
    phi_from_spatial_matrix,
    spatial_matrix,
)
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, phi_of_points, seeds

six_orders = st.sampled_from(sorted(ENTRY_ORDERS))
products = st.sampled_from(["negative", "positive"])


def cloud(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(7, 3)) + 0.4, rng.uniform(0.2, 1.0, 7)


def integral(entry: str, points: np.ndarray, weights: np.ndarray, sign: float) -> float:
    """A moment or product of inertia of points: ∫ (r² − i²) dm, ±∫ i j dm."""
    i, j = ("xyz".index(axis) for axis in entry)
    if i == j:
        return float(weights @ (np.sum(points**2, axis=1) - points[:, i] ** 2))
    return float(sign * (weights @ (points[:, i] * points[:, j])))


@given(seeds(), six_orders, products)
def test_orders_of_six_are_the_integrals_they_name(seed, order, sign):
    points, weights = cloud(seed)
    inertia = inertia_about_origin(phi_of_points(points, weights))
    factor = {"negative": -1.0, "positive": 1.0}[sign]
    expected = [integral(entry, points, weights, factor) for entry in ENTRY_ORDERS[order]]
    six = entries_in_order(inertia, order, sign)
    assert_close(six, expected, 1e-14)
    assert np.array_equal(matrix_from_entries(six, order, sign), inertia)


@given(seeds(), six_orders)
def test_orders_of_ten_are_the_integrals_they_name(seed, order):
    points, weights = cloud(seed)
    moments = {"m": weights.sum(), **dict(zip(("hx", "hy", "hz"), weights @ points, strict=True))}
    six = [integral(entry, points, weights, -1.0) for entry in ENTRY_ORDERS[order]]
    expected = [*moments.values(), *six]
    phi = phi_of_points(points, weights)
    convention = Convention("ten", "ten", "origin", order)
    ten = convention.from_phi(phi)
    assert_close(ten, expected, 1e-14)
    assert np.array_equal(convention.to_phi(ten), phi)


@given(seeds(), products, st.sampled_from(["centre of mass", "origin"]))
def test_cad_properties_are_the_integrals_with_their_sign(seed, sign, point):
    points, weights = cloud(seed)
    phi = phi_of_points(points, weights)
    convention = replace(find_convention("cad"), products=sign, point=point)
    cad = convention.from_phi(phi)
    com = weights @ points / weights.sum()
    about = points - com if point == "centre of mass" else points
    factor = {"negative": -1.0, "positive": 1.0}[sign]
    expected = [[integral(i + j, about, weights, factor) for j in "xyz"] for i in "xyz"]
    assert_close(cad.com, com, 1e-14)
    assert_close(cad.inertia, expected, 1e-13)
    assert_same_body(convention.to_phi(cad), phi, 1e-14)


def test_unknown_order_names_are_rejected():
    with pytest.raises(ModelError, match=r"no order of six 'voight'.*did you mean 'voigt'"):
        entries_in_order(np.eye(3), "voight")
    with pytest.raises(ModelError, match=r"no order of six 'wensig'.*did you mean 'wensing'"):
        Convention("ten", "ten", "origin", "wensig").from_phi(np.ones(10))
    with pytest.raises(ModelError, match="products: expected 'negative' or 'positive', got 'plus'"):
        matrix_from_entries(np.ones(6), "voigt", "plus")
    with pytest.raises(ModelError, match=r"point: expected one of .*'centre of mass'.* got 'com'"):
        replace(find_convention("cad"), point="com")


def test_properties_require_equal_batch_shape_and_symmetry():
    cad = find_convention("cad")
    askew = np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(ModelError, match=r"cad.inertia: expected a symmetric matrix.* 1\.0e-01"):
        cad.to_phi(MassProperties(np.array(1.0), np.zeros(3), askew))
    with pytest.raises(ModelError, match="cad: expected one batch shape for all fields, got"):
        cad.to_phi(MassProperties(np.array(1.0), np.zeros((2, 3)), np.eye(3)))


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
def test_spatial_matrix_of_no_rigid_body_is_rejected(phi, entry, order):
    matrix = np.array(spatial_inertia(phi))
    unit = np.repeat([np.sqrt(phi[0]), np.sqrt(phi[[4, 7, 9]].max())], 3)
    matrix[entry] += 1e-6 * unit[entry[0]] * unit[entry[1]]
    if order == "angular first":
        matrix = swap_spatial_order(matrix)
    with pytest.raises(ModelError, match="fluid added mass cannot be expressed by ten parameters"):
        phi_from_spatial_matrix(matrix, order)


def test_unknown_spatial_order_is_rejected():
    with pytest.raises(ModelError, match="expected 'linear first' or 'angular first', got 'drake'"):
        spatial_matrix(np.ones(10), "drake")
    with pytest.raises(ModelError, match=r"spatial inertia: expected shape \(..., 6, 6\)"):
        phi_from_spatial_matrix(np.eye(3), "linear first")
