"""Kinematics of an evenly sampled segment: differentiated signals, and quantities in body axes.

`Samples` differentiates signals that a log lacks by local polynomials; rotations through the
quaternion with unwrapped signs, so that ω = 2 vec(q̄ ⊗ dq/dt) and α = 2 vec(q̄ ⊗ d²q/dt²) hold
everywhere. `BodyAxes` computes the quantities in body axes from them, instant by instant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from identify.arrays import Array, Mat33, Vec3, Vec4
from identify.errors import LogError
from identify.logs import Recording
from identify.signals.differentiator import Differentiator
from identify.signals.imu_calibration import ImuCalibration
from identify.signals.transform import UNSMOOTHED
from identify.spatial import coadjoint, quaternion_product, rotation_from_quaternion
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    ATTITUDE,
    COLUMN_COUNT,
    FIT_COLUMN_COUNT,
    FORCE_AXES,
    PRODUCT_FIRST_AXES,
    PRODUCT_SECOND_AXES,
    PROPER_ACCELERATION,
    RATE_PRODUCTS,
    TORQUE_AXES,
    WRENCH,
    WRENCH_RATE,
    WRENCH_SECOND_RATE,
    columns_of_part,
    without_constant,
)
from identify.spatial.rotations import (
    cross,
    normalised_quaternion,
    quaternion_conjugate,
    rotate,
    rotate_back,
)

SignalDerivative: TypeAlias = tuple[str, int]
"""Name of a signal and order of its derivative (`SAMPLE`: not smoothed)."""

REDUNDANT_COLUMNS = 12
"""Number of extra columns if an IMU measures a motion that other signals give too: a' and α of
the other signals, ω of the IMU, ω of the other signals."""


class Samples:
    """Signals of a segment and their derivatives, all trimmed by the same rows at the edges.

    `recording` gives frames, gravity and, without an `imu`, its calibration; `signals` are on a
    uniform clock with quaternions unwrapped. If `wide`, the wrench is differentiated too, and edges
    and attitude are treated as if the motion had to be.

    Attributes:
        half_window: samples lost at each edge.
        attitude: signal derivative that gives R_WB: smoothed as its derivatives are, or as given
            if nothing is differentiated.
        quaternion: R_WB as [x, y, z, w], shape (n, 4), or None for a log without attitude.
        evaluated: signals and derivatives evaluated so far.
    """

    def __init__(
        self,
        recording: Recording,
        signals: Mapping[str, Array],
        differentiator: Differentiator,
        imu: ImuCalibration | None = None,
        *,
        wide: bool = False,
    ) -> None:
        self.recording, self.signals = recording, signals
        self.imu = imu or ImuCalibration.of_schema(recording)
        self.differentiator, self.wide = differentiator, wide
        complete = {"angular_velocity", "angular_acceleration", "linear_acceleration"}
        if "position" in signals or recording.acceleration_kind == "spatial":
            complete.add("linear_velocity")
        differentiated = wide or "gyro" in signals or not complete <= set(signals)
        self.half_window = differentiator.half_window if differentiated else 0
        self.attitude: SignalDerivative = ("quaternion", 0 if self.half_window else UNSMOOTHED)
        self.quaternion: Vec4 | None = None
        if "quaternion" in signals:
            self.quaternion = normalised_quaternion(self._smoothed)
        self.evaluated: dict[SignalDerivative, Array] = {}

    def __call__(self, name: str, order: int) -> Array:
        """Return a signal or its derivative, (n, 3); for the quaternion R_WB, (n, 3, 3), ω or α."""
        if (name, order) not in self.evaluated:
            evaluate = self._rotation_signal if name == "quaternion" else self._signal
            self.evaluated[name, order] = evaluate(name, order)
        return self.evaluated[name, order]

    def _signal(self, name: str, order: int) -> Array:
        given = require_signal(self.recording, self.signals, name)
        if order == UNSMOOTHED:
            return given[self.half_window : len(given) - self.half_window]
        return self.differentiator.apply(given, order)

    @cached_property
    def _smoothed(self) -> Array:
        """Quaternion as selected by `attitude`, not normalised, shape (n, 4)."""
        return self._signal(*self.attitude)

    def _rotation_signal(self, name: str, order: int) -> Array:
        value = self._smoothed
        if order == self.attitude[1]:
            return rotation_from_quaternion(value)
        self(*self.attitude)  # its noise is in the rates too
        product = quaternion_product(quaternion_conjugate(value), self._signal(name, order))
        return 2.0 * product[:, :3] / np.sum(value**2, axis=1, keepdims=True)

    @property
    def in_body(self) -> BodyAxes:
        """Quantities in body axes; not cached, to avoid a reference cycle with large arrays."""
        return BodyAxes(self.recording, self.signals, self, self.attitude, self.imu)

    @cached_property
    def position(self) -> Vec3 | None:
        """Position p_WoBo_W, smoothed if any signal is differentiated, shape (n, 3), or None."""
        if "position" not in self.signals:
            return None
        return self._signal("position", self.attitude[1])

    @cached_property
    def velocity(self) -> Vec3 | None:
        """Velocity v_WBo_W: as logged, or the derivative of position, shape (n, 3), or None."""
        if "linear_velocity" in self.signals and self.quaternion is not None:
            given = self._signal("linear_velocity", UNSMOOTHED)
            is_in_world = self.recording.frames["twist"] == "world"
            return (
                given if is_in_world else rotate(rotation_from_quaternion(self.quaternion), given)
            )
        return self._signal("position", 1) if "position" in self.signals else None


class BodyAxes:
    """Motion and wrench in body axes, computed from the signals of a log instant by instant.

    Every line is analytic in the values, so that a complex step in one of them gives the derivative
    (Squire and Trapp, "Using complex variables to estimate derivatives of real functions", 1998).
    `value` returns a derivative of a `given` signal, as `Samples` does; `attitude` gives R_WB.
    """

    def __init__(
        self,
        recording: Recording,
        given: Collection[str],
        value: Callable[[str, int], Array],
        attitude: SignalDerivative,
        imu: ImuCalibration,
    ) -> None:
        self.recording, self.given = recording, given
        self._value, self._attitude, self._imu = value, attitude, imu

    @property
    def has_redundant_imu(self) -> bool:
        """Whether the log has both an IMU and other signals that give the same motion."""
        return self._has_redundant_accelerometer or self._has_redundant_gyro

    @property
    def _has_redundant_gyro(self) -> bool:
        others = {"quaternion", "angular_velocity"}
        return "gyro" in self.given and not others.isdisjoint(self.given)

    @property
    def _has_redundant_accelerometer(self) -> bool:
        others = {"linear_acceleration"}
        if "quaternion" in self.given:
            others |= {"position", "linear_velocity"}
        return "accelerometer" in self.given and not others.isdisjoint(self.given)

    @property
    def without_imu(self) -> BodyAxes:
        """Quantities in body axes from the signals of the log other than the IMU's."""
        given = set(self.given) - {"gyro", "accelerometer"}
        return BodyAxes(self.recording, given, self._value, self._attitude, self._imu)

    @cached_property
    def rotation(self) -> Mat33:
        """Rotation R_WB of the body, shape (..., 3, 3)."""
        return self._value(*self._attitude)

    @cached_property
    def angular_velocity(self) -> Vec3:
        """Angular velocity ω_WB_B."""
        if "gyro" in self.given:
            return self._value("gyro", UNSMOOTHED) - np.array(self._imu.gyro_offset)
        if "angular_velocity" in self.given:
            return self._in_body_axes("angular_velocity", UNSMOOTHED, "twist")
        return self._value("quaternion", 1)

    @cached_property
    def angular_acceleration(self) -> Vec3:
        """Angular acceleration α_WB_B; dω/dt is equal seen from W and from B, since ω × ω = 0."""
        if "gyro" in self.given:
            return self._value("gyro", 1)
        if "angular_acceleration" in self.given:
            return self._in_body_axes("angular_acceleration", UNSMOOTHED, "acceleration")
        if "angular_velocity" in self.given:
            return self._in_body_axes("angular_velocity", 1, "twist")
        return self._value("quaternion", 2)

    @cached_property
    def proper_acceleration(self) -> Vec3:
        """Proper acceleration a' = a_WBo_B − g_B: measured, or from velocity or position.

        An accelerometer at r reads a' + α × r + ω × (ω × r).
        """
        if "accelerometer" in self.given:
            w, r = self.angular_velocity, self._imu.X_BI.position
            rotational = cross(self.angular_acceleration, r) + cross(w, cross(w, r))
            return self._value("accelerometer", UNSMOOTHED) - rotational
        gravity, kind = self.recording.gravity, self.recording.acceleration_kind
        if "linear_acceleration" in self.given:
            acceleration = self._in_body_axes("linear_acceleration", UNSMOOTHED, "acceleration")
            if kind == "proper":
                return acceleration
            if kind == "spatial":
                acceleration = acceleration + cross(self.angular_velocity, self._velocity)
            return acceleration - rotate_back(self.rotation, gravity)
        if "linear_velocity" not in self.given:
            acceleration = self._value("position", 2)
            return rotate_back(self.rotation, acceleration - gravity)
        derivative = self._value("linear_velocity", 1)
        if self.recording.frames["twist"] == "world":
            return rotate_back(self.rotation, derivative - gravity)
        # Seen from B the axes turn: a_B = dv_B/dt + ω × v_B.
        acceleration = derivative + cross(self.angular_velocity, self._velocity)
        return acceleration - rotate_back(self.rotation, gravity)

    @property
    def _velocity(self) -> Vec3:
        """Velocity v_WBo_B of the body's origin."""
        if "linear_velocity" in self.given or "position" not in self.given:
            return self._in_body_axes("linear_velocity", UNSMOOTHED, "twist")
        velocity = self._value("position", 1)
        return rotate_back(self.rotation, velocity)

    @cached_property
    def wrench(self) -> tuple[Vec3, Vec3]:
        """Force and torque at Bo in B; a sensor's bias is constant in these axes.

        A weight [m g; h × g] that a controller subtracted is added back. It is not added to the
        rates: delays and filters act on the wrench without its weight.
        """
        if self.recording.frames["wrench"] == "world" and "quaternion" not in self.given:
            raise LogError(
                f"{self.recording.name}: the wrench is in world axes, and the log gives no "
                "attitude to rotate it by; add the pose to the schema"
            )
        force, torque = self._at_origin(self._wrench_derivative(UNSMOOTHED))
        if not self.recording.compensated:
            return force, torque
        m, *h = self.recording.compensated
        down = rotate_back(self.rotation, self.recording.gravity)
        return force - m * down, torque - cross(np.array(h), down)

    @cached_property
    def wrench_derivatives(self) -> tuple[Vec3, Vec3, Vec3, Vec3]:
        """Derivatives [ḟ; ṫ; f̈; ẗ] of the wrench, seen from the axes in which its delay acts.

        A force that is given in world axes, f_B = Rᵀ f_W, has with b_k = Rᵀ dᵏf_W/dtᵏ

            ḟ_B = b₁ − ω × b₀        f̈_B = b₂ − 2 ω × b₁ − α × b₀ + ω × (ω × b₀)

        as seen from B, and b₁ and b₂ as seen from W.
        """
        if self.recording.frames["wrench"] != "world" or self.recording.delay_axes == "world":
            derivatives = [self._wrench_derivative(1), self._wrench_derivative(2)]
        else:
            w, al = self.angular_velocity, self.angular_acceleration
            derivatives = [[], []]
            for b0, b1, b2 in zip(*map(self._wrench_derivative, range(3)), strict=True):
                rotational = cross(w, b0)
                derivatives[0].append(b1 - rotational)
                derivatives[1].append(
                    b2 - 2.0 * cross(w, b1) - cross(al, b0) + cross(w, rotational)
                )
        first, second = map(self._at_origin, derivatives)
        return (*first, *second)

    def _wrench_derivative(self, order: int) -> Sequence[Vec3]:
        """Return force and torque at the sensor, or their derivatives seen from the log's axes."""
        return [self._in_body_axes(name, order, "wrench") for name in ("force", "torque")]

    def _at_origin(self, derivatives: Sequence[Vec3]) -> tuple[Vec3, Vec3]:
        """Transform force and torque, or their derivatives, from the sensor to Bo in B."""
        force, torque = derivatives
        if self.recording.X_BS is None:
            return force, torque
        X = coadjoint(self.recording.X_BS)
        return force @ X[:3, :3].T, force @ X[3:, :3].T + torque @ X[3:, 3:].T

    def _in_body_axes(self, name: str, order: int, group: str) -> Vec3:
        value = self._value(name, order)
        is_in_world = self.recording.frames.get(group) == "world"
        return rotate_back(self.rotation, value) if is_in_world else value

    def width(self, *, wide: bool) -> int:
        """Return the number of columns that `column_blocks` fills."""
        columns = (COLUMN_COUNT if wide else FIT_COLUMN_COUNT) - 1
        return columns + (REDUNDANT_COLUMNS if self.has_redundant_imu else 0)

    def column_blocks(self, *, wide: bool) -> list[tuple[slice, Array]]:
        """Return features ψ and wrench w in blocks (if wide, Rᵀ, ẇ, ẅ, Rᵀp too), with slices.

        Rᵀ by rows, omitted without an attitude. Rᵀp is omitted: `preparation` adds it, as its
        noise is not needed. Redundant columns are last.
        """
        w = self.angular_velocity
        products = w[..., PRODUCT_FIRST_AXES] * w[..., PRODUCT_SECOND_AXES]
        parts = [self.proper_acceleration, self.angular_acceleration, products, *self.wrench]
        slices = [
            PROPER_ACCELERATION,
            ANGULAR_ACCELERATION,
            RATE_PRODUCTS,
            *_force_and_torque_columns(WRENCH),
        ]
        if wide:
            parts += self.wrench_derivatives
            slices += [
                *_force_and_torque_columns(WRENCH_RATE),
                *_force_and_torque_columns(WRENCH_SECOND_RATE),
            ]
            if "quaternion" in self.given:
                transposed = self.rotation.swapaxes(-1, -2)
                parts.append(transposed.reshape(*transposed.shape[:-2], 9))
                slices.append(without_constant(ATTITUDE))
        if self.has_redundant_imu:
            reference = self.without_imu
            linear = reference if self._has_redundant_accelerometer else self
            angular = reference if self._has_redundant_gyro else self
            parts += [
                linear.proper_acceleration,
                angular.angular_acceleration,
                w,
                angular.angular_velocity,
            ]
            end = (COLUMN_COUNT if wide else FIT_COLUMN_COUNT) - 1
            slices += [slice(start, start + 3) for start in range(end, end + REDUNDANT_COLUMNS, 3)]
        return list(zip(slices, parts, strict=True))


def _force_and_torque_columns(wrench: slice) -> tuple[slice, slice]:
    """Return the force and torque slices of a wrench in the columns without the constant."""
    columns = without_constant(wrench)
    return columns_of_part(FORCE_AXES, columns), columns_of_part(TORQUE_AXES, columns)


def static_poses_in_body(recording: Recording) -> BodyAxes:
    """Return the quantities of static poses in body axes: no motion, gravity only."""
    signals, groups = recording.signals, {"quaternion": "", "force": "wrench", "torque": "wrench"}
    if "accelerometer" in signals and "quaternion" not in signals:  # equal at every point at rest
        signals = {**signals, "linear_acceleration": signals["accelerometer"]}
        frames = {**recording.frames, "acceleration": "body"}
        recording = replace(recording, acceleration_kind="proper", frames=frames)
    is_proper = recording.acceleration_kind == "proper" and "linear_acceleration" in signals
    if is_proper:
        groups["linear_acceleration"] = "acceleration"
    zero = np.zeros((len(recording), 3))
    motion = ("angular_velocity", "angular_acceleration", "linear_acceleration")
    still = replace(
        recording,
        signals=dict.fromkeys(motion, zero)
        | {name: signals[name] for name in groups if name in signals},
        frames={
            group: frame for group, frame in recording.frames.items() if group in groups.values()
        },
        acceleration_kind="proper" if is_proper else "classical",
    )

    def value(name: str, order: int) -> Array:
        given = require_signal(still, still.signals, name)
        if name == "quaternion":
            return rotation_from_quaternion(given)
        return given if order == UNSMOOTHED else zero

    return BodyAxes(still, still.signals, value, ("quaternion", UNSMOOTHED), ImuCalibration())


def require_signal(recording: Recording, signals: Mapping[str, Array], name: str) -> Array:
    """Return a signal by its name; raise if the recording does not have it.

    Raises `LogError`: the recording has no signal of that name.
    """
    if name not in signals:
        raise LogError(
            f"{recording.name}: the log gives no {name.replace('_', ' ')}, and it cannot be "
            "derived from its other signals; add its columns to the schema"
        )
    return signals[name]
