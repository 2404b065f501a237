"""Where work runs: in this process, in local processes, on a Dask cluster; one interface."""

from __future__ import annotations

import os
import threading
import time
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Executor(AbstractContextManager["Executor"]):
    """Runs functions of picklable arguments; the results are the same to the bit wherever."""

    name: str
    """For people."""

    died: tuple[type[BaseException], ...] = ()
    """What `submit`, or a future, raises where the worker died, not the function."""

    gone: tuple[type[BaseException], ...] = ()
    """What a future raises where all that was in flight is lost, and the executor with it."""

    workers: int
    """How many functions run at a time, as far as is known."""

    @property
    def in_flight(self) -> int:
        """How many calls keep every worker busy; more would only wait, and be lost in a crash."""
        return 2 * self.workers + 1

    @abstractmethod
    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function somewhere."""

    def require_alive(self) -> None:
        """Asked a few times a second while functions run.

        Raises:
            StudyError: nothing can be expected of what is in flight.
        """

    def restart(self) -> None:
        """Be ready again after a worker died; what was in flight is lost."""

    def close(self) -> None:
        """Stop; what is in flight is dropped."""

    def __exit__(self, *raised: object) -> None:
        self.close()


class InProcess(Executor):
    """Runs a function when it is submitted: for debugging and small studies."""

    name = "in process"
    workers = 1

    @property
    def in_flight(self) -> int:
        """One: it is done when `submit` returns."""
        return 1

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function now."""
        future: Future[T] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - a future hands on what the function raises
            future.set_exception(error)
        return future


class LocalProcesses(Executor):
    """Processes of this machine, by joblib's loky, each with its linear algebra on one thread."""

    name = "local processes"
    died = (BrokenProcessPool,)

    def __init__(self, workers: int) -> None:
        """Start `workers` processes."""
        self.workers = workers
        self._pool = self._started()

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function in one of the processes."""
        return self._pool.submit(function, *args, **kwargs)

    def restart(self) -> None:
        """Start new processes in place of the broken pool."""
        self.close()
        self._pool = self._started()

    def close(self) -> None:
        """Kill the processes."""
        self._pool.shutdown(wait=True, kill_workers=True)

    def _started(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        return ProcessPoolExecutor(
            max_workers=self.workers,
            env=_ONE_THREAD,
            initializer=_end_with,
            initargs=(os.getpid(),),
        )


def choose_executor(workers: int | None = None, scheduler: str | None = None) -> Executor:
    """The executor that the arguments ask for.

    Args:
        workers: local processes; as many as cores where not given; 0 runs in this process.
        scheduler: address of a Dask scheduler, instead.

    Raises:
        MissingExtra: a scheduler is given and `distributed` is not installed.
        StudyError: no scheduler answers there.
    """
    if scheduler is not None:
        from identify.experiments.dask_cluster import DaskCluster

        return DaskCluster(scheduler)
    return InProcess() if workers == 0 else LocalProcesses(workers or default_workers())


def default_workers() -> int:
    """As many as this process may use cores."""
    from joblib.externals.loky import cpu_count

    return int(cpu_count())


_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS")} | {
    "VECLIB_MAXIMUM_THREADS": "1"
}
"""Environment of a worker, so that workers do not fight over the cores: read by the libraries of
linear algebra when they are first loaded."""


@lru_cache(maxsize=1)
def hold_threads() -> None:
    """Hold libraries of linear algebra that are loaded already to one thread.

    Once a process: workers that were started otherwise do it before their first cell.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _end_with(parent: int) -> None:
    """End this process when its parent has: a runner that was killed leaves no workers behind."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end_with_parent").start()
