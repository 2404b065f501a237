"""`run_study` runs the trials of a study that a results folder does not have yet.

`run_work` does the same for any items with a key.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from identify.errors import StudyError
from identify.files import write_bytes
from identify.studies.dask_cluster import DaskCluster
from identify.studies.executor import (
    Executor,
    InProcess,
    LocalProcesses,
    TimeLimit,
    WorkerDied,
    run_items,
)
from identify.studies.keys import code_fingerprint
from identify.studies.progress import Progress
from identify.studies.rows import Row
from identify.studies.store import WORKER_DIED, Store, StoreInfo
from identify.studies.study import Study
from identify.studies.work import (
    DurationModel,
    failed_rows,
    group_by_noisy_log,
    make_batches,
    run_trials,
)


def choose_executor(
    workers: int | None = None, scheduler: str | None = None, time_limit: float | None = None
) -> Executor:
    """Return an executor on local processes, a Dask cluster, or this process.

    Args:
        workers: number of local processes; by default one for each core; 0 runs in this process.
        scheduler: address of a Dask scheduler, instead.
        time_limit: of a call [s]: its process is replaced, and its future raises `TimeLimit`.

    Raises:
        MissingExtra: a scheduler is given and `distributed` is not installed.
        StudyError: the scheduler does not answer; a time limit without worker processes.
    """
    if scheduler is not None:
        return DaskCluster(scheduler, time_limit)
    if workers != 0:
        return LocalProcesses(workers or default_workers(), time_limit)
    if time_limit is not None:
        raise StudyError(
            f"a time limit (timeout = {time_limit:g}) needs a worker process; use 1 worker or more"
        )
    return InProcess()


def default_workers() -> int:
    """Return the number of cores that this process may use."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        cores = os.cpu_count() or 1
    try:  # the share of a container
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # "max": no limit
        return cores


_COMMIT_INTERVAL = 0.2
"""Longest time after which finished rows are written to disk [s]."""


class Keyed(Protocol):
    """Protocol of work items that have a cache key."""

    @property
    def key(self) -> str:
        """Cache key of the item's row, equal for items with the same row."""
        ...


KeyedT = TypeVar("KeyedT", bound=Keyed)


@dataclass(frozen=True, slots=True)
class RunSummary(Progress):
    """Summary of a finished study run: failed trials and processor time.

    Attributes:
        failed: number of requested trials without an estimate.
        cpu_seconds: processor time of the trials, of all workers.
        workers: number of workers.
    """

    cpu_seconds: float = 0.0
    workers: int = 1

    @property
    def busy(self) -> float:
        """Fraction of the workers' time that was spent on trials."""
        return self.cpu_seconds / (self.workers * self.seconds) if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class JobSet(Generic[KeyedT]):
    """Set of work items with the functions that batch them and compute their result rows.

    Attributes:
        items: iterates over the requested items.
        is_missing: returns whether an item has no row yet.
        batches: groups items for one call, lazily.
        run: computes the rows of a batch on a worker, and their processor time [s].
        failed_rows: returns rows of items that no worker could finish, with kind and message.
        update: called with the rows of each batch.
        unit_name: plural noun for the items.
    """

    items: Callable[[], Iterator[KeyedT]]
    is_missing: Callable[[KeyedT], bool]
    batches: Callable[[Iterator[KeyedT]], Iterator[tuple[KeyedT, ...]]]
    run: Callable[[tuple[KeyedT, ...]], tuple[list[Row], float]]
    failed_rows: Callable[[Sequence[KeyedT], str, str], list[Row]]
    update: Callable[[list[Row]], None] = lambda rows: None
    unit_name: str = "trials"


def run_study(
    study: Study,
    folder: Path | str,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    only: Sequence[str] = (),
    retry_failed: bool = False,
    timeout: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> RunSummary:
    """Run the trials of a study that the results folder does not have yet.

    The next run resumes a run that was stopped in any way. Rows of other versions of the code are
    kept.

    Args:
        study: the study.
        folder: of the results; created if it does not exist.
        workers: number of local processes; by default one for each core; 0 runs in this process.
        scheduler: address of a Dask scheduler, to run on its workers instead.
        only: `log=…`, `perturbation=…`, `estimator=…`, with `*`: the trials to run.
        retry_failed: run trials again whose row is an error.
        timeout: longest time for a trial with the preparation of its log [s]; by default that of
            the study. A trial that takes longer is stopped with its process, and gives a row with
            the error `TimeLimit`.
        progress: called with the progress of the run, a few times a second.

    Raises:
        StudyError: another process runs in the folder; it holds results of another schema version;
            it cannot be written (a full disk); the scheduler does not answer, is lost, or has no
            workers; a timeout and no workers.
        MissingExtra: a scheduler is given and `distributed` is not installed.
    """
    study.trials(only)  # raises before the folder is made
    info = StoreInfo(study.name, {**study.labels(), "seed": study.seeds})
    limit = study.timeout if timeout is None else timeout
    # Without known durations, a batch that exceeds its limit would run twice.
    durations = DurationModel() if limit is None else DurationModel(limit)
    code = code_fingerprint().short
    with Store(Path(folder), info) as store:
        store.mark_current(trial.key for trial in study.trials())
        _copy_study_file(study, Path(folder))
        work = JobSet(
            items=lambda: study.trials(only),
            is_missing=lambda trial: not store.has_result(trial.key, retry_failed=retry_failed),
            batches=lambda trials: make_batches(group_by_noisy_log(trials), durations),
            run=partial(run_trials, study=study.name, metrics=study.metrics, code=code),
            failed_rows=lambda trials, kind, text: failed_rows(trials, study.name, kind, text),
            update=durations.update,
        )
        executor = partial(choose_executor, workers, scheduler, limit)
        return run_work(work, store, executor, progress)


def run_work(
    work: JobSet[KeyedT],
    store: Store,
    executor: Callable[[], Executor],
    progress: Callable[[Progress], None] | None = None,
) -> RunSummary:
    """Run the work items that have no row in a store yet; a stopped run is resumed.

    `executor`: creates the executor, only if anything is missing.
    Raises `StudyError`: the store cannot be written, or no workers are available.
    """
    run = _RunState(work, store, progress or (lambda _: None))
    run.report(run.summary)
    if run.summary.unfinished:
        with executor() as ready:
            run.run_missing(ready)
    if run.summary.done:
        store.add_wall_time(time.perf_counter() - run.committed)
    failed = sum(store.failed(item.key) for item in work.items())
    return replace(run.summary, failed=failed, seconds=time.perf_counter() - run.began)


class _RunState(Generic[KeyedT]):
    """State of a running study: rows not committed yet, and progress."""

    def __init__(
        self, work: JobSet[KeyedT], store: Store, report: Callable[[Progress], None]
    ) -> None:
        self.work, self.store, self.report = work, store, report
        self.began = time.perf_counter()
        items = already_done = failed = 0
        for item in work.items():
            is_done = not work.is_missing(item)
            items, already_done = items + 1, already_done + is_done
            failed += is_done and store.failed(item.key)
        self.summary = RunSummary(items, already_done, failed=failed, unit_name=work.unit_name)
        self.waiting: list[Row] = []
        self.committed = self.began

    def run_missing(self, executor: Executor) -> None:
        """Run all missing items."""
        work = self.work
        self.began = time.perf_counter()
        try:
            batches = work.batches(filter(work.is_missing, work.items()))
            for finished in run_items(
                executor, work.run, batches, lambda items: [(item,) for item in items]
            ):
                if finished is not None:
                    self._collect(*finished)
                    self.summary = replace(self.summary, workers=executor.workers)
                if time.perf_counter() - self.committed >= _COMMIT_INTERVAL:
                    self._commit()
        finally:
            self._commit()

    def _collect(
        self, items: Sequence[KeyedT], result: tuple[list[Row], float] | WorkerDied | TimeLimit
    ) -> None:
        if isinstance(result, WorkerDied | TimeLimit):
            kind = WORKER_DIED if isinstance(result, WorkerDied) else TimeLimit.__name__
            self.waiting += self.work.failed_rows(items, kind, str(result))
            return
        rows, seconds = result
        self.waiting += rows
        self.summary = replace(self.summary, cpu_seconds=self.summary.cpu_seconds + seconds)
        self.work.update(rows)

    def _commit(self) -> None:
        rows, self.waiting = self.waiting, []
        if rows:
            self.store.add(rows)
        before, self.committed = self.committed, time.perf_counter()
        if rows:
            self.store.add_wall_time(self.committed - before)
        self.summary = replace(
            self.summary,
            done=self.summary.done + len(rows),
            failed=self.summary.failed + sum(bool(row.get("error_type")) for row in rows),
            seconds=self.committed - self.began,
        )
        self.report(self.summary)


def _copy_study_file(study: Study, folder: Path) -> None:
    if study.path is None:
        return
    try:
        write_bytes(folder / "study.toml", study.path.read_bytes())
    except OSError as error:
        raise StudyError(f"{folder}: cannot be written to: {error.strerror or error}") from error
