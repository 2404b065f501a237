"""Tasks to a backend and rows back, whatever becomes of the workers."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from identify.errors import IdentifyError, StudyError
from identify.experiments.backends import Backend
from identify.experiments.pacing import TaskCutter
from identify.experiments.store import WORKER_DIED
from identify.experiments.work import Task, TaskResult, Unit, failed_rows, run_task

TICK = 0.2
"""Seconds after which `results` comes back even if nothing is done."""

_BLAMED_AFTER = 2
"""Deaths of a worker that had nothing but one cell, after which the cell is to blame."""

_STARTS, _STARTS_WITHIN = 5, 60.0
"""Times that new workers are tried, and seconds that they have to answer."""

_NOTHING = TaskResult([], 0.0)


class Dispatcher:
    """Keeps the workers of a backend busy.

    Tasks whose worker died are suspects. They run again one at a time, with nothing else in flight,
    so that another death has one cause; a task that dies so is taken apart into its cells.
    """

    def __init__(
        self, backend: Backend, cutter: TaskCutter, make: Callable[[tuple[Unit, ...]], Task]
    ) -> None:
        """Nothing is submitted yet.

        Args:
            backend: where tasks run.
            cutter: gives the units of the next task.
            make: the task of some units.
        """
        self._backend, self._cutter, self._make = backend, cutter, make
        self._running: dict[Future[TaskResult], Task] = {}
        self._suspects: deque[Task] = deque()
        self._deaths: Counter[str] = Counter()
        self._alone = False
        self._broken = False

    def results(self) -> Iterator[TaskResult]:
        """What tasks give as they finish, in any order; an empty result at least every `TICK`.

        Raises:
            StudyError: no worker can be had, the backend went away, or workers cannot run the
                package.
        """
        while self._fill():
            done, _ = wait(self._running, timeout=TICK, return_when=FIRST_COMPLETED)
            self._backend.require_alive()
            for future in done:
                yield self._taken(future, self._running.pop(future))
            yield _NOTHING

    def _fill(self) -> bool:
        """Submit what may be in flight; False when all is done."""
        if self._running and (self._alone or self._suspects or self._broken):
            return True
        self._mend()
        self._alone = bool(self._suspects)
        if self._suspects:
            self._submit(self._suspects.popleft())
            return True
        while len(self._running) < self._backend.in_flight:
            group = self._cutter.next()
            if not group:
                break
            self._submit(self._make(group))
        return bool(self._running)

    def _submit(self, task: Task) -> None:
        self._running[self._backend.submit(run_task, task)] = task

    def _taken(self, future: Future[TaskResult], task: Task) -> TaskResult:
        try:
            return future.result()
        except self._backend.died as error:
            self._broken = True
            return self._after_death(task, error)
        except self._backend.gone as error:
            raise StudyError(
                f"{self._backend.name} went away; rows so far are kept, run again to resume"
            ) from error
        except IdentifyError:
            raise
        except Exception as error:
            raise StudyError(
                f"a worker cannot run cells: {type(error).__name__}: {error}"
            ) from error

    def _after_death(self, task: Task, error: BaseException) -> TaskResult:
        """The task again later; or its rows, where it is to blame."""
        if not self._alone:
            self._suspects.append(task)
        elif len(task) > 1:
            self._suspects.extend(self._make((cell,)) for cell in _apart(task))
        else:
            key = task.units[0].estimators[0][0]
            self._deaths[key] += 1
            if self._deaths[key] >= _BLAMED_AFTER:
                self._mend()
                return TaskResult(failed_rows(task, WORKER_DIED, _obituary(error)), 0.0)
            self._suspects.appendleft(task)
        return _NOTHING

    def _mend(self) -> None:
        """New workers where some died, and proof that they live."""
        for left in reversed(range(_STARTS)):
            if not self._broken:
                return
            self._backend.renew()
            try:
                self._backend.submit(os.getpid).result(_STARTS_WITHIN)
                self._broken = False
            except (*self._backend.died, TimeoutError) as error:
                if not left:
                    raise StudyError(
                        f"workers die, or do not answer, as soon as they start "
                        f"({self._backend.name}): {_first_line(error)}; what was reported done is "
                        f"kept"
                    ) from error


def _apart(task: Task) -> Iterator[Unit]:
    for unit in task.units:
        for cell in unit.estimators:
            yield Unit(unit.noisy, (cell,))


def _obituary(error: BaseException) -> str:
    return f"the process that ran this cell died each time it was tried: {_first_line(error)}"


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
