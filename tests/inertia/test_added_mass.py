import numpy as np
import pytest
from hypothesis import given

from identify.errors import ModelError
from identify.inertia.added_mass import (
    added_mass_about_origin,
    added_mass_in_frame,
    checked_added_mass,
    swap_spatial_order,
)
from identify.spatial import adjoint, coadjoint
from tests.close import assert_close
from tests.strategies import poses, seeds, vectors

STRIPS = np.diag([1.0, 1.0, 0.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]) * 1000.0 * np.pi * 0.1**2 * 2.0
"""Of a cylinder of radius 0.1 m and length l = 2 m by strips: none along it, l²/12 about it."""


def random_added_mass(seed: int) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(6, 8))
    return root @ root.T


@given(seeds(), poses(), vectors(6, 3.0))
def test_energy_and_momentum_match_the_same_motion_in_every_frame(seed, X_AB, V_B):
    A_B = random_added_mass(seed)
    A_A = added_mass_in_frame(A_B, X_AB)
    V_A = adjoint(X_AB) @ V_B
    scale = np.abs(A_B).max() * 300.0
    assert_close(0.5 * V_A @ A_A @ V_A, 0.5 * V_B @ A_B @ V_B, 1e-12, scale=scale)
    assert_close(A_A @ V_A, coadjoint(X_AB) @ (A_B @ V_B), 1e-12, scale=scale)


@given(seeds(), vectors(6))
def test_linear_first_and_angular_first_orders_agree(seed, V):
    A = random_added_mass(seed)
    angular = swap_spatial_order(A)
    assert_close(angular[:3, :3], A[3:, 3:], 0.0)
    assert_close(angular[:3, 3:], A[3:, :3], 0.0)
    assert_close(swap_spatial_order(angular), A, 0.0)
    W = np.concatenate((V[3:], V[:3]))
    assert_close(W @ angular @ W, V @ A @ V, 1e-13, scale=np.abs(A).max() * 6)
    assert_close(checked_added_mass(angular, angular_first=True), checked_added_mass(A), 0.0)
    assert_close(swap_spatial_order(np.stack((A, angular))), np.stack((angular, A)), 0.0)


def test_everything_but_checks_and_recipes_takes_batches():
    rng = np.random.default_rng(1)
    A = np.stack([random_added_mass(seed) for seed in range(4)])
    coms = rng.normal(size=(4, 3))
    moved = added_mass_about_origin(A, coms)
    fan = added_mass_about_origin(A[0], coms)
    for k in range(4):
        assert_close(moved[k], added_mass_about_origin(A[k], coms[k]), 1e-14)
        assert_close(fan[k], added_mass_about_origin(A[0], coms[k]), 1e-14)


def test_a_checked_added_mass_is_a_symmetric_read_only_copy():
    A = random_added_mass(0)
    A[0, 1] *= 1.0 + 1e-11
    checked = checked_added_mass(A)
    assert_close(checked, checked.T, 0.0)
    assert_close(checked, A, 1e-10)
    with pytest.raises(ValueError, match="read-only"):
        checked[0, 0] = 1.0
    assert_close(checked_added_mass(np.zeros((6, 6))), np.zeros((6, 6)), 0.0)
    assert_close(checked_added_mass(STRIPS), STRIPS, 0.0)


def changed(*entries: tuple[int, int, float]) -> np.ndarray:
    A = np.eye(6)
    for i, j, value in entries:
        A[i, j] = value
    return A


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(3), r"added mass: expected shape \(6, 6\), got \(3, 3\)"),
        (changed((2, 2, np.nan)), r"added mass: entry \(2, 2\) is nan"),
        (changed((4, 4, -1.0)), "angular y has -1 on the diagonal; expected zero or more"),
        (
            changed((0, 1, 0.5)),
            "expected a symmetric matrix, got 0.5 and 0 for linear x and linear y",
        ),
        (changed((0, 5, 2.0), (5, 0, 2.0)), r"not positive semidefinite \(smallest eigenvalue -1 "),
        (
            np.diag([1.0, 1, 1, 0, 0, 0]) + changed((0, 5, 0.1), (5, 0, 0.1)) - np.eye(6),
            "couples motions whose diagonal entries are zero",
        ),
    ],
)
def test_invalid_added_mass_is_rejected(matrix, message):
    with pytest.raises(ModelError, match=message):
        checked_added_mass(matrix)
