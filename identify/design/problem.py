"""Interface of a design problem: unknowns to be identified, and limits of the motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.design.periodic import AxisLimits
from identify.inertia import BaseColumns


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


class MotionProblem(Protocol):
    """Interface of a design: unknowns to be identified, and limits of the motion."""

    @property
    def limits(self) -> AxisLimits:
        """Limits of each axis about the start."""
        ...

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes in files."""
        ...

    @property
    def start(self) -> Array:
        """Values of the axes at the start, shape (n,) [rad or m]."""
        ...

    @property
    def longest_period(self) -> float:
        """Longest period of a motion [s]; a longer motion repeats it."""
        ...

    @property
    def rate_hz(self) -> float:
        """Independent samples a second."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences for the head of files: limits that hold, and what was not checked."""
        ...

    @property
    def wanted_count(self) -> int:
        """Number of unknowns to be identified; their columns are the first of the regressor."""
        ...

    @property
    def base_columns(self) -> BaseColumns:
        """Combinations of the parameters that are wanted."""
        ...

    @property
    def prior_information(self) -> Array | None:
        """Information on them from an earlier fit, for each second of the motion, (k, k)."""
        ...

    @property
    def limit_names(self) -> tuple[str, ...]:
        """Names of the limits in the order of `DesignRows.shares`."""
        ...

    def rows(self, motion: Array) -> DesignRows:
        """Return regressor and shares of limits of a motion, shape (3, samples, n)."""
        ...

    def rows_with_pullback(self, motion: Array) -> tuple[DesignRows, RowsPullback]:
        """Return regressor and shares of a motion, (3, samples, n), and their pullback."""
        ...

    def describe_excess(self, limit: int, share: float) -> str:
        """Describe how the start exceeds a limit, by its number and share, and what to do."""
        ...

    def proximity(self, motion: Array) -> tuple[Array, Array]:
        """Return how much too close pairs of shapes come, and its derivatives in the values.

        Returns:
            As a share that is penalized in the search (`contact` decides), shape (samples, pairs),
            and its derivatives, shape (samples, pairs, n).
        """
        ...

    def contact(self, motion: Array) -> str:
        """Return a pair of shapes that touch along a motion, "A and B"; empty if none do."""
        ...


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
