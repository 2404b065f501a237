"""The error tree.

Every error the toolkit raises on purpose is an `IdentifyError`. Its message says what is wrong,
where, what was got and expected, and what to do; the values stay as attributes. `exit_code` is what
the command line returns for it: 2 for bad use or bad input, 3 when the problem cannot be solved.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class IdentifyError(Exception):
    """Base of every error raised on purpose."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)

    def __str__(self) -> str:
        """The plain message (KeyError would otherwise print its `repr`)."""
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled as it is: a class may be made from other arguments than its message."""
        return _restore, (type(self), self.args, self.__dict__)


class LogError(IdentifyError, ValueError):
    """A log cannot be read as its schema says.

    Attributes:
        path: the file, where one is known.
        column: the column, where one is known.
        row: one-based line of a text file, or zero-based row of a binary one, where known.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | None = None,
        column: str | int | None = None,
        row: int | None = None,
    ) -> None:
        self.path, self.column, self.row = path, column, row
        super().__init__(message)


class MissingColumn(LogError, KeyError):
    """The schema names a column that the log does not have."""

    def __init__(
        self,
        path: Path,
        column: str | int,
        known: Iterable[str],
        *,
        message: str = "",
        row: int | None = None,
    ) -> None:
        self.known = tuple(known)
        hint = did_you_mean(str(column), self.known)
        message = message or f"{path}: no column {column!r} among {list(self.known)}{hint}"
        super().__init__(message, path=path, column=column, row=row)


class MissingFile(LogError, FileNotFoundError):
    """A file that was named does not exist or is not a file."""


class SchemaError(IdentifyError, ValueError):
    """A schema, or another file a person writes, does not say what it must."""


class ModelError(IdentifyError, ValueError):
    """An inertia, a pose or a model file is not one."""


class StudyError(IdentifyError, ValueError):
    """A study cannot run as it is written."""


class DatasetError(IdentifyError, ValueError):
    """A public data set is missing, is not what its registry says, or cannot be downloaded.

    Attributes:
        files: paths of what is missing or damaged, where that is some of its files.
    """

    def __init__(self, message: str, files: Iterable[Path] = ()) -> None:
        self.files = tuple(files)
        super().__init__(message)


class MissingExtra(IdentifyError, ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str, package: str) -> None:
        self.feature, self.extra, self.package = feature, extra, package
        super().__init__(
            f"{feature} needs {package}, which is not installed; "
            f"install it with: pip install 'inertia-identify[{extra}]'"
        )


class ProblemError(IdentifyError, ValueError):
    """The data cannot answer the question: under-excited, or the constraints contradict it."""

    exit_code = 3


class SolveError(IdentifyError, RuntimeError):
    """A solver failed, or its answer did not pass its certificate."""

    exit_code = 3


class SimulationError(IdentifyError, ArithmeticError):
    """A simulation cannot start or diverged."""

    exit_code = 3


def _restore(
    kind: type[IdentifyError], args: tuple[object, ...], state: dict[str, object]
) -> IdentifyError:
    builtin: Any = kind
    while builtin.__module__ != "builtins":  # whose layout it has: OSError's, where it is one
        builtin = builtin.__base__
    error = builtin.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The nearest known word as a hint to end a message with, or nothing."""
    words = list(known)
    near = [other for other in words if other.lower() == word.lower() and other != word]
    if not near and len(word) > 2:  # of two letters, every other word is near
        near = difflib.get_close_matches(word, words, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
