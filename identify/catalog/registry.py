"""The registry, one table a data set: what it is, whose it is, and which files make it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, PositiveInt, StringConstraints

from identify.documents import Table, lookup, read_toml, validate
from identify.errors import DatasetError

_PACKAGE = Path(__file__).parent

Text: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Line: TypeAlias = Annotated[Text, AfterValidator(lambda text: " ".join(text.split()))]
Sha256: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Role: TypeAlias = Literal["log", "truth", "points", "scores", "model", "reference"]


class DatasetFile(Table):
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


class Dataset(Table):
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
