"""Replays as Parquet: simulated beside measured, sample by sample."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from identify.arrays import Array
from identify.validation import Replay, SingleShot


def windows_table(done: Replay) -> bytes:
    """Columns `window`, `t` [s], `since_start` [s], `simulated_px` … and `measured_px` … [m].

    The simulated positions are those of the first body.
    """
    windows, count = done.times.shape
    return _parquet(
        {
            "window": np.repeat(np.arange(windows), count),
            "t": done.times.ravel(),
            "since_start": (done.times - done.times[:, :1]).ravel(),
            **_columns("simulated_p", done.simulated.reshape(-1, 3)),
            **_columns("measured_p", done.measured.reshape(-1, 3)),
        }
    )


def single_shot_table(done: SingleShot) -> bytes:
    """Columns `t` [s], positions and quaternions, and the errors of every body [m, rad]."""
    columns = {
        "t": done.time,
        **_columns("simulated_p", done.position),
        **_columns("simulated_q", done.quaternion),
        **_columns("measured_p", done.measured_position),
        **_columns("measured_q", done.measured_quaternion),
    }
    for name, errors in done.errors.items():
        label = name.replace(" ", "_")
        columns[f"position_error_{label}"] = errors.position
        columns[f"attitude_error_{label}"] = errors.attitude
    return _parquet(columns)


def _columns(name: str, values: Array) -> dict[str, Array]:
    return {f"{name}{axis}": column for axis, column in zip("xyzw", values.T, strict=False)}


def _parquet(columns: Mapping[str, Array]) -> bytes:
    buffer = BytesIO()
    pq.write_table(pa.table(dict(columns)), buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()
