"""A simulated motion as a recording, to be written as a log and fitted like a measured one."""

from __future__ import annotations

import hashlib

import numpy as np

from identify.arrays import Vec3, Vec6, seal
from identify.errors import LogError
from identify.logs.recording import Recording
from identify.simulation import Trajectory
from identify.spatial.rotations import rotate, rotation_from_unit_quaternion


def recording_of_motion(path: Trajectory, wrench: Vec6, gravity: Vec3, name: str) -> Recording:
    """The states of one body and the wrench on it as a recording: pose, twist (in W) and wrench.

    Args:
        path: of one body, shape (n, ·).
        wrench: [f; t] on the body at Bo in B, gravity left out, shape (n, 6).
        gravity: g in W [m/s²], shape (3,).
        name: of the recording.

    Raises:
        LogError: more than one body.
    """
    if path.position.ndim != 2:
        raise LogError(
            f"a recording is of one body, got a trajectory of shape {path.position.shape}; take "
            f"one body out of the batch"
        )
    R = rotation_from_unit_quaternion(path.quaternion)
    time = seal(path.time, "time", (None,))
    signals = {
        "position": seal(path.position, "position", (None, 3)),
        "quaternion": seal(path.quaternion, "quaternion", (None, 4)),
        "linear_velocity": seal(path.velocity, "velocity", (None, 3)),
        "angular_velocity": seal(rotate(R, path.angular_velocity), "angular velocity", (None, 3)),
        "force": seal(wrench[..., :3], "force", (None, 3)),
        "torque": seal(wrench[..., 3:], "torque", (None, 3)),
    }
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in signals.values()))
    return Recording(
        name=name,
        time=time,
        signals=signals,
        frames={"twist": "world", "wrench": "body"},
        gravity=seal(gravity, "gravity", (3,)),
        sources=(),
        sha256=digest.hexdigest(),
        rows=len(time),
    )
