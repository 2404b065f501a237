"""Time steps of a simulation: an even grid, and breaks at load jumps and impulses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Flags, require_positive
from identify.errors import SimulationError
from identify.simulation.checks import require_output_interval

_INSTANT_TOLERANCE = 1e-9
"""Time difference, relative to a step, within which two instants are equal."""

_MAX_SCHEDULED_STEPS = 200_000_000
"""Maximum number of steps of a simulation."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Instants of a simulation, and those at which states are returned.

    Attributes:
        instants: ends of all steps, the start first, increasing [s], shape (n,).
        is_returned: whether the state of each instant is returned, shape (n,).
    """

    instants: Array
    is_returned: Flags

    def index_of(self, time: float) -> int:
        """Return the index of the instant nearest to a time."""
        return int(np.argmin(np.abs(self.instants - time)))


def make_schedule(duration: float, step: float, every: int, breaks: Sequence[Array]) -> Schedule:
    """Create the steps from 0 to `duration`; a step ends at every break.

    The last step of the grid is shorter if the duration is not a multiple of the step.

    `duration`: [s]; `step`: step of the grid [s]; `breaks`: times at which steps have to end [s].
    Raises `SimulationError`: a duration or step that is not positive and finite, more steps than
    memory holds, or `every` below one.
    Returned are the start, every `every`-th instant of the grid, and the end.
    """
    step = require_positive(step, "time step", "s", SimulationError)
    duration = require_positive(duration, "duration", "s", SimulationError)
    require_output_interval(every)
    if duration / step > _MAX_SCHEDULED_STEPS:
        raise SimulationError(
            f"{duration:g} s in steps of {step:g} s are {duration / step:.3g} steps; expected at "
            f"most {_MAX_SCHEDULED_STEPS:.0e}; use a larger step"
        )
    ratio = duration / step
    count = max(int(np.ceil(ratio - max(_INSTANT_TOLERANCE, 8.0 * np.finfo(float).eps * ratio))), 1)
    grid = step * np.arange(count + 1)
    grid[-1] = duration
    kept = np.zeros(count + 1, dtype=bool)
    kept[::every] = kept[-1] = True
    cuts = _inner_times(np.concatenate((np.empty(0), *breaks)), grid, _INSTANT_TOLERANCE * step)
    where = np.searchsorted(grid, cuts)
    return Schedule(np.insert(grid, where, cuts), np.insert(kept, where, False))


def _inner_times(times: Array, grid: Array, tolerance: float) -> Array:
    """Return the distinct times within the span of a time grid that are not points of the grid."""
    times = np.unique(times[(times > grid[0]) & (times < grid[-1])])
    after = np.searchsorted(grid, times)
    gap = np.minimum(grid[np.minimum(after, len(grid) - 1)] - times, times - grid[after - 1])
    times = times[gap > tolerance]
    return times[np.diff(times, prepend=-np.inf) > tolerance]
