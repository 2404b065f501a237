"""Which ten numbers are a body: at every scale, and at the edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import (
    BodyKind,
    InertialParameters,
    body_kinds,
    check,
    default_body,
    inertia_about_com,
    is_consistent,
    phi_from_inertia,
    pseudo_inertia,
    smallest_pseudo_eigenvalue,
)
from identify.inertia.parameters import DEFAULT_DENSITY, default_radius
from tests.close import assert_close
from tests.strategies import bodies, masses, vectors


def ball(mass: float, com: np.ndarray, radius: float) -> np.ndarray:
    return phi_from_inertia(mass, com, 0.4 * mass * radius**2 * np.eye(3))


@given(masses(), vectors(3, 2.0), st.floats(-3.0, 1.0))
def test_a_ball_of_any_mass_size_and_place_has_one_third(mass, com, exponent):
    radius = 10.0**exponent
    phi = ball(mass, com * radius, radius)
    assert_close(smallest_pseudo_eigenvalue(phi), 1.0 / 3.0, 1e-13)


@given(bodies())
def test_every_body_of_a_density_is_consistent_from_a_gram_to_a_hundred_tonnes(phi):
    value = smallest_pseudo_eigenvalue(phi)
    assert -1e-13 <= value <= 1.0 / 3.0 + 1e-13
    assert is_consistent(phi)


@given(bodies(flat=True))
def test_plates_and_rods_stand_at_the_edge(phi):
    assert_close(smallest_pseudo_eigenvalue(phi), 0.0, 1e-13, scale=1.0)


@given(bodies(flat=True, offset=0.5), st.floats(1e-10, 1e-2))
def test_beyond_the_edge_is_noticed_at_every_scale(phi, share):
    """The thin direction of a plate or rod given a negative second moment."""
    Pi = pseudo_inertia(phi)
    com = phi[1:4] / phi[0]
    Sc = Pi[:3, :3] - phi[0] * np.outer(com, com)
    values, axes = np.linalg.eigh(Sc)
    values[0] = -share * values[2]
    worse = (axes * values) @ axes.T
    broken = phi_from_inertia(phi[0], com, np.trace(worse) * np.eye(3) - worse)
    assert not is_consistent(broken)
    assert is_consistent(broken, tolerance=1.01 * share)


@given(bodies(), st.floats(-3.0, 3.0), st.floats(-6.0, 6.0))
def test_the_measure_does_not_depend_on_units(phi, length, mass):
    """In grams and millimetres the same body gets the same number."""
    units = 10.0**mass * np.repeat(10.0 ** (length * np.arange(3)), [1, 3, 6])
    assert_close(
        smallest_pseudo_eigenvalue(units * phi), smallest_pseudo_eigenvalue(phi), 1e-13, scale=1.0
    )


@given(bodies(flat=False), st.floats(-0.2, 0.2))
def test_the_measure_is_the_smallest_eigenvalue_of_the_pseudo_inertia_in_its_own_units(phi, less):
    """Pi about the centre of mass, over the mass, with tr|S_c| / m for the unit of area."""
    Ic = inertia_about_com(phi)
    values, axes = np.linalg.eigh(0.5 * np.trace(Ic) * np.eye(3) - Ic)
    values[0] += less * values[2]
    S = (axes * values) @ axes.T
    body = phi_from_inertia(phi[0], phi[1:4] / phi[0], np.trace(S) * np.eye(3) - S)
    T = np.diag([*np.full(3, np.sqrt(phi[0] / np.abs(values).sum())), 1.0])
    T[:3, 3] = -T[0, 0] * phi[1:4] / phi[0]
    expected = np.linalg.eigvalsh(T @ pseudo_inertia(body) @ T.T / phi[0])[0]
    assert_close(smallest_pseudo_eigenvalue(body), expected, 1e-10, scale=1.0)


@pytest.mark.parametrize("mass", [0.0, -1.0, -1e-300])
def test_without_positive_mass_nothing_is_consistent(mass):
    phi = np.array([mass, 0, 0, 0, 1.0, 0, 0, 1.0, 0, 1.0])
    assert smallest_pseudo_eigenvalue(phi) == -np.inf
    assert not is_consistent(phi)


def test_batches_mix_possible_and_impossible_bodies():
    good = ball(1.0, np.array([0.1, 0.0, 0.0]), 0.2)
    bad = np.array([1.0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0])
    massless = np.concatenate(([0.0], good[1:]))
    phi = np.array([[good, bad], [massless, 2.0 * good]])
    assert is_consistent(phi).tolist() == [[True, False], [False, True]]


@given(
    bodies(flat=True, offset=1.0), st.sampled_from([0.0, 3e-13, -3e-13, 1e-9, -1e-9, 1e-3, -1e-3])
)
def test_one_definition_holds_near_the_edge(phi, share):
    """Of plates, rods, and bodies a little inside and outside, in batches and one by one."""
    Ic = inertia_about_com(phi)
    body = phi + share * np.trace(Ic) * np.array([0, 0, 0, 0, 2.0, 0, 0, 2.0, 0, 2.0])
    verdict = check(body)
    assert is_consistent(body) == (not verdict.impossible)
    assert is_consistent(body) == (body_kinds(body) != BodyKind.IMPOSSIBLE)
    assert is_consistent(body) == InertialParameters(body).consistent
    if abs(share) > 1e-10:
        assert is_consistent(body) == (share > 0.0)
    if share == 0.0:
        assert is_consistent(body)


def test_exact_plates_rods_and_points_are_bodies_by_every_definition():
    """Half of them have a smallest eigenvalue that rounding put below zero."""
    rng = np.random.default_rng(10)
    spreads = np.concatenate((rng.uniform(0.1, 1.0, (200, 2)), np.zeros((200, 1))), axis=1)
    spreads[100:150, 1] = 0.0
    spreads[150:] = 0.0
    axes = np.linalg.qr(rng.normal(size=(200, 3, 3)))[0]
    S = (axes * spreads[:, None, :]) @ np.swapaxes(axes, 1, 2)
    inertia = np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S
    phi = phi_from_inertia(rng.uniform(0.1, 5.0, 200), rng.normal(size=(200, 3)), inertia)
    assert is_consistent(phi).all()
    assert (smallest_pseudo_eigenvalue(phi[:150]) < 0.0).sum() > 30
    verdicts = [check(body) for body in phi]
    assert not any(verdict.impossible for verdict in verdicts)
    kinds = ["plate"] * 100 + ["rod"] * 50 + ["point"] * 50
    assert [str(verdict.kind) for verdict in verdicts] == body_kinds(phi).tolist() == kinds


def test_ten_zeros_are_no_body_and_a_number_that_is_none_is_refused():
    assert not is_consistent(np.zeros(10))
    assert body_kinds(np.zeros(10)) == BodyKind.MASSLESS
    for judge in (is_consistent, smallest_pseudo_eigenvalue):
        with pytest.raises(ModelError, match=r"phi: entry \(2,\) is nan"):
            judge(np.array([1.0, 0.0, np.nan, 0, 1, 0, 0, 1, 0, 1]))


@given(masses(), vectors())
def test_the_default_body_is_a_ball_of_water_about_the_centre_of_mass(mass, com):
    phi = default_body(mass, com)
    radius = default_radius(mass)
    assert_close(4.0 / 3.0 * np.pi * radius**3 * DEFAULT_DENSITY, mass, 1e-14)
    assert_close(phi[:4], [mass, *(mass * com)], 1e-15)
    expected = ball(mass, com, radius)
    assert_close(phi, expected, 1e-15)
