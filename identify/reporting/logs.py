"""The logs: offset of each sensor, account of the rows, and where all of it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

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
    numbers,
    row,
    table_of,
)
from identify.reporting.rounding import decimals_for, fixed, plus_minus, significant
from identify.signals.prepared import acceleration_sources
from identify.spatial import log_rotation, quaternion_from_rotation
from identify.texts import json_text

if TYPE_CHECKING:
    from identify.estimation import Estimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult
    from identify.regressors import LogSummary

_OFFSETS = ("Log", *(f"f {axis} [N]" for axis in "xyz"), *(f"t {axis} [mN m]" for axis in "xyz"))
_OFFSET_UNITS = np.array([1.0, 1.0, 1.0, 1e3, 1e3, 1e3])
"""Numbers in the units of the heads of one in SI: in N m, zeros would make the table too wide."""


def offset_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """What each sensor was found to add to the wrench."""
    title = "sensor-offset", "Sensor offset"
    if result.settings.bias == "none":
        said = (
            "No sensor offset was fitted, as was asked for: the wrench is taken to be free of a "
            "constant offset."
        )
        return Section(*title, (Text(said),))
    estimate = result.estimate
    offsets = estimate.biases * _OFFSET_UNITS
    half_widths = estimate.bias_half_widths * _OFFSET_UNITS
    decimals = [
        [decimals_for(half, abs(value)) for value, half in zip(*of, strict=True)]
        for of in zip(offsets.tolist(), half_widths.tolist(), strict=True)
    ]
    names = [f"{number}: {log.name}" for number, log in enumerate(result.logs, start=1)]
    if result.settings.bias == "shared":
        names = ["all logs"]
    columns = zip(names, offsets, half_widths, decimals, strict=False)
    table = table_of(
        _OFFSETS,
        ((name, *map(_with_interval, *values)) for name, *values in columns),
        "What the sensor adds to the wrench on the body, with 95 % intervals, constant in the "
        f"axes of {estimate.frame_description}, at its origin: measured = on the body + offset.",
    )
    return Section(*title, (table,))


def _with_interval(value: float, half: float, decimals: int) -> str:
    return f"{fixed(value, decimals)} {plus_minus(half, decimals)}"


_LEFT_OUT = {
    "Dropped": "Dropped: not finite, cut short or not numbers. ",
    "Repeated": "Repeated: with the time stamp of the row before. ",
    "Unused": "Unused: in segments too short to filter, and edges. ",
}
"""Columns of rows that are not used, which are shown where there are any, and what they mean."""


def data_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """Rows, rates, filters and digests of the logs."""
    counts = [(log.recording.dropped.total, log.repeated, log.unused) for log in result.logs]
    shown = [k for k, of_all in enumerate(zip(*counts, strict=True)) if any(of_all)]
    names = [list(_LEFT_OUT)[k] for k in shown]
    heads = ("Rows", *names, "Rate [Hz]", "Cut-off [Hz]", "Span [s]", "Used", "Effective")
    table = ReportTable(
        (Head("Log"), *numbers(*heads), Head("sha256")),
        tuple(
            _account(f"{number}: {log.name}", log, [of_log[k] for k in shown])
            for number, (log, of_log) in enumerate(zip(result.logs, counts, strict=True), 1)
        ),
        f"{''.join(map(_LEFT_OUT.__getitem__, names))}Used: the rows that the fit rests on; where "
        "streams have clocks of their own, those of the slowest. Effective: how many independent "
        "samples these amount to; neighbours that went through one filter are not independent.",
    )
    count, estimate = len(result.logs), result.estimate
    said = Text(
        f"{count} log{'' if count == 1 else 's'}, {estimate.samples} samples, worth "
        f"{estimate.effective_samples:.0f} independent ones."
    )
    return Section("data", "Data", (said, table, *_noise_of(result.logs), *_routes(result.logs)))


def _routes(logs: Sequence[LogSummary]) -> tuple[ReportTable, ...]:
    """Where the accelerations come from, and their noise after the low-pass."""
    rows = [
        row(
            f"{number}: {log.name}",
            what.replace("_", " "),
            route.source,
            significant(route.noise),
            significant(route.rms),
            "rad/s²" if what.startswith("angular") else "m/s²",
        )
        for number, log in enumerate(logs, start=1)
        for what, route in acceleration_sources(log).items()
    ]
    heads = ("Log", "Quantity", "Comes from", "Noise, 1 σ", "Change, RMS", "Unit")
    caption = (
        "Accelerations as they enter the equations, after the low-pass. What the log gives is "
        "used as it is, what it lacks is differentiated; the intervals count the noise. Both are "
        "of one axis, on the mean of three."
    )
    return (table_of(heads, rows, caption, words=3),) if rows else ()


_NOISE: Mapping[str, tuple[str, str, float]] = MappingProxyType(
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
"""How the noise of each signal is shown: its title, unit, and number in that unit of one in SI."""


def _noise_of(logs: Sequence[LogSummary]) -> tuple[ReportTable, ...]:
    """One standard deviation of each signal's noise, sample by sample, on the mean of its axes."""
    found = [(k, log, log.signal_noise) for k, log in enumerate(logs, start=1)]
    names = [name for name in _NOISE if any(n and name in n.names for _, _, n in found)]
    if not names:
        return ()
    rows = []
    for number, log, noise in found:
        if noise is None:
            continue
        variance = np.diag(noise.covariance).reshape(-1, 3).mean(axis=1)
        sigma = dict(zip(noise.names, np.sqrt(variance).tolist(), strict=True))
        texts = (
            significant(_NOISE[name][2] * sigma[name]) + " given" * (name in log.recording.noise)
            if name in sigma
            else "–"
            for name in names
        )
        rows.append(row(f"{number}: {log.name}", *texts))
    heads = (f"{title} [{unit}]" for title, unit, _ in map(_NOISE.__getitem__, names))
    caption = (
        "Noise of the signals, from sample to sample: one standard deviation, on the mean of three "
        "axes; read off the band above the motion's, or given by the schema. Slow errors, such as "
        "drift, are not in it."
    )
    return (table_of(("Log", *heads), rows, caption),)


def _account(name: str, log: LogSummary, left_out: Sequence[int]) -> Row:
    return row(
        name,
        f"{log.recording.rows}",
        *map(str, left_out),
        "still" if log.rate_hz is None else f"{log.rate_hz:.4g}",
        "none" if log.cutoff_hz is None else f"{log.cutoff_hz:.3g}",
        "–" if log.recording.still else f"{log.duration:.4g}",
        f"{round(log.statistics.samples.sum())}",
        f"{log.independent_rows:.0f}",
        Cell(log.recording.sha256[:12], title=log.recording.sha256),
    )


def provenance_section(result: FitResult, truth: InertialParameters | None) -> Section:
    """Everything needed to fit the same logs again."""
    known = result.estimate.provenance
    rows = [row("Command", f"`{known['command']}`")] if known.get("command") else []
    options = [f"{name} = {_said(value)}" for name, value in _items(known.get("options"))]
    rows.append(row("Options", "; ".join(options)))
    digest = estimate_digest(result.estimate)
    rows.append(row("estimate.json", f"sha256 {digest}"))
    if result.carrier is not None:
        digest = estimate_digest(result.carrier.estimate)
        rows.append(row("carrier.json", f"sha256 {digest}"))
    rows.append(row("Body frame", _spelled(result.estimate)))
    versions = ", ".join(f"{name} {version}" for name, version in _items(known.get("versions")))
    if versions:
        rows.append(row("Versions", versions))
    schemas: dict[str, list[str]] = {}  # each once, with the logs read by it
    for number, log in enumerate(result.logs, start=1):
        text = json_text(dict(log.recording.schema))
        schemas.setdefault(text, []).append(str(number))
    listings = [
        Listing("Schema" if len(schemas) == 1 else f"Schema, log {', '.join(logs)}", text)
        for text, logs in schemas.items()
        if text != "{}"
    ]
    table = ReportTable((Head("What"), Head("Value", "prose")), tuple(rows))
    return Section("provenance", "Provenance", (table, *listings))


def _spelled(estimate: Estimate) -> str:
    """What the body frame is called, and where the flange and the tool point are in it."""
    said = [estimate.frame_description]
    places = ("flange", estimate.frames.flange), ("tool point", estimate.frames.tcp)
    for what, pose in places:
        if pose is not None:
            turn = log_rotation(quaternion_from_rotation(pose.rotation))
            place = ", ".join(fixed(1e3 * float(x), 3) for x in pose.position)
            angles = ", ".join(fixed(float(np.rad2deg(x)), 3) for x in turn)
            said.append(f"{what} at [{place}] mm, turned by [{angles}]°")
    return "; ".join(said)


def _items(table: object) -> Iterable[tuple[object, object]]:
    return table.items() if isinstance(table, Mapping) else ()


def _said(value: object) -> str:
    if value is None:
        return "not given"
    if isinstance(value, dict):
        given = [f"{name}={_said(one)}" for name, one in value.items() if name != "kind"]
        return f"{value.get('kind', '')}({', '.join(given)})"
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value)) or "none"
    return str(value) or "none"
