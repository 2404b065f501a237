"""`ArmRuns`: logs of an arm's joints as one log of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from identify.logs import Recording
from identify.logs.recording_parts import SourceFile
from identify.robots import RobotModel
from identify.studies.keys import join_digests


@dataclass(frozen=True, slots=True, eq=False)
class ArmRuns:
    """Logs of an arm's joints without and with a load, and the model of the arm.

    Attributes:
        name: of the log in messages.
        robot: model of the arm, with the joints of the logs.
        frame: frame of the URDF that the load is fixed to; the body frame B of the true body.
        unloaded: log of the arm without a load.
        loaded: log with it; None if there is none.
    """

    name: str
    robot: RobotModel
    frame: str
    unloaded: Recording
    loaded: Recording | None = None

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """The logs, the one without the load first."""
        return (self.unloaded,) if self.loaded is None else (self.unloaded, self.loaded)

    @property
    def sources(self) -> tuple[SourceFile, ...]:
        """Files of the logs; none if they are simulated."""
        return tuple(source for log in self.recordings for source in log.sources)

    @property
    def sha256(self) -> str:
        """Digest of the content of the logs."""
        return join_digests([log.sha256 for log in self.recordings])


StudyLog: TypeAlias = Recording | ArmRuns
"""Log of a study: of a body's motion and wrench, or of the joints of an arm."""
