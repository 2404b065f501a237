"""Bodies moved to the interior of what is possible: on its edge rounding decides what is said."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Mat33
from identify.inertia.matrices import inertia_from_second_moment, second_moment_from_inertia

MARGIN = 1e-9
"""Smallest second moment about the centre of mass that is written, of the sum of the three."""

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


def regularised(inertia: Mat33, floor: Floor) -> tuple[Mat33, str]:
    """The inertia with every second moment at a floor or above, and what changed, in a sentence.

    Args:
        inertia: of a possible body about its centre of mass [kg m²], shape (3, 3).
        floor: what it has to keep.
    """
    values, axes = np.linalg.eigh(second_moment_from_inertia(inertia))
    total = float(np.maximum(values, 0.0).sum())
    by_size = 0.51 * floor.smallest
    least = max(floor.relative(values), by_size)
    rise = np.maximum(least - values, 0.0)
    if not rise.any():
        return inertia, ""
    raised = inertia + inertia_from_second_moment((axes * rise) @ axes.T)
    raised = without_noise(raised, 4.0 * np.finfo(np.float64).eps * np.trace(raised))
    before = max(float(values[0]), 0.0)
    change = f"its smallest second moment was raised from {before:.3g} to {least:.3g} kg m²"
    if least > by_size:
        thin = "without" if before <= 1e-3 * MARGIN * total else "of hardly any"
        return raised, (
            f"a body {thin} thickness: {change} ({least / total:.1g} of their sum), so that no "
            f"simulator takes it for impossible"
        )
    return raised, (
        f"{change}, for no moment to be below {floor.smallest:g} kg m², the least that MuJoCo takes"
    )


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
    """The inertia, products up to `noise` [kg m²] made zero."""
    return np.where((np.abs(inertia) <= noise) & ~np.eye(3, dtype=bool), 0.0, inertia)
