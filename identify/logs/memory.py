"""Logs in memory: tables of columns, and named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from identify.arrays import is_masked
from identify.errors import LogError
from identify.logs.table import LogInMemory

if TYPE_CHECKING:
    from pandas import DataFrame


def log_in_memory(table: Mapping[str, ArrayLike] | DataFrame) -> LogInMemory:
    """Return a table of columns in memory as a log.

    Raises `LogError`: the argument is no table, or a column is no array.
    """
    if isinstance(table, Mapping):
        columns = list(table.items())
    elif hasattr(table, "iloc") and hasattr(table, "columns"):
        columns = [(name, table.iloc[:, k]) for k, name in enumerate(table.columns)]
    else:
        raise LogError(
            f"read_log: expected a file, a pandas DataFrame or a mapping of names to arrays, got "
            f"{type(table).__name__}"
        )
    return LogInMemory(
        "table", tuple((str(name), _as_array(name, values)) for name, values in columns)
    )


def _as_array(name: object, values: Any) -> NDArray[Any]:
    """Convert a column to an array; pandas types become NumPy types, missing values are masked."""
    dtype = getattr(values, "dtype", None)
    if hasattr(values, "isna") and not isinstance(dtype, np.dtype):
        kind = getattr(dtype, "kind", "O")
        if kind == "M":  # stamps with a time zone
            return values.to_numpy(dtype="datetime64[ns]")
        if kind in "iuf":
            numbers = values.to_numpy(dtype=f"{kind}8", na_value=0)
            return np.ma.masked_array(numbers, mask=values.isna().to_numpy())
    try:
        return np.ma.asarray(values) if is_masked(values) else np.asarray(values)
    except (TypeError, ValueError) as error:  # lists of uneven length
        raise LogError(f"column {name!r}: is no array: {error}", column=str(name)) from error
