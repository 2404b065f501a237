"""How noise in the signals of a log reaches the columns [ψ, w], to first order.

With n the noise of a signal, θ that of the attitude as a rotation vector in B, and an index for how
often each was differentiated:

    R_WB exp(θ×) turns a vector v_B = Rᵀ v_W by δv_B = v_B × θ₀
    δω = θ₁ + ω × θ₀         δα = θ₂ + ω × θ₁ + α × θ₀
    δ(ω_i ω_j) = ω_i δω_j + ω_j δω_i

Of wide columns, for a force or torque in world axes, with b_k = Rᵀ dᵏf_W/dtᵏ and so
δb_k = Rᵀ n_k + b_k × θ₀:

    ḟ = b₁ − ω × b₀        f̈ = b₂ − 2 ω × b₁ − α × b₀ + ω × (ω × b₀)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from identify.arrays import Array, Indices, Mat33, Vec3, Vec6
from identify.logs import Recording
from identify.signals.kinematics import Kinematics
from identify.signals.transform import SAMPLE
from identify.spatial import coadjoint
from identify.spatial.rotations import hat

Way: TypeAlias = tuple[str, int]
"""A signal, and how often it was differentiated (`SAMPLE`: used as it is)."""

Sensitivity: TypeAlias = dict[Way, Mat33]
"""∂v/∂n of a vector, for each way noise reaches it, shape (t, 3, 3) each."""


@dataclass(frozen=True, slots=True)
class Propagation:
    """First-order noise of the columns: δ[ψ, w](t) = J(t) n, n stacked over the ways.

    Attributes:
        ways: by which noise comes.
        J: shape (t, 18, 3 · ways); (t, 39, 3 · ways) for [ψ, w, Rᵀ, ẇ, ẅ].
    """

    ways: tuple[Way, ...]
    J: Array


def propagate(
    recording: Recording,
    signals: Mapping[str, Array],
    kinematics: Kinematics,
    wrench: Array,
    at: Indices,
) -> Propagation:
    """How noise reaches the columns at some samples.

    Args:
        recording: for the frames of its signals and gravity.
        signals: those the kinematics were made of.
        kinematics: n samples.
        wrench: at Bo in B, shape (n, 6); with its derivatives, shape (n, 18), for wide columns.
        at: the samples, shape (t,).
    """
    noise = _Noise(recording, frozenset(signals), kinematics, at)
    rates = noise.of_rates()
    vectors = [
        (slice(0, 3), noise.of_acceleration(rates)),
        (slice(3, 6), noise.of_angular_acceleration()),
        *zip((slice(12, 15), slice(15, 18)), noise.of_wrench(wrench[at, :6]), strict=True),
    ]
    if wide := wrench.shape[1] > 6:
        vectors += noise.of_attitude()
        of_rates = noise.of_wrench_rates(wrench[at].reshape(-1, 3, 6).swapaxes(0, 1), rates)
        vectors += [(slice(27 + 3 * k, 30 + 3 * k), of_one) for k, of_one in enumerate(of_rates)]
    ways = tuple(dict.fromkeys(way for _, vector in (*vectors, (None, rates)) for way in vector))
    columns = {way: slice(3 * number, 3 * number + 3) for number, way in enumerate(ways)}
    J = np.zeros((len(at), 39 if wide else 18, 3 * len(ways)))
    for rows, vector in vectors:
        for way, matrix in vector.items():
            J[:, rows, columns[way]] = matrix
    products = _of_products(kinematics.motion.angular_velocity[at])
    for way, matrix in rates.items():
        J[:, 6:12, columns[way]] = products @ matrix
    return Propagation(ways, J)


class _Noise:
    def __init__(
        self, recording: Recording, given: frozenset[str], kinematics: Kinematics, at: Indices
    ) -> None:
        self.recording, self.given = recording, given
        rotation = kinematics.rotation
        self.back = None if rotation is None else rotation[at].swapaxes(-1, -2)
        self.proper = kinematics.motion.proper_acceleration[at]
        self.rates = kinematics.motion.angular_velocity[at]
        self.alpha = kinematics.motion.angular_acceleration[at]
        self.velocity = None if kinematics.velocity is None else kinematics.velocity[at]
        self.attitude: Way = ("quaternion", 0 if kinematics.halo else SAMPLE)
        self.one = np.broadcast_to(np.eye(3), (len(at), 3, 3))

    def _world(self, group: str) -> bool:
        return self.recording.frames[group] == "world"

    def _turned(self, v: Vec3) -> Sensitivity:
        """Of a vector Rᵀ v_W, of the attitude alone: v_B × θ₀."""
        return {self.attitude: hat(v)}

    def _given(self, way: Way, group: str, v: Vec3) -> Sensitivity:
        """Of a signal in its own axes, or turned into B: v is its value there."""
        if not self._world(group):
            return {way: self.one}
        return {way: self._back()} | self._turned(v)

    def _back(self) -> Mat33:
        if self.back is None:  # what is in world axes was turned by it
            raise AssertionError("a log in world axes without attitude has no kinematics")
        return self.back

    def of_rates(self) -> Sensitivity:
        if "angular_velocity" in self.given:
            return self._given(("angular_velocity", SAMPLE), "twist", self.rates)
        return {("quaternion", 1): self.one, ("quaternion", 0): hat(self.rates)}

    def of_angular_acceleration(self) -> Sensitivity:
        if "angular_acceleration" in self.given:
            return self._given(("angular_acceleration", SAMPLE), "acceleration", self.alpha)
        if "angular_velocity" in self.given:
            return self._given(("angular_velocity", 1), "twist", self.alpha)
        return {
            ("quaternion", 2): self.one,
            ("quaternion", 1): hat(self.rates),
            ("quaternion", 0): hat(self.alpha),
        }

    def of_acceleration(self, rates: Sensitivity) -> Sensitivity:
        recording = self.recording
        if "linear_acceleration" in self.given:
            given: Way = ("linear_acceleration", SAMPLE)
            kind = recording.acceleration_kind
            if kind == "proper":
                return self._given(given, "acceleration", self.proper)
            if kind == "spatial":
                carried = np.cross(self.rates, self._velocity_in_body())
                return self._plus_carried(self._classical(given, self.proper - carried), rates)
            return self._classical(given, self.proper)
        if "linear_velocity" not in self.given:
            return {("position", 2): self._back()} | self._turned(self.proper)
        if self._world("twist"):
            return {("linear_velocity", 1): self._back()} | self._turned(self.proper)
        # a_B = dv_B/dt + ω × v_B, less gravity
        changing = {("linear_velocity", 1): self.one} | self._turned(self._gravity())
        return self._plus_carried(changing, rates)

    def _classical(self, given: Way, v: Vec3) -> Sensitivity:
        """Of v = a_B − Rᵀ g: of the whole in world axes, of gravity alone in the body's."""
        if self._world("acceleration"):
            return {given: self._back()} | self._turned(v)
        return {given: self.one} | self._turned(self._gravity())

    def _gravity(self) -> Vec3:
        """−Rᵀ g."""
        return -(self._back() @ self.recording.gravity)

    def _velocity_in_body(self) -> Vec3:
        if self.velocity is None:  # what is carried along was worked out from it
            raise AssertionError("a log without a velocity has no spatial acceleration")
        return np.einsum("tij,tj->ti", self._back(), self.velocity)

    def _plus_carried(self, noise: Sensitivity, rates: Sensitivity) -> Sensitivity:
        """With that of ω × v_B added: ω × δv_B − v_B × δω."""
        velocity = _turned_by(hat(self.rates), self._of_velocity())
        return _sum(noise, velocity, _turned_by(-hat(self._velocity_in_body()), rates))

    def _of_velocity(self) -> Sensitivity:
        """Of v_B."""
        if "linear_velocity" in self.given and not self._world("twist"):
            return {("linear_velocity", SAMPLE): self.one}
        way: Way = ("linear_velocity", SAMPLE)
        if "linear_velocity" not in self.given:
            way = "position", 1
        return {way: self._back()} | self._turned(self._velocity_in_body())

    def of_wrench(self, w: Vec6) -> list[Sensitivity]:
        """Of force and torque at Bo in B; w are their values."""
        return self._at_origin([self._read(*half) for half in enumerate(self._halves(w))])

    def _read(self, half: int, v: Vec3, order: int = SAMPLE) -> Sensitivity:
        """Of the force (half 0) or torque (half 1) where it is read; v is its value there.

        With an order, that of Rᵀ dᵏf_W/dtᵏ if the wrench is in world axes, else of the derivative.
        """
        return self._given((("force", "torque")[half], order), "wrench", v)

    def _halves(self, w: Array) -> Array:
        """Force and torque where they are read, of wrenches at Bo in B, shape (2, ..., 3)."""
        X_BS = self.recording.X_BS
        if X_BS is not None:
            w = w @ coadjoint(X_BS.inverse()).T
        return np.stack((w[..., :3], w[..., 3:]))

    def _at_origin(self, read: list[Sensitivity]) -> list[Sensitivity]:
        """Of force and torque at Bo in B, from those where they are read."""
        if (X_BS := self.recording.X_BS) is None:
            return read
        moved = coadjoint(X_BS).reshape(2, 3, 2, 3)
        return [
            _sum(
                *(
                    _turned_by(moved[half, :, k], noise)
                    for k, noise in enumerate(read)
                    if moved[half, :, k].any()
                )
            )
            for half in (0, 1)
        ]

    def of_attitude(self) -> list[tuple[slice, Sensitivity]]:
        """Of the columns of Rᵀ, which are the world's axes in B, with their rows of J."""
        if self.back is None:
            return []
        axes = np.moveaxis(self.back, -1, 0)
        return [(slice(18 + k, 27, 3), self._turned(axis)) for k, axis in enumerate(axes)]

    def of_wrench_rates(self, w: Array, rates: Sensitivity) -> list[Sensitivity]:
        """Of both derivatives of the wrench at Bo in B: of ḟ, ṫ, f̈ and ẗ.

        Args:
            w: the wrench and its derivatives, shape (3, t, 6).
            rates: what reaches ω.
        """
        halves = (self._rates_read(half, v, rates) for half, v in enumerate(self._halves(w)))
        return [one for read in zip(*halves, strict=True) for one in self._at_origin(list(read))]

    def _rates_read(self, half: int, w: Array, rates: Sensitivity) -> tuple[Sensitivity, ...]:
        """Of both derivatives of the force or torque where it is read; w is (3, t, 3)."""
        if not self._world("wrench"):
            return tuple(self._read(half, w[order], order) for order in (1, 2))
        across, turning = hat(self.rates), np.cross(self.rates, w[0])
        b1 = w[1] + turning
        b2 = w[2] + np.cross(self.alpha, w[0]) + np.cross(self.rates, 2.0 * b1 - turning)
        of_b = [self._read(half, b, order) for order, b in enumerate((w[0], b1, b2))]
        first = _sum(of_b[1], _turned_by(-across, of_b[0]), _turned_by(hat(w[0]), rates))
        second = _sum(
            of_b[2],
            _turned_by(-2.0 * across, of_b[1]),
            _turned_by(across @ across - hat(self.alpha), of_b[0]),
            _turned_by(hat(2.0 * b1 - turning) - across @ hat(w[0]), rates),
            _turned_by(hat(w[0]), self.of_angular_acceleration()),
        )
        return first, second


def _turned_by(matrix: Mat33, noise: Sensitivity) -> Sensitivity:
    return {way: matrix @ of_way for way, of_way in noise.items()}


def _sum(*noises: Sensitivity) -> Sensitivity:
    total: Sensitivity = {}
    for noise in noises:
        for way, matrix in noise.items():
            total[way] = total[way] + matrix if way in total else matrix
    return total


def _of_products(rates: Vec3) -> Array:
    """∂[ωx², ωy², ωz², ωxωy, ωxωz, ωyωz]/∂ω, shape (t, 6, 3)."""
    J = np.zeros((len(rates), 6, 3))
    for row, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
        J[:, row, j] += rates[:, i]
        J[:, row, i] += rates[:, j]
    return J
