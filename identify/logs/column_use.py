"""Use of the columns of a log by a schema, also by one that is not complete."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from identify.logs.draft_lines import drafted_keys
from identify.logs.named_vectors import NamedVectors, find_named_vectors
from identify.logs.raw_columns import RawTable
from identify.logs.schema_fields import without_sign
from identify.logs.table import TableInfo, match_names

Certainty: TypeAlias = Literal["given", "by its name", "to be reviewed", "not used"]

_ANGULAR, _LENGTH = ("angle_unit", "rad"), ("position_unit", "m")
_UNIT_KEYS: Mapping[str, tuple[str, str]] = {
    "pose.position": _LENGTH,
    **dict.fromkeys(("pose.euler", "pose.rotation_vector"), _ANGULAR),
    **dict.fromkeys(("twist.angular", "acceleration.angular", "imu.gyro"), _ANGULAR),
    "twist.linear": ("", "m/s"),
    **dict.fromkeys(("acceleration.linear", "imu.accelerometer"), ("unit", "m/s^2")),
    "wrench.force": ("force_unit", "N"),
    "wrench.torque": ("torque_unit", "Nm"),
    **dict.fromkeys(("joints.position", "joints.velocity"), ("unit", "rad")),
    "joints.effort": ("effort_unit", "Nm"),
}
"""Key of the unit in its table, and unit without that key, by table and key of the columns."""

_PER_TIME = {"twist.angular": "/s", "imu.gyro": "/s", "joints.velocity": "/s"}
_PER_TIME["acceleration.angular"] = "/s²"


_SIGNALS = frozenset(
    (
        *(*_UNIT_KEYS, "pose.quaternion", "pose.matrix", "log.time", "log.time_fraction"),
        *("joints.target_current", "joints.target_effort"),
    )
)
"""Entries of a schema that name columns, as "table.key"."""


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """Use of a column of a log.

    Attributes:
        column: its name.
        signal: table and key of the schema, such as "wrench.force"; empty if it is not used.
        part: its component, such as "x", or its joint; may be empty.
        unit: its unit, empty if it has none.
        certainty: how certain the use is.
        reason: why it is used so, or not used.
    """

    column: str
    signal: str = ""
    part: str = ""
    unit: str = ""
    certainty: Certainty = "not used"
    reason: str = ""


def schema_table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table of a schema that may be wrong; empty if it is missing or no table."""
    table = document.get(name)
    return table if isinstance(table, Mapping) else {}


def column_uses(
    table: RawTable, document: Mapping[str, Any], text: str, *, drafted: bool
) -> tuple[ColumnUse, ...]:
    """Return what each column of a table is taken for."""
    keys = {key.place: key for key in drafted_keys(text)}
    vectors = find_named_vectors(table.info)
    uses: dict[str, ColumnUse] = {}
    for signal, columns in _named_columns(document, table):
        unit, assumed = _unit(signal, next(filter(None, columns)), document, vectors)
        key = keys.get(signal)
        certainty: Certainty = "by its name" if drafted else "given"
        if drafted and key is not None and key.uncertain:
            certainty = "to be reviewed"
        reason = "" if key is None else key.comment
        if unit and assumed and drafted:
            reason = "; ".join(filter(None, (reason, f"no unit in the log: {unit} assumed")))
        for name, part in zip(columns, _parts(signal, len(columns), document), strict=True):
            uses.setdefault(name, ColumnUse(name, signal, part, unit, certainty, reason))
    return tuple(
        uses.get(name) or ColumnUse(name, reason=_why_unused(name, table, vectors, drafted=drafted))
        for name in dict.fromkeys(table.info.names)
    )


def signals_without_columns(
    log: Path, tables: Sequence[TableInfo], document: Mapping[str, Any]
) -> list[str]:
    """Return the signals of a schema, such as "wrench.force", none of whose columns a log has."""
    named = {f"{name}.{key}" for name in document for key in schema_table(document, name)}
    raw_tables = (RawTable(log, info) for info in tables)
    present = {signal for raw in raw_tables for signal, _ in _named_columns(document, raw)}
    return sorted(name for name in (named & _SIGNALS) - present if not name.startswith("log."))


def _named_columns(document: Mapping[str, Any], table: RawTable) -> Iterator[tuple[str, list[str]]]:
    """Yield "table.key" and column names for each entry that names columns of a table."""
    for name, keys in document.items():
        if not isinstance(keys, Mapping) or not _is_source(document, name, table):
            continue
        for key, value in keys.items():
            given = value if isinstance(value, list) else [value]
            if f"{name}.{key}" in _SIGNALS and (columns := _resolve(given, table)):
                yield f"{name}.{key}", columns


def _resolve(given: Sequence[str | int], table: RawTable) -> list[str]:
    """Return the names of columns given by name, number or array; "" for one that is missing."""
    if not all(isinstance(entry, str | int) for entry in given):
        return []
    columns: list[str] = []
    for entry in given:
        columns += [table.info.names[k] for k in _places(entry, table.info.names)] or [""]
    return columns if any(columns) else []


_ARRAY = re.compile(r"(?P<name>.+?)(\[(?P<first>\d+):(?P<stop>\d+)\]|\[names\])?")


def _places(entry: str | int, names: Sequence[str]) -> Sequence[int]:
    """Return the numbers of the columns of an entry of the schema."""
    column, _ = without_sign(entry)
    if isinstance(column, int):
        return [column] if column < len(names) else []
    array = _ARRAY.fullmatch(column)
    if (places := match_names(names, column)) or array is None:
        return places
    element = re.compile(re.escape(array["name"]) + r"(\[.+\]|_?\d+)")
    places = [number for number, name in enumerate(names) if element.fullmatch(name)]
    return places[int(array["first"]) : int(array["stop"])] if array["first"] else places


def _is_source(document: Mapping[str, Any], name: str, table: RawTable) -> bool:
    """Return whether a table of the schema is about this table of the log."""
    streams = schema_table(document, "streams")
    groups = {"imu": ("gyro", "accelerometer"), "joints": ("joints", "effort")}.get(name, (name,))
    clock = schema_table(document, "log")
    groups = tuple(streams) if name == "log" else groups
    sources = [schema_table(streams, group) for group in groups if group in streams]
    sources += [clock] if name == "log" or not sources else []
    topics = {source.get("topic", clock.get("topic")) for source in sources}
    files = {source.get("file") for source in sources} - {None}
    of_file = not files or table.path.name in files
    return of_file and (table.info.topic is None or table.info.topic in topics or topics == {None})


def _unit(
    signal: str, column: str, document: Mapping[str, Any], vectors: NamedVectors
) -> tuple[str, bool]:
    """Return the unit of a signal, and whether neither the schema nor the log names it."""
    if signal == "log.time":
        return str(document["log"].get("time_unit", "s")), False
    if signal not in _UNIT_KEYS:
        return "", False
    key, default = _UNIT_KEYS[signal]
    given = document[signal.partition(".")[0]].get(key)
    unit = given if isinstance(given, str) else default
    return unit + _PER_TIME.get(signal, ""), given is None and not vectors.unit_of([column])


def _parts(signal: str, count: int, document: Mapping[str, Any]) -> Sequence[str]:
    table = document[signal.partition(".")[0]]
    if signal == "pose.quaternion" and count == 4:
        return str(table.get("order", "xyzw"))
    names = table.get("names", ()) if signal.startswith("joints.") else ()
    if len(names) == count:
        return [str(name) for name in names]
    if count == 3 and not signal.startswith("joints."):
        return "xyz"
    return [str(k) if count > 1 else "" for k in range(1, count + 1)]


def _why_unused(name: str, table: RawTable, vectors: NamedVectors, *, drafted: bool) -> str:
    """Say why a schema leaves a column out; `drafted`: whether names of columns made the schema."""
    if table.columns and name not in table.columns:
        return "its values are not numbers"
    if not drafted:
        return "the schema does not name it"
    roles = [
        role.replace("_", " ")
        for role, lists in vectors.vectors.items()
        if any(name in columns for columns in lists)
    ]
    return f"looks like {' or '.join(roles)}" if roles else "its name is that of no known signal"
