"""Bags of ROS 1 and ROS 2 (`.bag`, a folder, `.mcap`, `.db3`), read without ROS.

A topic is a table: a row a message, its columns the numbers in it by the names of the fields, as
`wrench.force.x` or `covariance[0]`; of joint states `position[0]`, too, by the joint's name,
wherever a message has it; messages of other joints are no rows. Two columns are times:
`receive_time`, and the stamp of the header, `header.stamp`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from identify.arrays import Array
from identify.errors import LogError, MissingColumn, MissingExtra
from identify.files import wrap_decode_errors
from identify.logs.readers import RECEIVED, STAMP, is_bag
from identify.logs.readers.array_columns import ColumnRef, load_table, requested_topic
from identify.logs.readers.transforms import TF_TYPES, TRANSFORM_COLUMNS, read_transform
from identify.logs.table import ColumnSource, Table, TableInfo

if TYPE_CHECKING:
    from rosbags.interfaces import Connection
    from rosbags.interfaces.typing import Typesdict
    from rosbags.rosbag1 import Reader as Reader1
    from rosbags.rosbag2 import Reader as Reader2

    Bag: TypeAlias = Reader1 | Reader2

_MAX_ENTRIES = 256
"""Maximum number of array or list entries that become columns."""

_MAX_PADDING = 16
"""Maximum number of zero bytes with which writers pad a message."""

_IDL_SEPARATOR = "=" * 80 + "\n"
"""Separator between the definitions of a message type and its parts."""

_INSPECTED_MESSAGES = 2000
"""Number of transform messages from which frames are listed."""

_INSPECTED_STATES = 20
"""Number of joint-state messages inspected; the joints of the longest are listed."""

ReceivedMessages: TypeAlias = Iterator[tuple[int, Any]]
"""Messages of a bag in order, each with its receive time [ns]."""

Getter: TypeAlias = Callable[[Any], Any]
"""Function that returns the value of a field of a message."""


class _Time(Protocol):
    """A ROS time stamp."""

    sec: int
    nanosec: int


def read_bag(source: ColumnSource) -> Table:
    """Read the requested fields of one topic, message by message."""
    with open_bag(source.path) as bag:
        topics = _message_types(bag)
        wanted = source.layout.topic
        frames = None if wanted is None else _frames_of_topic(wanted)
        if frames is not None:
            arrays = _transform_columns(source, bag, topics, *frames)
        else:
            topic = requested_topic(source, topics)
            if topics[topic] in TF_TYPES:
                raise LogError(
                    f"{source.path}: {topic} holds transforms between frames: give topic = "
                    '"PARENT -> CHILD" with the names of two frames, such as "base -> tool0"',
                    path=source.path,
                )
            arrays = _columns(source, f"{topic} ({topics[topic]})", iterate_messages(bag, [topic]))
    slots = [ColumnRef(name, name, len(array), array.dtype) for name, array in arrays.items()]
    return load_table(source, slots, lambda name: arrays[name])


def list_contents(path: Path) -> tuple[TableInfo, ...]:
    """List the topics of a bag; for transforms, the chain from the root to each frame."""
    tables: list[TableInfo] = []
    refused: list[LogError] = []
    up: dict[str, str] = {}
    with open_bag(path) as bag:
        for name, kind in _message_types(bag).items():
            try:
                messages = iterate_messages(bag, [name])
                if kind in TF_TYPES:
                    edges = _transform_edges(islice(messages, _INSPECTED_MESSAGES))
                    up |= {child: parent for _, parent, child, _ in edges}
                    continue
                _, first = next(messages)
                if hasattr(first, "name"):  # joints of an arm and those of its gripper take turns
                    states = (message for _, message in islice(messages, _INSPECTED_STATES))
                    first = max((first, *states), key=lambda message: len(message.name))
                names = field_getters(first)
                stamp = names.get(STAMP, lambda message: 1)
                later = (message for _, message in islice(messages, _INSPECTED_STATES))
                if not any(stamp(message) for message in chain((first,), later)):
                    del names[STAMP]  # it was not set; a simulation may start at zero
            except LogError as error:  # it may not be needed
                refused.append(error)
                continue
            frame = str(getattr(getattr(first, "header", None), "frame_id", "")).strip("/")
            tables.append(TableInfo((RECEIVED, *names), name, kind, frame=frame))
    for child in up:
        root = child
        while root in up and up[root] != child:
            root = up[root]
        columns = (STAMP, *TRANSFORM_COLUMNS)
        tables.append(TableInfo(columns, f"{root} -> {child}", TF_TYPES[0], frame=child))
    if refused and not tables:
        raise refused[0]
    return tuple(tables)


def _message_types(bag: Bag) -> dict[str, str]:
    """Return the message types of the topics that have messages."""
    return {name: of.msgtype or "several types" for name, of in bag.topics.items() if of.msgcount}


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """Open a bag; errors of the library for damaged bags become `LogError`.

    Raises `MissingExtra`: rosbags is not installed; `LogError`: it is no bag, or a damaged one.
    """
    try:
        from rosbags.rosbag1 import Reader as Reader1
        from rosbags.rosbag2 import Reader as Reader2

        from identify.logs.readers.mcap_encodings import allow_any_encoding
    except ImportError as error:
        raise MissingExtra("a ROS bag", "bags", "rosbags") from error
    with wrap_decode_errors(path, "ROS bag"):
        ros1 = path.suffix == ".bag" and not path.is_dir()
        with Reader1(path) if ros1 else allow_any_encoding(Reader2(bag_storage(path))) as bag:
            yield bag


def bag_storage(path: Path) -> Path:
    """Return the path to open: a bag, or its only file if topics are not encoded in CDR."""
    if not is_bag(path):
        return path
    from ruamel.yaml import YAML

    metadata = YAML(typ="safe").load(path / "metadata.yaml")["rosbag2_bagfile_information"]
    topics = (each["topic_metadata"] for each in metadata["topics_with_message_count"])
    other = any(topic["serialization_format"] != "cdr" for topic in topics)
    plain = str(metadata.get("compression_mode", "")).lower() in ("", "none")
    files = [path / PurePath(name).name for name in metadata["relative_file_paths"]]
    return files[0] if other and plain and len(files) == 1 else path


def iterate_messages(bag: Bag, topics: Sequence[str]) -> ReceivedMessages:
    """Yield the messages of some topics of an open bag.

    Raises `LogError`: a message cannot be read by the definition of its type.
    """
    connections = [of for of in bag.connections if of.topic in topics]
    places = {of.id: Path(f"{bag.path}: {of.topic} ({of.msgtype})") for of in connections}
    decoders: dict[int, Callable[[bytes], object]] = {}
    for connection, received, raw in bag.messages(connections=connections):
        with wrap_decode_errors(places[connection.id], "message of its type"):
            if connection.id not in decoders:
                decoders[connection.id] = _decoder(connection)
            message = decoders[connection.id](raw)
        yield received, message


def _decoder(connection: Connection) -> Callable[[bytes], object]:
    """Return the message decoder of a connection; padding zeros are removed."""
    from rosbags.rosbag1 import Reader as Reader1
    from rosbags.serde import SerdeError
    from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

    name, definition = connection.msgtype, connection.msgdef
    encoding = getattr(connection.ext, "serialization_format", "cdr")
    if encoding not in ("cdr", ""):
        raise LookupError(f"its messages are encoded as {encoding}, and only cdr is read")
    # Bags of ROS 2 before 2023 do not say what their messages are.
    store = get_typestore(Stores.EMPTY if definition.data else Stores.ROS2_HUMBLE)
    if definition.format.name == "MSG":
        store.register(get_types_from_msg(definition.data, name))
    elif definition.data:
        types: Typesdict = {}
        for part in filter(None, definition.data.split(_IDL_SEPARATOR)):
            types |= get_types_from_idl(re.sub(r"\AIDL: .*\n", "", part))
        store.register(types)
    if name not in store.types:
        raise LookupError(f"the bag has no definition of the type {name}, which is not a ROS type")
    ros1 = isinstance(connection.owner, Reader1)
    read = store.deserialize_ros1 if ros1 else store.deserialize_cdr

    def decode(raw: bytes) -> object:
        padding = 0
        while True:
            try:
                return read(raw[: len(raw) - padding], name)
            except SerdeError:
                padding += 1
                if padding > min(_MAX_PADDING, len(raw)) or raw[-padding]:
                    raise

    return decode


def _columns(
    source: ColumnSource, topic: str, messages: ReceivedMessages
) -> dict[str, NDArray[Any]]:
    """Return the requested columns of a topic's messages; other columns are zero.

    `topic` is the topic's name in error messages, with its type.
    """
    path, time = source.path, source.layout.time
    asked = [str(column) for column in source.columns]
    received, first = next(messages)
    known = of_first = field_getters(first)
    while hasattr(first, "name") and not of_first.keys() >= set(asked):  # of other joints
        entry = next(messages, None)
        if entry is None:
            break
        received, first = entry
        of_first = field_getters(first)
        known = known | of_first
    names = (RECEIVED, *known)
    if missing := [name for name in asked if name not in of_first]:
        raise MissingColumn(Path(f"{path}: {topic}"), missing[0], names)
    getters = [of_first[name] for name in asked]
    stamp = known.get(str(time)) if time not in (None, RECEIVED) else None
    times, rows = [received], [[get(first) for get in getters]]
    stamps = [] if stamp is None else [stamp(first)]
    for number, (received, message) in enumerate(messages, start=1):
        try:
            rows.append([get(message) for get in getters])
            if stamp is not None:
                stamps.append(stamp(message))
        except _JointMissing:
            continue
        except (LookupError, AttributeError, TypeError) as error:
            raise LogError(
                f"{path}: {topic}, message {number}: has not all of {', '.join(asked)}, which the "
                "first one has",
                path=path,
                row=number,
            ) from error
        times.append(received)
    if time == STAMP and not any(stamps):
        why = "its messages have no header" if stamp is None else "its stamps are all zero"
        raise LogError(
            f'{path}: {topic}: {why}; set time = "{RECEIVED}" in [log], for all topics, which is '
            "when each message was written into the bag",
            path=path,
            column=STAMP,
        )
    values: Array = np.array(rows, dtype=np.float64)
    empty = np.zeros(len(times))
    arrays: dict[str, NDArray[Any]] = {RECEIVED: np.array(times, dtype="timedelta64[ns]")}
    arrays |= dict.fromkeys(known, empty)
    arrays |= {name: values[:, k] for k, name in enumerate(asked)}
    if stamp is not None:
        kind = "timedelta64[ns]" if isinstance(stamps[0], int) else "float64"
        arrays[str(time)] = np.array(stamps, dtype=kind)
    return arrays


def field_getters(message: object) -> dict[str, Getter]:
    """Return, by name, functions that get each numeric field of a message."""
    getters: dict[str, Getter] = {}
    _flatten("", message, lambda whole: whole, getters)
    return getters


def _flatten(prefix: str, value: object, get: Getter, getters: dict[str, Getter]) -> None:
    if isinstance(value, bool | int | float | np.number):
        getters[prefix] = get
    elif isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
        for k in range(min(value.size, _MAX_ENTRIES)):
            getters[f"{prefix}[{k}]"] = lambda whole, k=k: get(whole)[k]
    elif isinstance(value, list | tuple):
        for k, entry in enumerate(value[:_MAX_ENTRIES]):
            _flatten(f"{prefix}[{k}]", entry, lambda whole, k=k: get(whole)[k], getters)
    elif is_dataclass(value):
        if hasattr(value, "sec") and hasattr(value, "nanosec"):
            getters[prefix] = lambda whole: _nanoseconds(get(whole))
            return
        joints = getattr(value, "name", None)
        for field in fields(value):
            of = attrgetter(field.name)
            field_value = getattr(value, field.name)
            name = f"{prefix}.{field.name}" if prefix else field.name
            _flatten(name, field_value, lambda whole, of=of: of(get(whole)), getters)
            if (
                isinstance(joints, list)
                and isinstance(field_value, np.ndarray)
                and len(field_value) == len(joints)
            ):
                for k, joint in enumerate(joints):
                    getters[f"{name}[{joint}]"] = _joint_getter(get, of, joint, k)


class _JointMissing(LookupError):
    """A joint-state message lacks a joint, which another publisher of the topic has."""


def _joint_getter(get_message: Getter, get_values: Getter, joint: str, usual_index: int) -> Getter:
    """Return a function that gets a joint's value from a message, by the joint's name."""

    def value(whole: object) -> object:
        message = get_message(whole)
        names = message.name
        if names[usual_index : usual_index + 1] == [joint]:
            return get_values(message)[usual_index]
        if joint not in names:
            raise _JointMissing(joint)
        return get_values(message)[names.index(joint)]

    return value


def _nanoseconds(stamp: _Time) -> int:
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def _frames_of_topic(topic: str) -> tuple[str, str] | None:
    """Return the names of two frames of a topic "PARENT -> CHILD"."""
    parent, arrow, child = topic.partition("->")
    return (parent.strip().strip("/"), child.strip().strip("/")) if arrow else None


def _transform_columns(
    source: ColumnSource, bag: Bag, topics: Mapping[str, str], parent: str, child: str
) -> dict[str, NDArray[Any]]:
    """Return the pose columns of one frame in another, from the transforms of a bag."""
    of_frames = [name for name, kind in topics.items() if kind in TF_TYPES]
    if not of_frames:
        raise LogError(
            f"{source.path}: holds no transforms between frames (/tf), so none from {parent!r} to "
            f"{child!r}; name the topic of a pose",
            path=source.path,
        )
    static = [name for name in of_frames if "static" in name]
    moving = [name for name in of_frames if name not in static]
    received = source.layout.time == RECEIVED
    poses = read_transform(
        source.path,
        (_transform_edges(iterate_messages(bag, static)) if static else iter(())),
        (
            _transform_edges(iterate_messages(bag, moving), received=received)
            if moving
            else iter(())
        ),
        parent,
        child,
    )
    columns = {name: poses.values[:, k] for k, name in enumerate(TRANSFORM_COLUMNS)}
    stamps = poses.stamps.astype("timedelta64[ns]")
    return {STAMP: stamps, RECEIVED: stamps, **columns}


def _transform_edges(
    messages: ReceivedMessages, *, received: bool = False
) -> Iterator[tuple[int, str, str, tuple[float, ...]]]:
    """Yield stamp [ns], parent, child, and translation with quaternion of each transform.

    The stamp is that of the header, or of receipt.
    """
    for at, message in messages:
        for each in message.transforms:
            t, q = each.transform.translation, each.transform.rotation
            yield (
                at if received else _nanoseconds(each.header.stamp),
                each.header.frame_id.strip("/"),
                each.child_frame_id.strip("/"),
                (t.x, t.y, t.z, q.x, q.y, q.z, q.w),
            )
