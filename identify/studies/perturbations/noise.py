"""Noise on any signal, in the log's own axes: white, coloured, of an encoder, published for STARS.

What its sigmas are is defined once, by `identify.logs.synthetic.Noise`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import create_model

from identify.arrays import Array
from identify.errors import LogError
from identify.logs import Recording
from identify.logs.synthetic import Noise
from identify.spatial.rotations import exp_rotation, quaternion_product
from identify.studies.options import NotNegative
from identify.studies.perturbations.perturbation import (
    Perturbation,
    require_signals,
    with_signals,
)

_SIGMAS: dict[str, Any] = {each.name: (NotNegative, 0.0) for each in fields(Noise)}
_Sigmas = create_model("_Sigmas", __base__=Perturbation, **_SIGMAS)


class GaussianNoise(_Sigmas):
    """Gaussian noise, white or coloured; the options are the sigmas of `Noise`, in SI.

    Attributes:
        scale: factor on all of them, for grids of levels.
        time_constant: of noise that forgets itself as exp(−t/τ) [s]; 0 is white.
        relative: whether the sigmas are shares of each signal's own spread over the log.
    """

    kind: ClassVar[str] = "noise"

    scale: NotNegative = 1.0
    time_constant: NotNegative = 0.0
    relative: bool = False

    @property
    def random(self) -> bool:
        """Whether any sigma is above zero."""
        return any(asdict(self.sigmas).values()) and self.scale > 0.0

    @property
    def sigmas(self) -> Noise:
        """The sigmas at scale 1."""
        return Noise(**self.model_dump(include=set(_SIGMAS)))

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Add the noise.

        Raises:
            LogError: the log has no signal of a name whose sigma is not zero, or no time where
                the noise is coloured.
        """
        sigmas = self.sigmas
        if self.relative:
            spread = {name: float(np.std(of, axis=0).max()) for name, of in _named(recording)}
            given = {name: sigma for name, sigma in asdict(sigmas).items() if sigma > 0.0}
            sigmas = Noise(
                **{name: sigma * spread[name] for name, sigma in given.items() if name in spread}
            )
        return with_noise(recording, sigmas, self.scale, rng, self.time_constant)


class Quantisation(Perturbation):
    """Poses as an encoder counts them: whole steps, from an origin that is anywhere.

    Attributes:
        position: step of each coordinate [m]; 0 leaves them.
        angle: step of each of three angles, about the axes z, y, x [rad]; 0 leaves them.
    """

    kind: ClassVar[str] = "quantised"

    position: NotNegative = 0.0
    angle: NotNegative = 0.0

    @property
    def random(self) -> bool:
        """Whether there is a step, whose origin is drawn."""
        return self.position > 0.0 or self.angle > 0.0

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Round the pose.

        Raises:
            LogError: the log has no pose.
        """
        from scipy.spatial.transform import Rotation

        require_signals(recording, ("position", "quaternion"), "steps of an encoder")
        origins, signals = rng.uniform(size=(2, 3)), {}
        if self.position:
            steps = recording.signals["position"] / self.position
            signals["position"] = (np.round(steps + origins[0]) - origins[0]) * self.position
        if self.angle:
            angles = Rotation.from_quat(recording.signals["quaternion"]).as_euler("zyx")
            steps = np.unwrap(angles, axis=0) / self.angle
            angles = (np.round(steps + origins[1]) - origins[1]) * self.angle
            signals["quaternion"] = Rotation.from_euler("zyx", angles).as_quat()
        return with_signals(recording, signals)


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
    recording: Recording,
    sigmas: Noise,
    scale: float,
    rng: np.random.Generator,
    time_constant: float = 0.0,
) -> Recording:
    """The recording with noise, white where it has no time constant [s].

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
        if time_constant > 0.0:
            n = _coloured(recording, n, time_constant)
        noisy[name] = (
            quaternion_product(exact, exp_rotation(n)) if name == "quaternion" else exact + n
        )
    return with_signals(recording, noisy)


def _named(recording: Recording) -> list[tuple[str, Array]]:
    """The signals by the names that `Noise` has for them, but for the attitude."""
    return [(name, of) for name, of in recording.signals.items() if name != "quaternion"]


def _coloured(recording: Recording, white: Array, time_constant: float) -> Array:
    """First-order Markov noise of the same variance."""
    from scipy.signal import lfilter

    if recording.time is None:
        raise LogError(f"{recording.name}: coloured noise needs time, and this log has none")
    kept = float(np.exp(-np.median(np.diff(recording.time)) / time_constant))
    fresh = white * np.sqrt(1.0 - kept**2)
    fresh[0] = white[0]
    return np.asarray(lfilter([1.0], [1.0, -kept], fresh, axis=0))
