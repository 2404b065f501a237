"""Logs: a file and the schema that says what its columns mean become a `Recording` in SI."""

from identify.logs.read import read_log
from identify.logs.recording import DroppedRows, Recording, SourceFile
from identify.logs.schema import Schema, load_schema

__all__ = ["DroppedRows", "Recording", "Schema", "SourceFile", "load_schema", "read_log"]
