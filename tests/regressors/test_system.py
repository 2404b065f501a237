from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ProblemError
from identify.regressors import (
    LinearSystem,
    ParameterSpace,
    StackedEquations,
    WrenchEquations,
    stacked_statistics,
    wrench_statistics,
)
from identify.regressors.system import whitener
from tests.close import assert_close
from tests.regressors.rows import (
    SPACE,
    brute,
    padded,
    random_data,
    random_weights,
    residuals_of,
)
from tests.strategies import random_motion, seeds

TWO_SENSORS = (("x", "y"), ("u", "v", "w"))
"""Groups of different channels are of two sensors, each with an offset of its own."""
KINDS = {
    "one group": (("x", "y", "z"),),
    "two groups of one sensor": (("x", "y"), ("x", "y")),
    "two sensors": TWO_SENSORS,
    "two sensors, one of two groups": (("x", "y"), ("u", "v", "w"), ("x", "y")),
}
all_kinds = pytest.mark.parametrize("channels", KINDS.values(), ids=KINDS)
all_offsets = pytest.mark.parametrize("offsets", ["per_log", "shared", "none"])


def system_of(data) -> LinearSystem:
    return LinearSystem.of([(data.statistics, data.equations)])


def assert_as_all_rows(rng, data, empty=()) -> LinearSystem:
    """Solution, cost, offsets and residuals are those of all rows stacked."""
    weights = random_weights(rng, data)
    rows, system = brute(data, weights), system_of(data)
    left = [g for g in range(len(weights)) if g not in empty]
    mine = padded([weights[g] for g in left])
    problem = system.problem(mine)
    solution = rows.solution
    assert_close(np.linalg.solve(problem.A, problem.b), solution[: len(SPACE)], 1e-8)
    assert_close(problem.min_residual, rows.cost(solution), 1e-11)
    assert problem.nuisances == rows.columns.shape[1] - len(SPACE)
    assert problem.names == SPACE.names

    x = rng.normal(size=len(SPACE))
    values = np.concatenate((x, rows.best_offsets(x)))
    assert_close(problem.residual_norm(x), rows.cost(values), 1e-11)
    expected = {key: values[at] for key, at in rows.where.items()}
    zeros = [np.zeros(width) for width in rows.widths]
    by_log = [
        np.concatenate([expected.get((n, s), zero) for s, zero in enumerate(zeros)])
        for n in range(len(data.rows))
    ]
    assert_close(system.offsets(x, mine), by_log, 1e-9, scale=10.0)
    residuals = residuals_of(data, x, expected)
    for g, moment in zip(left, system.residual_moments(x, mine), strict=True):
        r = np.concatenate([residuals[n, g] for n in range(len(data.rows))])
        m = r.shape[1]
        assert_close(moment[:m, :m], r.T @ r, 1e-10)
        assert not moment[m:].any()
    return system


@all_kinds
@all_offsets
@given(seed=seeds(), logs=st.integers(1, 3), alike=st.booleans(), constant=st.booleans())
def test_a_fit_matches_all_rows_stacked(channels, offsets, seed, logs, alike, constant):
    rng = np.random.default_rng(seed)
    kind = {"logs": logs, "channels": channels, "alike": alike, "constant": constant}
    assert_as_all_rows(rng, random_data(rng, offsets, **kind))


@given(seed=seeds())
def test_statistics_of_different_layouts_are_solved_together(seed):
    """A sensor with an offset a log beside one with none, and rows of anybody's regressor."""
    rng = np.random.default_rng(seed)
    first = random_data(rng, "per_log", logs=2)
    second = random_data(rng, "none", logs=1, channels=(("p",),))
    A, b = rng.normal(size=(30, len(SPACE))), rng.normal(size=30)
    stacked = stacked_statistics(A, b)
    system = LinearSystem.of(
        [
            (first.statistics, first.equations),
            (second.statistics, second.equations),
            (stacked, StackedEquations(SPACE)),
        ]
    )
    weights = [*random_weights(rng, first), *random_weights(rng, second), np.array([[2.0]])]
    one, two = brute(first, weights[:2]), brute(second, weights[2:3])
    free = one.columns.shape[1] - len(SPACE)
    others = np.concatenate((two.columns, np.sqrt(2.0) * A))
    columns = np.concatenate((one.columns, np.pad(others, ((0, 0), (0, free)))))
    target = np.concatenate((one.target, two.target, np.sqrt(2.0) * b))
    solution = np.linalg.lstsq(columns, target, rcond=None)[0]
    problem = system.problem(padded(weights))
    x = np.linalg.solve(problem.A, problem.b)
    assert_close(x, solution[: len(SPACE)], 1e-8)
    assert_close(problem.min_residual, np.linalg.norm(columns @ solution - target), 1e-11)
    offsets = system.offsets(x, padded(weights))
    assert offsets.shape == (4, 2)  # of two logs, one log and the rows; padded to the widest
    assert_close(offsets[:2].ravel(), solution[len(SPACE) :], 1e-8)
    assert not offsets[2:].any()


@pytest.mark.parametrize("share", [1.0, 0.25, 0.04])
def test_equations_are_counted_by_effective_samples_and_not_by_rows(share):
    rng = np.random.default_rng(0)
    motion = random_motion(rng, 200)
    logs = [
        wrench_statistics(motion, rng.normal(size=(200, 6)), effective_samples=share * 200)
        for _ in range(2)
    ]
    system = LinearSystem.of([(log, WrenchEquations()) for log in logs])
    expected = 6 * 2 * share * 200
    assert_close(system.equations, expected, 1e-14)
    problem = system.problem(np.tile(np.eye(6), (2, 1, 1)))
    assert_close(problem.equations, expected, 1e-14)
    assert problem.nuisances == 12
    assert_close(problem.degrees_of_freedom, expected - 10 - 12, 1e-14)


def test_groups_are_counted_each_by_its_own_channels_and_effective_samples():
    data = random_data(np.random.default_rng(1), "per_log", channels=TWO_SENSORS)
    by_group = [sum(len(of_log[g]) for of_log in data.rows) for g in range(2)]
    system = system_of(data)
    assert_close(system.equations, 0.4 * (2 * by_group[0] + 3 * by_group[1]), 1e-13)
    assert system.padded.samples.tolist() == by_group


def test_measured_power_is_the_mean_square_of_the_measured_columns():
    data = random_data(np.random.default_rng(2), "per_log", channels=TWO_SENSORS)
    for g, power in enumerate(system_of(data).measured_power()):
        measured = np.concatenate(
            [
                np.tensordot(of_log[g][:, :-1], data.coefficients(n, g)[..., 0], 1)
                for n, of_log in enumerate(data.rows)
            ]
        )
        assert_close(power[: measured.shape[1]], np.mean(measured**2, axis=0), 1e-11)


def with_noise(data, rng: np.random.Generator):
    """Give the data roots of noise, in all columns but the constant; returns its covariances."""
    logs, groups, K, _ = data.statistics.noise.shape
    roots = rng.normal(size=(logs, groups, K, K))
    roots[..., 0] = 0.0
    object.__setattr__(data.statistics, "noise", roots)
    return np.swapaxes(roots, -1, -2) @ roots


@given(seeds())
def test_noise_of_the_columns_enters_the_normal_equations_row_by_row(seed):
    """Σ over rows of E[d[B|B0]ᵀ W d[B|B0]], with d what noise in z does."""
    rng = np.random.default_rng(seed)
    data = random_data(rng, "per_log", channels=TWO_SENSORS)
    covariances = with_noise(data, rng)[..., :-1, :-1]
    weights = random_weights(rng, data)
    p = len(SPACE)
    expected = np.zeros((p + 1, p + 1))
    for n, of_log in enumerate(data.rows):
        for g, rows in enumerate(of_log):
            C = np.roll(data.coefficients(n, g), -1, axis=-1)
            each = np.einsum("kl,kmp,mn,lnq->pq", covariances[n, g], C, weights[g], C)
            expected += len(rows) * each
    found = system_of(data).noise_moment(padded(weights))
    assert_close(found, expected, 1e-11)


@given(seeds())
def test_noise_of_the_columns_makes_residuals_as_the_equations_have_it(seed):
    rng = np.random.default_rng(seed)
    data = random_data(rng, "per_log", channels=TWO_SENSORS)
    covariances = with_noise(data, rng)[..., :-1, :-1]
    x = rng.normal(size=len(SPACE))
    lever = np.concatenate(([1.0], -x))
    for g, found in enumerate(system_of(data).noise_moments(x)):
        m = data.coefficients(0, g).shape[1]
        expected = np.zeros((m, m))
        for n, of_log in enumerate(data.rows):
            to_residual = data.coefficients(n, g) @ lever
            expected += len(of_log[g]) * to_residual.T @ covariances[n, g] @ to_residual
        assert_close(found[:m, :m], expected, 1e-11)


def test_noise_that_meets_noise_scatters_the_scores_as_it_was_worked_out():
    """Monte Carlo: rows of noise alone, all of them independent."""
    rng = np.random.default_rng(3)
    data = random_data(rng, "none", channels=(("x", "y"),), logs=1)
    counts = data.statistics.samples
    object.__setattr__(data.statistics, "effective_samples", 1.0 * counts)
    ((covariance,),) = with_noise(data, rng)
    (weight,) = random_weights(rng, data)
    x, p = rng.normal(size=len(SPACE)), len(SPACE)
    C = data.coefficients(0, 0)
    n, K = int(counts.sum()), len(C)
    noise = rng.multivariate_normal(np.zeros(K), covariance[:K, :K], (3000, n))
    to_residual = C @ np.concatenate(([1.0], -x))
    r = noise @ to_residual
    scores = np.einsum("snkp,ki,sni->sp", np.tensordot(noise, C[..., 1:], 1), weight, r)
    # Of Gaussian noise tr(WΣ_BB WΣ_rr) and tr(W Σ_Br W Σ_Br): what the estimate counts beside H is
    # the second alone, as H has the first already.
    of_r = to_residual.T @ covariance[:K, :K] @ to_residual
    of_B = np.einsum("kmp,kl,lnq->mpnq", C[..., 1:], covariance[:K, :K], C[..., 1:])
    first = n * np.einsum("mpnq,ms,st,tn->pq", of_B, weight, of_r, weight)
    found = system_of(data).noise_scatter(x, weight[None])
    expected = np.cov(scores.T) - first
    scale = np.sqrt(np.outer(np.diag(first), np.diag(first)))
    assert_close(found / scale, expected / scale, 0.15)
    assert np.abs(found / scale).max() > 0.3
    assert found.shape == (p, p)


BANDS = (("x", "y"),) * 5
"""A group that has the constant, and bands that know nothing of it, as a scan makes them."""


@all_offsets
@given(seed=seeds(), empty=st.sampled_from([(), (2,), (1, 4)]))
def test_means_and_bands_are_as_all_rows_with_an_offset_of_their_own(offsets, seed, empty):
    rng = np.random.default_rng(seed)
    data = random_data(rng, offsets, channels=BANDS, means=True, empty=empty)
    left = [g for g in range(len(BANDS)) if g not in empty]
    system = assert_as_all_rows(rng, data, empty)
    assert [group.name for group in system.padded.groups] == [f"group {g}" for g in left]
    assert system.group_index.tolist() == [[0, g] for g in left]


@given(seeds())
def test_information_of_bands_matches_their_rows(seed):
    """BᵀWB, and of the means what no offset takes."""
    rng = np.random.default_rng(seed)
    data = random_data(rng, "per_log", channels=BANDS, means=True, empty=(3,))
    weights = random_weights(rng, data)
    left = [0, 1, 2, 4]
    found = system_of(data).normal_matrices(padded([weights[g] for g in left]))
    for g, information in zip(left, found, strict=True):
        expected = np.zeros((len(SPACE), len(SPACE)))
        for n, of_log in enumerate(data.rows):
            z = of_log[g][:, :-1]
            if g == 0:  # across the constant
                along = z[:, :1] / np.linalg.norm(z[:, 0])
                z = z - along @ (along.T @ z)
            B = np.tensordot(z, data.coefficients(n, g)[..., 1:], 1)
            expected += np.einsum("nmp,mk,nkq->pq", B, weights[g], B)
        assert_close(information[:-1, :-1], expected, 1e-10)


@given(seeds())
def test_whitener_is_a_square_root_of_the_weight(seed):
    B = np.random.default_rng(seed).normal(size=(6, 6))
    weight = B @ B.T + 0.1 * np.eye(6)
    L = whitener(weight)
    assert_close(L.T @ L, weight, 1e-14)


def test_invalid_systems_are_rejected():
    rng = np.random.default_rng(17)
    motion = random_motion(rng, 20)
    one = wrench_statistics(motion, rng.normal(size=(20, 6)))
    with pytest.raises(ProblemError, match="weight of the residuals is not positive definite"):
        LinearSystem.of([(one, WrenchEquations())]).problem(np.diag([1.0, 1, 1, 1, 1, -1])[None])
    with pytest.raises(ProblemError, match="there are no data to fit"):
        LinearSystem.of([])
    with pytest.raises(ProblemError, match="have different parameter spaces"):
        LinearSystem.of(
            [
                (one, WrenchEquations()),
                (one, WrenchEquations(ParameterSpace(("a",)), bodies=(("a",),))),
            ]
        )
    word: Any = "per_day"
    with pytest.raises(ProblemError, match="expected one of per_log, shared, none, got 'per_day'"):
        WrenchEquations(offsets=word)
