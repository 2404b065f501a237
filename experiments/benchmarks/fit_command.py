"""Time and peak memory of `identify fit` in a separate process, beside a plain NumPy script."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from experiments.benchmarks.measure import Effort, ReportLine, Spread
from experiments.benchmarks.processes import run_identify, run_python
from identify.inertia import InertialParameters
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording

SAMPLES = 100_000
TARGET_MB = 500.0

SHIPPED = Path(__file__).parents[2] / "datasets" / "payload_arm"
MOST_OF_SCRIPT = 1.9
"""Target processor time of a fit of the shipped log, relative to `_SCRIPT`."""

_SCRIPT = """
import sys
import numpy as np
import pyarrow.parquet as pq

table = pq.read_table(sys.argv[1])
log = {name: table[name].to_numpy() for name in table.column_names}
t = 1e-6 * log["t_us"]
x, y, z, w = (log[name] for name in ("qx", "qy", "qz", "qw"))
R = np.array([
    [1 - 2 * (y*y + z*z), 2 * (x*y - z*w), 2 * (x*z + y*w)],
    [2 * (x*y + z*w), 1 - 2 * (x*x + z*z), 2 * (y*z - x*w)],
    [2 * (x*z - y*w), 2 * (y*z + x*w), 1 - 2 * (x*x + y*y)],
]).transpose(2, 0, 1)
kernel = np.hanning(41) / np.hanning(41).sum()

def smooth(columns):
    return np.stack([np.convolve(column, kernel, "same") for column in columns.T], axis=1)

def rate(columns):
    return smooth(np.gradient(columns, t, axis=0))

skew = np.einsum("nji,njk->nik", R, rate(R.reshape(-1, 9)).reshape(-1, 3, 3))
omega = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
alpha = rate(omega)
position = np.stack([log[name] for name in ("px", "py", "pz")], axis=1)
a = np.einsum("nji,nj->ni", R, rate(rate(position)) + [0.0, 0.0, 9.80665])

def cross(v):
    return np.cross(v[:, None, :], np.eye(3)).transpose(0, 2, 1)

def dot(v):
    x, y, z = v.T
    o = np.zeros_like(x)
    return np.array([[x, y, z, o, o, o], [o, x, o, y, z, o], [o, o, x, o, y, z]]).transpose(2, 0, 1)

A = np.zeros((len(t), 6, 16))
A[:, :3, 0] = a
A[:, :3, 1:4] = cross(alpha) + cross(omega) @ cross(omega)
A[:, 3:, 1:4] = -cross(a)
A[:, 3:, 4:10] = dot(alpha) + cross(omega) @ dot(omega)
A[:, :, 10:] = np.eye(6)
b = -np.stack([log[name] for name in ("fx", "fy", "fz", "tx", "ty", "tz")], axis=1)
inside = slice(200, -200)
print(np.linalg.lstsq(A[inside].reshape(-1, 16), b[inside].ravel(), rcond=None)[0][:4])
"""
"""Program that reads the shipped log, differentiates its pose and solves least squares."""

_RATE_HZ = 500.0


def run(effort: Effort) -> list[ReportLine]:
    """Measure time and memory of the command; the CSV is written before."""
    script, fit = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(1 + _turns(effort)):  # the first compiles
            script.append(run_python(_SCRIPT, SHIPPED / "payload_arm.parquet").processor_seconds)
            log, schema = SHIPPED / "payload_arm.parquet", SHIPPED / "schema.toml"
            fit.append(fit_once(log, schema, Path(folder) / "out")[1])
    ratio = np.divide(fit[1:], script[1:])
    with tempfile.TemporaryDirectory() as folder:
        log, schema = write_csv(Path(folder), effort.scaled(SAMPLES, minimum=2000))
        megabytes = 1e-6 * log.stat().st_size
        taken = [fit_once(log, schema, Path(folder) / "out") for _ in range(_turns(effort))]
    seconds, processor, peak = (Spread.of(column) for column in np.transpose(taken))
    count = effort.scaled(SAMPLES, minimum=2000)
    return [
        ReportLine.of_ratio(
            "identify fit of the shipped log with report, relative to a NumPy script that reads, "
            "differentiates and solves: processor time",
            ratio,
            at_most=MOST_OF_SCRIPT,
        ),
        ReportLine(
            f"identify fit with report, CSV of {count} samples ({megabytes:.0f} MB): wall time",
            seconds.text("s"),
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
