"""Write the outdated reports, whose numbers come from other code than the current.

    python scripts/write_reports.py [--list] [NAME ...]

Reports of one process are written two at a time, the others alone. Finished reports are kept: after
an interruption the same command resumes with the others.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import starmap

from experiments.reports import REPORTS, ROOT, Report, outdated_reports
from scripts.paper_tables import PAPER, with_tables

CORES = 2
"""Number of reports of one process that are written at a time."""


def expected_minutes(old: Mapping[str, Report]) -> float:
    """Return the time to write some reports [min]."""
    alone = sum(report.minutes for report in old.values() if not report.one_process)
    beside = [report.minutes for report in old.values() if report.one_process]
    return alone + max(sum(beside) / CORES, *beside, 0.0)


def describe_outdated(old: Mapping[str, Report]) -> str:
    """Describe the outdated reports and the time to write them."""
    if not old:
        return "All reports are up to date."
    lines = [f"  {report.file:32s} {report.minutes:4g} min" for report in old.values()]
    total = expected_minutes(old)
    head = f"{len(old)} of {len(REPORTS)} reports are outdated; `make reports` writes them"
    return "\n".join([f"{head} (about {total:g} min on two cores):", *lines])


def write(name: str, report: Report) -> str:
    """Write a report; return a description of a failure, else an empty text."""
    if missing := report.missing_requirement():
        return f"needs {missing}"
    print(f"{name}: {report.file}, about {report.minutes:g} min", flush=True)
    began = time.monotonic()
    status = subprocess.run([sys.executable, *report.command], cwd=ROOT).returncode
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    if status:
        return f"ended with status {status}"
    return "is still outdated: files changed while it was written" if report.is_outdated else ""


def main(arguments: list[str] | None = None) -> int:
    """List or write the outdated reports; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="reports to write; all by default")
    parser.add_argument("--list", action="store_true", help="only list the outdated reports")
    options = parser.parse_args(arguments)
    old = outdated_reports(options.names)
    print(describe_outdated(old))
    if options.list:
        return 0
    beside = {name: report for name, report in old.items() if report.one_process}
    alone = {name: report for name, report in old.items() if not report.one_process}
    try:
        with ThreadPoolExecutor(CORES) as pool:
            messages = dict(zip(beside, pool.map(write, beside, beside.values()), strict=True))
        messages |= dict(zip(alone, starmap(write, alone.items()), strict=True))
    except KeyboardInterrupt:
        print("Interrupted; finished reports are kept. Run again to resume.", file=sys.stderr)
        return 130
    finally:
        PAPER.write_text(with_tables(PAPER.read_text(encoding="utf-8")), encoding="utf-8")
    failed = {name: message for name, message in messages.items() if message}
    for name, message in failed.items():
        print(f"{name}: not written: {message}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
