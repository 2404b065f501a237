"""`StudyLog`: the recordings of one log of a study, of any sensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from identify.logs import Recording
from identify.robots import RobotModel


@dataclass(frozen=True, slots=True, eq=False)
class StudyLog:
    """Recordings of one sensor that are one log of a study, and the arm if they are of its joints.

    Attributes:
        name: of the log in messages.
        loaded: recordings with the body, which is the load of an arm.
        unloaded: recordings of an arm without a load.
        robot: model of the arm, with the joints of the recordings; None for a log of a wrench.
        frame: frame of the robot that the load is fixed to; the body frame B of the true body.
    """

    name: str
    loaded: tuple[Recording, ...]
    unloaded: tuple[Recording, ...] = ()
    robot: RobotModel | None = None
    frame: str = ""

    @classmethod
    def of(cls, recording: Recording) -> StudyLog:
        """Return the log of a single recording of a wrench."""
        return cls(recording.name, (recording,))

    @property
    def sensor(self) -> str:
        """Name of what measured the log, of `identify.sensors.SENSORS`."""
        return (*self.unloaded, *self.loaded)[0].sensor

    def map(self, change: Callable[[Recording], Recording]) -> StudyLog:
        """Return the log with each of its recordings changed by a function."""
        loaded, unloaded = (tuple(map(change, each)) for each in (self.loaded, self.unloaded))
        return replace(self, loaded=loaded, unloaded=unloaded)
