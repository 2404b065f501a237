"""What is told to a person before the fit: signals that cannot be, or that say nothing."""

from __future__ import annotations

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.logs import Recording
from identify.signals import PreparedLog

_FAST = 20.0
"""Speed above which a position is more likely in another unit [m/s]."""

_SPIN = 60.0
"""Rate above which an angle is more likely in degrees [rad/s]."""

_MANY_UNUSED = 0.2
"""Share of a log's rows that may go unused without a word."""


def require_live_wrench(recording: Recording) -> None:
    """Raise if the force or the torque never changes: a dead sensor, or the wrong columns.

    Raises:
        LogError: it does not.
    """
    if len(recording) < 2:
        return
    for name in ("force", "torque"):
        values = recording.signals[name]
        if not np.ptp(values, axis=0).any():
            raise LogError(
                f"{recording.name}: the {name} is {values[0].tolist()} in all {len(recording)} "
                f"rows: "
                f"the sensor was off, or [wrench] {name} in the schema names the wrong columns"
            )


def notes_on_log(log: PreparedLog) -> list[str]:
    """Notes on how a log was read and on values that look like another unit's."""
    recording, notes = log.recording, []
    dropped = recording.dropped
    if dropped.total:
        notes.append(
            f"{log.name}: {dropped.total} of {recording.rows} rows dropped ({dropped.not_finite} "
            f"not "
            f"finite, {dropped.cut_short} cut short, {dropped.not_numbers} not numbers)."
        )
    if log.unused > _MANY_UNUSED * len(recording):
        notes.append(
            f"{log.name}: {log.unused} of {len(recording)} rows are not used: they stand in "
            f"stretches "
            f"between gaps or jumps that are too short to filter."
        )
    speed = max((_fastest(segment.velocity) for segment in log.segments), default=0.0)
    if speed > _FAST:
        notes.append(
            f"{log.name}: the body's origin moves at up to {speed:.3g} m/s; if the position is in "
            f'millimetres, set `position_unit = "mm"` in [pose].'
        )
    spin = max((_fastest(segment.angular_velocity) for segment in log.segments), default=0.0)
    if spin > _SPIN:
        notes.append(
            f"{log.name}: the body turns at up to {spin:.3g} rad/s; if angles are in degrees, set "
            f'`angle_unit = "deg"`.'
        )
    return notes


def _fastest(values: Array) -> float:
    return float(np.linalg.norm(values, axis=1).max())
