"""Processes of this machine, by joblib's loky."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any, ParamSpec, TypeVar

from identify.experiments.backends.backend import Backend
from identify.experiments.backends.threads import ONE_THREAD, end_with

P = ParamSpec("P")
T = TypeVar("T")


class LocalProcesses(Backend):
    """A pool of processes, each with its linear algebra on one thread."""

    name = "local processes"
    died = (BrokenProcessPool,)

    def __init__(self, workers: int) -> None:
        """Start the pool.

        Args:
            workers: how many processes.
        """
        self.workers = workers
        self._pool = _pool(workers)

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function in one of the processes."""
        try:
            return self._pool.submit(function, *args, **kwargs)
        except BrokenProcessPool as error:  # it broke since the last look
            future: Future[T] = Future()
            future.set_exception(error)
            return future

    def renew(self) -> None:
        """Start a new pool in place of the broken one."""
        self.close()
        self._pool = _pool(self.workers)

    def close(self) -> None:
        """Kill the processes."""
        self._pool.shutdown(wait=True, kill_workers=True)


def _pool(workers: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(
        max_workers=workers, env=ONE_THREAD, initializer=end_with, initargs=(os.getpid(),)
    )


def default_workers() -> int:
    """As many as this process may use cores."""
    from joblib.externals.loky import cpu_count

    return int(cpu_count())
