"""Constants of a free rotation: energy, momentum, encircled axis, period and precession."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Vec3
from identify.simulation.free_rotation.checks import RotationStart, checked_start
from identify.simulation.free_rotation.polhode import OrderedSpin, Regime, ordered_spin, polhode
from identify.spatial.rotations import rotate, rotation_from_quaternion, vector_norms


@dataclass(frozen=True, slots=True)
class RotationInvariants:
    """Constants of free rotations, batched.

    The period is NaN for constant ω, and infinite on the separatrix.

    Attributes:
        kinetic_energy: K = ½ ω · I ω, of the rotation about the centre of mass [J], shape (...).
        angular_momentum: |L| = |I ω| about the centre of mass [kg m²/s], shape (...).
        regime: the `Regime` of each, shape (...).
        axis: the axis in B that ω encircles or, on the separatrix, tends to; the direction of ω
            for a steady rotation; zero at rest, shape (..., 3).
        moment: principal moment about that axis, L²/2K for a steady rotation [kg m²], shape (...).
        period: period of ω in B, 4 K(m)/λ [s], shape (...).
        precession: rotation angle of the encircled axis about L in one period, including full
            turns [rad], shape (...).
    """

    kinetic_energy: Array
    angular_momentum: Array
    regime: np.ndarray
    axis: Vec3
    moment: Array
    period: Array
    precession: Array

    @property
    def flip_time(self) -> Array:
        """Half period: time between two flips of a body like a tennis racket [s], shape (...).

        2 K(m)/λ, in which the component along the middle axis changes its sign. For a spin near the
        middle axis it is ln(16/(1 − m))/λ, where 1 − m is of the order of the squared deviation.
        """
        return 0.5 * self.period

    @property
    def mean_precession_rate(self) -> Array:
        """Mean precession rate of the encircled axis about L [rad/s], shape (...)."""
        return self.precession / self.period


def rotation_invariants(body: ArrayLike, angular_velocity: ArrayLike) -> RotationInvariants:
    """Compute the invariants of the free rotation of bodies with a given angular velocity.

    Args:
        body: I_BBcm_B [kg m²], shape (..., 3, 3), or phi, shape (..., 10).
        angular_velocity: w_WB_B [rad/s], shape (..., 3), broadcast with the bodies.

    Raises:
        SimulationError: as `rotate_freely`.
    """
    start = checked_start(body, [0.0, 0.0, 0.0, 1.0], angular_velocity)
    ordered = ordered_spin(start.inertia, start.spin)
    momentum = ordered.moments * ordered.spin
    L = vector_norms(momentum.T)
    K = 0.5 * np.sum(momentum * ordered.spin, axis=0)
    steady = ordered.regime <= Regime.STEADY
    period, precession = (np.full(len(L), np.nan) for _ in range(2))
    if not steady.all():
        path = polhode(ordered.select(~steady))
        period[~steady] = 2.0 * path.half_period
        precession[~steady] = 2.0 * path.precession
    axis, moment = _encircled_axis(ordered, start)
    unit_I, unit_w = start.unit_of_inertia, start.unit_of_spin

    def shaped(values: np.ndarray) -> np.ndarray:
        return values.reshape(start.batch_shape + values.shape[1:])

    return RotationInvariants(
        kinetic_energy=shaped(K * unit_I * unit_w**2),
        angular_momentum=shaped(L * unit_I * unit_w),
        regime=shaped(ordered.regime),
        axis=shaped(axis),
        moment=shaped(moment * unit_I),
        period=shaped(period / unit_w),
        precession=shaped(precession),
    )


def angular_momentum(body: ArrayLike, quaternion: ArrayLike, angular_velocity: ArrayLike) -> Vec3:
    """Compute the angular momentum about the centre of mass in W, L_W = R I ω, shape (..., 3).

    Args:
        body: I_BBcm_B [kg m²], shape (..., 3, 3), or phi, shape (..., 10).
        quaternion: R_WB, shape (..., 4).
        angular_velocity: w_WB_B [rad/s], shape (..., 3).

    Raises:
        SimulationError: as `rotate_freely`.
    """
    start = checked_start(body, quaternion, angular_velocity)
    L = np.einsum("nij,nj->ni", start.inertia, start.spin)
    L *= (start.unit_of_inertia * start.unit_of_spin)[:, None]
    return rotate(rotation_from_quaternion(start.quaternion), L).reshape(*start.batch_shape, 3)


def _encircled_axis(ordered: OrderedSpin, start: RotationStart) -> tuple[Vec3, Array]:
    """Return the axis in B that ω encircles, tends to or (if steady) is along, and its moment."""
    separatrix = ordered.regime == Regime.SEPARATRIX
    # On a separatrix I₁ ≤ I₂ ≤ I₃ and ω₁, ω₃ ≥ 0, so that ω₂ grows: ω tends to +axis 2.
    column = np.where(separatrix, 1, 2)
    index = np.arange(len(column))
    axis = ordered.axes[index, :, column]
    moment = ordered.moments[column, index]
    steady = ordered.regime <= Regime.STEADY
    length = vector_norms(start.spin)
    direction = start.spin / np.where(length > 0.0, length, 1.0)[:, None]
    steady_moment = np.einsum("ni,nij,nj->n", direction, start.inertia, direction)
    return np.where(steady[:, None], direction, axis), np.where(steady, steady_moment, moment)
