"""The mark of the code that makes a cell: source of the package and versions of the solvers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from identify.experiments.options import canonical

SOLVERS = ("numpy", "scipy", "cvxpy", "clarabel")
"""Packages whose version is part of a cell's key."""

_CANNOT_CHANGE_A_CELL = ("reporting", "commands")
"""Packages above this one (a contract of import-linter keeps it so): they only show results."""


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
    return CodeMark(
        source=source_digest(Path(__file__).resolve().parents[1]),
        versions=tuple((name, version(name)) for name in SOLVERS),
    )


def source_digest(package: Path) -> str:
    """One sha256 of all source and data files of a package that a result may depend on."""
    whole = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package)
        if path.suffix not in (".py", ".toml") or inside.parts[0] in _CANNOT_CHANGE_A_CELL:
            continue
        whole.update(
            f"{inside.as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
        )
    return whole.hexdigest()
