"""Cells cut into batches of about a quarter of a second, by what cells were seen to take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from identify.experiments.cell import Cell
from identify.experiments.work import Row

BATCH_SECONDS = 0.25
"""What a batch is to take: long beside what sending costs, short beside what a crash may cost."""

_INITIAL = 0.05
"""Seconds that a preparation, or an estimator, is taken for until one was seen."""

_NEWEST = 0.3
"""Weight of the newest time in the running means."""


class Pace:
    """Running means of what a log's preparation and each estimator take [s]."""

    def __init__(self, initial: float = _INITIAL) -> None:
        """Nothing is known yet: a preparation or an estimator is taken for `initial` seconds."""
        self._initial = initial
        self._means: dict[str | None, float] = {}

    def learn(self, rows: Iterable[Row]) -> None:
        """Take in the times of rows."""
        for row in rows:
            taken = {None: row.get("prepare_seconds"), str(row["estimator"]): row.get("seconds")}
            for label, seconds in taken.items():
                if isinstance(seconds, float):
                    old = self._means.get(label, seconds)
                    self._means[label] = old + _NEWEST * (seconds - old)

    def seconds(self, cells: Sequence[Cell]) -> float:
        """What cells of one noisy log take together."""
        labels = (None, *(cell.estimator.label for cell in cells))
        return sum(self._means.get(label, self._initial) for label in labels)


def batches(groups: Iterable[tuple[Cell, ...]], pace: Pace) -> Iterator[tuple[Cell, ...]]:
    """Groups of cells, each of one noisy log, put together to about `BATCH_SECONDS`.

    A group whose estimators are slow is taken apart: each then prepares its log for itself.

    Args:
        groups: nothing is taken of them before it is asked for.
        pace: may learn on the way.
    """
    batch: list[Cell] = []
    seconds = 0.0
    for group in groups:
        slow = pace.seconds(group) > 2.0 * BATCH_SECONDS
        for part in [(cell,) for cell in group] if slow else [group]:
            batch += part
            seconds += pace.seconds(part)
            if seconds >= BATCH_SECONDS:
                yield tuple(batch)
                batch, seconds = [], 0.0
    if batch:
        yield tuple(batch)
