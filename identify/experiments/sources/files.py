"""Logs in files: a glob, the schema that says what their columns mean, and the truth if known."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from identify.errors import StudyError
from identify.exchange import read_estimate
from identify.experiments.options import Scalar
from identify.experiments.sources.log_item import KnownBody, LoadedLog, Truth
from identify.experiments.sources.source import Place, Source
from identify.files import digest
from identify.logs import read_log


@dataclass(frozen=True, slots=True)
class FileLog:
    """One log in a file, with its schema.

    Attributes:
        name: path from the study file, without the suffix.
        path, schema, truth: absolute paths; `truth` is an estimate.json or the like, or None.
        data, identity: digests of the log, and of log, schema and truth together.
        options: none.
    """

    name: str
    path: Path
    schema: Path
    truth: Path | None
    data: str
    identity: str
    options: Mapping[str, Scalar] = field(default_factory=dict)

    def load(self) -> LoadedLog:
        """Read the log, and the true body where there is one."""
        recording = read_log(self.path, self.schema)
        if self.truth is None:
            return LoadedLog(recording)
        body = read_estimate(self.truth).parameters
        return LoadedLog(recording, Truth(body.phi), KnownBody(mass=body.mass))


class Files(Source):
    """Files that match a pattern, all of one schema.

    Attributes:
        pattern: a path or glob, relative to the study file: `"runs/*.csv"`; `**` spans folders.
        schema_file: the schema (key `schema`), relative to the study file.
        truth: file of the true body with `mass`, `com` and `inertia_about_com`, or an
            estimate.json; `{name}` in it is replaced by the log's file name without suffix.
    """

    kind: ClassVar[str] = "files"

    pattern: str
    schema_file: Annotated[str, Field(alias="schema")]
    truth: str | None = None

    def logs(self, place: Place) -> list[FileLog]:
        """One log for each file that matches, in the order of their paths."""
        pattern = Path(self.pattern)
        top = Path(pattern.anchor) if pattern.is_absolute() else place.folder
        inside = str(pattern.relative_to(pattern.anchor)) if pattern.is_absolute() else self.pattern
        try:
            found = sorted(path for path in top.glob(inside) if path.is_file())
        except (ValueError, NotImplementedError) as error:
            raise StudyError(f"pattern = {self.pattern!r} is not a glob: {error}") from error
        if not found:
            raise StudyError(f"pattern = {self.pattern!r} matches no file under {top.resolve()}")
        schema = _existing(place.folder / self.schema_file, "schema")
        return [self._log(path, schema, place) for path in found]

    def _log(self, path: Path, schema: Path, place: Place) -> FileLog:
        truth = None
        if self.truth is not None:
            truth = _existing(place.folder / self.truth.replace("{name}", path.stem), "truth")
        return file_log(_name(path, place.folder), path, schema, truth)


def file_log(name: str, path: Path, schema: Path, truth: Path | None) -> FileLog:
    """A log in a file, its files hashed."""
    digests = [digest(file) for file in (path, schema, truth) if file is not None]
    return FileLog(
        name=name,
        path=path.resolve(),
        schema=schema.resolve(),
        truth=None if truth is None else truth.resolve(),
        data=digests[0],
        identity=hashlib.sha256(" ".join(digests).encode("ascii")).hexdigest(),
    )


def _name(path: Path, folder: Path) -> str:
    within = path.relative_to(folder) if path.is_relative_to(folder) else path
    return within.with_suffix("").as_posix()


def _existing(path: Path, key: str) -> Path:
    if not path.is_file():
        raise StudyError(f"{key}: there is no file {path}")
    return path
