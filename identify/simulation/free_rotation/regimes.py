"""Which axis the angular velocity encircles, and the axes in the order that this asks for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from identify.arrays import Array, Flags, Vec3
from identify.simulation.free_rotation.double_double import (
    DoubleDouble,
    double_double,
    total,
    where,
)
from identify.simulation.free_rotation.principal_moments import (
    principal_moments,
    take,
    take_columns,
)

_NEGLIGIBLE = 1e-110
"""Components of ω below this, relative to the largest, are zero: their squares would underflow."""


class Regime(IntEnum):
    """What the angular velocity does in the body."""

    AT_REST = 0
    """There is none."""
    STEADY = 1
    """It is constant: about a principal axis, or any axis of a sphere."""
    ABOUT_SMALLEST = 2
    """It encircles the axis of the smallest moment: 2 K I_mid > L²."""
    ABOUT_LARGEST = 3
    """It encircles the axis of the largest moment: 2 K I_mid < L²."""
    SEPARATRIX = 4
    """It tends to the axis of the middle moment and never comes back: 2 K I_mid = L²."""


@dataclass(frozen=True, slots=True)
class OrderedSpin:
    """Principal moments and components, numbered so that axis 3 is the one encircled.

    I₁ ≥ I₂ ≥ I₃ where it belongs to the smallest moment, I₁ ≤ I₂ ≤ I₃ elsewhere; the axes P are
    right-handed with ω₁ ≥ 0 and ω₃ ≥ 0.

    Attributes:
        moments: I₁, I₂, I₃, shape (3, n).
        deviations: the same less one number, to form differences of, shape (3, n).
        spin: ω₁, ω₂, ω₃, shape (3, n).
        axes: R_BP, shape (n, 3, 3).
        excess: 2 K I_mid − L², shape (n,).
        regime: a `Regime` of each, shape (n,).
    """

    moments: DoubleDouble
    deviations: DoubleDouble
    spin: DoubleDouble
    axes: Array
    excess: DoubleDouble
    regime: np.ndarray

    def __getitem__(self, bodies: Flags) -> OrderedSpin:
        return OrderedSpin(
            self.moments[:, bodies],
            self.deviations[:, bodies],
            self.spin[:, bodies],
            self.axes[bodies],
            self.excess[bodies],
            self.regime[bodies],
        )


def ordered_spin(inertia: DoubleDouble, angular_velocity: Vec3) -> OrderedSpin:
    """Principal moments and components of ω in the order of their motion.

    Args:
        inertia: about the centre of mass, in units in which it is of order one, shape (3, 3, n).
        angular_velocity: w_WB_B in such units, shape (n, 3).
    """
    moments, deviations, axes = principal_moments(inertia)
    spin = total(axes * double_double(angular_velocity.T)[:, None], axis=0)
    largest = np.abs(spin.high).max(axis=0)
    spin = where(np.abs(spin.high) > _NEGLIGIBLE * largest, spin, 0.0)

    smallest_term = moments[0] * (deviations[1] - deviations[0]) * spin[0] * spin[0]
    largest_term = moments[2] * (deviations[2] - deviations[1]) * spin[2] * spin[2]
    excess = smallest_term - largest_term
    regime = _regime(spin, smallest_term, largest_term, excess)

    descending = excess.high > 0.0
    order = np.where(descending, np.array([[2], [1], [0]]), np.array([[0], [1], [2]]))
    moments, deviations, spin = (take(rows, order) for rows in (moments, deviations, spin))
    axes = take_columns(axes, order)
    signs = np.where(spin.high < 0.0, -1.0, 1.0)
    handed = np.sign(np.linalg.det(np.moveaxis(axes.high, -1, 0)))
    signs[1] = handed * signs[0] * signs[2]
    R_BP = np.moveaxis(axes.value * signs, -1, 0)
    return OrderedSpin(moments, deviations, spin * signs, R_BP, excess, regime)


def _regime(
    spin: DoubleDouble,
    smallest_term: DoubleDouble,
    largest_term: DoubleDouble,
    excess: DoubleDouble,
) -> np.ndarray:
    moving = np.abs(spin.high) > 0.0
    alone = (moving[0] ^ moving[2]) & ~moving[1]  # on an outer axis
    neither = (smallest_term.high == 0.0) & (largest_term.high == 0.0)
    return np.select(
        [
            ~moving.any(axis=0),
            alone | neither,
            excess.high > 0.0,
            excess.high < 0.0,
        ],
        [Regime.AT_REST, Regime.STEADY, Regime.ABOUT_SMALLEST, Regime.ABOUT_LARGEST],
        Regime.SEPARATRIX,
    )
