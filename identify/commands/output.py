"""Where results go: tried before the work starts, and written whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from identify.errors import IdentifyError
from identify.files import SPECIAL, is_special, write_bytes


class OutputError(IdentifyError, OSError):
    """A result cannot be written where it was asked for.

    Attributes:
        path: where.
    """

    def __init__(self, path: Path, message: str) -> None:
        self.path = path
        super().__init__(f"{path}: {message}")


def require_writable(folder: Path, names: Sequence[str]) -> None:
    """Raise unless files of these names can be written to a folder, which need not exist yet.

    Nothing is left behind: a folder that does not exist is not made.

    Raises:
        OutputError: it is a file, or cannot be written to, or one of the names is a folder,
            a device or a pipe or has a NUL in it.
    """
    try:
        if "\0" in str(folder / "".join(names)):
            raise OutputError(folder, "no file can have a name with a NUL in it; give -o another")
        if folder.exists() and not folder.is_dir():
            raise OutputError(folder, "is a file; give -o the name of a folder")
        for name in names:
            if (folder / name).is_dir():
                raise OutputError(folder / name, "is a folder, and would be a file of the results")
            if is_special(folder / name):
                raise OutputError(folder / name, SPECIAL)
        places = (folder, *folder.absolute().parents)
        nearest = next((place for place in places if place.exists()), Path.cwd())
        if not nearest.is_dir():
            raise OutputError(nearest, f"is a file, so the folder {folder} cannot be made in it")
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OutputError:
        raise
    except OSError as error:
        raise unwritable(folder, error) from error


def require_writable_file(path: Path | None) -> None:
    """Raise unless a file of this name, if one is given, can be written; its folder need not exist.

    Raises:
        OutputError: it is a folder, a device or a pipe, or the folder cannot be written to.
    """
    if path is not None:
        require_writable(path.parent, (path.name,))


def write_file(path: Path, content: bytes | None) -> None:
    """Write a file, whole or not at all, or take away what an earlier run left there.

    Raises:
        OutputError: the system does not let it be written or removed.
    """
    try:
        if content is None:
            path.unlink(missing_ok=True)
        else:
            write_bytes(path, content)
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> OutputError:
    """The error of a file that the system does not let one write."""
    return OutputError(path, f"cannot be written to: {error.strerror or error}")
