"""Samples of a load from a file, by the reader of logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from identify.arrays import Array, Vec6
from identify.logs.schema_tables import LogTable
from identify.logs.sources import read_source
from identify.logs.table import Source

_WRENCH = ("fx", "fy", "fz", "tx", "ty", "tz")
"""Force [N] and torque [N m]; other columns are not read."""

_LAYOUT = LogTable(time="time", drop_bad_rows=True)
"""Time from the start of the simulation [s]; bad rows are marked, and refused below."""


def read_samples(path: Path) -> tuple[Array, Vec6]:
    """The samples in a file: CSV with one line of names, Parquet or NPZ.

    Returns:
        Times [s], shape (n,), and wrenches [f; t] [N, N m], shape (n, 6).

    Raises:
        MissingFile: there is no such file.
        LogError: it cannot be read, lacks a column, or has rows that are not finite numbers.
    """
    table = read_source(Source(path, _LAYOUT, (), _WRENCH, own_clock=True), alone=True)
    if table.faults.any():
        raise table.error_at(int(np.argmax(table.faults > 0)), "expected seven finite numbers")
    ticks = table.ticks_per_second or 1
    time = np.asarray(table.stamps, dtype=np.float64) / ticks
    return time, np.stack([table.columns[name] for name in _WRENCH], axis=-1)
