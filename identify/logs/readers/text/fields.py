"""How a line of delimited text falls into fields, and a field into a number."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

MISSING = frozenset({"", "na", "n/a", "null", "none"})
"""What stands for a number that is not there, in small letters; NaN by any spelling is one too."""

_NAN = re.compile(r"[+-]?nan(\(\w*\))?")
_WHOLE = re.compile(r"-?[0-9]+")


@dataclass(frozen=True, slots=True)
class Splitter:
    """The separator and the comment mark of a file."""

    separator: str
    comment: str

    @property
    def whitespace(self) -> bool:
        """Whether any run of blanks and tabs separates."""
        return self.separator == "whitespace"

    def fields(self, line: bytes) -> list[str] | None:
        """The fields of a line; None where it is blank or only a comment."""
        text = line.decode("latin-1")
        if self.comment and self.comment in text:
            text = self._before_comment(text)
        return self._split(text) if self._says_something(text) else None

    def names(self, line: bytes) -> tuple[str, ...]:
        """The names on a header line, without the mark of a comment, blanks and quotes."""
        text = _decode(line).strip(" \r\n\ufeff")
        while self.comment and text.startswith(self.comment):
            text = text.removeprefix(self.comment).lstrip(" ")
        return tuple(name.strip(" \t\"'") for name in self._split(text))

    def is_comment(self, line: bytes) -> bool:
        """Whether the line holds a comment alone."""
        text = line.decode("latin-1").lstrip()
        return bool(self.comment) and text.startswith(self.comment)

    def _says_something(self, text: str) -> bool:
        return bool(text.strip()) or (not self.whitespace and self.separator in text)

    def _split(self, text: str) -> list[str]:
        if self.whitespace:
            return text.split()
        text = text.rstrip("\r\n")
        if '"' in text:
            try:
                return next(csv.reader([text], delimiter=self.separator), [])
            except csv.Error:  # such as a field without end: leave it to the count of fields
                pass
        return text.split(self.separator)

    def _before_comment(self, text: str) -> str:
        """The text up to a comment mark that is not within quotes."""
        place = text.find(self.comment)
        while place >= 0:
            if self.whitespace or text.count('"', 0, place) % 2 == 0:
                return text[:place]
            place = text.find(self.comment, place + 1)
        return text


def parse_number(text: str) -> float:
    """A number as text; NaN where nothing stands.

    Raises:
        ValueError: it is no number.
    """
    try:
        if "_" not in text:  # Python would read 1_000 as a thousand
            return float(text)
    except ValueError:
        if is_missing(text):
            return float("nan")
    raise ValueError(text)


def is_number(text: str) -> bool:
    """Whether the text is a number and not empty."""
    try:
        parse_number(text)
    except ValueError:
        return False
    return bool(text.strip())


def is_missing(text: str) -> bool:
    """Whether the text says that there is no number."""
    word = text.strip().lower()
    return word in MISSING or _NAN.fullmatch(word) is not None


def is_whole(text: str) -> bool:
    """Whether the text is a whole number."""
    return _WHOLE.fullmatch(text.strip()) is not None


def _decode(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")
