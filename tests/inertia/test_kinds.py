"""Solids, plates, rods, points and frames told apart, at every size and far from the origin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.inertia import phi_from_inertia, smallest_pseudo_eigenvalue
from identify.inertia.consistency import BodyKind, body_kinds, central_spectrum, which_body
from identify.inertia.matrices import inertia_from_second_moment
from identify.spatial import rotation_from_quaternion
from tests.close import assert_close
from tests.strategies import bodies, masses, rotations, vectors

KINDS = {
    BodyKind.SOLID: (1.0, 0.3, 0.1),
    BodyKind.PLATE: (1.0, 0.3, 0.0),
    BodyKind.ROD: (1.0, 0.0, 0.0),
    BodyKind.IMPOSSIBLE: (1.0, 0.3, -0.1),
}


def body_of(mass: float, com: np.ndarray, spread: object, axes: np.ndarray) -> np.ndarray:
    """Ten parameters of given second moments about the centre of mass."""
    S = mass * (axes * np.asarray(spread)) @ axes.T
    return phi_from_inertia(mass, com, inertia_from_second_moment(S))


@pytest.mark.parametrize("kind", KINDS)
@given(mass=masses(), axes=rotations(), direction=vectors(), size=st.floats(-4.0, 3.0))
def test_each_kind_is_known_at_every_size(kind, mass, axes, direction, size):
    length = 10.0**size
    phi = body_of(mass, 3.0 * length * direction, np.multiply(KINDS[kind], length**2), axes)
    assert body_kinds(phi) == kind


@pytest.mark.parametrize("distance", [1e2, 1e3, 1e5])
@pytest.mark.parametrize("kind", [BodyKind.PLATE, BodyKind.ROD])
def test_exact_plates_and_rods_far_from_the_origin_are_what_they_are(kind, distance):
    rng = np.random.default_rng(int(distance))
    for axes in rotation_from_quaternion(rng.normal(size=(50, 4))):
        com = rng.normal(size=3)
        com *= distance / np.linalg.norm(com)
        assert body_kinds(body_of(2.0, com, KINDS[kind], axes)) == kind


def test_a_body_whose_size_drowns_in_the_rounding_of_its_place_is_a_point():
    near, far = (body_of(1.0, np.array([x, 0, 0]), np.full(3, 1e-6), np.eye(3)) for x in (1, 1e6))
    assert body_kinds(near) == BodyKind.SOLID
    assert body_kinds(far) == BodyKind.POINT


@given(bodies(flat=True, offset=1.0), st.floats(3e-12, 1e-2))
def test_a_violation_above_the_tolerance_is_impossible(phi, share):
    spread = central_spectrum(phi)[0].sum()
    less = inertia_from_second_moment(-share * spread * np.eye(3))
    broken = phi + np.concatenate((np.zeros(4), less[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]))
    # All three second moments fall, so the sum of their magnitudes changes a little.
    assert_close(smallest_pseudo_eigenvalue(broken), -share, 0.05, scale=share)
    assert body_kinds(broken) == BodyKind.IMPOSSIBLE
    assert body_kinds(broken, tolerance=1.1 * share) != BodyKind.IMPOSSIBLE


def test_kinds_take_batches():
    solid = body_of(1.0, np.ones(3), (1.0, 0.5, 0.2), np.eye(3))
    rod = body_of(1.0, np.ones(3), (1.0, 0.0, 0.0), np.eye(3))
    bad = np.r_[1.0, 0, 0, 0, 1.0, np.zeros(5)]
    negative = np.r_[-1.0, solid[1:]]
    inertia_only = np.r_[0.0, solid[1:]]
    grid = np.array([[solid, rod, bad], [np.zeros(10), negative, inertia_only]])
    assert body_kinds(grid).tolist() == [
        ["solid", "rod", "impossible"],
        ["massless", "impossible", "impossible"],
    ]
    values, limit = central_spectrum(grid)
    assert values.shape == (2, 3, 3)
    assert np.isneginf(values[1]).all()
    assert_close(values[0, 0], [0.2, 0.5, 1.0], 1e-14)
    assert (limit[0] > 0.0).all()
    assert body_kinds(grid[:, :0]).shape == (2, 0)


@pytest.mark.parametrize("mass", [5e-324, 1e-310, 1e-200])
def test_a_mass_too_small_for_its_first_moment_is_impossible_and_overflows_nothing(mass):
    assert body_kinds(np.r_[mass, 0.1, 0, 0, 1.0, 0, 0, 1.0, 0, 1.0]) == BodyKind.IMPOSSIBLE


def test_bodies_of_a_batch_are_named_by_their_index():
    assert [which_body(i) for i in ((), (3,), np.array([1, 2]))] == [
        "the body",
        "body 3",
        "body (1, 2)",
    ]
