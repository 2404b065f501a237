"""Tasks one after the other in this process: for debugging and small studies."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

from identify.experiments.backends.backend import Backend

P = ParamSpec("P")
T = TypeVar("T")


class InProcess(Backend):
    """Runs a function when it is submitted."""

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

    def close(self) -> None:
        """Nothing to stop."""
