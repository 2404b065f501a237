"""`StudyLog`: the recordings of one log of a study, of any sensor, or rows alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import ProblemError
from identify.logs import Recording
from identify.robots import RobotModel

_REWEIGHTINGS = 3


class NotForTask(ProblemError):
    """An estimator cannot be applied to a task by its kind, which is no failure."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"not for this task: {reason}")


class RegressorRows(NamedTuple):
    """Rows A φ = b + noise of one body, without the sensor's offset.

    Attributes:
        A: regressor about Bo in B, shape (n, 10).
        b: measured force or torque [N, N m], shape (n,).
        channels: channel of each row, 0 to 5 for fx to tz, or the number of the joint, shape (n,).
    """

    A: Array
    b: Array
    channels: Indices

    def least_squares(self) -> Array:
        """Return the ten parameters with the least sum of squared residuals."""
        return np.linalg.lstsq(self.A, self.b, rcond=None)[0]

    def whitened(self) -> tuple[Array, Array]:
        """Return A and b divided by the residual RMS of their channel in a least-squares fit."""
        A, b = self.A, self.b
        for _ in range(_REWEIGHTINGS):
            residual = b - A @ np.linalg.lstsq(A, b, rcond=None)[0]
            squares = np.bincount(self.channels, residual**2) / np.bincount(self.channels)
            rms = np.sqrt(squares)[self.channels]
            A, b = A / rms[:, None], b / rms
        return A, b


@dataclass(frozen=True, slots=True, eq=False)
class StudyLog:
    """Recordings of one sensor that are one log of a study, and the arm if they are of its joints.

    Attributes:
        name: of the log in messages.
        loaded: recordings with the body, which is the load of an arm.
        unloaded: recordings of an arm without a load.
        robot: model of the arm, with the joints of the recordings; None for a log of a wrench.
        frame: frame of the robot that the load is fixed to; the body frame B of the true body.
        rows: rows of a body without recordings, or None.
    """

    name: str
    loaded: tuple[Recording, ...] = ()
    unloaded: tuple[Recording, ...] = ()
    robot: RobotModel | None = None
    frame: str = ""
    rows: RegressorRows | None = None

    @classmethod
    def of(cls, recording: Recording) -> StudyLog:
        """Return the log of a single recording of a wrench."""
        return cls(recording.name, (recording,))

    @property
    def sensor(self) -> str:
        """Name of what measured the log, of `identify.sensors.SENSORS`, or "rows"."""
        if self.rows is not None:
            return "rows"
        return (*self.unloaded, *self.loaded)[0].sensor

    def map(self, change: Callable[[Recording], Recording]) -> StudyLog:
        """Return the log with each of its recordings changed by a function."""
        loaded, unloaded = (tuple(map(change, each)) for each in (self.loaded, self.unloaded))
        return replace(self, loaded=loaded, unloaded=unloaded)
