"""Processes of this machine, by pebble."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context
from typing import Any, ParamSpec, TypeVar

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from identify.errors import StudyError
from identify.studies.executor import TICK, Executor, TimeLimit, WorkerDied, hold_threads
from identify.studies.keys import code_fingerprint

P = ParamSpec("P")
T = TypeVar("T")

_STARTS = 5
"""Pools in a row whose process dies before it takes a call."""

_SPAWN: Any = get_context("spawn")

_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS")} | {
    "VECLIB_MAXIMUM_THREADS": "1"
}
"""Environment of a worker, so that workers do not fight over the cores: read by the libraries of
linear algebra when they are first loaded."""


class LocalProcesses(Executor):
    """Processes of this machine, each with its linear algebra on one thread.

    Each is a pool of pebble with one process, which runs the calls of one thread here. So a death,
    and a time that ran out, are those of the call that ran; pebble replaces the process.
    """

    name = "local processes"
    died = (WorkerDied,)

    def __init__(self, workers: int, time_limit: float | None = None) -> None:
        """Make room for processes, which start when they are needed.

        Args:
            workers: how many.
            time_limit: of a call [s]; its process is replaced, and its future raises `TimeLimit`.
        """
        self.workers = workers
        self._time_limit = time_limit
        self._threads = ThreadPoolExecutor(workers)
        self._thread = threading.local()
        self._pools: list[ProcessPool] = []
        self._running: set[ProcessFuture] = set()
        self._closed = False

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function in the process that is free first."""
        return self._threads.submit(self._run, function, args, kwargs)

    def close(self) -> None:
        """Stop the processes."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for future in tuple(self._running):
            future.cancel()  # pebble leaves it pending, and its thread waiting
        for pool in tuple(self._pools):
            pool.stop()
            pool.join()

    def _run(self, function: Callable[..., T], args: tuple, kwargs: dict) -> T:
        """Run a call in the process of this thread.

        Raises:
            WorkerDied: the process died.
            TimeLimit: the call took longer than its time limit.
            StudyError: processes die as soon as they start.
        """
        for _ in range(_STARTS):
            try:
                pool = self._pool()
                future = pool.schedule(function, args, kwargs, self._time_limit)
            except RuntimeError:  # its process died while it had nothing to do
                self._thread.pool = None
                continue
            self._running.add(future)
            if self._closed:
                future.cancel()
            try:
                while not future.done() and pool.active:  # a pool that broke may forget its call
                    wait([future], timeout=TICK)
                if not future.done():
                    raise BrokenProcessPool
                return future.result()
            except BrokenProcessPool:  # its process died before it took the call
                self._thread.pool = None
            except ProcessExpired as error:
                raise WorkerDied(f"its exit code was {error.exitcode}") from error
            except TimeoutError as error:
                if self._time_limit is None:
                    raise
                limit = f"took longer than its time limit, {self._time_limit:g} s"
                raise TimeLimit(limit) from error
            finally:
                self._running.discard(future)
        raise StudyError(
            f"workers die as soon as they start ({self.name}); what was reported done is kept. A "
            f'script that starts them needs `if __name__ == "__main__":`'
        )

    def _pool(self) -> ProcessPool:
        """Return the pool of this thread, made where it has none."""
        if getattr(self._thread, "pool", None) is None:
            self._thread.pool = ProcessPool(
                1, initializer=_begin, initargs=(os.getpid(),), context=_SPAWN
            )
            self._pools.append(self._thread.pool)
        return self._thread.pool


def _begin(parent: int) -> None:
    """Do once what a call needs, and end this process when its parent has ended, however it did.

    An interrupt from the keyboard reaches the whole group of processes and is the runner's alone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end_with_parent").start()
    os.environ.update(_ONE_THREAD)
    import_module("identify.studies.study")
    hold_threads()
    code_fingerprint()
