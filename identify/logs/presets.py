"""Presets: templates of schemas for the logs of robots and sensors, in `presets.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from identify.documents import lookup
from identify.errors import SchemaError
from identify.logs.named_vectors import find_named_vectors
from identify.logs.table import TableInfo, match_names

_PRESETS_FILE = Path(__file__).with_name("presets.toml")


@dataclass(frozen=True, slots=True)
class Preset:
    """Template of the schema for the logs of a robot or a sensor.

    Attributes:
        name: of the preset.
        title: robot or sensor, in words.
        columns: columns by which such a log is recognised.
        template: the schema, with fields in braces; empty where it is guessed from the names.
        topic_choices: of what may be in one topic or another, each with its columns, likeliest
            first.
        by_name: whether any sensor may have such columns, so that the preset is taken by name.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    template: str
    topic_choices: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    by_name: bool = False

    def matches(self, names: Sequence[str]) -> bool:
        """Return whether a table has the columns of the preset."""
        return all(match_names(names, c) or match_names(names, f"{c}[0]") for c in self.columns)


def presets() -> dict[str, Preset]:
    """Return all presets by name."""
    document = tomllib.loads(_PRESETS_FILE.read_text(encoding="utf-8"))
    return {
        name: Preset(
            name,
            entry["title"],
            tuple(entry["columns"]),
            entry["schema"].lstrip("\n"),
            entry.get("choices", {}),
            entry.get("by_name", False),
        )
        for name, entry in document.items()
    }


def choose_preset(log: Path, tables: Sequence[TableInfo], name: str | None) -> Preset | None:
    """Return the preset of a name, or without a name the first preset that fits the log."""
    known = presets()
    if name is None:
        recognisable = (preset for preset in known.values() if not preset.by_name)
        matches = (p for p in recognisable for table in tables if _fits_table(p, table))
        return next(matches, None)
    chosen = lookup(known, name, "preset")
    if not any(chosen.matches(table.names) for table in tables):
        got = "; ".join(", ".join(table.names[:20]) for table in tables[:5])
        raise SchemaError(
            f"{log}: is no log of {chosen.title}: it would have {', '.join(chosen.columns)}, but "
            f"has {got}; leave --preset out to have the columns guessed"
        )
    return chosen


def _fits_table(preset: Preset, contents: TableInfo) -> bool:
    """Return whether a table has the columns of a preset, and a pose if the preset needs one.

    A table that has neither a pose nor a gyro suits, too: what is missing is said.
    """
    if not preset.matches(contents.names):
        return False
    vectors = find_named_vectors(contents)
    return (
        vectors.has_pose or "{pose}" not in preset.template or vectors.likeliest("angular") is None
    )
