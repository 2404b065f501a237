"""Statistics of rows of any layout: joints of an arm, without a constant or read noise."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify.regressors import (
    ChannelGroup,
    RowLayout,
    max_block_count,
    stacked_statistics,
    statistics_of_blocks,
)
from identify.regressors.statistics import MAX_FACTOR_BYTES, MAX_TIME_BLOCKS
from identify.regressors.wrench import SCAN_LAYOUT
from identify.signals.prepared_log import BlockRows
from tests.close import assert_close
from tests.strategies import seeds


def arm_layout(joints: int, columns: int) -> RowLayout:
    """One group for each joint; the constant is a column like others, and not the first."""
    return RowLayout(
        columns=(*(f"Y{k}" for k in range(columns - 2)), "1", "torque"),
        groups=tuple(
            ChannelGroup(f"joint {k}", (f"joint {k}",), ("torque",)) for k in range(joints)
        ),
        fit=columns,
    )


LAYOUT = arm_layout(3, 9)


def arm_blocks(rng: np.random.Generator, count: int, *, noise: bool = False) -> list[BlockRows]:
    """Blocks in which some joints are at rest, so that they have no row."""
    blocks = []
    for _ in range(count):
        groups = np.repeat([0, 1, 2], rng.integers(0, 20, 3) * rng.integers(0, 2, 3) + [1, 0, 0])
        moments = {}
        if noise:
            B = rng.normal(size=(3, 9, 9))
            moments = dict(enumerate(B @ B.swapaxes(1, 2)))
        rows = rng.normal(size=(len(groups), 9))
        blocks.append(BlockRows(rows, groups, moments, 2 * len(groups), 0.9))
    return blocks


@settings(max_examples=20)
@given(seeds(), st.sampled_from([1, 3, 12]), st.booleans())
def test_statistics_hold_the_moments_of_all_rows_by_joint(seed, count, noise):
    blocks = arm_blocks(np.random.default_rng(seed), count, noise=noise)
    statistics = statistics_of_blocks(blocks, LAYOUT, "a")
    assert (statistics.layout, statistics.logs) == (LAYOUT, ("a",))
    spread = np.swapaxes(statistics.noise_rows, -1, -2) @ statistics.noise_rows
    for group in range(3):
        rows = np.concatenate([block.rows[block.groups == group] for block in blocks])
        R = statistics.total_factors[0, group]
        assert_close(R.T @ R, rows.T @ rows, 1e-12)
        assert_close(statistics.samples_of_groups[0, group], 2.0 * len(rows), 1e-12)
        assert_close(statistics.effective_samples_of_groups[0, group], 0.9 * len(rows), 1e-12)
        of_noise = sum(
            (block.groups == group).sum() * block.noise[group] for block in blocks if noise
        )
        assert_close(spread[0, group], of_noise * np.ones((9, 9)), 1e-11)


def test_statistics_of_parts_of_a_log_add_up():
    blocks = arm_blocks(np.random.default_rng(1), 8)
    whole = statistics_of_blocks(blocks, LAYOUT)
    first, later = (statistics_of_blocks(part, LAYOUT) for part in (blocks[:3], blocks[3:]))
    joined = first.append_blocks(later)
    assert joined.block.tolist() == whole.block.tolist()
    for R, expected in zip(joined.factors, whole.factors, strict=True):
        assert_close(R.T @ R, expected.T @ expected, 1e-12)


@pytest.mark.parametrize(("joints", "columns"), [(1, 20), (7, 60), (63, 60), (400, 120)])
def test_number_of_blocks_is_bounded_by_the_memory_of_their_factors(joints, columns):
    layout = arm_layout(joints, columns)
    most = max_block_count(layout)
    assert 1 <= most <= MAX_TIME_BLOCKS
    size = 8 * joints * columns**2
    assert most * size <= max(MAX_FACTOR_BYTES, size)
    assert most == MAX_TIME_BLOCKS or (most + 1) * size > MAX_FACTOR_BYTES


def test_neighbours_are_merged_where_there_are_too_many_blocks():
    layout = arm_layout(300, 60)
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(10, 600, 60))
    blocks = [BlockRows(each, np.repeat(np.arange(300), 2), {}, 600, 1.0) for each in rows]
    statistics = statistics_of_blocks(blocks, layout)
    assert statistics.block.max() + 1 == max_block_count(layout) == 3
    assert statistics.factors.nbytes <= MAX_FACTOR_BYTES
    R, together = statistics.total_factors[0, 7], rows[:, 14:16].reshape(-1, 60)
    assert_close(R.T @ R, together.T @ together, 1e-12)
    assert len(np.unique(statistics_of_blocks(blocks, layout, max_blocks=10).block)) == 10


def test_wrench_logs_keep_their_number_of_blocks():
    assert max_block_count(SCAN_LAYOUT) == MAX_TIME_BLOCKS


def test_stacked_rows_of_many_columns_are_bounded_as_well():
    A = np.random.default_rng(3).normal(size=(4000, 250))
    statistics = stacked_statistics(A, A[:, 0], np.arange(4000) % 4)
    assert statistics.block.max() + 1 == 8  # of half as many rows of each group as columns
    assert statistics.factors.nbytes <= MAX_FACTOR_BYTES
