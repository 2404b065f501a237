"""Escaping of untrusted text, such as file names, for terminals, tables and pages; JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import PurePath

_FORMULA_PREFIXES = ("=", "+", "-", "@")
"""Characters with which a spreadsheet's formula begins."""


def escape_unprintable(text: str) -> str:
    r"""Escape control and invalid characters of a text, as in `\x1b`; line ends stay.

    Characters that change the direction of writing are escaped, too.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text
    )


def plain_text(text: str, max_chars: int = 2000) -> str:
    """Escape a message of any origin and limit its length.

    Args:
        text: the message.
        max_chars: maximum number of characters.
    """
    text = escape_unprintable(text)
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def plain_name(text: str, max_chars: int = 2000) -> str:
    """Escape a name or table cell: one line, and not a formula for a spreadsheet.

    Args:
        text: the name.
        max_chars: maximum number of characters before a quote that is added to formulas.
    """
    text = plain_text(text, max_chars).replace("\n", "\\n")
    return f"'{text}" if text.startswith(_FORMULA_PREFIXES) else text


def json_text(value: object) -> str:
    """Format a value as indented JSON, with each list of plain values on one line."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return _LIST_OF_SCALARS.sub(lambda match: f"[{_LINE_BREAK.sub(' ', match[1])}]", text)


def to_json_value(value: object) -> object:
    """Convert a value to a type that JSON supports; used as the `default` of `json.dumps`.

    Arrays become lists, findings and other values with a method `record` its result, and other
    dataclasses their fields by name.

    Raises:
        TypeError: the value cannot be converted.
    """
    for method in ("record", "tolist"):
        if callable(convert := getattr(value, method, None)):
            return convert()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"a {type(value).__name__} cannot be converted to JSON")


_LINE_BREAK = re.compile(r"\n\s*")
_LIST_OF_SCALARS = re.compile(r'\[\n\s*((?:[-+.\w,\s]|"(?:[^"\\]|\\.)*")*?)\s*\]')
