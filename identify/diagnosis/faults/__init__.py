"""Families of log faults, one file each: generators of faults from the measurement setup."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from identify.diagnosis.fault import Fault
from identify.diagnosis.faults.gravity import gravity_faults, imu_faults
from identify.diagnosis.faults.joints import joint_faults
from identify.diagnosis.faults.pose import pose_faults
from identify.diagnosis.faults.rotation import rotation_faults
from identify.diagnosis.faults.timing import timing_faults
from identify.diagnosis.faults.wrench import sign_faults, wrench_faults
from identify.logs.log_properties import LogProperties, share_between_similar_logs

FaultFamily: TypeAlias = Callable[[LogProperties], Iterator[Fault]]

FAMILIES: dict[FaultFamily, tuple[str, ...]] = {
    sign_faults: ("wrench_sign", "force_sign", "torque_sign"),
    wrench_faults: (
        *("wrench_frame", "wrench_axes", "wrench_misaligned"),
        *("force_sign", "torque_sign", "force_unit", "torque_unit", "gain"),
    ),
    gravity_faults: (
        *("gravity_direction", "gravity_magnitude", "gravity_tilted", "already_compensated"),
        *("partly_compensated", "acceleration_kind"),
    ),
    imu_faults: ("imu_sign", "imu_scale", "angle_unit"),
    pose_faults: (
        *("position_unit", "angle_unit", "position_axes", "quaternion_order", "pose_maps"),
        *("acceleration_kind", "acceleration_unit", "rate_frame", "kinematic_offset"),
    ),
    joint_faults: ("joint_order", "joint_sign", "angle_unit"),
    rotation_faults: ("rotation_convention", "angle_unit", "position_axes"),
    timing_faults: ("time_unit", "clock_rate", "delay", "sensor_lag"),
}
"""Families of faults with the codes of their findings."""


def codes_of_faults() -> tuple[str, ...]:
    """Return all codes of log faults."""
    return tuple(dict.fromkeys(code for codes in FAMILIES.values() for code in codes))


def faults_of(setups: Sequence[LogProperties]) -> list[tuple[Fault, ...]]:
    """Return the faults that are possible for every log, one instance for each log.

    Logs with the same setup share the instance, so that its map is computed once.
    """
    of_logs = share_between_similar_logs(setups, _faults_by_name)
    names = [name for name in of_logs[0] if all(name in of_log for of_log in of_logs)]
    return [tuple(of_log[name] for of_log in of_logs) for name in names]


def parametric_faults(
    setups: Sequence[LogProperties], names: Sequence[str]
) -> list[tuple[Fault, ...]]:
    """Return the parametric faults of given names that are possible for every log."""
    return [
        each
        for each in faults_of(setups)
        if each[0].parameters is not None and each[0].name in names
    ]


def _faults_by_name(setup: LogProperties) -> dict[str, Fault]:
    by_name: dict[str, Fault] = {}
    for family in FAMILIES:
        for fault in family(setup):
            if fault.name in by_name:
                raise ValueError(f"{family.__name__}: another fault is called {fault.name!r}, too")
            by_name[fault.name] = fault
    return by_name
