"""White noise on any signal, in the log's own axes; and that which was published for STARS.

What its sigmas are is defined once, by `identify.logs.synthetic.Noise`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import create_model

from identify.experiments.options import NotNegative
from identify.experiments.perturbations.perturbation import (
    Perturbation,
    require_signals,
    with_signals,
)
from identify.logs import Recording
from identify.logs.synthetic import Noise
from identify.spatial.rotations import exp_rotation, quaternion_product

_SIGMAS: dict[str, Any] = {each.name: (NotNegative, 0.0) for each in fields(Noise)}
_Sigmas: Any = create_model("_Sigmas", __base__=Perturbation, **_SIGMAS)


class WhiteNoise(_Sigmas):
    """White Gaussian noise; the options are the sigmas of `Noise`, in SI.

    Attributes:
        scale: factor on all of them, for grids of levels.
    """

    kind: ClassVar[str] = "noise"

    scale: NotNegative = 1.0

    @property
    def random(self) -> bool:
        """Whether any sigma is above zero."""
        return any(asdict(self.sigmas).values()) and self.scale > 0.0

    @property
    def sigmas(self) -> Noise:
        """The sigmas at scale 1."""
        return Noise(**self.model_dump(exclude={"scale"}))

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Add the noise.

        Raises:
            LogError: the log has no signal of a name whose sigma is not zero.
        """
        return with_noise(recording, self.sigmas, self.scale, rng)


Level = Literal["none", "low", "moderate", "high"]

LEVELS: Mapping[str, float] = {"none": 0.0, "low": 1.0, "moderate": 2.0, "high": 4.0}
"""The published levels, and what the lowest one's sigmas are multiplied by."""

LOWEST = Noise(linear_acceleration=0.025, angular_acceleration=0.25, force=0.05, torque=0.0025)
"""One sigma of each component at the lowest level [m/s², rad/s², N, N m]."""


class StarsNoise(Perturbation):
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
        return with_noise(recording, LOWEST, LEVELS[self.level], rng)


def with_noise(
    recording: Recording, sigmas: Noise, scale: float, rng: np.random.Generator
) -> Recording:
    """The recording with white noise.

    The attitude is turned by exp(n), n drawn; other signals get n added. The draws are the same
    for any scale, and nothing is drawn for a sigma of zero.

    Raises:
        LogError: the log has no signal of a name whose sigma is not zero.
    """
    drawn = {
        "quaternion" if name == "orientation" else name: scale * sigma
        for name, sigma in asdict(sigmas).items()
        if sigma > 0.0
    }
    require_signals(recording, tuple(drawn), "the noise")
    noisy = {}
    for name, sigma in drawn.items():
        exact = recording.signals[name]
        n = sigma * rng.standard_normal((len(exact), 3))
        noisy[name] = (
            quaternion_product(exact, exp_rotation(n)) if name == "quaternion" else exact + n
        )
    return with_signals(recording, noisy)
