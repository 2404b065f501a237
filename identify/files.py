"""Files as they lie on disk: found, read whole, hashed; written whole or not at all.

What goes wrong in reading is a `LogError`.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO

from identify.errors import IdentifyError, LogError, MissingFile

_EXPANSION, _ALWAYS_FINE = 200, 256 * 2**20
"""A compressed file may grow this many fold, or to this many bytes."""

SPECIAL = "is a device or a pipe, which a file would take the place of; give the name of a file"

_ABANDONED = 3600.0
"""Age of a temporary file at which the process that wrote it is gone [s]."""


def require_file(path: Path) -> None:
    """Raises `MissingFile`, with the nearest name in that folder, unless `path` is a file."""
    if path.is_file():
        return
    if path.is_dir():
        raise MissingFile(f"{path}: is a folder; expected a file", path=path)
    if path.exists():
        raise MissingFile(f"{path}: is not a regular file", path=path)
    if path.is_symlink():
        raise MissingFile(
            f"{path}: is a link to {os.readlink(path)}, which leads to no file", path=path
        )
    raise MissingFile(f"{path}: no such file{_nearest(path)}", path=path)


def read_bytes(path: Path) -> bytes:
    """The whole content of a file.

    Raises:
        MissingFile: it is not there.
        LogError: it cannot be read.
    """
    require_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def digest(path: Path) -> str:
    """The sha256 of a file, read in chunks (hexadecimal)."""
    require_file(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception, kind: str = "file") -> LogError:
    """The error of a file that is damaged, cut short or of another kind than its name says."""
    reason = str(error).splitlines()[0] if str(error).strip() else type(error).__name__
    return LogError(f"{path}: cannot be read as a {kind}: {reason}", path=path)


@contextmanager
def decoding(path: Path, kind: str) -> Iterator[None]:
    """Within it, whatever a library raises of a damaged file is a `LogError`.

    Decoders of others raise anything, down to `AssertionError` and `struct.error`, and no list of
    types holds for the next version of one.

    Args:
        path: the file.
        kind: what it should be.
    """
    try:
        yield
    except IdentifyError:
        raise
    except Exception as error:
        raise unreadable(path, error, kind) from error


def check_expansion(
    path: Path, compressed: int, expanded: int, remedy: str = "unpack it by hand"
) -> None:
    """Raises `LogError` where a compressed file grows as no log does.

    Args:
        path: the file.
        compressed: its bytes, or those of a part of it.
        expanded: what they become.
        remedy: what to do where that is right.
    """
    if expanded > max(_ALWAYS_FINE, _EXPANSION * compressed):
        raise LogError(
            f"{path}: {compressed} compressed bytes grow to {expanded} or more, which no log does; "
            f"{remedy} if it is what you expect",
            path=path,
        )


def write_bytes(path: Path, content: bytes) -> None:
    """Write under a temporary name beside `path`, then rename; the folder is made if need be."""
    write_together({path: content})


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write files that belong together, each under a temporary name beside it, then rename them.

    None takes its name before all of them are on the disk; they take them in the order given. What
    a process that was killed left under temporary names of theirs goes when it is an hour old.

    Raises:
        MissingFile: a folder, a device or a pipe has the name of one of them.
        OSError: one cannot be written.
    """
    staged: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            handle, staged[path] = _stage(path)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
        for path, temporary in staged.items():
            os.replace(temporary, path)
    except BaseException:
        for temporary in staged.values():
            temporary.unlink(missing_ok=True)
        raise


@contextmanager
def write_stream(path: Path) -> Iterator[IO[bytes]]:
    """A file to write in parts, which takes its name at the end, or leaves nothing.

    Raises:
        MissingFile: a folder, a device or a pipe has its name.
        OSError: it cannot be written.
    """
    handle, temporary = _stage(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def is_special(path: Path) -> bool:
    """Whether a device or a pipe has this name, which a file renamed to it would remove."""
    return (
        path.exists() and not path.is_dir() and (not path.is_file() or str(path.parent) == "/dev")
    )


def _stage(path: Path) -> tuple[int, Path]:
    """An open file under a temporary name beside `path`; its folder is made if need be."""
    if path.is_dir():
        raise MissingFile(f"{path}: is a folder; expected the name of a file", path=path)
    if is_special(path):
        raise MissingFile(f"{path}: {SPECIAL}", path=path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    handle, temporary = tempfile.mkstemp("", f".{path.name}.", path.parent)
    os.chmod(temporary, 0o666 & ~_umask())
    return handle, Path(temporary)


def _remove_abandoned(path: Path) -> None:
    """Remove temporary files of a name that no living process can be writing any more."""
    for left in path.parent.glob(f".{escape(path.name)}.{8 * '[a-z0-9_]'}"):
        with suppress(OSError):  # another process may do the same, and it harms nobody
            if left.is_file() and time.time() - left.stat().st_mtime > _ABANDONED:
                left.unlink()


def write_text(path: Path, content: str) -> None:
    """Write text in UTF-8 as `write_bytes` does; what it has no bytes for, as its code."""
    write_bytes(path, content.encode("utf-8", errors="backslashreplace"))


def take_lock(path: Path) -> IO[str] | None:
    """Open a file, made if need be, with an advisory lock on it; None where another process has it.

    The system drops the lock when the file is closed or the process ends, however it ends.

    Raises:
        OSError: the file cannot be written, or the file system has no locks.
    """
    file = path.open("a+", encoding="utf-8", errors="replace")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        if isinstance(error, BlockingIOError | PermissionError):  # the second is Windows'
            return None
        raise
    return file


def _nearest(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"; the folder {folder} does not exist either"
    try:
        names = sorted(entry.name for entry in folder.iterdir())
        if not path.name.startswith("."):
            names = [name for name in names if not name.startswith(".")]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; {folder} has {', '.join(names[:8])}" if names else f"; {folder} is empty"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
