"""Benchmarks in one process: contenders alternate, warm, and their results are used."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array

Contender = Callable[[], object]
"""Function that does the work once and returns its result: numbers, or an array of them."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Amount of work of a benchmark.

    Attributes:
        repetitions: number of turns of each contender.
        scale: fraction of the full problem size, for a quick run; the report uses 1.
        seconds: minimum time of a turn; faster contenders run several times in it.
    """

    repetitions: int = 9
    scale: float = 1.0
    seconds: float = 0.05

    def scaled(self, count: int, minimum: int = 1) -> int:
        """Return a scaled problem size, at least `minimum`."""
        return max(minimum, round(self.scale * count))


@dataclass(frozen=True, slots=True)
class Spread:
    """Times of the repeats of a benchmark: median, lowest and highest."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Array) -> Spread:
        """Return the spread of values."""
        return cls(float(np.median(values)), float(np.min(values)), float(np.max(values)))

    def text(self, unit: str = "", digits: int = 3) -> str:
        """Format as "median unit (lowest … highest)"."""
        median, low, high = (f"{x:#.{digits}g}".rstrip(".") for x in self._values())
        return f"{median}{' ' * bool(unit)}{unit} ({low} … {high})"

    def _values(self) -> tuple[float, float, float]:
        return self.median, self.lowest, self.highest


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One line of the report.

    Targets are of ratios, memory and the share of a control period: seconds are the machine's.

    Attributes:
        label: measured quantity.
        measured: value with its spread.
        target: required value, or "".
        met: whether the target is met; None without a target.
    """

    label: str
    measured: str
    target: str = ""
    met: bool | None = None

    @classmethod
    def of_ratio(
        cls,
        label: str,
        ratio: Array,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> ReportLine:
        """Return the line of a ratio of two times, turn by turn, with its limit if it has one."""
        spread = Spread.of(ratio)
        if at_most is not None:
            return cls(label, spread.text("×"), f"≤ {at_most:g} ×", spread.median <= at_most)
        if at_least is not None:
            return cls(label, spread.text("×"), f"≥ {at_least:g} ×", spread.median >= at_least)
        return cls(label, spread.text("×"))


def race(contenders: Mapping[str, Contender], effort: Effort) -> dict[str, Array]:
    """Measure seconds per run of each contender in each turn, shape (repetitions,) each.

    Every contender runs once before the clock starts, and in a turn as often as needed to fill
    `effort.seconds`. They run in alternating order, so that a slower machine affects all of them.

    Raises:
        ValueError: a contender returned nothing, or numbers that are not finite.
    """
    runs = {name: _runs_per_turn(contender, effort) for name, contender in contenders.items()}
    seconds = {name: np.empty(effort.repetitions) for name in contenders}
    for turn in range(effort.repetitions):
        order = list(contenders) if turn % 2 == 0 else list(contenders)[::-1]
        for name in order:
            seconds[name][turn] = _timed(contenders[name], runs[name])
    return seconds


def _runs_per_turn(contender: Contender, effort: Effort) -> int:
    consume(contender())
    return max(1, int(effort.seconds / max(_timed(contender, 1), 1e-9)))


def _timed(contender: Contender, runs: int) -> float:
    results = []
    started = time.perf_counter()
    for _ in range(runs):
        results.append(contender())
    elapsed = (time.perf_counter() - started) / runs
    for result in results:
        consume(result)
    return elapsed


def consume(result: object) -> float:
    """Return the sum of a result, so that it is used.

    Raises:
        ValueError: the result is missing or not finite.
    """
    total = float(np.sum(np.asarray(result, dtype=np.float64)))
    if not np.isfinite(total):
        raise ValueError(f"a benchmark's result is not finite: {result!r}")
    return total
