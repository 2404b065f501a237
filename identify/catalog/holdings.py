"""What each place holds of a data set, verified: every file's length and sha256, every time.

The places are the mirrors that the environment names, which are only read, then the cache.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from identify.catalog.registry import Dataset, DatasetFile, find_dataset
from identify.errors import DatasetError

MIRROR_VARIABLES = ("IDENTIFY_DATA", "IDENTIFY_SHARED_DATA")
"""Environment variables that may name a local mirror, the first that is complete counts."""

_SHOWN = 4
"""Files that a message names one by one; `identify datasets list NAME` names all."""


class DatasetFilesError(DatasetError):
    """Files of a data set are not here, or not as registered.

    Attributes:
        files: their paths, of what is missing in the folder to place them in.
    """

    def __init__(self, message: str, files: Sequence[Path]) -> None:
        self.files = tuple(files)
        super().__init__(message)


class MissingDataset(DatasetFilesError, FileNotFoundError):
    """A data set, or a part of it, is not on this machine."""


class DamagedDataset(DatasetFilesError):
    """Files that are there are not what the registry says."""


@dataclass(frozen=True, slots=True)
class Holding:
    """What one place holds of a data set.

    Attributes:
        dataset: the data set.
        root: the place, a folder with one folder a data set in it.
        variable: the environment variable that names it; None for the cache, where downloads go.
        missing: the files of the data set that are not there.
        damaged: those that are there and are not what the registry says, with how they differ.
    """

    dataset: Dataset
    root: Path
    variable: str | None
    missing: tuple[DatasetFile, ...]
    damaged: Mapping[DatasetFile, str]

    @property
    def path(self) -> Path:
        """The folder of the data set in this place."""
        return self.root / self.dataset.folder

    @property
    def place(self) -> str:
        """The place, for a message."""
        return f"{self.variable}={self.root}" if self.variable else f"the cache {self.root}"

    @property
    def complete(self) -> bool:
        """Whether every file is there as registered."""
        return not self.missing and not self.damaged


def places() -> dict[Path, str | None]:
    """The mirrors with the variables of the environment that name them, then the cache."""
    found: dict[Path, str | None] = {}
    for name in MIRROR_VARIABLES:
        if value := os.environ.get(name):
            found.setdefault(Path(os.path.abspath(os.path.expanduser(value))), name)
    return found | {cache_folder(): None}


def cache_folder() -> Path:
    """The folder that downloads go to: the system's for caches, below it ours.

    On Linux that is `$XDG_CACHE_HOME/inertia-identify`, by default `~/.cache/inertia-identify`.
    """
    import pooch

    return Path(os.path.abspath(pooch.os_cache("inertia-identify")))


def look_for(dataset: str | Dataset) -> tuple[Holding, ...]:
    """What every place holds of a data set, mirrors first, the cache last.

    Raises:
        DatasetError: there is no such data set.
    """
    found = find_dataset(dataset)
    return tuple(_holding(found, root, variable) for root, variable in places().items())


def dataset_path(dataset: str | Dataset) -> Path:
    """The folder of a data set on this machine, all of its files verified by sha256.

    The first complete place counts: the mirrors `IDENTIFY_DATA` and `IDENTIFY_SHARED_DATA`, then
    the cache. A damaged file in a place before it is an error, not a reason to go on.

    Raises:
        DatasetError: there is no such data set.
        MissingDataset: it is not here; the message says what to do, or which file to place where.
        DamagedDataset: a file differs from what is registered.
    """
    found = look_for(dataset)
    path = first_complete(found)
    if path is None:
        raise missing(found)
    return path


def first_complete(found: Sequence[Holding], *, cache_may_be_damaged: bool = False) -> Path | None:
    """The folder of the first complete place, or None.

    Args:
        found: what the places hold, the cache last.
        cache_may_be_damaged: whether damage in the cache is passed over.

    Raises:
        DamagedDataset: a place before it has a file that differs from what is registered; the
            message says how to replace it.
    """
    for holding in found:
        if holding.complete:
            return holding.path
        if not holding.damaged or (cache_may_be_damaged and holding.variable is None):
            continue
        paths = [holding.path / file.path for file in holding.damaged]
        more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
        remedy = "replace it with the file as published"
        if holding.variable is not None:
            remedy += f", or unset {holding.variable}"
        elif holding.dataset.not_downloaded is None:
            remedy = f"`identify datasets fetch {holding.dataset.name}` downloads it again"
        raise DamagedDataset(
            f"{holding.dataset.name}: {paths[0]} {next(iter(holding.damaged.values()))}{more}: it "
            f"is damaged or was changed (line ends count); {remedy}",
            paths,
        )
    return None


def missing(found: Sequence[Holding]) -> MissingDataset:
    """The error of a data set that no place holds whole, with how to get it.

    Args:
        found: what the places hold, the cache last; none is complete or damaged.
    """
    dataset = found[-1].dataset
    target = min(reversed(found), key=lambda holding: len(holding.missing))  # the cache in a tie
    tried = [] if len(found) > 1 else [f"{MIRROR_VARIABLES[0]} is not set"]
    for holding in found:
        lacks = f"lacks {len(holding.missing)} of {len(dataset.files)} files in {dataset.folder}/"
        is_there = holding.variable is None or holding.root.is_dir()
        tried.append(f"{holding.place} {lacks if is_there else 'is no folder'}")
    way = f"run `identify datasets fetch {dataset.name}`; or, offline, "
    if dataset.not_downloaded is not None:
        way = (
            f"it is not downloaded: {dataset.not_downloaded}\n"
            f"let {MIRROR_VARIABLES[0]} name a folder that holds {dataset.folder}/; or "
        )
    return MissingDataset(
        f"{dataset.name}: not on this machine: {'; '.join(tried)}\n"
        f"{way}{by_hand(target, target.missing)}",
        [target.path / file.path for file in target.missing],
    )


def by_hand(holding: Holding, absent: Sequence[DatasetFile]) -> str:
    """How to place files by hand, a line each: exact path, sha256 and address."""
    text = "place by hand"
    for file in absent[:_SHOWN]:
        text += f"\n  {holding.path / file.path}\n    sha256 {file.sha256}"
        text += f"\n    from {file.url}" if file.url else ""
    if len(absent) > _SHOWN:
        listed = f"`identify datasets list {holding.dataset.name}`"
        text += f"\n  and {len(absent) - _SHOWN} more, which {listed} names"
    return text


def _holding(dataset: Dataset, root: Path, variable: str | None) -> Holding:
    absent: list[DatasetFile] = []
    changed: dict[DatasetFile, str] = {}
    for file in dataset.files:
        path = root / dataset.folder / file.path
        try:
            state = path.stat()
            if not stat.S_ISREG(state.st_mode):
                changed[file] = "is not a regular file"
            elif state.st_size != file.size:
                changed[file] = f"has {state.st_size} bytes, expected {file.size}"
            else:
                got = _sha256(path, state.st_ino, state.st_mtime_ns, state.st_ctime_ns)
                if got != file.sha256:
                    changed[file] = f"has sha256 {got}, expected {file.sha256}"
        except (FileNotFoundError, NotADirectoryError):
            absent.append(file)
        except OSError as error:
            changed[file] = f"cannot be read: {error.strerror or error}"
    return Holding(dataset, root, variable, tuple(absent), changed)


@lru_cache(maxsize=4096)
def _sha256(path: Path, *state: int) -> str:
    """The sha256 of a file in this state; a study asks for the same file thousands of times."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
