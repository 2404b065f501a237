"""Suzuki's composition of five symmetric steps of order two into one of order four."""

from __future__ import annotations

from typing import ClassVar

from identify.arrays import Array
from identify.simulation.forced_body import ForcedBody
from identify.simulation.integrators.splitting import StrangSplitting

_OUTER = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
_SHARES = (_OUTER, _OUTER, 1.0 - 4.0 * _OUTER, _OUTER, _OUTER)
"""Shares of the step; the middle one goes back in time, and never leaves the step."""


class SuzukiSplitting(StrangSplitting):
    """Fourth order, symplectic and symmetric in time; free bodies keep their momentum exactly.

    Reference: Suzuki, "Fractal decomposition of exponential operators" (1990).
    """

    name: ClassVar[str] = "suzuki"
    order: ClassVar[int] = 4

    def advance(self, motion: ForcedBody, phase: Array, time: float, step: float) -> Array:
        """One step: five of the splitting."""
        for share in _SHARES:
            phase = super().advance(motion, phase, time, share * step)
            time += share * step
        return phase
