"""Lines of a drafted schema, and changes of its values that keep the comments of the others."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from identify.texts import plain_name

NEEDS_REVIEW = "(?)"
"""Marker of lines that the user must review."""

DRAFT_MARK = f"# Check the lines with {NEEDS_REVIEW}"
"""Begin of a line of every drafted schema."""

UNNAMED_LINE = (
    "The file has no header line: its columns are numbers from zero, as in force = [8, 9, 10]; or "
    "write their names into a first line, and draft again"
)
"""Remedy for columns without names."""

SchemaLine: TypeAlias = tuple[str, object, str]
"""Key, value and comment of a line of a schema."""

_KEYS_TO_ENTER: Mapping[str, tuple[str, ...]] = {
    "the pose": ('position = ["PX", "PY", "PZ"]', 'quaternion = ["QX", "QY", "QZ", "QW"]'),
    "the position": ('position = ["PX", "PY", "PZ"]',),
    "the positions of joints": ('position = ["Q1", "Q2"]',),
    "the efforts of joints": ('effort = ["TAU1", "TAU2"]', 'effort_acts_on = "joint"'),
    "force and torque": ('force = ["FX", "FY", "FZ"]', 'torque = ["TX", "TY", "TZ"]'),
}
"""Lines to complete in place of a signal that is missing."""

_TABLE_LINE = re.compile(r"\[([\w.]+)\]\s*(#.*)?")
_KEY_LINE = re.compile(r"(\w+) = (.*)")


@dataclass(frozen=True, slots=True)
class DraftedKey:
    """Key of a drafted schema, on a line of its own.

    Attributes:
        number: index of its line.
        table: name of its table.
        name: of the key.
        value: as drafted.
        comment: of the line, without the marker of uncertain ones.
        uncertain: whether the line is marked for review.
    """

    number: int
    table: str
    name: str
    value: object
    comment: str
    uncertain: bool

    @property
    def place(self) -> str:
        """Table and name of the key, such as `wrench.frame`."""
        return f"{self.table}.{self.name}"

    def __str__(self) -> str:
        comment = f"  # {self.comment}" if self.comment else ""
        return f"[{self.table}] {format_toml_value(self.name, self.value)}{comment}"


def missing_columns_comment(signal: str) -> str:
    """Return the comment in place of a signal that no columns look like, with its keys."""
    keys = "".join(f"\n# {line}" for line in _KEYS_TO_ENTER.get(signal, ()))
    return f"# {NEEDS_REVIEW} no columns look like {signal}: name them here{keys}"


def format_toml_value(name: str, value: object) -> str:
    """Format a key and its value."""
    return f"{name} = {json.dumps(value, ensure_ascii=False)}"


def format_toml_lines(lines: Sequence[SchemaLine]) -> list[str]:
    """Format TOML lines with their comments."""
    out = []
    for key, value, why in lines:
        text = format_toml_value(key, value)
        out.append(f"{text:<37} # {why}" if why else text)
    return out


def with_log_name(text: str, name: str) -> str:
    """Return a drafted schema with the name of the log that it was drafted for."""
    return text.replace(DRAFT_MARK, f"# Drafted for {plain_name(name)}\n{DRAFT_MARK}", 1)


def drafted_log_name(text: str) -> str | None:
    """Return the name of the log that a schema was drafted for; None if it does not have one."""
    match = re.search(r"^# Drafted for (.+)$", text, re.M)
    return match and match[1]


def other_units(text: str, other: str) -> list[str]:
    """Return the units of another draft that differ, such as `pose.position_unit: none, not mm`."""
    of, others = (
        {key.place: key.value for key in drafted_keys(each) if key.name.endswith("unit")}
        for each in (text, other)
    )
    return [
        f"{place}: {others.get(place, 'none')}, not {of.get(place, 'none')}"
        for place in sorted({**of, **others})
        if of.get(place) != others.get(place)
    ]


def drafted_keys(text: str) -> Iterator[DraftedKey]:
    """Yield the keys of a drafted schema in the order of their lines."""
    table = ""
    for number, line in enumerate(text.splitlines()):
        if match := _TABLE_LINE.fullmatch(line):
            table = match[1]
        elif match := _KEY_LINE.fullmatch(line):
            value, comment = _split_comment(match[2])
            uncertain = comment.startswith(NEEDS_REVIEW)
            comment = comment.removeprefix(NEEDS_REVIEW).strip()
            yield DraftedKey(number, table, match[1], value, comment, uncertain)


def with_value(text: str, place: str, value: object, comment: str = "") -> str:
    """Return a drafted schema with another value of a key, such as `wrench.mount.translation`.

    A missing key is added to its table, and a missing table at the end.

    `value`: new value; None removes the key.
    """
    table, _, name = place.rpartition(".")
    lines = text.splitlines()
    new = [] if value is None else format_toml_lines([(name, value, comment)])
    known = next((k for k in drafted_keys(text) if (k.table, k.name) == (table, name)), None)
    heads = [n for n, line in enumerate(lines) if line.partition("#")[0].strip() == f"[{table}]"]
    if known is not None:
        lines[known.number : known.number + 1] = new
    elif heads:
        lines[heads[0] + 1 : heads[0] + 1] = new
    elif new:
        lines += ["", f"[{table}]", *new]
    return "\n".join(lines) + "\n"


def _split_comment(text: str) -> tuple[object, str]:
    """Split what follows `key = ` into its value and its comment; a value may contain a hash."""
    ends = [match.start() for match in re.finditer(r"\s+#", text)]
    for end in (*ends, len(text)):
        try:
            value = tomllib.loads(f"key = {text[:end]}")["key"]
        except tomllib.TOMLDecodeError:
            continue
        return value, text[end:].lstrip(" #")
    return text, ""
