"""Random effects, their errors and the sizes of their groups, against dense formulas."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from identify.estimation.variance_components import (
    _GAMMA_SHAPE,
    _RELATIVE_SIZES,
    VarianceComponent,
    _EffectEquations,
    _Profile,
    random_effects,
)
from tests.close import assert_close

COUNTS = (4, 5, 3)
FIRST, SECOND, GIVEN = np.split(np.arange(12), (4, 9))
COMPONENTS = (
    VarianceComponent(FIRST, prior_size=0.5, max_size=5.0),
    VarianceComponent(SECOND, prior_size=0.2, max_size=8.0),
    VarianceComponent(GIVEN, size_is_fixed=True),
)
STEP = _RELATIVE_SIZES[1] / _RELATIVE_SIZES[0]


def spread_of(sizes) -> np.ndarray:
    return np.repeat(sizes, COUNTS)


def equations(seed: int, rows: int = 30, sizes=(0.8, 0.1, 1.0), scale: float = 1.0):
    """T and t = T η + N(0, 1) with effects of some sizes, and η."""
    rng = np.random.default_rng(seed)
    T = scale * rng.normal(size=(rows, 12)) * np.exp(rng.normal(size=12))
    eta = spread_of(sizes) * rng.normal(size=12)
    return T, T @ eta + rng.normal(size=rows), eta


def log_density(T: np.ndarray, t: np.ndarray, spread: np.ndarray) -> float:
    """Of t where effects and noise are normal, by its own covariance."""
    return multivariate_normal(np.zeros(len(t)), np.eye(len(t)) + (T * spread**2) @ T.T).logpdf(t)


def log_prior(size: float, component: VarianceComponent) -> float:
    """Of a size's gamma distribution, as a density in log σ, but for a constant."""
    return _GAMMA_SHAPE * np.log(size / component.prior_size) - size / component.prior_size


def log_posterior(T: np.ndarray, t: np.ndarray, sizes) -> float:
    """Of the sizes of `COMPONENTS`, but for a constant."""
    free = zip(sizes[:2], COMPONENTS[:2], strict=True)
    return log_density(T, t, spread_of(sizes)) + sum(log_prior(size, c) for size, c in free)


@pytest.mark.parametrize("seed", range(3))
def test_effects_of_known_sizes_match_the_dense_formula_with_their_covariance(seed):
    rng = np.random.default_rng(seed)
    T, sigma = rng.normal(size=(20, 9)), np.exp(rng.normal(size=9))
    t = rng.normal(size=20)
    found = random_effects(T * sigma, t, [VarianceComponent(np.arange(9), size_is_fixed=True)])
    precision = T.T @ T + np.diag(sigma**-2)
    assert_close(sigma * found.effects, np.linalg.solve(precision, T.T @ t), 1e-12)
    covariance = np.outer(sigma, sigma) * found.covariance
    assert_close(covariance, np.linalg.inv(precision), 1e-12)
    assert_close(found.sizes, [1.0], 0.0)
    assert not found.size_error_covariances.any()
    assert not found.at_cap.any()


@pytest.mark.parametrize("seed", range(3))
def test_effects_of_sizes_that_are_found_match_the_dense_formula_at_these(seed):
    T, t, _ = equations(seed)
    found = random_effects(T, t, COMPONENTS)
    spread = spread_of(found.sizes)
    precision = T.T @ T + np.diag(spread**-2)
    assert_close(found.effects, np.linalg.solve(precision, T.T @ t), 1e-11)
    C = np.linalg.inv(precision)
    assert_close(found.covariance - found.size_error_covariances.sum(axis=0), C, 1e-11)
    assert_close(found.prior_root * spread, C, 1e-11)
    left = t - T @ found.effects
    density = -2.0 * log_posterior(T, t, found.sizes) - len(t) * np.log(2.0 * np.pi)
    assert_close(left @ left + found.laplace_penalty, density)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", [0, 1])
def test_the_cost_of_sizes_is_the_density_of_the_right_side_but_for_a_constant(seed, number):
    T, t, _ = equations(seed)
    sizes = np.array([0.3, 0.7, 1.0])
    data = _EffectEquations(T, t, T.T @ T, T.T @ t)
    profile = _Profile.of(data.posterior(COMPONENTS, sizes), COMPONENTS[number], sizes[number])
    grid = np.where(np.arange(3) == number, profile.sizes[:, None], sizes)
    dense = -2.0 * np.array([log_posterior(T, t, each) for each in grid])
    whole = np.array([data.cost(COMPONENTS, each, (0, 1)) for each in grid])
    for cost in (profile.cost, whole):
        away = cost - dense
        assert_close(away, np.full(len(grid), away[0]), 1e-9, scale=np.ptp(dense))


@pytest.mark.parametrize("seed", range(6))
def test_no_other_size_is_likelier_beside_that_of_the_other_component(seed):
    T, t, _ = equations(seed)
    found = random_effects(T, t, COMPONENTS)
    greatest = log_posterior(T, t, found.sizes)
    others = [
        np.where(np.arange(3) == number, size, found.sizes)
        for number, component in enumerate(COMPONENTS[:2])
        for size in component.max_size * _RELATIVE_SIZES
    ]
    assert max(log_posterior(T, t, each) for each in others) < greatest + 1e-9


@pytest.mark.parametrize("size", [0.03, 0.3])
def test_uninformative_columns_take_size_of_their_component(size):
    rng = np.random.default_rng(5)
    T = np.concatenate((100.0 * rng.normal(size=(60, 40)), np.zeros((60, 3))), axis=1)
    eta = np.append(size * rng.normal(size=40), np.zeros(3))
    t = T @ eta + rng.normal(size=60)
    component = VarianceComponent(np.arange(43), prior_size=0.1, max_size=3.0)
    found = random_effects(T, t, [component])
    assert_close(found.effects[40:], np.zeros(3), 1e-12, scale=size)
    rms = np.sqrt(np.mean(eta[:40] ** 2))
    assert rms / STEP < found.sizes[0] < rms * STEP
    grid = component.max_size * _RELATIVE_SIZES
    posterior = [log_density(T, t, np.full(43, each)) + log_prior(each, component) for each in grid]
    weights = np.exp(posterior - np.max(posterior))
    whole = weights @ grid**2 / weights.sum()
    expected = max(whole, found.sizes[0] ** 2)
    assert_close(found.covariance[40:, 40:], expected * np.eye(3), 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_effects_of_huge_information_are_exact(seed):
    T, t, eta = equations(seed, scale=1e10)
    found = random_effects(T, t, COMPONENTS)
    assert_close(found.effects, eta, 1e-6)
    assert np.linalg.eigvalsh(found.covariance)[0] > 0.0


@pytest.mark.parametrize("seed", range(4))
def test_effects_of_huge_information_have_the_sizes_that_they_show(seed):
    T, t, eta = equations(seed, scale=1e10)
    found = random_effects(T, t, COMPONENTS)
    for number, columns in enumerate((FIRST, SECOND)):
        grid = COMPONENTS[number].max_size * _RELATIVE_SIZES
        cost = len(columns) * np.log(grid) + 0.5 * np.sum(eta[columns] ** 2) / grid**2
        cost -= log_prior(grid, COMPONENTS[number])
        assert found.sizes[number] == grid[np.argmin(cost)]


@pytest.mark.parametrize("seed", range(4))
def test_columns_of_very_different_information_are_solved_together(seed):
    rng = np.random.default_rng(seed)
    T, _, eta = equations(seed)
    T = T * 10.0 ** rng.uniform(-3.0, 10.0, 12)
    t = T @ eta + rng.normal(size=len(T))
    found = random_effects(T, t, COMPONENTS)
    errors = np.sqrt(np.diag(found.covariance))
    assert (errors > 0.0).all()
    assert (np.abs(found.effects - eta) < 5.0 * errors).all()


def test_component_above_its_cap_is_flagged():
    T, t, _ = equations(0, sizes=(40.0, 0.1, 1.0))
    found = random_effects(T, t, COMPONENTS)
    assert found.at_cap.tolist() == [True, False, False]
    assert found.sizes[0] == COMPONENTS[0].max_size
    small = random_effects(*equations(0)[:2], COMPONENTS)
    assert not small.at_cap.any()


def test_intervals_cover_effects_whose_sizes_are_drawn_from_the_prior():
    rng, held = np.random.default_rng(8), []
    for _ in range(200):
        sizes = [1.0, 1.0, 1.0]
        for number, component in enumerate(COMPONENTS[:2]):
            drawn = component.prior_size * rng.gamma(_GAMMA_SHAPE, size=20)
            sizes[number] = drawn[drawn < component.max_size][0]
        T, t, eta = equations(int(rng.integers(1 << 32)), sizes=sizes)
        found = random_effects(T, t, COMPONENTS)
        held.append(np.abs(found.effects - eta) < 1.96 * np.sqrt(np.diag(found.covariance)))
    assert 0.92 < np.mean(held) < 0.985
    for columns in (FIRST, SECOND, GIVEN):
        assert 0.92 < np.mean(np.array(held)[:, columns]) < 0.985


def test_tied_column_takes_size_of_others():
    """Of columns that the data tell apart, each with its own equation."""
    T, t = 10.0 * np.eye(5), np.array([1.0, -2.0, 1.5, -1.0, 500.0])
    alone = random_effects(
        T[:4, :4], t[:4], [VarianceComponent(np.arange(4), prior_size=0.1, max_size=50.0)]
    )
    tied = VarianceComponent(np.arange(4), prior_size=0.1, max_size=50.0, tied=np.array([4]))
    found = random_effects(T, t, [tied])
    assert_close(found.sizes, alone.sizes, 0.0)
    assert_close(found.effects[:4], alone.effects, 1e-12)
    shrunk = 100.0 / (100.0 + found.sizes[0] ** -2)
    assert_close(found.effects[4], shrunk * 50.0, 1e-12)
    free = random_effects(T, t, [VarianceComponent(np.arange(5), prior_size=0.1, max_size=50.0)])
    assert free.sizes[0] > 10.0 * found.sizes[0]


@pytest.mark.parametrize("least", [0.5, 5.0, 100.0])
def test_a_size_is_no_less_than_the_least_and_that_alone_is_no_cap(least):
    T, t = 10.0 * np.eye(4), np.array([0.1, -0.2, 0.1, 0.0])
    found = random_effects(
        T, t, [VarianceComponent(np.arange(4), prior_size=0.1, max_size=10.0, min_size=least)]
    )
    assert min(least, 10.0) <= found.sizes[0] < 2.1 * min(least, 10.0)
    assert not found.at_cap[0]


def test_sizes_found_from_those_of_a_round_before_are_the_same():
    T, t, _ = equations(3)
    found = random_effects(T, t, COMPONENTS)
    again = random_effects(T, t, COMPONENTS, found.sizes)
    assert_close(again.sizes, found.sizes, 0.0)
    assert_close(again.effects, found.effects, 1e-12)
