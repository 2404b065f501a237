"""Bodies moved to the interior of what is possible: on its edge rounding decides what is said."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Mat33
from identify.inertia.matrices import inertia_from_second_moment, second_moment_from_inertia

MARGIN = 1e-9
"""Smallest second moment about the centre of mass that is written, of the sum of the three."""

SDF_ROD_MARGIN = 1e-6
"""The same for a rod in SDF: Gazebo and Drake judge by the moments that gz-math works out in closed
form, whose arccosine tells the two largest of them, equal for a rod, apart by up to a few 1e-8."""

_ROD = 1e-4
"""A body whose two smallest second moments are below this, of the sum of the three, is a rod."""


class Floor(NamedTuple):
    """How far from the edge a body has to be.

    Attributes:
        margin: smallest second moment, of the sum of the three.
        smallest: smallest principal moment [kg m²].
        rod_margin: that of the second moment for a rod.
    """

    margin: float
    smallest: float
    rod_margin: float = MARGIN

    def relative(self, values: Array) -> float:
        """The smallest second moment [kg m²] by the share of it, of second moments, ascending."""
        total = float(np.maximum(values, 0.0).sum())
        return (self.rod_margin if values[1] < _ROD * total else self.margin) * total

    def absolute(self) -> float:
        """The smallest second moment [kg m²] by the smallest principal moment."""
        return 0.51 * self.smallest


class Regularised(NamedTuple):
    """An inertia about the centre of mass, and what was changed in it, in a sentence."""

    inertia: Mat33
    change: str


def regularised(inertia: Mat33, floor: Floor) -> Regularised:
    """The inertia with every second moment at a floor or above.

    Args:
        inertia: of a possible body about its centre of mass [kg m²], shape (3, 3).
        floor: what it has to keep.
    """
    values, axes = np.linalg.eigh(second_moment_from_inertia(inertia))
    total = float(np.maximum(values, 0.0).sum())
    least = max(floor.relative(values), floor.absolute())
    rise = np.maximum(least - values, 0.0)
    if not rise.any():
        return Regularised(inertia, "")
    raised = inertia + inertia_from_second_moment((axes * rise) @ axes.T)
    raised = without_noise(raised, 4.0 * np.finfo(np.float64).eps * float(np.trace(raised)))
    before = max(float(values[0]), 0.0)
    if least > floor.absolute():
        return Regularised(raised, _of_thickness(before, least, total))
    return Regularised(raised, _of_size(before, least, floor.smallest))


def is_safe(inertia: Mat33, floor: Floor) -> bool:
    """Whether a printed inertia keeps half the floor, and A + B ≥ C to the last bit."""
    values = np.linalg.eigvalsh(second_moment_from_inertia(inertia))
    if values[0] < 0.5 * max(floor.relative(values), 0.5 * floor.smallest):
        return False
    moments = values.sum() - values
    diagonal = np.diag(inertia)
    triangle = (diagonal.sum() - diagonal >= diagonal).all()
    large = (moments >= floor.smallest).all() and (diagonal >= floor.smallest).all()
    return bool(large and triangle)


def without_noise(inertia: Mat33, noise: float) -> Mat33:
    """The inertia, products that are rounding of its size, or of a shift, made zero."""
    return np.where((np.abs(inertia) <= noise) & ~np.eye(3, dtype=bool), 0.0, inertia)


def _of_thickness(before: float, after: float, total: float) -> str:
    thin = "without" if before <= 1e-3 * MARGIN * total else "of hardly any"
    return (
        f"a body {thin} thickness: its smallest second moment was raised from {before:.3g} to "
        f"{after:.3g} kg m² ({after / total:.1g} of their sum), so that no simulator takes it for "
        f"impossible"
    )


def _of_size(before: float, after: float, smallest: float) -> str:
    return (
        f"its smallest second moment was raised from {before:.3g} to {after:.3g} kg m², for no "
        f"moment to be below {smallest:g} kg m², the least that MuJoCo takes"
    )
