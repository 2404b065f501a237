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
TARGET_SECONDS = 1.0
"""Target time, with matplotlib loaded before [s]."""

_CODE = """
import sys, time
import matplotlib.figure, matplotlib.backends.backend_agg
import identify
from identify.logs import read_log

log, schema, page = sys.argv[1:]
result = identify.fit(read_log(log, schema))
started = time.process_time()
identify.report(result, page)
print(time.process_time() - started)
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
    spread = Spread.of(np.array(seconds))
    return [
        ReportLine(
            f"report of a fit of {count} samples, with matplotlib loaded before: processor time",
            spread.text("s"),
            f"≤ {TARGET_SECONDS:g} s",
            spread.median <= TARGET_SECONDS,
        )
    ]


def _seconds(command: list[str], folder: Path) -> float:
    """Return the time that the command reports; compiled modules are cached in the folder."""
    changed = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environment = os.environ | changed
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout.splitlines()[-1])
