"""Texts of any origin, such as names of files, as terminals, tables and pages can show them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import PurePath

_FORMULA = ("=", "+", "-", "@")
"""What a spreadsheet takes for the beginning of a formula."""


def printable(text: str) -> str:
    r"""The text with control characters and broken ones escaped, as in `\x1b` for escape.

    Those that turn the direction of writing are among them; ends of lines stay.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text
    )


def plain_text(text: str, most: int = 2000) -> str:
    """A message of any origin as results keep it: printable, its length bounded.

    Args:
        text: the message.
        most: characters.
    """
    text = printable(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def plain_name(text: str, most: int = 2000) -> str:
    """A name or a cell of a table: on one line, and no formula for a spreadsheet.

    Args:
        text: the name; as it is here it stays.
        most: characters.
    """
    text = plain_text(text, most).replace("\n", "\\n")
    return f"'{text}" if text.startswith(_FORMULA) else text


def json_text(value: object) -> str:
    """JSON as a person reads it, each list of plain values on a line."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return _PLAIN_LIST.sub(lambda found: f"[{_BREAK.sub(' ', found[1])}]", text)


def as_json(value: object) -> object:
    """Convert a value that JSON does not know to one that it does: the `default` of `json.dumps`.

    Arrays are lists, findings and other values with a `record` are that, and other dataclasses are
    their fields by name.

    Raises:
        TypeError: nothing stands for such a value.
    """
    for method in ("record", "tolist"):
        if callable(made := getattr(value, method, None)):
            return made()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"JSON has nothing for a {type(value).__name__}")


_BREAK = re.compile(r"\n\s*")
_PLAIN_LIST = re.compile(r'\[\n\s*((?:[-+.\w,\s]|"(?:[^"\\]|\\.)*")*?)\s*\]')
