"""Sources of logs of robot arms: files, data sets of joint torques, and a simulator."""

from __future__ import annotations

import runpy
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from pydantic import Field

from identify.catalog import DatasetLog
from identify.catalog.dataset_files import find_dataset
from identify.errors import LogError, MissingExtra
from identify.exchange import read_parameters
from identify.files import digest
from identify.logs import load_schema, read_log
from identify.logs.recording_fields import digest_of_files
from identify.robots import read_robot
from identify.studies.arm_runs import ArmRuns
from identify.studies.keys import join_digests
from identify.studies.log_source import LogSource, require_existing, source_files, wrap_errors
from identify.studies.options import Count, canonical_json, format_call
from identify.studies.study import LogItem, Truth
from identify.texts import plain_name


class ArmLogs(LogSource):
    """Log of the joints of an arm without a force sensor; all paths are relative to the study file.

    Attributes:
        unloaded: the log without a load.
        loaded: the log with it, if there is one.
        schema_file: the schema (key `schema`), with `[joints]`.
        robot: the URDF.
        frame: frame of the URDF that the load is fixed to.
        truth: file of the true load about the frame, as of `LogFiles`.
    """

    kind: ClassVar[str] = "arm"

    unloaded: str
    schema_file: str = Field(alias="schema")
    robot: str
    loaded: str | None = None
    frame: str = "tool0"
    truth: str | None = None

    def logs(self, folder: Path, seed: int) -> list[LogItem]:
        """Return the log."""
        return [self.item(folder, Path(self.loaded or self.unloaded).with_suffix("").as_posix())]

    def item(self, folder: Path, name: str) -> LogItem:
        """Return the log for a study, with the digests of its files.

        Raises:
            StudyError: a file does not exist, or the schema is not one.
            MissingExtra: Pinocchio is not installed.
        """
        _require("pinocchio", "a robot from a URDF", "robots", "pin")
        logs = [folder / log for log in (self.unloaded, self.loaded) if log is not None]
        others = {"schema": self.schema_file, "robot": self.robot, "truth": self.truth}
        paths = [require_existing(folder / path, key) for key, path in others.items() if path]
        schema = wrap_errors(lambda: load_schema(paths[0]).joints_schema)
        files = wrap_errors(lambda: [source_files(log, schema) for log in logs])
        data = join_digests([digest_of_files(each) for each in files])
        identity = join_digests([data, *map(digest, paths), self.frame])
        load = partial(self.load, folder.resolve(), name)
        return LogItem(plain_name(name), data, identity, load)

    def load(self, folder: Path, name: str) -> tuple[ArmRuns, Truth | None]:
        """Read the logs, the robot and the true load."""
        schema = folder / self.schema_file
        read = partial(read_log, schema=schema, sensor="joints")
        unloaded = read(folder / self.unloaded)
        loaded = None if self.loaded is None else read(folder / self.loaded)
        robot = read_robot(folder / self.robot, unloaded.joint_axes.names, gravity=unloaded.gravity)
        truth = None if self.truth is None else Truth(read_parameters(folder / self.truth).phi)
        return ArmRuns(name, robot, self.frame, unloaded, loaded), truth


def _require(package: str, feature: str, extra: str, distribution: str) -> None:
    if find_spec(package) is None:
        raise MissingExtra(feature, extra, distribution)


def dataset_arm(log: DatasetLog) -> LogItem:
    """Return the log of a data set of joint torques, with the URDF of the set."""
    (model,) = find_dataset(log.dataset).of_role("model")
    arm = ArmLogs(unloaded=".", schema=str(log.schema), robot=model.path)
    return arm.item(log.path, log.name)


SIMULATED_ARM_FILES = ArmLogs(
    unloaded="empty.parquet",
    loaded="loaded.parquet",
    schema="schema.toml",
    robot="arm.urdf",
    truth="truth.json",
)
"""Files that a simulator of arms writes."""


class SimulatedArms(LogSource):
    """Logs of simulated arms by a Python file that needs MuJoCo, such as datasets/arms/generate.py.

    Its function `write_arm(arm, seed, folder)` writes the files of `SIMULATED_ARM_FILES`.

    Attributes:
        simulator: the file, relative to the study file.
        arm: name of the arm, the first argument of the function.
        number: number of arms; number i has the seed of the study plus i.
    """

    kind: ClassVar[str] = "simulated_arm"

    simulator: str
    arm: str
    number: Count = 20

    def logs(self, folder: Path, seed: int) -> list[LogItem]:
        """Return one log for each seed.

        Raises:
            StudyError: the simulator does not exist.
            MissingExtra: MuJoCo or Pinocchio is not installed.
        """
        _require("mujoco", f"simulator = {self.simulator!r}", "mujoco", "mujoco")
        _require("pinocchio", "a robot from a URDF", "robots", "pin")
        path = require_existing((folder / self.simulator).resolve(), "simulator")
        return [self._log(path, seed + number, number) for number in range(self.number)]

    def _log(self, simulator: Path, seed: int, number: int) -> LogItem:
        name = plain_name(f"{format_call(self.kind, {'arm': self.arm})}/{number:03d}")
        code = digest(simulator)
        identity = join_digests([code, canonical_json([self.arm, seed])])
        load = partial(_simulate_arm, simulator, code, self.arm, seed, name)
        return LogItem(name, identity, identity, load, {"log_arm": self.arm, "log_body": number})


def _simulate_arm(
    simulator: Path, code: str, arm: str, seed: int, name: str
) -> tuple[ArmRuns, Truth | None]:
    """Simulate an arm in a folder of its own, and read its logs.

    Raises:
        LogError: the simulator changed after the study was read.
    """
    if digest(simulator) != code:
        raise LogError(f"{simulator}: the file changed after the study was read; run it again")
    with TemporaryDirectory() as folder:
        runpy.run_path(str(simulator))["write_arm"](arm, seed, Path(folder))
        runs, truth = SIMULATED_ARM_FILES.load(Path(folder), name)
    unloaded, loaded = (replace(log, sources=()) for log in runs.recordings)
    return replace(runs, unloaded=unloaded, loaded=loaded), truth
