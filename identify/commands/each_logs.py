"""The logs of `identify fit --each`: words that name files, folders or patterns; names of logs."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING

from identify.commands.command import UsageError
from identify.errors import IdentifyError
from identify.files import require_file
from identify.logs.readers import READERS
from identify.studies.keys import key_of
from identify.studies.sources import is_of_files, source_files
from identify.texts import plain_name

if TYPE_CHECKING:
    from identify.logs import Schema

RESERVED = ("table.parquet", "table.csv", "comparison.html")
"""Names in the folder of the results that no log's folder has."""

_DATA = (".csv", ".tsv", ".txt", ".dat", ".log", *READERS)
"""Suffixes of the files that a folder is searched for; a pattern or a name says what it means."""

_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class LogJob:
    """A log to fit for itself.

    Attributes:
        key: the same for what gives the same estimate: data, name and all that was asked for.
        name: of its folder, and in tables.
        path: of the log.
        files: the files that it is read from, with their sha256; none where that is not known.
    """

    key: str
    name: str
    path: Path
    files: tuple[tuple[str, str], ...]


def find_logs(
    words: Sequence[Path], schema: Schema, schema_path: Path, output: Path, asked: str
) -> tuple[list[LogJob], dict[str, str]]:
    """The logs that words name, sorted by path, each once.

    Args:
        words: logs; patterns with `*`, `?`, `[` or `**`; folders of logs, unless the schema names
            the files of a log, which a folder then is.
        schema: of all of them.
        schema_path: its file, which no pattern means.
        output: folder of the results, in which no pattern looks.
        asked: the same where the same is asked of a log, by the same code.

    Returns:
        The logs, and names of those with the data of an earlier one, with that one's name.

    Raises:
        UsageError: a word names nothing.
    """
    whole = is_of_files(schema)
    named: dict[Path, Path] = {}
    for word in words:
        for path in _named(word, whole):
            place = Path(os.path.realpath(path))  # of a link to itself too, unlike resolve()
            if place != schema_path.resolve() and output.resolve() not in (place, *place.parents):
                named.setdefault(place, path)
    if not named:
        raise UsageError(f"fit --each: {', '.join(map(str, words))}: no logs in it")
    paths = sorted(named.values())
    jobs: list[LogJob] = []
    same: dict[str, str] = {}
    seen: dict[tuple[str, ...], str] = {}
    for path, name in zip(paths, names_of(paths), strict=True):
        files = _digests(path, schema)
        job = LogJob(_key(name, path, files, asked), name, path, files)
        jobs.append(job)
        content = tuple(sha256 for _, sha256 in files)
        if content and content in seen:
            same[name] = seen[content]
        seen.setdefault(content, name)
    return jobs, same


def names_of(paths: Sequence[Path]) -> list[str]:
    """A name for each log, that of its file without suffix, and more where that is not its own.

    Those that share it have their suffix, then the folders in which they differ, then a number.
    """
    top = Path(commonpath([path.absolute().parent for path in paths]))
    forms: tuple[Callable[[Path], str], ...] = (
        _stem,
        lambda path: path.name,
        lambda path: "-".join((*path.absolute().relative_to(top).parent.parts, _stem(path))),
        lambda path: "-".join(path.absolute().relative_to(top).parts),
    )
    found: list[str] = [""] * len(paths)
    open_: Iterable[int] = range(len(paths))
    for form in forms:
        for one in open_:
            found[one] = plain_name(form(paths[one]), _LONGEST_NAME).lstrip(".") or "log"
        counts = Counter(name.casefold() for name in (*found, *RESERVED))
        open_ = [one for one, name in enumerate(found) if counts[name.casefold()] > 1]
    taken = {name.casefold() for one, name in enumerate(found) if one not in set(open_)}
    taken |= set(RESERVED)
    for one in open_:
        number = 1
        while f"{found[one]}-{number}".casefold() in taken:
            number += 1
        found[one] = f"{found[one]}-{number}"
        taken.add(found[one].casefold())
    return found


def _stem(path: Path) -> str:
    """The name of a log, as its recording has it."""
    if path.is_dir():
        return path.name
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def _named(word: Path, whole: bool) -> Iterator[Path]:
    """The logs that a word names.

    Raises:
        UsageError: it is a pattern, or a folder, without any.
        MissingFile: there is no such file.
    """
    if word.is_dir() and not whole:
        found = [one for one in sorted(word.iterdir()) if _is_data(one)]
        if not found:
            raise UsageError(
                f"fit --each: {word}: a folder without logs ({', '.join(_DATA)}); name the files "
                f"with a pattern, as '{word}/*.out'"
            )
        yield from found
    elif word.exists() or not glob.has_magic(str(word)):
        if not word.is_dir():
            require_file(word)
        yield word
    else:
        matches = map(Path, sorted(set(_matches(str(word)))))
        found = [one for one in matches if one.is_dir() == whole]
        if not found:
            kind = "folder (the schema names the files of a log)" if whole else "file"
            raise UsageError(f"fit --each: {word}: no {kind} matches the pattern")
        yield from found


def _matches(pattern: str) -> Iterator[str]:
    """What a pattern matches; `**` looks into each folder once, whatever links lead to it.

    Otherwise as `glob`, which follows a link to a folder around it forty times, and two of them
    2⁴⁰ times.
    """
    before, found, after = f"/{pattern}".partition("/**/")
    if not found and before.endswith("/**"):
        before, found, after = before.removesuffix("/**"), "/**", ""
    if not found:
        yield from glob.iglob(pattern)
        return
    root = "/" if pattern.startswith("/") else "."
    for top in glob.iglob(before[1:]) if before[1:] else [root]:
        for folder, files in _walk(top):
            inside = os.path.normpath(folder)
            if after:
                yield from _matches(os.path.join(glob.escape(inside), after))
            else:
                yield from {inside, *(os.path.join(inside, name) for name in files)} - {"."}


def _walk(top: str) -> Iterator[tuple[str, list[str]]]:
    """The folders from one on, each once, with the files in it; hidden ones are left out."""
    seen: set[str] = set()
    for folder, folders, files in os.walk(top, followlinks=True):
        place = os.path.realpath(folder)
        if place in seen:
            folders.clear()
            continue
        seen.add(place)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield folder, [name for name in files if not name.startswith(".")]


def _is_data(path: Path) -> bool:
    suffix = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    return path.is_file() and not path.name.startswith(".") and suffix.lower() in _DATA


def _digests(log: Path, schema: Schema) -> tuple[tuple[str, str], ...]:
    """The files of a log with their sha256; none where it cannot be said, as its fit will say."""
    try:
        files = source_files(log, schema)
        return tuple((str(file.path.absolute()), file.sha256) for file in files)
    except (IdentifyError, OSError):
        return ()


def _key(name: str, path: Path, files: tuple[tuple[str, str], ...], asked: str) -> str:
    return key_of(name, [sha256 for _, sha256 in files] or str(path.absolute()), asked)
