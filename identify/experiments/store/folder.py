"""The folder of a study's results: who may write to it, and the file that says what is in it."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from identify.errors import StudyError
from identify.experiments.code_mark import CodeMark
from identify.experiments.options import canonical
from identify.files import open_lock, try_lock, write_text

STORE, LOCK = "store.json", "lock"
FORMAT = "identify study results"

SCHEMA_VERSION = 2
"""Of the folder: raised when a column changes its meaning or the files their layout."""


class FolderInUse(StudyError):
    """Another process writes to the folder.

    Attributes:
        folder: which.
        owner: the process, in words.
    """

    def __init__(self, folder: Path, owner: str) -> None:
        self.folder, self.owner = folder, owner
        super().__init__(
            f"{folder}: {owner} is running a study in this folder; wait for it or choose another "
            f"folder"
        )


class FolderLock:
    """An advisory lock on a folder's file `lock`, held until closed.

    The system drops it when the process ends, however it ends: a lock is never left behind. The
    file names the owner, and is emptied by an owner that came to its end.
    """

    def __init__(self, folder: Path) -> None:
        """Take the lock.

        Raises:
            FolderInUse: another process holds it.
            OSError: the file cannot be written, or is a link.
        """
        self._file: IO[str] = open_lock(folder / LOCK)
        owner = self._file.read()
        if not try_lock(self._file):
            self._file.close()
            raise FolderInUse(folder, owner.strip() or "another process")
        self.left_unfinished = bool(owner)
        self._file.truncate(0)
        self._file.seek(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}")
        self._file.flush()

    def close(self, *, finished: bool) -> None:
        """Let go of the lock; `finished` where nothing is left to be put in order."""
        if finished:
            self._file.truncate(0)
        self._file.close()


def left_unfinished(folder: Path) -> bool:
    """Whether the last owner of the folder is at work still, or ended before its end."""
    try:
        return (folder / LOCK).lstat().st_size > 0
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What `store.json` says.

    Attributes:
        study: name of the study that was run last.
        order: labels of its logs, perturbations and estimators, and its seeds, in the order of the
            study file, by the name of their column.
        codes: by mark: digest of the source, versions of the solvers, when it first ran.
    """

    study: str
    order: Mapping[str, Sequence[str | int]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def write_info(folder: Path, info: StoreInfo, mark: CodeMark) -> None:
    """Write `store.json` with its checksum, and with the code that is going to run."""
    entry = {
        "source_sha256": mark.source,
        "versions": dict(mark.versions),
        "first_run": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    codes = {mark.short: entry} | dict(info.codes)
    content = {"schema_version": SCHEMA_VERSION, **asdict(info), "codes": codes}
    whole = {"format": FORMAT, **content, "checksum": _checksum(content)}
    write_text(folder / STORE, json.dumps(whole, indent=1) + "\n")


def read_info(folder: Path) -> StoreInfo | None:
    """What `store.json` of a folder says; None where there is none.

    Raises:
        StudyError: it is of another version, is damaged, or is not the description of results.
    """
    path = folder / STORE
    try:
        content = json.loads(path.read_bytes())
        kind, checksum = content.pop("format"), content.pop("checksum", None)
        version, expected = content["schema_version"], _checksum(content)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StudyError(
            f"{path}: is not the description of a results folder: {error!r}"
        ) from error
    if kind != FORMAT or version != SCHEMA_VERSION:
        raise StudyError(
            f"{path}: results of {kind!r} version {version}, and this program reads and writes "
            f"version {SCHEMA_VERSION}; choose another folder, or use the program that wrote them"
        )
    if checksum != expected:
        raise StudyError(f"{path}: is damaged: delete it, and run the study again")
    del content["schema_version"]
    return StoreInfo(**content)


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()
