"""Escaping of untrusted text for terminals, tables and pages; comments; JSON text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from textwrap import wrap

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
    """Escape a message of any origin and limit its length."""
    text = escape_unprintable(text)
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def plain_name(text: str, max_chars: int = 2000) -> str:
    """Escape a name or table cell: one line, and not a formula for a spreadsheet.

    The limit applies before the quote that is added to formulas.
    """
    text = plain_text(text, max_chars).replace("\n", "\\n")
    return f"'{text}" if text.startswith(_FORMULA_PREFIXES) else text


def sentence(text: str) -> str:
    """Return a text with a full stop at its end, unless it ends as a sentence does."""
    text = text.rstrip()
    return text if text.endswith((".", "?", "!", "…")) else f"{text}."


def json_text(value: object) -> str:
    """Format a value as indented JSON, with each list of plain values on one line."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return _LIST_OF_SCALARS.sub(lambda match: f"[{_LINE_BREAK.sub(' ', match[1])}]", text)


def to_json_value(value: object) -> object:
    """Convert a value to a type that JSON supports; used as the `default` of `json.dumps`.

    Arrays become lists, findings and other values with a method `record` its result, and other
    dataclasses their fields by name.

    Raises `TypeError`: the value cannot be converted.
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


XML_COMMENT = "<!--"
"""Start of a comment in XML, in place of the prefix of a comment line in other formats."""

_COMMENT_WIDTH = 96
"""Maximum width of a comment [characters]."""


def with_comment_lines(text: str, prefix: str, lines: Sequence[str]) -> str:
    """Return a text below a comment.

    `prefix`: of a comment line, or `XML_COMMENT`; a format without comments has an empty one;
    `lines`: the comment, a paragraph each; may be empty.
    """
    if not (lines and prefix):
        return text
    ascii_lines = (
        line.replace("²", "^2").replace("³", "^3").replace("±", "+/-").encode("ascii", "replace")
        for line in lines
    )
    wrapped = [part for line in ascii_lines for part in wrap(line.decode(), _COMMENT_WIDTH)]
    if prefix != XML_COMMENT:
        return "".join(f"{prefix} {line}\n" for line in wrapped) + text
    comment = "\n".join(f"  {line}" for line in wrapped)
    while "--" in comment:  # would end the comment
        comment = comment.replace("--", "- -")
    return f"{XML_COMMENT}\n{comment}\n-->\n{text}"
