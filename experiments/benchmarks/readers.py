"""Speed of each reader compared with its bare library; memory by the size of the file.

The library reads the same columns of the same file into float64 arrays. A reader also checks every
row, converts units and the pose, and returns a `Recording`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from pyulog import ULog
from rosbags.highlevel import AnyReader
from scipy.io import loadmat, savemat

from experiments.benchmarks.measure import Contender, Effort, ReportLine, Spread, race
from experiments.benchmarks.processes import run_python
from identify.arrays import Array
from identify.logs import read_log
from tests.logs import containers

ROWS, MESSAGES = 200_000, 4000
MAX_TIME_RATIO = 6.0
"""Maximum ratio of the time of a reader to that of its library."""

GIGABYTES = (0.1, 0.5, 2.0)
TARGET_MB = 500.0
"""Maximum peak memory when the largest file is read [MB]."""

_RATE_HZ = 1000.0
_SHAPES = {"p": 3, "q": 4, "f": 3, "tau": 3}

_WRENCH = {"frame": "body", "acts_on": "sensor"}
_SCHEMA: dict[str, Any] = {
    "log": {"time": "t"},
    "pose": {"position": "p[0:3]", "quaternion": "q[0:4]"},
    "wrench": {"force": "f[0:3]", "torque": "tau[0:3]", **_WRENCH},
}
_POSE = {"position": ("pose.position", "xyz"), "quaternion": ("pose.orientation", "xyzw")}
_LOAD = {"force": ("wrench.force", "xyz"), "torque": ("wrench.torque", "xyz")}
_BAG_SCHEMA: dict[str, Any] = {
    "log": {"time": "header.stamp"},
    "streams": {"pose": {"topic": "/pose"}, "wrench": {"topic": "/ft/wrench"}},
    "pose": {key: [f"{of}.{a}" for a in axes] for key, (of, axes) in _POSE.items()},
    "wrench": {key: [f"{of}.{a}" for a in axes] for key, (of, axes) in _LOAD.items()} | _WRENCH,
}
_ULOG_SCHEMA: dict[str, Any] = {
    "log": {"time": "timestamp"},
    "streams": {"pose": {"topic": "pose"}, "wrench": {"topic": "load"}},
    "pose": {"position": "p", "quaternion": "q"},
    "wrench": {"force": "f", "torque": "tau", **_WRENCH},
}

_IN_CHUNKS = """
import sys
from identify.logs import LogFile, open_log

log, rows = open_log(sys.argv[1], {schema!r}), 0
if isinstance(log, LogFile):
    read = log.reader()
    for start in range(0, log.rows, 65536):
        rows += len(read(start, min(start + 65536, log.rows), 100).recording.time)
    assert rows >= log.rows
"""
_WHOLE = """
import sys
from identify.logs import read_log

assert read_log(sys.argv[1], {schema!r}).rows > 0
"""


def run(effort: Effort) -> list[ReportLine]:
    """Measure ratios of readers to libraries, rows per second, and peak memory by size."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_against_libraries(effort, Path(folder)), *_memory(effort, Path(folder))]


def _against_libraries(effort: Effort, folder: Path) -> list[ReportLine]:
    lines = []
    rows, messages = effort.scaled(ROWS, 2000), effort.scaled(MESSAGES, 200)
    for name, bare in _files(folder, columns_of(rows)).items():
        lines += _compare_with_library(name, folder, _SCHEMA, bare, rows, effort)
    few = columns_of(messages)
    ulog = containers.write_ulog(folder / "log.ulg", _topics(few))
    lines += _compare_with_library(
        ulog.name, folder, _ULOG_SCHEMA, lambda: _ulog(ulog), messages, effort
    )
    for name, kind in {"log.bag": "ros1", "sqlite3": "sqlite3", "mcap": "mcap"}.items():
        bag = containers.write_bag(folder / name, kind, few | {"t": 1e9 * few["t"]})
        bare = lambda bag=bag: _bag(bag)  # noqa: E731
        lines += _compare_with_library(name, folder, _BAG_SCHEMA, bare, messages, effort)
    return lines


def _compare_with_library(
    name: str, folder: Path, schema: Mapping[str, Any], bare: Contender, rows: int, effort: Effort
) -> list[ReportLine]:
    """Return the lines of the report for one format."""

    def ours() -> Array:
        return read_log(folder / name, dict(schema)).signals["force"]

    seconds = race({"ours": ours, "bare": bare}, effort)
    ratio = Spread.of(seconds["ours"] / seconds["bare"])
    return [
        ReportLine(
            f"read_log of {name}, {rows} rows",
            Spread.of(1e-3 * rows / seconds["ours"]).text("thousand rows/s"),
        ),
        ReportLine(
            "… time relative to the bare library",
            ratio.text(),
            f"≤ {MAX_TIME_RATIO:g}",
            ratio.median <= MAX_TIME_RATIO,
        ),
    ]


def columns_of(rows: int) -> dict[str, Array]:
    """Return time [s], position, quaternion and wrench of `rows` rows."""
    rng = np.random.default_rng(0)
    columns = {name: rng.standard_normal((rows, count)) for name, count in _SHAPES.items()}
    columns["q"] /= np.linalg.norm(columns["q"], axis=1, keepdims=True)
    return {"t": np.arange(rows) / _RATE_HZ, **columns}


def _files(folder: Path, columns: Mapping[str, Array]) -> dict[str, Contender]:
    """Write a file in each format; return functions that read them with the library alone."""
    flat = {"t": columns["t"]}
    for name, count in _SHAPES.items():
        flat |= {f"{name}_{k}": columns[name][:, k] for k in range(count)}
    table = pa.table(flat)
    pq.write_table(table, folder / "log.parquet")
    pacsv.write_csv(table, folder / "log.csv")
    np.savez(folder / "log.npz", **columns)  # type: ignore[arg-type]
    savemat(folder / "log.mat", dict(columns))
    with h5py.File(folder / "log.h5", "w") as file:
        for name, values in columns.items():
            file[name] = values

    def arrow(read: Any) -> Contender:
        return lambda: np.column_stack([column.to_numpy() for column in read().columns])

    def hdf5() -> Array:
        with h5py.File(folder / "log.h5") as file:
            return np.column_stack([file[name][:] for name in columns])  # type: ignore[index]

    def npz() -> Array:
        with np.load(folder / "log.npz") as file:
            return np.column_stack([file[name] for name in columns])

    def mat() -> Array:
        file = loadmat(folder / "log.mat")
        return np.column_stack([file[name].reshape(len(columns["t"]), -1) for name in columns])

    return {
        "log.parquet": arrow(lambda: pq.read_table(folder / "log.parquet")),
        "log.csv": arrow(lambda: pacsv.read_csv(folder / "log.csv")),
        "log.npz": npz,
        "log.h5": hdf5,
        "log.mat": mat,
    }


def _topics(columns: Mapping[str, Array]) -> dict[str, dict[str, tuple[str, Array]]]:
    """Return the columns as topics of a ULog."""
    stamps = ("uint64_t", np.round(1e6 * columns["t"]).astype(int))
    return {
        topic: {"timestamp": stamps} | {name: ("double", columns[name]) for name in names}
        for topic, names in {"pose": ("p", "q"), "load": ("f", "tau")}.items()
    }


def _ulog(path: Path) -> Array:
    """Read the fields of all topics with pyulog."""
    tables = [data.data for data in ULog(str(path)).data_list]
    return np.column_stack([values for data in tables for values in data.values()])


def _bag(path: Path) -> Array:
    """Read the numbers of all poses and wrenches with rosbags."""
    rows: dict[str, list[list[float]]] = {"/pose": [], "/ft/wrench": []}
    with AnyReader([path], default_typestore=containers.ROS2) as bag:
        for connection, _, raw in bag.messages():
            message: Any = bag.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp
            time = [stamp.sec + 1e-9 * stamp.nanosec]
            if connection.topic == "/pose":
                p, q = message.pose.position, message.pose.orientation
                rows["/pose"].append([*time, p.x, p.y, p.z, q.x, q.y, q.z, q.w])
            else:
                f, t = message.wrench.force, message.wrench.torque
                rows["/ft/wrench"].append([*time, f.x, f.y, f.z, t.x, t.y, t.z])
    return np.concatenate([np.array(values).ravel() for values in rows.values()])


def _memory(effort: Effort, folder: Path) -> list[ReportLine]:
    """Measure the peak memory of reading files of several sizes, each in a new process."""
    lines = []
    for share in GIGABYTES:
        size = effort.scale**2 * share * 1e9
        size_text = f"{1e-9 * size:.2g} GB" if size >= 1e7 else f"{1e-6 * size:.2g} MB"
        last = share == GIGABYTES[-1]
        for kind, (path, program) in {
            "HDF5, in chunks": (_long_hdf5(folder, size), _IN_CHUNKS.format(schema=_SCHEMA)),
            "MCAP, 2000 poses and wrenches among images": (
                _wide_bag(folder, size),
                _WHOLE.format(schema=_BAG_SCHEMA),
            ),
        }.items():
            taken = run_python(program, path)
            if taken.status != 0:
                raise RuntimeError(f"reading {path.name} failed: {taken.last_line}")
            lines.append(
                ReportLine(
                    f"memory by size: {kind}, {size_text}",
                    f"{taken.megabytes:.0f} MB, {taken.seconds:.1f} s",
                    f"≤ {TARGET_MB:g} MB" if last else "",
                    taken.megabytes <= TARGET_MB if last else None,
                )
            )
    return lines


def _long_hdf5(folder: Path, size: float) -> Path:
    """Write an HDF5 file of about `size` bytes of pose and wrench."""
    path, part = folder / "long.h5", columns_of(100_000)
    repeats = max(1, round(size / (8 * 14 * len(part["t"]))))
    with h5py.File(path, "w") as file:
        for name, values in part.items():
            shape = (repeats * len(values), *values.shape[1:])
            data = file.create_dataset(name, shape, "f8", chunks=(10_000, *values.shape[1:]))
            for k in range(repeats):
                shift = k * len(values) / _RATE_HZ if name == "t" else 0.0
                data[k * len(values) : (k + 1) * len(values)] = values + shift
    return path


def _wide_bag(folder: Path, size: float) -> Path:
    """Write a bag of about `size` bytes, most of them images."""
    few = columns_of(2000)
    path = folder / f"wide_{size:.0f}"
    pixels = np.zeros(max(1000, round(size / 2000)), dtype=np.uint8)
    kind = "sensor_msgs/msg/Image"
    with containers.Bag(path, "mcap") as bag:
        for ns, p, q, f, tau in zip(
            (1e9 * few["t"]).astype(int), *(few[name] for name in _SHAPES), strict=True
        ):
            bag.pose("/pose", int(ns), p, q)
            bag.wrench("/ft/wrench", int(ns), f, tau)
            header = bag.header(int(ns))
            image = bag.type(kind)(header, 1, len(pixels), "mono8", 0, len(pixels), pixels)
            bag.write("/camera", kind, int(ns), image)
    return path
