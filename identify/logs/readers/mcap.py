"""Bags with channels of MCAP in any encoding, of which rosbags reads those in CDR alone."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from rosbags.rosbag2 import Reader
from rosbags.rosbag2.reader import DirectoryReader
from rosbags.rosbag2.storage_mcap import McapReader, Schema

_ENCODINGS = ("ros2msg", "ros2idl", "omgidl")


class _Schemas(dict[int, Schema]):
    """Definitions of types by number; those in a language unknown to rosbags become empty."""

    def __setitem__(self, key: int, value: Schema) -> None:
        known = value.encoding in _ENCODINGS
        super().__setitem__(key, value if known else value._replace(encoding="", data=""))


class _Mcap(McapReader):
    def __init__(self, path: Any) -> None:
        super().__init__(path)
        self.schemas = _Schemas()


class _Folder(DirectoryReader):
    STORAGE_PLUGINS = MappingProxyType({**DirectoryReader.STORAGE_PLUGINS, "mcap": _Mcap})


def accept_any_encoding(bag: Reader) -> None:
    """Let a bag of ROS 2 open, whatever its topics are encoded in."""
    if isinstance(bag.storage, McapReader):
        bag.storage = _Mcap(bag.storage.path)
    elif isinstance(bag.storage, DirectoryReader):
        bag.storage = _Folder(bag.storage.path)
