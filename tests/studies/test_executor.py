"""Calls whose worker dies are repeated, and then reported."""

from concurrent.futures import Future

import pytest

from identify.errors import StudyError
from identify.studies.executor import InProcess, WorkerDied, run_items


class Dying(InProcess):
    """Its workers die: at every item, or at the first try of each."""

    worker_errors = (EOFError,)

    def __init__(self, every: bool) -> None:
        self.every, self.tried = every, set()

    def submit(self, function, *args, **kwargs):
        key = repr(args)
        if self.every or key not in self.tried:
            self.tried.add(key)
            future: Future = Future()
            future.set_exception(EOFError("killed"))
            return future
        return super().submit(function, *args, **kwargs)


def results(executor, function, items):
    return dict(finished for finished in run_items(executor, function, items) if finished)


def test_the_item_of_a_dead_worker_is_repeated():
    executor = Dying(every=False)
    assert results(executor, str.upper, "abc") == {"a": "A", "b": "B", "c": "C"}
    assert len(executor.tried) == 3


def test_an_item_that_kills_every_worker_is_reported():
    killed = results(Dying(every=True), str.upper, "ab")
    assert set(killed) == {"a", "b"}
    for error in killed.values():
        assert isinstance(error, WorkerDied)
        assert str(error) == "its worker process died at every attempt: killed"


def test_an_error_in_a_call_is_raised():
    with pytest.raises(StudyError, match="cannot run its task: ZeroDivisionError"):
        results(InProcess(), lambda part: 1 / part, [0])
