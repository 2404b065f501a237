import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia import (
    is_consistent,
    phi_from_inertia,
    phi_from_pseudo_inertia,
    pseudo_inertia,
    smallest_pseudo_eigenvalue,
)
from identify.inertia.consistency import BodyKind, body_kinds
from identify.inertia.matrices import second_moment_about_com
from identify.inertia.nearest import nearest_consistent
from tests.close import assert_close, assert_same_body, body_scale
from tests.strategies import bodies, masses, random_body, rotations, seeds

KEEP_AND_FREE = pytest.mark.parametrize("keep", [True, False], ids=["keep", "free"])


def impossible_body(seed: int, mass: float = 2.0, size: float = 0.3) -> np.ndarray:
    """Second moments of either sign about a centre of mass away from the origin."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    values = mass * size**2 * rng.uniform(-0.6, 1.0, 3)
    values[0] = -mass * size**2 * rng.uniform(0.01, 0.5)
    S = (axes * values) @ axes.T
    com = size * rng.normal(size=3)
    return phi_from_inertia(mass, com, np.trace(S) * np.eye(3) - S)


def metric(phi: np.ndarray, nominal: np.ndarray | None) -> np.ndarray:
    """T of ‖T ΔPi Tᵀ‖, by a symmetric root: another root than that of the closed form."""
    if nominal is None:
        spread = np.abs(np.linalg.eigvalsh(second_moment_about_com(phi))).sum()
        return np.diag(np.r_[np.full(3, spread**-0.5), phi[0] ** -0.5])
    values, axes = np.linalg.eigh(pseudo_inertia(nominal))
    return (axes / np.sqrt(values)) @ axes.T


def distance(T: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(T @ (pseudo_inertia(a) - pseudo_inertia(b)) @ T.T))


def by_program(phi: np.ndarray, T: np.ndarray, keep: bool) -> np.ndarray:
    """The nearest body as a semidefinite program, in the metric's own coordinates T Pi Tᵀ."""
    Q = cp.Variable((4, 4), PSD=True)
    root = np.linalg.inv(T)
    constraints = []
    if keep:
        constraints.append((root @ Q @ root.T)[:, 3] == pseudo_inertia(phi)[:, 3])
    given_ = T @ pseudo_inertia(phi) @ T.T
    problem = cp.Problem(cp.Minimize(cp.norm(Q - given_, "fro")), constraints)
    problem.solve(solver="CLARABEL")
    assert problem.status == cp.OPTIMAL
    return phi_from_pseudo_inertia(root @ Q.value @ root.T)


@KEEP_AND_FREE
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("nominal", [False, True], ids=["own size", "nominal"])
def test_the_closed_form_is_the_solution_of_the_program(seed, nominal, keep):
    phi = impossible_body(seed)
    rng = np.random.default_rng(seed + 100)
    body = random_body(rng, mass=1.5, size=0.25) if nominal else None
    found = nearest_consistent(phi, nominal=body, keep_mass_and_com=keep)
    T = metric(phi, body)
    program = by_program(phi, T, keep)
    assert_close(found.distance, distance(T, program, phi), 1e-6)
    assert_close(found.distance, distance(T, found.phi, phi), 1e-12)
    assert_close(found.phi, program, 2e-4, scale=body_scale(phi))
    assert is_consistent(found.phi)
    assert found.changed


@KEEP_AND_FREE
@given(phi=bodies())
def test_consistent_body_is_returned_unchanged(keep, phi):
    """Plates and rods far from the origin too, whose eigenvalues are zero up to rounding."""
    nominal = phi_from_inertia(2.0, np.ones(3), np.diag([3.0, 2.0, 2.0]))
    for reference in (None, nominal):
        found = nearest_consistent(phi, nominal=reference, keep_mass_and_com=keep)
        assert found.phi.tobytes() == phi.tobytes()
        assert found.distance == 0.0
        assert not found.changed


@KEEP_AND_FREE
@given(seed=seeds(), exponent=st.floats(-3.0, 5.0))
def test_projection_is_consistent_and_idempotent(keep, seed, exponent):
    mass = 10.0**exponent
    phi = impossible_body(seed % 1000, mass, size=(mass / 1000.0) ** (1 / 3))
    nominal = random_body(np.random.default_rng(seed), mass)
    for reference in (None, nominal):
        once = nearest_consistent(phi, nominal=reference, keep_mass_and_com=keep)
        assert body_kinds(once.phi) != BodyKind.IMPOSSIBLE
        assert once.changed
        again = nearest_consistent(once.phi, nominal=reference, keep_mass_and_com=keep)
        assert again.phi.tobytes() == once.phi.tobytes()


class TestMargin:
    @given(masses(), rotations(), st.sampled_from([1e-9, 1e-6, 1e-2]))
    def test_margin_raises_plate_moments(self, mass, axes, margin):
        length = (mass / 1000.0) ** (1.0 / 3.0)
        S = mass * length**2 * (axes * [1.0, 0.5, 0.0]) @ axes.T
        com = length * np.array([0.5, 0.2, -0.3])
        phi = phi_from_inertia(mass, com, np.trace(S) * np.eye(3) - S)
        found = nearest_consistent(phi, margin=margin)
        assert_close(
            smallest_pseudo_eigenvalue(found.phi),
            margin / (1.0 + margin),
            1e-3 * margin + 1e-14,
            scale=1.0,
        )
        assert_close(found.distance, margin, 1e-3 * margin + 1e-14, scale=1.0)
        assert found.phi[:4].tolist() == phi[:4].tolist()
        again = nearest_consistent(found.phi, margin=margin * (1.0 - 1e-2))
        assert not again.changed

    @KEEP_AND_FREE
    def test_margin_is_relative_to_nominal_body(self, keep):
        phi, nominal = impossible_body(1), random_body(np.random.default_rng(1), 1.5, 0.3)
        found = nearest_consistent(phi, nominal=nominal, keep_mass_and_com=keep, margin=0.05)
        part = second_moment_about_com if keep else pseudo_inertia
        left = np.linalg.eigvalsh(part(found.phi) - 0.05 * part(nominal))
        assert_close(left[0], 0.0, 1e-12, scale=np.abs(left).max())
        again = nearest_consistent(found.phi, nominal=nominal, keep_mass_and_com=keep, margin=0.05)
        assert again.phi.tobytes() == found.phi.tobytes()

    @pytest.mark.parametrize("margin", [-1e-9, np.nan, np.inf])
    def test_negative_margin_is_rejected(self, margin):
        with pytest.raises(ModelError, match="expected a margin of zero or more"):
            nearest_consistent(random_body(np.random.default_rng(2)), margin=margin)


class TestMass:
    @pytest.mark.parametrize("mass", [0.0, -0.2])
    def test_non_positive_mass_is_rejected(self, mass):
        phi = phi_from_inertia(mass, np.ones(3), np.eye(3))
        with pytest.raises(
            ModelError, match=f"the body has a mass of {mass:g} kg; expected a positive mass"
        ):
            nearest_consistent(phi)
        with pytest.raises(ModelError, match="body 1 has a mass of"):
            nearest_consistent(np.stack((random_body(np.random.default_rng(0)), phi)))

    def test_given_mass_replaces_negative_mass_at_fixed_centre_of_mass(self):
        com = np.array([0.3, -0.1, 0.2])
        good, bad = np.diag([1.0, 2.0, 2.5]), np.diag([1.0, 2.0, 4.0])
        found = nearest_consistent(phi_from_inertia(-2.0, com, good), mass=0.5)
        assert_same_body(found.phi, phi_from_inertia(0.5, com, good), 1e-14)
        assert (found.distance, found.changed) == (0.0, True)
        found = nearest_consistent(phi_from_inertia(-2.0, com, bad), mass=0.5)
        expected = nearest_consistent(phi_from_inertia(0.5, com, bad))
        assert_same_body(found.phi, expected.phi, 1e-14)
        assert_close(found.distance, expected.distance, 1e-13)

    def test_mass_too_small_for_first_moment_is_rejected(self):
        phi = np.r_[1e-310, 0.1, 0, 0, 1.0, 0, 0, 1.0, 0, 1.0]
        with pytest.raises(ModelError, match="a mass too small for its first moment"):
            nearest_consistent(phi)

    def test_positive_masses_are_kept(self):
        body = random_body(np.random.default_rng(0))
        found = nearest_consistent(np.stack((body, np.r_[0.0, body[1:]])), mass=7.0)
        assert found.phi[0].tobytes() == body.tobytes()
        assert found.phi[1, 0] == 7.0
        assert found.changed.tolist() == [False, True]


@pytest.mark.parametrize(
    ("nominal", "message"),
    [
        (phi_from_inertia(1.0, np.ones(3), np.diag([1.0, 1, 2])), r"of kind 'plate' \(the body\)"),
        (
            np.zeros((2, 10)),
            r"expected a solid nominal body, got one of kind 'massless' \(body 0\)",
        ),
        (np.full(10, np.nan), "every entry must be finite"),
    ],
)
def test_invalid_nominal_body_is_rejected(nominal, message):
    with pytest.raises(ModelError, match=message):
        nearest_consistent(random_body(np.random.default_rng(0)), nominal=nominal)


@KEEP_AND_FREE
def test_batches_of_bodies_and_of_nominal_bodies_broadcast(keep):
    rng = np.random.default_rng(9)
    phi = np.array([impossible_body(k) for k in range(3)] + [random_body(rng)])
    nominal = np.array([random_body(rng) for _ in range(2)])[:, None]
    found = nearest_consistent(phi, nominal=nominal, keep_mass_and_com=keep)
    assert found.phi.shape == (2, 4, 10)
    assert found.distance.shape == found.changed.shape == (2, 4)
    assert found.changed.tolist() == [[True, True, True, False]] * 2
    for i, k in np.ndindex(2, 4):
        one = nearest_consistent(phi[k], nominal=nominal[i, 0], keep_mass_and_com=keep)
        assert_same_body(found.phi[i, k], one.phi, 1e-13)
        assert_close(found.distance[i, k], one.distance, 1e-13)
    assert found.phi[1, 3].tobytes() == phi[3].tobytes()
    assert nearest_consistent(phi[:0], keep_mass_and_com=keep).phi.shape == (0, 10)
    with pytest.raises(ValueError, match="read-only"):
        found.phi[0, 0, 0] = 1.0
