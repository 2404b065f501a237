"""Sources of logs of robot arms: files, and a simulator."""

from __future__ import annotations

import runpy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from pydantic import Field

from identify.errors import LogError
from identify.files import digest
from identify.logs import load_schema
from identify.studies.keys import join_digests
from identify.studies.log_source import PINOCCHIO, LogPaths, LogSource, require_package
from identify.studies.options import Count, canonical_json, format_call
from identify.studies.study import LogItem, Truth
from identify.studies.study_log import StudyLog
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
        """Return the log of this name for a study."""
        paths = self.paths(folder.resolve(), name)
        return paths.item(load_schema(paths.schema).joints_schema)

    def paths(self, folder: Path, name: str) -> LogPaths:
        """Return the files of the log, which are in the folder."""
        return LogPaths(
            name=name,
            schema=folder / self.schema_file,
            loaded=() if self.loaded is None else (folder / self.loaded,),
            unloaded=(folder / self.unloaded,),
            truth=None if self.truth is None else folder / self.truth,
            robot=folder / self.robot,
            frame=self.frame,
        )


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

        Raises `MissingFile`: the simulator does not exist; `MissingExtra`: MuJoCo or Pinocchio is
        not installed.
        """
        require_package("mujoco", f"simulator = {self.simulator!r}", "mujoco", "mujoco")
        require_package(*PINOCCHIO)
        path = (folder / self.simulator).resolve()
        code = digest(path)
        return [self._log(path, code, seed + number, number) for number in range(self.number)]

    def _log(self, simulator: Path, code: str, seed: int, number: int) -> LogItem:
        name = plain_name(f"{format_call(self.kind, {'arm': self.arm})}/{number:03d}")
        identity = join_digests([code, canonical_json([self.arm, seed])])
        load = partial(_simulate_arm, simulator, code, self.arm, seed, name)
        return LogItem(name, identity, identity, load, {"log_arm": self.arm, "log_body": number})


def _simulate_arm(
    simulator: Path, code: str, arm: str, seed: int, name: str
) -> tuple[StudyLog, Truth | None]:
    """Simulate an arm in a folder of its own, and read its logs.

    Raises `LogError`: the simulator changed after the study was read.
    """
    if digest(simulator) != code:
        raise LogError(f"{simulator}: the file changed after the study was read; run it again")
    with TemporaryDirectory() as folder:
        runpy.run_path(str(simulator))["write_arm"](arm, seed, Path(folder))
        return SIMULATED_ARM_FILES.paths(Path(folder), name).load()
