"""Sensors: what a log measured, and the modules of each layer that know it.

A log of any sensor takes the same way: schema, `Recording`, statistics and equations, estimate,
`Result`, report. What differs between sensors is named here once, and loaded when it is used:

    recording.sensor = "joints"  ─▶  SENSORS["joints"].load("fit"), .load("sections"), …
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from identify.errors import LogError, SchemaError

COMMON_OPTIONS = ("mass", "terms", "cutoff_hz", "gravity", "needs", "interval", "check")
"""Options of `identify.fit` that every sensor has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensor:
    """A kind of log, by the objects that know it: each `"module:name"`, or the object itself.

    Attributes:
        name: of the sensor, and of its table in the schema of a log.
        title: what it measures, in messages.
        read: function `(log, schema)` from a log to a `Recording`.
        fit: function `(loaded, unloaded, settings, truth)` from logs to a `Result`.
        sections: function from a `Result` to the functions that make the sections of its report.
        explained: function from a `Result` to a sentence on whether it explains the data, with its
            held-out errors; None if that is not tested.
        scale: name of its scale, an error that all its logs share.
        options: options of `identify.fit` that apply to its logs.
        table: model of its table in the schema (`identify.documents.DocumentTable`), whose property
            `columns` names the columns of the log; None for the toolkit's own sensors, whose tables
            stand in `Schema`.
        signals: function `(rows, table)` from the columns to signals in SI by name; None likewise.
    """

    name: str
    title: str
    read: object = "identify.logs.log_file:read_own_sensor"
    fit: object
    sections: object
    explained: object = None
    scale: str = "the sensor's scale"
    options: tuple[str, ...] = COMMON_OPTIONS
    table: object = None
    signals: object = None

    def load(self, part: str) -> Any:
        """Return the object of a part, such as "fit" or "sections"; import it first."""
        value = getattr(self, part)
        if not isinstance(value, str):
            return value
        module, _, name = value.partition(":")
        return getattr(import_module(module), name)


SENSORS: dict[str, Sensor] = {
    "wrench": Sensor(
        name="wrench",
        title="a wrench sensor",
        read="identify.logs.log_file:read_wrench",
        fit="identify.pipeline.wrench_fit:fit_wrench_logs",
        sections="identify.reporting.wrench_page:wrench_sections",
        explained="identify.reporting.result:wrench_explained",
        options=(
            *COMMON_OPTIONS,
            *("bias", "prior", "unloaded", "simultaneous", "apply", "bounds"),
        ),
    ),
    "joints": Sensor(
        name="joints",
        title="the joints of an arm",
        read="identify.logs.joint_log:read_joints",
        fit="identify.pipeline.joint_fit:fit_joint_logs",
        sections="identify.reporting.arm_page:arm_sections",
        explained="identify.reporting.arm_torques:torques_explained",
        scale="the torque scale",
        options=(*COMMON_OPTIONS, "unloaded", "joints"),
    ),
}
"""All sensors by name."""


_BUILT_IN = frozenset(SENSORS)


def register_sensor(sensor: Sensor) -> None:
    """Add a sensor, or replace an earlier one; schemas may then have its table.

    Raises `SchemaError`: the toolkit has a sensor of this name.
    """
    if sensor.name in _BUILT_IN:
        raise SchemaError(
            f"sensor {sensor.name!r}: the toolkit has one of this name; choose another"
        )
    SENSORS[sensor.name] = sensor


def sensor_named(name: str) -> Sensor:
    """Return a sensor by its name.

    Raises `SchemaError`: there is none.
    """
    if name not in SENSORS:
        raise SchemaError(
            f"sensor {name!r} is not registered: first import the module that calls "
            "identify.sensors.register_sensor for it"
        )
    return SENSORS[name]


def common_sensor(names: Iterable[tuple[str, str]]) -> Sensor:
    """Return the sensor that all logs of a fit have in common.

    Raises `LogError`: the logs are of two sensors.
    """
    logs = {sensor: log for log, sensor in names}
    if len(logs) > 1:
        listed = " and ".join(f"{log} is of {SENSORS[name].title}" for name, log in logs.items())
        raise LogError(f"{listed}: fit the logs of each sensor by themselves")
    (name,) = logs
    return sensor_named(name)
