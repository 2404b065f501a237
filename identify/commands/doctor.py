"""`identify doctor`: what is installed, whether it works, and who else is called identify."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from identify.commands import installation
from identify.commands.command import Command
from identify.commands.installation import ALIAS, DISTRIBUTION, FOREIGN, PROGRAM

_OK, _NOTE, _BAD = "ok", "--", "!!"


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the doctor's report: `mark` is "ok", "--" (nothing to worry about) or "!!"."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class Doctor(Command):
    """Say what is installed, whether the solver works, and who else is called identify.

    Exit status: 0 when all is well, 1 when a needed package is missing, the solver gives a wrong
    answer, or another program or package called `identify` hides this one (lines marked !!).
    """

    def run(self, invocation: str) -> int:
        """Print the findings."""
        bad = 0
        sections = {
            "packages": packages,
            "solvers": solvers,
            "extras": extras,
            "name": names,
        }
        for title, findings in sections.items():
            print(f"{title}:")
            for finding in findings():
                bad += finding.mark == _BAD
                print(f"  {finding.mark}  {finding.text}", flush=True)
        print("All is well." if not bad else f"{bad} to mend: see the lines marked {_BAD}.")
        return 1 if bad else 0


def packages() -> Iterator[Finding]:
    """This package, Python, and what every fit needs."""
    own, core = installation.own_version(), installation.core_packages()
    here = Path(__file__).resolve().parents[1]
    yield Finding(_OK, f"{DISTRIBUTION} {own} in {here}")
    if len(core) == 1:
        yield Finding(
            _BAD, f"{DISTRIBUTION} is not installed; in its source tree: pip install --editable ."
        )
    for package in core:
        if package.version is None:
            yield Finding(_BAD, f"{package.name} is missing; pip install {package.name}")
        else:
            on = f" on {platform.platform()}" if package.name == "python" else ""
            yield Finding(_OK, f"{package.name} {package.version}{on}")


def solvers() -> Iterator[Finding]:
    """The solvers cvxpy finds, and whether Clarabel solves a problem whose answer is known."""
    try:
        import cvxpy as cp
        from cvxpy.error import SolverError
    except ImportError as error:
        yield Finding(_BAD, f"cvxpy cannot be imported: {error}")
        return
    found = cp.installed_solvers()
    yield Finding(_OK if "CLARABEL" in found else _BAD, f"cvxpy finds {', '.join(found)}")
    try:
        error = _clarabel_error()
    except (SolverError, ImportError, ValueError) as failure:
        yield Finding(_BAD, f"Clarabel failed: {failure}; pip install --force-reinstall clarabel")
        return
    if error < 1e-6:
        yield Finding(_OK, f"Clarabel solves a semidefinite program (error {error:.0e})")
    else:
        yield Finding(_BAD, f"Clarabel solves a semidefinite program wrongly (error {error:.0e})")


def extras() -> Iterator[Finding]:
    """The extras, and how to install those that are missing."""
    for extra in installation.extras():
        names = ", ".join(
            f"{package.name} {package.version or '(missing)'}" for package in extra.packages
        )
        if extra.installed:
            yield Finding(_OK, f"[{extra.name}] {names}")
        else:
            yield Finding(_NOTE, f"[{extra.name}] {names}; to have it: {extra.command}")


def names() -> Iterator[Finding]:
    """Whether the words `identify` and `import identify` mean this package."""
    yield from _import_name()
    yield from _program_name()


def _import_name() -> Iterator[Finding]:
    foreign = installation.foreign_package()
    mend = (
        f"pip uninstall {FOREIGN}, then install {DISTRIBUTION} again with --force-reinstall "
        f"--no-deps; keep pre-commit, which depends on it, in an environment of its own"
    )
    if foreign is not None:
        yield Finding(
            _BAD,
            f"the package {FOREIGN} {foreign} of PyPI is installed and imports by the same name: "
            f"{mend}",
        )
    elif not hasattr(import_module("identify"), "read_log"):
        where = getattr(sys.modules["identify"], "__file__", None)
        yield Finding(_BAD, f"`import identify` gives another package, {where}: {mend}")
    else:
        yield Finding(_OK, "`import identify` gives this package")


def _program_name() -> Iterator[Finding]:
    program, alias = installation.found_program(PROGRAM), installation.found_program(ALIAS)
    ours = alias is not None and installation.is_ours(alias)
    instead = f"`{ALIAS}`" if ours else f"`{sys.executable} -m identify`"
    if program is None:
        yield Finding(_NOTE, f"no program `{PROGRAM}` on the PATH; use {instead}")
    elif installation.is_ours(program):
        yield Finding(_OK, f"`{PROGRAM}` on the command line is this package's, {program}")
    else:
        yield Finding(
            _BAD,
            f"`{PROGRAM}` on the command line is another program, {program} (ImageMagick has one): "
            f"use {instead}",
        )


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
