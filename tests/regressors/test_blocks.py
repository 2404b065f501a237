"""Blocks of time: they hold every row once, and add up to the log."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from identify.regressors import BlockStatistics, WrenchStatistics
from identify.regressors.blocks import FEWEST_SAMPLES, MOST_BLOCKS
from tests.close import assert_close
from tests.strategies import seeds


def random_rows(rng: np.random.Generator, count: int) -> np.ndarray:
    rows = rng.normal(size=(count, 19))
    rows[:, 0] = 1.0
    return rows


@given(seeds(), st.integers(1, 400), st.floats(0.02, 1.0))
def test_blocks_add_up_to_the_statistics_of_the_log(seed, count, share):
    rows = random_rows(np.random.default_rng(seed), count)
    blocks = BlockStatistics.from_rows(rows, share * count)
    total = blocks.total()
    assert_close(total.factor.T @ total.factor, rows.T @ rows, 1e-12)
    assert total.samples.tolist() == [count]
    assert_close(total.effective, [share * count], 1e-12)
    whole = WrenchStatistics.from_rows(rows, effective=share * count)
    if count > 100:
        assert_close(total.problem().floor, whole.problem().floor, 1e-10)


@given(st.integers(1, 3000), st.floats(0.02, 1.0))
def test_blocks_are_bounded_in_number_and_hold_five_effective_samples_each(count, share):
    rows = random_rows(np.random.default_rng(0), count)
    blocks = BlockStatistics.from_rows(rows, share * count)
    assert 1 <= len(blocks) <= MOST_BLOCKS
    assert blocks.samples.min() >= 1
    if len(blocks) > 1:
        # Lengths are whole numbers, so a block may fall short by one sample.
        assert blocks.effective.min() >= FEWEST_SAMPLES - share


def test_every_block_is_the_factor_of_its_own_rows_in_order_of_time():
    rows = random_rows(np.random.default_rng(1), 100)
    blocks = BlockStatistics.from_rows(rows, 50.0)
    assert len(blocks) == 10
    for k, factor in enumerate(blocks.factors):
        part = rows[10 * k : 10 * (k + 1)]
        assert_close(factor.T @ factor, part.T @ part, 1e-12)


def test_still_poses_are_a_block_each():
    rows = random_rows(np.random.default_rng(2), 7)
    blocks = BlockStatistics.from_rows(rows, 7.0, segment_ids=np.arange(7), still=True)
    assert len(blocks) == 7
    assert blocks.independent
    assert blocks.samples.tolist() == blocks.effective.tolist() == [1.0] * 7


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8))
def test_stretches_do_not_share_a_block(lengths):
    ids = np.repeat(np.arange(len(lengths)), lengths)
    rows = random_rows(np.random.default_rng(3), len(ids))
    rows[:, 1] = ids
    blocks = BlockStatistics.from_rows(rows, 0.5 * len(ids), segment_ids=ids)
    edges = np.cumsum(blocks.samples).astype(int)
    for start, stop in zip(np.r_[0, edges[:-1]], edges, strict=True):
        assert len(set(ids[start:stop])) == 1
    assert blocks.samples.sum() == len(ids)


def test_chosen_blocks_are_a_log_of_their_own():
    rows = random_rows(np.random.default_rng(5), 100)
    noise = np.arange(18.0)
    blocks = BlockStatistics.from_rows(rows, 50.0, noise=noise)
    part = blocks.chosen([1, 4])
    expected = np.concatenate((rows[10:20], rows[40:50]))
    total = part.total()
    assert_close(total.factor.T @ total.factor, expected.T @ expected, 1e-12)
    assert total.samples.tolist() == [20]
    assert total.effective.tolist() == [10.0]
    assert_close(part.noise, noise, 0.0)


def test_noise_is_zero_where_not_given_and_kept_read_only():
    blocks = BlockStatistics.from_rows(random_rows(np.random.default_rng(6), 30), 30.0)
    assert not blocks.noise.any()
    with pytest.raises(ValueError, match="read-only"):
        blocks.factors[0, 0, 0] = 1.0
