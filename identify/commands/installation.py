"""What is installed, and whether something else is called `identify`: found out, not printed."""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path

DISTRIBUTION = "inertia-identify"
"""The name to install this package by."""

FOREIGN = "identify"
"""Another distribution on PyPI, a dependency of pre-commit, that imports under the same name."""

PROGRAM, ALIAS = "identify", "inertia-identify"

_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


@dataclass(frozen=True, slots=True)
class Package:
    """A package and its version, None where it is not installed."""

    name: str
    version: str | None


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional set of packages."""

    name: str
    packages: tuple[Package, ...]

    @property
    def installed(self) -> bool:
        """Whether all of it is there."""
        return all(package.version for package in self.packages)

    @property
    def command(self) -> str:
        """How to install it."""
        return f"pip install '{DISTRIBUTION}[{self.name}]'"


def own_version() -> str:
    """Version of this package, or what to say where it runs from sources that are not installed."""
    return _version(DISTRIBUTION) or "(sources that are not installed)"


def core_packages() -> list[Package]:
    """Python and the packages that every fit needs."""
    found = [Package("python", platform.python_version())]
    for requirement in _requirements():
        if not _EXTRA.search(requirement):
            found.append(_package(requirement))
    return found


def extras() -> list[Extra]:
    """The extras that a user may want: those of which `all` has every package."""
    by_name: dict[str, list[Package]] = {}
    for requirement in _requirements():
        if match := _EXTRA.search(requirement):
            by_name.setdefault(match[1], []).append(_package(requirement))
    gathered = set(by_name.pop("all", ()))
    return [
        Extra(name, tuple(packages))
        for name, packages in by_name.items()
        if gathered.issuperset(packages)
    ]


def foreign_package() -> str | None:
    """Version of the other distribution that imports as `identify`, where it is installed."""
    return _version(FOREIGN)


def found_program(name: str) -> Path | None:
    """The program of that name that a shell would start."""
    found = shutil.which(name)
    return None if found is None else Path(found)


def is_ours(program: Path) -> bool:
    """Whether a program is a script of this package, in this environment or another."""
    if any(program.resolve() == script.resolve() for script in _scripts()):
        return True
    try:
        head = program.read_bytes()[:4096]
    except OSError:
        return False
    return b"identify.commands.main" in head


def _scripts() -> Iterator[Path]:
    own = _distribution(DISTRIBUTION)
    for file in (own.files or ()) if own else ():
        if Path(file).stem in (PROGRAM, ALIAS) and Path(file).suffix in ("", ".exe"):
            yield Path(str(file.locate()))


def _requirements() -> list[str]:
    own = _distribution(DISTRIBUTION)
    return [] if own is None else own.requires or []


def _package(requirement: str) -> Package:
    match = _NAME.match(requirement)
    name = match[0] if match else requirement
    return Package(name, _version(name))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None
