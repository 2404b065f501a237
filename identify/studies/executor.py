"""`Executor`: where work runs; items through it, and their merge, whatever becomes of the workers.

Sums of floating-point numbers depend on their order. `tree_merge` has the order of the parts: parts
(0, 1), (2, 3), … are merged first, then pairs of pairs; a part without a partner goes up alone. So
the result is the same to the bit whenever parts arrive, however many workers there are.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from importlib import import_module
from itertools import chain, islice
from multiprocessing import get_context
from typing import Any, ParamSpec, TypeVar

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from identify.errors import IdentifyError, StudyError
from identify.studies.keys import code_fingerprint

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

    Once a process: workers that were started otherwise do it before their first trial.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


R = TypeVar("R")

_BLAMED_AFTER = 3
"""Deaths of the worker of one item, after which the item is to blame."""


class WorkerDied(Exception):
    """The process that ran a call died before the call returned."""


def run_items(
    executor: Executor,
    function: Callable[[T], R],
    items: Iterable[T],
    apart: Callable[[T], Sequence[T]] = lambda item: (item,),
) -> Iterator[tuple[T, R | WorkerDied | TimeLimit] | None]:
    """Yield each item with the function's value as items finish, and None at least every `TICK`.

    An item whose worker died, or that took longer than the time limit, is taken apart and its parts
    run again. One that cannot be taken apart is given with the error: of the time limit at
    once, of its worker after the third death.

    Args:
        executor: where the function runs.
        function: of one item; both pickle.
        items: taken as they are needed.
        apart: smaller items that are the same work; the item alone where there are none.

    Raises:
        StudyError: no worker can be had, the executor went away, or workers cannot run it.
        IdentifyError: the function raised it.
    """
    waiting = ((item, 0) for item in items)
    running: dict[Future[R], tuple[T, int]] = {}
    while True:
        for item, deaths in islice(waiting, max(0, executor.in_flight - len(running))):
            running[executor.submit(function, item)] = item, deaths
        if not running:
            return
        done, _ = wait(running, timeout=TICK, return_when=FIRST_COMPLETED)
        executor.require_alive()
        for future in done:
            item, deaths = running.pop(future)
            result = _result(future, executor)
            if isinstance(result, WorkerDied | TimeLimit):
                parts, died = apart(item), isinstance(result, WorkerDied)
                if len(parts) > 1:
                    waiting = chain(((part, 0) for part in parts), waiting)
                    continue
                if died and deaths + 1 < _BLAMED_AFTER:
                    waiting = chain([(item, deaths + 1)], waiting)
                    continue
            yield item, result
        yield None


def _result(future: Future[R], executor: Executor) -> R | WorkerDied | TimeLimit:
    """Return the result of a call, or the error of its worker."""
    try:
        return future.result()
    except TimeLimit as error:
        return error
    except executor.died as error:
        return WorkerDied(
            f"the process that ran this died each time it was tried: {_first_line(error)}"
        )
    except executor.gone as error:
        raise StudyError(
            f"{executor.name} went away; rows so far are kept, run again to resume"
        ) from error
    except IdentifyError:
        raise
    except (Exception, SystemExit, GeneratorExit) as error:
        raise StudyError(
            f"a worker cannot run its task: {type(error).__name__}: {error}"
        ) from error


C = TypeVar("C")


def _first_line(error: BaseException) -> str:
    """Return the first line of an error's text: a scheduler's goes on for a page."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def tree_merge(parts: Sequence[T], merge: Callable[[T, T], T]) -> T:
    """The merge of parts in the tree's order.

    Args:
        parts: at least one.
        merge: of two neighbours, the earlier first.

    Raises:
        ValueError: there is none.
    """
    if not parts:
        raise ValueError("a tree needs at least one part")
    level = list(parts)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [merge(*pair) for pair in pairs] + level[len(level) // 2 * 2 :]
    return level[0]


def reduce_statistics(
    parts: Sequence[C], statistics: Callable[[C], T], merge: Callable[[T, T], T], executor: Executor
) -> T:
    """Statistics of every part, made on the workers and merged here.

    The parts' data are never in this process, their statistics are: a few kilobytes of a log.

    Args:
        parts: what to make statistics of: logs, or ranges of rows; picklable.
        statistics: of one part; a function of a module, run on a worker.
        merge: of two neighbours, the earlier first.
        executor: where it runs.

    Returns:
        The same to the bit for any executor.

    Raises:
        ValueError: no parts.
        StudyError: one part killed its worker each time, or took too long; or workers cannot run
            `statistics`.
        IdentifyError: what `statistics` raises.
    """
    made: dict[int, T] = {}
    call = partial(_numbered, statistics)
    for finished in run_items(executor, call, enumerate(parts)):
        if finished is not None:
            (index, _), result = finished
            if isinstance(result, WorkerDied | TimeLimit):
                raise StudyError(f"part {index} of {len(parts)}: {result}") from result
            made[index] = result
    return tree_merge([made[index] for index in range(len(parts))], merge)


def _numbered(statistics: Callable[[C], T], part: tuple[int, C]) -> T:
    return statistics(part[1])


_MOST_FAILED_POOLS = 5
"""Pools in a row whose process dies before it takes a call."""

_SPAWN: Any = get_context("spawn")

_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "BLIS")} | {
    "VECLIB_MAXIMUM_THREADS": "1"
}
"""Environment of a worker, so that workers do not fight over the cores: read by the libraries of
linear algebra when they are first loaded."""


class LocalProcesses(Executor):
    """Processes of this machine, each with its linear algebra on one thread.

    Each is a pool of pebble with one process, which runs the calls of one thread here. So a death,
    and a time that ran out, are those of the call that ran; pebble replaces the process.
    """

    name = "local processes"
    died = (WorkerDied,)

    def __init__(self, workers: int, time_limit: float | None = None) -> None:
        """Make room for processes, which start when they are needed.

        Args:
            workers: how many.
            time_limit: of a call [s]; its process is replaced, and its future raises `TimeLimit`.
        """
        self.workers = workers
        self._time_limit = time_limit
        self._threads = ThreadPoolExecutor(workers)
        self._thread = threading.local()
        self._pools: list[ProcessPool] = []
        self._running: set[ProcessFuture] = set()
        self._closed = False

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run the function in the process that is free first."""
        return self._threads.submit(self._run, function, args, kwargs)

    def close(self) -> None:
        """Stop the processes."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for future in tuple(self._running):
            future.cancel()  # pebble leaves it pending, and its thread waiting
        for pool in tuple(self._pools):
            pool.stop()
            pool.join()

    def _run(self, function: Callable[..., T], args: tuple, kwargs: dict) -> T:
        """Run a call in the process of this thread.

        Raises:
            WorkerDied: the process died.
            TimeLimit: the call took longer than its time limit.
            StudyError: processes die as soon as they start.
        """
        for _ in range(_MOST_FAILED_POOLS):
            try:
                pool = self._pool()
                future = pool.schedule(function, args, kwargs, self._time_limit)
            except RuntimeError:  # its process died while it had nothing to do
                self._thread.pool = None
                continue
            self._running.add(future)
            if self._closed:
                future.cancel()
            try:
                while not future.done() and pool.active:  # a pool that broke may forget its call
                    wait([future], timeout=TICK)
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
            f"workers die as soon as they start ({self.name}); what was reported done is kept. A "
            f'script that starts them needs `if __name__ == "__main__":`'
        )

    def _pool(self) -> ProcessPool:
        """Return the pool of this thread, made where it has none."""
        if getattr(self._thread, "pool", None) is None:
            self._thread.pool = ProcessPool(
                1, initializer=_begin, initargs=(os.getpid(),), context=_SPAWN
            )
            self._pools.append(self._thread.pool)
        return self._thread.pool


def _begin(parent: int) -> None:
    """Do once what a call needs, and end this process when its parent has ended, however it did.

    An interrupt from the keyboard reaches the whole group of processes and is the runner's alone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end_with_parent").start()
    os.environ.update(_ONE_THREAD)
    import_module("identify.studies.study")
    hold_threads()
    code_fingerprint()
