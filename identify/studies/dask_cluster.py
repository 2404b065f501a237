"""Executor that runs functions on the workers of a Dask cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import lru_cache, partial
from multiprocessing import current_process
from typing import Any, TypeVar

from identify.errors import MissingExtra, StudyError
from identify.studies.executor import Executor, LocalProcesses, WorkerDied

ResultT = TypeVar("ResultT")

_CONNECT_TIMEOUT = 9.0
"""Longest time to wait for the answer of a scheduler [s]."""

_COUNT_INTERVAL = 2.0
"""Interval at which the workers of a cluster are counted [s], as clusters grow and shrink."""

_WORKER_TIMEOUT = 30.0
"""Longest time without any worker after which a run ends [s]."""


class DaskCluster(Executor):
    """Executor on the workers of a `dask scheduler`."""

    def __init__(self, address: str, time_limit: float | None = None) -> None:
        """Connect to a scheduler.

        `time_limit`: of a call [s], which then runs in a process that its worker starts.
        Raises `MissingExtra`: `distributed` is not installed; `StudyError`: no scheduler answers at
        the address.
        """
        try:
            from distributed import Client, KilledWorker
        except ImportError as error:
            raise MissingExtra("a Dask cluster", "cluster", "distributed") from error
        self.name = f"the scheduler at {address}"
        self.worker_errors, self.executor_errors = (KilledWorker, WorkerDied), (CancelledError,)
        self._time_limit = time_limit
        self._address = address
        self._logger = logging.getLogger("distributed")
        self._level = self._logger.level
        # It logs tracebacks; the errors raised here have the reason in one line.
        self._logger.setLevel(logging.CRITICAL)
        try:
            self._client: Any = Client(address, timeout=_CONNECT_TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            self._logger.setLevel(self._level)
            raise StudyError(
                f"no Dask scheduler answers at {address} within {_CONNECT_TIMEOUT:g} s: "
                f"{error}; start one with `dask scheduler`, and give the "
                f"address it prints"
            ) from error
        self._executor = self._client.get_executor(pure=False)
        self._counted = float("-inf")
        self._workers = 1
        self._last_with_workers = time.monotonic()

    @property
    def workers(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Current number of workers; at least one."""
        self._count()
        return self._workers

    def check_workers(self) -> None:
        """Check that the scheduler is running, and that it has had workers recently.

        Raises `StudyError`: the scheduler is gone, or has had no workers for `_WORKER_TIMEOUT`.
        """
        if self._client.status != "running":
            raise self._lost_scheduler()
        self._count()
        if time.monotonic() - self._last_with_workers > _WORKER_TIMEOUT:
            raise StudyError(
                f"no workers have been connected to {self._address} for {_WORKER_TIMEOUT:g} s; "
                f"start some with `dask worker {self._address}`, and run again to resume"
            )

    def submit(self, function: Callable[..., ResultT], *args: object) -> Future[ResultT]:
        """Submit a function to a worker."""
        if self._time_limit is None:
            return self._executor.submit(function, *args)
        return self._executor.submit(_run_within, self._time_limit, partial(function, *args))

    def close(self) -> None:
        """Cancel running calls and disconnect; scheduler and workers keep running."""
        try:
            # The scheduler may be gone already.
            with suppress(OSError, TimeoutError, CancelledError, RuntimeError):
                self._executor.shutdown(wait=False)
                self._client.close(timeout=2.0)
        finally:
            self._logger.setLevel(self._level)

    def _count(self) -> None:
        """Count the cluster's workers, at most once every `_COUNT_INTERVAL`."""
        if time.monotonic() - self._counted <= _COUNT_INTERVAL:
            return
        try:
            count = len(self._client.nthreads())
        except (OSError, TimeoutError, CancelledError, RuntimeError) as error:
            raise self._lost_scheduler() from error
        self._workers, self._counted = max(1, count), time.monotonic()
        if count:
            self._last_with_workers = self._counted

    def _lost_scheduler(self) -> StudyError:
        return StudyError(
            f"lost the connection to {self.name}; finished rows are kept, run again to resume"
        )


def _run_within(time_limit: float, call: Callable[[], ResultT]) -> ResultT:
    """Run a call on a worker with a time limit, in a separate process."""
    if current_process().daemon:
        raise StudyError(
            "a time limit needs workers that may start processes, and Dask's nanny makes them "
            "daemons; start them with DASK_DISTRIBUTED__WORKER__DAEMON=False, or with --no-nanny"
        )
    return _process_of_this_worker(time_limit).submit(call).result()


@lru_cache(maxsize=1)
def _process_of_this_worker(time_limit: float) -> LocalProcesses:
    return LocalProcesses(1, time_limit)
