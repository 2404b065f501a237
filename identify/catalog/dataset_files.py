"""Registry of public data sets, and verification of their files in a mirror or the cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, PositiveInt, StringConstraints

from identify.documents import DocumentTable, lookup, read_toml, validate
from identify.errors import DatasetError

_PACKAGE = Path(__file__).parent

NonEmptyText: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
SingleLineText: TypeAlias = Annotated[
    NonEmptyText, AfterValidator(lambda text: " ".join(text.split()))
]
Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
FileRole: TypeAlias = Literal["log", "truth", "points", "scores", "model", "reference"]


class DatasetFile(DocumentTable):
    """One file of a data set.

    Attributes:
        path: path in the folder of the data set, with slashes.
        role: purpose of the file.
        size: length of the file [bytes].
        sha256: checksum of its content, hexadecimal.
        url: address for the download; None if it has to be placed by hand.
    """

    path: str
    role: FileRole
    size: PositiveInt
    sha256: Sha256
    url: str | None = None


class Dataset(DocumentTable):
    """A public data set.

    Attributes:
        name: name in the registry.
        description: description in one line; key `what`.
        kind: whether its logs are of one body's wrench or of an arm's joint torques.
        version: version of the registered layout.
        folder: its folder in a mirror and in the cache.
        layout: description of the files: columns, frames, units.
        schema_file: schema of the logs; relative to this package.
        home: web page of the data set.
        licence: SPDX identifier.
        licence_note: remark on the licence.
        citation: reference to cite.
        doi: DOI of the publication, if it has one.
        evidence: source of addresses and checksums.
        not_downloaded: reason why it is not downloaded; None if it is.
        files: all files of the data set.
    """

    name: str
    description: SingleLineText = Field(alias="what")
    kind: Literal["wrench", "joint torque"]
    version: SingleLineText
    folder: str
    layout: NonEmptyText
    schema_file: str = Field(alias="schema")
    home: str
    licence: SingleLineText
    licence_note: SingleLineText | None = None
    citation: SingleLineText
    doi: SingleLineText | None = None
    evidence: SingleLineText
    not_downloaded: SingleLineText | None = None
    files: Annotated[tuple[DatasetFile, ...], Field(min_length=1)]

    @property
    def schema_path(self) -> Path:
        """Path of `schema_file` in the installed package."""
        return _PACKAGE / self.schema_file

    @property
    def size(self) -> int:
        """Length of all files [bytes]."""
        return sum(file.size for file in self.files)

    def of_role(self, role: FileRole) -> tuple[DatasetFile, ...]:
        """Return the files with a role, in the order of the registry."""
        return tuple(file for file in self.files if file.role == role)


def dataset_names() -> tuple[str, ...]:
    """Return the names of the registered data sets, in alphabetical order."""
    return tuple(_datasets_by_name())


def find_dataset(name: str | Dataset) -> Dataset:
    """Return the data set of a name; a `Dataset` is returned unchanged.

    Raises:
        DatasetError: unknown name; the message suggests the nearest one.
    """
    if isinstance(name, Dataset):
        return name
    return lookup(_datasets_by_name(), name, "data set", DatasetError)


@lru_cache(maxsize=1)
def _datasets_by_name() -> dict[str, Dataset]:
    path = _PACKAGE / "registry.toml"
    datasets: dict[str, Dataset] = {}
    for name, table in sorted(read_toml(path, DatasetError).items()):
        files = [{"path": file, **entry} for file, entry in table.pop("files").items()]
        entry = {"name": name, **table, "files": files}
        datasets[name] = validate(Dataset, entry, f"{path}: [{name}]", DatasetError)
    return datasets


MIRROR_VARIABLE = "IDENTIFY_DATA"
"""Environment variable with the path of a local mirror of the data sets, which is only read."""

_TIMEOUT_SECONDS = 20.0
"""Longest time without data from a server [s]."""

_MAX_LISTED_FILES = 4
"""Maximum number of files that a message lists; `identify datasets list NAME` lists all."""


@dataclass(frozen=True, slots=True)
class DatasetCopy:
    """Local copy of a data set, in the mirror or in the cache.

    Attributes:
        path: folder of the copy.
        missing: files that do not exist.
        damaged: files that differ from the registry, with the difference.
    """

    path: Path
    missing: tuple[DatasetFile, ...]
    damaged: Mapping[DatasetFile, str]

    @property
    def complete(self) -> bool:
        """Whether every file exists and matches the registry."""
        return not self.missing and not self.damaged


def cache_folder() -> Path:
    """Return the folder for downloads, in the system's folder for caches.

    On Linux that is `$XDG_CACHE_HOME/inertia-identify`, by default `~/.cache/inertia-identify`.
    """
    import pooch

    return Path(os.path.abspath(pooch.os_cache("inertia-identify")))


def find_copy(dataset: str | Dataset) -> tuple[DatasetCopy, ...]:
    """Find a data set in the mirror, if set, and in the cache, and verify its files by sha256.

    Raises:
        DatasetError: there is no such data set.
    """
    entry, mirror = find_dataset(dataset), os.environ.get(MIRROR_VARIABLE)
    mirrors = [Path(mirror).expanduser().absolute()] if mirror else []
    return tuple(_verify(entry, root / entry.folder) for root in (*mirrors, cache_folder()))


def _verify(dataset: Dataset, folder: Path) -> DatasetCopy:
    """Verify the files of a data set in a folder by sha256."""
    import pooch

    missing: list[DatasetFile] = []
    damaged: dict[DatasetFile, str] = {}
    for file in dataset.files:
        path = folder / file.path
        try:
            size, sha256 = path.stat().st_size, pooch.file_hash(str(path))
            if size != file.size:
                damaged[file] = f"has {size} bytes, expected {file.size}"
            elif sha256 != file.sha256:
                damaged[file] = f"has sha256 {sha256}, expected {file.sha256}"
        except (FileNotFoundError, NotADirectoryError):
            missing.append(file)
        except OSError as error:
            damaged[file] = f"cannot be read: {error.strerror or error}"
    return DatasetCopy(folder, tuple(missing), damaged)


def dataset_path(dataset: str | Dataset) -> Path:
    """Return the folder of a data set, all of its files verified by sha256.

    The first complete copy is used: in the mirror `IDENTIFY_DATA`, then in the cache. A damaged
    file in a copy before it is an error.

    Raises:
        DatasetError: unknown data set, no complete copy (the message gives the remedy), or a file
            that differs from the registry.
    """
    entry, tried = find_dataset(dataset), []
    *mirror, cache = dataset_copies = find_copy(entry)
    for holding in dataset_copies:
        if holding.complete:
            return holding.path
        if holding.damaged:
            remedy = "replace it with the file as published"
            if holding is not cache:
                remedy += f", or unset {MIRROR_VARIABLE}"
            elif entry.not_downloaded is None:
                remedy = f"`identify datasets fetch {entry.name}` downloads it again"
            paths = [holding.path / file.path for file in holding.damaged]
            more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
            difference = next(iter(holding.damaged.values()))
            raise DatasetError(
                f"{entry.name}: {paths[0]} {difference}{more}: it is damaged or was changed (line "
                f"ends count); {remedy}",
                paths,
            )
        tried.append(f"{holding.path} lacks {len(holding.missing)} of {len(entry.files)} files")
    way = f"run `identify datasets fetch {entry.name}`; or, offline, "
    if entry.not_downloaded is not None:
        way = (
            f"it is not downloaded: {entry.not_downloaded}\n"
            f"let {MIRROR_VARIABLE} name a folder that holds {entry.folder}/; or "
        )
    target = min([cache, *mirror], key=lambda each: len(each.missing))
    raise DatasetError(
        f"{entry.name}: not on this machine: "
        f"{'; '.join(tried if mirror else [f'{MIRROR_VARIABLE} is not set', *tried])}\n"
        f"{way}{_manual_instructions(entry, target.path, target.missing)}",
        [target.path / file.path for file in target.missing],
    )


def fetch(dataset: str | Dataset, *, progress: Callable[[str], None] | None = None) -> Path:
    """Download and verify a data set, unless there is a verified copy.

    Args:
        dataset: its name.
        progress: called with a message for each downloaded file.

    Returns:
        The folder of the data set, as `dataset_path` gives it.

    Raises:
        DatasetError: unknown data set; it is not downloadable (the message says why, and how to
            place it by hand); a file of a mirror differs from the registry; an address cannot be
            reached or serves another file; or the cache cannot be written to. Partial files are
            removed.
    """
    import pooch

    entry = find_dataset(dataset)
    *mirror, cache = find_copy(entry)
    if entry.not_downloaded or any(each.complete or each.damaged for each in mirror):
        return dataset_path(entry)
    pooch.get_logger().setLevel("WARNING")  # it would announce each download, as `progress` does
    absent = [*cache.missing, *cache.damaged]
    fetcher = pooch.create(
        cache.path,
        "",
        registry={file.path: file.sha256 for file in absent},
        urls={file.path: str(file.url) for file in absent},
    )
    for k, file in enumerate(absent):
        if progress is not None:
            progress(f"downloading {file.path}, {file.size / 1e6:.1f} MB")
        try:
            downloader: Any = _download  # pooch's type has other argument names
            path = fetcher.fetch(file.path, downloader=downloader)
            os.chmod(path, 0o644)  # temporary files are private, but a cache may be shared
        except (OSError, ValueError) as error:
            raise DatasetError(
                f"{entry.name}: {_describe_download_failure(file, cache.path, error)}; nothing "
                "partial was kept. Try again; or "
                f"{_manual_instructions(entry, cache.path, absent[k:])}",
                [cache.path / each.path for each in absent[k:]],
            ) from error
    return cache.path


def _download(url: str, temporary: str, _: object) -> None:
    """Download a file under a temporary name; pooch verifies and renames it."""
    import requests

    response = requests.get(url, timeout=_TIMEOUT_SECONDS)
    response.raise_for_status()
    Path(temporary).write_bytes(response.content)


def _describe_download_failure(file: DatasetFile, folder: Path, error: Exception) -> str:
    """Describe a failed download: unreachable address, wrong content or unwritable folder."""
    import requests

    if isinstance(error, requests.RequestException):
        response, kind = error.response, type(error).__name__
        answer = f"({kind})" if response is None else f"(HTTP {response.status_code})"
        return f"{file.url} did not serve the file {answer}"
    if isinstance(error, OSError):
        return f"{folder} cannot be written to: {error.strerror or error}"
    return f"{file.url} served another file than the registered one of {file.size} bytes"


def _manual_instructions(dataset: Dataset, folder: Path, absent: Sequence[DatasetFile]) -> str:
    """Return instructions for placing files by hand: path, sha256 and address of each."""
    text = "place by hand"
    for file in absent[:_MAX_LISTED_FILES]:
        text += f"\n  {folder / file.path}\n    sha256 {file.sha256}"
        text += f"\n    from {file.url}" if file.url else ""
    if len(absent) > _MAX_LISTED_FILES:
        listed = f"`identify datasets list {dataset.name}`"
        text += f"\n  and {len(absent) - _MAX_LISTED_FILES} more, which {listed} names"
    return text
