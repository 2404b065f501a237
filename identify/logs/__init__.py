"""Logs: a file and the schema that says what its columns mean become a `Recording` in SI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.logs.read import read_log as read_log
    from identify.logs.recording import DroppedRows as DroppedRows
    from identify.logs.recording import Recording as Recording
    from identify.logs.recording import SourceFile as SourceFile
    from identify.logs.schema import Schema as Schema
    from identify.logs.schema import load_schema as load_schema
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "read": ("read_log",),
            "recording": ("DroppedRows", "Recording", "SourceFile"),
            "schema": ("Schema", "load_schema"),
        },
    )
