"""`Backend`: where tasks run, behind the futures of `concurrent.futures`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Backend(ABC):
    """Runs functions of picklable arguments; the results are the same to the bit wherever."""

    name: str
    """For people."""

    died: tuple[type[BaseException], ...] = ()
    """What a future raises where the worker died, not the function."""

    gone: tuple[type[BaseException], ...] = ()
    """What a future raises where all that was in flight is lost, and the backend with it."""

    workers: int
    """How many tasks run at a time, as far as is known."""

    @property
    def in_flight(self) -> int:
        """How many tasks keep every worker busy; more would only wait, and be lost in a crash."""
        return 2 * self.workers + 1

    @abstractmethod
    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function somewhere."""

    def require_alive(self) -> None:  # noqa: B027 - most need nothing
        """Asked a few times a second while tasks run.

        Raises:
            StudyError: nothing can be expected of what is in flight.
        """

    def renew(self) -> None:  # noqa: B027 - most need nothing
        """Be ready again after a worker died; what was in flight is lost."""

    @abstractmethod
    def close(self) -> None:
        """Stop; what is in flight is dropped."""

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
