"""What the commands that run many things share: options, messages, and that they exclude others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from identify.commands.answer import answer
from identify.commands.command import UsageError
from identify.commands.output import OutputError, unwritable
from identify.commands.terminal import say
from identify.files import open_lock, try_lock

EACH_STORE = ".fits"
"""Folder of the rows of `fit --each`, in that of its results."""

_INTERRUPTED = 130


def require_workers(workers: int | None, command: str) -> None:
    """Raise `UsageError` where `--workers` is no number of processes."""
    if workers is not None and workers < 0:
        raise UsageError(f"{command}: --workers N: expected 0 or more, got {workers}")


def require_time_limit(seconds: float | None, command: str) -> None:
    """Raise `UsageError` where `--timeout` is no time."""
    if seconds is not None:
        from identify.arrays import positive

        positive(seconds, f"{command}: --timeout S", "s", UsageError)


def interrupted(output: Path) -> int:
    """Say that a run was interrupted from the keyboard, and the exit status of it."""
    kept = f"{output} keeps what was done, and the same command takes it up"
    answer(lambda: {"error": {"type": KeyboardInterrupt.__name__, "message": kept}})
    say(f"identify: interrupted; {kept}", file=sys.stderr)
    return _INTERRUPTED


@contextmanager
def without_fit_each(folder: Path) -> Iterator[None]:
    """Hold off every `fit --each` into a folder, or into the one that it is in.

    Several fits may do so at once.

    Raises:
        OutputError: one is running there.
    """
    with ExitStack() as held:
        for place in (folder.resolve(), folder.resolve().parent):
            store = place / EACH_STORE
            if store.is_symlink() or not store.is_dir():
                continue  # fit --each has not been here, and refuses a link
            from identify.studies.store import LOCK

            try:
                file = held.enter_context(open_lock(store / LOCK, make=False))
                taken = try_lock(file, shared=True)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise unwritable(store, error) from error
            if not taken:
                raise OutputError(
                    folder,
                    f"identify fit --each is writing to {place}; wait for it, or give -o another "
                    "folder",
                )
        yield
