"""`Integrator`, the base class of one-step methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from identify.arrays import Array
from identify.simulation.forced_body import ForcedBody
from identify.simulation.free_body import FreeBody


class Integrator(ABC):
    """One-step method for phase-space states [x, q, p, L] of a batch of bodies.

    Created once per simulation, so that it can precompute constants of the bodies.

    Attributes:
        name: name of the method in `INTEGRATORS`.
        order: order of its global error in the step.
    """

    name: ClassVar[str]
    order: ClassVar[int]

    def __init__(self, body: FreeBody) -> None:
        self.body = body

    @abstractmethod
    def advance(self, motion: ForcedBody, phase: Array, time: float, step: float) -> Array:
        """Return the phase-space state one step later; `phase` itself is not changed.

        Args:
            motion: the bodies under the loads, which are smooth within the step.
            phase: shape (..., 13), quaternions of unit norm.
            time: at the beginning of the step [s].
            step: [s]; below zero for a step back in time.

        Returns:
            Shape (..., 13), quaternions of unit norm.
        """
