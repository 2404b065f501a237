"""Write the reports that are old: those whose numbers are of other code than there is now.

    python scripts/write_reports.py [--list] [NAME ...]

One that is done stays done: after an interruption the same command goes on with the others.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping

from experiments.reports import REPORTS, ROOT, Report, old_reports


def listed(old: Mapping[str, Report]) -> str:
    """The old ones with the time that they take, in words."""
    if not old:
        return "Every report is of this code."
    lines = [f"  {report.file:32s} {report.minutes:4g} min" for report in old.values()]
    total = sum(report.minutes for report in old.values())
    head = f"{len(old)} of {len(REPORTS)} reports are of other code; `make reports` writes them"
    return "\n".join([f"{head} (some {total:g} min on two cores):", *lines])


def written(name: str, report: Report) -> str:
    """Write one; what went wrong, in words, or an empty text."""
    if missing := report.lacks():
        return f"needs {missing}"
    print(f"{name}: {report.file}, some {report.minutes:g} min", flush=True)
    began = time.monotonic()
    status = subprocess.run([sys.executable, *report.command], cwd=ROOT).returncode
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    if status:
        return f"ended with status {status}"
    return "is still of other code: files changed while it was written" if report.old else ""


def main(arguments: list[str] | None = None) -> int:
    """List or write the old reports; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--list", action="store_true", help="say which are old, and write none")
    options = parser.parse_args(arguments)
    old = old_reports(options.names)
    print(listed(old))
    if options.list:
        return 0
    failed = {}
    try:
        for name, report in old.items():
            if message := written(name, report):
                failed[name] = message
    except KeyboardInterrupt:
        print("Interrupted; what was done stays: the same command goes on.", file=sys.stderr)
        return 130
    for name, message in failed.items():
        print(f"{name}: not written: {message}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
