"""`run_study`: the trials of a study that are missing from a folder, run and kept.

`run_work` does so with anything that has a key, and makes rows.
"""

from __future__ import annotations

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
from identify.studies.work import Pace, batches, by_noisy_log, failed_rows, run_trials


def choose_executor(
    workers: int | None = None, scheduler: str | None = None, time_limit: float | None = None
) -> Executor:
    """The executor that the arguments ask for.

    Args:
        workers: local processes; as many as cores where not given; 0 runs in this process.
        scheduler: address of a Dask scheduler, instead.
        time_limit: of a call [s]: its process is replaced, and its future raises `TimeLimit`.

    Raises:
        MissingExtra: a scheduler is given and `distributed` is not installed.
        StudyError: no scheduler answers there; a time limit of what runs in this process.
    """
    if scheduler is not None:
        return DaskCluster(scheduler, time_limit)
    if workers != 0:
        return LocalProcesses(workers or default_workers(), time_limit)
    if time_limit is not None:
        raise StudyError(
            f"a time limit (timeout = {time_limit:g}) needs a process that can be stopped, and "
            f"trials would run in this one; take 1 worker"
        )
    return InProcess()


def default_workers() -> int:
    """As many as this process may use cores."""
    from joblib import cpu_count

    return int(cpu_count())


_COMMIT_EVERY = 0.2
"""Seconds that finished rows may wait for the disk."""


class Keyed(Protocol):
    """What a run takes."""

    @property
    def key(self) -> str:
        """Of its row: the same for what would give the same row."""
        ...


T = TypeVar("T", bound=Keyed)


@dataclass(frozen=True, slots=True)
class RunSummary(Progress):
    """What a run did.

    Attributes:
        failed: of all trials asked for, how many have no estimate now.
        cpu_seconds: processor time of the trials, of all workers.
        workers: how many there were.
    """

    cpu_seconds: float = 0.0
    workers: int = 1

    @property
    def busy(self) -> float:
        """Share of the workers' time that went into trials."""
        return self.cpu_seconds / (self.workers * self.seconds) if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """What a run does: items with keys through a function, which makes a row of each.

    Attributes:
        items: those asked for, made as they are taken.
        missing: whether the row of one is still to be made.
        batches: items put together for one call; nothing is taken of them before it is asked for.
        run: of a batch, on a worker: its rows, and the processor time that they took [s].
        failed: rows of items that no worker could finish, of a kind and a message.
        learn: called with the rows of a batch.
        named: what the items are, in words.
    """

    items: Callable[[], Iterator[T]]
    missing: Callable[[T], bool]
    batches: Callable[[Iterator[T]], Iterator[tuple[T, ...]]]
    run: Callable[[tuple[T, ...]], tuple[list[Row], float]]
    failed: Callable[[Sequence[T], str, str], list[Row]]
    learn: Callable[[list[Row]], None] = lambda rows: None
    named: str = "trials"


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
    """Run the trials that the folder does not have yet.

    A run that is stopped, in whatever way, is taken up by the next one. Trials of other code stay
    beside the new ones.

    Args:
        study: what to run.
        folder: for the results: made where it is not there.
        workers: local processes; as many as cores where not given; 0 runs in this process.
        scheduler: address of a Dask scheduler, to run on its workers instead.
        only: `log=…`, `perturbation=…`, `estimator=…`, with `*`: the trials to run.
        retry_failed: run trials again whose row is an error.
        timeout: seconds that a trial may take, its log's preparation included; as the study says
            where not given. A trial that takes longer is stopped with its process, and is a row
            with the error `TimeLimit`.
        progress: called with how far the run is, a few times a second.

    Raises:
        StudyError: another process runs in the folder; it holds results of another schema version;
            it cannot be written (a full disk); the scheduler does not answer, goes away, or has no
            workers; a timeout and no workers.
        MissingExtra: a scheduler is given and `distributed` is not installed.
    """
    study.trials(only)  # raises before the folder is made
    info = StoreInfo(study.name, {**study.labels(), "seed": study.seeds})
    limit = study.timeout if timeout is None else timeout
    pace = Pace() if limit is None else Pace(limit)  # a batch over its limit would run twice
    code = code_fingerprint().short
    with Store(Path(folder), info) as store:
        store.select(trial.key for trial in study.trials())
        _keep_study_file(study, Path(folder))
        work = Work(
            items=lambda: study.trials(only),
            missing=lambda trial: not store.has(trial.key, retry_failed=retry_failed),
            batches=lambda trials: batches(by_noisy_log(trials), pace),
            run=partial(run_trials, study=study.name, metrics=study.metrics, code=code),
            failed=lambda trials, kind, message: failed_rows(trials, study.name, kind, message),
            learn=pace.learn,
        )
        executor = partial(choose_executor, workers, scheduler, limit)
        return run_work(work, store, executor, progress)


def run_work(
    work: Work[T],
    store: Store,
    executor: Callable[[], Executor],
    progress: Callable[[Progress], None] | None = None,
) -> RunSummary:
    """Run what is missing in a store; a run that was stopped is taken up.

    Args:
        work: what to run.
        store: open for it.
        executor: makes where it runs, once there is anything to run.
        progress: called with how far the run is, a few times a second.

    Raises:
        StudyError: the store cannot be written, or workers cannot be had.
    """
    run = _Run(work, store, progress or (lambda _: None))
    run.report(run.summary)
    if run.summary.left:
        with executor() as ready:
            run.through(ready)
    if run.summary.done:
        store.spend(time.perf_counter() - run.committed)
    failed = sum(store.failed(item.key) for item in work.items())
    return replace(run.summary, failed=failed, seconds=time.perf_counter() - run.began)


class _Run(Generic[T]):
    """One run: what is missing, and how far it is."""

    def __init__(self, work: Work[T], store: Store, report: Callable[[Progress], None]) -> None:
        self.work, self.store, self.report = work, store, report
        self.began = time.perf_counter()
        items = present = failed = 0
        for item in work.items():
            there = not work.missing(item)
            items, present = items + 1, present + there
            failed += there and store.failed(item.key)
        self.summary = RunSummary(items, present, failed=failed, named=work.named)
        self.waiting: list[Row] = []
        self.committed = self.began

    def through(self, executor: Executor) -> None:
        """Run all that is missing."""
        work = self.work
        self.began = time.perf_counter()
        try:
            for finished in run_items(
                executor,
                work.run,
                work.batches(self._missing()),
                lambda items: [(item,) for item in items],
            ):
                if finished is not None:
                    self._take(*finished)
                    self.summary = replace(self.summary, workers=executor.workers)
                if time.perf_counter() - self.committed >= _COMMIT_EVERY:
                    self._commit()
        finally:
            self._commit()

    def _take(
        self, items: Sequence[T], result: tuple[list[Row], float] | WorkerDied | TimeLimit
    ) -> None:
        """Note the rows of some items, and what they took."""
        if isinstance(result, WorkerDied | TimeLimit):
            kind = WORKER_DIED if isinstance(result, WorkerDied) else TimeLimit.__name__
            self.waiting += self.work.failed(items, kind, str(result))
            return
        rows, seconds = result
        self.waiting += rows
        self.summary = replace(self.summary, cpu_seconds=self.summary.cpu_seconds + seconds)
        self.work.learn(rows)

    def _commit(self) -> None:
        rows, self.waiting = self.waiting, []
        if rows:
            self.store.add(rows)
        before, self.committed = self.committed, time.perf_counter()
        if rows:
            self.store.spend(self.committed - before)
        self.summary = replace(
            self.summary,
            done=self.summary.done + len(rows),
            failed=self.summary.failed + sum(bool(row.get("error_type")) for row in rows),
            seconds=self.committed - self.began,
        )
        self.report(self.summary)

    def _missing(self) -> Iterator[T]:
        """What is to run, made as it is asked for."""
        return filter(self.work.missing, self.work.items())


def _keep_study_file(study: Study, folder: Path) -> None:
    """A copy of the study file beside its results."""
    if study.path is None:
        return
    try:
        write_bytes(folder / "study.toml", study.path.read_bytes())
    except OSError as error:
        raise StudyError(f"{folder}: cannot be written to: {error.strerror or error}") from error
