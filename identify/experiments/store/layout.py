"""The files of a results folder, and the one that says what the others are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from identify.errors import StudyError
from identify.experiments.code_mark import CodeMark
from identify.experiments.store.columns import SCHEMA_VERSION
from identify.files import write_text

STORE, JOURNAL, RESULTS = "store.json", "journal.jsonl", "results.parquet"
FORMAT = "identify study results"
CELLS = "cells-{code}.txt"


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What `store.json` says.

    Attributes:
        study: name of the study that was run last.
        order: labels of its logs, corruptions and estimators, and its seeds, in the order of the
            study file, by the name of their column.
        codes: by mark: digest of the source, versions of the solvers, when it first ran.
    """

    study: str
    order: Mapping[str, Sequence[str | int]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def with_code(self, mark: CodeMark) -> StoreInfo:
        """The same with the code that is going to run."""
        entry = {
            "source_sha256": mark.source,
            "versions": dict(mark.versions),
            "first_run": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        return replace(self, codes={mark.short: entry} | dict(self.codes))

    def write(self, folder: Path) -> None:
        """Write `store.json`, whole or not at all."""
        head = {"format": FORMAT, "schema_version": SCHEMA_VERSION}
        write_text(folder / STORE, json.dumps(head | asdict(self), indent=1) + "\n")


def read_info(folder: Path) -> StoreInfo | None:
    """What `store.json` of a folder says; None where it holds no results.

    Raises:
        StudyError: results of another schema version, or files that are not results.
    """
    path = folder / STORE
    if not path.is_file():
        if (folder / RESULTS).exists() or (folder / JOURNAL).exists():
            raise StudyError(f"{folder}: has results but no {STORE}; choose another folder")
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = (content.pop("format"), content.pop("schema_version"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StudyError(
            f"{path}: is not the description of a results folder: {error!r}"
        ) from error
    if found != (FORMAT, SCHEMA_VERSION):
        raise StudyError(
            f"{path}: results of {found[0]!r} version {found[1]}, and this program writes version "
            f"{SCHEMA_VERSION}; choose another folder, or use the program that wrote them"
        )
    try:
        return StoreInfo(**content)
    except TypeError as error:
        raise StudyError(f"{path}: is not the description of a results folder: {error}") from error


def write_cells(folder: Path, code: str, keys: Iterable[str]) -> None:
    """Keep the keys of the study that is run, whole or not at all, in place of the last one's.

    All cells of the study count, also those that `only` leaves out or that an interrupted run does
    not come to: rows that earlier runs of the same study made stay rows of it.

    Args:
        folder: of the results.
        code: mark of the code that runs; each has a file of its own.
        keys: of the study's cells.

    Raises:
        StudyError: it cannot be written.
    """
    try:
        write_text(folder / CELLS.format(code=code), "".join(f"{key}\n" for key in keys))
    except OSError as error:
        raise StudyError(f"{folder}: cannot be written to: {error.strerror or error}") from error


def read_cells(folder: Path, code: str) -> list[str] | None:
    """Keys of the study that a code ran last; None where the folder does not say.

    Raises:
        StudyError: the file cannot be read.
    """
    path = folder / CELLS.format(code=code)
    try:
        return path.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StudyError(f"{path}: cannot be read: {error}; move it away") from error
