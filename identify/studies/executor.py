"""Executors that run functions in this process or on workers, with retries."""

from __future__ import annotations

import os
import signal
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib import import_module
from itertools import chain, islice
from multiprocessing import parent_process
from multiprocessing.connection import wait as wait_for_any
from typing import TypeVar

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from identify.errors import IdentifyError, StudyError
from identify.studies.keys import code_fingerprint
from identify.studies.worker_server import CONTEXT, start_worker_server

ItemT = TypeVar("ItemT")


WORKER_CHECK_INTERVAL = 0.2
"""Interval at which an executor's workers are checked while functions run [s]."""


class TimeLimit(Exception):
    """A call was stopped because it took longer than the time limit."""


class Executor(AbstractContextManager["Executor"]):
    """Base class of executors, which run functions with picklable arguments."""

    name: str
    """Name for messages."""

    worker_errors: tuple[type[BaseException], ...] = ()
    """Exceptions of a future which mean that the worker died, not that the function failed."""

    executor_errors: tuple[type[BaseException], ...] = ()
    """Exceptions of a future which mean that the executor and all running calls are lost."""

    workers: int
    """Number of functions that run at a time, as far as is known."""

    @property
    def in_flight(self) -> int:
        """Number of submitted calls that keeps all workers busy."""
        return 2 * self.workers + 1

    @abstractmethod
    def submit(self, function: Callable[..., ItemT], *args: object) -> Future[ItemT]:
        """Submit a function with its arguments."""

    def check_workers(self) -> None:
        """Check the workers; called a few times a second while functions run.

        Raises `StudyError`: running calls cannot finish.
        """

    def close(self) -> None:
        """Stop the workers, and cancel running calls."""

    def __exit__(self, *raised: object) -> None:
        self.close()


class InProcess(Executor):
    """Executor that runs a function at once in this process, for debugging and small studies."""

    name = "in process"
    workers = 1

    @property
    def in_flight(self) -> int:
        """Number of calls in flight: one, because `submit` waits for the result."""
        return 1

    def submit(self, function: Callable[..., ItemT], *args: object) -> Future[ItemT]:
        """Run the function immediately."""
        future: Future[ItemT] = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:  # noqa: BLE001 - a future hands on what the function raises
            future.set_exception(error)
        return future


@lru_cache(maxsize=1)
def limit_blas_threads() -> None:
    """Limit loaded linear algebra libraries to one thread; later calls have no effect."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


ResultT = TypeVar("ResultT")

_MAX_WORKER_DEATHS = 3
"""Number of workers that may die on one work item before the item is given up."""


class WorkerDied(Exception):
    """The worker process died before its call returned."""


def run_items(
    executor: Executor,
    function: Callable[[ItemT], ResultT],
    items: Iterable[ItemT],
    split: Callable[[ItemT], Sequence[ItemT]] = lambda item: (item,),
) -> Iterator[tuple[ItemT, ResultT | WorkerDied | TimeLimit] | None]:
    """Run a function on items; yield each item with its result, None every check interval.

    An item whose worker died, or that took longer than the time limit, is split and its parts run
    again. An item that cannot be split is yielded with the error: a time limit at once, the death
    of a worker after the third one.

    `split`: returns smaller items with the same work; only the item if it cannot be split.
    Raises `StudyError`: no worker is available, the executor is lost, or workers cannot run it;
    `IdentifyError`: the function raised it.
    Function and items must be picklable; items are consumed as they are needed.
    """
    waiting = ((item, 0) for item in items)
    running: dict[Future[ResultT], tuple[ItemT, int]] = {}
    while True:
        for item, deaths in islice(waiting, max(0, executor.in_flight - len(running))):
            running[executor.submit(function, item)] = item, deaths
        if not running:
            return
        done, _ = wait(running, timeout=WORKER_CHECK_INTERVAL, return_when=FIRST_COMPLETED)
        executor.check_workers()
        for future in done:
            item, deaths = running.pop(future)
            result = _result(future, executor)
            if isinstance(result, WorkerDied | TimeLimit):
                parts, worker_died = split(item), isinstance(result, WorkerDied)
                if len(parts) > 1:
                    waiting = chain(((part, 0) for part in parts), waiting)
                    continue
                if worker_died and deaths + 1 < _MAX_WORKER_DEATHS:
                    waiting = chain([(item, deaths + 1)], waiting)
                    continue
            yield item, result
        yield None


def _result(future: Future[ResultT], executor: Executor) -> ResultT | WorkerDied | TimeLimit:
    """Return the result of a call, or the error of its worker."""
    try:
        return future.result()
    except TimeLimit as error:
        return error
    except executor.worker_errors as error:
        # A scheduler's text may fill a page.
        first = (str(error).splitlines() or [type(error).__name__])[0]
        return WorkerDied(f"its worker process died at every attempt: {first}")
    except executor.executor_errors as error:
        raise StudyError(
            f"lost the connection to {executor.name}; finished rows are kept, run again to resume"
        ) from error
    except IdentifyError:
        raise
    except (Exception, SystemExit, GeneratorExit) as error:
        raise StudyError(
            f"a worker cannot run its task: {type(error).__name__}: {error}"
        ) from error


_MAX_FAILED_POOLS = 5
"""Number of successive process pools that may die before they accept a call."""

_SINGLE_THREAD_VARIABLES = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS")
} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""Environment variables that limit linear algebra libraries of a worker to one thread."""


class LocalProcesses(Executor):
    """Executor on processes of this machine, with single-threaded linear algebra.

    Each process is a pebble pool of its own, so that a crash or an exceeded time limit is
    attributed to its call; pebble then replaces the process.
    """

    name = "local processes"
    worker_errors = (WorkerDied,)

    def __init__(self, workers: int, time_limit: float | None = None) -> None:
        """Set the number of processes, which start on first use.

        `time_limit`: of a call [s]; its process is replaced, and its future raises `TimeLimit`.
        """
        self.workers = workers
        self._time_limit = time_limit
        self._threads = ThreadPoolExecutor(workers)
        self._thread = threading.local()
        self._pools: list[ProcessPool] = []
        self._running: set[ProcessFuture] = set()
        self._closed = False

    def submit(self, function: Callable[..., ItemT], *args: object) -> Future[ItemT]:
        """Submit a function to the first free process."""
        return self._threads.submit(self._run, function, args)

    def close(self) -> None:
        """Stop the processes."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for future in tuple(self._running):
            future.cancel()  # pebble leaves it pending, and its thread waiting
        for pool in tuple(self._pools):
            pool.stop()
        for pool in tuple(self._pools):
            pool.join()

    def _run(self, function: Callable[..., ItemT], args: tuple) -> ItemT:
        """Run a call in the process of this thread."""
        for _ in range(_MAX_FAILED_POOLS):
            try:
                pool = self._pool()
                future = pool.schedule(function, args, timeout=self._time_limit)
            except RuntimeError:  # its process died while it had nothing to do
                self._thread.pool = None
                continue
            self._running.add(future)
            if self._closed:
                future.cancel()
            try:
                while not future.done() and pool.active:  # a pool that broke may forget its call
                    wait([future], timeout=WORKER_CHECK_INTERVAL)
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
            f"workers die when they start ({self.name}); completed rows are kept. A "
            f'script that starts them needs `if __name__ == "__main__":`'
        )

    def _pool(self) -> ProcessPool:
        """Return the pool of this thread, created on first use."""
        if getattr(self._thread, "pool", None) is None:
            start_worker_server()
            self._thread.pool = ProcessPool(1, initializer=_initialise_worker, context=CONTEXT)
            self._pools.append(self._thread.pool)
        return self._thread.pool


def _initialise_worker() -> None:
    """Prepare a worker process for calls, and make it end with its parent.

    A keyboard interrupt reaches the whole process group; only the runner handles it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        wait_for_any([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end_with_parent").start()
    os.environ.update(_SINGLE_THREAD_VARIABLES)
    import_module("identify.studies.study")
    limit_blas_threads()
    code_fingerprint()
