"""Progress of a run and its display; estimated run time of a study from a few trials."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO

import numpy as np

from identify.progress import format_duration
from identify.studies.keys import code_fingerprint
from identify.studies.rows import Row
from identify.studies.study import Study
from identify.studies.work import group_by_noisy_log, run_trials

_LINE_INTERVAL = 30.0
"""Interval between lines of progress in an output that is not a terminal [s]."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run; items count as done when their rows are on the disk.

    Attributes:
        total: number of requested items.
        already_done: items with a row from an earlier run.
        done: items of this run, failed ones included.
        failed: items without an estimate, of this and earlier runs.
        seconds: since the run began.
        unit_name: plural noun for the items.
    """

    total: int
    already_done: int
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    unit_name: str = "trials"

    @property
    def rate(self) -> float:
        """Items per second."""
        return self.done / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def unfinished(self) -> int:
        """Number of items that are not done yet."""
        return self.total - self.already_done - self.done

    @property
    def remaining_seconds(self) -> float | None:
        """Remaining time at the present rate [s]; None before any item is done."""
        if self.unfinished == 0:
            return 0.0
        return self.unfinished / self.rate if self.done else None


@contextmanager
def display_progress(stream: IO[str] | None = None) -> Iterator[Callable[[Progress], None]]:
    """Give a function for `progress` of `run_study`, which shows it, by default on stderr."""
    output: IO[str] = sys.stderr if stream is None else stream
    if not output.isatty():
        yield _line_printer(output)
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress as Bars, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Bars(*columns, console=Console(file=output), transient=True) as bars:
        bar = bars.add_task("starting")
        yield lambda progress: bars.update(
            bar,
            total=progress.total,
            completed=progress.already_done + progress.done,
            description=format_progress(progress),
        )


def format_progress(progress: Progress) -> str:
    """Format progress as one line: done, failed, rate, remaining time."""
    parts = [f"{progress.already_done + progress.done} of {progress.total} {progress.unit_name}"]
    if progress.already_done:
        parts.append(f"{progress.already_done} from earlier runs")
    parts.append(f"{progress.failed} failed")
    if progress.done:
        parts.append(f"{progress.rate:.3g} per second")
    if progress.unfinished and progress.remaining_seconds is not None:
        parts.append(f"{format_duration(progress.remaining_seconds)} to go")
    return ", ".join(parts)


def _line_printer(stream: IO[str]) -> Callable[[Progress], None]:
    last, written = 0.0, ""

    def show(progress: Progress) -> None:
        nonlocal last, written
        if progress.seconds - last < _LINE_INTERVAL and progress.unfinished:
            return
        counts = f"{progress.done} {progress.failed}"  # the end is reported more than once
        if counts != written:
            last, written = progress.seconds, counts
            print(format_progress(progress), file=stream, flush=True)

    return show


_TIMED_LOGS = 3
"""Number of noisy logs, spread over the study, whose run time is measured for the estimate."""

_WORKER_START_SECONDS = 4.0
"""Time for a worker to start and to import the solvers [s]."""


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """Estimated run time of a complete study.

    Attributes:
        trials: number of trials.
        prepare_seconds: mean of reading and preparing a noisy log.
        estimator_seconds: mean of each estimator by label.
        cpu_seconds: of all trials.
        failed: trials of the sample that ended in an error, with the error.
        workers: number of workers.
    """

    trials: int
    prepare_seconds: float
    estimator_seconds: dict[str, float]
    cpu_seconds: float
    failed: tuple[str, ...]
    workers: int

    @property
    def seconds(self) -> float:
        """Wall time [s]."""
        return self.cpu_seconds / self.workers + _WORKER_START_SECONDS


def estimate_time(study: Study, *, workers: int, only: Sequence[str] = ()) -> TimeEstimate:
    """Estimate the run time of a study from a few noisy logs in this process.

    Each is run twice and the second time counts: the first includes imports and compilation.

    Args:
        study: the study.
        workers: number of workers of the run.
        only: see `run_study`.

    Raises:
        StudyError: a pattern in `only` matches nothing.
    """
    groups = list(group_by_noisy_log(study.trials(only)))
    subset = np.unique(np.linspace(0, len(groups) - 1, _TIMED_LOGS).astype(int))
    code = code_fingerprint().short
    run = partial(run_trials, study=study.name, metrics=study.metrics, code=code)
    rows: list[Row] = []
    for index in subset:
        run(groups[index])
        rows += run(groups[index])[0]
    prepare = _mean_seconds(rows, "prepare_seconds")
    means = {
        label: _mean_seconds([row for row in rows if row["estimator"] == label], "seconds")
        for label in dict.fromkeys(str(row["estimator"]) for row in rows)
    }
    return TimeEstimate(
        trials=sum(map(len, groups)),
        prepare_seconds=prepare,
        estimator_seconds=means,
        cpu_seconds=len(groups) * (prepare + sum(means.values())),
        failed=tuple(
            f"{r['estimator']} on {r['log']}: {r['error']}" for r in rows if r.get("error")
        ),
        workers=workers,
    )


def _mean_seconds(rows: Sequence[Row], column: str) -> float:
    """Return the mean of a column of run times; zero for rows that failed before it."""
    values = [row.get(column) for row in rows]
    return float(np.mean([value if isinstance(value, float) else 0.0 for value in values]))
