"""`InertialParameters`: views of ten numbers, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from identify.errors import ModelError
from identify.inertia import PHI, UNITS, InertialParameters, inertia_about_com
from identify.spatial import Pose, rotation_from_quaternion
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies

ICUB = np.diag([0.02, 0.03, 0.04])


@given(bodies(offset=1.0))
def test_from_com_undoes_the_views(phi):
    body = InertialParameters(phi)
    again = InertialParameters.from_com(body.mass, body.com, body.inertia_about_com)
    assert_same_body(again.phi, phi, 1e-14)


def test_views_say_the_same_of_one_body():
    body = InertialParameters.from_com(2.0, [0.1, -0.2, 0.3], ICUB)
    assert body.mass == 2.0
    assert_close(body.first_moment, [0.2, -0.4, 0.6], 1e-15)
    assert_close(body.com, [0.1, -0.2, 0.3], 1e-15)
    assert_close(body.inertia_about_com, ICUB, 1e-14)
    steiner = 2.0 * (0.14 * np.eye(3) - np.outer([0.1, -0.2, 0.3], [0.1, -0.2, 0.3]))
    assert_close(body.inertia_about_origin, ICUB + steiner, 1e-15)
    assert_close(body.principal_moments, [0.02, 0.03, 0.04], 1e-13)
    assert_close(body.pseudo_inertia[3], [0.2, -0.4, 0.6, 2.0], 1e-15)
    assert_close(body.spatial_inertia[:3, :3], 2.0 * np.eye(3), 0.0)
    assert body.consistent
    assert dict(zip(PHI, body.phi, strict=True))["Ixy"] == body.inertia_about_origin[0, 1]
    assert len(UNITS) == len(PHI) == 10
    assert (UNITS[0], UNITS[1], UNITS[9]) == ("kg", "kg m", "kg m²")


def test_in_frame_is_that_of_the_function():
    body = InertialParameters.from_com(2.0, [0.1, -0.2, 0.3], ICUB)
    R = rotation_from_quaternion(np.array([0.1, 0.2, 0.3, 0.9]))
    moved = body.in_frame(Pose(R, np.array([1.0, 2.0, 3.0])))
    assert_close(moved.com, R @ body.com + [1.0, 2.0, 3.0], 1e-14)
    assert_close(moved.inertia_about_com, R @ ICUB @ R.T, 1e-12)


def test_ten_numbers_that_are_no_body_are_admitted_and_said_to_be_none():
    assert not InertialParameters(np.arange(10.0)).consistent
    assert not InertialParameters(-np.ones(10)).consistent


def test_the_parameters_are_a_read_only_copy():
    phi = np.array([1.0, 0, 0, 0, 1, 0, 0, 1, 0, 1])
    body = InertialParameters(phi)
    phi[0] = 5.0
    assert body.mass == 1.0
    with pytest.raises(ValueError, match="read-only"):
        body.phi[0] = 2.0
    with pytest.raises(AttributeError):
        body.phi = phi  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (np.ones(9), r"phi: expected shape \(10\), got \(9,\)"),
        (
            np.r_[np.ones(4), np.nan, np.ones(5)],
            r"phi: entry \(4,\) is nan; every entry must be fin",
        ),
        (np.r_[np.ones(9), np.inf], r"phi: entry \(9,\) is inf"),
        (["one"] * 10, r"phi: expected numbers of shape \(10\)"),
        ([1.0] * 9 + [[1.0]], r"phi: expected numbers of shape \(10\)"),
        (None, r"phi: expected shape \(10\), got \(\)"),
    ],
)
def test_what_is_not_ten_finite_numbers_is_refused(phi, message):
    with pytest.raises(ModelError, match=message):
        InertialParameters(phi)


@pytest.mark.parametrize(
    ("mass", "com", "inertia", "message"),
    [
        (1.0, [0, 0], ICUB, r"com: expected shape \(3\), got \(2,\)"),
        (1.0, [0, 0, np.nan], ICUB, r"com: entry \(2,\) is nan"),
        (1.0, [0, 0, 0], np.eye(2), r"inertia_about_com: expected shape \(3, 3\), got \(2, 2\)"),
        (1.0, [0, 0, 0], [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "expected a symmetric matrix"),
        (np.nan, [0, 0, 0], ICUB, r"phi: entry \(0,\) is nan"),
        (np.inf, [0, 0, 0], ICUB, "must be finite"),
    ],
)
def test_from_com_refuses_what_is_no_inertia(mass, com, inertia, message):
    with pytest.raises(ModelError, match=message):
        InertialParameters.from_com(mass, com, inertia)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_asymmetry_is_judged_by_the_inertias_own_size(scale):
    skewed = scale * (np.eye(3) + np.array([[0, 1e-6, 0], [0, 0, 0], [0, 0, 0]]))
    with pytest.raises(ModelError, match="expected a symmetric matrix"):
        InertialParameters.from_com(1.0, [0, 0, 0], skewed)
    rounded = scale * (np.eye(3) + np.array([[0, 1e-12, 0], [0, 0, 0], [0, 0, 0]]))
    InertialParameters.from_com(1.0, [0, 0, 0], rounded)


def test_a_body_without_mass_has_no_centre_and_says_so():
    body = InertialParameters(np.zeros(10))
    with pytest.raises(ModelError, match="a body without mass has no centre of mass"):
        _ = body.com
    with pytest.raises(ModelError, match="without mass has no inertia about the centre of mass"):
        _ = body.inertia_about_com
    with pytest.raises(ModelError, match="without mass"):
        _ = body.principal_moments


def test_principal_moments_of_a_small_body_keep_their_digits():
    body = InertialParameters.from_com(1e-3, [0, 0, 0], 1e-9 * ICUB)
    assert_close(body.principal_moments, 1e-9 * np.diag(ICUB), 1e-14)
    assert_close(inertia_about_com(body.phi), 1e-9 * ICUB, 1e-15)
