"""Comparison with other methods on the same rows: errors, coverage, time and memory.

    python experiments/peers/run.py [-o reports/peers.md] [--logs 40]

Set OMP_NUM_THREADS=1, as `make peers` does: linear algebra must run on one thread.
"""

from __future__ import annotations

import argparse
import multiprocessing
import pickle
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from experiments.peers.method import Method, NotInstalled
from experiments.peers.registry import METHODS
from experiments.peers.rows import Case, Rows, cases
from experiments.reports import numerics_line, write_report
from identify.arrays import Phi
from identify.inertia import inertia_about_com, is_consistent
from identify.reporting.content import make_table, markdown_table

_COLUMNS = ("method", "mass %", "‖Δh‖/‖h‖ %", "‖ΔI‖/‖I‖ %", "consistent %", "coverage %", "CPU ms")
_METHODS = ("method", "description", "memory MB")
_ABOUT = """Written by `make peers`; nothing here is entered by hand. Every method gets the same
rows: the cosine transform of a log, without the sensor offset. They are statistically independent.
`docs/peers.md` explains how to add a method."""
_MEMORY = """Memory: growth of a new process during its first fit of the shipped log, including the
libraries that the fit loads."""
_LEGEND = """Errors: mean over the logs; inertia about the centre of mass. Consistent: Π ⪰ 0, up to
rounding of 1e-6. Coverage: share of the 95 % intervals of the ten parameters that contain the
truth; – for a method without intervals. CPU: median of a warm fit from the rows, on one thread."""
_VERSIONS = ("numpy", "scipy", "cvxpy", "clarabel", "rigeo", "mujoco")


@dataclass(slots=True)
class Scores:
    """Results of one method on the logs of one case; each list has one entry per log.

    Attributes:
        errors: relative errors of mass, first moment and inertia about the centre of mass.
        consistent: whether the body is physically consistent.
        coverage: number of intervals that contain the truth, and number of intervals.
        seconds: processor time [s].
        failures: messages of failed fits.
    """

    errors: list[tuple[float, float, float]] = field(default_factory=list)
    consistent: list[bool] = field(default_factory=list)
    coverage: list[tuple[int, int]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, method: Method, rows: Rows, truth: Phi) -> None:
        """Run a method on the rows of a log."""
        before = time.process_time()
        try:
            with warnings.catch_warnings(action="ignore"):  # e.g. that a solver is inaccurate
                answer = method.estimate(rows)
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything; it is a row
            self.failures.append(f"{type(error).__name__}: {error}")
            return
        self.seconds.append(time.process_time() - before)
        phi = np.asarray(answer.phi, dtype=np.float64)
        self.errors.append(_errors(phi, truth))
        self.consistent.append(bool(is_consistent(phi, tolerance=1e-6)))
        if answer.intervals is not None:
            low, high = answer.intervals.T
            inside = (low <= truth) & (truth <= high)
            self.coverage.append((int(inside.sum()), int(np.isfinite(low).sum())))

    def table_row(self, name: str) -> tuple[str, ...]:
        """Return the row of the table."""
        if not self.errors:
            return (name, f"failed: {self.failures[0]}", *[""] * 5)
        errors = [f"{100.0 * value:.3g}" for value in np.mean(self.errors, axis=0)]
        inside, count = np.sum(self.coverage, axis=0) if self.coverage else (0, 0)
        return (
            f"{name} ({len(self.failures)} failed)" if self.failures else name,
            *errors,
            f"{100.0 * np.mean(self.consistent):.0f}",
            f"{100.0 * inside / count:.1f}" if count else "–",
            f"{1e3 * np.median(self.seconds):.1f}",
        )


def _errors(phi: Phi, truth: Phi) -> tuple[float, float, float]:
    I, true = inertia_about_com(phi), inertia_about_com(truth)
    return (
        abs(float(phi[0] / truth[0]) - 1.0),
        float(np.linalg.norm(phi[1:4] - truth[1:4]) / np.linalg.norm(truth[1:4])),
        float(np.linalg.norm(I - true) / np.linalg.norm(true)),
    )


def main(arguments: list[str] | None = None) -> int:
    """Compare the methods, write the report; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    selected, tables = cases(), []
    first = Rows.of(next(selected[0].logs(1, options.seed)))
    commands = {method.name: _install_command(method, first) for method in METHODS}
    missing = ", ".join(name for name, command in commands.items() if command)
    line = numerics_line("peers", parser, options, "logs", "seed", missing=missing)
    for case in selected:
        logs = [Rows.of(log) for log in case.logs(options.logs, options.seed)]
        scores = {
            method.name: None if commands[method.name] else _scores(method, logs, case)
            for method in METHODS
        }
        rows = [
            result.table_row(name)
            if result
            else (name, f"not installed: {commands[name]}", *[""] * 5)
            for name, result in scores.items()
        ]
        tables.append((case, len(logs), rows))
    memory = [(method.name, method.description, _memory(method, first)) for method in METHODS]
    write_report(options.output, report(tables, memory), line)
    return 0


def _scores(method: Method, logs: Sequence[Rows], case: Case) -> Scores:
    """Run a method on all logs of a case, warmed up by `_install_command`."""
    scores = Scores()
    for rows in logs:
        scores.add(method, rows, case.truth)
    return scores


def _install_command(method: Method, rows: Rows) -> str | None:
    """Run a method once; return the command that installs it, None if it is installed."""
    try:
        with warnings.catch_warnings(action="ignore"):
            method.estimate(rows)
    except NotInstalled as error:
        return str(error)
    except Exception:  # noqa: BLE001 - foreign code; `Scores.add` records the failure
        return None
    return None


def _memory(method: Method, rows: Rows) -> str:
    """Return the growth of a separate process by a first fit, its libraries included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        path.write_bytes(pickle.dumps(rows))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            growth = pool.apply(_memory_growth, (METHODS.index(method), str(path)))
    return "–" if growth is None or not np.isfinite(growth) else f"{growth:.0f}"


def _memory_growth(number: int, path: str) -> float | None:
    rows = pickle.loads(Path(path).read_bytes())  # noqa: S301 - written above
    before = _peak()
    try:
        METHODS[number].estimate(rows)
    except NotInstalled:
        return None
    except Exception:  # noqa: BLE001 - foreign code; the tables show the failure
        pass
    return _peak() - before


def _peak() -> float:
    """Return the peak memory of this process [MB]; NaN if the system does not report it."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    kilobytes = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return float(kilobytes[0]) / 1024.0 if kilobytes else float("nan")


def report(
    tables: Sequence[tuple[Case, int, Sequence[Sequence[str]]]],
    memory: Sequence[Sequence[str]],
) -> str:
    """Return the report as Markdown."""
    parts = [
        "# Comparison with other methods",
        _ABOUT,
        markdown_table(make_table(_METHODS, memory)),
        _MEMORY,
    ]
    for case, count, rows in tables:
        logs = "One log" if count == 1 else f"{count} logs"
        parts += [f"## {case.name.capitalize()}", f"{case.description} {logs}."]
        parts.append(markdown_table(make_table(_COLUMNS, rows)))
    parts.append(_LEGEND)
    parts.append(", ".join(f"{name} {_version(name)}" for name in _VERSIONS) + ".")
    return "\n\n".join(parts)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/peers.md"))
    parser.add_argument("--logs", type=int, default=40, help="logs of each simulated case")
    parser.add_argument("--seed", type=int, default=7)
    return parser


if __name__ == "__main__":
    sys.exit(main())
