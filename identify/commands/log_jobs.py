"""Logs of `identify fit --each`, given by paths, folders or patterns; their names and keys."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path

from identify.commands.command import UsageError
from identify.errors import IdentifyError
from identify.files import require_file
from identify.logs import Schema
from identify.logs.readers import READERS, TEXT_SUFFIXES, is_log_folder, plugins
from identify.studies.keys import result_key
from identify.studies.log_source import is_folder_log, source_files
from identify.texts import plain_name

RESERVED_NAMES = ("table.parquet", "table.csv", "comparison.html")
"""File names in the output folder that cannot be names of a log's folder."""

_LOG_SUFFIXES = (*TEXT_SUFFIXES, *READERS)
"""Suffixes of the files in a folder that are taken for logs."""

_MAX_FOLDER_NAME_LENGTH = 200
"""Maximum number of characters in the name of a log's folder."""


@dataclass(frozen=True, slots=True)
class LogJob:
    """Log that is fitted separately.

    Attributes:
        key: cache key of data, name and settings.
        name: name of its folder, and in tables.
        path: path of the log.
        files: the files that it is read from, with their sha256; empty if they are unknown.
    """

    key: str
    name: str
    path: Path
    files: tuple[tuple[str, str], ...]


def find_logs(
    patterns: Sequence[Path], schema: Schema, schema_path: Path, output: Path, settings_key: str
) -> tuple[list[LogJob], dict[str, str]]:
    """Return the logs given by paths, folders or patterns, sorted by path, each once.

    `patterns`: paths; patterns with `*`, `?`, `[` or `**`; folders of logs (if the schema names the
    files of a log, a folder is a log).
    Raises `UsageError`: a path or pattern matches no log.
    """
    folder_is_log = is_folder_log(schema)
    named: dict[Path, Path] = {}
    for word in patterns:
        for path in matching_logs(word, folder_is_log=folder_is_log):
            target = Path(os.path.realpath(path))  # accepts a link to itself, unlike resolve()
            if target != schema_path.resolve() and output.resolve() not in (
                target,
                *target.parents,
            ):
                named.setdefault(target, path)
    if not named:
        raise UsageError(f"fit --each: {', '.join(map(str, patterns))}: no logs found")
    paths = sorted(named.values())
    jobs: list[LogJob] = []
    duplicates: dict[str, str] = {}
    seen: dict[tuple[str, ...], str] = {}
    for path, name in zip(paths, log_names(paths), strict=True):
        files = _digests(path, schema)
        content = tuple(sha256 for _, sha256 in files)
        key = result_key(name, list(content) or str(path.absolute()), settings_key)
        job = LogJob(key, name, path, files)
        jobs.append(job)
        if content and content in seen:
            duplicates[name] = seen[content]
        seen.setdefault(content, name)
    return jobs, duplicates


def log_names(paths: Sequence[Path]) -> list[str]:
    """Return a unique name for each log: its relative path, if possible without suffix.

    Raises `UsageError`: two logs have the same name.
    """
    top = Path(commonpath([path.absolute().parent for path in paths]))
    full = ["-".join(path.absolute().relative_to(top).parts) for path in paths]
    short = [
        name.removesuffix(
            "".join(path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:])
        )
        for name, path in zip(full, paths, strict=True)
    ]
    names = [plain_name(name, _MAX_FOLDER_NAME_LENGTH).lstrip(".") or "log" for name in short]
    counts = Counter(name.casefold() for name in (*names, *RESERVED_NAMES))
    names = [
        name
        if counts[name.casefold()] == 1
        else plain_name(whole, _MAX_FOLDER_NAME_LENGTH).lstrip(".")
        for name, whole in zip(names, full, strict=True)
    ]
    counts = Counter(name.casefold() for name in (*names, *RESERVED_NAMES))
    for path, name in zip(paths, names, strict=True):
        if counts[name.casefold()] > 1:
            raise UsageError(
                f"fit --each: {path}: another log has the same output folder OUT/{name}; rename "
                "one of them"
            )
    return names


def matching_logs(word: Path, *, folder_is_log: bool) -> Iterator[Path]:
    """Yield the logs that a path, a folder or a pattern matches.

    Raises `UsageError`: the pattern or the folder matches no log; `MissingFile`: no such file.
    """
    if word.is_dir() and not folder_is_log and not is_log_folder(word):
        matches = [path for path in sorted(word.iterdir()) if _is_log_file(path)]
        if not matches:
            raise UsageError(
                f"fit --each: {word}: no logs in this folder ({', '.join(_LOG_SUFFIXES)}); name "
                f"the files with a pattern, as '{word}/*.out'"
            )
        yield from matches
    elif word.exists() or not glob.has_magic(str(word)):
        if not word.is_dir():
            require_file(word)
        yield word
    else:
        matches = map(Path, sorted(glob.glob(str(word), recursive=True)))
        matches = [path for path in matches if path.is_dir() == folder_is_log]
        if not matches:
            kind = "folder (the schema names the files of a log)" if folder_is_log else "file"
            raise UsageError(f"fit --each: {word}: no {kind} matches the pattern")
        yield from matches


def _is_log_file(path: Path) -> bool:
    suffix = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    return (
        path.is_file()
        and not path.name.startswith(".")
        and (suffix.lower() in _LOG_SUFFIXES or suffix.lower().removeprefix(".") in plugins())
    )


def _digests(log: Path, schema: Schema) -> tuple[tuple[str, str], ...]:
    """Return the files of a log with their sha256; empty for an invalid log."""
    try:
        files = source_files(log, schema)
        return tuple((str(file.path.absolute()), file.sha256) for file in files)
    except (IdentifyError, OSError):
        return ()
