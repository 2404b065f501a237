"""Statistics of many logs, or of the parts of one, merged as a tree that only their order fixes.

Sums of floating-point numbers depend on their order. Here the order is that of the parts: parts
(0, 1), (2, 3), … are merged first, then pairs of pairs; a part without a partner goes up alone. So
the result is the same to the bit whenever parts arrive, however many workers there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from identify.errors import StudyError
from identify.experiments.executor import Executor, TimeLimit
from identify.experiments.retry import Retrying, WorkersDied
from identify.experiments.sources.source import LogItem
from identify.regressors import Statistics, block_statistics, join_logs
from identify.signals import prepare

T = TypeVar("T")
C = TypeVar("C")


def tree_merge(parts: Sequence[T], merge: Callable[[T, T], T]) -> T:
    """The merge of parts in the tree's order.

    Args:
        parts: at least one.
        merge: of two neighbours, the earlier first.

    Raises:
        ValueError: there is none.
    """
    if not parts:
        raise ValueError("a tree needs at least one part")
    level = list(parts)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [merge(*pair) for pair in pairs] + level[len(level) // 2 * 2 :]
    return level[0]


def reduce_statistics(
    parts: Sequence[C], statistics: Callable[[C], T], merge: Callable[[T, T], T], executor: Executor
) -> T:
    """Statistics of every part, made on the workers and merged here.

    The parts' data are never in this process, their statistics are: a few kilobytes of a log.

    Args:
        parts: what to make statistics of: logs, or ranges of rows; picklable.
        statistics: of one part; a function of a module, run on a worker.
        merge: of two neighbours, the earlier first.
        executor: where it runs.

    Returns:
        The same to the bit for any executor.

    Raises:
        ValueError: no parts.
        StudyError: one part killed its worker each time, or took too long; or workers cannot run
            `statistics`.
        IdentifyError: what `statistics` raises.
    """
    made: dict[int, T] = {}
    call = partial(_numbered, statistics)
    for finished in Retrying(executor, call, enumerate(parts)):
        if finished is not None:
            (index, _), result = finished
            if isinstance(result, WorkersDied | TimeLimit):
                raise StudyError(f"part {index} of {len(parts)}: {result}") from result
            made[index] = result
    return tree_merge([made[index] for index in range(len(parts))], merge)


def log_statistics(log: LogItem) -> Statistics:
    """One-pass statistics of one log, as a worker makes them.

    Raises:
        LogError: the log cannot be read or prepared.
    """
    recording, _ = log.load()
    return block_statistics(prepare(recording)).merged()


def merge_two_logs(first: Statistics, second: Statistics) -> Statistics:
    """Statistics of the logs of both, each log with a sensor offset of its own."""
    return join_logs([first, second])


def _numbered(statistics: Callable[[C], T], part: tuple[int, C]) -> T:
    return statistics(part[1])
