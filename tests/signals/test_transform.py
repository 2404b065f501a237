import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.signals.differentiator import Differentiator
from identify.signals.transform import (
    BAND_EDGES_HZ,
    BLOCK_SECONDS,
    CONSTANT_GROUP,
    UNSMOOTHED,
    BlockTransform,
    block_edges,
    block_transform,
    derivative_gains,
)
from tests.close import assert_close
from tests.strategies import seeds

RATE = 100.0

all_lengths = pytest.mark.parametrize("length", [5, 8, 97, 100, 1009, 5000])
both = pytest.mark.parametrize("tapered", [False, True])


def cosines_by_hand(transform: BlockTransform) -> np.ndarray:
    """Windowed cosines, turned so that the first is the one that sees the constant.

    The turn is worked out here from what it must do: c to |c| e, everything across both kept.
    """
    n, k = transform.length, np.arange(transform.row_count)
    plain = np.cos(np.pi / n * np.outer(k, np.arange(n) + 0.5)) * np.sqrt(2.0 / n)
    plain[0] /= np.sqrt(2.0)
    plain = plain * transform.window
    constant = plain.sum(axis=1)
    along = constant / np.linalg.norm(constant)
    first = np.zeros(len(k))
    first[0] = 1.0
    difference = along - first
    if np.linalg.norm(difference) < 1e-9:
        return plain
    return plain - 2.0 * np.outer(difference, difference @ plain) / (difference @ difference)


@all_lengths
@both
def test_rows_are_plain_sums_with_the_cosines(length, tapered):
    transform = block_transform(length, RATE, 20.0, tapered=tapered)
    columns = np.random.default_rng(length).normal(size=(length, 4))
    columns[:, 0] = 1.0
    found = transform.apply(columns)
    u = transform.cosines(np.arange(transform.row_count))
    scale = np.sqrt(length)
    assert found.shape == (transform.row_count, 4)
    assert_close(found, u @ columns, 1e-12, scale=scale)
    assert_close(u, cosines_by_hand(transform), 1e-11)
    some = transform.cosines([transform.row_count - 1, 1])
    assert_close(some, u[[-1, 1]], 1e-13)


@all_lengths
@both
def test_the_constant_acts_in_the_first_row_alone(length, tapered):
    transform = block_transform(length, RATE, 20.0, tapered=tapered)
    u = transform.cosines(np.arange(transform.row_count))
    of_constant = u.sum(axis=1)
    assert_close(of_constant[1:], np.zeros(transform.row_count - 1), 1e-12, scale=of_constant[0])
    assert of_constant[0] > 0.9 * np.sqrt(length)
    rows = transform.apply(np.ones((length, 2)))
    assert_close(rows[0], [of_constant[0]] * 2, 1e-12)
    assert not rows[1:, 0].any()
    assert_close(rows[1:, 1], np.zeros(transform.row_count - 1), 1e-12, scale=of_constant[0])


@all_lengths
@both
def test_all_rows_together_have_the_energy_of_the_windowed_block(length, tapered):
    """Parseval: nothing is lost but what the cut-off leaves out."""
    transform = BlockTransform(length, RATE, length, tapered)
    columns = np.random.default_rng(length).normal(size=(length, 3))
    columns[:, 0] = 1.0
    rows = transform.apply(columns)
    windowed = columns * transform.window[:, None]
    assert_close(rows.T @ rows, windowed.T @ windowed, 1e-11, scale=length)


def test_taper_rises_over_five_percent_with_unit_mean_square():
    window = block_transform(1000, RATE, 5.0, tapered=True).window
    assert_close(np.mean(window**2), 1.0, 1e-14)
    assert_close(window, window[::-1], 1e-14)
    assert_close(window[50:950], np.full(900, window[500]), 1e-14)
    assert (np.diff(window[:50]) > 0.0).all()
    assert window[0] < 1e-3
    assert_close(block_transform(1000, RATE, 5.0, tapered=False).window, np.ones(1000), 0.0)


@settings(max_examples=60)
@given(st.integers(5, 4000), st.floats(5.0, 2000.0), st.floats(0.001, 0.449))
def test_rows_reach_the_cutoff_and_are_grouped_by_fixed_edges(length, rate, share):
    transform = block_transform(length, rate, share * rate, tapered=False)
    frequency = np.arange(transform.row_count) * rate / (2.0 * length)
    assert frequency[-1] <= share * rate * (1.0 + 1e-12)
    assert transform.row_count == length or frequency[-1] + rate / (2.0 * length) > share * rate
    groups = transform.groups.tolist()
    assert groups[0] == CONSTANT_GROUP
    for f, group in zip(frequency[1:], groups[1:], strict=True):
        low, high = BAND_EDGES_HZ[group - 1], BAND_EDGES_HZ[group]
        assert low < f <= high


@pytest.mark.parametrize("rate", [10.0, 100.0, 333.3])
@pytest.mark.parametrize("seconds", [0.5, 4.0, 14.9, 15.1, 100.0, 1234.5])
def test_blocks_are_about_ten_seconds_long_and_leave_nothing_out(rate, seconds):
    length = int(seconds * rate)
    edges = block_edges(length, rate)
    assert (edges[0], edges[-1]) == (0, length)
    lengths = np.diff(edges)
    assert lengths.max() - lengths.min() <= 1
    if length >= BLOCK_SECONDS * rate:
        assert (np.abs(np.log(lengths / (BLOCK_SECONDS * rate))) <= np.log(1.5) + 0.01).all()
    else:
        assert len(lengths) == 1


def applied(kernel: np.ndarray, length: int) -> np.ndarray:
    """The kernel as a matrix from all samples, halos included, to those of a block."""
    matrix = np.zeros((length, length + len(kernel) - 1))
    for t in range(length):
        matrix[t, t : t + len(kernel)] = kernel
    return matrix


@pytest.mark.parametrize("length", [60, 61])
@both
def test_gains_match_the_matrices_written_out(length, tapered):
    transform = block_transform(length, RATE, 10.0, tapered=tapered)
    kernels = np.random.default_rng(length).normal(size=(3, 7))
    u = transform.cosines(np.arange(transform.row_count))
    through = [u @ applied(kernel, length) for kernel in kernels]
    gains = transform.gains(kernels)
    assert sorted(gains) == np.unique(transform.groups).tolist()
    for group, gain in gains.items():
        mine = transform.groups == group
        each = [[np.mean(np.sum(c[mine] * d[mine], axis=1)) for d in through] for c in through]
        assert_close(gain, each, 1e-12)


def test_gains_of_a_band_of_many_rows_match_rows_spread_over_it():
    transform = block_transform(3000, RATE, 5.0, tapered=True)
    differentiator = Differentiator.design(RATE, 5.0)
    gains = transform.gains(differentiator.kernels)
    for group, gain in gains.items():
        mine = np.flatnonzero(transform.groups == group)
        u = transform.cosines(mine)
        full = [
            np.array([np.convolve(row, kernel) for row in u]).ravel()
            for kernel in differentiator.kernels
        ]
        exact = np.array(full) @ np.array(full).T / len(mine)
        scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
        assert_close(gain / scale, exact / scale, 0.1)


@both
def test_noise_that_was_differentiated_has_the_gain_in_the_rows_that_was_worked_out(tapered):
    """Monte Carlo, slow rows too: what edges let in is counted."""
    rng = np.random.default_rng(3)
    transform = block_transform(400, RATE, 5.0, tapered=tapered)
    differentiator = Differentiator.design(RATE, 5.0)
    white = rng.normal(size=(400 + 2 * differentiator.half_window, 600))
    gains = derivative_gains(transform, differentiator, (0, 1, 2, UNSMOOTHED))
    kinds = [differentiator.apply(white, order) for order in range(3)]
    kinds.append(white[differentiator.half_window : -differentiator.half_window])
    rows = np.array([_rows(transform, kind) for kind in kinds])
    for group, gain in gains.items():
        mine = rows[:, transform.groups == group].reshape(4, -1)
        found = mine @ mine.T / mine.shape[1]
        size = np.sqrt(np.diag(found))
        assert_close(np.diag(found) / np.diag(gain), np.ones(4), 0.2)
        expected = gain / np.sqrt(np.outer(np.diag(gain), np.diag(gain)))
        assert_close(found / np.outer(size, size), expected, 0.15)


def _rows(transform: BlockTransform, columns: np.ndarray) -> np.ndarray:
    return transform.apply(np.column_stack((np.ones(len(columns)), columns)))[:, 1:]


def test_undifferentiated_signal_has_unit_gain():
    differentiator = Differentiator.design(RATE, 5.0)
    plain = block_transform(400, RATE, 5.0, tapered=False)
    alone = derivative_gains(plain, differentiator, (UNSMOOTHED,))
    beside = derivative_gains(plain, differentiator, (1, UNSMOOTHED))
    assert sorted(alone) == sorted(beside) == np.unique(plain.groups).tolist()
    for group, gain in alone.items():
        assert gain.tolist() == [[1.0]]
        assert_close(beside[group][1, 1], 1.0, 1e-12)


@settings(max_examples=10)
@given(seeds())
def test_tapered_rows_are_worth_as_many_independent_ones_as_their_overlap_leaves(seed):
    """tr(G)² / tr(G²) of the cosines' overlap G: the degrees of a sum of squares."""
    length = int(np.random.default_rng(seed).integers(100, 600))
    for rows, rtol in ((length, 1e-9), (length // 4, 0.05)):
        transform = BlockTransform(length, RATE, rows, True)
        u = transform.cosines(np.arange(rows))
        overlap = u @ u.T
        degrees = np.trace(overlap) ** 2 / np.sum(overlap**2)
        assert_close(transform.effective_fraction, degrees / rows, rtol)
    assert BlockTransform(length, RATE, length, False).effective_fraction == 1.0


@pytest.mark.parametrize("length", [1000, 997])
def test_columns_without_a_constant_are_transformed_as_they_are(length):
    """An orthonormal cosine transform; the columns of a constant are not set to zero."""
    transform = block_transform(length, RATE, 0.5 * RATE, tapered=False)
    z = np.random.default_rng(0).normal(size=(length, 3))
    rows = transform.apply(z.copy(), constant=False)
    assert rows.shape == (length, 3)
    assert_close(rows.T @ rows, z.T @ z, 1e-12)
    phase = np.outer(np.arange(4), (np.arange(length) + 0.5) * np.pi / length)
    assert_close(rows[1:4], np.sqrt(2.0 / length) * np.cos(phase[1:]) @ z, 1e-10)


@pytest.mark.parametrize("seconds", [2.5, 30.0])
def test_blocks_of_another_duration_leave_nothing_out(seconds):
    edges = block_edges(12345, 95.0, seconds)
    assert (edges[0], edges[-1]) == (0, 12345)
    assert len(edges) == 1 + round(12345 / (95.0 * seconds))


@pytest.mark.parametrize(("length", "rate", "blocks"), [(800, 1e-7, 8), (800, 0.1, 8), (90, 1, 1)])
def test_a_slow_log_is_not_cut_into_blocks_of_no_samples(length, rate, blocks):
    assert len(block_edges(length, rate)) == blocks + 1
