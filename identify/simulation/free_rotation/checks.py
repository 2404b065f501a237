"""Checked and scaled initial conditions of free rotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Vec3, Vec4, as_array
from identify.errors import SimulationError
from identify.inertia.matrices import entries_from_symmetric, inertia_about_com
from identify.simulation.checks import (
    broadcast_batches,
    first_true_index,
    format_batch_index,
    require_consistent,
)

_SYMMETRY_TOLERANCE = 1e-12
"""Maximum asymmetry of an inertia, relative to its largest entry."""

_NEGLIGIBLE_MOMENT = 1e-13
"""Principal moment, relative to the largest one, below which it counts as zero."""


@dataclass(frozen=True, slots=True)
class RotationStart:
    """Bodies and their states at time zero, one per row, scaled to order one.

    Attributes:
        batch_shape: batch shape of the rows.
        inertia: I_BBcm_B over `unit_of_inertia`, shape (n, 3, 3).
        unit_of_inertia: powers of two [kg m²], shape (n,).
        quaternion: R_WB of unit norm, shape (n, 4).
        spin: w_WB_B over `unit_of_spin`, shape (n, 3).
        unit_of_spin: powers of two [rad/s], shape (n,).
    """

    batch_shape: tuple[int, ...]
    inertia: Mat33
    unit_of_inertia: Array
    quaternion: Vec4
    spin: Vec3
    unit_of_spin: Array


def checked_start(
    body: ArrayLike,
    quaternion: ArrayLike,
    angular_velocity: ArrayLike,
    others: tuple[int, ...] = (),
) -> RotationStart:
    """Check, broadcast and scale bodies and states.

    `body`: I_BBcm_B, shape (..., 3, 3), or phi, shape (..., 10); `quaternion`: R_WB, shape (...,
    4); `angular_velocity`: w_WB_B [rad/s], shape (..., 3); `others`: a batch shape to broadcast
    with.
    Raises `SimulationError`: see `rotate_freely`.
    """
    inertia = checked_inertia(body)
    q = as_array(quaternion, "quaternion", (..., 4), SimulationError)
    w = as_array(angular_velocity, "angular velocity", (..., 3), SimulationError)
    shapes = {"body": inertia.shape[:-2], "quaternion": q.shape[:-1]}
    batch = broadcast_batches({**shapes, "angular velocity": w.shape[:-1], "time": others})
    count = int(np.prod(batch))

    def rows(values: Array, dimensions: int) -> Array:
        """Broadcast to one row per body, with the last dimensions as components."""
        tail = values.shape[values.ndim - dimensions :]
        return np.broadcast_to(values, (*batch, *tail)).reshape(count, *tail)

    inertia = rows(inertia, 2)
    unit_of_inertia = _power_of_two(np.abs(inertia).max(axis=(1, 2), initial=0.0))
    w = rows(w, 1)
    unit_of_spin = _power_of_two(np.abs(w).max(axis=-1, initial=0.0))
    return RotationStart(
        batch_shape=batch,
        inertia=inertia / unit_of_inertia[:, None, None],
        unit_of_inertia=unit_of_inertia,
        quaternion=rows(_unit_quaternion(q), 1),
        spin=w / unit_of_spin[:, None],
        unit_of_spin=unit_of_spin,
    )


def checked_inertia(body: ArrayLike) -> Mat33:
    """Check bodies and return their inertia about the centre of mass, shape (..., 3, 3).

    Raises `SimulationError`: see `rotate_freely`.
    """
    body = as_array(body, "body", (...,), SimulationError)
    phi = body
    unit = None
    tensor = None
    if body.shape[-2:] == (3, 3):
        tensor = _symmetric_inertia(body)
        unit = _power_of_two(np.abs(tensor).max(axis=(-2, -1), initial=0.0))
        six = entries_from_symmetric(tensor / unit[..., None, None])
        phi = np.zeros((*unit.shape, 10))
        phi[..., 0], phi[..., 4:] = 1.0, six
    elif body.shape[-1:] != (10,):
        raise SimulationError(
            "body: expected an inertia about the centre of mass, shape (..., 3, 3), or ten "
            f"parameters, shape (..., 10); got {body.shape}"
        )
    require_consistent(phi, unit)
    tensor = inertia_about_com(phi) if tensor is None else tensor
    moments = np.linalg.eigvalsh(tensor)
    valid = moments[..., 0] > _NEGLIGIBLE_MOMENT * moments[..., 2]
    if not np.all(valid):
        index = first_true_index(~valid)
        listed = ", ".join(f"{moment:.4g}" for moment in moments[index])
        raise SimulationError(
            f"the body{format_batch_index(index)} has no inertia about some axis (a point or a "
            f"rod): its principal moments are {listed} kg m², and its rotation about that axis is "
            f"not determined"
        )
    return tensor


def require_known_angle(angle: Array, limit: float) -> None:
    """Raise `SimulationError` if a rotation angle is NaN or above `limit` [rad]."""
    if angle.size and not np.abs(angle).max() <= limit:
        raise SimulationError(
            f"time: the body turns by more than {limit:.0e} rad until then, where the attitude "
            "is lost in rounding; use a time closer to the start"
        )


def _symmetric_inertia(inertia: Array) -> Array:
    transposed = inertia.swapaxes(-1, -2)
    scale = np.abs(inertia).max(axis=(-2, -1), keepdims=True, initial=0.0)
    valid = (np.abs(inertia - transposed) <= _SYMMETRY_TOLERANCE * scale).all(axis=(-2, -1))
    if not np.all(valid):
        index = first_true_index(~valid)
        raise SimulationError(
            f"body{format_batch_index(index)}: the inertia is not symmetric:\n{inertia[index]}\n"
            "an inertia tensor has Ixy = Iyx, Ixz = Izx and Iyz = Izy"
        )
    return 0.5 * (inertia + transposed)


def _unit_quaternion(quaternion: Vec4) -> Vec4:
    largest = np.abs(quaternion).max(axis=-1, keepdims=True, initial=0.0)
    if not np.all(largest > 0.0):
        index = first_true_index(~(largest[..., 0] > 0.0))
        raise SimulationError(
            f"quaternion{format_batch_index(index)}: all four numbers are zero; expected an "
            "attitude, such as [0, 0, 0, 1] for axes along those of the world"
        )
    scaled = quaternion / largest
    return scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)


def _power_of_two(values: Array) -> Array:
    """Return the largest power of two that is at most each value; one for zero."""
    return np.exp2(np.floor(np.log2(np.where(values > 0.0, values, 1.0))))
