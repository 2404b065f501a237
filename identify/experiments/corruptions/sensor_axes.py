"""The wrench in axes that turn with the sensor, where its delay and bias belong."""

from __future__ import annotations

from collections.abc import Callable

from identify.arrays import Array
from identify.experiments.corruptions.corruption import require_signals, with_signals
from identify.logs import Recording
from identify.spatial.rotations import rotate, rotate_back, rotation_from_quaternion


def change_wrench(
    recording: Recording, change: Callable[[str, Array], Array], what: str
) -> Recording:
    """The recording with force and torque changed as if at the sensor.

    A wrench in world axes is turned to body axes by the log's attitude, changed, and turned back.

    Args:
        recording: is not changed.
        change: from "force" or "torque" and its values, shape (n, 3), to the new values.
        what: the corruption, for messages.

    Raises:
        LogError: the log has no wrench, or has it in world axes and no attitude.
    """
    require_signals(recording, ("force", "torque"), what)
    wrench = {name: recording.signals[name] for name in ("force", "torque")}
    if recording.frames["wrench"] != "world":
        return with_signals(
            recording, {name: change(name, values) for name, values in wrench.items()}
        )
    require_signals(recording, ("quaternion",), f"{what} of a wrench in world axes")
    R = rotation_from_quaternion(recording.signals["quaternion"])
    turned = {
        name: rotate(R, change(name, rotate_back(R, values))) for name, values in wrench.items()
    }
    return with_signals(recording, turned)
