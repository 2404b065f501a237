"""One file that a command writes, tried before the work starts."""

from __future__ import annotations

from pathlib import Path

from identify.commands.output import require_writable, unwritable


def require_writable_file(path: Path) -> None:
    """Raise unless a file of this name can be written; its folder need not exist yet.

    Raises:
        OutputError: it is a folder, or the folder cannot be written to.
    """
    require_writable(path.parent, (path.name,))


def write_file(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all.

    Raises:
        OutputError: the system does not let it be written.
    """
    from identify.files import write_bytes

    try:
        write_bytes(path, content)
    except OSError as error:
        raise unwritable(path, error) from error
