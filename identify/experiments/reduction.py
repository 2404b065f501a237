"""Statistics of many logs, or of the parts of one, merged as a tree that only their order fixes.

Sums of floating-point numbers depend on their order. Here the order is that of the parts: parts
(0, 1), (2, 3), … are merged first, then pairs of pairs; a part without a partner goes up alone. So
the result is the same to the bit whenever parts arrive, however many workers there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Generic, TypeVar

from identify.errors import StudyError
from identify.experiments.backends import Backend
from identify.experiments.sources import LogItem
from identify.pipeline import block_statistics
from identify.regressors import WrenchStatistics, merge_logs
from identify.signals import prepare

T = TypeVar("T")
C = TypeVar("C")

_TRIES = 3
"""Times a part is tried whose worker died."""


class MergeTree(Generic[T]):
    """Merges parts as they arrive; holds about as many as there are levels and gaps."""

    def __init__(self, count: int, merge: Callable[[T, T], T]) -> None:
        """A tree over `count` parts.

        Args:
            count: at least one.
            merge: of two neighbours, the earlier first.
        """
        if count < 1:
            raise ValueError("a tree needs at least one part")
        self._merge = merge
        self._waiting: dict[tuple[int, int], T] = {}
        self._widths = [count]
        while self._widths[-1] > 1:
            self._widths.append((self._widths[-1] + 1) // 2)

    def add(self, index: int, part: T) -> None:
        """Take in the part of a number, and merge what now has its partner."""
        level = 0
        while level + 1 < len(self._widths):
            partner = index ^ 1
            if partner < self._widths[level]:
                other = self._waiting.pop((level, partner), None)
                if other is None:
                    break
                part = self._merge(other, part) if partner < index else self._merge(part, other)
            level, index = level + 1, index // 2
        self._waiting[level, index] = part

    def result(self) -> T:
        """The merge of all parts.

        Raises:
            ValueError: parts are missing.
        """
        top = len(self._widths) - 1
        if (top, 0) not in self._waiting:
            raise ValueError("parts of the tree are missing")
        return self._waiting[top, 0]


def tree_merge(parts: Sequence[T], merge: Callable[[T, T], T]) -> T:
    """The merge of parts that are all there, in the tree's order.

    Args:
        parts: at least one.
        merge: of two neighbours, the earlier first.
    """
    tree = MergeTree(len(parts), merge)
    for index, part in enumerate(parts):
        tree.add(index, part)
    return tree.result()


def reduce_statistics(
    parts: Sequence[C], statistics: Callable[[C], T], merge: Callable[[T, T], T], backend: Backend
) -> T:
    """Statistics of every part on the workers, merged here as they come.

    Neither the parts' data nor more than a few of their statistics are ever in this process.

    Args:
        parts: what to make statistics of: logs, or ranges of rows; picklable.
        statistics: of one part; a function of a module, run on a worker.
        merge: of two neighbours, the earlier first.
        backend: where it runs.

    Returns:
        The same to the bit for any backend.

    Raises:
        StudyError: workers died three times over one part.
        IdentifyError: what `statistics` raises.
    """
    tree: MergeTree[T] = MergeTree(len(parts), merge)
    tries = [0] * len(parts)
    todo = list(range(len(parts)))[::-1]
    running: dict[Future[T], int] = {}
    while todo or running:
        while todo and len(running) < backend.in_flight:
            index = todo.pop()
            running[backend.submit(statistics, parts[index])] = index
        broken = False
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            index = running.pop(future)
            try:
                tree.add(index, future.result())
            except backend.died as error:
                broken = True
                tries[index] += 1
                if tries[index] >= _TRIES:
                    raise StudyError(
                        f"workers died {_TRIES} times over part {index} of {len(parts)}: {error}"
                    ) from error
                todo.append(index)
        if broken:
            wait(running)
            backend.renew()
    return tree.result()


def log_statistics(log: LogItem) -> WrenchStatistics:
    """One-pass statistics of one log, as a worker makes them.

    Raises:
        LogError: the log cannot be read or prepared.
    """
    return block_statistics(prepare(log.load().recording)).total()


def merge_two_logs(first: WrenchStatistics, second: WrenchStatistics) -> WrenchStatistics:
    """Statistics of the logs of both, each log with a sensor bias of its own."""
    return merge_logs([first, second])
