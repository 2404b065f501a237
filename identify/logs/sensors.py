"""Identification of sensors across logs, and prior sizes of the faults that their logs share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from identify.errors import SchemaError
from identify.logs.effect_keys import EFFECT_KEYS, FaultSizeSetting
from identify.logs.recording import Recording
from identify.logs.schema_tables import WrenchTable

_WRENCH_KEY_DEFAULTS: dict[str, Any] = {
    name: field.default
    for name, field in WrenchTable.model_fields.items()
    if not field.is_required()
}

_SENSOR_KEYS = ("force_unit", "torque_unit", "frame", "acts_on", "gain_accuracy")
"""Keys of `[wrench]` that are equal in all logs of a sensor, in addition to its mount."""


def sensor_key(recording: Recording) -> str:
    """Return a text that is equal for two recordings exactly if their sensor is the same.

    It is the sensor's name, or, where the schema gives none, the whole `[wrench]` table as JSON,
    defaults filled in, with `[effects]`.
    """
    wrench = _wrench_table(recording)
    whole = [wrench, dict(effect_table(recording))]
    return wrench["sensor"] or json.dumps(whole, sort_keys=True, default=str)


def require_same_sensor(recordings: Sequence[Recording]) -> None:
    """Check that logs which name the same sensor interpret its wrench in the same way.

    Raises `SchemaError`: the schemas of two such logs differ in the unit of force or torque, in
    `frame`, `acts_on`, `gain_accuracy`, the mount or `[effects]`; the message names both logs.
    """
    first_logs: dict[str, int] = {}
    for number, recording in enumerate(recordings):
        if name := _wrench_table(recording)["sensor"]:
            first = first_logs.setdefault(name, number)
            logs = [f"log {k + 1} ({recordings[k].name!r})" for k in (first, number)]
            differences = "; ".join(
                f"{key} is {a!r} in {logs[0]} and {b!r} in {logs[1]}"
                for key, a, b in _differences(recordings[first], recording)
            )
            if differences:
                raise SchemaError(
                    f"[wrench] sensor = {name!r}: a sensor's name on logs of different schemas: "
                    f"{differences}; correct the wrong schema, or give each sensor its own name"
                )


def _differences(first: Recording, other: Recording) -> Iterator[tuple[str, object, object]]:
    """Yield the keys that must be equal in two schemas of a sensor but are not, and values."""
    a, b = _wrench_table(first), _wrench_table(other)
    for key in _SENSOR_KEYS:
        if a.get(key) != b.get(key):
            yield key, a.get(key), b.get(key)
    if a["frame"] == b["frame"] == "sensor" and not _same_mount(first, other):
        yield "mount", a["mount"], b["mount"]
    first_effects, other_effects = dict(effect_table(first)), dict(effect_table(other))
    if first_effects != other_effects:
        yield "[effects]", first_effects, other_effects


def _same_mount(first: Recording, other: Recording) -> bool:
    poses = [np.eye(4) if log.X_BS is None else log.X_BS.matrix for log in (first, other)]
    return bool(np.allclose(*poses, rtol=0.0, atol=1e-9))


def _wrench_table(recording: Recording) -> dict[str, Any]:
    """Return `[wrench]` of a recording's schema with defaults and the frame of the signals."""
    table = recording.schema.get("wrench")
    written = dict(table) if isinstance(table, Mapping) else {}
    return {**_WRENCH_KEY_DEFAULTS, "frame": recording.frames.get("wrench"), **written}


def effect_table(recording: Recording) -> Mapping[str, Any]:
    """Return `[effects]` of a recording's schema; empty if it has none."""
    table = recording.schema.get("effects")
    return table if isinstance(table, Mapping) else {}


def effect_sizes(recording: Recording) -> Mapping[str, FaultSizeSetting]:
    """Return prior and maximum size of each small sensor fault in the fit of a recording.

    `recording`: a log, whose schema may have a table `[effects]`.
    Returns the settings by key, in SI, in the order of `EFFECT_KEYS`; a key that the schema sets to
    false is not among them.
    """
    given = effect_table(recording)
    sizes = {name: given.get(name, key.prior_size) for name, key in EFFECT_KEYS.items()}
    return {
        name: FaultSizeSetting(key.si_factor * float(sizes[name]), key.si_factor * key.max_size)
        for name, key in EFFECT_KEYS.items()
        if sizes[name] is not False
    }
