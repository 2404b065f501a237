"""Where work runs: in this process, in local processes, on a Dask cluster; one interface."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import ParamSpec, TypeVar

from identify.errors import StudyError

P = ParamSpec("P")
T = TypeVar("T")


TICK = 0.2
"""Seconds between looks at workers while functions run."""


class TimeLimit(Exception):
    """What a future raises where its call was given up: it took longer than the time limit."""


class Executor(AbstractContextManager["Executor"]):
    """Runs functions of picklable arguments; the results are the same to the bit wherever."""

    name: str
    """For people."""

    died: tuple[type[BaseException], ...] = ()
    """What a future raises where the worker died, not the function."""

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
        """See to the workers: asked a few times a second while functions run.

        Raises:
            StudyError: nothing can be expected of what is in flight.
        """

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
        from identify.experiments.dask_cluster import DaskCluster

        return DaskCluster(scheduler, time_limit)
    if workers != 0:
        from identify.experiments.local_processes import LocalProcesses

        return LocalProcesses(workers or default_workers(), time_limit)
    if time_limit is not None:
        raise StudyError(
            f"a time limit (timeout = {time_limit:g}) needs a process that can be stopped, and "
            f"cells would run in this one; take 1 worker"
        )
    return InProcess()


def default_workers() -> int:
    """As many as this process may use cores."""
    from joblib.externals.loky import cpu_count

    return int(cpu_count())


@lru_cache(maxsize=1)
def hold_threads() -> None:
    """Hold libraries of linear algebra that are loaded already to one thread.

    Once a process: workers that were started otherwise do it before their first cell.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def first_line(error: BaseException) -> str:
    """Of what an error says: a pool's goes on for a page."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
