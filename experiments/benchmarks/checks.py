"""Cost of the checks of a log: within a fit, and of `identify check` beside `identify fit`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from experiments.benchmarks.fit_command import write_log_of
from experiments.benchmarks.long_logs import write_parquet
from experiments.benchmarks.measure import Contender, Effort, ReportLine, Spread, race
from experiments.benchmarks.processes import run_identify
from identify.diagnosis import SignalMonitor
from identify.estimation import EstimatorSettings
from identify.logs import Recording, read_log
from identify.pipeline.checks import run_checks
from identify.pipeline.scanned_log import scan_log
from identify.pipeline.small_fault_fit import FittedLogs
from identify.regressors import summarise_log
from identify.signals import Interpretation

ROWS, RATE_HZ = 30_000, 500.0
LONG_ROWS, LONG_RATE_HZ = 1_000_000, 1000.0
MOST_OF_FIT, MOST_OF_LONG_FIT = 1.5, 1.4
"""Target processor time of a check, relative to a fit with its report."""
TARGET_MB = 800.0

_MIN_ROWS = 4000


def run(effort: Effort) -> list[ReportLine]:
    """Measure the time that checks add to a fit, and `identify check` on two logs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = effort.scaled(ROWS, minimum=_MIN_ROWS)
        schema = write_log_of(folder / "short.parquet", rows, RATE_HZ)
        seconds = seconds_of_checks(read_log(folder / "short.parquet", schema), effort)
        spread = Spread.of(seconds)
        lines = [
            ReportLine(
                f"time added by the checks within `identify fit` of {rows} clean rows",
                spread.text("s"),
            ),
            *measure_check(folder / "short.parquet", schema, rows, MOST_OF_FIT),
        ]
        rows = max(_MIN_ROWS, round(effort.scale**2 * LONG_ROWS))
        schema = write_log_of(folder / "part.parquet", min(rows, 500_000), LONG_RATE_HZ)
        write_parquet(folder, rows)
        return [*lines, *measure_check(folder / "log.parquet", schema, rows, MOST_OF_LONG_FIT)]


def seconds_of_checks(recording: Recording, effort: Effort) -> np.ndarray:
    """Measure the time that sensor effects and checks add to a fit, per turn [s]."""
    log = scan_log(recording, Interpretation(), all_columns=True)
    settings = EstimatorSettings()

    def diagnosis() -> float:
        fitted = FittedLogs.fit([log], settings)
        checks = run_checks(fitted, settings, compare_interpretations=False)
        assert checks.small_faults is not None
        return float(checks.small_faults.fit.x.sum())

    def raw_signals() -> float:
        monitor = SignalMonitor()
        monitor.update(recording)
        return float(len(monitor.spans()))

    contenders: dict[str, Contender] = {
        "narrow": lambda: summarise_log(recording).statistics.factors,
        "wide": lambda: summarise_log(recording, wide=True).statistics.factors,
        "signals": raw_signals,
        "diagnosis": diagnosis,
    }
    seconds = race(contenders, effort)
    return seconds["wide"] - seconds["narrow"] + seconds["signals"] + seconds["diagnosis"]


def measure_check(log: Path, schema: Path, rows: int, at_most: float) -> list[ReportLine]:
    """Measure `identify check` of a clean log, and relative to its fit.

    Raises:
        RuntimeError: the command reported a finding.
    """
    taken = run_identify("check", log, "--schema", schema)
    if taken.status != 0:
        raise RuntimeError(f"identify check ended with status {taken.status}: {taken.last_line}")
    fit = run_identify("fit", log, "--schema", schema, "-o", log.parent / "out", "--quiet")
    ratio = np.array([taken.processor_seconds / fit.processor_seconds])
    return [
        taken.report_line(f"`identify check` of {rows} rows", TARGET_MB),
        ReportLine.of_ratio(
            "… relative to `identify fit` (processor time)", ratio, at_most=at_most
        ),
    ]
