"""Time of `import identify` in a new interpreter, compared with a bare one."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread
from identify.arrays import Array

MOST_OF_NUMPY = 0.5
"""Target time above a bare interpreter, relative to that of NumPy."""

STATEMENTS = {
    "bare": "pass",
    "numpy": "import numpy",
    "import": "import identify",
    "first use": "import identify; identify.read_log, identify.fit",
}


def run(effort: Effort) -> list[ReportLine]:
    """Measure the time to import the package, best of several new interpreters."""
    seconds = {name: np.empty(effort.repetitions) for name in STATEMENTS}
    for statement in STATEMENTS.values():
        interpreter_seconds(statement)
    for turn in range(effort.repetitions):
        for name, statement in STATEMENTS.items():
            seconds[name][turn] = interpreter_seconds(statement)
    bare = Spread.of(seconds["bare"])
    more = {
        name: _seconds_above_bare(seconds[name], bare.lowest)
        for name in ("numpy", "import", "first use")
    }
    return [
        ReportLine(
            "import identify, above a bare interpreter: best of "
            f"{effort.repetitions} (median … slowest)",
            _format_spread(more["import"]),
        ),
        ReportLine.of_ratio(
            "… relative to NumPy's",
            np.array([more["import"].lowest / max(more["numpy"].lowest, 1e-3)]),
            at_most=MOST_OF_NUMPY,
        ),
        ReportLine("… with read_log and fit loaded too", _format_spread(more["first use"])),
        ReportLine("bare interpreter", _format_spread(bare)),
    ]


def interpreter_seconds(statement: str) -> float:
    """Return the wall time of a new interpreter that runs a statement [s]."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - started


def _seconds_above_bare(seconds: Array, bare: float) -> Spread:
    return Spread.of(np.maximum(seconds - bare, 0.0))


def _format_spread(spread: Spread) -> str:
    return f"{spread.lowest:.3f} s ({spread.median:.3f} … {spread.highest:.3f})"
