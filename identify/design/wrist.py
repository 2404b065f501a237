"""Motions of a wrist with a force-torque sensor, designed from limits without a robot model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from identify.arrays import Array, Phi, Vec3
from identify.design.periodic import AxisLimits
from identify.design.problem import DesignRows, RowsPullback, no_proximity, used_at_start
from identify.errors import ProblemError
from identify.inertia import BaseColumns
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.spatial.columns import PRODUCT_PAIRS, PROPER_ACCELERATION

WRIST_AXES = ("z", "y", "x")
"""Axes of the rotations in their order, R = R_z(θ₁) R_y(θ₂) R_x(θ₃)."""

_COMPLEX_STEP = 1e-20
"""Step of derivatives by complex numbers, which cancel nothing."""


@dataclass(frozen=True, slots=True)
class WrenchNoise:
    """Noise of a force-torque sensor.

    Attributes:
        force, torque: standard deviation of a sample [N], [N m].
        rate_hz: samples a second that are independent.
    """

    force: float
    torque: float
    rate_hz: float

    @property
    def sigma(self) -> Array:
        """Standard deviation of each component of the wrench, shape (6,)."""
        return np.repeat([self.force, self.torque], 3)


@dataclass(frozen=True, slots=True)
class WristProblem:
    """Design problem of a wrist sensor: the inertial parameters of a body, with unknown offsets.

    The body turns about its origin, which is at rest, R_WB = R_WB(0) R_z(θ₁) R_y(θ₂) R_x(θ₃).

    Attributes:
        limits: of the angles about z, y and x [rad].
        gravity: g in axes of the body at the start [m/s²].
        noise: of the sensor.
        payload: rough parameters of the body, with the sensor's range.
        tilt: largest angle between gravity in the body and its direction there at the start [rad];
            π if there is no limit.
        sensor_range: largest force and torque on each axis [N], [N m]; infinite for no limit.
        prior_information: on the ten parameters, from an earlier fit, for each second of the
            motion.
    """

    axes: ClassVar[tuple[str, ...]] = tuple(f"r{axis}" for axis in WRIST_AXES)
    """Names of the rotations in files."""

    longest_period: ClassVar[float] = 20.0
    """Longest period of a motion [s]; longer ones have more local optima and no more gain."""

    wanted_count: ClassVar[int] = 10
    """Number of unknowns to be identified."""

    limit_names: ClassVar[tuple[str, ...]] = (
        *("the tilt", *(f"the force on {axis}" for axis in "xyz")),
        *(f"the torque on {axis}" for axis in "xyz"),
    )
    """Names of the limits in the order of `DesignRows.shares`."""

    limits: AxisLimits
    gravity: Vec3
    noise: WrenchNoise
    payload: Phi
    tilt: float = np.pi
    sensor_range: tuple[float, float] = (np.inf, np.inf)
    prior_information: Array | None = None

    def __post_init__(self) -> None:
        require_tilt(self.tilt)
        if not np.any(self.gravity):
            raise ProblemError(
                "gravity: expected its components in axes of the tool at the start, got zero"
            )
        if not min(self.sensor_range) > 0.0:
            force, torque = self.sensor_range
            raise ProblemError(
                "range of the sensor: expected a force and a torque above zero, got "
                f"{force:g} N and {torque:g} N m"
            )

    @property
    def start(self) -> Array:
        """Angles at the start, zero."""
        return np.zeros(3)

    @property
    def rate_hz(self) -> float:
        """Independent samples a second of the sensor."""
        return self.noise.rate_hz

    @property
    def base_columns(self) -> BaseColumns:
        """The ten parameters, all of which are wanted."""
        return BaseColumns(np.arange(10), np.eye(10))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on limits that hold, and on what was not checked."""
        angles, speeds, accelerations = (
            " ".join(f"{value:.4g}" for value in np.degrees(values))
            for values in (self.limits.high, self.limits.speed, self.limits.acceleration)
        )
        others = f", tilt {np.degrees(self.tilt):.4g} deg" if self.tilt < np.pi else ""
        force, torque = self.sensor_range
        ranges = ((force, f"force {force:.4g} N"), (torque, f"torque {torque:.4g} Nm"))
        if given := " and ".join(text for value, text in ranges if np.isfinite(value)):
            others += f", {given} on each axis of the sensor"
        return (
            "Rotations are about the origin of the sensor, R = Rz Ry Rx from the attitude at the "
            "start; set the tool point there, and move to the start by hand.",
            f"Limits that hold, of the angles about z, y, x: up to {angles} deg, speed {speeds} "
            f"deg/s, acceleration {accelerations} deg/s2{others}; with a body of "
            f"{self.payload[0]:.3g} kg.",
            "Not checked: collisions, reach and singularities of the robot, and limits of its "
            "joints.",
        )

    def contact(self, motion: Array) -> str:
        """Return no pair: without a robot model, collisions are not checked."""
        return ""

    def proximity(self, motion: Array) -> tuple[Array, Array]:
        """Return no pairs: without a robot model there are no shapes."""
        return no_proximity(motion)

    def describe_excess(self, limit: int, share: float) -> str:
        """Describe how the start exceeds a limit, and what to do."""
        return f"{self.limit_names[limit]}: {used_at_start(share)}"

    def rows(self, motion: Array) -> DesignRows:
        """Return rows [Y, 1] / σ of each sample, and shares of tilt and range."""
        return self._rows(wrist_features(np.moveaxis(motion, 1, 0), self.gravity))

    def _rows(self, psi: Array) -> DesignRows:
        regressor = np.zeros((len(psi), 6, 16))
        regressor[..., :10] = np.tensordot(psi, self._whitened_tensor, axes=1)
        regressor[..., 10:] = np.diag(1.0 / self.noise.sigma)
        tilt = self._tilt_scale * (1.0 - psi[:, PROPER_ACCELERATION] @ self._upright)
        return DesignRows(regressor, np.column_stack((tilt, np.abs(psi @ self._range_shares))))

    def rows_with_pullback(self, motion: Array) -> tuple[DesignRows, RowsPullback]:
        """Return rows and shares, and the pullback of gradients to the angles' motion."""
        states = np.moveaxis(motion, 1, 0)
        psi, jacobian = wrist_features(states, self.gravity), wrist_jacobian(states, self.gravity)

        def pullback(of: DesignRows) -> Array:
            of_psi = np.tensordot(of.regressor[..., :10], self._whitened_tensor, ((1, 2), (1, 2)))
            of_range = of.shares[:, 1:] * np.sign(psi @ self._range_shares)
            of_psi += of_range @ self._range_shares.T
            of_tilt = self._tilt_scale * of.shares[:, :1]
            of_psi[:, PROPER_ACCELERATION] -= of_tilt * self._upright
            return np.einsum("tj,tjon->otn", of_psi, jacobian)

        return self._rows(psi), pullback

    @property
    def _whitened_tensor(self) -> Array:
        return FEATURE_TENSOR / self.noise.sigma[:, None]

    @property
    def _upright(self) -> Vec3:
        """Direction of the proper acceleration at the start, divided by its length."""
        return -self.gravity / (self.gravity @ self.gravity)

    @property
    def _tilt_scale(self) -> float:
        """Share of the limit of tilt for each 1 − cos of a tilt, which has no kink at zero."""
        return 1.0 / (1.0 - np.cos(self.tilt)) if self.tilt < np.pi else 0.0

    @property
    def _range_shares(self) -> Array:
        """Share of the sensor's range on each axis for each feature, shape (12, 6)."""
        return FEATURE_TENSOR @ self.payload / np.repeat(self.sensor_range, 3)


def wrist_limits(angle: Vec3, speed: float, acceleration: float) -> AxisLimits:
    """Return the limits of a wrist about z, y and x.

    Args:
        angle: largest angle from the start about the tool's axes x, y and z [rad].
        speed: about each axis [rad/s].
        acceleration: about each axis [rad/s²].

    Raises:
        ProblemError: a limit is not above zero.
    """
    if not np.min(angle) > 0.0:
        got = " ".join(f"{value:g}" for value in np.degrees(angle))
        raise ProblemError(
            f"angle: expected above 0 deg about each axis, got {got}; give an axis that is not to "
            "turn a small angle, such as 5 deg"
        )
    high = np.asarray(angle, dtype=float)[::-1]
    speeds, accelerations = (np.full(3, float(limit)) for limit in (speed, acceleration))
    names = tuple(f"the angle about {axis}" for axis in WRIST_AXES)
    return AxisLimits(-high, high, speeds, accelerations, names)


def require_tilt(tilt: float) -> None:
    """Raise `ProblemError` unless a tilt [rad] is above 0 and up to π."""
    if not 0.0 < tilt <= np.pi:
        raise ProblemError(
            f"tilt: expected an angle above 0 and up to 180 degrees, got {np.degrees(tilt):g}"
        )


def wrist_features(states: Array, gravity: Vec3) -> Array:
    """Return the twelve features ψ of a body that turns about its origin.

    Along the chain of axes ω ← Rᵀω + θ̇ e and α ← Rᵀα + θ̈ e + Rᵀω × θ̇ e.

    `states`: angles about z, y and x with their rates and second derivatives, (..., 3, 3); complex
    for derivatives; `gravity`: g in axes of the body at zero angles [m/s²].
    Returns ψ = [a', α, products of ω] in axes of the body, shape (..., 12).
    """
    angle, rate, second = np.moveaxis(states, -2, 0)
    a = np.zeros_like(angle) - gravity
    w, alpha = np.zeros_like(angle), np.zeros_like(angle)
    for joint, axis in enumerate((2, 1, 0)):
        a, w, alpha = (_rotate_back(axis, angle[..., joint], v) for v in (a, w, alpha))
        following, last = (axis + 1) % 3, (axis + 2) % 3
        turning = rate[..., joint]
        alpha[..., axis] += second[..., joint]
        alpha[..., following] += w[..., last] * turning
        alpha[..., last] -= w[..., following] * turning
        w[..., axis] += turning
    products = [w[..., i] * w[..., j] for i, j in PRODUCT_PAIRS]
    return np.concatenate((a, alpha, np.stack(products, axis=-1)), axis=-1)


def wrist_jacobian(states: Array, gravity: Vec3) -> Array:
    """Return the derivatives of the features with respect to states, (samples, 12, 3, 3)."""
    jacobian = np.empty((len(states), 12, 3, 3))
    for order in range(3):
        for axis in range(3):
            moved = states.astype(complex)
            moved[:, order, axis] += 1j * _COMPLEX_STEP
            jacobian[:, :, order, axis] = wrist_features(moved, gravity).imag / _COMPLEX_STEP
    return jacobian


def _rotate_back(axis: int, angle: Array, v: Array) -> Array:
    """Rotate vectors by minus an angle about a coordinate axis."""
    cosine, sine = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turned = np.empty_like(v)
    turned[..., axis] = v[..., axis]
    turned[..., i] = cosine * v[..., i] + sine * v[..., j]
    turned[..., j] = cosine * v[..., j] - sine * v[..., i]
    return turned
