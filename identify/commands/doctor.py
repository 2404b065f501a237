"""`identify doctor`: what is installed, whether it works, and who else is called identify."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, files, version
from pathlib import Path
from typing import cast

from identify.commands.command import Command, Outcome

DISTRIBUTION = "inertia-identify"
"""The name to install this package by."""

FOREIGN = "identify"
"""Another distribution on PyPI, a dependency of pre-commit, that imports under the same name."""

PROGRAM, ALIAS = "identify", "inertia-identify"

_OK, _NOTE, _BAD = "ok", "--", "!!"
_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


@dataclass(frozen=True, slots=True)
class InstallationCheck:
    """A line of the doctor's report: `mark` is "ok", "--" (nothing to worry about) or "!!"."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Doctor(Command):
    """Say what is installed, whether the solver works, and who else is called identify.

    Exit status: 0 when all is well, 1 when a needed package is missing, the solver gives a wrong
    answer, or another program or package called `identify` hides this one (lines marked !!).
    """

    def run(self, invocation: str) -> Outcome:
        """Look for all of them."""
        sections = {"packages": packages, "solvers": solvers, "extras": extras, "name": names}
        found = {title: list(section()) for title, section in sections.items()}
        bad = sum(check.mark == _BAD for checks in found.values() for check in checks)
        lines: list[str] = []
        for title, checks in found.items():
            lines += [f"{title}:", *(f"  {check.mark}  {check.text}" for check in checks)]
        end = "All is well." if not bad else f"{bad} to fix: see the lines marked {_BAD}."
        return Outcome(
            lines=[*lines, end],
            document=lambda: {
                "checks": [
                    {"section": title, "mark": check.mark, "text": check.text}
                    for title, checks in found.items()
                    for check in checks
                ]
            },
            status=1 if bad else 0,
        )


def own_version() -> str:
    """Version of this package, or what to say where it runs from sources that are not installed."""
    return installed(DISTRIBUTION) or "(sources that are not installed)"


def installed(name: str) -> str | None:
    """Version of a distribution, None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def requirements() -> dict[str, list[str]]:
    """Names of the packages that an installation needs, under "", and those of each extra."""
    try:
        needed = distribution(DISTRIBUTION).requires or []
    except PackageNotFoundError:
        return {}
    found: dict[str, list[str]] = {}
    for requirement in needed:
        extra, name = _EXTRA.search(requirement), _NAME.match(requirement)
        found.setdefault(extra[1] if extra else "", []).append(name[0] if name else requirement)
    return found


def packages() -> Iterator[InstallationCheck]:
    """This package, Python, and what every fit needs."""
    yield InstallationCheck(
        _OK, f"{DISTRIBUTION} {own_version()} in {Path(__file__).resolve().parents[1]}"
    )
    yield InstallationCheck(_OK, f"python {platform.python_version()} on {platform.platform()}")
    core = requirements().get("", [])
    if not core:
        remedy = "in its source tree: pip install --editable ."
        yield InstallationCheck(_BAD, f"{DISTRIBUTION} is not installed; {remedy}")
    for name in core:
        found = installed(name)
        said = f"{name} {found}" if found else f"{name} is missing; pip install {name}"
        yield InstallationCheck(_OK if found else _BAD, said)


def solvers() -> Iterator[InstallationCheck]:
    """The solvers cvxpy finds, and whether Clarabel solves a problem whose answer is known."""
    try:
        import cvxpy as cp
        from cvxpy.error import SolverError
    except ImportError as error:
        yield InstallationCheck(_BAD, f"cvxpy cannot be imported: {error}")
        return
    found = cp.installed_solvers()
    yield InstallationCheck(_OK if "CLARABEL" in found else _BAD, f"cvxpy finds {', '.join(found)}")
    try:
        error = _clarabel_error()
    except (SolverError, ImportError, ValueError) as failure:
        yield InstallationCheck(
            _BAD, f"Clarabel failed: {failure}; pip install --force-reinstall clarabel"
        )
        return
    mark, how = (_OK, "") if error < 1e-6 else (_BAD, " wrongly")
    yield InstallationCheck(
        mark, f"Clarabel solves a semidefinite program{how} (error {error:.0e})"
    )


def extras() -> Iterator[InstallationCheck]:
    """The extras a user may want, which `all` gathers, and how to have those that are missing."""
    offered = requirements()
    gathered = set(offered.pop("all", []))
    for extra, names in offered.items():
        if extra and gathered.issuperset(names):
            listed = ", ".join(f"{name} {installed(name) or '(missing)'}" for name in names)
            if all(map(installed, names)):
                yield InstallationCheck(_OK, f"[{extra}] {listed}")
            else:
                command = f"pip install '{DISTRIBUTION}[{extra}]'"
                yield InstallationCheck(_NOTE, f"[{extra}] {listed}; to have it: {command}")


def names() -> Iterator[InstallationCheck]:
    """Whether the words `import identify` and `identify` mean this package."""
    foreign = installed(FOREIGN)
    remedy = (
        f"pip uninstall {FOREIGN}, then install {DISTRIBUTION} again with --force-reinstall "
        f"--no-deps; keep pre-commit, which depends on it, in an environment of its own"
    )
    if foreign is not None:
        other = f"the package {FOREIGN} {foreign} of PyPI is installed and imports by the same name"
        yield InstallationCheck(_BAD, f"{other}: {remedy}")
    elif not hasattr(import_module("identify"), "read_log"):
        where = getattr(sys.modules["identify"], "__file__", None)
        yield InstallationCheck(_BAD, f"`import identify` gives another package, {where}: {remedy}")
    else:
        yield InstallationCheck(_OK, "`import identify` gives this package")
    program, alias = shutil.which(PROGRAM), shutil.which(ALIAS)
    ours = alias is not None and is_ours(Path(alias))
    instead = f"use `{ALIAS}`" if ours else f"use `{sys.executable} -m identify`"
    if program is None:
        yield InstallationCheck(_NOTE, f"no program `{PROGRAM}` on the PATH; {instead}")
    elif is_ours(Path(program)):
        yield InstallationCheck(
            _OK, f"`{PROGRAM}` on the command line is this package's, {program}"
        )
    else:
        other = f"another program, {program} (ImageMagick has one)"
        yield InstallationCheck(_BAD, f"`{PROGRAM}` on the command line is {other}: {instead}")


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
    """The programs that the installation of this package wrote."""
    for file in (files(DISTRIBUTION) or ()) if installed(DISTRIBUTION) else ():
        if Path(file).stem in (PROGRAM, ALIAS) and Path(file).suffix in ("", ".exe"):
            yield Path(str(file.locate()))


def _clarabel_error() -> float:
    """Error of a least eigenvalue, min ⟨C, X⟩ over X ⪰ 0 with tr X = 1; it is 2 − √2."""
    import cvxpy as cp
    import numpy as np

    C = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    X = cp.Variable((3, 3), PSD=True)
    trace = cast(cp.Constraint, cp.trace(X) == 1.0)
    cp.Problem(cp.Minimize(cp.trace(C @ X)), [trace]).solve(solver="CLARABEL")
    if X.value is None:
        raise ValueError("it gives no answer")
    return abs(float(np.trace(C @ X.value)) - (2.0 - 2.0**0.5))
