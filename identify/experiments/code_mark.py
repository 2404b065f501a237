"""The mark of the code that makes a result: source of the package and versions of the solvers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from identify.documents import lookup
from identify.experiments.options import canonical

SOLVERS = ("numpy", "scipy", "cvxpy", "clarabel")
"""Packages whose version is part of a key."""

_CANNOT_CHANGE_A_RESULT = ("reporting", "commands")
"""Packages above this one (a contract of import-linter keeps it so): they only show results."""

_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class CodeMark:
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
def code_mark() -> CodeMark:
    """The mark of the code that is running."""
    versions = tuple((name, version(name)) for name in SOLVERS)
    return CodeMark(source=numerics_digest(), versions=versions)


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
