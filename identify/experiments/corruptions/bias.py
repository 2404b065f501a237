"""A constant that the sensor adds to the wrench."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.arrays import Array
from identify.experiments.corruptions.corruption import Corruption
from identify.experiments.corruptions.sensor_axes import change_wrench
from identify.experiments.options import Vector
from identify.logs import Recording


class Bias(Corruption):
    """Sensor bias, constant in the axes of the sensor.

    Attributes:
        force: added to the force [N], three numbers.
        torque: added to the torque [N m], three numbers.
    """

    kind: ClassVar[str] = "bias"

    force: Vector = (0.0, 0.0, 0.0)
    torque: Vector = (0.0, 0.0, 0.0)

    @property
    def random(self) -> bool:
        """It is not."""
        return False

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Add the bias.

        Raises:
            LogError: the wrench is in world axes and the log has no attitude.
        """
        added = {"force": np.array(self.force), "torque": np.array(self.torque)}

        def biased(name: str, values: Array) -> Array:
            return values + added[name]

        return change_wrench(recording, biased, "a bias")
