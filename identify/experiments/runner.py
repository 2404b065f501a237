"""`run_study`: the cells of a study that are missing from a folder, run and kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from identify.errors import StudyError
from identify.experiments.backends import Backend, choose_backend
from identify.experiments.code_mark import code_mark
from identify.experiments.dispatch import Dispatcher
from identify.experiments.pacing import Pace, TaskCutter
from identify.experiments.progress import Progress
from identify.experiments.selection import Selected, selected, units
from identify.experiments.store import Store, StoreInfo, write_cells
from identify.experiments.study import Study
from identify.experiments.work import Row, Task, TaskResult, Unit
from identify.files import write_bytes

_COMMIT_EVERY = 0.2
"""Seconds that finished rows may wait for the disk."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run did.

    Attributes:
        cells: asked for.
        present: of them, there before.
        done: by this run, failed ones included.
        failed: of the cells asked for, how many have no estimate now.
        seconds: wall time.
        cpu_seconds: processor time of the cells, of all workers.
        workers: how many there were.
    """

    cells: int
    present: int
    done: int
    failed: int
    seconds: float
    cpu_seconds: float
    workers: int

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
        only: `log=…`, `corruption=…`, `estimator=…`, with `*`: the cells to run.
        retry_failed: run cells again whose row is an error.
        progress: called with how far the run is, a few times a second.

    Raises:
        StudyError: another process runs in the folder; it holds results of another schema version;
            it cannot be written (a full disk); the scheduler does not answer, goes away, or has no
            workers.
        MissingExtra: a scheduler is given and `distributed` is not installed.
    """
    wanted = selected(study, only)
    with ExitStack() as stack:
        store = stack.enter_context(Store(Path(folder), _info(study)))
        write_cells(Path(folder), code_mark().short, (cell.key for cell in study.cells()))
        _keep_study_file(study, Path(folder))
        run = _Run(study, store, wanted, retry_failed, progress or (lambda _: None))
        run.report(run.progress)
        if run.progress.left:
            backend = stack.enter_context(choose_backend(workers, scheduler))
            run.through(backend)
        store.compact()
        return run.summary()


class _Run:
    """One run: what is missing, and how far it is."""

    def __init__(
        self,
        study: Study,
        store: Store,
        wanted: Selected,
        retry_failed: bool,
        report: Callable[[Progress], None],
    ) -> None:
        self.study, self.store, self.wanted, self.report = study, store, wanted, report
        self.retry_failed = retry_failed
        self.began = time.perf_counter()
        cells = sum(map(len, units(study, wanted)))
        missing = sum(map(len, self._missing()))
        self.progress = Progress(cells=cells, present=cells - missing)
        self.waiting: list[Row] = []
        self.committed = self.began
        self.cpu_seconds = 0.0
        self.workers = 1

    def through(self, backend: Backend) -> None:
        """Run all that is missing."""
        pace = Pace()
        dispatcher = Dispatcher(backend, TaskCutter(self._missing(), pace), self._task)
        self.began = time.perf_counter()
        try:
            for result in dispatcher.results():
                self._take(result)
                pace.learn(result.rows)
                self.workers = backend.workers
        finally:
            self._commit()

    def summary(self) -> RunSummary:
        return RunSummary(
            cells=self.progress.cells,
            present=self.progress.present,
            done=self.progress.done,
            failed=sum(
                self.store.failed(key)
                for unit in units(self.study, self.wanted)
                for key, _ in unit.estimators
            ),
            seconds=time.perf_counter() - self.began,
            cpu_seconds=self.cpu_seconds,
            workers=self.workers,
        )

    def _take(self, result: TaskResult) -> None:
        self.waiting += result.rows
        self.cpu_seconds += result.cpu_seconds
        if time.perf_counter() - self.committed >= _COMMIT_EVERY:
            self._commit()

    def _commit(self) -> None:
        rows, self.waiting = self.waiting, []
        if rows:
            self.store.add(rows)
        self.committed = time.perf_counter()
        self.progress = replace(
            self.progress,
            done=self.progress.done + len(rows),
            failed=self.progress.failed + sum(bool(row.get("error_type")) for row in rows),
            seconds=self.committed - self.began,
        )
        self.report(self.progress)

    def _missing(self) -> Iterable[Unit]:
        """What is to run, made as it is asked for."""
        for unit in units(self.study, self.wanted):
            cells = tuple(
                cell
                for cell in unit.estimators
                if not self.store.has(cell[0], retry_failed=self.retry_failed)
            )
            if cells:
                yield Unit(unit.noisy, cells)

    def _task(self, group: tuple[Unit, ...]) -> Task:
        return Task(group, self.study.name, self.study.metrics, code_mark().short)


def _info(study: Study) -> StoreInfo:
    order = {
        "log": [log.name for log in study.logs],
        "corruption": [corruption.label for corruption in study.corruptions],
        "estimator": [named.label for named in study.estimators],
        "seed": study.seeds,
    }
    return StoreInfo(study.name, order)


def _keep_study_file(study: Study, folder: Path) -> None:
    """A copy of the study file beside its results."""
    if study.path is None:
        return
    try:
        write_bytes(folder / "study.toml", study.path.read_bytes())
    except OSError as error:
        raise StudyError(f"{folder}: cannot be written to: {error.strerror or error}") from error
