"""Splitting of text into lines, lines into fields, and conversion of fields to numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeAlias

_MISSING_WORDS = ("", "na", "n/a", "null", "none")
"""Lower-case words for a missing number, in addition to any spelling of NaN."""

LINE_END = rb"(?:\r+\n|\n|\r)"
"""Line end, including CR CR LF from doubly translated Windows text."""

_LINE_PATTERN = re.compile(rb"([^\r\n]*)(?:" + LINE_END + rb"|\Z)")
_EPOCH_1970 = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_OF_DAY_PATTERN = re.compile(r"\d\d:\d\d:\d\d([.,]\d+)?")
_DAY_FIRST_DATE_PATTERN = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})[T ]+(\d\d?)(:.+)")
_NAN_PATTERN = re.compile(r"[+-]?nan(\(\w*\))?")


class TextLine(NamedTuple):
    """Line of a text: one-based number, content without line end, and offset of the next line."""

    number: int
    content: bytes
    next_offset: int


def read_lines(text: bytes, start: int = 0, number: int = 1) -> Iterator[TextLine]:
    """Yield the lines from an offset on, numbered from a given number."""
    for match in _LINE_PATTERN.finditer(text, start):
        if match.start() == len(text):
            return
        yield TextLine(number, match[1], match.end())
        number += 1


Row: TypeAlias = tuple[TextLine, list[str]]
"""A line and its fields."""


@dataclass(frozen=True, slots=True)
class Splitter:
    """Separator (a character, or "whitespace"), comment mark and decimal mark of a file."""

    separator: str
    comment: str
    decimal: str = "."

    @property
    def whitespace(self) -> bool:
        """Whether any run of blanks and tabs is a separator."""
        return self.separator == "whitespace"

    @property
    def toml_separator(self) -> str:
        """Separator in TOML notation."""
        return '"\\t"' if self.separator == "\t" else f'"{self.separator}"'

    def alternatives(self) -> Iterator[Splitter]:
        """Return splitters with each other common separator, for suggestions in messages."""
        marks = (",", ";", "\t", "whitespace")
        return (replace(self, separator=mark) for mark in marks)

    def rows(self, text: bytes, start: int, number: int) -> Iterator[Row]:
        """Yield the rows of a text from an offset on, with numbered lines."""
        for line in read_lines(text, start, number):
            fields = self.fields(line.content)
            if fields is not None:
                yield line, fields

    def fields(self, line: bytes) -> list[str] | None:
        """Return the fields of a line with decimal points; None for a blank line or a comment."""
        text = line.decode("latin-1")
        if self.comment and self.comment in text:
            text = self._before_comment(text)
        if text.strip() or (not self.whitespace and self.separator in text):
            fields = self._split(text)
            return fields if self.decimal == "." else [f.replace(",", ".") for f in fields]
        return None

    def names(self, line: bytes) -> tuple[str, ...]:
        """Return the names on a header line, without comment mark, blanks and quotes."""
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            text = line.decode("latin-1")
        text = text.strip(" \r\n\ufeff")
        while self.comment and text.startswith(self.comment):
            text = text.removeprefix(self.comment).lstrip(" ")
        return tuple(name.strip(" \t\"'") for name in self._split(text))

    def is_comment(self, line: bytes) -> bool:
        """Return whether the line contains only a comment."""
        text = line.decode("latin-1").lstrip()
        return bool(self.comment) and text.startswith(self.comment)

    def _split(self, text: str) -> list[str]:
        if self.whitespace:
            return text.split()
        if '"' in text:
            try:
                return next(csv.reader([text], delimiter=self.separator), [])
            except csv.Error:  # such as a field without end: leave it to the count of fields
                pass
        return text.split(self.separator)

    def _before_comment(self, text: str) -> str:
        """Return the text before a comment mark outside quotes."""
        place = text.find(self.comment)
        while place >= 0:
            if self.whitespace or text.count('"', 0, place) % 2 == 0:
                return text[:place]
            place = text.find(self.comment, place + 1)
        return text


def parse_numbers(texts: Sequence[str]) -> list[float]:
    """Convert texts to numbers, NaN for missing values.

    Raises `ValueError`: a text is no number.
    """
    try:
        if "_" not in "".join(texts):  # Python would read 1_000 as a thousand
            return list(map(float, texts))
    except ValueError:
        pass
    return [_number_of(text) for text in texts]


def _number_of(text: str) -> float:
    if is_missing(text):
        return float("nan")
    if "_" in text:
        raise ValueError(text)
    return float(text)


def is_number(text: str) -> bool:
    """Return whether a text is a number or a word for a missing value, and not blank."""
    try:
        return bool(text.strip()) and bool(parse_numbers([text]))
    except ValueError:
        return False


def microseconds_since_1970(text: str) -> int:
    """Return the microseconds since 1970 of a date with time of day, by default in UTC.

    The date is one of ISO 8601, or day, month and year with dots; without a date it is 1970-01-01.

    Raises `ValueError`: the text is not such a date.
    """
    text = text.strip()
    if _TIME_OF_DAY_PATTERN.fullmatch(text):
        text = f"1970-01-01T{text}"
    elif day_first := _DAY_FIRST_DATE_PATTERN.fullmatch(text):
        day, month, year, hour, rest = day_first.groups()
        text = f"{year}-{month:0>2}-{day:0>2}T{hour:0>2}{rest}"
    date = datetime.fromisoformat(text if ":" in text else "")
    return (date.replace(tzinfo=date.tzinfo or UTC) - _EPOCH_1970) // timedelta(microseconds=1)


def is_date(text: str) -> bool:
    """Return whether the text is a time of day, with or without date."""
    try:
        return bool(microseconds_since_1970(text)) or True
    except ValueError:
        return False


def is_time_of_day(text: str) -> bool:
    """Return whether the text looks like a time of day without date."""
    return _TIME_OF_DAY_PATTERN.fullmatch(text.strip()) is not None


def is_missing(text: str) -> bool:
    """Return whether the text denotes a missing value."""
    word = text.strip().lower()
    return word in _MISSING_WORDS or _NAN_PATTERN.fullmatch(word) is not None
