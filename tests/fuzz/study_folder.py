"""What holds of a damaged study folder: a row that is there still is the one that was written."""

from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq

from identify.errors import StudyError
from identify.experiments.store import read_rows


def check_folder(table: bytes) -> None:
    """Raise unless every row of the folder `study` is one of the table that was written.

    Raises:
        AssertionError: a row has other values.
    """
    written = {row["key"]: row for row in pq.read_table(BytesIO(table)).to_pylist()}
    try:
        found = read_rows(Path("study")).to_pylist()
    except StudyError:
        return
    assert all(repr(row) == repr(written.get(row["key"])) for row in found), "other numbers"
