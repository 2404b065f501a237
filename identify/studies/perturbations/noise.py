"""Noise added to a log: white, coloured, encoder quantisation, and the STARS noise levels.

The standard deviations are defined by `identify.logs.synthetic.Noise`.
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
from identify.studies.perturbations.perturbation import Perturbation, require_signals, with_signals

_SIGMA_OPTIONS: dict[str, Any] = {each.name: (NotNegative, 0.0) for each in fields(Noise)}
"""Names of the options that set the standard deviation of each signal's noise."""
_Sigmas = create_model("_Sigmas", __base__=Perturbation, **_SIGMA_OPTIONS)
"""Standard deviation of the noise of each signal, by the names in `Noise`."""


class GaussianNoise(_Sigmas):
    """Gaussian noise, white or coloured; options are the standard deviations in SI.

    Attributes:
        scale: factor on all of them, for grids of levels.
        time_constant: τ of the autocorrelation exp(−t/τ) [s]; 0 is white.
        relative: whether the sigmas are shares of each signal's spread over the log.
    """

    kind: ClassVar[str] = "noise"

    scale: NotNegative = 1.0
    time_constant: NotNegative = 0.0
    relative: bool = False

    @property
    def random(self) -> bool:
        """Whether any standard deviation of the noise is above zero."""
        return any(asdict(self.noise_at_unit_scale).values()) and self.scale > 0.0

    @property
    def noise_at_unit_scale(self) -> Noise:
        """Standard deviations of the noise at scale 1."""
        return Noise(**self.model_dump(include=set(_SIGMA_OPTIONS)))

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Add the noise; raises `LogError` without its signals, or the time for coloured noise."""
        sigmas = self.noise_at_unit_scale
        if self.relative:
            spread = {
                name: float(np.std(values, axis=0).max())
                for name, values in recording.signals.items()
                if name != "quaternion"
            }
            given = {name: sigma for name, sigma in asdict(sigmas).items() if sigma > 0.0}
            sigmas = Noise(
                **{name: sigma * spread[name] for name, sigma in given.items() if name in spread}
            )
        return add_noise(recording, sigmas, self.scale, rng, self.time_constant)


class Quantisation(Perturbation):
    """Quantisation of the pose by encoders with a random origin.

    Attributes:
        position: step of each coordinate [m]; 0 for none.
        angle: step of each of three angles, about the axes z, y, x [rad]; 0 for none.
    """

    kind: ClassVar[str] = "quantised"

    position: NotNegative = 0.0
    angle: NotNegative = 0.0

    @property
    def random(self) -> bool:
        """Whether any quantisation step is above zero: the origin of the steps is random."""
        return self.position > 0.0 or self.angle > 0.0

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Round the pose to the encoder's steps; raises `LogError` without a pose."""
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
"""Published noise levels, as factors of `LOWEST_NOISE`."""

LOWEST_NOISE = Noise(
    linear_acceleration=0.025, angular_acceleration=0.25, force=0.05, torque=0.0025
)
"""Standard deviation of each component at the lowest noise level [m/s², rad/s², N, N m]."""


class StarsNoise(Perturbation):
    """White noise on accelerations and wrench as in Nadeau, Giamou and Kelly (ICRA 2023).

    Pose and twist stay exact, and must not be differentiated: the log needs accelerations.

    Attributes:
        level: "none", "low", "moderate" (twice that) or "high" (four times).
    """

    kind: ClassVar[str] = "stars_noise"

    level: Level

    @property
    def random(self) -> bool:
        """Whether noise is added, i.e. the noise level is not "none"."""
        return self.level != "none"

    def apply(self, recording: Recording, rng: np.random.Generator) -> Recording:
        """Add noise of the selected level; raises `LogError` without accelerations."""
        return add_noise(recording, LOWEST_NOISE, LEVELS[self.level], rng)


def add_noise(
    recording: Recording,
    sigmas: Noise,
    scale: float,
    rng: np.random.Generator,
    time_constant: float = 0.0,
) -> Recording:
    """Add noise to a recording, white unless it has a time constant [s].

    The attitude is rotated by exp(n) with noise n, which is added to all other signals. The draws
    are the same for any scale, and nothing is drawn for a sigma of zero.

    Raises `LogError`: the log lacks a signal whose sigma is not zero.
    """
    scaled = {
        "quaternion" if name == "orientation" else name: scale * sigma
        for name, sigma in asdict(sigmas).items()
        if sigma > 0.0
    }
    require_signals(recording, tuple(scaled), "the noise")
    noisy = {}
    for name, sigma in scaled.items():
        exact = recording.signals[name]
        n = sigma * rng.standard_normal((len(exact), 3))
        if time_constant > 0.0:
            n = _filter_to_coloured(recording, n, time_constant)
        noisy[name] = (
            quaternion_product(exact, exp_rotation(n)) if name == "quaternion" else exact + n
        )
    return with_signals(recording, noisy)


def _filter_to_coloured(recording: Recording, white: Array, time_constant: float) -> Array:
    """Filter white noise to first-order Markov noise of the same variance."""
    from scipy.signal import lfilter

    if recording.time is None:
        raise LogError(f"{recording.name}: coloured noise needs time, and this log has none")
    correlation = float(np.exp(-np.median(np.diff(recording.time)) / time_constant))
    innovations = white * np.sqrt(1.0 - correlation**2)
    innovations[0] = white[0]
    return np.asarray(lfilter([1.0], [1.0, -correlation], innovations, axis=0))
