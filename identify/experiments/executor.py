"""`Executor`: where work runs, and the one that runs it in this process."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import ParamSpec, TypeVar

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
