from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.regressors import (
    WRENCH_LAYOUT,
    RowLayout,
    Statistics,
    join_logs,
    stacked_statistics,
)
from identify.regressors.statistics import factor_of_rows
from identify.regressors.triangular import qr_factor
from tests.close import assert_close
from tests.regressors.rows import layout_of, statistics_of, statistics_of_rows as statistics
from tests.strategies import seeds

TWO_GROUPS = layout_of((("x", "y"), ("u",)), 6)


def random_rows(rng: np.random.Generator, count: int, columns: int = 19) -> np.ndarray:
    rows = rng.normal(size=(count, columns))
    rows[:, 0] = 1.0
    return rows


def moment(of: Statistics, log: int = 0, group: int = 0) -> np.ndarray:
    R = of.total_factors[log, group]
    return R.T @ R


def assert_same(one: Statistics, other: Statistics, rtol: float = 1e-12) -> None:
    """The same cells in the same order, up to the signs of factors' rows."""
    assert one.layout == other.layout
    assert one.logs == other.logs
    for name in ("log", "block", "group"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    for name in ("samples", "effective_samples"):
        assert_close(getattr(one, name), getattr(other, name), rtol)
    for name in ("factors", "noise"):
        mine, theirs = (
            np.swapaxes(x, -1, -2) @ x for x in (getattr(one, name), getattr(other, name))
        )
        assert_close(mine, theirs, rtol)


def test_a_subset_of_the_blocks_is_a_log_of_its_own():
    rows = random_rows(np.random.default_rng(5), 100)
    noise = np.arange(19.0)
    blocks = statistics(rows, 50.0, noise=noise, log="a")
    part = blocks.subset([1, 4])
    expected = np.concatenate((rows[10:20], rows[40:50]))
    assert_close(moment(part), expected.T @ expected, 1e-12)
    assert part.samples.tolist() == [10.0, 10.0]
    assert part.effective_samples.tolist() == [5.0, 5.0]
    assert part.block.tolist() == [1, 4]
    assert_close(part.noise, np.diag(np.sqrt(noise))[None, None], 0.0)
    assert part.logs == ("a",)
    assert_same(blocks.subset(np.isin(blocks.block, [1, 4])), part)


def test_noise_is_zero_where_not_given_and_all_is_read_only():
    blocks = statistics(random_rows(np.random.default_rng(6), 30), 30.0)
    assert not blocks.noise.any()
    for array in (blocks.factors, blocks.log, blocks.total_factors, blocks.samples):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


def test_the_factor_keeps_digits_that_a_gram_matrix_loses():
    """A column 1e-10 of the others still comes back with digits: nothing was squared."""
    rows = random_rows(np.random.default_rng(15), 500)
    rows[:, 6] *= 1e-10
    R = statistics(rows).total_factors[0, 0]
    expected = np.linalg.qr(rows, mode="r")
    assert_close(np.abs(R[:, 6]), np.abs(expected[:, 6]), 1e-4, scale=1e-10)
    assert_close(np.linalg.norm(R[:, 6]), np.linalg.norm(rows[:, 6]), 1e-14)
    assert_close(np.abs(R[6, 6]) / 1e-10, np.abs(expected[6, 6]) / 1e-10, 1e-5)


def test_the_triangle_of_few_rows_is_square_and_padded_with_zeros():
    rows = np.random.default_rng(16).normal(size=(4, 7))
    R = qr_factor(rows)
    assert R.shape == (7, 7)
    assert not R[4:].any()
    assert_close(R.T @ R, rows.T @ rows, 1e-14)


def random_statistics(rng: np.random.Generator, logs: tuple[str, ...]) -> Statistics:
    """Two groups of rows of every log, in a random order of cells, with noise."""
    parts = []
    for log in logs:
        rows = [random_rows(rng, int(rng.integers(15, 40)), 6) for _ in range(2)]
        part = statistics_of(TWO_GROUPS, rows, log)
        part = part.subset(rng.permutation(len(part)))
        object.__setattr__(part, "noise", rng.normal(size=part.noise.shape))
        parts.append(part)
    return join_logs(parts)


@given(seeds())
def test_addition_is_associative(seed):
    rng = np.random.default_rng(seed)
    names = [("a",), ("b", "a"), ("c", "b")]
    a, b, c = (random_statistics(rng, logs) for logs in names)
    left, right = (a + b) + c, a + (b + c)
    assert left.logs == ("a", "b", "c")
    assert_same(left, right, 1e-11)


@given(seeds())
def test_a_sum_merges_cells_of_equal_log_block_and_group_and_keeps_all_others(seed):
    rng = np.random.default_rng(seed)
    one, other = (random_statistics(rng, ("a", "b")) for _ in range(2))
    total = one + other
    keys = list(zip(total.log, total.block, total.group, strict=True))
    assert len(set(keys)) == len(keys)
    for log, block, group in {
        *zip(one.log, one.block, one.group, strict=True),
        *zip(other.log, other.block, other.group, strict=True),
    }:

        def of(part: Statistics) -> Statistics:
            return part.subset(
                (part.log == log) & (part.block == block) & (part.group == group)  # noqa: B023
            )

        cell = of(total)
        assert len(cell) == 1
        pair = [of(one), of(other)]
        expected = sum(np.einsum("nki,nkj->ij", x.factors, x.factors) for x in pair)
        assert_close(cell.factors[0].T @ cell.factors[0], expected, 1e-12)
        assert_close(cell.samples[0], sum(x.samples.sum() for x in pair), 0.0)
        worth = sum(x.effective_samples.sum() for x in pair)
        assert_close(cell.effective_samples[0], worth, 1e-14)
    assert len(total) == len(keys)


@given(seeds())
def test_noise_adds_as_moments_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    one, other = random_statistics(rng, ("a", "b")), random_statistics(rng, ("b", "c"))
    total = one + other

    def moments(part: Statistics, name: str) -> np.ndarray:
        if name not in part.logs:
            return np.zeros((2, 6, 6))
        nu = part.noise_rows[part.logs.index(name)]
        return np.swapaxes(nu, -1, -2) @ nu

    for name in ("a", "b", "c"):
        expected = moments(one, name) + moments(other, name)
        assert_close(moments(total, name), expected, 1e-12)
    rows = total.sum_over_blocks(total.samples)[1, 0]
    nu = total.noise[1, 0]
    assert_close(moments(total, "b")[0], rows * (nu.T @ nu), 1e-12)


@given(seeds(), st.lists(st.integers(1, 299), max_size=6, unique=True))
def test_chunks_of_a_log_add_up_to_the_whole_whatever_their_sizes_and_order(seed, cuts):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, 300)
    chunks = []
    for start, stop in pairwise([0, *sorted(cuts), 300]):
        factor = factor_of_rows(rows[start:stop])
        chunks.append(Statistics.from_factor(WRENCH_LAYOUT, factor, stop - start, log="a"))
    rng.shuffle(chunks)
    total = chunks[0]
    for chunk in chunks[1:]:
        total = total + chunk
    assert len(total) == 1
    assert total.samples.tolist() == total.effective_samples.tolist() == [300]
    assert_close(moment(total), rows.T @ rows, 1e-12)


@given(seeds())
def test_a_later_part_of_a_log_adds_its_blocks_behind_the_others(seed):
    rng = np.random.default_rng(seed)
    first, later = (random_statistics(rng, ("a",)) for _ in range(2))
    blocks = 1 + first.block.max()
    joined = first.append_blocks(later)
    assert joined.logs == ("a",)
    expected = first + replace(later, block=blocks + later.block)
    order = np.lexsort((joined.group, joined.block))
    assert_same(joined.subset(order), expected)


def test_joined_logs_keep_order_and_get_unique_names():
    rng = np.random.default_rng(12)
    parts = [statistics(random_rows(rng, n), log="same") for n in (30, 40, 50)]
    flat = join_logs(parts)
    nested = join_logs([join_logs(parts[:2]), parts[2]])
    assert flat.logs == nested.logs == ("same", "same (2)", "same (3)")
    assert_same(flat, nested, 0.0)
    assert flat.merged().logs == flat.logs
    assert len(flat.merged()) == 3
    assert_close(np.abs(flat.merged().total_factors), np.abs(flat.total_factors), 1e-12)
    assert flat.sum_over_blocks(flat.samples).ravel().tolist() == [30.0, 40.0, 50.0]
    for number, part in enumerate(parts):
        assert_close(flat.total_factors[number], part.total_factors[0], 0.0)
        assert_same(
            flat.subset(flat.log == number), join_logs(parts).subset(flat.log == number), 0.0
        )
    fresh = Statistics(**{f.name: getattr(flat, f.name) for f in fields(flat)})
    assert_close(np.abs(fresh.total_factors), np.abs(flat.total_factors), 1e-12)


def test_logs_of_few_rows_and_of_many_join():
    """Cells of fewer rows than columns are kept as short factors; joined, they are as high."""
    rng = np.random.default_rng(13)
    few, many = random_rows(rng, 3), random_rows(rng, 200)
    joined = join_logs([statistics(few), statistics(many, 5.0)])
    assert_close(moment(joined, 0), few.T @ few, 1e-13)
    assert_close(moment(joined, 1), many.T @ many, 1e-13)


@given(seeds())
def test_mapped_statistics_match_the_mapped_rows(seed):
    rng = np.random.default_rng(seed)
    one = random_statistics(rng, ("a", "b"))
    M = rng.normal(size=(6, 4))
    fewer = RowLayout(TWO_GROUPS.columns[:4], TWO_GROUPS.groups, 3)
    mapped = one.mapped(M, fewer)
    assert mapped.layout == fewer
    for before, after in zip(one.factors @ M, mapped.factors, strict=True):
        assert_close(after.T @ after, before.T @ before, 1e-12)
        assert_close(after, np.triu(after), 0.0)
    before, after = one.noise @ M, mapped.noise
    assert_close(np.swapaxes(after, -1, -2) @ after, np.swapaxes(before, -1, -2) @ before, 1e-12)
    assert mapped.logs == one.logs
    assert_close(mapped.effective_samples, one.effective_samples, 0.0)
    assert_same(one.mapped(np.eye(6)), one)


@given(seeds())
def test_narrowed_statistics_match_the_leading_columns(seed):
    """Of cells with fewer rows than a fit's columns, with some more, and with many."""
    rng = np.random.default_rng(seed)
    wide = replace(layout_of((("x",),), 9), fit=4)
    parts = [rng.normal(size=(n, 9)) for n in (2, 6, 30)]
    whole = join_logs([statistics(rows, layout=wide) for rows in parts])
    whole = replace(whole, noise=rng.normal(size=whole.noise.shape))
    found = whole.fit_columns_only()
    assert found.layout.columns == wide.columns[:4]
    for log, rows in enumerate(parts):
        R, noise = found.total_factors[log, 0], whole.noise[log, 0, :, :4]
        assert_close(R.T @ R, rows[:, :4].T @ rows[:, :4], 1e-12)
        assert_close(found.noise[log, 0].T @ found.noise[log, 0], noise.T @ noise, 1e-12)
    assert found.fit_columns_only() is found


@pytest.mark.parametrize("labels", [None, ["knee", "hip"], [7, 3, 5]])
def test_stacked_rows_are_grouped_by_their_labels(labels):
    rng = np.random.default_rng(19)
    A, b = rng.normal(size=(200, 10)), rng.normal(size=200)
    groups = None if labels is None else [labels[k] for k in rng.integers(len(labels), size=200)]
    found = stacked_statistics(A, b, groups)
    names = [""] if labels is None else sorted(labels)
    rows = np.column_stack((A, b))
    for number, name in enumerate(names):
        mine = rows if groups is None else rows[[group == name for group in groups]]
        assert_close(moment(found, 0, number), mine.T @ mine, 1e-12)
        assert found.sum_over_blocks(found.samples)[0, number] == len(mine)
        if labels is not None:
            assert found.layout.groups[number].name == str(name)
    assert not found.layout.has_constant
    assert_close(found.samples, found.effective_samples, 0.0)


def test_invalid_statistics_are_rejected():
    rows = random_rows(np.random.default_rng(17), 20)
    one = statistics(rows)
    other = statistics(rows, layout=RowLayout(WRENCH_LAYOUT.columns, WRENCH_LAYOUT.groups, 18))
    with pytest.raises(ValueError, match="different layouts cannot be combined"):
        join_logs([one, other])
    with pytest.raises(ValueError, match="different layouts cannot be combined"):
        _ = one + other
    with pytest.raises(ValueError, match="at least one log"):
        join_logs([])
    with pytest.raises(ModelError, match="factors: expected shape"):
        Statistics.from_factor(WRENCH_LAYOUT, np.eye(3), 3)
    with pytest.raises(ModelError, match="noise: expected shape"):
        statistics(rows, noise=np.zeros(18))
