"""Reading, hashing, locking and atomic writing of files; errors of reading are `LogError`."""

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

_MAX_EXPANSION_RATIO = 200
"""Maximum ratio of expanded to compressed size of a file; smaller files than
`_ACCEPTED_EXPANDED_BYTES` may exceed it."""

_ACCEPTED_EXPANDED_BYTES = 256 * 2**20
"""Expanded size of a compressed file up to which any expansion ratio is accepted [bytes]."""

NOT_REGULAR_MESSAGE = "is not a regular file but a device or a pipe; give the name of a file"
"""End of the error message for a file name that belongs to a device or a pipe."""

_ABANDONED_AGE_S = 3600.0
"""Age at which a temporary file counts as abandoned [s]."""


def require_file(path: Path) -> None:
    """Raise `MissingFile`, with the nearest name in the same folder, unless `path` is a file."""
    if path.is_file():
        return
    if path.is_dir():
        raise MissingFile(f"{path}: is a folder; expected a file", path=path)
    if path.exists():
        raise MissingFile(f"{path}: is not a regular file", path=path)
    if path.is_symlink():
        raise MissingFile(
            f"{path}: is a link to {os.readlink(path)}, which does not exist", path=path
        )
    raise MissingFile(f"{path}: no such file{_suggest_path(path)}", path=path)


def read_bytes(path: Path) -> bytes:
    """Read the content of a file.

    Raises `MissingFile`: the file does not exist; `LogError`: the file cannot be read.
    """
    require_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise read_error(path, error) from error


def digest(path: Path) -> str:
    """Return the sha256 of a file, hexadecimal, reading it in chunks."""
    require_file(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise read_error(path, error) from error


def digest_of_text(text: str) -> str:
    """Return the sha256 of a text in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_error(path: Path, error: Exception, file_format: str = "file") -> LogError:
    """Create the error for a file that is damaged, truncated or not of the expected format."""
    reason = str(error).splitlines()[0] if str(error).strip() else type(error).__name__
    return LogError(f"{path}: cannot be read as a {file_format}: {reason}", path=path)


@contextmanager
def wrap_decode_errors(path: Path, file_format: str) -> Iterator[None]:
    """Convert every exception of a decoder in this context to a `LogError`.

    Decoders of other libraries raise anything, down to `AssertionError` and `struct.error`, so a
    list of exception types would not be complete.
    """
    try:
        yield
    except IdentifyError:
        raise
    except Exception as error:
        raise read_error(path, error, file_format) from error


def check_expansion(
    path: Path, compressed: int, expanded: int, remedy: str = "unpack it by hand"
) -> None:
    """Raise `LogError` if a compressed file expands beyond the limits.

    `compressed`: size of the file, or of a part of it [bytes]; `expanded`: its size when expanded
    [bytes].
    """
    if expanded > max(_ACCEPTED_EXPANDED_BYTES, _MAX_EXPANSION_RATIO * compressed):
        raise LogError(
            f"{path}: {compressed} compressed bytes expand to {expanded} or more; expected at most "
            f"{_MAX_EXPANSION_RATIO} times as many; {remedy} if the file is correct",
            path=path,
        )


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically; its folder is created if it does not exist."""
    write_files({path: content})


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write several files atomically, each under a temporary name before all are renamed.

    Files are renamed in the order given, after all of them are written. Temporary files of killed
    processes are removed when they are an hour old.

    Raises `MissingFile`: a folder, a device or a pipe has the name of one of them; `OSError`: one
    cannot be written.
    """
    temporary_paths: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            handle, temporary_paths[path] = _open_temporary(path)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
        for path, temporary in temporary_paths.items():
            os.replace(temporary, path)
    except BaseException:
        for temporary in temporary_paths.values():
            temporary.unlink(missing_ok=True)
        raise


@contextmanager
def write_stream(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` on success.

    Raises `MissingFile`: a folder, a device or a pipe has this name; `OSError`: it cannot be
    written.
    """
    handle, temporary = _open_temporary(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def is_device_or_pipe(path: Path) -> bool:
    """Return whether the path is a device or a pipe, which an atomic write would replace."""
    return (
        path.exists() and not path.is_dir() and (not path.is_file() or str(path.parent) == "/dev")
    )


def _open_temporary(path: Path) -> tuple[int, Path]:
    """Open a temporary file in the folder of `path`, which is created if it does not exist."""
    if path.is_dir():
        raise MissingFile(f"{path}: is a folder; expected the name of a file", path=path)
    if is_device_or_pipe(path):
        raise MissingFile(f"{path}: {NOT_REGULAR_MESSAGE}", path=path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path)
    handle, temporary = tempfile.mkstemp("", f".{path.name}.", path.parent)
    os.chmod(temporary, 0o666 & ~_umask())
    return handle, Path(temporary)


def _remove_abandoned(path: Path) -> None:
    """Remove abandoned temporary files of a path."""
    for temporary in path.parent.glob(f".{escape(path.name)}.{8 * '[a-z0-9_]'}"):
        with suppress(OSError):  # another process may do the same at the same time
            if temporary.is_file() and time.time() - temporary.stat().st_mtime > _ABANDONED_AGE_S:
                temporary.unlink()


def write_text(path: Path, content: str) -> None:
    """Write text in UTF-8 atomically; characters that cannot be encoded are escaped."""
    write_bytes(path, content.encode("utf-8", errors="backslashreplace"))


def take_lock(path: Path) -> IO[str] | None:
    """Open or create a file with an exclusive advisory lock; None if it is already locked.

    The system releases the lock when the file is closed or the process ends.

    Raises `OSError`: the file cannot be written, or the file system has no locks.
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
        if isinstance(error, BlockingIOError | PermissionError):  # the second on Windows
            return None
        raise
    return file


def _suggest_path(path: Path) -> str:
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
