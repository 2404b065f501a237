"""What each place holds of a data set, verified: every file's length and sha256, every time."""

from __future__ import annotations

import hashlib
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from identify.catalog.dataset import Dataset, DatasetFile
from identify.catalog.places import Place, places
from identify.catalog.registry import find_dataset


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A file that is there and is not what the registry says; `reason` says how it differs."""

    file: DatasetFile
    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Holding:
    """What one place holds of a data set.

    Attributes:
        dataset: the data set.
        place: the place.
        missing: its files that are not there.
        damaged: those that are there and differ.
    """

    dataset: Dataset
    place: Place
    missing: tuple[DatasetFile, ...]
    damaged: tuple[DamagedFile, ...]

    @property
    def path(self) -> Path:
        """The folder of the data set in this place."""
        return self.place.root / self.dataset.folder

    @property
    def complete(self) -> bool:
        """Whether every file is there as registered."""
        return not self.missing and not self.damaged


def holdings(dataset: str | Dataset) -> tuple[Holding, ...]:
    """What every place holds of a data set, mirrors first.

    Raises:
        UnknownDataset: there is no such data set.
    """
    found = find_dataset(dataset)
    return tuple(holding_in(place, found) for place in places())


def dataset_path(dataset: str | Dataset) -> Path:
    """The folder of a data set on this machine, all of its files verified by sha256.

    The first complete place counts: the mirrors `IDENTIFY_DATA` and `IDENTIFY_SHARED_DATA`, then
    the cache. A damaged file in a place before it is an error, not a reason to go on.

    Raises:
        UnknownDataset: there is no such data set.
        MissingDataset: it is not here; the message says what to do, or which file to place where.
        DamagedDataset: a file differs from what is registered.
    """
    from identify.catalog.remedy import damaged, missing

    found = holdings(dataset)
    for holding in found:
        if holding.complete:
            return holding.path
        if holding.damaged:
            raise damaged(holding)
    raise missing(found)


def holding_in(place: Place, dataset: Dataset) -> Holding:
    """What one place holds of a data set."""
    absent: list[DatasetFile] = []
    damaged: list[DamagedFile] = []
    for file in dataset.files:
        path = place.root / dataset.folder / file.path
        try:
            reason = _difference(path, file)
        except (FileNotFoundError, NotADirectoryError):
            absent.append(file)
            continue
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
        if reason:
            damaged.append(DamagedFile(file, path, reason))
    return Holding(dataset, place, tuple(absent), tuple(damaged))


def _difference(path: Path, file: DatasetFile) -> str | None:
    """How a file differs from what is registered, or None."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if status.st_size != file.size:
        return f"has {status.st_size} bytes, expected {file.size}"
    got = _sha256(path, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return None if got == file.sha256 else f"has sha256 {got}, expected {file.sha256}"


@lru_cache(maxsize=4096)
def _sha256(path: Path, state: tuple[int, ...]) -> str:
    """The sha256 of a file in this state; a study asks for the same file thousands of times."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
