"""`run_study`: the cells of a study that are missing from a folder, run and kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from identify.errors import StudyError
from identify.experiments.batching import Pace, batches
from identify.experiments.cell import Cell
from identify.experiments.code_mark import code_mark
from identify.experiments.executors import Executor, TimeLimit, choose_executor
from identify.experiments.progress import Progress
from identify.experiments.retry import Retrying, WorkersDied
from identify.experiments.store import WORKER_DIED, Store, StoreInfo
from identify.experiments.study import Study
from identify.experiments.work import Row, by_noisy_log, failed_rows, run_cells
from identify.files import write_bytes

_COMMIT_EVERY = 0.2
"""Seconds that finished rows may wait for the disk."""


@dataclass(frozen=True, slots=True)
class RunSummary(Progress):
    """What a run did.

    Attributes:
        failed: of all cells asked for, how many have no estimate now.
        cpu_seconds: processor time of the cells, of all workers.
        workers: how many there were.
    """

    cpu_seconds: float = 0.0
    workers: int = 1

    @property
    def busy(self) -> float:
        """Share of the workers' time that went into cells."""
        return self.cpu_seconds / (self.workers * self.seconds) if self.seconds else 0.0


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
    """Run the cells that the folder does not have yet.

    A run that is stopped, in whatever way, is taken up by the next one. Cells of other code stay
    beside the new ones.

    Args:
        study: what to run.
        folder: for the results: made where it is not there.
        workers: local processes; as many as cores where not given; 0 runs in this process.
        scheduler: address of a Dask scheduler, to run on its workers instead.
        only: `log=…`, `perturbation=…`, `estimator=…`, with `*`: the cells to run.
        retry_failed: run cells again whose row is an error.
        timeout: seconds that a cell may take, its log's preparation included; as the study says
            where not given. A cell that takes longer is stopped with its process, and is a row
            with the error `TimeLimit`.
        progress: called with how far the run is, a few times a second.

    Raises:
        StudyError: another process runs in the folder; it holds results of another schema version;
            it cannot be written (a full disk); the scheduler does not answer, goes away, or has no
            workers; a timeout and no workers.
        MissingExtra: a scheduler is given and `distributed` is not installed.
    """
    wanted = study.selected(only)
    with ExitStack() as stack:
        info = StoreInfo(study.name, {**study.labels(), "seed": study.seeds})
        store = stack.enter_context(Store(Path(folder), info))
        store.select(cell.key for cell in study.cells())
        _keep_study_file(study, Path(folder))
        limit = study.timeout if timeout is None else timeout
        pace = Pace() if limit is None else Pace(limit)  # a batch over its limit would run twice
        run = _Run(study, store, wanted, retry_failed, pace, progress or (lambda _: None))
        run.report(run.summary)
        if run.summary.left:
            run.through(stack.enter_context(choose_executor(workers, scheduler, limit)))
        store.write_table()
        failed = sum(store.failed(cell.key) for cell in run.wanted_cells())
        return replace(run.summary, failed=failed, seconds=time.perf_counter() - run.began)


class _Run:
    """One run: what is missing, and how far it is."""

    def __init__(
        self,
        study: Study,
        store: Store,
        wanted: Callable[[Cell], bool],
        retry_failed: bool,
        pace: Pace,
        report: Callable[[Progress], None],
    ) -> None:
        self.study, self.store, self.wanted, self.report = study, store, wanted, report
        self.retry_failed, self.pace = retry_failed, pace
        self.began = time.perf_counter()
        cells, missing = (sum(1 for _ in some) for some in (self.wanted_cells(), self._missing()))
        self.summary = RunSummary(cells=cells, present=cells - missing)
        self.waiting: list[Row] = []
        self.committed = self.began

    def through(self, executor: Executor) -> None:
        """Run all that is missing."""
        study, pace = self.study, self.pace
        work = partial(run_cells, study=study.name, metrics=study.metrics, code=code_mark().short)
        groups = by_noisy_log(self._missing())
        self.began = time.perf_counter()
        try:
            for finished in Retrying(
                executor, work, batches(groups, pace), lambda cells: [(cell,) for cell in cells]
            ):
                if finished is not None:
                    self._take(*finished)
                    self.summary = replace(self.summary, workers=executor.workers)
                if time.perf_counter() - self.committed >= _COMMIT_EVERY:
                    self._commit()
        finally:
            self._commit()

    def _take(
        self, cells: Sequence[Cell], result: tuple[list[Row], float] | WorkersDied | TimeLimit
    ) -> None:
        """Note the rows of some cells, and what they took."""
        if isinstance(result, WorkersDied | TimeLimit):
            kind = WORKER_DIED if isinstance(result, WorkersDied) else TimeLimit.__name__
            self.waiting += failed_rows(cells, self.study.name, kind, str(result))
            return
        rows, seconds = result
        self.waiting += rows
        self.summary = replace(self.summary, cpu_seconds=self.summary.cpu_seconds + seconds)
        self.pace.learn(rows)

    def _commit(self) -> None:
        rows, self.waiting = self.waiting, []
        if rows:
            self.store.add(rows)
        self.committed = time.perf_counter()
        self.summary = replace(
            self.summary,
            done=self.summary.done + len(rows),
            failed=self.summary.failed + sum(bool(row.get("error_type")) for row in rows),
            seconds=self.committed - self.began,
        )
        self.report(self.summary)

    def wanted_cells(self) -> Iterator[Cell]:
        """What was asked for."""
        return filter(self.wanted, self.study.cells())

    def _missing(self) -> Iterator[Cell]:
        """What is to run, made as it is asked for."""
        for cell in self.wanted_cells():
            if not self.store.has(cell.key, retry_failed=self.retry_failed):
                yield cell


def _keep_study_file(study: Study, folder: Path) -> None:
    """A copy of the study file beside its results."""
    if study.path is None:
        return
    try:
        write_bytes(folder / "study.toml", study.path.read_bytes())
    except OSError as error:
        raise StudyError(f"{folder}: cannot be written to: {error.strerror or error}") from error
