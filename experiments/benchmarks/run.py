"""Run the benchmarks, print the table and write reports/benchmarks.md.

    python experiments/benchmarks/run.py [-o FILE] [--only NAME ...] [--repetitions 9]

Linear algebra is to be held at one thread from outside (OMP_NUM_THREADS=1), as `make bench` does.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from experiments.benchmarks.measure import Effort, Line
from experiments.benchmarks.registry import BENCHMARKS
from experiments.reports import numerics_line, write_report

_PACKAGES = ("numpy", "scipy", "cvxpy", "clarabel", "pandas", "pyarrow", "matplotlib")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_REACHED = {None: "", True: "yes", False: "**no**"}


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen benchmarks; returns 1 if one of them could not run."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("benchmarks", parser, options, "only", "repetitions", "size")
    effort = Effort(repetitions=options.repetitions, size=options.size)
    facts = machine()
    lines, failed = [], False
    for name in options.only or BENCHMARKS:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            lines += BENCHMARKS[name](effort)
        except Exception as error:  # noqa: BLE001 - one that cannot run must not hide the others
            lines.append(Line(name, f"could not run: {type(error).__name__}: {error}", "", False))
            failed = True
    line = "Not the whole list: some could not run." if failed else line
    write_report(options.output, report(lines, effort, facts), line)
    print(options.output)
    return int(failed)


def report(lines: Sequence[Line], effort: Effort, facts: str) -> str:
    """The report as Markdown; `facts` is what it ran on."""
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "Written by `make bench`; nothing here is entered by hand. What is compared took turns "
            "in one process, warm, on one thread, its results used. Shown: the median, and in "
            f"parentheses the lowest and highest of {effort.repetitions} turns (fewer where a "
            "whole process runs); ratios are taken turn by turn.",
            "",
            "| what | measured | reach | reached |",
            "| --- | --- | --- | --- |",
            *(
                f"| {line.what} | {line.measured} | {line.reach} | {_REACHED[line.reached]} |"
                for line in lines
            ),
            "",
            facts,
            "",
        ]
    )


def machine() -> str:
    """Describe the machine: processors and their load, Python, packages, threads."""
    held = all(os.environ.get(name) == "1" for name in _THREADS)
    packages = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
    threads = "one thread" if held else "**not held at one thread**: set OMP_NUM_THREADS=1"
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors{_load()}, Python "
        f"{platform.python_version()}, {packages}; linear algebra: {threads}."
    )


def _load() -> str:
    """Return the load of the processors by other programs, if the system reports it."""
    if not hasattr(os, "getloadavg"):
        return ""
    return f" (load before the first benchmark: {os.getloadavg()[0]:.1f})"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("reports/benchmarks.md"))
    parser.add_argument("--only", nargs="+", choices=list(BENCHMARKS), metavar="NAME")
    parser.add_argument("--repetitions", type=int, default=Effort().repetitions)
    parser.add_argument("--size", type=float, default=1.0, help="share of the full problem size")
    return parser


if __name__ == "__main__":
    sys.exit(main())
