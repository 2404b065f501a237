"""`LogSource`: base class of the sources of a study's logs, and the files of a log."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from identify.errors import LogError, MissingExtra
from identify.exchange import read_parameters
from identify.files import digest
from identify.logs import Schema, read_log
from identify.logs.log_sources import plan_sources
from identify.logs.readers import log_files
from identify.logs.recording_fields import digest_of_files
from identify.logs.recording_parts import SourceFile
from identify.robots import read_robot
from identify.signals import on_one_clock
from identify.studies.keys import join_digests
from identify.studies.options import Options
from identify.studies.study import LogItem, Truth
from identify.studies.study_log import StudyLog
from identify.texts import plain_name

PINOCCHIO = ("pinocchio", "a robot from a URDF", "robots", "pin")
"""Package that logs of arms need, as arguments of `require_package`."""


class LogSource(Options):
    """Base class of the sources of a study's logs."""

    @abstractmethod
    def logs(self, folder: Path, seed: int) -> Sequence[LogItem]:
        """Return the logs in a fixed order; log files are hashed, but not read.

        `folder`: of the study file, the base of relative paths.
        Raises `StudyError`: the source has no log; `LogError`: a file does not exist, or a log is
        not as its schema says; `SchemaError`: a schema is not one; `DatasetError`: a data set is
        missing; `MissingExtra`: a package that the source needs is not installed.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPaths:
    """Files of one log of a study; other attributes as of `StudyLog`.

    Attributes:
        schema: the schema of the recordings.
        loaded, unloaded: the recordings, each a file or a folder.
        truth: file of the true body with `mass`, `com` and `inertia_about_com`, or an
            estimate.json; None if it is not known.
        robot: the URDF of an arm, if the recordings are of its joints.
    """

    name: str
    schema: Path
    loaded: tuple[Path, ...] = ()
    unloaded: tuple[Path, ...] = ()
    truth: Path | None = None
    robot: Path | None = None
    frame: str = ""

    def item(self, schema: Schema) -> LogItem:
        """Return the log with the digests of its files, by the content of its schema.

        Raises `LogError`: a file does not exist, or a recording is not as the schema says;
        `MissingExtra`: the log is of an arm, and Pinocchio is not installed.
        """
        recordings = (*self.unloaded, *self.loaded)
        digests = [digest_of_files(source_files(path, schema)) for path in recordings]
        others = (self.schema, self.robot, self.truth, schema.robot_file)
        described = [digest(path) for path in others if path is not None]
        if self.robot is None:
            (data,) = digests
        else:
            require_package(*PINOCCHIO)
            data = join_digests(digests)
            described.append(self.frame)
        identity = join_digests([data, *described])
        return LogItem(plain_name(self.name), data, identity, partial(self.load, digests))

    def load(self, digests: Sequence[str] = ()) -> tuple[StudyLog, Truth | None]:
        """Read the recordings, the robot and the true body.

        `digests`: of the recordings when the study was read; none for files just written.
        Raises `LogError`: a recording cannot be read, or has another digest.
        """
        sensor = "wrench" if self.robot is None else "joints"
        read = [read_log(path, self.schema, sensor) for path in (*self.unloaded, *self.loaded)]
        if digests and [recording.sha256 for recording in read] != digests:
            raise LogError(f"{self.name}: the file changed after the study was read; run it again")
        robot = self.robot and read_robot(
            self.robot, read[0].joint_axes.names, gravity=read[0].gravity
        )
        recordings = tuple(map(on_one_clock, read))
        count = len(self.unloaded)
        unloaded, loaded = recordings[:count], recordings[count:]
        truth = self.truth and Truth(read_parameters(self.truth).phi)
        return StudyLog(self.name, loaded, unloaded, robot, self.frame), truth


def is_folder_log(schema: Schema) -> bool:
    """Return whether a log is a folder with a file for each group of signals."""
    streams = [schema.stream(group) for group in schema.groups]
    return all(stream is not None and stream.file is not None for stream in streams)


def source_files(log: Path, schema: Schema) -> list[SourceFile]:
    """Return all files of a log with their sha256, in the order in which they are read.

    Raises `MissingFile`: the log or one of its files does not exist; `LogError`: the log is a
    folder and the schema does not assign its files, or a file cannot be read.
    """
    parts = (part for source in plan_sources(log, schema) for part in log_files(source.path))
    paths = dict.fromkeys(parts)
    return [SourceFile(path, digest(path)) for path in paths]


def require_package(package: str, feature: str, extra: str, distribution: str) -> None:
    """Raise `MissingExtra` if an optional package of a feature is not installed."""
    if find_spec(package) is None:
        raise MissingExtra(feature, extra, distribution)
