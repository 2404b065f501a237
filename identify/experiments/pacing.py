"""Cells cut into tasks of about a quarter of a second, by what cells were seen to take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from identify.experiments.cell import NamedEstimator
from identify.experiments.work import Row, Unit

TASK_SECONDS = 0.25
"""What a task is to take: long beside what sending costs, short beside what a crash may cost."""

_FIRST_GUESS = 0.05
"""Seconds a cell is taken for until one was seen."""

_NEWEST = 0.3
"""Weight of the newest time in the running means."""


class Pace:
    """Running means of what a log's preparation and each estimator take [s]."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._prepare: float | None = None
        self._estimators: dict[str, float] = {}

    def learn(self, rows: Iterable[Row]) -> None:
        """Take in the times of rows."""
        for row in rows:
            seconds, shared = row.get("seconds"), row.get("prepare_seconds")
            if isinstance(seconds, float):
                name = str(row["estimator"])
                self._estimators[name] = _mean(self._estimators.get(name), seconds)
            if isinstance(shared, float):
                self._prepare = _mean(self._prepare, shared)

    def estimator(self, named: NamedEstimator) -> float:
        """Seconds of one estimator."""
        return self._estimators.get(named.label, _FIRST_GUESS)

    def unit(self, unit: Unit) -> float:
        """Seconds of one unit."""
        shared = _FIRST_GUESS if self._prepare is None else self._prepare
        return shared + sum(self.estimator(named) for _, named in unit.estimators)


class TaskCutter:
    """Units in, groups of units that take about `TASK_SECONDS` together out.

    A unit whose estimators are slow is split: they then prepare its log each for itself.
    """

    def __init__(self, units: Iterable[Unit], pace: Pace) -> None:
        """Nothing is taken from `units` before it is asked for."""
        self._units: Iterator[Unit] = iter(units)
        self._pace = pace

    def next(self) -> tuple[Unit, ...]:
        """The next group; empty at the end."""
        group: list[Unit] = []
        seconds = 0.0
        for unit in self._units:
            first, *rest = self._split(unit)
            if rest:
                self._units = chain(rest, self._units)
            group.append(first)
            seconds += self._pace.unit(first)
            if seconds >= TASK_SECONDS:
                break
        return tuple(group)

    def _split(self, unit: Unit) -> list[Unit]:
        if self._pace.unit(unit) <= 2.0 * TASK_SECONDS or len(unit) == 1:
            return [unit]
        return [Unit(unit.noisy, (cell,)) for cell in unit.estimators]


def _mean(old: float | None, new: float) -> float:
    return new if old is None else old + _NEWEST * (new - old)
