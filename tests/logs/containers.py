"""A log written as bags, HDF5, MAT and ULog files."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer as Writer2
from rosbags.typesys import Stores, get_typestore

ROS2 = get_typestore(Stores.ROS2_HUMBLE)
ROS1 = get_typestore(Stores.ROS1_NOETIC)


class Bag:
    """A bag that is written, of either ROS, with the same messages."""

    def __init__(self, path: Path, kind: str, compression: str = "") -> None:
        self.store = ROS1 if kind == "ros1" else ROS2
        self.ros1 = kind == "ros1"
        plugin = StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3
        writer = Writer1(path) if self.ros1 else Writer2(path, version=9, storage_plugin=plugin)
        self.writer: Any = writer
        if compression and self.ros1:
            self.writer.set_compression(Writer1.CompressionFormat[compression.upper()])
        elif compression:
            mode = CompressionMode[compression.upper()]
            self.writer.set_compression(mode, CompressionFormat.ZSTD)
        self.connections: dict[str, Any] = {}
        self.count = 0

    def __enter__(self) -> Bag:
        self.writer.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.writer.close()

    def type(self, name: str) -> Any:
        return self.store.types[name]

    def header(self, ns: int, frame: str = "") -> Any:
        stamp = self.type("builtin_interfaces/msg/Time")(ns // 10**9, ns % 10**9)
        Header = self.type("std_msgs/msg/Header")
        if self.ros1:
            self.count += 1
            return Header(self.count, stamp, frame)
        return Header(stamp, frame)

    def vector(self, values: Any) -> Any:
        return self.type("geometry_msgs/msg/Vector3")(*map(float, values))

    def quaternion(self, values: Any) -> Any:
        return self.type("geometry_msgs/msg/Quaternion")(*map(float, values))

    def write(self, topic: str, kind: str, ns: int, message: Any) -> None:
        if topic not in self.connections:
            connect = self.writer.add_connection
            self.connections[topic] = connect(topic, kind, typestore=self.store)
        raw = (self.store.serialize_ros1 if self.ros1 else self.store.serialize_cdr)(message, kind)
        self.writer.write(self.connections[topic], ns, raw)

    def pose(self, topic: str, ns: int, p: Any, q: Any, frame: str = "") -> None:
        kind = "geometry_msgs/msg/PoseStamped"
        point = self.type("geometry_msgs/msg/Point")(*map(float, p))
        pose = self.type("geometry_msgs/msg/Pose")(point, self.quaternion(q))
        self.write(topic, kind, ns + 2_000_000, self.type(kind)(self.header(ns, frame), pose))

    def wrench(self, topic: str, ns: int, f: Any, t: Any, frame: str = "") -> None:
        kind = "geometry_msgs/msg/WrenchStamped"
        wrench = self.type("geometry_msgs/msg/Wrench")(self.vector(f), self.vector(t))
        self.write(topic, kind, ns + 1_000_000, self.type(kind)(self.header(ns, frame), wrench))

    def joints(self, topic: str, ns: int, names: list[str], *values: Any) -> None:
        """Joint states: positions, velocities and efforts, each by `names` or empty."""
        kind = "sensor_msgs/msg/JointState"
        arrays = (np.asarray(each, dtype=float) for each in values)
        self.write(topic, kind, ns, self.type(kind)(self.header(ns), names, *arrays))

    def transform(self, topic: str, ns: int, parent: str, child: str, p: Any, q: Any) -> None:
        each = self.type("geometry_msgs/msg/TransformStamped")(
            self.header(ns, parent),
            child,
            self.type("geometry_msgs/msg/Transform")(self.vector(p), self.quaternion(q)),
        )
        kind = "tf2_msgs/msg/TFMessage"
        self.write(topic, kind, ns, self.type(kind)([each]))


def write_bag(
    path: Path, kind: str, columns: Mapping[str, np.ndarray], compression: str = ""
) -> Path:
    """A bag with `/pose` and `/ft/wrench` of t [ns], p, q, f, tau; of ROS 1, or ROS 2 in a kind.

    Compressed in a way, of ROS 1, or by zstd, "message", "file" or (MCAP) "storage".
    """
    with Bag(path, kind, compression) as bag:
        for ns, p, q, f, tau in zip(
            *(columns[k] for k in ("t", "p", "q", "f", "tau")), strict=True
        ):
            bag.pose("/pose", int(ns), p, q)
            bag.wrench("/ft/wrench", int(ns), f, tau)
    return path


def write_hdf5(path: Path, columns: Mapping[str, np.ndarray]) -> Path:
    """Groups `arm` (t, pose) and `ft` (a compound data set)."""
    with h5py.File(path, "w") as file:
        file["arm/t"] = columns["t"]
        file["arm/pose"] = np.concatenate((columns["p"], columns["q"]), axis=1)
        kind = np.dtype([("force", float, 3), ("torque", float, 3)])
        wrench = np.zeros(len(columns["t"]), kind)
        wrench["force"], wrench["torque"] = columns["f"], columns["tau"]
        file["ft/wrench"] = wrench
        file["ft/t"] = columns["t"]
        file["notes"] = "a text"
    return path


_ULOG_TYPES = {"uint64_t": "Q", "float": "f", "double": "d"}


def write_ulog(path: Path, topics: Mapping[str, Mapping[str, tuple[str, np.ndarray]]]) -> Path:
    """A ULog of topics with fields of a type, (n,) or (n, k); every topic has `timestamp` [µs]."""
    head = b"ULog\x01\x12\x35\x01" + struct.pack("<Q", 0)

    def record(mark: str, body: bytes) -> bytes:
        return struct.pack("<HB", len(body), ord(mark)) + body

    parts = [head, record("B", bytes(40))]
    for name, fields in topics.items():
        said = []
        for field, (kind, values) in fields.items():
            width = f"[{values.shape[1]}]" if values.ndim == 2 else ""
            said.append(f"{kind}{width} {field};")
        parts.append(record("F", f"{name}:{''.join(said)}".encode()))
    for number, name in enumerate(topics):
        parts.append(record("A", struct.pack("<BH", 0, number) + name.encode()))
    for number, fields in enumerate(topics.values()):
        for row in range(len(fields["timestamp"][1])):
            body = struct.pack("<H", number)
            for kind, values in fields.values():
                row_values = np.atleast_1d(values[row]).tolist()
                body += struct.pack(f"<{len(row_values)}{_ULOG_TYPES[kind]}", *row_values)
            parts.append(record("D", body))
    path.write_bytes(b"".join(parts))
    return path
