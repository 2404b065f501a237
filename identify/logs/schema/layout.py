"""The `[log]` and `[streams.*]` tables of a schema: the clock and the layout of the files."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator

from identify.logs.schema.fields import Column, Number, Section, choice
from identify.logs.units import TICKS_PER_SECOND

_CLOCK_KEYS = frozenset({"time", "rate_hz", "still"})


class LogTable(Section):
    """`[log]`: the clock and the layout of the file."""

    time: Column | None = None
    """The column of time stamps; or else `rate_hz` or `still`."""
    time_unit: Annotated[str, choice(TICKS_PER_SECOND)] = "s"
    rate_hz: Annotated[Number, Field(gt=0.0)] | None = None
    """Rows a second, of a log without time stamps."""
    still: StrictBool = False
    """Every row is a still pose: no time is needed."""
    header_lines: Annotated[StrictInt, Field(ge=0)] = 1
    """Lines before the first data row; where columns are named, the last of them has the names."""
    separator: StrictStr = ","
    """One character, or "whitespace" for any run of blanks and tabs."""
    comment: StrictStr = "#"
    """What a comment begins with; empty if nothing does."""
    drop_bad_rows: StrictBool = False
    """Drop and count the rows with text where a number should be, instead of refusing the log."""

    @model_validator(mode="after")
    def _one_clock(self) -> LogTable:
        given = self.clocks
        if len(given) > 1:
            raise ValueError(f"give exactly one of time, rate_hz and still = true, got {given}")
        return self

    @model_validator(mode="after")
    def _separator_separates(self) -> LogTable:
        mark = self.separator
        if mark != "whitespace" and not re.fullmatch(r"[ \t!#$%&()*,/:;<=>?@^`{|}~\[\]\\]", mark):
            raise ValueError(
                f'separator: expected one character such as "," or ";", or "whitespace", '
                f"got {mark!r}"
            )
        stands_in_data = re.search(r"[\w\s.+\-\"]", self.comment) or self.comment == mark
        if stands_in_data or not self.comment.isascii():
            raise ValueError(
                f'comment: expected a mark such as "#", "%" or "//", or "" for none, '
                f"got {self.comment!r}, which may stand in the data"
            )
        return self

    @property
    def clocks(self) -> tuple[str, ...]:
        """The keys among time, rate_hz and still that say something."""
        says = {"time": self.time is not None, "rate_hz": self.rate_hz is not None}
        return tuple(key for key, given in {**says, "still": self.still}.items() if given)


class Stream(LogTable):
    """`[streams.NAME]`: the file one group of signals is in, and what differs from `[log]`."""

    file: Annotated[StrictStr, Field(min_length=1)] | None = None

    def over(self, log: LogTable) -> LogTable:
        """The layout of this stream: that of `[log]`, with the keys given here in their place."""
        own = {key: getattr(self, key) for key in self.model_fields_set - {"file"}}
        clock = dict.fromkeys(_CLOCK_KEYS, None) | {"still": False} if self.clocks else {}
        return log.model_copy(update={**clock, **own})


class Streams(Section):
    """`[streams.*]`: a log in several files of the same rows."""

    pose: Stream | None = None
    twist: Stream | None = None
    acceleration: Stream | None = None
    wrench: Stream | None = None
