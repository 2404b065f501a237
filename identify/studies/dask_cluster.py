"""Workers of a Dask cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import lru_cache, partial
from multiprocessing import current_process
from typing import Any, ParamSpec, TypeVar

from identify.errors import MissingExtra, StudyError
from identify.studies.executor import Executor, LocalProcesses, WorkerDied

P = ParamSpec("P")
T = TypeVar("T")

_ANSWER_WITHIN = 9.0
"""Seconds a scheduler has to answer."""

_COUNT_EVERY = 2.0
"""Seconds between looks at how many workers there are: clusters grow and shrink."""

_WORKERS_WITHIN = 30.0
"""Seconds that tasks wait for a first worker, or for another where the last one left."""


class DaskCluster(Executor):
    """The workers of a `dask scheduler`, however they were started."""

    def __init__(self, address: str, time_limit: float | None = None) -> None:
        """Connect.

        Args:
            address: of the scheduler: `tcp://host:port`.
            time_limit: of a call [s], which then runs in a process that its worker starts.

        Raises:
            MissingExtra: `distributed` is not installed.
            StudyError: no scheduler answers there.
        """
        try:
            from distributed import Client, KilledWorker
        except ImportError as error:
            raise MissingExtra("a Dask cluster", "cluster", "distributed") from error
        self.name = f"the scheduler at {address}"
        self.died, self.gone = (KilledWorker, WorkerDied), (CancelledError,)
        self._time_limit = time_limit
        self._address = address
        self._logger = logging.getLogger("distributed")
        self._level = self._logger.level
        # What it logs, tracebacks for the most part, is said here in one line.
        self._logger.setLevel(logging.CRITICAL)
        try:
            self._client: Any = Client(address, timeout=_ANSWER_WITHIN, set_as_default=False)
        except (OSError, ValueError) as error:
            self._logger.setLevel(self._level)
            raise StudyError(
                f"no Dask scheduler answers at {address} within {_ANSWER_WITHIN:g} s: "
                f"{error}; start one with `dask scheduler`, and give the "
                f"address it prints"
            ) from error
        self._executor = self._client.get_executor(pure=False)
        self._counted = float("-inf")
        self._workers = 1
        self._seen = time.monotonic()

    @property
    def workers(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Workers that are there now; at least one."""
        self._count()
        return self._workers

    def require_alive(self) -> None:
        """Raise where the scheduler went away, or has had no workers for a while.

        Raises:
            StudyError: it is so.
        """
        if self._client.status != "running":
            raise self._went_away()
        self._count()
        if time.monotonic() - self._seen > _WORKERS_WITHIN:
            raise StudyError(
                f"no workers are connected to {self._address}, for {_WORKERS_WITHIN:g} s now; "
                f"start some with `dask worker {self._address}`, and run again to resume"
            )

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function on one of the workers."""
        if self._time_limit is None:
            return self._executor.submit(function, *args, **kwargs)
        call = partial(function, *args, **kwargs)
        return self._executor.submit(_run_within, self._time_limit, call)

    def close(self) -> None:
        """Drop what is in flight and disconnect; scheduler and workers stay."""
        try:
            # A scheduler that went away need not be told.
            with suppress(OSError, TimeoutError, CancelledError, RuntimeError):
                self._executor.shutdown(wait=False)
                self._client.close(timeout=2.0)
        finally:
            self._logger.setLevel(self._level)

    def _count(self) -> None:
        """Look how many workers there are, where the last look was a while ago."""
        if time.monotonic() - self._counted <= _COUNT_EVERY:
            return
        try:
            there = len(self._client.nthreads())
        except (OSError, TimeoutError, CancelledError, RuntimeError) as error:
            raise self._went_away() from error
        self._workers, self._counted = max(1, there), time.monotonic()
        if there:
            self._seen = self._counted

    def _went_away(self) -> StudyError:
        return StudyError(f"{self.name} went away; rows so far are kept, run again to resume")


def _run_within(time_limit: float, call: Callable[[], T]) -> T:
    """Run a call with a time limit on a worker, in a process of its own.

    Raises:
        TimeLimit: the call took longer.
        WorkerDied: its process died.
        StudyError: this worker cannot start processes.
    """
    if current_process().daemon:
        raise StudyError(
            "a time limit needs workers that may start processes, and Dask's nanny makes them "
            "daemons; start them with DASK_DISTRIBUTED__WORKER__DAEMON=False, or with --no-nanny"
        )
    return _process_of_this_worker(time_limit).submit(call).result()


@lru_cache(maxsize=1)
def _process_of_this_worker(time_limit: float) -> LocalProcesses:
    return LocalProcesses(1, time_limit)
