"""Keys of results, seeds and the fingerprint of the code: made of all that decides a result."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from identify.documents import lookup
from identify.studies.options import Options, canonical

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def key_of(*parts: object) -> str:
    """The key of a result, 32 hexadecimal digits of a sha256 of all that decides it.

    Raises:
        TypeError: a part, or something in it, has no canonical form.
    """
    return hashlib.sha256(canonical(plain(parts)).encode("ascii")).hexdigest()[:32]


def fields_but(value: DataclassInstance, *left_out: str) -> dict[str, object]:
    """All fields of a dataclass by name, but for those that do not decide a result."""
    names = [field.name for field in fields(value)]
    if unknown := set(left_out).difference(names):
        raise TypeError(f"{type(value).__name__} has no fields {', '.join(sorted(unknown))}")
    return {name: getattr(value, name) for name in names if name not in left_out}


def plain(value: object) -> object:
    """A value as JSON has it: the same for equal values, and another for any other.

    Of a dataclass all fields count; of a pydantic model all that were set, as a key that is left
    out may mean another thing than its default; of options all that differ from their defaults.

    Raises:
        TypeError: there is no such form of a value of this type.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": repr(value)}
        case np.generic():
            return plain(value.item())
        case np.ndarray():
            return {"array": plain(value.tolist()), "of": str(value.dtype)}
        case tuple() | list():
            return [plain(one) for one in value]
        case Mapping() if all(isinstance(name, str) for name in value):
            return {"mapping": {name: plain(one) for name, one in value.items()}}
        case Options():
            return {"options": value.kind, **_named(value, value.given())}
        case BaseModel():
            return _named(value, value.model_dump(mode="json", exclude_unset=True))
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _named(value, {k: plain(one) for k, one in fields_but(value).items()})
        case _:
            raise TypeError(
                f"a key cannot be made of {value!r}: {type(value).__qualname__} has no canonical "
                f"form; add one in {__name__}.plain"
            )


def _named(value: object, contents: Mapping[str, object]) -> dict[str, object]:
    """Contents with the name of the class: two classes may have the same fields."""
    return {"class": type(value).__qualname__, "fields": dict(contents)}


def seed_of(*parts: str | int) -> int:
    """A seed of 128 bits from the parts' content: the same on any machine."""
    digest = hashlib.sha256(canonical(list(parts)).encode("utf-8")).digest()
    return int.from_bytes(digest[:16], "little")


def noise_seed(study_seed: int, log: str, perturbation: str, index: int) -> int:
    """The seed of the noise of one trial.

    It does not depend on the estimator, so all estimators see the same noise and comparisons are
    paired; nor on what else is in the study, so that a grid may grow.

    Args:
        study_seed: of the study file.
        log: digest of the log's data.
        perturbation: identity of the perturbation (its settings, not its label).
        index: number of the noise, from 0.
    """
    return seed_of("noise", study_seed, log, perturbation, index)


SOLVERS = ("numpy", "scipy", "cvxpy", "clarabel")
"""Packages whose version is part of a key."""

_CANNOT_CHANGE_A_RESULT = ("reporting", "commands")
"""Packages above this one (a contract of import-linter keeps it so): they only show results."""

_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class CodeFingerprint:
    """What made a result, besides data and settings.

    Attributes:
        source: sha256 of the package's source, hexadecimal.
        versions: of the packages that solve.
    """

    source: str
    versions: tuple[tuple[str, str], ...]

    @property
    def short(self) -> str:
        """Twelve hexadecimal digits that stand for both: the column `code` of the results."""
        text = canonical([self.source, list(self.versions)])
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


@lru_cache(maxsize=1)
def code_fingerprint() -> CodeFingerprint:
    """The fingerprint of the code that is running."""
    versions = tuple((name, version(name)) for name in SOLVERS)
    return CodeFingerprint(source=numerics_digest(), versions=versions)


def numerics_digest(packages: Sequence[str] | None = None) -> str:
    """One sha256 of the source and data files of subpackages of `identify` (hexadecimal).

    Args:
        packages: names of packages or modules directly within `identify`, such as "estimation" or
            "arrays", in any order; all that can change a result where not given.

    Raises:
        SchemaError: there is none of that name; the nearest is named.
    """
    return source_digest(_PACKAGE, packages)


def source_digest(folder: Path, packages: Sequence[str] | None = None) -> str:
    """The digest of the package in a folder; arguments and errors as of `numerics_digest`."""
    by_package: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".toml"):
            name = path.relative_to(folder).parts[0].removesuffix(".py")
            by_package.setdefault(name, []).append(path)
    if packages is None:
        packages = sorted(set(by_package).difference(_CANNOT_CHANGE_A_RESULT))
    whole = hashlib.sha256()
    for name in sorted(set(packages)):
        for path in lookup(by_package, name, "package of identify"):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            whole.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return whole.hexdigest()
