"""The noise that was published with the STARS tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, get_args

import numpy as np

from identify.experiments.corruptions.corruption import Corruption
from identify.experiments.corruptions.noise import Noise
from identify.logs import Recording

Level = Literal["none", "low", "moderate", "high"]

LEVELS: tuple[str, ...] = get_args(Level)
"""The published levels, from the least."""

FACTORS: Mapping[str, float] = {"none": 0.0, "low": 1.0, "moderate": 2.0, "high": 4.0}
"""What the lowest level's sigmas are multiplied by."""

LOWEST = Noise(linear_acceleration=0.025, angular_acceleration=0.25, force=0.05, torque=0.0025)
"""One sigma of each component at the lowest level [m/s², rad/s², N, N m]."""


class StarsNoise(Corruption):
    """White noise on accelerations and wrench as Nadeau, Giamou and Kelly (ICRA 2023) add it.

    Pose and twist stay exact, and must not be differentiated: the log needs its accelerations.

    Attributes:
        level: "none", "low", "moderate" (twice that) or "high" (four times).
    """

    kind: ClassVar[str] = "stars_noise"

    level: Level

    @property
    def random(self) -> bool:
        """Whether the level is not none."""
        return self.level != "none"

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Add the noise of the level.

        Raises:
            LogError: the log has no accelerations.
        """
        return LOWEST.model_copy(update={"scale": FACTORS[self.level]}).apply(recording, rng)
