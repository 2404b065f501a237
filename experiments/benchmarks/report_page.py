"""Processor time to write the report of a finished fit, with its replays."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from experiments.benchmarks.fit_command import write_csv
from experiments.benchmarks.measure import Effort, ReportLine, Spread

SAMPLES = 100_000
MOST_OF_FIT = 0.5
"""Target processor time, with matplotlib loaded before, relative to the fit."""

_CODE = """
import sys, time
import matplotlib.figure, matplotlib.backends.backend_agg
import identify
from identify.logs import read_log

log, schema, page = sys.argv[1:]
began = time.process_time()
result = identify.fit(read_log(log, schema))
started = time.process_time()
identify.report(result, page)
print(time.process_time() - started, started - began)
"""


def run(effort: Effort) -> list[ReportLine]:
    """Measure the processor time of a report, each in a new process.

    Modules are compiled before, as those of an installed package are.
    """
    count = effort.scaled(SAMPLES, minimum=2000)
    with tempfile.TemporaryDirectory() as folder:
        log, schema = write_csv(Path(folder), count)
        command = [sys.executable, "-c", _CODE, str(log), str(schema), f"{folder}/report.html"]
        turns = max(1, effort.repetitions // 3)
        _, *seconds = (_seconds(command, Path(folder)) for _ in range(turns + 1))
    report, fit = np.transpose(seconds)
    return [
        ReportLine(
            f"report of a fit of {count} samples, with matplotlib loaded before: processor time",
            Spread.of(report).text("s"),
        ),
        ReportLine.of_ratio(
            "… relative to reading and fitting them", report / fit, at_most=MOST_OF_FIT
        ),
    ]


def _seconds(command: list[str], folder: Path) -> list[float]:
    """Return the times that the command reports; compiled modules are cached in the folder."""
    changed = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environment = os.environ | changed
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return [float(seconds) for seconds in done.stdout.split()[-2:]]
