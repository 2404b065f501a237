"""How far a run is and how it is shown; what a study will take, from a few trials of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO

import numpy as np

from identify.studies.keys import code_fingerprint
from identify.studies.rows import Row
from identify.studies.study import Study
from identify.studies.work import by_noisy_log, run_trials

_PLAIN_EVERY = 30.0
"""Seconds between plain lines."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; what counts as done is on the disk.

    Attributes:
        total: how many are asked for.
        present: of them, there before the run began.
        done: by this run, failed ones included.
        failed: of those, and of those that were there, without an estimate.
        seconds: since the run began.
        named: what they are, in words.
    """

    total: int
    present: int
    done: int = 0
    failed: int = 0
    seconds: float = 0.0
    named: str = "trials"

    @property
    def rate(self) -> float:
        """Trials a second."""
        return self.done / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def left(self) -> int:
        """Trials still to do."""
        return self.total - self.present - self.done

    @property
    def remaining(self) -> float | None:
        """Seconds still to go at this rate; None before anything is done."""
        if self.left == 0:
            return 0.0
        return self.left / self.rate if self.done else None


@contextmanager
def shown_progress(stream: IO[str] | None = None) -> Iterator[Callable[[Progress], None]]:
    """What to give `run_study` as `progress`.

    Args:
        stream: standard error where not given.
    """
    output: IO[str] = sys.stderr if stream is None else stream
    if not output.isatty():
        yield _plain(output)
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress as Bars, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Bars(*columns, console=Console(file=output), transient=True) as bars:
        bar = bars.add_task("starting")
        yield lambda progress: bars.update(
            bar,
            total=progress.total,
            completed=progress.present + progress.done,
            description=line(progress),
        )


def line(progress: Progress) -> str:
    """One line: done, failed, rate, remaining time."""
    parts = [f"{progress.present + progress.done} of {progress.total} {progress.named}"]
    if progress.present:
        parts.append(f"{progress.present} were there")
    parts.append(f"{progress.failed} failed")
    if progress.done:
        parts.append(f"{progress.rate:.3g} a second")
    if progress.left and progress.remaining is not None:
        parts.append(f"{duration(progress.remaining)} to go")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """A time as a person says it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _plain(stream: IO[str]) -> Callable[[Progress], None]:
    last, written = 0.0, ""

    def show(progress: Progress) -> None:
        nonlocal last, written
        if progress.seconds - last < _PLAIN_EVERY and progress.left:
            return
        counts = f"{progress.done} {progress.failed}"  # the end is reported more than once
        if counts != written:
            last, written = progress.seconds, counts
            print(line(progress), file=stream, flush=True)

    return show


_SAMPLED_LOGS = 3
"""Noisy logs that are tried, spread over the study."""

_SECONDS_TO_START = 4.0
"""Seconds a worker takes to start and to import the solvers."""


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """What a study will take, were nothing of it there.

    Attributes:
        trials: how many.
        prepare_seconds: mean of reading and preparing a noisy log.
        estimator_seconds: mean of each estimator by label.
        cpu_seconds: of all trials.
        failed: trials of the sample that ended in an error, with the error.
        workers: that share the work.
    """

    trials: int
    prepare_seconds: float
    estimator_seconds: dict[str, float]
    cpu_seconds: float
    failed: tuple[str, ...]
    workers: int

    @property
    def seconds(self) -> float:
        """Wall time."""
        return self.cpu_seconds / self.workers + _SECONDS_TO_START


def estimate_time(study: Study, *, workers: int, only: Sequence[str] = ()) -> TimeEstimate:
    """Run a few noisy logs through every estimator here, and extrapolate.

    Each is run twice and the second time counts: the first pays for imports and compilation.

    Args:
        study: what is to be run.
        workers: that will share the work.
        only: as of `run_study`.

    Raises:
        StudyError: `only` names what the study does not have.
    """
    every = list(by_noisy_log(study.trials(only)))
    subset = np.unique(np.linspace(0, len(every) - 1, _SAMPLED_LOGS).astype(int))
    code = code_fingerprint().short
    run = partial(run_trials, study=study.name, metrics=study.metrics, code=code)
    rows: list[Row] = []
    for index in subset:
        run(every[index])
        rows += run(every[index])[0]
    prepare = _mean_seconds(rows, "prepare_seconds")
    means = {
        label: _mean_seconds([row for row in rows if row["estimator"] == label], "seconds")
        for label in dict.fromkeys(str(row["estimator"]) for row in rows)
    }
    return TimeEstimate(
        trials=sum(map(len, every)),
        prepare_seconds=prepare,
        estimator_seconds=means,
        cpu_seconds=len(every) * (prepare + sum(means.values())),
        failed=tuple(
            f"{r['estimator']} on {r['log']}: {r['error']}" for r in rows if r.get("error")
        ),
        workers=workers,
    )


def _mean_seconds(rows: Sequence[Row], column: str) -> float:
    """Mean of a column; a row that failed before it was filled took none."""
    values = [row.get(column) for row in rows]
    return float(np.mean([value if isinstance(value, float) else 0.0 for value in values]))
