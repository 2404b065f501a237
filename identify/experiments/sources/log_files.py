"""The files that a log is read from, as its schema says, with their digests."""

from __future__ import annotations

from pathlib import Path

from identify.files import digest
from identify.logs import Schema
from identify.logs.parts import SourceFile
from identify.logs.sources import plan_sources


def is_of_files(schema: Schema) -> bool:
    """Whether a log is a folder: the schema names the file of every group of signals."""
    streams = [schema.stream(group) for group in schema.groups]
    return all(stream is not None and stream.file is not None for stream in streams)


def source_files(log: Path, schema: Schema) -> list[SourceFile]:
    """All files of a log with their sha256, in the order in which they are read.

    Raises:
        MissingFile: the log or one of its files does not exist.
        LogError: the log is a folder and the schema does not say which file has what, or a file
            cannot be read.
    """
    paths = dict.fromkeys(source.path for source in plan_sources(log, schema))
    return [SourceFile(path, digest(path)) for path in paths]
