"""Time and peak memory of `identify fit` on a CSV with report, in a separate process."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread
from experiments.benchmarks.processes import run_identify
from identify.inertia import InertialParameters
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording

SAMPLES = 100_000
TARGET_SECONDS = 3.0
TARGET_MB = 500.0

_RATE_HZ = 500.0


def run(effort: Effort) -> list[ReportLine]:
    """Measure time and memory of the command; the CSV is written before."""
    with tempfile.TemporaryDirectory() as folder:
        log, schema = write_csv(Path(folder), effort.scaled(SAMPLES, minimum=2000))
        megabytes = 1e-6 * log.stat().st_size
        taken = [fit_once(log, schema, Path(folder) / "out") for _ in range(_turns(effort))]
    seconds, processor, peak = (Spread.of(column) for column in np.transpose(taken))
    count = effort.scaled(SAMPLES, minimum=2000)
    return [
        ReportLine(
            f"identify fit with report, CSV of {count} samples ({megabytes:.0f} MB): wall time",
            seconds.text("s"),
            f"≤ {TARGET_SECONDS:g} s",
            seconds.median <= TARGET_SECONDS,
        ),
        ReportLine("… processor time", processor.text("s")),
        ReportLine(
            "… peak memory", peak.text("MB"), f"≤ {TARGET_MB:g} MB", peak.highest <= TARGET_MB
        ),
    ]


def write_csv(folder: Path, count: int) -> tuple[Path, Path]:
    """Write a CSV log of pose and wrench with noise; return the log and its schema."""
    log = folder / "log.csv"
    return log, write_log_of(log, count, _RATE_HZ)


def write_log_of(log: Path, count: int, rate_hz: float) -> Path:
    """Write a log of pose and wrench with noise; returns its schema."""
    body = InertialParameters.from_com(
        1.2,
        (0.02, -0.01, 0.06),
        np.array([[3.0, 0.4, -0.3], [0.4, 2.6, 0.5], [-0.3, 0.5, 1.7]]) * 1e-3,
    )
    recording = synthetic_recording(
        body.phi,
        rng=np.random.default_rng(1),
        duration=count / rate_hz,
        rate_hz=rate_hz,
        bias=(0.3, -0.2, 0.5, 0.01, 0.02, -0.01),
        noise=Noise(position=1e-5, orientation=1e-5, force=0.05, torque=0.0025),
    )
    return write_log(recording, log)


def fit_once(log: Path, schema: Path, output: Path) -> tuple[float, float, float]:
    """Return wall time [s], processor time [s] and peak memory [MB] of one run.

    Raises:
        RuntimeError: the command failed or wrote no report.
    """
    taken = run_identify("fit", log, "--schema", schema, "-o", output, "--quiet")
    if taken.status != 0 or not (output / "report.html").is_file():
        raise RuntimeError(f"identify fit ended with status {taken.status}: {taken.last_line}")
    return taken.seconds, taken.processor_seconds, taken.megabytes


def _turns(effort: Effort) -> int:
    return max(1, effort.repetitions // 3)
