import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import (
    check_consistency,
    default_body,
    is_consistent,
    phi_from_inertia,
    pseudo_inertia,
    smallest_pseudo_eigenvalue,
)
from identify.inertia.consistency import BodyKind, body_kinds, central_spectrum
from identify.inertia.matrices import inertia_from_second_moment
from identify.inertia.parameters import DEFAULT_DENSITY, default_radius
from tests.close import assert_close
from tests.strategies import bodies, masses, rotations, vectors


def ball(mass: float, com: np.ndarray, radius: float) -> np.ndarray:
    return phi_from_inertia(mass, com, 0.4 * mass * radius**2 * np.eye(3))


@given(masses(), vectors(3, 2.0), st.floats(-3.0, 1.0))
def test_smallest_pseudo_eigenvalue_of_ball_is_one_third(mass, com, exponent):
    radius = 10.0**exponent
    phi = ball(mass, com * radius, radius)
    assert_close(smallest_pseudo_eigenvalue(phi), 1.0 / 3.0, 1e-13)


@given(bodies())
def test_every_body_of_a_density_is_consistent_from_a_gram_to_a_hundred_tonnes(phi):
    value = smallest_pseudo_eigenvalue(phi)
    assert -1e-13 <= value <= 1.0 / 3.0 + 1e-13
    assert is_consistent(phi)


@given(bodies(flat=True, offset=0.5), st.floats(1e-10, 1e-2))
def test_inconsistency_is_detected_at_every_scale(phi, share):
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
    verdicts = [check_consistency(body) for body in phi]
    assert not any(verdict.impossible for verdict in verdicts)
    kinds = ["plate"] * 100 + ["rod"] * 50 + ["point"] * 50
    assert [str(verdict.kind) for verdict in verdicts] == body_kinds(phi).tolist() == kinds


def test_zero_parameters_are_massless_and_nan_is_rejected():
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
def test_body_kinds_are_recognised_at_every_scale(kind, mass, axes, direction, size):
    length = 10.0**size
    phi = body_of(mass, 3.0 * length * direction, np.multiply(KINDS[kind], length**2), axes)
    assert body_kinds(phi) == kind


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
