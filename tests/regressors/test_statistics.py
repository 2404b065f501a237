"""One-pass statistics against all rows stacked: any weight, bias, number of logs and frame."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from identify.errors import ModelError, ProblemError
from identify.inertia import in_frame
from identify.regressors import (
    WrenchStatistics,
    merge_logs,
    newton_euler_regressor,
    newton_euler_wrench,
)
from identify.regressors.statistics import (
    WIDTH,
    factor_of_rows,
    frame_change,
    residual_rows,
    triangle,
    whitener,
)
from identify.spatial import BodyMotion, Pose, coadjoint
from tests.close import assert_close
from tests.strategies import poses, random_body, random_motion, seeds

BIASES = ["per_log", "shared", "none"]


@dataclass
class Samples:
    motion: BodyMotion
    wrench: np.ndarray

    def part(self, rows) -> Samples:
        m = self.motion
        return Samples(
            BodyMotion(
                m.proper_acceleration[rows], m.angular_velocity[rows], m.angular_acceleration[rows]
            ),
            self.wrench[rows],
        )

    @property
    def statistics(self) -> WrenchStatistics:
        return WrenchStatistics.from_samples(self.motion, self.wrench)

    @property
    def rows(self) -> np.ndarray:
        ones = np.ones((len(self.wrench), 1))
        return np.concatenate((ones, self.motion.features, self.wrench), axis=1)


def samples(rng: np.random.Generator, count: int, bias: np.ndarray | None = None) -> Samples:
    """Samples that no body explains exactly."""
    motion = random_motion(rng, count)
    wrench = newton_euler_wrench(random_body(rng), motion) + rng.normal(0.0, 0.5, (count, 6))
    return Samples(motion, wrench + (rng.normal(0, 3, 6) if bias is None else bias))


def stacked(logs: list[Samples], bias: str, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All weighted rows [Y | bias columns] and wrenches of several logs, nothing eliminated."""
    L = np.linalg.cholesky(weight).T
    blocks, targets = [], []
    for k, log in enumerate(logs):
        Y = newton_euler_regressor(log.motion)
        columns = {"per_log": 6 * len(logs), "shared": 6, "none": 0}[bias]
        shift = np.zeros((len(Y), 6, columns))
        if bias != "none":
            at = 6 * k if bias == "per_log" else 0
            shift[:, :, at : at + 6] = np.eye(6)
        blocks.append((L @ np.concatenate((Y, shift), axis=-1)).reshape(-1, 10 + columns))
        targets.append((log.wrench @ L.T).ravel())
    return np.concatenate(blocks), np.concatenate(targets)


def random_weight(rng: np.random.Generator) -> np.ndarray:
    B = rng.normal(size=(6, 6))
    return B @ B.T + 0.1 * np.eye(6)


@pytest.mark.parametrize("bias", BIASES)
@given(seed=seeds(), logs=st.integers(1, 3))
def test_problem_has_the_solution_and_cost_of_all_rows_stacked(bias, seed, logs):
    rng = np.random.default_rng(seed)
    data = [samples(rng, int(rng.integers(25, 80))) for _ in range(logs)]
    weight = random_weight(rng)
    A, b = stacked(data, bias, weight)
    solution = np.linalg.lstsq(A, b, rcond=None)[0]
    cost = np.linalg.norm(A @ solution - b)
    problem = merge_logs([log.statistics for log in data]).problem(weight, bias)
    phi = np.linalg.solve(problem.A, problem.b)
    assert_close(phi, solution[:10], 1e-9)
    assert_close(problem.floor, cost, 1e-12)
    assert_close(problem.residual_norm(phi), cost, 1e-12)
    assert problem.nuisances == A.shape[1] - 10
    assert problem.equations == len(A)


@pytest.mark.parametrize("bias", BIASES)
@given(seed=seeds())
def test_cost_at_any_body_is_that_of_the_rows_with_the_best_bias(bias, seed):
    rng = np.random.default_rng(seed)
    data = [samples(rng, 40), samples(rng, 60)]
    weight = random_weight(rng)
    phi = random_body(rng, mass=3.0)
    A, b = stacked(data, bias, weight)
    rest = b - A[:, :10] @ phi
    biases = np.linalg.lstsq(A[:, 10:], rest, rcond=None)[0]
    cost = np.linalg.norm(rest - A[:, 10:] @ biases)
    statistics = merge_logs([log.statistics for log in data])
    assert_close(statistics.problem(weight, bias).residual_norm(phi), cost, 1e-12)
    expected = {"per_log": biases, "shared": np.tile(biases, 2), "none": np.zeros(12)}[bias]
    assert_close(statistics.biases(phi, bias), expected.reshape(2, 6), 1e-11, scale=10.0)
    moment = statistics.residual_moment(phi, bias)
    residual = np.concatenate(
        [
            log.wrench - newton_euler_regressor(log.motion) @ phi - offset
            for log, offset in zip(data, expected.reshape(2, 6), strict=True)
        ]
    )
    assert_close(moment, residual.T @ residual, 1e-12)
    assert_close(np.trace(weight @ moment), cost**2, 1e-12)


@given(seeds())
def test_no_weight_is_the_identity(seed):
    statistics = samples(np.random.default_rng(seed), 50).statistics
    plain, weighted = statistics.problem(), statistics.problem(np.eye(6))
    assert_close(np.abs(plain.A), np.abs(weighted.A), 1e-13)
    assert_close(plain.floor, weighted.floor, 1e-13)


@given(seeds(), st.lists(st.integers(1, 299), max_size=6, unique=True))
def test_chunks_add_up_to_the_whole_whatever_their_sizes_and_order(seed, cuts):
    rng = np.random.default_rng(seed)
    whole = samples(rng, 300)
    edges = [0, *sorted(cuts), 300]
    chunks = [whole.part(slice(a, b)).statistics for a, b in pairwise(edges)]
    rng.shuffle(chunks)
    total = chunks[0]
    for chunk in chunks[1:]:
        total = total + chunk
    expected = whole.statistics
    assert total.samples.tolist() == [300]
    assert_close(total.factor.T @ total.factor, expected.factor.T @ expected.factor, 1e-13)
    for bias in BIASES:
        assert_close(total.problem(None, bias).floor, expected.problem(None, bias).floor, 1e-11)


def test_addition_is_associative_and_counts_what_is_worth_less():
    rng = np.random.default_rng(0)
    a, b, c = (
        WrenchStatistics.from_rows(samples(rng, 30).rows, effective=worth)
        for worth in (10.0, 3.5, 1.0)
    )
    left, right = (a + b) + c, a + (b + c)
    assert_close(np.abs(left.factor), np.abs(right.factor), 1e-12)
    assert left.effective.tolist() == [14.5]


@given(seeds())
def test_the_factor_is_that_of_the_stacked_rows(seed):
    data = samples(np.random.default_rng(seed), 64)
    R = data.statistics.factor
    assert_close(R, np.triu(R), 0.0)
    assert_close(R.T @ R, data.rows.T @ data.rows, 1e-13)
    assert_close(np.abs(factor_of_rows(data.rows)), np.abs(R), 1e-11)


@pytest.mark.parametrize("count", [1, 2, 18, 19, 20, 2047, 2048, 2049, 5000])
def test_any_number_of_samples_around_the_chunk_length_is_counted_once(count):
    data = samples(np.random.default_rng(count), count)
    for statistics in (data.statistics, WrenchStatistics.from_rows(data.rows)):
        R = statistics.factor
        assert_close(R.T @ R, data.rows.T @ data.rows, 1e-12)
        assert statistics.samples.tolist() == [count]
        assert statistics.effective.tolist() == [count]


def test_rows_given_to_the_factor_are_left_as_they_were():
    data = samples(np.random.default_rng(3), 50)
    rows = data.rows
    kept = rows.copy()
    wrench = data.wrench.copy()
    factor_of_rows(rows)
    _ = data.statistics
    assert_close(rows, kept, 0.0)
    assert_close(data.wrench, wrench, 0.0)


@given(seeds())
def test_centred_rows_are_those_less_the_mean(seed):
    data = samples(np.random.default_rng(seed), 70)
    centred = data.rows[:, 1:] - data.rows[:, 1:].mean(axis=0)
    R = data.statistics.centred
    assert_close(R.T @ R, centred.T @ centred, 1e-12, scale=(data.rows.T @ data.rows).max())


@pytest.mark.parametrize("bias", BIASES)
@given(seed=seeds(), X_CB=poses(0.5))
def test_statistics_in_another_frame_are_those_of_the_log_in_that_frame(bias, seed, X_CB):
    rng = np.random.default_rng(seed)
    data = [samples(rng, 50), samples(rng, 40)]
    R, p = X_CB.rotation, X_CB.inverse().position

    def moved(log: Samples) -> Samples:
        m = log.motion
        a, w, alpha = m.proper_acceleration, m.angular_velocity, m.angular_acceleration
        at_C = a + np.cross(alpha, p) + np.cross(w, np.cross(w, p))
        motion = BodyMotion(at_C @ R.T, w @ R.T, alpha @ R.T)
        return Samples(motion, log.wrench @ coadjoint(X_CB).T)

    statistics = merge_logs([log.statistics for log in data]).in_frame(X_CB)
    expected = merge_logs([moved(log).statistics for log in data])
    weight = random_weight(rng)
    phi = random_body(rng)
    ours, theirs = statistics.problem(weight, bias), expected.problem(weight, bias)
    assert_close(ours.floor, theirs.floor, 1e-11)
    assert_close(ours.residual_norm(phi), theirs.residual_norm(phi), 1e-11)
    assert_close(statistics.biases(phi, bias), expected.biases(phi, bias), 1e-10, scale=100.0)
    assert_close(statistics.effective, expected.effective, 0.0)


@given(seeds(), poses(0.5), poses(0.5))
def test_frame_changes_compose(seed, X_DC, X_CB):
    rows = samples(np.random.default_rng(seed), 5).rows[:, 1:]
    once = rows @ frame_change(X_DC @ X_CB).T
    assert_close(rows @ frame_change(X_CB).T @ frame_change(X_DC).T, once, 1e-12)
    back = frame_change(X_CB.inverse()) @ frame_change(X_CB)
    assert_close(back, np.eye(WIDTH - 1), 1e-12, scale=10.0)


@given(seeds(), poses(0.5))
def test_residuals_of_the_moved_body_are_the_moved_residuals(seed, X_CB):
    rng = np.random.default_rng(seed)
    rows, phi = samples(rng, 5).rows[:, 1:], random_body(rng)
    residuals = residual_rows(rows, phi) @ coadjoint(X_CB).T
    moved = residual_rows(rows @ frame_change(X_CB).T, in_frame(phi, X_CB))
    assert_close(moved, residuals, 1e-11, scale=100.0)


def test_the_best_cost_does_not_depend_on_the_frame_when_the_weight_moves_along():
    rng = np.random.default_rng(9)
    statistics = samples(rng, 100).statistics
    X_CB = Pose.from_quaternion([0.1, 0.5, -0.3, 0.7], [0.2, -0.1, 0.3])
    weight = random_weight(rng)
    inverse = np.linalg.inv(coadjoint(X_CB))
    before = statistics.problem(weight)
    after = statistics.in_frame(X_CB).problem(inverse.T @ weight @ inverse)
    assert_close(after.floor, before.floor, 1e-12)
    phi = np.linalg.solve(before.A, before.b)
    assert_close(np.linalg.solve(after.A, after.b), in_frame(phi, X_CB), 1e-10)


def test_a_bias_shared_by_logs_zeroed_apart_spoils_what_a_bias_per_log_gets_right():
    rng = np.random.default_rng(11)
    phi = random_body(rng, mass=1.0)
    logs = []
    for bias, attitude in (
        ([4.0, -3.0, 5.0, 0.3, 0.2, -0.4], 0.0),
        ([-3.0, 5, -4, -0.4, 0.1, 0.3], 2.0),
    ):
        motion = random_motion(rng, 400)
        # Each log keeps to its own side of gravity, as logs of one task do.
        motion = BodyMotion(
            0.2 * motion.proper_acceleration
            + 9.81 * np.array([np.sin(attitude), 0, np.cos(attitude)]),
            0.3 * motion.angular_velocity,
            0.2 * motion.angular_acceleration,
        )
        logs.append(Samples(motion, newton_euler_wrench(phi, motion) + bias).statistics)
    both = merge_logs(logs)
    apart, shared = (both.problem(None, bias) for bias in ("per_log", "shared"))
    exact = np.linalg.solve(apart.A, apart.b)
    spoiled = np.linalg.solve(shared.A, shared.b)
    assert_close(exact, phi, 1e-10)
    assert abs(spoiled[0] - phi[0]) > 0.05 * phi[0]
    assert np.linalg.norm(spoiled[4:] - phi[4:]) > 0.1 * np.linalg.norm(phi[4:])
    found = both.biases(exact, "per_log")
    assert_close(found[0], [4.0, -3.0, 5.0, 0.3, 0.2, -0.4], 1e-9)
    assert_close(found[1], [-3.0, 5.0, -4.0, -0.4, 0.1, 0.3], 1e-9)


def test_merged_logs_keep_their_order_and_can_be_merged_again():
    rng = np.random.default_rng(12)
    a, b, c = (samples(rng, n) for n in (30, 40, 50))
    flat = merge_logs([x.statistics for x in (a, b, c)])
    nested = merge_logs([merge_logs([a.statistics, b.statistics]), c.statistics])
    assert flat.logs == nested.logs == 3
    assert flat.samples.tolist() == nested.samples.tolist() == [30, 40, 50]
    for bias in BIASES:
        assert_close(
            np.abs(flat.problem(None, bias).A), np.abs(nested.problem(None, bias).A), 1e-11
        )


def test_one_merged_log_is_the_log():
    data = samples(np.random.default_rng(13), 40)
    for bias in BIASES:
        one = merge_logs([data.statistics]).problem(None, bias)
        assert_close(np.abs(one.A), np.abs(data.statistics.problem(None, bias).A), 1e-12)


def test_filtered_constants_other_than_one_are_eliminated_as_a_bias_is():
    """A filter that leaves edges in makes a constant that is not one; the bias follows it."""
    rng = np.random.default_rng(14)
    data = samples(rng, 60)
    gain = rng.uniform(0.3, 1.0, (60, 1))
    rows = gain * data.rows
    A = np.concatenate(
        (gain[..., None] * newton_euler_regressor(data.motion), gain[..., None] * np.eye(6)),
        axis=-1,
    ).reshape(-1, 16)
    solution = np.linalg.lstsq(A, rows[:, 13:].ravel(), rcond=None)[0]
    statistics = WrenchStatistics.from_rows(rows)
    problem = statistics.problem()
    phi = np.linalg.solve(problem.A, problem.b)
    assert_close(phi, solution[:10], 1e-10)
    assert_close(statistics.biases(phi)[0], solution[10:], 1e-10)


def test_the_factor_keeps_digits_that_a_gram_matrix_loses():
    """A feature 1e-10 of the others still comes back with digits: nothing was squared."""
    rng = np.random.default_rng(15)
    data = samples(rng, 500)
    rows = data.rows
    rows[:, 6] *= 1e-10
    R = WrenchStatistics.from_rows(rows).factor
    expected = np.linalg.qr(rows, mode="r")
    assert_close(np.abs(R[:, 6]), np.abs(expected[:, 6]), 1e-4, scale=1e-10)
    assert_close(np.linalg.norm(R[:, 6]), np.linalg.norm(rows[:, 6]), 1e-14)
    assert_close(R[6, 6] / 1e-10, expected[6, 6] / 1e-10 * np.sign(R[6, 6] * expected[6, 6]), 1e-5)


def test_triangle_of_few_rows_is_square_and_padded_with_zeros():
    rows = np.random.default_rng(16).normal(size=(4, 7))
    R = triangle(rows)
    assert R.shape == (7, 7)
    assert not R[4:].any()
    assert_close(R.T @ R, rows.T @ rows, 1e-14)


@given(seeds())
def test_whitener_is_a_square_root_of_the_weight(seed):
    weight = random_weight(np.random.default_rng(seed))
    L = whitener(weight)
    assert_close(L.T @ L, weight, 1e-14)


def test_errors_say_what_to_do():
    rng = np.random.default_rng(17)
    one = samples(rng, 20).statistics
    with pytest.raises(ValueError, match="join logs by merge_logs"):
        _ = merge_logs([one, one]) + one
    with pytest.raises(ValueError, match="at least one log"):
        merge_logs([])
    with pytest.raises(ProblemError, match="weight of the residuals is not positive definite"):
        one.problem(np.diag([1.0, 1, 1, 1, 1, -1]))
    with pytest.raises(ModelError, match="centred: expected shape"):
        WrenchStatistics(np.eye(3), np.ones((1, 19)), np.ones(1), np.ones(1))


def test_statistics_cannot_be_changed():
    one = samples(np.random.default_rng(18), 20).statistics
    with pytest.raises(ValueError, match="read-only"):
        one.centred[0, 0] = 0.0
