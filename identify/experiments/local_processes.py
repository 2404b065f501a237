"""Processes of this machine; each is watched alone, so that what ends it has one cause."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

from identify.errors import StudyError
from identify.experiments.executor import Executor, TimeLimit, first_line, hold_threads
from identify.experiments.keys import code_fingerprint

P = ParamSpec("P")
T = TypeVar("T")

_STARTS, _STARTS_WITHIN = 5, 60.0
"""Processes in a row that may die before they are ready, and seconds that each has for it."""

_AT_HAND = 2
"""Calls that a process is given: the next begins while the runner writes down what came of one."""

_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS")} | {
    "VECLIB_MAXIMUM_THREADS": "1"
}
"""Environment of a worker, so that workers do not fight over the cores: read by the libraries of
linear algebra when they are first loaded."""


@dataclass(slots=True)
class _Call:
    """What is to run, and the future that a caller holds."""

    run: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)


@dataclass(slots=True, eq=False)
class _Worker:
    """A process: a pool of joblib's loky that has no other, and what it does."""

    pool: Any
    calls: deque[_Call] = field(default_factory=deque)
    """The one that runs, and the one that it has at hand for when that is done."""
    since: float = field(default_factory=time.monotonic)
    """When the call that runs began, or else the process."""
    ready: bool = False
    ended: str = ""
    """How its process ended."""


class LocalProcesses(Executor):
    """Processes by joblib's loky, each with its linear algebra on one thread.

    A process runs one call after the other, the first when it has imported what a trial needs: a
    death, and a time that ran out, are those of the call that ran, and of no other.
    """

    name = "local processes"
    died = (BrokenProcessPool,)

    def __init__(self, workers: int, time_limit: float | None = None) -> None:
        """Start processes.

        Args:
            workers: how many.
            time_limit: of a call [s]; its process is replaced, and its future raises `TimeLimit`.
        """
        self.workers = workers
        self._time_limit = time_limit
        self._lock = threading.RLock()
        self._waiting: deque[_Call] = deque()
        self._failed_starts = 0
        self._processes: list[_Worker] = []
        for _ in range(workers):
            self._processes.append(self._started())

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function in the process that is free first."""
        call = _Call(partial(function, *args, **kwargs))
        with self._lock:
            self._waiting.append(call)
            for worker in sorted(self._processes, key=lambda worker: len(worker.calls)):
                self._feed(worker)
        return call.future

    def require_alive(self) -> None:
        """Replace processes that died, and those whose call ran out of time.

        Raises:
            StudyError: new processes die, or do not answer, each time.
        """
        now = time.monotonic()
        with self._lock:
            for worker in self._processes:
                if not worker.ready and now - worker.since > _STARTS_WITHIN:
                    self._note_end(worker, f"not ready within {_STARTS_WITHIN:g} s")
            late = [] if self._time_limit is None else self._give_up_before(now - self._time_limit)
            ended = [worker for worker in self._processes if worker.ended]
            if self._failed_starts >= _STARTS:
                raise StudyError(
                    f"workers die, or do not answer, as soon as they start ({self.name}): "
                    f"{ended[-1].ended}; what was reported done is kept"
                )
        for worker in ended:  # the lock is free: what a pool still has to say needs it
            worker.pool.shutdown(wait=True, kill_workers=True)
            self._processes[self._processes.index(worker)] = self._started()
        for call in late:
            call.future.set_exception(
                TimeLimit(f"took longer than its time limit, {self._time_limit:g} s")
            )

    def close(self) -> None:
        """Kill the processes."""
        with self._lock:
            self._waiting.clear()
            for worker in self._processes:
                worker.ready = False
                worker.calls.clear()
        for worker in self._processes:
            worker.pool.shutdown(wait=True, kill_workers=True)

    def _give_up_before(self, began: float) -> list[_Call]:
        """The calls that began before a time, no longer waited for; their processes are to end."""
        given_up: list[_Call] = []
        for worker in self._processes:
            if worker.calls and worker.since < began:
                given_up.append(worker.calls.popleft())
                self._note_end(worker, "its call took too long")
        return given_up

    def _started(self) -> _Worker:
        from joblib.externals.loky import ProcessPoolExecutor

        worker = _Worker(
            ProcessPoolExecutor(
                max_workers=1,
                env=_ONE_THREAD,
                initializer=_begin,
                initargs=(os.getpid(),),
            )
        )
        proof = worker.pool.submit(_prepare)
        proof.add_done_callback(partial(self._is_ready, worker))
        return worker

    def _is_ready(self, worker: _Worker, proof: Future[None]) -> None:
        with self._lock:
            if error := proof.exception():
                self._note_end(worker, first_line(error))
                return
            self._failed_starts, worker.ready = 0, True
            self._feed(worker)

    def _note_end(self, worker: _Worker, how: str) -> None:
        self._failed_starts += not (worker.ready or worker.ended)
        worker.ended, worker.ready = how, False
        while worker.calls:  # had not begun
            self._waiting.appendleft(worker.calls.pop())

    def _feed(self, worker: _Worker) -> None:
        """Give a process calls, one of them to have at hand."""
        while worker.ready and self._waiting and len(worker.calls) < _AT_HAND:
            call = self._waiting.popleft()
            try:
                running = worker.pool.submit(call.run)
            except BrokenProcessPool as error:
                self._waiting.appendleft(call)
                if not worker.calls:  # it died while it had nothing to do
                    self._note_end(worker, first_line(error))
                return
            if not worker.calls:
                worker.since = time.monotonic()
            worker.calls.append(call)
            running.add_done_callback(partial(self._is_done, worker, call))

    def _is_done(self, worker: _Worker, call: _Call, ran: Future[Any]) -> None:
        error = ran.exception()
        with self._lock:
            if not worker.calls or worker.calls[0] is not call:
                return  # it was given up, or had not begun when the process died
            worker.calls.popleft()
            worker.since = time.monotonic()
            if isinstance(error, BrokenProcessPool):
                self._note_end(worker, first_line(error))
            self._feed(worker)
        if error is None:
            call.future.set_result(ran.result())
        else:
            call.future.set_exception(error)


def _begin(parent: int) -> None:
    """End this process when its parent has: a runner that was killed leaves no workers behind.

    An interrupt from the keyboard reaches the whole group of processes and is the runner's alone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end_with_parent").start()


def _prepare() -> None:
    """Do what each process must do once: a call's time, and the blame for a death, begin after."""
    import_module("identify.experiments.study")
    hold_threads()
    code_fingerprint()
