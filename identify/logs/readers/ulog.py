"""ULog files of PX4: messages are the topics, their fields the columns."""

from __future__ import annotations

import contextlib
import io

import numpy as np

from identify.errors import LogError, MissingExtra
from identify.files import unreadable
from identify.logs.readers.arrays import Slot, slots_of, table_of
from identify.logs.readers.topics import topic_of
from identify.logs.table import Source, Table

LARGEST = 2**31
"""Bytes of a file, which is read whole."""

_STAMPS = ("timestamp", "timestamp_sample")
"""Fields that are times [µs]."""


def read_ulog(source: Source) -> Table:
    """Reads the fields asked for of one message; of several instances `NAME.1` is the second."""
    path = source.path
    try:
        from pyulog import ULog
    except ImportError as error:
        raise MissingExtra("a ULog file", "px4", "pyulog") from error
    if (size := path.stat().st_size) > LARGEST:
        raise LogError(
            f"{path}: has {size} bytes, and a ULog file of more than {LARGEST >> 30} GiB is not "
            "read; cut it, for one by the ulog tools of pyulog",
            path=path,
        )
    try:
        # It prints of what is damaged.
        with path.open("rb") as file, contextlib.redirect_stdout(io.StringIO()):
            log = ULog(file)
    except Exception as error:  # what a damaged file makes the library raise is of any type
        raise unreadable(path, error, "ULog file") from error
    topics = {
        data.name if data.multi_id == 0 else f"{data.name}.{data.multi_id}": data
        for data in log.data_list
    }
    counts = {name: f"{len(data.data['timestamp'])} rows" for name, data in topics.items()}
    arrays = dict(topics[topic_of(source, counts, "message")].data)
    for name in _STAMPS:
        if name in arrays:
            arrays[name] = np.asarray(arrays[name], dtype="timedelta64[us]")
    slots: list[Slot] = [
        slot
        for name, array in arrays.items()
        for slot in slots_of(name, name, np.shape(array), np.asarray(array).dtype)
    ]
    return table_of(source, slots, lambda name: np.asarray(arrays[name]))
