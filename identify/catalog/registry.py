"""The registry: a TOML file in the package, one table a data set."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from identify.catalog.dataset import Dataset
from identify.catalog.errors import RegistryError, UnknownDataset

FORMAT = 1
"""Version of the registry's own layout, its key `format`."""


def dataset_names() -> tuple[str, ...]:
    """Names of the registered data sets, in alphabetical order."""
    return tuple(sorted(_shipped()))


def find_dataset(name: str | Dataset) -> Dataset:
    """The data set of a name; a `Dataset` is passed through.

    Raises:
        UnknownDataset: there is none; the nearest name is given.
    """
    if isinstance(name, Dataset):
        return name
    known = _shipped()
    if name not in known:
        raise UnknownDataset(name, dataset_names())
    return known[name]


def load_registry(path: Path) -> Mapping[str, Dataset]:
    """The data sets of a registry by name.

    Raises:
        RegistryError: it cannot be read, is not TOML, or an entry is incomplete or unsafe.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RegistryError(path, f"cannot be read as TOML: {error}") from error
    found = content.pop("format", None)
    if found != FORMAT:
        raise RegistryError(path, f"expected format = {FORMAT}, got {found!r}")
    return MappingProxyType({name: _entry(path, name, table) for name, table in content.items()})


def _entry(path: Path, name: str, table: object) -> Dataset:
    if not isinstance(table, dict):
        raise RegistryError(path, f"expected a table [{name}], got {table!r}")
    try:
        dataset = Dataset.model_validate({"name": name, **table})
    except ValidationError as error:
        problems = [_problem(detail) for detail in error.errors(include_url=False)]
        raise RegistryError(path, f"[{name}] " + "; and ".join(problems)) from error
    if not dataset.schema_path.is_file():
        raise RegistryError(path, f"[{name}] schema: no file {dataset.schema_path}")
    return dataset


def _problem(detail: Any) -> str:
    where = ".".join(map(str, detail["loc"]))
    reason = str(detail.get("ctx", {}).get("error", detail["msg"]))
    return f"{where}: {reason}" if where else reason


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Dataset]:
    return load_registry(Path(str(files("identify.catalog").joinpath("registry.toml"))))
