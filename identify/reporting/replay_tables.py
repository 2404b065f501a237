"""Replays as Parquet: simulated beside measured, sample by sample."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from identify.arrays import Array
from identify.validation import Replay, SingleShot

_AXES = "xyz"
_QUATERNION = ("x", "y", "z", "w")


def windows_table(done: Replay) -> bytes:
    """Columns `window`, `t` [s], `since_start` [s], `simulated_px` … and `measured_px` … [m].

    The simulated positions are those of the first body.
    """
    windows, count = done.times.shape
    columns: dict[str, Array] = {
        "window": np.repeat(np.arange(windows), count),
        "t": done.times.ravel(),
        "since_start": (done.times - done.times[:, :1]).ravel(),
    }
    for what, values in (("simulated", done.simulated), ("measured", done.measured)):
        columns |= _vector(f"{what}_p", values.reshape(-1, 3), _AXES)
    return _parquet(columns)


def single_shot_table(done: SingleShot) -> bytes:
    """Columns `t` [s], positions and quaternions, and the errors of every body [m, rad]."""
    columns: dict[str, Array] = {"t": done.time}
    columns |= _vector("simulated_p", done.position, _AXES)
    columns |= _vector("simulated_q", done.quaternion, _QUATERNION)
    columns |= _vector("measured_p", done.measured_position, _AXES)
    columns |= _vector("measured_q", done.measured_quaternion, _QUATERNION)
    for name, errors in done.errors.items():
        label = name.replace(" ", "_")
        columns |= {
            f"position_error_{label}": errors.position,
            f"attitude_error_{label}": errors.attitude,
        }
    return _parquet(columns)


def _vector(name: str, values: Array, axes: str | tuple[str, ...]) -> Mapping[str, Array]:
    return {f"{name}{axis}": values[:, k] for k, axis in enumerate(axes)}


def _parquet(columns: Mapping[str, Array]) -> bytes:
    table = pa.table({name: pa.array(np.asarray(column)) for name, column in columns.items()})
    buffer = BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()
