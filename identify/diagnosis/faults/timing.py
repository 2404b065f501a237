"""Faults of time: its unit and rate, and a wrench that is delayed or low-pass filtered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from identify.arrays import Array
from identify.diagnosis.fault import (
    Fault,
    FaultParameters,
    discrete_fault,
    rounded_for_schema,
    schema_lines,
)
from identify.diagnosis.faults.pose import MAX_PLAUSIBLE_RATES, MIN_PLAUSIBLE_RATES
from identify.logs.log_properties import LogProperties
from identify.logs.patch import Patch
from identify.logs.units import SECONDS_PER_DAY, TICKS_PER_SECOND
from identify.regressors.log_corrections import clock_rate_map, delay_map, lag_map
from identify.relevance import FAULT_CLOCK_RATE, FAULT_WRENCH_DELAY
from identify.spatial.vectors import is_usual_gravity

_TIME_FACTORS = (1e-3, 0.5, 2.0, 1e3)
"""Tried factors on time: the next units, or half or twice the sampling rate. After any other factor
the rate of a log is implausible (`require_plausible_rate`)."""


def timing_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of time and delay; none for static poses."""
    if setup.static_poses:
        return
    if setup.rates_from_pose and setup.gravity_added:
        yield from _time_unit_faults(setup)
        yield _clock_rate_fault(setup)
    yield _delay_fault(setup)
    yield _lag_fault(setup)


def time_patch(schema_tables: Mapping[str, object], factor: float) -> Patch:
    """Return the schema keys that scale time by a factor; empty if no unit does."""
    log = schema_tables.get("log")
    table = log if isinstance(log, Mapping) else {}
    if "rate_hz" in table:
        return {"log.rate_hz": float(f"{float(table['rate_hz']) / factor:g}")}
    if "time_fraction" in table:  # whole seconds have no other unit
        return {}
    units = {**TICKS_PER_SECOND, "d": 1.0 / SECONDS_PER_DAY}
    ticks = units[str(table.get("time_unit", "s"))] / factor
    for unit, per_second in units.items():
        if abs(ticks / per_second - 1.0) < 1e-9:
            return {"log.time_unit": unit}
    return {}


def time_remedy(schema_tables: Mapping[str, object], factor: float) -> str:
    """Return the remedy that scales time by a factor."""
    patch = time_patch(schema_tables, factor)
    if not patch:
        return "In the schema, [log], correct `time` or its unit."
    return schema_lines(patch, schema_tables)


def _time_unit_faults(setup: LogProperties) -> Iterator[Fault]:
    speed, spin = setup.top_speeds
    for factor in _TIME_FACTORS:
        if not (time_patch(setup.schema_tables, factor) or 0.1 < factor < 10.0):
            continue  # no unit, and too much for a wrong rate
        rates = speed / factor, spin / factor
        if all(rate < most for rate, most in zip(rates, MAX_PLAUSIBLE_RATES, strict=True)) and any(
            rate > least for rate, least in zip(rates, MIN_PLAUSIBLE_RATES, strict=True)
        ):
            yield discrete_fault(
                setup,
                "time_unit",
                f"time runs {factor:g} times as long as read",
                time_patch(setup.schema_tables, factor),
                action=time_remedy(setup.schema_tables, factor),
                linear_map=clock_rate_map(factor - 1.0, setup.gravity),
                time_factor=factor,
            )


def _clock_rate_fault(setup: LogProperties) -> Fault:
    def remedy(size: Array) -> str:
        rate = 1.0 + float(size[0])
        text = f"Check the rate of the log: its time runs at {1.0 / rate:.4g} of the true rate"
        # Accelerations go as the square of the rate, and only their ratio to gravity is known.
        local = rate**2 * float(np.linalg.norm(setup.gravity))
        if is_usual_gravity(local):
            text += f"; or gravity is {local:.4g} m/s² there: give it in [world]"
        return text

    return Fault(
        "clock_rate",
        "clock_rate",
        "clock rate",
        None,
        lambda size: clock_rate_map(float(size[0]), setup.gravity),
        remedy,
        setup,
        FaultParameters(("rate",), "%", 1e-2, FAULT_CLOCK_RATE, usable_range=(-0.15, 0.15)),
    )


def _delay_fault(setup: LogProperties) -> Fault:
    before = 0.0 if setup.schema is None else setup.schema.wrench.delay_s
    axes: Patch = {}
    if setup.schema is not None and setup.schema.wrench.delay_axes != "body":
        axes = {"wrench.delay_axes": setup.schema.wrench.delay_axes}
    return Fault(
        "delay",
        "delay",
        "delay",
        lambda size: {"wrench.delay_s": rounded_for_schema(before + float(size[0])), **axes},
        lambda size: delay_map(float(size[0])),
        setup=setup,
        parameters=FaultParameters(("delay",), "ms", 1e-3, FAULT_WRENCH_DELAY),
        map_is_exact=False,
    )


def _lag_fault(setup: LogProperties) -> Fault:
    def action(size: Array) -> str:
        corner = 1.0 / (2.0 * np.pi * max(abs(float(size[0])), 1e-9))
        return (
            f"The sensor filters its wrench, with a corner near {corner:.3g} Hz: switch its "
            "low-pass off or raise it, and log again"
        )

    return Fault(
        "sensor_lag",
        "sensor_lag",
        "sensor lag",
        None,
        lambda size: lag_map(float(size[0])),
        action,
        setup,
        FaultParameters(("time constant",), "ms", 1e-3, FAULT_WRENCH_DELAY),
    )
