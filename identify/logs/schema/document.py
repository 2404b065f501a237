"""The schema of a log as a whole, and how it is loaded."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import ValidationError, model_validator

from identify.errors import SchemaError
from identify.files import read_bytes
from identify.logs.schema.fields import Column, Section
from identify.logs.schema.layout import LogTable, Stream, Streams
from identify.logs.schema.problems import explain
from identify.logs.schema.rules import check_clocks, check_motion, check_streams
from identify.logs.schema.signals import (
    AccelerationTable,
    PoseTable,
    TwistTable,
    World,
    WrenchTable,
)

Group: TypeAlias = Literal["pose", "twist", "acceleration", "wrench"]
GROUPS: tuple[Group, ...] = ("pose", "twist", "acceleration", "wrench")


class Schema(Section):
    """A whole schema; make one with `load_schema`, whose errors name the file and the key."""

    log: LogTable = LogTable()
    streams: Streams = Streams()
    world: World = World()
    pose: PoseTable | None = None
    twist: TwistTable | None = None
    acceleration: AccelerationTable | None = None
    wrench: WrenchTable

    @model_validator(mode="after")
    def _tables_agree(self) -> Schema:
        check_streams(self)
        check_clocks(self)
        check_motion(self)
        return self

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of signals the log has."""
        return tuple(name for name in GROUPS if getattr(self, name) is not None)

    def stream(self, group: Group) -> Stream | None:
        """The stream of a group of signals, where it has one of its own."""
        return getattr(self.streams, group)

    def layout(self, group: Group) -> LogTable:
        """The clock and the layout of the file that holds a group of signals."""
        stream = self.stream(group)
        return self.log if stream is None else stream.over(self.log)

    def columns(self, group: Group) -> tuple[Column, ...]:
        """The columns of a group of signals."""
        return getattr(self, group).columns


SchemaLike: TypeAlias = Schema | Mapping[str, object] | str | PathLike[str]


def load_schema(source: SchemaLike) -> Schema:
    """The schema in a TOML file, or in a mapping of the same keys; a `Schema` is passed through.

    Raises:
        MissingFile: there is no such file.
        SchemaError: it is not TOML, or not a schema: an unknown key, a wrong value, a
            contradiction.
    """
    if isinstance(source, Schema):
        return source
    if isinstance(source, Mapping):
        return _validated(dict(source), "schema")
    path = Path(source)
    text = read_bytes(path)
    try:
        content = tomllib.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SchemaError(f"{path}: not a TOML file: {error}; save it as UTF-8") from error
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        raise SchemaError(f"{path}: not a TOML file: {error}") from error
    return _validated(content, str(path))


def _validated(content: dict[str, object], where: str) -> Schema:
    try:
        return Schema.model_validate(content)
    except ValidationError as error:
        raise explain(error, where, Schema) from error
