"""A folder that one process at a time may write to."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from types import TracebackType
from typing import IO

from identify.errors import StudyError


class FolderLock:
    """An advisory lock on a folder's file `lock`, held until closed.

    The system drops it when the process ends, however it ends: a lock is never left behind.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            StudyError: another process holds it.
            OSError: the file cannot be written.
        """
        self.path = folder / "lock"
        self._file: IO[str] = open(self.path, "a+", encoding="utf-8")  # noqa: SIM115 - held open
        if not _try_lock(self._file):
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            raise StudyError(
                f"{folder}: {holder} is running a study in this folder; wait for it or choose "
                f"another folder"
            )
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}")
        self._file.flush()

    def close(self) -> None:
        """Let go of the lock."""
        self._file.close()

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _try_lock(file: IO[str]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
