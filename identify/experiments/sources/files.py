"""Logs in files: those of a glob with their schema and truth, or of a public data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import Field

from identify.catalog import DatasetLog, dataset_logs
from identify.errors import LogError, SchemaError, StudyError, did_you_mean
from identify.exchange import read_parameters
from identify.experiments.options import canonical
from identify.experiments.sources.log_files import is_of_files, source_files
from identify.experiments.sources.source import LogItem, Source, Truth, joint_digest
from identify.files import digest
from identify.logs import Recording, Schema, load_schema, read_log
from identify.logs.read import digest_of_files
from identify.signals import on_one_clock
from identify.texts import plain_name

T = TypeVar("T")


class Files(Source):
    """Logs that match a pattern, all of one schema; a log may be of several files.

    Attributes:
        pattern: a path or glob, relative to the study file: `"runs/*.csv"`; `**` spans folders.
            Where the schema names the files of all groups, folders that match are the logs.
        schema_file: the schema (key `schema`), relative to the study file.
        truth: file of the true body with `mass`, `com` and `inertia_about_com`, or an
            estimate.json; `{name}` in it is replaced by the log's file name without suffix, or by
            that of its folder.
    """

    kind: ClassVar[str] = "files"

    pattern: str
    schema_file: Annotated[str, Field(alias="schema")]
    truth: str | None = None

    def logs(self, folder: Path, seed: int) -> list[LogItem]:
        """One log for each file or folder that matches, in the order of their paths."""
        pattern = Path(self.pattern)
        top = Path(pattern.anchor) if pattern.is_absolute() else folder
        inside = str(pattern.relative_to(pattern.anchor)) if pattern.is_absolute() else self.pattern
        if not pattern.name:
            raise StudyError(f"pattern = {self.pattern!r} names a folder; expected files or a glob")
        try:
            matches = sorted(top.glob(inside))
        except (ValueError, NotImplementedError) as error:
            raise StudyError(f"pattern = {self.pattern!r} is not a glob: {error}") from error
        files = [match for match in matches if match.is_file()]
        folders = [match for match in matches if match.is_dir()]
        if not files and not folders:
            raise StudyError(f"pattern = {self.pattern!r} matches no file under {top.resolve()}")
        path = _existing(folder / self.schema_file, "schema")
        schema = _checked(lambda: load_schema(path))
        found = folders if folders and is_of_files(schema) else files
        if not found:
            raise StudyError(
                f"pattern = {self.pattern!r} matches folders, and the schema does not name the "
                f"files of a log in [streams.*]; expected files"
            )
        return [self._log(match, path, schema, folder) for match in found]

    def _log(self, log: Path, schema_path: Path, schema: Schema, folder: Path) -> LogItem:
        truth = None
        bare = log if log.is_dir() else log.with_suffix("")
        if self.truth is not None:
            truth = _existing(folder / self.truth.replace("{name}", bare.name), "truth")
        files = _checked(lambda: source_files(log, schema))
        data = digest_of_files(files)
        within = bare.relative_to(folder) if bare.is_relative_to(folder) else bare
        others = [digest(file) for file in (schema_path, truth) if file is not None]
        return LogItem(
            name=plain_name(within.as_posix()),
            data=data,
            identity=joint_digest([data, *others]),
            load=partial(_load, log.resolve(), schema_path.resolve(), truth and truth.resolve()),
        )


def _load(path: Path, schema: Path, truth: Path | None) -> tuple[Recording, Truth | None]:
    """The log, and the true body of an estimate.json or the like."""
    recording = on_one_clock(read_log(path, schema))
    return recording, None if truth is None else Truth(read_parameters(truth).phi)


def _checked(read: Callable[[], T]) -> T:
    """What reading a schema, or finding the files of a log, gives; its errors as a `StudyError`."""
    try:
        return read()
    except (LogError, SchemaError) as error:
        raise StudyError(str(error)) from error


def _existing(path: Path, key: str) -> Path:
    if not path.is_file():
        raise StudyError(f"{key}: there is no file {path}")
    return path


class NamedDataset(Source):
    """The logs of a data set of the catalog.

    Attributes:
        name: of the set: "stars". `identify datasets list` shows them.
        only: names of some of its logs, `*` allowed; all where not given.
    """

    kind: ClassVar[str] = "dataset"

    name: str
    only: tuple[str, ...] | None = None

    def logs(self, folder: Path, seed: int) -> Sequence[LogItem]:
        """The logs of the set that are asked for, in alphabetical order, their files verified."""
        found = dataset_logs(self.name)
        patterns = ("*",) if self.only is None else self.only
        names = [log.name for log in found]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                hint = did_you_mean(pattern, names)
                raise StudyError(f"only: {self.name} has no log {pattern!r}{hint}")
        return [
            _dataset_log(log)
            for log in found
            if any(fnmatchcase(log.name, each) for each in patterns)
        ]


def _dataset_log(log: DatasetLog) -> LogItem:
    truth = None if log.truth is None else log.truth.phi.tolist()
    sides = None if log.sides is None else log.sides.tolist()
    return LogItem(
        name=f"{log.dataset}/{log.name}",
        data=log.sha256,
        identity=joint_digest([log.sha256, digest(log.schema), canonical([truth, sides])]),
        load=partial(_load_dataset, log),
    )


def _load_dataset(log: DatasetLog) -> tuple[Recording, Truth | None]:
    truth = None if log.truth is None else Truth(log.truth.phi, log.sides)
    return on_one_clock(read_log(log.path, log.schema)), truth
