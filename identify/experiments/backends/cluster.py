"""Workers of a Dask cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

from identify.errors import MissingExtra, StudyError
from identify.experiments.backends.backend import Backend

P = ParamSpec("P")
T = TypeVar("T")

_ANSWER_WITHIN = 4.0
"""Seconds a scheduler has to answer."""

_COUNT_EVERY = 2.0
"""Seconds between looks at how many workers there are: clusters grow and shrink."""


class DaskCluster(Backend):
    """The workers of a `dask scheduler`, however they were started."""

    def __init__(self, address: str) -> None:
        """Connect.

        Args:
            address: of the scheduler: `tcp://host:port`.

        Raises:
            MissingExtra: `distributed` is not installed.
            StudyError: no scheduler answers there.
        """
        try:
            from distributed import Client, KilledWorker
        except ImportError as error:
            raise MissingExtra("a Dask cluster", "cluster", "distributed") from error
        self.name = f"Dask at {address}"
        self.died = (KilledWorker,)
        self._client: Any = _connected(Client, address)
        self._executor: Any = self._client.get_executor(pure=False)
        self._counted = float("-inf")
        self._workers = 1

    @property
    def workers(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Workers that are there now; at least one."""
        if time.monotonic() - self._counted > _COUNT_EVERY:
            self._workers = max(1, len(self._client.nthreads()))
            self._counted = time.monotonic()
        return self._workers

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function on one of the workers."""
        return self._executor.submit(function, *args, **kwargs)

    def close(self) -> None:
        """Drop what is in flight and disconnect; scheduler and workers stay."""
        self._executor.shutdown(wait=False)
        self._client.close(timeout=2.0)


def _connected(client: Callable[..., Any], address: str) -> Any:
    """A client of the scheduler; a thread waits for it, as one that hears nothing waits for ever.

    Raises:
        StudyError: no scheduler answers in time.
    """
    future: Future[Any] = Future()

    def connect() -> None:
        try:
            future.set_result(client(address, timeout=_ANSWER_WITHIN, set_as_default=False))
        except Exception as error:  # noqa: BLE001 - told below, whatever it is
            future.set_exception(error)

    threading.Thread(target=connect, daemon=True, name="connect to Dask").start()
    try:
        return future.result(_ANSWER_WITHIN + 1.0)
    except Exception as error:
        raise StudyError(
            f"no Dask scheduler answers at {address} within {_ANSWER_WITHIN:g} s: "
            f"{str(error) or type(error).__name__}; start one with `dask scheduler`, and give the "
            f"address it prints"
        ) from error
