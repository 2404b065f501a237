"""Exception classes of the toolkit.

Every error the toolkit raises on purpose is an `IdentifyError`. Its message names the problem and
its location, the value found and expected, and a remedy; the values are attributes. `exit_code` is
the status of the command line: 2 for wrong use or input, 3 if the problem cannot be solved.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class IdentifyError(Exception):
    """Base of all errors that the toolkit raises on purpose."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)

    def __str__(self) -> str:
        """Return the plain message (KeyError would otherwise print its `repr`)."""
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the state: subclasses have other constructor arguments than the message."""
        return _restore, (type(self), self.args, self.__dict__)


class LogError(IdentifyError, ValueError):
    """A log cannot be read according to its schema.

    Attributes:
        path: the file, if known.
        column: the column, if known.
        row: one-based line of a text file, or zero-based row of a binary one, if known.
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
    """A file given by the user does not exist or is not a file."""


class SchemaError(IdentifyError, ValueError):
    """A schema or another TOML file is invalid."""


class ModelError(IdentifyError, ValueError):
    """An inertia, a pose or a model file is invalid."""


class StudyError(IdentifyError, ValueError):
    """The definition of a study is invalid."""


class DatasetError(IdentifyError, ValueError):
    """A public data set is missing, differs from the registry, or cannot be downloaded.

    Attributes:
        files: paths of missing or damaged files.
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
    """A fit has no unique solution: data determine too little, or constraints contradict them."""

    exit_code = 3


class SolveError(IdentifyError, RuntimeError):
    """A solver failed, or its solution did not pass the certificate."""

    exit_code = 3


class SimulationError(IdentifyError, ArithmeticError):
    """A simulation cannot start or diverged."""

    exit_code = 3


def _restore(
    kind: type[IdentifyError], args: tuple[object, ...], state: dict[str, object]
) -> IdentifyError:
    builtin: Any = kind
    while (
        builtin.__module__ != "builtins"
    ):  # the built-in base that determines the memory layout, such as OSError
        builtin = builtin.__base__
    error = builtin.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint such as "; did you mean 'mass'?", or an empty string if no word is near."""
    words = list(known)
    near = [other for other in words if other.lower() == word.lower() and other != word]
    if not near and len(word) > 2:  # every word of two letters is near another
        near = difflib.get_close_matches(word, words, n=1)
    if not near and len(word) > 1:
        near = [other for other in words if other.lower().startswith(word.lower())]
    return f"; did you mean {near[0]!r}?" if near else ""
