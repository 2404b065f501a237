"""Keys of results, seeds of noise, and the fingerprint of the code that computes results."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from identify.documents import lookup
from identify.lazy import installed_version
from identify.studies.options import Options, canonical_json

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def result_key(*parts: object) -> str:
    """Return the key of a result: a sha256 of all its inputs, 32 hexadecimal digits.

    Raises `TypeError`: a part, or something in it, has no canonical form.
    """
    return hashlib.sha256(canonical_json(to_plain(parts)).encode("ascii")).hexdigest()[:32]


def join_digests(parts: Sequence[str]) -> str:
    """Return the sha256 of several digests or texts (hexadecimal)."""
    return hashlib.sha256(" ".join(parts).encode("utf-8")).hexdigest()


def fields_except(value: DataclassInstance, *excluded: str) -> dict[str, object]:
    """Return the fields of a dataclass by name, except excluded ones that affect no result."""
    names = [field.name for field in fields(value)]
    if unknown := set(excluded).difference(names):
        raise TypeError(f"{type(value).__name__} has no fields {', '.join(sorted(unknown))}")
    return {name: getattr(value, name) for name in names if name not in excluded}


def to_plain(value: object) -> object:
    """Convert a value to a canonical JSON form for hashing: equal only for equal values.

    A dataclass gives all fields; a pydantic model those that were set, because an absent key may
    differ in meaning from its default; options those that differ from their defaults.

    Raises `TypeError`: a value of this type has no canonical form.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": repr(value)}
        case np.generic():
            return to_plain(value.item())
        case np.ndarray():
            return {"array": to_plain(value.tolist()), "of": str(value.dtype)}
        case tuple() | list():
            return [to_plain(entry) for entry in value]
        case Mapping() if all(isinstance(name, str) for name in value):
            return {"mapping": {name: to_plain(entry) for name, entry in value.items()}}
        case Options():
            return {"options": value.kind, **_with_class(value, value.non_default())}
        case BaseModel():
            return _with_class(value, value.model_dump(mode="json", exclude_unset=True))
        case _ if is_dataclass(value) and not isinstance(value, type):
            contents = {name: to_plain(entry) for name, entry in fields_except(value).items()}
            return _with_class(value, contents)
        case _:
            raise TypeError(
                f"a key cannot be made of {value!r}: {type(value).__qualname__} has no canonical "
                f"form; add one in {__name__}.to_plain"
            )


def _with_class(value: object, contents: Mapping[str, object]) -> dict[str, object]:
    """Add the class name to a value's fields, because two classes may have the same fields."""
    return {"class": type(value).__qualname__, "fields": dict(contents)}


def derive_seed(*parts: str | int) -> int:
    """Derive a seed of 128 bits from texts and numbers, the same on all machines."""
    digest = hashlib.sha256(canonical_json(list(parts)).encode("utf-8")).digest()
    return int.from_bytes(digest[:16], "little")


def noise_seed(study_seed: int, log: str, perturbation: str, index: int) -> int:
    """Return the seed of the noise of one trial.

    It does not depend on the estimator, so all estimators see the same noise and comparisons are
    paired; nor on the rest of the study, so that a grid may grow.
    """
    return derive_seed("noise", study_seed, log, perturbation, index)


SOLVER_PACKAGES = ("numpy", "scipy", "cvxpy", "clarabel")
"""Third-party packages whose versions are part of a result's key."""

_DISPLAY_PACKAGES = ("reporting", "commands")
"""Subpackages that only display results, which are not part of a result's key."""

_PACKAGE_FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class CodeFingerprint:
    """Version of the code that computes results.

    Attributes:
        source: sha256 of the package's source, hexadecimal.
        versions: of the packages in `SOLVERS`.
    """

    source: str
    versions: tuple[tuple[str, str], ...]

    @property
    def short(self) -> str:
        """Twelve hexadecimal digits of a digest of source and versions: the column `code`."""
        text = canonical_json([self.source, list(self.versions)])
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


@lru_cache(maxsize=1)
def code_fingerprint() -> CodeFingerprint:
    """Return the fingerprint of the running code."""
    versions = tuple((name, installed_version(name) or "missing") for name in SOLVER_PACKAGES)
    return CodeFingerprint(source=numerics_digest(), versions=versions)


def numerics_digest(packages: Sequence[str] | None = None, folder: Path = _PACKAGE_FOLDER) -> str:
    """Return the sha256 of source and data files of subpackages of `identify` (hexadecimal).

    `packages`: names of packages or modules directly within the folder, such as "estimation" or
    "arrays", in any order; by default all that can change a result.
    Raises `SchemaError`: no package has that name; suggests the nearest.
    """
    by_package: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".toml"):
            name = path.relative_to(folder).parts[0].removesuffix(".py")
            by_package.setdefault(name, []).append(path)
    if packages is None:
        packages = sorted(set(by_package).difference(_DISPLAY_PACKAGES))
    total = hashlib.sha256()
    for name in sorted(set(packages)):
        for path in lookup(by_package, name, "package of identify"):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return total.hexdigest()
