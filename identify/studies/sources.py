"""Sources of a study's logs: files, data sets of the catalog, and synthetic bodies."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from identify.catalog import DatasetLog, dataset_logs
from identify.catalog.dataset_files import find_dataset
from identify.errors import StudyError, did_you_mean
from identify.files import digest
from identify.inertia.shapes import PointMasses
from identify.inertia.shapes.points import read_points
from identify.logs import Schema, load_schema
from identify.logs.synthetic import MAX_ROWS, random_box, random_motion, synthetic_recording
from identify.studies.arm_sources import ArmLogs, SimulatedArms
from identify.studies.keys import derive_seed, join_digests
from identify.studies.log_source import LogPaths, LogSource, is_folder_log
from identify.studies.options import Count, NotNegative, Positive, canonical_json, format_call
from identify.studies.study import LogItem, Truth
from identify.studies.study_log import StudyLog

MAX_LOGS = 100_000
"""Maximum number of logs of a study: each is kept in memory, and more are probably a mistake."""


class LogFiles(LogSource):
    """Logs whose paths match a pattern, with a common schema; a log may have several files.

    Attributes:
        pattern: a path or glob, relative to the study file: `"runs/*.csv"`; `**` spans folders.
            If the schema has the files of all groups, matching folders are the logs.
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
        """Return one log for each file or folder that matches, in the order of their paths."""
        pattern = Path(self.pattern)
        top = Path(pattern.anchor) if pattern.is_absolute() else folder
        glob = str(pattern.relative_to(pattern.anchor)) if pattern.is_absolute() else self.pattern
        if not pattern.name:
            raise StudyError(f"pattern = {self.pattern!r} names a folder; expected files or a glob")
        try:
            matches = sorted(top.glob(glob))
        except (ValueError, NotImplementedError) as error:
            raise StudyError(f"pattern = {self.pattern!r} is not a glob: {error}") from error
        files = [match for match in matches if match.is_file()]
        folders = [match for match in matches if match.is_dir()]
        if not files and not folders:
            raise StudyError(f"pattern = {self.pattern!r} matches no file under {top.resolve()}")
        path = (folder / self.schema_file).resolve()
        schema = load_schema(path)
        logs = folders if folders and is_folder_log(schema) else files
        if not logs:
            raise StudyError(
                f"pattern = {self.pattern!r} matches folders, and the schema does not name the "
                f"files of a log in [streams.*]; expected files"
            )
        return [self._log(log, path, schema, folder) for log in logs]

    def _log(self, log: Path, schema_path: Path, schema: Schema, folder: Path) -> LogItem:
        stem = log if log.is_dir() else log.with_suffix("")
        name = stem.relative_to(folder) if stem.is_relative_to(folder) else stem
        truth = None
        if self.truth is not None:
            truth = folder / self.truth.replace("{name}", stem.name)
        paths = LogPaths(
            name=name.as_posix(),
            schema=schema_path,
            loaded=(log.resolve(),),
            truth=truth and truth.resolve(),
        )
        return paths.item(schema)


class NamedDataset(LogSource):
    """Logs of a data set of the catalog.

    Attributes:
        name: of the set: "stars". `identify datasets list` shows them.
        only: names of some of its logs, `*` allowed; by default all.
    """

    kind: ClassVar[str] = "dataset"

    name: str
    only: tuple[str, ...] | None = None

    def logs(self, folder: Path, seed: int) -> Sequence[LogItem]:
        """Return the selected logs in alphabetical order, with verified files."""
        logs = dataset_logs(self.name)
        patterns = ("*",) if self.only is None else self.only
        names = [log.name for log in logs]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                hint = did_you_mean(pattern, names)
                raise StudyError(f"only: {self.name} has no log {pattern!r}{hint}")
        of_joints = find_dataset(self.name).kind == "joint torque"
        item = _dataset_arm if of_joints else _dataset_log
        return [
            item(log) for log in logs if any(fnmatchcase(log.name, pattern) for pattern in patterns)
        ]


def _dataset_arm(log: DatasetLog) -> LogItem:
    """Return the log of a data set of joint torques, with the URDF of the set."""
    (model,) = find_dataset(log.dataset).of_role("model")
    arm = ArmLogs(unloaded=".", schema=str(log.schema), robot=model.path)
    return arm.item(log.path, log.name)


def _dataset_log(log: DatasetLog) -> LogItem:
    truth = None if log.truth is None else log.truth.phi.tolist()
    sides = None if log.box_sides is None else log.box_sides.tolist()
    others = [digest(file) for file in (log.schema, log.points_file) if file is not None]
    return LogItem(
        name=f"{log.dataset}/{log.name}",
        data_digest=log.sha256,
        identity_digest=join_digests([log.sha256, *others, canonical_json([truth, sides])]),
        load=partial(_load_dataset, log),
    )


def _load_dataset(log: DatasetLog) -> tuple[StudyLog, Truth | None]:
    paths = LogPaths(name=f"{log.dataset}/{log.name}", schema=log.schema, loaded=(log.path,))
    study_log, _ = paths.load([log.sha256])
    shape = None
    if log.points_file is not None:
        points, volumes = read_points(log.points_file)
        shape = PointMasses(points, np.ones(len(points)) if volumes is None else volumes)
    truth = None if log.truth is None else Truth(log.truth.phi, log.box_sides, shape)
    return study_log, truth


class Range(BaseModel):
    """Log-uniform distribution over a range, such as `{from = 0.1, to = 10.0}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: Annotated[Positive, Field(alias="from")]
    high: Annotated[Positive, Field(alias="to")]

    @model_validator(mode="after")
    def _ordered(self) -> Range:
        if self.low > self.high:
            raise ValueError(f"from = {self.low:g} is above to = {self.high:g}")
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the range."""
        return self.low, self.high


class Synthetic(LogSource):
    """Noise-free logs of random solid boxes on random motions that excite every parameter.

    Body and motion number i are the same for all other options: a sweep over the duration or the
    excitation has the same bodies. Sides are drawn until the density is 100 to 8000 kg/m³.

    Attributes:
        number: number of bodies.
        mass: [kg], or a range `{from, to}`.
        size: longest side a box may have [m], or a range.
        duration: of each log [s].
        rate_hz: samples a second.
        bandwidth_hz: fastest sine of the motion.
        reach: bound of each coordinate of the position [m].
        turn: bound of each angle [rad].
        excitation: factor on reach and turn.
        include: "all" signals, or "twist" or "pose", from which the others are differentiated.
        draw: seed of bodies and motions in place of the study's.
    """

    kind: ClassVar[str] = "synthetic"

    number: Annotated[Count, Field(le=MAX_LOGS)] = 10
    mass: Positive | Range = 1.0
    size: Positive | Range = 0.2
    duration: Positive = 20.0
    rate_hz: Positive = 100.0
    bandwidth_hz: Positive = 1.0
    reach: NotNegative = 0.3
    turn: NotNegative = 1.5
    excitation: Positive = 1.0
    include: Literal["all", "twist", "pose"] = "all"
    draw: Count | None = None

    @model_validator(mode="after")
    def _has_rows_for_memory(self) -> Synthetic:
        rows = self.duration * self.rate_hz
        if not 1.0 <= rows <= MAX_ROWS:
            raise ValueError(
                f"duration = {self.duration:g} at rate_hz = {self.rate_hz:g} makes {rows:.3g} "
                f"rows; expected 1 to {MAX_ROWS}"
            )
        return self

    def logs(self, folder: Path, seed: int) -> list[LogItem]:
        """Return one log for each body."""
        return [self._make_log(number, self.draw or seed) for number in range(self.number)]

    def _make_log(self, number: int, seed: int) -> LogItem:
        # The number of bodies does not identify a log: more bodies leave the others unchanged.
        options = {key: value for key, value in self.non_default().items() if key != "number"}
        digest = hashlib.sha256(canonical_json([options, seed, number]).encode()).hexdigest()
        columns = self.columns("log")
        del columns["log_number"]
        return LogItem(
            name=f"{format_call(self.kind, options)}/{number:03d}",
            data_digest=digest,
            identity_digest=digest,
            load=partial(_simulate, self, seed, number),
            options={**columns, "log_body": number},
        )


def _simulate(source: Synthetic, seed: int, number: int) -> tuple[StudyLog, Truth]:
    """Simulate a random body on a random motion; both depend only on seed and number."""
    generators = {
        purpose: np.random.default_rng(derive_seed("synthetic", purpose, seed, number))
        for purpose in ("body", "motion", "noise")
    }
    mass, size = (v.ends if isinstance(v, Range) else v for v in (source.mass, source.size))
    body, sides = random_box(generators["body"], mass, size)
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
    return StudyLog.of(recording), Truth(body.phi, sides)


SOURCES: Mapping[str, type[LogSource]] = {
    source.kind: source for source in (LogFiles, NamedDataset, Synthetic, ArmLogs, SimulatedArms)
}
"""Sources of logs by the `kind` of a `[[logs]]` table."""
