"""The registry, one table a data set: what it is, whose it is, and which files make it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    StringConstraints,
    field_validator,
    model_validator,
)

from identify.documents import lookup, read_toml, validate
from identify.errors import DatasetError

_PACKAGE = Path(__file__).parent
_FORMAT = 1
"""Version of the registry's own layout, its key `format`."""

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_RELATIVE = re.compile(rf"{_PART}(/{_PART})*")
_PICKLES = {".pkl", ".pickle", ".p", ".joblib", ".dill", ".pt", ".pth"}
_ARCHIVES = {".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".zst", ".rar"}
_LOOPBACK = ("127.0.0.1", "localhost")


def _relative(path: str) -> str:
    """A path that stays in the folder it is joined to, on every system."""
    if not _RELATIVE.fullmatch(path):
        raise ValueError(
            f"expected a relative path of letters, digits and _ . - without '..', got {path!r}"
        )
    suffixes = {suffix.lower() for suffix in PurePosixPath(path).suffixes}
    if suffixes & _PICKLES:
        raise ValueError(f"{path!r} is a pickle, and loading one can run any code")
    if suffixes & _ARCHIVES:
        raise ValueError(f"{path!r} is an archive, and none is unpacked: list its files instead")
    return path


def _web_address(url: str) -> str:
    parts = urlsplit(url)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not (safe and parts.hostname):
        raise ValueError(f"expected an address that begins with https://, got {url!r}")
    return url


Text: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Line: TypeAlias = Annotated[Text, AfterValidator(lambda text: " ".join(text.split()))]
RelativePath: TypeAlias = Annotated[str, AfterValidator(_relative)]
WebAddress: TypeAlias = Annotated[str, AfterValidator(_web_address)]
Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Role: TypeAlias = Literal["log", "truth", "points", "scores", "model", "reference"]


class DatasetFile(BaseModel):
    """One file of a data set.

    Attributes:
        path: inside the folder of the data set, with slashes.
        role: what it is for.
        size: its length [bytes].
        sha256: of its content, hexadecimal.
        url: where it is downloaded from; None if it has to be placed by hand.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: RelativePath
    role: Role
    size: PositiveInt
    sha256: Sha256
    url: WebAddress | None = None


class Dataset(BaseModel):
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

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
    what: Line
    kind: Literal["wrench", "joint torque"]
    version: Line
    folder: RelativePath
    layout: Text
    schema_file: RelativePath = Field(alias="schema")
    home: WebAddress
    licence: Line
    licence_note: Line | None = None
    citation: Line
    doi: Line | None = None
    evidence: Line
    not_downloaded: Line | None = None
    files: Annotated[tuple[DatasetFile, ...], Field(min_length=1)]

    @field_validator("files", mode="before")
    @classmethod
    def _named_by_path(cls, table: object) -> object:
        """A table of files by path, as in TOML, as a list of them."""
        if not isinstance(table, dict):
            return table
        return [
            {"path": path, **entry} if isinstance(entry, dict) else entry
            for path, entry in table.items()
        ]

    @model_validator(mode="after")
    def _can_be_had(self) -> Dataset:
        if self.not_downloaded is None:
            if homeless := [file.path for file in self.files if file.url is None]:
                raise ValueError(
                    f"{homeless[0]!r} has no url; give one, or say in not_downloaded why not"
                )
        elif any(file.url for file in self.files):
            raise ValueError("not_downloaded says why no file has a url, and some have one")
        return self

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
    return tuple(_shipped())


def find_dataset(name: str | Dataset) -> Dataset:
    """The data set of a name; a `Dataset` is passed through.

    Raises:
        DatasetError: there is none; the nearest name is given.
    """
    if isinstance(name, Dataset):
        return name
    return lookup(_shipped(), name, "data set", DatasetError)


def load_registry(path: Path) -> dict[str, Dataset]:
    """The data sets of a registry by name, in alphabetical order.

    Raises:
        MissingFile: there is no such file.
        DatasetError: it is not TOML, or an entry is incomplete or unsafe.
    """
    content = read_toml(path, DatasetError)
    found = content.pop("format", None)
    if found != _FORMAT:
        raise DatasetError(f"{path}: expected format = {_FORMAT}, got {found!r}")
    datasets: dict[str, Dataset] = {}
    for name, table in sorted(content.items()):
        if not isinstance(table, dict):
            raise DatasetError(f"{path}: expected a table [{name}], got {table!r}")
        entry = validate(Dataset, {"name": name, **table}, f"{path}: [{name}]", DatasetError)
        if not entry.schema_path.is_file():
            raise DatasetError(f"{path}: [{name}] schema: no file {entry.schema_path}")
        datasets[name] = entry
    return datasets


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Dataset]:
    return load_registry(_PACKAGE / "registry.toml")
