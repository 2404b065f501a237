"""Where the result came from: command, options, versions, schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from identify.reporting.content import Block, Head, Listing, Section, Table, row

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult


def provenance(result: FitResult, truth: InertialParameters | None) -> Section:
    """Everything needed to fit the same logs again."""
    known = result.estimate.provenance
    command = known.get("command")
    rows = [row("Command", str(command))] if command else []
    options = [f"{name} = {_said(value)}" for name, value in _items(known.get("options"))]
    rows.append(row("Options", "; ".join(options)))
    rows.append(row("Body frame", result.estimate.saved.frame))
    versions = ", ".join(f"{name} {version}" for name, version in _items(known.get("versions")))
    if versions:
        rows.append(row("Versions", versions))
    blocks: list[Block] = [Table((Head("What"), Head("How it was", "prose")), tuple(rows))]
    blocks += _schemas(result)
    return Section("provenance", "Provenance", tuple(blocks))


def _items(table: object) -> list[tuple[str, object]]:
    return (
        [(str(name), value) for name, value in table.items()] if isinstance(table, Mapping) else []
    )


def _said(value: object) -> str:
    if value is None:
        return "not given"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _schemas(result: FitResult) -> list[Block]:
    """Each schema once, with the logs read by it."""
    logs: dict[str, list[str]] = {}
    for index, log in enumerate(result.logs):
        text = json.dumps(dict(log.recording.schema), indent=2, ensure_ascii=False, default=str)
        logs.setdefault(text, []).append(f"{index + 1}")
    return [
        Listing("Schema" if len(logs) == 1 else f"Schema, log {', '.join(numbers)}", text)
        for text, numbers in logs.items()
        if text != "{}"
    ]
