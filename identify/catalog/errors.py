"""What can be wrong with a public data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from identify.errors import DatasetError, did_you_mean


class RegistryError(DatasetError):
    """The registry itself is not valid: a key is missing, a path leaves its folder.

    Attributes:
        path: the registry.
    """

    def __init__(self, path: Path, message: str) -> None:
        self.path = path
        super().__init__(f"{path}: {message}")


class UnknownDataset(DatasetError, KeyError):
    """No data set of this name is registered.

    Attributes:
        name: what was asked for.
        known: what there is.
    """

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(known)
        hint = did_you_mean(name.lower(), known) or f"; registered are {', '.join(known)}"
        super().__init__(f"no data set {name!r}{hint}")


class MissingDataset(DatasetError, FileNotFoundError):
    """A data set, or a part of it, is not on this machine.

    Attributes:
        name: the data set.
        missing: the files that should be there, as paths of the folder to place them in.
    """

    def __init__(self, name: str, missing: Sequence[Path], message: str) -> None:
        self.name, self.missing = name, tuple(missing)
        super().__init__(f"{name}: {message}")


class DamagedDataset(DatasetError):
    """A file is there and is not what the registry says.

    Attributes:
        name: the data set.
        damaged: the files.
    """

    def __init__(self, name: str, damaged: Sequence[Path], message: str) -> None:
        self.name, self.damaged = name, tuple(damaged)
        super().__init__(f"{name}: {message}")


class FetchError(DatasetError, OSError):
    """A download failed; what it brought was not kept.

    Attributes:
        name: the data set.
        url: the address, or None where nothing could be written.
    """

    def __init__(self, name: str, url: str | None, message: str) -> None:
        self.name, self.url = name, url
        super().__init__(f"{name}: {message}")
