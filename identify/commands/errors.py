"""Errors of the command line itself."""

from __future__ import annotations

from pathlib import Path

from identify.errors import IdentifyError


class UsageError(IdentifyError, ValueError):
    """The command was called with words it does not understand, or without some it needs."""


class OutputError(IdentifyError, OSError):
    """A result cannot be written where it was asked for.

    Attributes:
        path: where.
    """

    def __init__(self, path: Path, message: str) -> None:
        self.path = path
        super().__init__(f"{path}: {message}")
