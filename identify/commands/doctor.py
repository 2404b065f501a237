"""`identify doctor`: check the installation, the solver and name conflicts."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, files
from pathlib import Path
from typing import cast

from identify.commands.command import Command, Outcome
from identify.lazy import installed_version

DISTRIBUTION = "inertia-identify"
"""Distribution name of this package on the package index."""

MODULE = "inertia_identify"
"""Import name that no other package has."""

NAMESAKE = "identify"
"""Another distribution on PyPI with the same import name, a dependency of pre-commit."""

PROGRAM, ALIAS = "identify", "inertia-identify"

_OK = "ok"
_NOTE = "--"
_FAILED = "!!"
_PACKAGE_NAME_PATTERN = re.compile(r"^[A-Za-z0-9._-]+")
_EXTRA_PATTERN = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


@dataclass(frozen=True, slots=True)
class InstallationCheck:
    """Line of the doctor's report; `mark` is "ok", "--" (harmless) or "!!" (to fix)."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Doctor(Command):
    """Check the installed packages and the solver, and detect name conflicts.

    Exit status: 0 if no problem was found; 1 if a required package is missing, the solver gives a
    wrong answer, or another program or package named `identify` hides this one (lines marked !!).
    """

    def run(self, invocation: str) -> Outcome:
        """Run all checks."""
        functions = {
            "packages": check_packages,
            "solvers": check_solvers,
            "extras": list_extras,
            "name": check_names,
        }
        sections = {title: list(function()) for title, function in functions.items()}
        failures = sum(check.mark == _FAILED for checks in sections.values() for check in checks)
        lines: list[str] = []
        for title, checks in sections.items():
            lines += [f"{title}:", *(f"  {check.mark}  {check.text}" for check in checks)]
        end = "No problems were found."
        if failures:
            end = f"Problems to fix: {failures}, see the lines marked {_FAILED}."
        return Outcome(
            lines=[*lines, end],
            document=lambda: {
                "checks": [
                    {"section": title, "mark": check.mark, "text": check.text}
                    for title, checks in sections.items()
                    for check in checks
                ]
            },
            status=1 if failures else 0,
        )


def package_version() -> str:
    """Return the version of this package, or a note that it is not installed."""
    return installed_version(DISTRIBUTION) or "(uninstalled source tree)"


def requirements() -> dict[str, list[str]]:
    """Return names of required packages by extra; those of every installation are under ""."""
    try:
        requirement_lines = distribution(DISTRIBUTION).requires or []
    except PackageNotFoundError:
        return {}
    packages: dict[str, list[str]] = {}
    for line in requirement_lines:
        extra, name = _EXTRA_PATTERN.search(line), _PACKAGE_NAME_PATTERN.match(line)
        packages.setdefault(extra[1] if extra else "", []).append(name[0] if name else line)
    return packages


def check_packages() -> Iterator[InstallationCheck]:
    """Check this package, Python, and the packages every fit needs."""
    yield InstallationCheck(
        _OK, f"{DISTRIBUTION} {package_version()} in {Path(__file__).resolve().parents[1]}"
    )
    yield InstallationCheck(_OK, f"python {platform.python_version()} on {platform.platform()}")
    core = requirements().get("", [])
    if not core:
        remedy = "in its source tree: pip install --editable ."
        yield InstallationCheck(_FAILED, f"{DISTRIBUTION} is not installed; {remedy}")
    for name in core:
        number = installed_version(name)
        text = f"{name} {number}" if number else f"{name} is missing; pip install {name}"
        yield InstallationCheck(_OK if number else _FAILED, text)


def check_solvers() -> Iterator[InstallationCheck]:
    """Check the solvers of cvxpy, and solve a problem of known solution with Clarabel."""
    try:
        import cvxpy as cp
        from cvxpy.error import SolverError
    except ImportError as error:
        yield InstallationCheck(_FAILED, f"cvxpy cannot be imported: {error}")
        return
    names = cp.installed_solvers()
    yield InstallationCheck(
        _OK if "CLARABEL" in names else _FAILED, f"cvxpy finds {', '.join(names)}"
    )
    try:
        error = _clarabel_error()
    except (SolverError, ImportError, ValueError) as failure:
        yield InstallationCheck(
            _FAILED, f"Clarabel failed: {failure}; pip install --force-reinstall clarabel"
        )
        return
    mark, how = (_OK, "") if error < 1e-6 else (_FAILED, " wrongly")
    yield InstallationCheck(
        mark, f"Clarabel solves a semidefinite program{how} (error {error:.0e})"
    )


def list_extras() -> Iterator[InstallationCheck]:
    """List the optional packages of the extra `all`, with the command that installs them."""
    by_extra = requirements()
    in_all = set(by_extra.pop("all", []))
    for extra, names in by_extra.items():
        if extra and in_all.issuperset(names):
            listed = ", ".join(f"{name} {installed_version(name) or '(missing)'}" for name in names)
            if all(map(installed_version, names)):
                yield InstallationCheck(_OK, f"[{extra}] {listed}")
            else:
                command = f"pip install '{DISTRIBUTION}[{extra}]'"
                yield InstallationCheck(_NOTE, f"[{extra}] {listed}; to install: {command}")


def check_names() -> Iterator[InstallationCheck]:
    """Check that `import identify` and the program `identify` belong to this package."""
    foreign = installed_version(NAMESAKE)
    remedy = (
        f"pip uninstall {NAMESAKE}, then install {DISTRIBUTION} again with --force-reinstall "
        f"--no-deps; keep pre-commit, which depends on it, in a separate environment"
    )
    own_file = Path(__file__).resolve().parents[1] / "__init__.py"
    if foreign is not None or not own_file.exists():
        happened = f"{NAMESAKE} {foreign} is installed" if foreign else f"{NAMESAKE} was removed"
        done = "overwrites" if foreign else "took with it"
        text = f"the PyPI package {happened} and {done} {own_file}: `import {MODULE}` and the "
        text += f"programs work as before; for `import identify` {remedy}"
        yield InstallationCheck(_NOTE, text)
    elif not hasattr(import_module("identify"), "read_log"):
        path = getattr(sys.modules["identify"], "__file__", None)
        yield InstallationCheck(
            _FAILED, f"`import identify` imports another package, {path}: {remedy}"
        )
    else:
        yield InstallationCheck(_OK, "`import identify` imports this package")
    program, alias = shutil.which(PROGRAM), shutil.which(ALIAS)
    ours = alias is not None and is_own_program(Path(alias))
    instead = f"use `{ALIAS}`" if ours else f"use `{sys.executable} -m identify`"
    if program is None:
        yield InstallationCheck(_NOTE, f"no program `{PROGRAM}` on the PATH; {instead}")
    elif is_own_program(Path(program)):
        yield InstallationCheck(
            _OK, f"`{PROGRAM}` on the command line is this package's, {program}"
        )
    else:
        other = f"another program, {program} (ImageMagick has one)"
        yield InstallationCheck(_FAILED, f"`{PROGRAM}` on the command line is {other}: {instead}")


def is_own_program(program: Path) -> bool:
    """Return whether a program is a script of this package, in any environment."""
    if any(program.resolve() == script.resolve() for script in _scripts()):
        return True
    try:
        head = program.read_bytes()[:4096]
    except OSError:
        return False
    return b"identify.commands.main" in head or MODULE.encode() in head


def _scripts() -> Iterator[Path]:
    """Return the paths of the programs installed by this package."""
    for file in (files(DISTRIBUTION) or ()) if installed_version(DISTRIBUTION) else ():
        if Path(file).stem in (PROGRAM, ALIAS) and Path(file).suffix in ("", ".exe"):
            yield Path(str(file.locate()))


def _clarabel_error() -> float:
    """Return Clarabel's error in a problem whose minimum is known to be 2 − √2."""
    import cvxpy as cp
    import numpy as np

    C = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    X = cp.Variable((3, 3), PSD=True)
    trace = cast(cp.Constraint, cp.trace(X) == 1.0)
    cp.Problem(cp.Minimize(cp.trace(C @ X)), [trace]).solve(solver="CLARABEL")
    if X.value is None:
        raise ValueError("it returned no solution")
    return abs(float(np.trace(C @ X.value)) - (2.0 - 2.0**0.5))
