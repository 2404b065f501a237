"""Where the logs of a study come from: files, data sets of the catalog, synthetic bodies."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from identify.arrays import Vec3
from identify.catalog import DatasetLog, dataset_logs
from identify.errors import LogError, SchemaError, StudyError, did_you_mean
from identify.exchange import read_parameters
from identify.files import digest
from identify.inertia import InertialParameters
from identify.inertia.shapes import Points
from identify.inertia.shapes.points import read_points
from identify.logs import Recording, Schema, load_schema, read_log
from identify.logs.parts import SourceFile
from identify.logs.read import digest_of_files
from identify.logs.readers import files_of
from identify.logs.sources import plan_sources
from identify.logs.synthetic import MOST_ROWS, random_motion, synthetic_recording
from identify.signals import on_one_clock
from identify.spatial.rotations import exp_rotation, rotation_from_quaternion
from identify.studies.keys import seed_of
from identify.studies.options import (
    Count,
    NotNegative,
    Options,
    Positive,
    canonical,
    spelled,
)
from identify.studies.study import LogItem, Truth
from identify.texts import plain_name

MOST_LOGS = 100_000
"""Logs a study may have: more is most likely a slip, and each is kept in memory."""


def joint_digest(parts: Sequence[str]) -> str:
    """The sha256 of several digests or texts (hexadecimal)."""
    return hashlib.sha256(" ".join(parts).encode("utf-8")).hexdigest()


class Source(Options):
    """Base of the sources of logs."""

    @abstractmethod
    def logs(self, folder: Path, seed: int) -> Sequence[LogItem]:
        """The logs, in a fixed order; their files are hashed, not read.

        Args:
            folder: of the study file: relative paths begin there.
            seed: of the study: synthetic logs are made of it.

        Raises:
            StudyError: it names no log.
            DatasetError: a data set is not there.
        """


def is_of_files(schema: Schema) -> bool:
    """Whether a log is a folder: the schema names the file of every group of signals."""
    streams = [schema.stream(group) for group in schema.groups]
    return all(stream is not None and stream.file is not None for stream in streams)


def source_files(log: Path, schema: Schema) -> list[SourceFile]:
    """All files of a log with their sha256, in the order in which they are read.

    Raises:
        MissingFile: the log or one of its files does not exist.
        LogError: the log is a folder and the schema does not say which file has what, or a file
            cannot be read.
    """
    held = (part for source in plan_sources(log, schema) for part in files_of(source.path))
    paths = dict.fromkeys(held)
    return [SourceFile(path, digest(path)) for path in paths]


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
    others = [digest(file) for file in (log.schema, log.points) if file is not None]
    return LogItem(
        name=f"{log.dataset}/{log.name}",
        data=log.sha256,
        identity=joint_digest([log.sha256, *others, canonical([truth, sides])]),
        load=partial(_load_dataset, log),
    )


def _load_dataset(log: DatasetLog) -> tuple[Recording, Truth | None]:
    shape = None
    if log.points is not None:
        points, volumes = read_points(log.points)
        shape = Points(points, np.ones(len(points)) if volumes is None else volumes)
    truth = None if log.truth is None else Truth(log.truth.phi, log.sides, shape)
    return on_one_clock(read_log(log.path, log.schema)), truth


class Range(BaseModel):
    """Values drawn evenly in their logarithm: `{from = 0.1, to = 10.0}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: Annotated[Positive, Field(alias="from")]
    high: Annotated[Positive, Field(alias="to")]

    @model_validator(mode="after")
    def _ordered(self) -> Range:
        if self.low > self.high:
            raise ValueError(f"from = {self.low:g} is above to = {self.high:g}")
        return self

    def draw(self, rng: np.random.Generator) -> float:
        """One value."""
        return float(self.low * (self.high / self.low) ** rng.uniform())


class Synthetic(Source):
    """Random solid boxes on random motions that excite every parameter; nothing has noise.

    Body and motion number i are drawn alike whatever the other options: a sweep over the duration
    or the excitation follows the same bodies.

    Attributes:
        number: how many bodies.
        mass: [kg], or a range `{from, to}`.
        size: longest side a box may have [m], or a range.
        duration: of each log [s].
        rate_hz: samples a second.
        bandwidth_hz: fastest sine of the motion.
        reach: bound of each coordinate of the position [m].
        turn: bound of each angle [rad].
        excitation: factor on reach and turn: less than one moves less.
        include: "all" signals, or "twist" or "pose", from which the others are differentiated.
    """

    kind: ClassVar[str] = "synthetic"

    number: Annotated[Count, Field(le=MOST_LOGS)] = 10
    mass: Positive | Range = 1.0
    size: Positive | Range = 0.2
    duration: Positive = 20.0
    rate_hz: Positive = 100.0
    bandwidth_hz: Positive = 1.0
    reach: NotNegative = 0.3
    turn: NotNegative = 1.5
    excitation: Positive = 1.0
    include: Literal["all", "twist", "pose"] = "all"

    @model_validator(mode="after")
    def _has_rows_for_memory(self) -> Synthetic:
        rows = self.duration * self.rate_hz
        if not 1.0 <= rows <= MOST_ROWS:
            raise ValueError(
                f"duration = {self.duration:g} at rate_hz = {self.rate_hz:g} makes {rows:.3g} "
                f"rows; expected 1 to {MOST_ROWS}"
            )
        return self

    def logs(self, folder: Path, seed: int) -> list[LogItem]:
        """The bodies, by number."""
        return [self._log(number, seed) for number in range(self.number)]

    def _log(self, number: int, seed: int) -> LogItem:
        # More bodies leave the others as they are: how many there are is not part of a log.
        given = {key: value for key, value in self.given().items() if key != "number"}
        digest = hashlib.sha256(canonical([given, seed, number]).encode()).hexdigest()
        columns = self.columns("log")
        del columns["log_number"]
        return LogItem(
            name=f"{spelled(self.kind, given)}/{number:03d}",
            data=digest,
            identity=digest,
            load=partial(_make, self, seed, number),
            options={**columns, "log_body": number},
        )


def _make(source: Synthetic, seed: int, number: int) -> tuple[Recording, Truth]:
    """One random body on one random motion, both the same for all options."""
    generators = {
        what: np.random.default_rng(seed_of("synthetic", what, seed, number))
        for what in ("body", "motion", "noise")
    }
    body, sides = _box(source, generators["body"])
    motion = random_motion(
        generators["motion"],
        bandwidth_hz=source.bandwidth_hz,
        reach=source.excitation * source.reach,
        turn=source.excitation * source.turn,
    )
    recording = synthetic_recording(
        body.phi,
        rng=generators["noise"],
        motion=motion,
        duration=source.duration,
        rate_hz=source.rate_hz,
        include=source.include,
    )
    return recording, Truth(body.phi, sides)


def _box(source: Synthetic, rng: np.random.Generator) -> tuple[InertialParameters, Vec3]:
    """A solid box of random sides in a random attitude, and its extent along the axes of B."""
    mass = source.mass.draw(rng) if isinstance(source.mass, Range) else source.mass
    size = source.size.draw(rng) if isinstance(source.size, Range) else source.size
    sides = size * rng.uniform(0.2, 1.0, 3)
    R = rotation_from_quaternion(exp_rotation(rng.uniform(-np.pi, np.pi, 3)))
    com = 0.5 * size * rng.uniform(-1.0, 1.0, 3)
    inertia = R @ np.diag(mass / 12.0 * (sides @ sides - sides**2)) @ R.T
    body = InertialParameters.from_com(mass, com, 0.5 * (inertia + inertia.T))
    return body, np.abs(R) @ sides


SOURCES: Mapping[str, type[Source]] = {
    source.kind: source
    for source in (
        Files,
        NamedDataset,
        Synthetic,
    )
}
"""By the `kind` of a `[[logs]]` table."""
