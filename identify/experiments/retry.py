"""Items through a function on an executor, whatever becomes of the workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import chain
from typing import Generic, TypeVar

from identify.errors import IdentifyError, StudyError
from identify.experiments.executor import TICK, Executor, TimeLimit, first_line

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
