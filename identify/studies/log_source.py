"""`LogSource`: base class of the sources of a study's logs, and the files of a log."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from identify.errors import LogError, SchemaError, StudyError
from identify.files import digest
from identify.logs import Schema
from identify.logs.log_sources import plan_sources
from identify.logs.readers import log_files
from identify.logs.recording_parts import SourceFile
from identify.studies.options import Options
from identify.studies.study import LogItem

ValueT = TypeVar("ValueT")


class LogSource(Options):
    """Base class of the sources of a study's logs."""

    @abstractmethod
    def logs(self, folder: Path, seed: int) -> Sequence[LogItem]:
        """Return the logs in a fixed order; log files are hashed, but not read.

        Args:
            folder: of the study file, the base of relative paths.
            seed: of the study, for synthetic logs.

        Raises:
            StudyError: the source has no log.
            DatasetError: a data set is missing.
        """


def is_folder_log(schema: Schema) -> bool:
    """Return whether a log is a folder with a file for each group of signals."""
    streams = [schema.stream(group) for group in schema.groups]
    return all(stream is not None and stream.file is not None for stream in streams)


def source_files(log: Path, schema: Schema) -> list[SourceFile]:
    """Return all files of a log with their sha256, in the order in which they are read.

    Raises:
        MissingFile: the log or one of its files does not exist.
        LogError: the log is a folder and the schema does not assign its files, or a file cannot be
            read.
    """
    parts = (part for source in plan_sources(log, schema) for part in log_files(source.path))
    paths = dict.fromkeys(parts)
    return [SourceFile(path, digest(path)) for path in paths]


def wrap_errors(read: Callable[[], ValueT]) -> ValueT:
    """Call a function, and raise errors of logs and schemas as a `StudyError`."""
    try:
        return read()
    except (LogError, SchemaError) as error:
        raise StudyError(str(error)) from error


def require_existing(path: Path, key: str) -> Path:
    """Return the path of a file that a key names; raise `StudyError` if it does not exist."""
    if not path.is_file():
        raise StudyError(f"{key}: the file {path} does not exist")
    return path
