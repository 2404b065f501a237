"""Rows of a design problem, and what problems without geometry or of any sensor share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array


class DesignRows(NamedTuple):
    """Regressor of a motion, and the values of its limited quantities divided by their limits.

    Attributes:
        regressor: rows divided by the standard deviation of their noise, shape (samples, rows, p).
        shares: of limits other than those of the axes; at most 1, shape (samples, limits).
    """

    regressor: Array
    shares: Array


RowsPullback: TypeAlias = Callable[[DesignRows], Array]
"""Maps the gradient of a cost with respect to regressor and shares to that with respect to value,
rate and second derivative of each axis, shape (3, samples, n)."""


def used_at_start(share: float) -> str:
    """Describe the share of a force or torque that the start uses, over 1, and what to do."""
    return (
        f"the start uses {100.0 * share:.0f} % of it, expected less than 100 %. Choose another "
        "start, a lighter payload or a wider limit"
    )


def no_proximity(motion: Array) -> tuple[Array, Array]:
    """Return the proximity of no shapes along a motion, for problems without geometry."""
    _, samples, axes = motion.shape
    return np.zeros((samples, 0)), np.zeros((samples, 0, axes))
