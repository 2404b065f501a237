"""Where the data of a text file begin, and the line that names its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from identify.errors import LogError
from identify.logs.errors import MisnamedColumns
from identify.logs.readers.text.fields import Splitter, is_number
from identify.logs.table import Request

_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")
_SEARCHED = 50
"""Lines in which names are looked for, past those the schema says."""
SEPARATORS = (",", ";", "\t", "whitespace")


@dataclass(frozen=True, slots=True)
class Header:
    """What comes before the data.

    Attributes:
        names: the names of the columns, where the schema uses names.
        names_line: the one-based line they stand on; zero where they are only supposed to, as no
            column that the file must have goes by its name.
        lines: how many lines come before the first one that may hold data.
        end: the offset in bytes of that line.
    """

    names: tuple[str, ...] | None
    names_line: int
    lines: int
    end: int


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    content: bytes
    end: int


def find_header(path: Path, text: bytes, splitter: Splitter, request: Request) -> Header:
    """The header as the schema says, or where comment lines that it does not count move it.

    Raises:
        MisnamedColumns: no line near holds the names, or another than the schema says.
        LogError: the header is longer than the file.
    """
    count = request.layout.header_lines
    lines = _first_lines(text, count + _SEARCHED)
    if count > len(lines):
        raise LogError(
            f"{path}: header_lines = {count} in [log], but it has only {len(lines)} lines",
            path=path,
        )
    wanted = [name for name in request.columns if isinstance(name, str)]
    if not wanted and not isinstance(request.stamps, str):
        return Header(None, 0, count, lines[count - 1].end if count else 0)
    places = _places(lines, count, splitter)
    for line in places:
        names = splitter.names(line.content)
        if set(wanted or [request.stamps]) <= set(names):
            return Header(names, line.number, line.number, line.end)
    if not wanted:  # the stamps may be in another file of the log
        names = splitter.names(lines[count - 1].content) if count else None
        return Header(names, 0, count, lines[count - 1].end if count else 0)
    raise _misnamed(path, lines, places, splitter, wanted)


def _first_lines(text: bytes, most: int) -> list[_Line]:
    lines: list[_Line] = []
    for match in _LINE.finditer(text):
        if len(lines) == most or match.start() == len(text):
            break
        lines.append(_Line(len(lines) + 1, match[1], match.end()))
    return lines


def _places(lines: Sequence[_Line], count: int, splitter: Splitter) -> list[_Line]:
    """Lines on which the names may stand: the one the schema says comes first.

    Then the one it says if comment and blank lines do not count, and the last of the comment lines
    on top.
    """
    if count == 0:
        return []
    plain = [
        line for line in lines if line.content.strip() and not splitter.is_comment(line.content)
    ]
    places = [lines[count - 1], *plain[count - 1 : count]]
    if count == 1 and plain and plain[0].number > 1:
        places.append(lines[plain[0].number - 2])
    return places


def _misnamed(
    path: Path,
    lines: Sequence[_Line],
    places: Sequence[_Line],
    splitter: Splitter,
    wanted: Sequence[str],
) -> LogError:
    def missing(line: _Line, split: Splitter = splitter) -> list[str]:
        known = split.names(line.content)
        return [name for name in wanted if name not in known]

    elsewhere = next((line.number for line in lines if not missing(line)), None)
    if elsewhere is not None:
        remedy = f"; line {elsewhere} has these names: set header_lines = {elsewhere} in [log]"
    else:
        remedy = ""
    if not places:
        return LogError(
            f"{path}: the schema names columns ({', '.join(map(repr, wanted[:3]))}, …), but "
            "header_lines = 0 says that no line holds names"
            + (remedy or "; give the columns by zero-based number, or set header_lines"),
            path=path,
            column=wanted[0],
        )
    best = min(places, key=lambda line: len(missing(line)))
    known = splitter.names(best.content)
    for other in SEPARATORS if not remedy else ():
        if not missing(best, Splitter(other, splitter.comment)):
            remedy = f"; with another separator it has: set separator = {spell(other)} in [log]"
    if not remedy and all(map(is_number, filter(None, known))):
        remedy = (
            "; it holds numbers: if the file has no header, set header_lines = 0 in [log] "
            "and give the columns by zero-based number"
        )
    return MisnamedColumns(path, best.number, missing(best), known, remedy)


def spell(separator: str) -> str:
    """A separator as TOML writes it."""
    return '"\\t"' if separator == "\t" else f'"{separator}"'
