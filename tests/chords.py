"""Poses interpolated between the samples of a slower sensor, as loggers do."""

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from identify.spatial import unwrap_quaternions


def straight(values: np.ndarray, at: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Each component interpolated linearly."""
    return np.column_stack([np.interp(time, at, column) for column in values.T])


def between(
    position: np.ndarray, rotation: Rotation, at: np.ndarray, time: np.ndarray, kind: str
) -> dict[str, np.ndarray]:
    """Signals of a pose at some times, linear between samples.

    Args:
        position: of the samples [m], shape (k, 3).
        rotation: of the samples.
        at: when they were taken [s], shape (k,).
        time: of the rows [s], shape (n,).
        kind: of the attitude: "slerp", or its "components" or "rotation_vector" each for itself.
    """
    if kind == "slerp":
        q = Slerp(at, rotation)(time).as_quat()
    elif kind == "components":
        q = straight(unwrap_quaternions(rotation.as_quat()), at, time)
    else:
        q = Rotation.from_rotvec(straight(rotation.as_rotvec(), at, time)).as_quat()
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    return {"position": straight(position, at, time), "quaternion": q}
