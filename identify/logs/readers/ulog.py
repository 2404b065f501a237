"""Reader of PX4 ULog files: messages are topics, their fields are columns."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from identify.errors import LogError, MissingExtra
from identify.files import wrap_decode_errors
from identify.logs.readers.array_columns import all_column_refs, load_table, requested_topic
from identify.logs.table import ColumnSource, Table, TableInfo

MAX_BYTES = 2**31
"""Maximum size of a file, which is read at once [bytes]."""

_TIME_FIELDS = ("timestamp", "timestamp_sample")
"""Fields with times [µs]."""


def read_ulog(source: ColumnSource) -> Table:
    """Read the requested fields of one message; `NAME.1` is the second instance."""
    topics = _fields_by_message(source.path)
    counts = {name: f"{len(arrays['timestamp'])} rows" for name, arrays in topics.items()}
    arrays = topics[requested_topic(source, counts, "message")]
    return load_table(source, all_column_refs(arrays), arrays.__getitem__)


def list_contents(path: Path) -> tuple[TableInfo, ...]:
    """List the messages of a ULog file and their fields."""
    return tuple(
        TableInfo(tuple(slot.name for slot in all_column_refs(arrays)), name)
        for name, arrays in _fields_by_message(path).items()
    )


def _fields_by_message(path: Path) -> dict[str, dict[str, NDArray[np.generic]]]:
    """Return the fields of all messages by name."""
    try:
        from pyulog import ULog
    except ImportError as error:
        raise MissingExtra("a ULog file", "px4", "pyulog") from error
    if (size := path.stat().st_size) > MAX_BYTES:
        raise LogError(
            f"{path}: has {size} bytes, and a ULog file of more than {MAX_BYTES >> 30} GiB is not "
            "read; cut it, for one by the ulog tools of pyulog",
            path=path,
        )
    printed = contextlib.redirect_stdout(io.StringIO())  # it prints of what is damaged
    with wrap_decode_errors(path, "ULog file"), path.open("rb") as file, printed:
        log = ULog(file)
    topics: dict[str, dict[str, NDArray[np.generic]]] = {}
    for data in log.data_list:
        name = data.name if data.multi_id == 0 else f"{data.name}.{data.multi_id}"
        topics[name] = {
            field: np.asarray(values, dtype="timedelta64[us]" if field in _TIME_FIELDS else None)
            for field, values in data.data.items()
        }
    return topics
