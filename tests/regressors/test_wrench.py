import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.transform import Rotation

from identify.errors import ProblemError
from identify.inertia import in_frame as body_in_frame
from identify.regressors import (
    SCAN_LAYOUT,
    LinearSystem,
    ParameterSpace,
    Statistics,
    WrenchEquations,
    block_statistics,
    fold_statistics,
    join_logs,
    newton_euler_regressor,
    newton_euler_wrench,
    scan_statistics,
    wrench_statistics,
)
from identify.regressors.statistics import MAX_TIME_BLOCKS
from identify.regressors.wrench import about_com_in_flight
from identify.signals import prepare
from identify.signals.prepared_log import BlockRows
from identify.signals.transform import CONSTANT_GROUP, block_transform
from identify.spatial import BodyMotion, coadjoint
from tests.close import assert_close
from tests.estimation.simulated import Samples, residual_rows
from tests.recordings import POSE, Path, record, still_poses
from tests.regressors.frame_changes import feature_frame_map, statistics_in_frame
from tests.regressors.rows import statistics_of_rows
from tests.strategies import poses, random_body, random_motion, seeds

OFFSETS = ["per_log", "shared", "none"]


def samples(rng: np.random.Generator, count: int) -> Samples:
    """Samples that no body explains exactly, with an offset of their own."""
    motion = random_motion(rng, count)
    wrench = newton_euler_wrench(random_body(rng), motion) + rng.normal(0.0, 0.5, (count, 6))
    return Samples(motion, wrench + rng.normal(0, 3, 6))


def statistics_of(log: Samples) -> Statistics:
    return wrench_statistics(log.motion, log.wrench)


def system_of(logs, offsets="per_log") -> LinearSystem:
    return LinearSystem.of([(join_logs(logs), WrenchEquations(offsets=offsets))])


def random_weight(rng: np.random.Generator) -> np.ndarray:
    B = rng.normal(size=(6, 6))
    return B @ B.T + 0.1 * np.eye(6)


@pytest.mark.parametrize("count", [1, 2, 18, 19, 20, 2047, 2048, 2049, 5000])
def test_any_number_of_samples_around_the_chunk_length_is_counted_once(count):
    data = samples(np.random.default_rng(count), count)
    by_rows = statistics_of_rows(data.rows)
    for statistics in (statistics_of(data), by_rows):
        R = statistics.total_factors[0, 0]
        assert_close(R, np.triu(R), 0.0)
        assert_close(R.T @ R, data.rows.T @ data.rows, 1e-12)
        assert statistics.samples.sum() == count
        assert_close(statistics.effective_samples.sum(), count, 1e-14)


def test_the_equations_of_a_sample_match_newton_and_euler():
    rng = np.random.default_rng(4)
    data = samples(rng, 20)
    space = ParameterSpace(("payload", "carrier"))
    equations = WrenchEquations(space, bodies=(("payload", "carrier"), ("carrier",)))
    Y = newton_euler_regressor(data.motion)
    for log, columns in ((0, [Y, Y]), (1, [0.0 * Y, Y])):
        rows = np.tensordot(data.rows, equations.residual_coefficients(log, 0), axes=1)
        assert_close(rows[..., 0], data.wrench, 1e-14)
        assert_close(rows[..., 1:], np.concatenate(columns, axis=-1), 1e-13)
    assert equations.equation_key(0, 0) != equations.equation_key(1, 0)


def test_a_body_that_is_not_of_the_space_is_named():
    log = statistics_of(samples(np.random.default_rng(5), 30))
    space = ParameterSpace(("payload", "carrier"))
    with pytest.raises(ProblemError, match="no body 'tool' among payload, carrier"):
        LinearSystem.of([(log, WrenchEquations(space, bodies=(("tool",),)))]).problem(
            np.eye(6)[None]
        )


def random_blocks(rng: np.random.Generator, count: int) -> list[BlockRows]:
    """Blocks of different lengths with noise of every group, of rows that mean nothing."""
    blocks = []
    for _ in range(count):
        length = int(rng.integers(40, 400))
        transform = block_transform(length, 50.0, 4.0, tapered=bool(rng.integers(2)))
        rows = rng.normal(size=(transform.row_count, 19))
        rows[1:, 0] = 0.0
        moments = {}
        for group in np.unique(transform.groups).tolist():
            B = rng.normal(size=(18, 18))
            moments[group] = B @ B.T
        share = transform.effective_fraction
        blocks.append(BlockRows(rows, transform.groups, moments, length, share))
    return blocks


@settings(max_examples=25)
@given(seeds(), st.sampled_from([1, 2, 7, 30]))
def test_a_scan_holds_the_moments_of_all_rows_by_band_and_those_of_their_noise(seed, count):
    blocks = random_blocks(np.random.default_rng(seed), count)
    found = scan_statistics(blocks, "a")
    assert found.layout == SCAN_LAYOUT
    assert found.logs == ("a",)
    noise = np.swapaxes(found.noise_rows, -1, -2) @ found.noise_rows
    for group in range(len(SCAN_LAYOUT.groups)):
        rows = np.concatenate([block.rows[block.groups == group] for block in blocks])
        R = found.total_factors[0, group]
        assert_close(R.T @ R, rows.T @ rows, 1e-12)
        of_noise = np.zeros((19, 19))
        samples = worth = 0.0
        for block in blocks:
            mine = int((block.groups == group).sum())
            if mine:
                of_noise[1:, 1:] += mine * block.noise[group]
            samples += mine * block.samples / len(block.rows)
            worth += mine * (1.0 if group == CONSTANT_GROUP else block.effective_fraction)
        assert_close(noise[0, group], of_noise, 1e-11)
        assert_close(found.sum_over_blocks(found.samples)[0, group], samples, 1e-12)
        assert_close(found.sum_over_blocks(found.effective_samples)[0, group], worth, 1e-12)
    assert_close(found.samples.sum(), sum(block.samples for block in blocks), 1e-12)


def test_a_scan_keeps_its_blocks_in_order_and_no_more_than_two_hundred():
    blocks = random_blocks(np.random.default_rng(1), 3)
    found = scan_statistics(blocks)
    for number, block in enumerate(blocks):
        for group in np.unique(block.groups):
            (cell,) = np.flatnonzero((found.block == number) & (found.group == group))
            rows, R = block.rows[block.groups == group], found.factors[cell]
            assert_close(R.T @ R, rows.T @ rows, 1e-12)
    many = scan_statistics(blocks * 150)
    assert len(np.unique(many.block)) == MAX_TIME_BLOCKS
    assert (np.diff(np.unique(many.block)) == 1).all()
    assert_close(many.samples.sum(), 150 * sum(block.samples for block in blocks), 1e-12)


def moments_of(statistics: Statistics) -> tuple[np.ndarray, np.ndarray]:
    """Of the signal and of the noise of all rows, by group, all logs together."""
    R, nu = statistics.total_factors, statistics.noise_rows
    return tuple((np.swapaxes(x, -1, -2) @ x).sum(axis=0) for x in (R, nu))


@given(seeds(), poses(0.5))
def test_frame_change_transforms_noise(seed, X_CB):
    rng = np.random.default_rng(seed)
    blocks = random_blocks(rng, 3)
    G = feature_frame_map(X_CB)
    moved = [
        BlockRows(
            np.concatenate((block.rows[:, :1], block.rows[:, 1:] @ G.T), axis=1),
            block.groups,
            {group: G @ moment @ G.T for group, moment in block.noise.items()},
            block.samples,
            block.effective_fraction,
        )
        for block in blocks
    ]
    found = moments_of(statistics_in_frame(scan_statistics(blocks), X_CB))
    for mine, theirs in zip(found, moments_of(scan_statistics(moved)), strict=True):
        assert_close(mine, theirs, 1e-11)


def test_a_prepared_log_is_scanned_by_its_blocks_and_by_its_folds():
    body = random_body(np.random.default_rng(0))
    time = np.arange(0.0, 12.0, 0.01)
    log = prepare(record(Path.random(3), body, time, POSE, noise={"position": 1e-4}), 5.0)
    blocks, folds = block_statistics(log), fold_statistics(log)
    assert set(blocks.block) == {0}
    assert set(folds.block) == {0, 1, 2, 3, 4}
    assert blocks.logs == folds.logs == (log.recording.sha256,)
    assert_close(blocks.samples.sum(), folds.samples.sum(), 1e-12)
    independent = sum(1.0 + (len(b.rows) - 1) * b.effective_fraction for b in log.blocks)
    assert_close(blocks.effective_samples.sum(), independent, 0.01)
    signal, noise = moments_of(blocks)
    assert signal[1].any()
    assert noise[1].any()


def test_static_poses_are_means_each_a_block_of_its_own():
    body = random_body(np.random.default_rng(0))
    log = prepare(still_poses(body, Rotation.random(7, random_state=0)))
    found = block_statistics(log)
    assert found.layout == SCAN_LAYOUT
    assert found.one_sample_per_cell
    assert found.block.tolist() == list(range(7))
    assert not found.group.any()
    assert not found.noise.any()
    signal, _ = moments_of(found)
    assert_close(signal[CONSTANT_GROUP], log.rows.T @ log.rows, 1e-12)
    assert_close(fold_statistics(log).factors, found.factors, 0.0)


@pytest.mark.parametrize("offsets", OFFSETS)
@given(seed=seeds(), X_CB=poses(0.5))
def test_statistics_in_another_frame_match_the_log_in_that_frame(offsets, seed, X_CB):
    rng = np.random.default_rng(seed)
    data = [samples(rng, 50), samples(rng, 40)]
    R, p = X_CB.rotation, X_CB.inverse().position

    def moved(log: Samples) -> Samples:
        m = log.motion
        a, w, alpha = m.proper_acceleration, m.angular_velocity, m.angular_acceleration
        at_C = a + np.cross(alpha, p) + np.cross(w, np.cross(w, p))
        motion = BodyMotion(at_C @ R.T, w @ R.T, alpha @ R.T)
        return Samples(motion, log.wrench @ coadjoint(X_CB).T)

    here = statistics_in_frame(join_logs([statistics_of(log) for log in data]), X_CB)
    ours = LinearSystem.of([(here, WrenchEquations(offsets=offsets))])
    theirs = system_of([statistics_of(moved(log)) for log in data], offsets)
    weights = random_weight(rng)[None]
    phi = random_body(rng)
    mine, expected = ours.problem(weights), theirs.problem(weights)
    assert_close(mine.min_residual, expected.min_residual, 1e-11)
    assert_close(mine.residual_norm(phi), expected.residual_norm(phi), 1e-11)
    assert_close(ours.offsets(phi, weights), theirs.offsets(phi, weights), 1e-10, scale=100.0)
    assert mine.equations == expected.equations


@given(seeds(), poses(0.5), poses(0.5))
def test_frame_changes_compose(seed, X_DC, X_CB):
    rows = samples(np.random.default_rng(seed), 5).rows[:, 1:]
    once = rows @ feature_frame_map(X_DC @ X_CB).T
    assert_close(rows @ feature_frame_map(X_CB).T @ feature_frame_map(X_DC).T, once, 1e-12)
    back = feature_frame_map(X_CB.inverse()) @ feature_frame_map(X_CB)
    assert_close(back, np.eye(18), 1e-12, scale=10.0)


@given(seeds(), poses(0.5))
def test_residuals_of_the_moved_body_are_the_moved_residuals(seed, X_CB):
    rng = np.random.default_rng(seed)
    rows, phi = samples(rng, 5).rows, random_body(rng)
    residuals = residual_rows(rows, phi) @ coadjoint(X_CB).T
    there = rows.copy()
    there[:, 1:] = rows[:, 1:] @ feature_frame_map(X_CB).T
    moved = residual_rows(there, body_in_frame(phi, X_CB))
    assert_close(moved, residuals, 1e-11, scale=100.0)


@given(seeds())
def test_torque_in_flight_is_about_the_centre_of_mass_and_needs_no_acceleration(seed):
    rng = np.random.default_rng(seed)
    phi, motion = random_body(rng), random_motion(rng, 30)
    com = phi[1:4] / phi[0]
    w, alpha = motion.angular_velocity, motion.angular_acceleration
    falling = BodyMotion(-np.cross(alpha, com) - np.cross(w, np.cross(w, com)), w, alpha)
    shaken = BodyMotion(falling.proper_acceleration + rng.normal(size=(30, 3)), w, alpha)
    wrench = newton_euler_wrench(phi, falling)
    ones, scale = np.ones((30, 1)), np.abs(wrench[:, 3:]).max()

    def torque_rows(coefficients, motion):  # [t0 | T]: residuals are t0 − T φ
        return np.einsum("nk,kip->nip", np.hstack((ones, motion.features, wrench)), coefficients)

    at_origin = WrenchEquations().residual_coefficients(0, 0)
    about_com = about_com_in_flight(at_origin, com)
    found = torque_rows(about_com, falling)[:, 3:]
    assert_close(torque_rows(about_com, shaken)[:, 3:], found, 1e-14)
    measured = torque_rows(at_origin, falling)
    lever = np.cross(com, measured[:, :3], axisb=1, axisc=1)
    assert_close(found, measured[:, 3:] - lever, 1e-9)
    assert_close(found @ np.concatenate(([1.0], -phi)), np.zeros((30, 3)), 1e-9, scale=scale)
