"""Logs in files: a glob, the schema that says what their columns mean, and the truth if known."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from identify.errors import StudyError
from identify.exchange import read_estimate
from identify.experiments.options import plain_text
from identify.experiments.sources.source import LogItem, Source, Truth, joint_digest
from identify.files import digest
from identify.logs import Recording, read_log


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

    def logs(self, folder: Path, seed: int) -> list[LogItem]:
        """One log for each file that matches, in the order of their paths."""
        pattern = Path(self.pattern)
        top = Path(pattern.anchor) if pattern.is_absolute() else folder
        inside = str(pattern.relative_to(pattern.anchor)) if pattern.is_absolute() else self.pattern
        try:
            found = sorted(path for path in top.glob(inside) if path.is_file())
        except (ValueError, NotImplementedError) as error:
            raise StudyError(f"pattern = {self.pattern!r} is not a glob: {error}") from error
        if not found:
            raise StudyError(f"pattern = {self.pattern!r} matches no file under {top.resolve()}")
        schema = _existing(folder / self.schema_file, "schema")
        return [self._log(path, schema, folder) for path in found]

    def _log(self, path: Path, schema: Path, folder: Path) -> LogItem:
        truth = None
        if self.truth is not None:
            truth = _existing(folder / self.truth.replace("{name}", path.stem), "truth")
        digests = [digest(file) for file in (path, schema, truth) if file is not None]
        within = path.relative_to(folder) if path.is_relative_to(folder) else path
        return LogItem(
            name=plain_text(within.with_suffix("").as_posix()),
            data=digests[0],
            identity=joint_digest(digests),
            load=partial(_load, path.resolve(), schema.resolve(), truth and truth.resolve()),
        )


def _load(path: Path, schema: Path, truth: Path | None) -> tuple[Recording, Truth | None]:
    """The log, and the true body of an estimate.json or the like."""
    recording = read_log(path, schema)
    return recording, None if truth is None else Truth(read_estimate(truth).parameters.phi)


def _existing(path: Path, key: str) -> Path:
    if not path.is_file():
        raise StudyError(f"{key}: there is no file {path}")
    return path
