"""The columns of a text file, and the keys of `[log]` by which it is read, as its lines suggest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from identify.errors import LogError
from identify.logs.readers.text_lines import Line, Splitter, is_date, is_missing, is_number
from identify.logs.table import Contents


def likely_contents(path: Path, lines: Sequence[Line]) -> Contents:
    """The columns by the separator, comment and decimal marks that give most of numbers.

    Raises:
        LogError: no two columns hold numbers by any.
    """
    marks = ((comment, decimal) for decimal in ".," for comment in "#%")
    splitters = (splitter for each in marks for splitter in Splitter(",", *each).others())
    guesses = [guess for splitter in splitters if (guess := _guess(lines, splitter)) is not None]
    if not guesses:
        raise LogError(
            f"{path}: no two columns hold numbers in lines 1 to {len(lines)}, by whichever "
            "separator: comma, semicolon, tab or blank; name the columns in a schema by hand",
            path=path,
        )
    return max(guesses, key=lambda guess: guess[0])[1]


def _guess(
    lines: Sequence[Line], splitter: Splitter
) -> tuple[tuple[int, int, bool], Contents] | None:
    """The columns by a splitter, and how likely it is; None where it gives no two of numbers."""
    rows = [(line, f) for line in lines if (f := splitter.fields(line.content)) is not None]
    counts = Counter(len(fields) for _, fields in rows)
    width = max(counts, key=lambda width: (width > 1, counts[width], width), default=0)
    rows = [(line, fields) for line, fields in rows if len(fields) == width]
    later = [fields for _, fields in rows[len(rows) // 2 :]]
    width -= width > 1 and not any(fields[-1].strip() for fields in later)
    columns = [_values(fields[k] for fields in later) for k in range(width)]
    numeric = [k for k, values in enumerate(columns) if values and 2 * sum(values) >= len(values)]
    starts = (_values(fields[k] for k in numeric) for _, fields in rows)
    data = next((n for n, values in enumerate(starts) if values and all(values)), None)
    if len(numeric) < 2 or data is None:
        return None
    first = rows[data][0].number
    above = [line for line in reversed(lines[: first - 1]) if line.content.strip()]
    headers = [line for line in above if _names_of(line, splitter, width, numeric)]
    distinct = (line for line in headers if len(set(splitter.names(line.content))) >= width)
    header = next(distinct, next(iter(headers), None))
    names = tuple(map(str, range(width)))
    names = names if header is None else _names_of(header, splitter, width, numeric)
    skipped = first - 1 if header is None else header.number
    below = [row for line, row in rows[:data] if line.number > skipped]
    units = dict(zip(names, map(str.strip, below[0]), strict=False)) if header and below else {}
    layout: dict[str, object] = {} if skipped == 1 else {"header_lines": skipped}
    for key, default in (("separator", ","), ("comment", "#"), ("decimal", ".")):
        if (value := getattr(splitter, key)) != default:
            layout[key] = value
    likely = len(numeric), len(numeric) - width, header is not None
    return likely, Contents(names, layout=layout, units=units)


def _names_of(
    line: Line, splitter: Splitter, width: int, numeric: Sequence[int]
) -> tuple[str, ...]:
    """The names of so many columns on a line; none where it holds no words above the numbers."""
    names = splitter.names(line.content)
    whole = len(names) >= width and not any(names[width:])
    return names[:width] if whole and not any(is_number(names[k]) for k in numeric) else ()


def _values(fields: Iterable[str]) -> list[bool]:
    """Whether each field is a number or a date, of those that are not missing."""
    return [is_number(field) or is_date(field) for field in fields if not is_missing(field)]
