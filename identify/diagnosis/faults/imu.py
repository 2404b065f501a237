"""Faults of an accelerometer without a pose beside it; `signals.imu` compares it with one."""

from __future__ import annotations

from collections.abc import Iterator

from identify.diagnosis.facts import LogFacts
from identify.diagnosis.fault import Fault, slip
from identify.logs.schema_fields import negated


def imu_faults(facts: LogFacts) -> Iterator[Fault]:
    """An accelerometer that reads gravity less acceleration."""
    if facts.attitude or facts.schema is None:
        return
    imu, given = facts.schema.imu, facts.schema.acceleration
    for key, columns in (
        ("imu.accelerometer", None if imu is None else imu.accelerometer),
        ("acceleration.linear", None if given is None else given.linear),
    ):
        if columns is not None:
            patch = {key: [negated(column) for column in columns]}
            text = "the proper acceleration has the other sign: at rest it points up"
            yield slip(facts, "imu_sign", text, patch)
