"""The clock of a log and its columns that are no signals, for what is made of the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.logs.clock import read_clock
from identify.logs.readers import format_of, read_table
from identify.logs.recording import Recording
from identify.logs.schema import load_schema
from identify.logs.schema_fields import bare
from identify.logs.sources import checked, plan_sources
from identify.logs.table import locate


@dataclass(frozen=True, slots=True)
class OtherColumns:
    """The clock of a log, and its columns of numbers that the schema does not name.

    Attributes:
        start: stamp of the first row kept [s]; zero where the log has no stamps.
        time: of each row that can be used, since that stamp [s], shape (n,); None of still poses.
        columns: by name, of the same rows, shape (n,) each.
    """

    start: float
    time: Array | None
    columns: Mapping[str, Array]

    @classmethod
    def of(cls, recording: Recording) -> OtherColumns | None:
        """Those of a log in one file of text or Parquet; None of another.

        Args:
            recording: of the log; its rows are not looked at.
        """
        schema = load_schema(recording.schema)
        source, *more = plan_sources(recording.sources[0].path, schema)
        if more or format_of(source.path) not in ("text", "parquet"):
            return None
        valid = checked(read_table(source), source, alone=True).whole()
        clock, names = read_clock([valid], [source.layout]), valid.names
        used = {locate(source.path, names, bare(column)[0]) for column in source.columns}
        left = [k for k, n in enumerate(names) if k not in used and n != source.layout.time]
        columns: Mapping[str, Array] | None = None
        while columns is None:
            try:
                table = read_table(replace(source, columns=tuple(left)))
                columns = {names[k]: table.columns[k][valid.numbers] for k in left}
            except LogError as error:
                if error.column not in left:
                    raise
                left.remove(error.column)  # it holds texts
        start = 0.0 if clock is None or clock.start is None else float(clock.start)
        return cls(start, None if clock is None else clock.time, columns)

    def at(self, time: Array | None) -> dict[str, Array]:
        """The columns at some times [s], each from the nearest row; of still poses of all rows."""
        if time is None or self.time is None:
            return dict(self.columns)
        after = np.clip(np.searchsorted(self.time, time), 1, len(self.time) - 1)
        nearest = after - (time - self.time[after - 1] < self.time[after] - time)
        return {name: column[nearest] for name, column in self.columns.items()}
