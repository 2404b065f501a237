"""What of a log, besides its statistics, says which hypotheses make sense for it."""

from __future__ import annotations

from dataclasses import dataclass

from identify.arrays import Vec3
from identify.logs import Recording
from identify.spatial import Pose


@dataclass(frozen=True, slots=True)
class LogFacts:
    """How a log was measured.

    Attributes:
        gravity: g in W [m/s²], shape (3,).
        X_BS: where in B the sensor's axes are, or the point of a wrench in world axes; None where
            readings are taken as in B.
        still: whether each row is a still pose.
        attitude: whether the log gives the orientation of the body.
        gravity_added: whether a' = a − Rᵀg was formed with that gravity; False where a proper
            acceleration was measured.
        timed: whether all rates and accelerations come of the pose and its stamps.
        positioned: whether accelerations come of positions, whose scale they share.
    """

    gravity: Vec3
    X_BS: Pose | None = None
    still: bool = False
    attitude: bool = True
    gravity_added: bool = True
    timed: bool = True
    positioned: bool = True

    @classmethod
    def of(cls, recording: Recording) -> LogFacts:
        """The facts of a recording."""
        names = set(recording.signals)
        names |= {name for stream in recording.streams for name in stream.signals}
        given = "linear_acceleration" in names
        velocity = "linear_velocity" in names
        rates = {"angular_velocity", "angular_acceleration"} & names
        positioned = not (recording.still or given or velocity) and "position" in names
        return cls(
            gravity=recording.gravity,
            X_BS=recording.X_BS,
            still=recording.still,
            attitude="quaternion" in names,
            gravity_added="quaternion" in names
            and bool(recording.gravity.any())
            and not (given and recording.acceleration_kind == "proper"),
            timed=positioned and not rates,
            positioned=positioned,
        )
