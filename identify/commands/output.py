"""The folder results go to, tried before the work starts."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from identify.commands.errors import OutputError


def require_writable(folder: Path, names: Sequence[str]) -> None:
    """Raise unless files of these names can be written to a folder, which need not exist yet.

    Nothing is left behind: a folder that does not exist is not made.

    Raises:
        OutputError: it is a file, or cannot be written to, or one of the names is a folder.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise OutputError(folder, "is a file; give -o the name of a folder")
        for name in names:
            if (folder / name).is_dir():
                raise OutputError(folder / name, "is a folder, and would be a file of the results")
        nearest = _nearest_existing(folder)
        if not nearest.is_dir():
            raise OutputError(nearest, f"is a file, so the folder {folder} cannot be made in it")
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OutputError:
        raise
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(path: Path, error: OSError) -> OutputError:
    """The error of a file that the system does not let one write."""
    return OutputError(path, f"cannot be written to: {error.strerror or error}")


def _nearest_existing(folder: Path) -> Path:
    for place in (folder, *folder.absolute().parents):
        if place.exists():
            return place
    return Path.cwd()
