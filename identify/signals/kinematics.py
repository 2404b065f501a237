"""From what a log gives of a motion to pose, twist and acceleration, all in body axes.

What is missing is differentiated. Local polynomials differentiate; on the rotations they run on the
quaternion, whose two signs were unwrapped, so that ω = 2 vec(q̄ ⊗ dq/dt) and α = 2 vec(q̄ ⊗
d²q/dt²) hold everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from identify.arrays import Array, Mat33, Vec3, Vec4
from identify.errors import LogError
from identify.logs import Recording
from identify.signals.kernels import Differentiator
from identify.spatial import BodyMotion, quaternion_product, rotation_from_quaternion
from identify.spatial.rotations import (
    normalised_quaternion,
    quaternion_conjugate,
    rotate,
    rotate_back,
)


@dataclass(frozen=True)
class Kinematics:
    """A motion and the states it passes through, sample by sample.

    Attributes:
        motion: proper acceleration, angular velocity and acceleration in B.
        quaternion: R_WB as [x, y, z, w], shape (n, 4), or None for a log without attitude.
        position: p_WoBo_W [m], shape (n, 3), or None.
        velocity: v_WBo_W [m/s], shape (n, 3), or None.
        derivative_orders: how often the measured signals behind a', α and ω were differentiated.
        halo: samples lost at each edge.
    """

    motion: BodyMotion
    quaternion: Vec4 | None
    position: Vec3 | None
    velocity: Vec3 | None
    derivative_orders: tuple[int, int, int]
    halo: int

    @cached_property
    def rotation(self) -> Mat33 | None:
        """R_WB, shape (n, 3, 3), or None."""
        return None if self.quaternion is None else rotation_from_quaternion(self.quaternion)


def kinematics_of(
    recording: Recording,
    signals: Mapping[str, Array],
    differentiator: Differentiator,
    *,
    smoothed: bool = False,
) -> Kinematics:
    """Kinematics of evenly sampled signals of a recording.

    Args:
        recording: for the frames its signals are given in, and gravity.
        signals: by name, as in the recording, on a uniform clock, quaternions unwrapped.
        differentiator: for what has to be differentiated.
        smoothed: treat edges and attitude as if something had to be differentiated, though nothing
            has: something else is that goes with it.

    Raises:
        LogError: neither an acceleration nor anything to differentiate it from.
    """
    source = _Source(recording, signals, differentiator, smoothed=smoothed)
    rates, rate_order = _angular_velocity(source)
    alpha, alpha_order = _angular_acceleration(source)
    velocity = _velocity(source)
    proper, proper_order = _proper_acceleration(source, rates, velocity)
    return Kinematics(
        motion=BodyMotion(proper, rates, alpha),
        quaternion=source.quaternion,
        position=source.smooth("position") if source.has("position") else None,
        velocity=velocity,
        derivative_orders=(proper_order, alpha_order, rate_order),
        halo=source.halo,
    )


def still_motion(recording: Recording) -> BodyMotion:
    """The motion of a recording whose rows are still poses: gravity alone."""
    signals = recording.signals
    proper = signals.get("linear_acceleration")
    if proper is None or recording.acceleration_kind != "proper":
        rotation = rotation_from_quaternion(_need(recording, signals, "quaternion"))
        proper = -rotate_back(rotation, recording.gravity)
    elif recording.frames["acceleration"] == "world":
        rotation = rotation_from_quaternion(_need(recording, signals, "quaternion"))
        proper = rotate_back(rotation, proper)
    zero = np.zeros_like(proper)
    return BodyMotion(proper, zero, zero)


class _Source:
    """The signals of a log, each as a value or a derivative, all trimmed alike at the edges."""

    def __init__(
        self,
        recording: Recording,
        signals: Mapping[str, Array],
        differentiator: Differentiator,
        *,
        smoothed: bool = False,
    ) -> None:
        self.recording = recording
        self.differentiator = differentiator
        self._signals = signals
        complete = {"angular_velocity", "angular_acceleration", "linear_acceleration"}
        if "position" in signals or recording.acceleration_kind == "spatial":
            complete.add("linear_velocity")
        self.halo = differentiator.halo if smoothed or not complete <= set(signals) else 0
        self.quaternion: Vec4 | None = None
        if self.has("quaternion"):
            self.quaternion = normalised_quaternion(self.smooth("quaternion"))

    def has(self, name: str) -> bool:
        return name in self._signals

    def value(self, name: str) -> Array:
        """As given."""
        given = _need(self.recording, self._signals, name)
        return given[self.halo : len(given) - self.halo]

    def smooth(self, name: str) -> Array:
        """Smoothed as its derivatives are, or as given where nothing is differentiated."""
        return self.derivative(name, 0) if self.halo else self.value(name)

    def derivative(self, name: str, order: int) -> Array:
        given = _need(self.recording, self._signals, name)
        return self.differentiator.apply(given, order)

    @cached_property
    def rotation(self) -> Mat33:
        if self.quaternion is None:
            raise _missing(self.recording, "quaternion")
        return rotation_from_quaternion(self.quaternion)

    def in_body(self, v: Vec3, group: str) -> Vec3:
        world = self.recording.frames[group] == "world"
        return rotate_back(self.rotation, v) if world else v


def _need(recording: Recording, signals: Mapping[str, Array], name: str) -> Array:
    if name not in signals:
        raise _missing(recording, name)
    return signals[name]


def _missing(recording: Recording, name: str) -> LogError:
    return LogError(
        f"{recording.name}: the log gives no {name.replace('_', ' ')}, and what it gives is not "
        "enough to work it out; add its columns to the schema"
    )


def _angular_velocity(source: _Source) -> tuple[Vec3, int]:
    if source.has("angular_velocity"):
        return source.in_body(source.value("angular_velocity"), "twist"), 0
    return _from_quaternion(source, 1), 1


def _angular_acceleration(source: _Source) -> tuple[Vec3, int]:
    if source.has("angular_acceleration"):
        return source.in_body(source.value("angular_acceleration"), "acceleration"), 0
    if source.has("angular_velocity"):
        # dω/dt is the same vector seen from W and from B, since ω × ω = 0.
        return source.in_body(source.derivative("angular_velocity", 1), "twist"), 1
    return _from_quaternion(source, 2), 2


def _from_quaternion(source: _Source, order: int) -> Vec3:
    """2 vec(q̄ ⊗ dⁿq/dtⁿ): ω for the first derivative, α for the second."""
    value = source.derivative("quaternion", 0)
    product = quaternion_product(
        quaternion_conjugate(value), source.derivative("quaternion", order)
    )
    return 2.0 * product[:, :3] / np.sum(value**2, axis=1, keepdims=True)


def _velocity(source: _Source) -> Vec3 | None:
    """v_WBo_W: as given, or the derivative of position."""
    if source.has("linear_velocity") and source.quaternion is not None:
        given = source.value("linear_velocity")
        world = source.recording.frames["twist"] == "world"
        return given if world else rotate(source.rotation, given)
    return source.derivative("position", 1) if source.has("position") else None


def _proper_acceleration(source: _Source, rates: Vec3, velocity: Vec3 | None) -> tuple[Vec3, int]:
    """a' = a_WBo_B − g_B: as given, or from the derivative of velocity or position."""
    if source.has("linear_acceleration"):
        acceleration = source.in_body(source.value("linear_acceleration"), "acceleration")
        kind = source.recording.acceleration_kind
        if kind == "proper":
            return acceleration, 0
        if kind == "spatial":
            if velocity is None:
                velocity = source.value("linear_velocity")
            acceleration = acceleration + np.cross(rates, rotate_back(source.rotation, velocity))
        return acceleration - rotate_back(source.rotation, source.recording.gravity), 0
    if not source.has("linear_velocity"):
        acceleration = source.derivative("position", 2)
        return rotate_back(source.rotation, acceleration - source.recording.gravity), 2
    derivative = source.derivative("linear_velocity", 1)
    if source.recording.frames["twist"] == "world":
        return rotate_back(source.rotation, derivative - source.recording.gravity), 1
    # Seen from B the axes turn: a_B = dv_B/dt + ω × v_B.
    acceleration = derivative + np.cross(rates, source.value("linear_velocity"))
    return acceleration - rotate_back(source.rotation, source.recording.gravity), 1
