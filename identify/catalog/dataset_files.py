"""Public data sets: their registry, and their files in a mirror or in the cache, by pooch."""

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

Text: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Line: TypeAlias = Annotated[Text, AfterValidator(lambda text: " ".join(text.split()))]
Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Role: TypeAlias = Literal["log", "truth", "points", "scores", "model", "reference"]


class DatasetFile(DocumentTable):
    """One file of a data set.

    Attributes:
        path: inside the folder of the data set, with slashes.
        role: what it is for.
        size: its length [bytes].
        sha256: of its content, hexadecimal.
        url: where it is downloaded from; None if it has to be placed by hand.
    """

    path: str
    role: Role
    size: PositiveInt
    sha256: Sha256
    url: str | None = None


class Dataset(DocumentTable):
    """A public data set.

    Attributes:
        name: what it is called here.
        what: one line on what it holds.
        kind: whether its logs are of one body's wrench or of an arm's joint torques.
        version: of the layout that is registered here.
        folder: its folder in a mirror and in the cache.
        layout: what its files hold: columns, frames, units.
        schema_file: what the columns mean, for the machine; relative to this package.
        home: a page about it.
        licence: SPDX identifier.
        licence_note: what the identifier leaves open.
        citation: what to cite.
        doi: of the publication, where it has one.
        evidence: how addresses and hashes are known.
        not_downloaded: why no file of it is downloaded; None if its files are.
        files: all of them.
    """

    name: str
    what: Line
    kind: Literal["wrench", "joint torque"]
    version: Line
    folder: str
    layout: Text
    schema_file: str = Field(alias="schema")
    home: str
    licence: Line
    licence_note: Line | None = None
    citation: Line
    doi: Line | None = None
    evidence: Line
    not_downloaded: Line | None = None
    files: Annotated[tuple[DatasetFile, ...], Field(min_length=1)]

    @property
    def schema_path(self) -> Path:
        """The file of `schema_file` in the installed package."""
        return _PACKAGE / self.schema_file

    @property
    def size(self) -> int:
        """Length of all files [bytes]."""
        return sum(file.size for file in self.files)

    def of_role(self, role: Role) -> tuple[DatasetFile, ...]:
        """The files with a role, in the order of the registry."""
        return tuple(file for file in self.files if file.role == role)


def dataset_names() -> tuple[str, ...]:
    """Names of the registered data sets, in alphabetical order."""
    return tuple(_registered())


def find_dataset(name: str | Dataset) -> Dataset:
    """The data set of a name; a `Dataset` is passed through.

    Raises:
        DatasetError: there is none; the nearest name is given.
    """
    if isinstance(name, Dataset):
        return name
    return lookup(_registered(), name, "data set", DatasetError)


@lru_cache(maxsize=1)
def _registered() -> dict[str, Dataset]:
    path = _PACKAGE / "registry.toml"
    datasets: dict[str, Dataset] = {}
    for name, table in sorted(read_toml(path, DatasetError).items()):
        files = [{"path": file, **entry} for file, entry in table.pop("files").items()]
        entry = {"name": name, **table, "files": files}
        datasets[name] = validate(Dataset, entry, f"{path}: [{name}]", DatasetError)
    return datasets


MIRROR = "IDENTIFY_DATA"
"""Environment variable that may name a local mirror, a folder that is only read."""

_TIMEOUT_SECONDS = 20.0

_MOST_LISTED = 4
"""Files that a message names one by one; `identify datasets list NAME` names all."""


@dataclass(frozen=True, slots=True)
class DatasetCopy:
    """Files of a data set in one place, the mirror or the cache.

    Attributes:
        path: folder of the data set in this place.
        missing: the files of the data set that are not there.
        damaged: those that are there and are not what the registry says, with how they differ.
    """

    path: Path
    missing: tuple[DatasetFile, ...]
    damaged: Mapping[DatasetFile, str]

    @property
    def complete(self) -> bool:
        """Whether every file is there as registered."""
        return not self.missing and not self.damaged


def cache_folder() -> Path:
    """The folder that downloads go to: the system's for caches, below it ours.

    On Linux that is `$XDG_CACHE_HOME/inertia-identify`, by default `~/.cache/inertia-identify`.
    """
    import pooch

    return Path(os.path.abspath(pooch.os_cache("inertia-identify")))


def locate(dataset: str | Dataset) -> tuple[DatasetCopy, ...]:
    """Verify every file of a data set by sha256: in the mirror, if one is named, and the cache.

    Raises:
        DatasetError: there is no such data set.
    """
    entry, mirror = find_dataset(dataset), os.environ.get(MIRROR)
    places = [Path(mirror).expanduser().absolute()] if mirror else []
    return tuple(_holding(entry, place / entry.folder) for place in (*places, cache_folder()))


def _holding(dataset: Dataset, folder: Path) -> DatasetCopy:
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
    """The folder of a data set on this machine, all of its files verified by sha256.

    The first complete place counts: the mirror `IDENTIFY_DATA`, then the cache. A damaged file in
    a place before it is an error, not a reason to go on.

    Raises:
        DatasetError: there is no such data set, it is not here (the message says what to do, or
            which file to place where), or a file differs from what is registered.
    """
    entry, tried = find_dataset(dataset), []
    *mirror, cache = dataset_copies = locate(entry)
    for holding in dataset_copies:
        if holding.complete:
            return holding.path
        if holding.damaged:
            remedy = "replace it with the file as published"
            if holding is not cache:
                remedy += f", or unset {MIRROR}"
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
            f"let {MIRROR} name a folder that holds {entry.folder}/; or "
        )
    target = min([cache, *mirror], key=lambda each: len(each.missing))
    raise DatasetError(
        f"{entry.name}: not on this machine: "
        f"{'; '.join(tried if mirror else [f'{MIRROR} is not set', *tried])}\n"
        f"{way}{_by_hand(entry, target.path, target.missing)}",
        [target.path / file.path for file in target.missing],
    )


def fetch(dataset: str | Dataset, *, progress: Callable[[str], None] | None = None) -> Path:
    """Have a data set on this machine: found and verified, or downloaded to the cache.

    Args:
        dataset: its name.
        progress: called with what is going on, a line a file.

    Returns:
        The folder of the data set, as `dataset_path` gives it.

    Raises:
        DatasetError: there is no such data set; it is not here and is not downloaded (the message
            says why, and how to place it by hand); a file of a mirror, which is only read, differs
            from what is registered; or an address cannot be reached, gives something else, or the
            cache cannot be written to. Nothing partial is left.
    """
    import pooch

    entry = find_dataset(dataset)
    *mirror, cache = locate(entry)
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
            downloader: Any = _download  # the type of pooch names its arguments otherwise
            path = fetcher.fetch(file.path, downloader=downloader)
            os.chmod(path, 0o644)  # a temporary file is its maker's alone, a cache may be shared
        except (OSError, ValueError) as error:
            raise DatasetError(
                f"{entry.name}: {_reason(file, cache.path, error)}; nothing partial was kept. Try "
                f"again; or {_by_hand(entry, cache.path, absent[k:])}",
                [cache.path / each.path for each in absent[k:]],
            ) from error
    return cache.path


def _download(url: str, temporary: str, _: object) -> None:
    """Download a file under a temporary name; pooch verifies it and gives it its own."""
    import requests

    response = requests.get(url, timeout=_TIMEOUT_SECONDS)
    response.raise_for_status()
    Path(temporary).write_bytes(response.content)


def _reason(file: DatasetFile, folder: Path, error: Exception) -> str:
    """The reason of a failed download: the address, the content or the place to write to."""
    import requests

    if isinstance(error, requests.RequestException):
        response, kind = error.response, type(error).__name__
        answer = f"({kind})" if response is None else f"(HTTP {response.status_code})"
        return f"{file.url} did not give the file {answer}"
    if isinstance(error, OSError):
        return f"{folder} cannot be written to: {error.strerror or error}"
    return f"{file.url} gave another file than the registered one of {file.size} bytes"


def _by_hand(dataset: Dataset, folder: Path, absent: Sequence[DatasetFile]) -> str:
    """How to place files by hand, a line each: exact path, sha256 and address."""
    text = "place by hand"
    for file in absent[:_MOST_LISTED]:
        text += f"\n  {folder / file.path}\n    sha256 {file.sha256}"
        text += f"\n    from {file.url}" if file.url else ""
    if len(absent) > _MOST_LISTED:
        listed = f"`identify datasets list {dataset.name}`"
        text += f"\n  and {len(absent) - _MOST_LISTED} more, which {listed} names"
    return text
