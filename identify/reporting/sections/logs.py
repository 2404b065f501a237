"""The logs: offset of each sensor, account of the rows, and where all of it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from identify.exchange.estimate_json import estimate_digest
from identify.reporting.content import (
    Cell,
    Head,
    Listing,
    Row,
    Section,
    Table,
    Text,
    numbers,
    row,
)
from identify.reporting.rounding import decimals_for, fixed

if TYPE_CHECKING:
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult
    from identify.regressors import LogSummary

_OFFSETS = (
    Head("Log"),
    *numbers(*(f"f {axis} [N]" for axis in "xyz"), *(f"t {axis} [N m]" for axis in "xyz")),
)


def sensor_offset(result: FitResult, truth: InertialParameters | None) -> Section:
    """What each sensor was found to add to the wrench."""
    title = "sensor-offset", "Sensor offset"
    if result.settings.bias == "none":
        said = "None was fitted, as asked: the wrench is taken to be free of a constant offset."
        return Section(*title, (Text(said),))
    decimals = [
        min(5, decimals_for(float(rms) / max(result.estimate.effective_samples, 1.0) ** 0.5, 1.0))
        for rms in result.estimate.residual_rms
    ]
    names = [f"{number}: {log.name}" for number, log in enumerate(result.logs, start=1)]
    if result.settings.bias == "shared":
        names = ["all logs"]
    table = Table(
        _OFFSETS,
        tuple(
            row(name, *(fixed(float(x), n) for x, n in zip(values, decimals, strict=True)))
            for name, values in zip(names, result.estimate.biases, strict=False)
        ),
        "What the sensor reads beside the wrench on the body, constant in the body's axes, at the "
        "origin of the body frame: measured = on the body + offset.",
    )
    return Section(*title, (table,))


_ACCOUNT = (
    Head("Log"),
    *numbers(
        *("Rows", "Dropped", "Repeated", "Unused", "Rate [Hz]", "Cut-off [Hz]", "Span [s]"),
        *("Used", "Effective"),
    ),
    Head("sha256"),
)


def data(result: FitResult, truth: InertialParameters | None) -> Section:
    """Rows, rates, filters and digests of the logs."""
    table = Table(
        _ACCOUNT,
        tuple(_account(index, log) for index, log in enumerate(result.logs)),
        "Dropped: not finite, cut short or not numbers. Repeated: with the time stamp of the row "
        "before. Unused: in segments too short to filter, and edges. Used: rows after the "
        "low-pass. Effective: how many independent samples they stand for; neighbours that went "
        "through one filter are not independent.",
    )
    return Section("data", "Data", (table,))


def _account(index: int, log: LogSummary) -> Row:
    dropped = log.recording.dropped
    reasons = (
        f"{dropped.not_finite} not finite, {dropped.cut_short} cut short, "
        f"{dropped.not_numbers} not numbers"
    )
    return row(
        f"{index + 1}: {log.name}",
        f"{log.recording.rows}",
        Cell(f"{dropped.total}", title=reasons, tone="warn" if dropped.total else ""),
        f"{log.repeated}",
        f"{log.unused}",
        "still" if log.rate_hz is None else f"{log.rate_hz:.4g}",
        "none" if log.cutoff_hz is None else f"{log.cutoff_hz:.3g}",
        "–" if log.recording.still else f"{log.duration:.4g}",
        f"{round(len(log.rows) / log.shown)}",
        f"{log.effective:.0f}",
        Cell(log.recording.sha256[:12], title=log.recording.sha256),
    )


def provenance(result: FitResult, truth: InertialParameters | None) -> Section:
    """Everything needed to fit the same logs again."""
    known = result.estimate.provenance
    rows = [row("Command", str(known["command"]))] if known.get("command") else []
    options = [f"{name} = {_said(value)}" for name, value in _items(known.get("options"))]
    rows.append(row("Options", "; ".join(options)))
    digest = estimate_digest(result.estimate.saved)
    rows.append(row("estimate.json", f"sha256 {digest}"))
    if result.carrier is not None:
        digest = estimate_digest(result.carrier.estimate.saved)
        rows.append(row("carrier.json", f"sha256 {digest}"))
    rows.append(row("Body frame", result.estimate.saved.frame))
    versions = ", ".join(f"{name} {version}" for name, version in _items(known.get("versions")))
    if versions:
        rows.append(row("Versions", versions))
    schemas: dict[str, list[str]] = {}  # each once, with the logs read by it
    for number, log in enumerate(result.logs, start=1):
        text = json.dumps(dict(log.recording.schema), indent=2, ensure_ascii=False, default=str)
        schemas.setdefault(text, []).append(str(number))
    listings = [
        Listing("Schema" if len(schemas) == 1 else f"Schema, log {', '.join(logs)}", text)
        for text, logs in schemas.items()
        if text != "{}"
    ]
    table = Table((Head("What"), Head("How it was", "prose")), tuple(rows))
    return Section("provenance", "Provenance", (table, *listings))


def _items(table: object) -> Iterable[tuple[object, object]]:
    return table.items() if isinstance(table, Mapping) else ()


def _said(value: object) -> str:
    if value is None:
        return "not given"
    if isinstance(value, dict):
        given = [f"{name}={_said(one)}" for name, one in value.items() if name != "kind"]
        return f"{value['kind']}({', '.join(given)})"
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value)) or "none"
    return str(value)
