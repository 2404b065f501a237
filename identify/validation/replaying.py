"""All replays of an estimate; a body whose simulation diverges does not affect the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from identify.arrays import Array, Indices, Mat66, Phi
from identify.errors import SimulationError
from identify.inertia import is_consistent
from identify.simulation.checks import Diverged, Interpolation
from identify.validation.single_shot import SingleShot, replay_in_one_shot
from identify.validation.windowed_replay import Replay, ReplayErrors, replay
from identify.validation.windows import OffsetSegment

ReplayT = TypeVar("ReplayT", Replay, SingleShot)

_LONG_SEGMENT = 20_000
"""Number of samples above which the band of a single-shot replay is computed on request only: it
takes a few seconds per hundred thousand samples."""

BAND_SAMPLES = 32
"""Number of bodies sampled from the posterior for an error band."""

_DRAWS_PER_BODY = 20
"""Number of posterior draws per needed body, because most draws may be inconsistent."""


@dataclass(frozen=True)
class Replays:
    """Replays of logs in windows and in a single shot, simulated on first access.

    Attributes:
        segments: segments of the logs at full rate, each with its sensor offset to subtract.
        bodies: ten parameters by name, the estimate first.
        samples: bodies drawn from the estimate for a band, shape (s, 10).
        horizon: length of a window [s]; None for a second, or less if noise requires it.
        interpolation: interpolation of the wrench between samples.
        noise: noise of the wrench, as by `wrench_noise`; None if unknown.
        long_bands: whether the single-shot band of long segments is computed, too.
        too_short: message if no segment is long enough for a window.
        reasons: further messages on missing replays.
    """

    segments: tuple[OffsetSegment, ...] = ()
    bodies: Mapping[str, Phi] = field(default_factory=dict)
    samples: Phi | None = None
    horizon: float | None = None
    interpolation: Interpolation = "linear"
    noise: Mat66 | None = None
    long_bands: bool = False
    too_short: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def windows(self) -> Replay | None:
        """Replay of many windows, each from its measured state; None if there is none."""
        return self._windows[0]

    @property
    def single_shot(self) -> SingleShot | None:
        """Replay of the longest segment from its first state to its end; None if there is none."""
        return self._single_shot[0]

    @property
    def missing_windows(self) -> tuple[str, ...]:
        """Messages why windowed replays are missing, and the messages in `reasons`."""
        windows, missing = self._windows
        too_short = windows is None and not missing and bool(self.too_short)
        return (*missing, *([self.too_short] if too_short else []), *self.reasons)

    @property
    def missing(self) -> tuple[str, ...]:
        """Messages why replays in windows or in a single shot are missing."""
        of_windows, in_one_shot = self._windows[1], self._single_shot[1]
        return (*of_windows, *in_one_shot, *self.missing_windows[len(of_windows) :])

    @property
    def without_bands(self) -> Replays:
        """Replays without error bands, which take most of the time."""
        return self if self.samples is None else replace(self, samples=None)

    @cached_property
    def _windows(self) -> tuple[Replay | None, tuple[str, ...]]:
        return self._run_non_divergent(
            partial(replay, horizon=self.horizon), self.samples, "in windows"
        )

    @cached_property
    def _single_shot(self) -> tuple[SingleShot | None, tuple[str, ...]]:
        longest = max((len(segment.time) for segment, _ in self.segments), default=0)
        samples = self.samples if self.long_bands or longest <= _LONG_SEGMENT else None
        return self._run_non_divergent(replay_in_one_shot, samples, "in one shot")

    def _run_non_divergent(
        self, replay_bodies: Callable[..., ReplayT | None], band_bodies: Phi | None, how: str
    ) -> tuple[ReplayT | None, tuple[str, ...]]:
        """Replay bodies whose simulation does not diverge; return messages on the other bodies."""
        if not self.segments:
            return None, ()
        simulate = partial(
            replay_bodies, self.segments, interpolation=self.interpolation, noise=self.noise
        )
        try:
            return simulate(self.bodies, samples=band_bodies), ()
        except SimulationError:
            pass
        convergent: dict[str, Phi] = {}
        missing: list[str] = []
        for index, (name, phi) in enumerate(self.bodies.items()):
            try:
                simulate({name: phi})
            except SimulationError as error:
                missing.append(f"No replay {how} with the {name}: {_reason(error)}.")
                if index == 0:
                    return None, tuple(missing)
            else:
                convergent[name] = phi
        try:
            return simulate(convergent, samples=band_bodies), tuple(missing)
        except SimulationError:
            missing.append(
                f"No band {how}: the motion of some bodies within the estimate's uncertainty "
                "diverges."
            )
        return simulate(convergent), tuple(missing)


_MAX_PATH_POINTS = 4000
"""Maximum number of points of a replayed path that are saved."""


@dataclass(frozen=True, slots=True)
class CompletedReplays:
    """Results of finished replays, with the attributes of `Replays` but without the logs.

    Attributes:
        windows, single_shot: as of `Replays`; paths are thinned.
        missing_windows, missing: messages on missing replays.
    """

    windows: Replay | None
    single_shot: SingleShot | None
    missing_windows: tuple[str, ...]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, replays: Replays | CompletedReplays) -> CompletedReplays:
        """Simulate all replays that were not simulated yet, and keep their results."""
        windows, shot = replays.windows, replays.single_shot
        if windows is not None:
            last = windows.times.shape[1] - 1
            kept = thinned_indices(last, max(4, _MAX_PATH_POINTS // len(windows.times)))
            paths = {name: getattr(windows, name)[:, kept] for name in _WINDOW_FIELDS}
            windows = replace(windows, **paths)
        if shot is not None:
            kept = thinned_indices(len(shot.time) - 1, _MAX_PATH_POINTS)
            poses = {name: getattr(shot, name)[kept] for name in _SHOT_FIELDS}
            shot = replace(
                shot,
                errors={name: _thin_errors(errors) for name, errors in shot.errors.items()},
                noise=None if shot.noise is None else _thin_errors(shot.noise),
                **poses,
            )
        return cls(windows, shot, replays.missing_windows, replays.missing)

    @property
    def without_bands(self) -> CompletedReplays:
        """Replays unchanged, because bands are never recomputed."""
        return self


_WINDOW_FIELDS = ("times", "simulated", "measured")
"""Fields of a windowed replay that are saved with few points."""
_SHOT_FIELDS = ("time", "position", "quaternion", "measured_position", "measured_quaternion")
"""Fields of a single-shot replay that are saved with few points."""


def thinned_indices(last: int, count: int) -> Indices:
    """Return about `count` evenly spaced indices from 0 to `last`, with `last` itself."""
    return np.unique([*range(0, last, max(1, last // count)), last])


def _thin_errors(errors: ReplayErrors) -> ReplayErrors:
    kept = thinned_indices(len(errors.horizon) - 1, _MAX_PATH_POINTS)
    return ReplayErrors(errors.horizon[kept], errors.position[kept], errors.attitude[kept])


def _reason(error: SimulationError) -> str:
    """Return the reason of a failed simulation; for divergence without batch index and step."""
    if not isinstance(error, Diverged):
        return str(error)
    return (
        f"under the measured wrench less sensor offset it diverges {error.time:.3g} s after its "
        "start; the body is not the one that moved, or the offset or the signs of the wrench are "
        "wrong"
    )


def posterior_bodies(
    phi: Phi, covariance: Array, rng: np.random.Generator, count: int = BAND_SAMPLES
) -> Phi | None:
    """Sample physically consistent bodies from the normal distribution N(phi, covariance).

    Args:
        phi: the estimate, shape (10,).
        covariance: its covariance, shape (10, 10).
        rng: source of the draws.
        count: number of bodies.

    Returns:
        Shape (count, 10); None if fewer than one draw in twenty is consistent.
    """
    values, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = axes * np.sqrt(np.maximum(values, 0.0))
    draws = phi + rng.standard_normal((_DRAWS_PER_BODY * count, 10)) @ root.T
    possible = draws[np.asarray(is_consistent(draws))]
    return possible[:count] if len(possible) >= count else None
