"""Time and peak memory of `identify fit` on logs of up to ten million rows.

Each measurement is a separate process; the files are written before, to a temporary folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from experiments.benchmarks.fit_command import write_log_of
from experiments.benchmarks.measure import Effort, ReportLine
from experiments.benchmarks.processes import ResourceUsage, run_identify, run_python

ROWS = 10_000_000
TARGET_MB = 800.0
TARGET_RATIO = 2.5

_RATE_HZ = 1000.0
_PART = 500_000
_MIN_ROWS = 4000

_REFERENCE = """
import sys
import pyarrow.parquet as pq
from identify.logs import read_log
from identify.regressors import block_statistics
from identify.signals import prepare

log, part, schema, repeats = *sys.argv[1:4], int(sys.argv[4])
for batch in pq.ParquetFile(log, pre_buffer=False, buffer_size=2**20).iter_batches(130_000):
    pass
recording = read_log(part, schema)
for _ in range(repeats):
    block_statistics(prepare(recording, 5.0))
"""
"""Program that reads all columns, and prepares as many rows in chunks already in memory."""


def run(effort: Effort) -> list[ReportLine]:
    """Measure `identify fit` on Parquet and CSV, and on smaller logs."""
    rows = max(_MIN_ROWS, round(effort.scale**2 * ROWS))
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        schema = write_log_of(folder / "part.parquet", min(rows, _PART), _RATE_HZ)
        chunk = write_log_of(folder / "chunk.parquet", min(rows, 130_000), _RATE_HZ)
        repeats = max(1, rows // 130_000)
        counts = sorted({max(_MIN_ROWS, rows // share) for share in (100, 10, 1)})
        fits = []
        for count in counts:
            write_parquet(folder, count)
            fits.append(_fit(folder / "log.parquet", schema, folder / "out"))
            lines.append(
                fits[-1].report_line(
                    f"identify fit with report, Parquet of {count} rows", TARGET_MB
                )
            )
        words = (folder / "log.parquet", folder / "chunk.parquet", chunk, repeats)
        reference = run_python(_REFERENCE, *words)
        lines.append(
            ReportLine.of_ratio(
                "… relative to reading and preparing the columns once, in chunks (processor time)",
                np.array([fits[-1].processor_seconds / reference.processor_seconds]),
                at_most=TARGET_RATIO,
            )
        )
        write_csv(folder, rows)
        taken = _fit(folder / "log.csv", schema, folder / "out")
        lines.append(taken.report_line(f"identify fit with report, CSV of {rows} rows", TARGET_MB))
    return lines


def _fit(log: Path, schema: Path, output: Path) -> ResourceUsage:
    taken = run_identify("fit", log, "--schema", schema, "-o", output, "--quiet")
    if taken.status != 0:
        raise RuntimeError(f"identify fit ended with status {taken.status}: {taken.last_line}")
    return taken


def write_parquet(folder: Path, count: int) -> None:
    """Write `log.parquet`: the motion of `part.parquet` repeated, on one clock."""
    with pq.ParquetWriter(folder / "log.parquet", _part(folder).schema) as file:
        _repeat(folder, count, file.write_table)


def write_csv(folder: Path, count: int) -> None:
    """Write `log.csv`: the motion of `part.parquet` repeated, with seven decimals."""
    with (folder / "log.csv").open("wb") as file:

        def write(table: pa.Table) -> None:
            rounded = {name: table[name].to_numpy().round(7) for name in table.column_names}
            options = pacsv.WriteOptions(include_header=file.tell() == 0)
            pacsv.write_csv(pa.table(rounded), file, options)

        _repeat(folder, count, write)


def _part(folder: Path) -> pa.Table:
    return pq.read_table(folder / "part.parquet")


def _repeat(folder: Path, count: int, write: Callable[[pa.Table], object]) -> None:
    part = _part(folder)
    time = part.column_names.index("t")
    for start in range(0, count, len(part)):
        rows = min(len(part), count - start)
        stamps = pa.array(np.arange(start, start + rows) / _RATE_HZ)
        write(part.slice(0, rows).set_column(time, "t", stamps))
