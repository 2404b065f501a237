import random
from concurrent.futures import Future

import numpy as np
import pytest

from identify.errors import StudyError
from identify.regressors import Statistics
from identify.studies.executor import InProcess, LocalProcesses, reduce_statistics, tree_merge
from identify.studies.work import log_statistics, merge_two_logs
from tests.close import assert_close
from tests.regressors.rows import statistics_of_rows
from tests.studies.studies import quick


def pair(first: str, second: str) -> str:
    return f"({first}{second})"


@pytest.mark.parametrize(
    ("parts", "tree"),
    [
        ("a", "a"),
        ("ab", "(ab)"),
        ("abc", "((ab)c)"),
        ("abcde", "(((ab)(cd))e)"),
        ("abcdefg", "(((ab)(cd))((ef)g))"),
    ],
)
def test_neighbours_are_merged_first(parts: str, tree: str) -> None:
    assert tree_merge(list(parts), pair) == tree


def logs_of(count: int):
    return quick(
        logs=[{"kind": "synthetic", "number": count, "duration": 4.0, "rate_hz": 50.0}]
    ).logs


class OutOfOrder(InProcess):
    """Finishes what it is given in any order but theirs."""

    @property
    def in_flight(self) -> int:
        return 4

    def submit(self, function, *args, **kwargs):
        future = super().submit(function, *args, **kwargs)
        late: Future = Future()
        self.held = [*getattr(self, "held", []), (late, future.result())]
        if len(self.held) >= 3:
            random.Random(len(self.held)).shuffle(self.held)
            while self.held:
                waiting, result = self.held.pop()
                waiting.set_result(result)
        return late


def same_bits(a: Statistics, b: Statistics) -> bool:
    return all(
        getattr(a, name).tobytes() == getattr(b, name).tobytes()
        for name in ("factors", "log", "samples", "effective_samples", "noise")
    )


@pytest.mark.slow
def test_any_number_of_workers_and_any_order_give_the_same_bits() -> None:
    logs = logs_of(6)
    expected = reduce_statistics(logs, log_statistics, merge_two_logs, InProcess())
    shuffled = reduce_statistics(logs, log_statistics, merge_two_logs, OutOfOrder())
    assert same_bits(shuffled, expected)
    with LocalProcesses(2) as executor:
        assert same_bits(
            reduce_statistics(logs, log_statistics, merge_two_logs, executor), expected
        )


def test_chunk_statistics_sum_to_whole() -> None:
    rows = np.random.default_rng(1).standard_normal((5000, 19))
    rows[:, 0] = 1.0
    chunks = np.array_split(rows, 7)
    made = statistics_of_rows
    total = reduce_statistics(chunks, made, Statistics.__add__, InProcess()).total_factors[0, 0]
    assert_close(total.T @ total, rows.T @ rows, rtol=1e-9)


class Dying(InProcess):
    """Its workers die: at every part, or at the first try of each."""

    worker_errors = (EOFError,)

    def __init__(self, every: bool) -> None:
        self.every, self.tried, self.restarted = every, set(), 0

    def submit(self, function, *args, **kwargs):
        key = repr(args)
        if self.every or key not in self.tried:
            self.tried.add(key)
            future: Future = Future()
            future.set_exception(EOFError("killed"))
            return future
        return super().submit(function, *args, **kwargs)


def test_part_of_dead_worker_is_repeated() -> None:
    executor = Dying(every=False)
    assert reduce_statistics(list("abc"), str.upper, pair, executor) == "((AB)C)"
    assert len(executor.tried) == 3


def test_part_that_kills_every_worker_is_reported() -> None:
    with pytest.raises(StudyError, match=r"part 0 of 2: .* died at every attempt: killed"):
        reduce_statistics(list("ab"), str.upper, pair, Dying(every=True))


def test_error_in_part_is_raised() -> None:
    with pytest.raises(StudyError, match="cannot run its task: ZeroDivisionError"):
        reduce_statistics([0], lambda part: 1 / part, max, InProcess())
