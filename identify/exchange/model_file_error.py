"""`ModelFileError`: what is wrong in a model file, and on which line."""

from __future__ import annotations

from pathlib import Path

from identify.errors import ModelError


class ModelFileError(ModelError):
    """A robot model's file cannot be read or written as it should.

    Attributes:
        path: the file.
        line: one-based, where one is known.
    """

    def __init__(self, what: str, *, path: Path, line: int | None = None) -> None:
        self.path, self.line = path, line
        where = f"{path}" if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {what}")
