"""Report sections of the logs: sensor offsets, rows and noise, and provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from identify.exchange.estimate_json import estimate_digest
from identify.reporting.content import (
    Cell,
    Head,
    Listing,
    ReportTable,
    Row,
    Section,
    Text,
    make_row,
    make_table,
)
from identify.reporting.rounding import format_fixed, format_significant, with_half_width
from identify.signals.prepared_log import acceleration_sources
from identify.spatial import log_rotation, quaternion_from_rotation
from identify.texts import json_text

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import Result
    from identify.regressors import LogSummary

_OFFSET_HEADS = (
    *("Log", *(f"f {axis} [N]" for axis in "xyz")),
    *(f"t {axis} [mN m]" for axis in "xyz"),
)
_OFFSET_FACTORS = np.array([1.0, 1.0, 1.0, 1e3, 1e3, 1e3])
"""Factors from SI to the units in the table's heads; torques in N m would need too much width."""


def offset_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the section of the estimated offsets of the sensors."""
    key, title = "sensor-offset", "Sensor offset"
    if result.settings.bias == "none":
        text = (
            "No sensor offset was fitted, as requested: the wrench is assumed to have no constant "
            "offset."
        )
        return Section(key, title, (Text(text),))
    estimate = result.estimate
    offsets = estimate.biases * _OFFSET_FACTORS
    half_widths = estimate.bias_half_widths * _OFFSET_FACTORS
    names = [f"{number}: {log.name}" for number, log in enumerate(result.wrench_logs, start=1)]
    if result.settings.bias == "shared":
        names = ["all logs"]
    columns = zip(names, offsets.tolist(), half_widths.tolist(), strict=False)
    table = make_table(
        _OFFSET_HEADS,
        ((name, *map(with_half_width, *values)) for name, *values in columns),
        "Sensor offsets with 95 % intervals, constant in the axes of "
        f"{estimate.frame_description}, at its origin: measured wrench = wrench on the body + "
        "offset.",
    )
    return Section(key, title, (table,))


_EXCLUDED_ROWS = {
    "Dropped": "Dropped: rows that are incomplete, not finite or not numbers. ",
    "Repeated": "Repeated: rows with the time stamp of the previous row. ",
    "Unused": "Unused: rows of segments too short to filter, and at edges. ",
}
"""Column of the log table and its explanation, for each reason why rows are excluded."""


def data_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the section of rows, rates, filters, noise and digests of the logs."""
    counts = [
        (log.recording.dropped.total, log.repeated_rows, log.unused_rows)
        for log in result.wrench_logs
    ]
    shown = [k for k, count_by_log in enumerate(zip(*counts, strict=True)) if any(count_by_log)]
    names = [list(_EXCLUDED_ROWS)[k] for k in shown]
    heads = ("Rows", *names, "Rate [Hz]", "Cut-off [Hz]", "Span [s]", "Used", "Effective")
    table = make_table(
        ("Log", *heads, Head("sha256")),
        (
            _log_cells(f"{number}: {log.name}", log, [log_counts[k] for k in shown])
            for number, (log, log_counts) in enumerate(
                zip(result.wrench_logs, counts, strict=True), 1
            )
        ),
        f"Rows, filters and digests of the logs. {''.join(map(_EXCLUDED_ROWS.__getitem__, names))}"
        "Used: rows used in the fit; if streams have separate clocks, the rows of the slowest. "
        "Effective: equivalent number of independent samples, as filtered neighbours are "
        "correlated.",
    )
    count, estimate = len(result.wrench_logs), result.estimate
    total = Text(
        f"{count} logs, {estimate.samples} samples, equivalent to "
        f"{estimate.effective_samples:.0f} independent ones."
    )
    noise = _noise_tables(result.wrench_logs)
    accelerations = _acceleration_tables(result.wrench_logs)
    totals = (total,) if count > 1 else ()
    return Section("data", "Data", (*totals, table, *noise, *accelerations))


def _acceleration_tables(logs: Sequence[LogSummary]) -> tuple[ReportTable, ...]:
    rows = [
        (
            f"{number}: {log.name}",
            quantity.replace("_", " "),
            source.source,
            format_significant(source.noise),
            format_significant(source.rms),
            "rad/s²" if quantity.startswith("angular") else "m/s²",
        )
        for number, log in enumerate(logs, start=1)
        for quantity, source in acceleration_sources(log).items()
    ]
    heads = ("Log", "Quantity", "Source", "Noise, 1 σ", "Change, RMS", "Unit")
    caption = (
        "Accelerations in the equations after the low-pass, mean of three axes: measured signals "
        "of the log, or else derivatives. The intervals include their noise."
    )
    return (make_table(heads, rows, caption, word_columns=3),) if rows else ()


_NOISE_TABLES: Mapping[str, tuple[str, str, float]] = MappingProxyType(
    {
        "position": ("Position", "mm", 1e3),
        "quaternion": ("Attitude", "°", float(np.rad2deg(1.0))),
        "linear_velocity": ("Velocity", "mm/s", 1e3),
        "angular_velocity": ("Angular velocity", "°/s", float(np.rad2deg(1.0))),
        "linear_acceleration": ("Acceleration", "m/s²", 1.0),
        "angular_acceleration": ("Angular acceleration", "rad/s²", 1.0),
        "gyro": ("Gyro", "°/s", float(np.rad2deg(1.0))),
        "accelerometer": ("Accelerometer", "m/s²", 1.0),
        "force": ("Force", "N", 1.0),
        "torque": ("Torque", "N m", 1.0),
    }
)
"""Title, unit, and factor from SI to the unit, of the noise of each signal."""


def _noise_tables(logs: Sequence[LogSummary]) -> tuple[ReportTable, ...]:
    """Return tables of the noise of each signal: standard deviation, averaged over axes."""
    numbered = [(k, log, log.signal_noise) for k, log in enumerate(logs, start=1)]
    names = [name for name in _NOISE_TABLES if any(n and name in n.names for _, _, n in numbered)]
    if not names:
        return ()
    rows = []
    for number, log, noise in numbered:
        if noise is None:
            continue
        variance = np.diag(noise.covariance).reshape(-1, 3).mean(axis=1)
        sigma = dict(zip(noise.names, np.sqrt(variance).tolist(), strict=True))
        texts = (
            format_significant(_NOISE_TABLES[name][2] * sigma[name])
            + " given" * (name in log.recording.noise)
            if name in sigma
            else "–"
            for name in names
        )
        rows.append((f"{number}: {log.name}", *texts))
    heads = (f"{title} [{unit}]" for title, unit, _ in map(_NOISE_TABLES.__getitem__, names))
    caption = (
        "Noise of the signals: standard deviation of a sample, mean of three axes, estimated above "
        "the band of the motion, or given by the schema. Slow errors such as drift are not "
        "included."
    )
    return (make_table(("Log", *heads), rows, caption),)


def _log_cells(name: str, log: LogSummary, excluded: Sequence[int]) -> tuple[str | Cell, ...]:
    return (
        name,
        f"{log.recording.rows}",
        *map(str, excluded),
        "static" if log.rate_hz is None else f"{log.rate_hz:.4g}",
        "none" if log.cutoff_hz is None else f"{log.cutoff_hz:.3g}",
        "–" if log.recording.still else f"{log.duration:.4g}",
        f"{round(log.statistics.samples.sum())}",
        f"{log.independent_rows:.0f}",
        Cell(log.recording.sha256[:12], tooltip=log.recording.sha256),
    )


def provenance_section(result: Result, truth: InertialParameters | None) -> Section:
    """Return the section of everything that is needed to repeat the fit."""
    carrier = None if result.carrier is None else result.carrier.estimate
    estimate = result.estimate
    return provenance_section_of(estimate.provenance, estimate_rows(estimate, carrier))


def estimate_rows(estimate: Estimate, carrier: Estimate | None = None) -> list[Row]:
    """Return rows with the options, digests and frames of an estimate."""
    options = _as_list_items(estimate.provenance.get("options"))
    rows = [
        make_row(
            "Options", "; ".join(f"{name} = {_option_text(value)}" for name, value in options)
        ),
        make_row("estimate.json", f"sha256 {estimate_digest(estimate)}"),
    ]
    if carrier is not None:
        rows.append(make_row("carrier.json", f"sha256 {estimate_digest(carrier)}"))
    return [*rows, make_row("Body frame", _frame_text(estimate))]


def provenance_section_of(provenance: Mapping[str, Any], details: Sequence[Row]) -> Section:
    """Return the section of a provenance: command, details, versions, and schema of each log."""
    command = provenance.get("command")
    rows = [*([make_row("Command", f"`{command}`")] if command else []), *details]
    versions = ", ".join(
        f"{name} {version}" for name, version in _as_list_items(provenance.get("versions"))
    )
    if versions:
        rows.append(make_row("Versions", versions))
    schemas: dict[str, list[str]] = {}  # numbers of the logs by the text of their schema
    for number, log in enumerate(provenance.get("logs", ()), start=1):
        text = json_text(log["schema"])
        schemas.setdefault(text, []).append(str(number))
    listings = [
        Listing("Schema" if len(schemas) == 1 else f"Schema, log {', '.join(numbers)}", text)
        for text, numbers in schemas.items()
        if text != "{}"
    ]
    table = make_table(("Item", Head("Value", "prose")), rows)
    return Section("provenance", "Provenance", (table, *listings))


def _frame_text(estimate: Estimate) -> str:
    """Describe the body frame, and the poses of flange and tool point in it."""
    parts = [estimate.frame_description]
    poses = ("flange", estimate.frames.flange), ("tool point", estimate.frames.tcp)
    for name, pose in poses:
        if pose is not None:
            rotation_vector = log_rotation(quaternion_from_rotation(pose.rotation))
            position = ", ".join(format_fixed(1e3 * float(x), 3) for x in pose.position)
            angles = ", ".join(format_fixed(float(np.rad2deg(x)), 3) for x in rotation_vector)
            parts.append(f"{name} at [{position}] mm, rotation vector [{angles}]°")
    return "; ".join(parts)


def _as_list_items(table: object) -> Iterable[tuple[object, object]]:
    return table.items() if isinstance(table, Mapping) else ()


def _option_text(value: object) -> str:
    if value is None:
        return "not given"
    if isinstance(value, dict):
        fields = [f"{name}={_option_text(x)}" for name, x in value.items() if name != "kind"]
        return f"{value.get('kind', '')}({', '.join(fields)})"
    if isinstance(value, list | tuple):
        return ", ".join(map(_option_text, value)) or "none"
    return str(value) or "none"
