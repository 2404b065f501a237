"""Perturbations of the wrench in axes that turn with the sensor: a delay, a constant offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.errors import LogError
from identify.experiments.options import Number, Vector
from identify.experiments.perturbations.perturbation import (
    Perturbation,
    require_signals,
    with_rows,
    with_signals,
)
from identify.logs import Recording
from identify.spatial.rotations import rotate, rotate_back, rotation_from_quaternion


class Delay(Perturbation):
    """The wrench of each row is that of `wrench` seconds before, interpolated in sensor axes.

    Rows for which the log does not hold that time are left out.

    Attributes:
        wrench: how much later than the motion it comes [s]; negative: earlier.
    """

    kind: ClassVar[str] = "delay"

    wrench: Number

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Shift the wrench in time.

        Raises:
            LogError: still poses, or a delay longer than the log.
        """
        time = recording.time
        if time is None:
            raise LogError(f"{recording.name}: a delay needs time, and this log is of still poses")
        wanted = time - self.wrench
        held = (wanted >= time[0]) & (wanted <= time[-1])
        if not held.any():
            raise LogError(
                f"{recording.name}: a delay of {self.wrench:g} s is longer than the log "
                f"({time[-1] - time[0]:g} s)"
            )

        def late(name: str, values: Array) -> Array:
            return np.stack([np.interp(wanted, time, column) for column in values.T], axis=1)

        return with_rows(_change_wrench(recording, late, "a delay"), held)


class SensorOffset(Perturbation):
    """An offset of the sensor, constant in its own axes.

    Attributes:
        force: added to the force [N], three numbers.
        torque: added to the torque [N m], three numbers.
    """

    kind: ClassVar[str] = "bias"

    force: Vector = (0.0, 0.0, 0.0)
    torque: Vector = (0.0, 0.0, 0.0)

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Add the offset.

        Raises:
            LogError: the wrench is in world axes and the log has no attitude.
        """
        added = {"force": np.array(self.force), "torque": np.array(self.torque)}

        def offset(name: str, values: Array) -> Array:
            return values + added[name]

        return _change_wrench(recording, offset, "a sensor offset")


def _change_wrench(
    recording: Recording, change: Callable[[str, Array], Array], what: str
) -> Recording:
    """The recording with force and torque changed as if at the sensor.

    A wrench in world axes is turned to body axes by the log's attitude, changed, and turned back.

    Args:
        recording: is not changed.
        change: from "force" or "torque" and its values, shape (n, 3), to the new values.
        what: the perturbation, for messages.

    Raises:
        LogError: the log has no wrench, or has it in world axes and no attitude.
    """
    require_signals(recording, ("force", "torque"), what)
    wrench = {name: recording.signals[name] for name in ("force", "torque")}
    if recording.frames["wrench"] != "world":
        changed = {name: change(name, values) for name, values in wrench.items()}
        return with_signals(recording, changed)
    require_signals(recording, ("quaternion",), f"{what} of a wrench in world axes")
    R = rotation_from_quaternion(recording.signals["quaternion"])
    turned = {
        name: rotate(R, change(name, rotate_back(R, values))) for name, values in wrench.items()
    }
    return with_signals(recording, turned)
