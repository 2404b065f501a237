"""`fit` and `fit --each` exclude each other in a folder: a table is of the estimates beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from identify.commands.output import OutputError, unwritable
from identify.files import open_lock, try_lock

EACH_STORE = ".fits"
"""Folder of the rows of `fit --each`, in that of its results."""


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
            from identify.experiments.store import LOCK

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
