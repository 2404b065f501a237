"""Perturbation of the torques of an arm's joints."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from identify.arrays import Array, seal
from identify.errors import LogError
from identify.logs import Recording
from identify.studies.arm_runs import ArmRuns
from identify.studies.options import NotNegative
from identify.studies.perturbations.perturbation import Perturbation


class TorqueGains(Perturbation):
    """Errors of the scale of the joints' torques, equal in all logs of an arm.

    Attributes:
        joint: standard deviation of the gain of each joint, relative.
        common: standard deviation of a gain that all joints have in common, relative.
    """

    kind: ClassVar[str] = "torque_gains"

    joint: NotNegative = 0.0
    common: NotNegative = 0.0

    @property
    def random(self) -> bool:
        """Whether any gain differs from one."""
        return self.joint > 0.0 or self.common > 0.0

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Raise `LogError`, since a log of a wrench has no joint torques."""
        raise LogError(
            f"{recording.name}: {self.kind} is a perturbation of an arm, not of a wrench"
        )

    def apply_to_arm(self, runs: ArmRuns, rng: np.random.Generator) -> ArmRuns:
        """Multiply the torque of each joint by its gain."""
        n = len(runs.robot.joints)
        gains = 1.0 + self.joint * rng.standard_normal(n) + self.common * rng.standard_normal()
        unloaded, *loaded = (_with_gains(log, gains) for log in runs.recordings)
        return replace(runs, unloaded=unloaded, loaded=loaded[0] if loaded else None)


def _with_gains(log: Recording, gains: Array) -> Recording:
    if "effort" not in log.signals:
        raise LogError(f"{log.name}: torque_gains needs torques on the clock of the positions")
    effort = seal(log.signals["effort"] * gains, "effort", (None, None))
    return replace(log, signals={**log.signals, "effort": effort})
