"""Conversion of Arrow columns to NumPy arrays.

Arrow's own `to_numpy` imports pandas, which takes longer than to read a log; DLPack does not. Where
nothing is to be computed, Arrow's compute functions are left alone, for they take long to load.
"""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from identify.arrays import Array
from identify.logs.table import Stamps


def as_numbers(column: pa.ChunkedArray) -> Array:
    """Convert a numeric column to float64, nulls to NaN; `pa.ArrowException` if impossible."""
    numbers = _cast(column, pa.float64(), safe=False)
    return _to_numpy(numbers.fill_null(math.nan) if numbers.null_count else numbers)


def as_stamps(column: pa.ChunkedArray) -> tuple[Stamps, NDArray[np.bool_]]:
    """Convert time stamps exactly, and return where they are missing.

    Whole numbers stay int64: stamps in nanoseconds since 1970 have more digits than a float64.

    Raises `pa.ArrowException`: they cannot be cast, as unsigned ones past 2⁶³.
    """
    if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        stamps = as_numbers(column)
        return stamps, np.isnan(stamps)
    whole = _cast(column, pa.int64())
    if not whole.null_count:
        return _to_numpy(whole), np.zeros(len(whole), dtype=np.bool_)
    missing = _to_numpy(whole.is_null().cast(pa.uint8())).astype(bool)
    return _to_numpy(whole.fill_null(0)), missing


def _cast(
    column: pa.ChunkedArray, arrow_type: pa.DataType, *, safe: bool = True
) -> pa.ChunkedArray:
    return column if column.type == arrow_type else column.cast(arrow_type, safe=safe)


def _to_numpy(column: pa.ChunkedArray) -> NDArray:
    pieces = [np.from_dlpack(chunk) for chunk in column.chunks]
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate(pieces) if pieces else np.empty(0, column.type.to_pandas_dtype())
