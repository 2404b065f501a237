"""Impulses: forces so short that only their integral counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Vec3
from identify.errors import SimulationError
from identify.simulation.loads import Frame, check_frame, sealed


@dataclass(frozen=True, slots=True)
class Impulse:
    """An impulse J at a point and an angular impulse H: the momentum jumps, the pose does not.

        Δp = J,    ΔL = H + r × J      (r from the point that L is about)

    Attributes:
        time: when, from the start of the simulation [s].
        linear: J on the body [N s], shape (..., 3).
        angular: H on the body, beside that of J [N m s], shape (..., 3).
        point: where J acts, from Bo in axes of B [m], shape (..., 3): a point of the body,
            whatever the axes of J.
        frame: the axes of J and H.

    Raises:
        SimulationError: numbers that are not finite, another shape, or a time below zero.
    """

    time: float
    linear: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    angular: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    point: Vec3 = (0.0, 0.0, 0.0)  # pyright: ignore[reportAssignmentType]
    frame: Frame = "body"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.time) and self.time >= 0.0):
            raise SimulationError(
                f"impulse: time must be zero or later and finite, got {self.time!r} s"
            )
        for name in ("linear", "angular", "point"):
            object.__setattr__(self, name, sealed(getattr(self, name), f"impulse: {name}", (3,)))
        check_frame(self.frame, "impulse")
