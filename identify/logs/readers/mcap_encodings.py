"""MCAP bags with topics not encoded in CDR, opened by rosbags, which rejects them.

Classes of rosbags are extended here that it does not document: `pyproject.toml` keeps it below
0.12. The package `mcap` would open such files by documented ways. It needs zstandard (5.5 MB),
takes 14 µs a message where rosbags takes 3 (to decode it takes 9), and files without an index would
have to be searched for their topics here.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from rosbags.rosbag2 import Reader
from rosbags.rosbag2.reader import DirectoryReader
from rosbags.rosbag2.storage_mcap import McapReader, Schema

if TYPE_CHECKING:
    from rosbags.interfaces.typing import RPath


class _KnownTypeDefinitions(dict[int, Schema]):
    """Type definitions by number; definitions in a language unknown to rosbags become empty."""

    def __setitem__(self, key: int, value: Schema) -> None:
        known = value.encoding in ("ros2msg", "ros2idl", "omgidl")
        super().__setitem__(key, value if known else value._replace(encoding="", data=""))


class _TolerantMcapReader(McapReader):
    def __init__(self, path: RPath) -> None:
        super().__init__(path)
        self.schemas = _KnownTypeDefinitions()


class _TolerantFolderReader(DirectoryReader):
    STORAGE_PLUGINS = MappingProxyType(
        {**DirectoryReader.STORAGE_PLUGINS, "mcap": _TolerantMcapReader}
    )


def allow_any_encoding(bag: Reader) -> Reader:
    """Let a ROS 2 bag open although some topics have encodings that rosbags rejects."""
    kinds = {McapReader: _TolerantMcapReader, DirectoryReader: _TolerantFolderReader}
    bag.storage = kinds.get(type(bag.storage), type(bag.storage))(bag.path)
    return bag
