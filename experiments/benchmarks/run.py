"""Run the benchmarks, print the table and write reports/benchmarks.md.

    python experiments/benchmarks/run.py [-o FILE] [--only NAME ...] [--repetitions 9]

Set OMP_NUM_THREADS=1, as `make bench` does: linear algebra must run on one thread.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from experiments.benchmarks.measure import Effort, ReportLine
from experiments.benchmarks.registry import BENCHMARKS
from experiments.reports import numerics_line, write_report

_PACKAGES = ("numpy", "scipy", "cvxpy", "clarabel", "pandas", "pyarrow", "matplotlib")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_MET = {None: "", True: "yes", False: "**no**"}


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen benchmarks; returns 1 if any of them fails."""
    parser = _parser()
    options = parser.parse_args(arguments)
    line = numerics_line("benchmarks", parser, options, "only", "repetitions", "size")
    effort = Effort(repetitions=options.repetitions, scale=options.size)
    facts = machine()
    lines, failed = [], False
    for name in options.only or BENCHMARKS:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            lines += BENCHMARKS[name](effort)
        except Exception as error:  # noqa: BLE001 - any failure is a line, and the others run
            lines.append(ReportLine(name, f"failed: {type(error).__name__}: {error}", "", False))
            failed = True
    line = "Incomplete: some benchmarks failed." if failed else line
    write_report(options.output, report(lines, effort, facts), line)
    print(options.output)
    return int(failed)


def report(lines: Sequence[ReportLine], effort: Effort, machine_description: str) -> str:
    """Return the report as Markdown; `machine_description` describes the machine."""
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "Written by `make bench`; nothing here is entered by hand. Alternatives alternate in "
            "one process, warm, on one thread. Values: median, and in parentheses minimum and "
            f"maximum of {effort.repetitions} turns (fewer for separate processes); ratios are "
            "computed turn by turn.",
            "",
            "| benchmark | measured | target | met |",
            "| --- | --- | --- | --- |",
            *(
                f"| {line.label} | {line.measured} | {line.target} | {_MET[line.met]} |"
                for line in lines
            ),
            "",
            machine_description,
            "",
        ]
    )


def machine() -> str:
    """Describe the machine: processors and their load, Python, packages, threads."""
    single_thread = all(os.environ.get(name) == "1" for name in _THREADS)
    packages = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
    threads = "one thread" if single_thread else "**not on one thread**: set OMP_NUM_THREADS=1"
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
