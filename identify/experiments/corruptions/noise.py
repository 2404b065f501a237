"""White noise on any signal, in the log's own axes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from identify.experiments.corruptions.corruption import (
    Corruption,
    require_signals,
    with_signals,
)
from identify.experiments.options import NotNegative
from identify.logs import Recording
from identify.spatial.rotations import exp_rotation, quaternion_product


class Noise(Corruption):
    """White Gaussian noise; each option is one sigma of every component of a signal, in SI.

    Attributes:
        position, linear_velocity, angular_velocity, linear_acceleration, angular_acceleration,
            force, torque: sigma of the signal of that name.
        orientation: sigma of a rotation vector in body axes [rad].
        scale: factor on all of them, for grids of levels.
    """

    kind: ClassVar[str] = "noise"

    position: NotNegative = 0.0
    orientation: NotNegative = 0.0
    linear_velocity: NotNegative = 0.0
    angular_velocity: NotNegative = 0.0
    linear_acceleration: NotNegative = 0.0
    angular_acceleration: NotNegative = 0.0
    force: NotNegative = 0.0
    torque: NotNegative = 0.0
    scale: NotNegative = 1.0

    @property
    def random(self) -> bool:
        """Whether any sigma is above zero."""
        return bool(self._sigmas()) and self.scale > 0.0

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Add the noise.

        The attitude is turned by exp(n), n drawn; other signals get n added. The draws are the same
        for any scale.

        Raises:
            LogError: the log has no signal of a name whose sigma is not zero.
        """
        sigmas = self._sigmas()
        names = ["quaternion" if name == "orientation" else name for name in sigmas]
        require_signals(recording, names, "the noise")
        noisy = {}
        for name, sigma in zip(names, sigmas.values(), strict=True):
            exact = recording.signals[name]
            drawn = self.scale * sigma * rng.standard_normal((len(exact), 3))
            noisy[name] = (
                quaternion_product(exact, exp_rotation(drawn))
                if name == "quaternion"
                else exact + drawn
            )
        return with_signals(recording, noisy)

    def _sigmas(self) -> dict[str, float]:
        values = self.model_dump(exclude={"scale"})
        return {name: sigma for name, sigma in values.items() if sigma > 0.0}
