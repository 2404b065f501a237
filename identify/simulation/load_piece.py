"""The sum of all loads on a body, over a stretch of time in which each is a straight line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Mat33, Vec3, Vec6
from identify.simulation.free_body import FreeBody
from identify.simulation.impulses import Impulse
from identify.simulation.loads import Load
from identify.spatial import vee
from identify.spatial.rotations import cross, rotate, rotate_back, rotation_from_unit_quaternion

_BODY, _WORLD, _LEVERS = slice(0, 6), slice(6, 12), slice(12, 21)


@dataclass(frozen=True, slots=True)
class LoadPiece:
    """Loads about C as 21 numbers that are linear in time.

    Loads in axes of C add up to one wrench, those in axes of W to a second one. The torque of world
    forces f_i at levers ρ_i, fixed in the body, depends on the attitude; with K = Σ f_i ρ_iᵀ it is

        Σ (R ρ_i) × f_i = 2 vee(K Rᵀ),

    so that any number of loads costs as much as one.

    Attributes:
        time: the instant the numbers are of [s].
        value: [wrench in C, wrench in W, K by rows], shape (..., 21).
        rate: their rate of change.
        none: whether there is no load at all.
    """

    time: float
    value: Array
    rate: Array
    none: bool

    def wrench(self, R_WC: Mat33, time: float) -> Vec6:
        """[f; t] about C in axes of W, at attitudes R_WC, shape (..., 6)."""
        now = self.value + (time - self.time) * self.rate
        K = now[..., _LEVERS].reshape(*now.shape[:-1], 3, 3)
        force = rotate(R_WC, now[..., 0:3])
        torque = rotate(R_WC, now[..., 3:6]) + 2.0 * vee(K @ np.swapaxes(R_WC, -1, -2))
        return np.concatenate((force, torque), axis=-1) + now[..., _WORLD]


def piece_of(loads: Sequence[Load], body: FreeBody, gravity: Vec3, time: float) -> LoadPiece:
    """The loads around a time that is no break of any of them.

    Gravity acts on the rigid body's mass alone, at C: no torque, and none of the fluid's share.
    """
    value, rate = np.zeros(21), np.zeros(21)
    weight = body.mass[..., None] * gravity
    none = not weight.any()
    value = value + _padded(weight, 6)
    for load in loads:
        line = load.line(time)
        if line is not None:
            none = False
            value = value + _about_centre(load, body, line[0])
            rate = rate + _about_centre(load, body, line[1])
    return LoadPiece(time, value, rate, none)


def jump_of(impulse: Impulse, body: FreeBody, R_WC: Mat33) -> Vec6:
    """[Δp; ΔL] about C in axes of W by an impulse, shape (..., 6)."""
    lever = _lever(impulse.point, body)
    linear, angular = impulse.linear, impulse.angular
    if impulse.frame == "body":
        to_C = rotation_from_unit_quaternion(body.axes)
        linear, angular = rotate_back(to_C, linear), rotate_back(to_C, angular)
        linear, angular = rotate(R_WC, linear), rotate(R_WC, angular)
    angular = angular + cross(rotate(R_WC, lever), linear)
    return np.concatenate((np.broadcast_to(linear, angular.shape), angular), axis=-1)


def _about_centre(load: Load, body: FreeBody, wrench: Vec6) -> Array:
    """The 21 numbers of one load; linear in its wrench, so its rate goes the same way."""
    force, torque = wrench[..., :3], wrench[..., 3:]
    lever = _lever(load.point, body)
    if load.frame == "world":
        K = (force[..., :, None] * lever[..., None, :]).reshape(*_batch(force, lever), 9)
        return _padded(wrench, 6) + _padded(K, 12)
    to_C = rotation_from_unit_quaternion(body.axes)
    force = rotate_back(to_C, force)
    return _padded(force, 0) + _padded(rotate_back(to_C, torque) + cross(lever, force), 3)


def _lever(point: Vec3, body: FreeBody) -> Vec3:
    """From C to a point of the body, in axes of C."""
    return rotate_back(rotation_from_unit_quaternion(body.axes), point - body.centre)


def _batch(*vectors: Array) -> tuple[int, ...]:
    return np.broadcast_shapes(*(vector.shape[:-1] for vector in vectors))


def _padded(part: Array, first: int) -> Array:
    """The 21 numbers that are zero but for `part`, from entry `first` on."""
    value = np.zeros((*part.shape[:-1], 21))
    value[..., first : first + part.shape[-1]] = part
    return value
