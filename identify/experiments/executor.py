"""`Executor`: where work runs; items through it, and their merge, whatever becomes of the workers.

Sums of floating-point numbers depend on their order. `tree_merge` has the order of the parts: parts
(0, 1), (2, 3), … are merged first, then pairs of pairs; a part without a partner goes up alone. So
the result is the same to the bit whenever parts arrive, however many workers there are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from itertools import chain
from typing import Generic, ParamSpec, TypeVar

from identify.errors import IdentifyError, StudyError

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


def first_line(error: BaseException) -> str:
    """Of what an error says: a pool's goes on for a page."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


T = TypeVar("T")
R = TypeVar("R")

_BLAMED_AFTER = 3
"""Deaths of a worker that had nothing but one item, after which the item is to blame."""


class WorkersDied(Exception):
    """What comes in place of the result of an item that kills its worker each time."""


class Retrying(Generic[T, R]):
    """Each item with what the function gives for it, as they finish; None at least every `TICK`.

    Items whose worker died are suspects. They run again one at a time, with nothing else in flight,
    so that another death has one cause; an item that dies so is taken apart, and one that cannot be
    taken apart is to blame when it has died so three times. An item over the time limit is
    taken apart as well, and to blame where it cannot be.
    """

    def __init__(
        self,
        executor: Executor,
        function: Callable[[T], R],
        items: Iterable[T],
        apart: Callable[[T], Sequence[T]] = lambda item: (item,),
    ) -> None:
        """What is to run; nothing does before it is iterated.

        Args:
            executor: where the function runs.
            function: of one item; both pickle.
            items: nothing is taken of them before it is asked for.
            apart: smaller items that are the same work; the item alone where there are none.
        """
        self._executor, self._function, self._apart = executor, function, apart
        self._items = iter(items)
        self._running: dict[Future[R], tuple[T, int]] = {}
        self._suspects: deque[tuple[T, int]] = deque()
        """With how often each died alone."""
        self._alone = False

    def __iter__(self) -> Iterator[tuple[T, R | WorkersDied | TimeLimit] | None]:
        """Run the items.

        Raises:
            StudyError: no worker can be had, the executor went away, or workers cannot run it.
            IdentifyError: the function raised it.
        """
        while self._fill():
            done, _ = wait(self._running, timeout=TICK, return_when=FIRST_COMPLETED)
            self._executor.require_alive()
            for future in done:
                item, deaths = self._running.pop(future)
                for result in self._result(future, item, deaths):
                    yield item, result
            yield None

    def _fill(self) -> bool:
        """Submit what may be in flight; False when all is done."""
        if self._running and (self._alone or self._suspects):
            return True
        self._alone = bool(self._suspects)
        if self._suspects:
            self._submit(*self._suspects.popleft())
            return True
        while len(self._running) < self._executor.in_flight:
            try:
                self._submit(next(self._items), 0)
            except StopIteration:
                break
        return bool(self._running)

    def _submit(self, item: T, deaths: int) -> None:
        self._running[self._executor.submit(self._function, item)] = item, deaths

    def _result(
        self, future: Future[R], item: T, deaths: int
    ) -> Sequence[R | WorkersDied | TimeLimit]:
        """What the item gave; nothing where it has to be tried again."""
        try:
            return [future.result()]
        except self._executor.died as error:
            return self._after_death(item, deaths, error)
        except TimeLimit as error:
            parts = self._apart(item)
            if len(parts) == 1:
                return [error]
            self._items = chain(parts, self._items)
            return []
        except self._executor.gone as error:
            raise StudyError(
                f"{self._executor.name} went away; rows so far are kept, run again to resume"
            ) from error
        except IdentifyError:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:
            raise StudyError(
                f"a worker cannot run its task: {type(error).__name__}: {error}"
            ) from error

    def _after_death(self, item: T, deaths: int, error: BaseException) -> list[WorkersDied]:
        parts = self._apart(item)
        if not self._alone:
            self._suspects.append((item, 0))
        elif len(parts) > 1:
            self._suspects.extend((part, 0) for part in parts)
        elif deaths + 1 < _BLAMED_AFTER:
            self._suspects.appendleft((item, deaths + 1))
        else:
            said = f"the process that ran this died each time it was tried: {first_line(error)}"
            return [WorkersDied(said)]
        return []


T = TypeVar("T")
C = TypeVar("C")


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
    for finished in Retrying(executor, call, enumerate(parts)):
        if finished is not None:
            (index, _), result = finished
            if isinstance(result, WorkersDied | TimeLimit):
                raise StudyError(f"part {index} of {len(parts)}: {result}") from result
            made[index] = result
    return tree_merge([made[index] for index in range(len(parts))], merge)


def _numbered(statistics: Callable[[C], T], part: tuple[int, C]) -> T:
    return statistics(part[1])
