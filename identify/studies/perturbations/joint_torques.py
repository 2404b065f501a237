"""Perturbation of the torques of an arm's joints."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.logs import Recording
from identify.studies.options import NotNegative
from identify.studies.perturbations.perturbation import Perturbation, require_signals, with_signals


class TorqueGains(Perturbation):
    """Errors of the scale of the joints' torques, equal in all logs of an arm.

    Attributes:
        joint: standard deviation of the gain of each joint, relative.
        common: standard deviation of a gain that all joints have in common, relative.
    """

    kind: ClassVar[str] = "torque_gains"
    sensor: ClassVar[str] = "joints"

    joint: NotNegative = 0.0
    common: NotNegative = 0.0

    @property
    def random(self) -> bool:
        """Whether any gain differs from one."""
        return self.joint > 0.0 or self.common > 0.0

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Multiply torques by gains; raises `LogError` without torques at the positions."""
        require_signals(recording, ("effort",), self.kind)
        effort = recording.signals["effort"]
        n = effort.shape[1]
        gains = 1.0 + self.joint * rng.standard_normal(n) + self.common * rng.standard_normal()
        return with_signals(recording, {"effort": effort * gains})
