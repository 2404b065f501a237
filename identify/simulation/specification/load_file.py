"""Samples of a load from a CSV or Parquet file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import TextIO

import numpy as np

from identify.arrays import Array, Vec6
from identify.errors import SchemaError, did_you_mean
from identify.files import require_file

COLUMNS = ("time", "fx", "fy", "fz", "tx", "ty", "tz")
"""Time from the start of the simulation [s], force [N] and torque [N m]; others are not read."""

_LONGEST_LINE = 2**20
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")


def read_samples(path: Path) -> tuple[Array, Vec6]:
    """The samples in a file: CSV with one line of names, or Parquet (`.parquet`).

    Returns:
        Times [s], shape (n,), and wrenches [f; t] [N, N m], shape (n, 6).

    Raises:
        MissingFile: there is no such file.
        SchemaError: it cannot be read, or lacks a column.
    """
    require_file(path)
    kind = path.suffix.lower()
    if kind in _COMPRESSED:
        raise SchemaError(
            f"{path}: compressed files are not read; unpack it, or save it as Parquet (.parquet)"
        )
    try:
        table = _read_parquet(path) if kind == ".parquet" else _read_csv(path)
    except SchemaError:
        raise
    except (OSError, ValueError) as error:  # pyarrow's errors are either
        raise SchemaError(f"{path}: cannot be read as samples of a load: {error}") from error
    if len(table) == 0:
        raise SchemaError(f"{path}: no rows of samples")
    return table[:, 0], table[:, 1:]


def _read_csv(path: Path) -> Array:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(_lines(file))
        names = [name.strip() for name in next(rows, [])]
        _require_columns(path, names)
        where = [names.index(column) for column in COLUMNS]
        return np.array([_numbers(row, where, rows.line_num) for row in rows if row])


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file; one of any length would fill the memory with its fields."""
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"a line has {_LONGEST_LINE} characters or more, which no row has")
        yield line


def _numbers(row: list[str], where: list[int], line: int) -> list[float]:
    try:
        numbers = [float(row[k]) for k in where]
    except (ValueError, IndexError) as error:
        raise ValueError(f"line {line}: {error}") from error
    for name, number in zip(COLUMNS, numbers, strict=True):
        if not isfinite(number):
            raise ValueError(f"line {line}: {name} is {number}; expected a finite number")
    return numbers


def _read_parquet(path: Path) -> Array:
    from pyarrow import parquet  # pandas-sized; only where a file asks for it

    _require_columns(path, parquet.read_schema(path).names)
    table = parquet.read_table(path, columns=list(COLUMNS), page_checksum_verification=True)
    return np.column_stack([table[name].to_numpy().astype(np.float64) for name in COLUMNS])


def _require_columns(path: Path, names: list[str]) -> None:
    for column in COLUMNS:
        if column not in names:
            raise SchemaError(
                f"{path}: no column {column!r} among {names}; a load needs {', '.join(COLUMNS)}"
                f"{did_you_mean(column, names)}"
            )
