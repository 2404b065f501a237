"""All replays of an estimate; a body whose motion is lost is said, and costs the others nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from identify.arrays import Array, Indices, Mat66, Phi
from identify.errors import SimulationError
from identify.inertia import is_consistent
from identify.simulation.checks import Interpolation
from identify.simulation.divergence import Diverged
from identify.validation.single_shot import SingleShot, replay_in_one_shot
from identify.validation.windowed import Replay, ReplayErrors, replay
from identify.validation.windows import OffsetSegment

T = TypeVar("T", Replay, SingleShot)

_LONG_SEGMENT = 20_000
"""Samples of a segment from which a band in one shot is worth its time only where it is asked for:
it takes a few seconds for each hundred thousand."""

SAMPLES = 32
"""Bodies that a band is made of."""

_TRIES = 20
"""Draws for each body that is wanted, of which most may be impossible."""


@dataclass(frozen=True)
class Replays:
    """Windows of logs simulated, and their longest segment in one shot, each when looked at.

    Attributes:
        segments: of the logs at full rate, each with the sensor offset to take off.
        bodies: ten parameters by name, the estimate first.
        samples: bodies drawn from the estimate for a band, shape (s, 10).
        horizon: length of a window [s]; a second, or less, as noise leaves it, where not given.
        interpolation: the wrench between samples.
        noise: of the wrench, as `wrench_noise` has it; None where it is not known.
        long_bands: whether the band in one shot of long segments is worked out too.
        too_short: what is said where no segment is long enough for a window.
        reasons: sentences on what is missing whatever the replays come to.
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
        """From measured states, again and again; None where there are none."""
        return self._windows[0]

    @property
    def single_shot(self) -> SingleShot | None:
        """From the first state to the end of the longest segment; likewise."""
        return self._single_shot[0]

    @property
    def missing_windows(self) -> tuple[str, ...]:
        """Sentences on windows that are missing, and on what is missing whatever they come to."""
        windows, missing = self._windows
        gone = windows is None and not missing and bool(self.too_short)
        return (*missing, *([self.too_short] if gone else []), *self.reasons)

    @property
    def missing(self) -> tuple[str, ...]:
        """Sentences on all that is missing."""
        of_windows, in_one_shot = self._windows[1], self._single_shot[1]
        return (*of_windows, *in_one_shot, *self.missing_windows[len(of_windows) :])

    @property
    def without_bands(self) -> Replays:
        """The same without bands, which take most of the time."""
        return self if self.samples is None else replace(self, samples=None)

    @cached_property
    def _windows(self) -> tuple[Replay | None, tuple[str, ...]]:
        def run(bodies: Mapping[str, Phi], drawn: Phi | None) -> Replay | None:
            return replay(
                self.segments,
                bodies,
                horizon=self.horizon,
                samples=drawn,
                interpolation=self.interpolation,
                noise=self.noise,
            )

        return self._of_those_that_last(run, self.samples, "in windows")

    @cached_property
    def _single_shot(self) -> tuple[SingleShot | None, tuple[str, ...]]:
        def run(bodies: Mapping[str, Phi], drawn: Phi | None) -> SingleShot | None:
            return replay_in_one_shot(
                self.segments,
                bodies,
                samples=drawn,
                interpolation=self.interpolation,
                noise=self.noise,
            )

        longest = max((len(segment.time) for segment, _ in self.segments), default=0)
        samples = self.samples if self.long_bands or longest <= _LONG_SEGMENT else None
        return self._of_those_that_last(run, samples, "in one shot")

    def _of_those_that_last(
        self,
        run: Callable[[Mapping[str, Phi], Phi | None], T | None],
        samples: Phi | None,
        how: str,
    ) -> tuple[T | None, tuple[str, ...]]:
        """The replay of all bodies, or of those whose motion stays within bounds, or None.

        With it sentences on why a body, or the band, is missing.
        """
        if not self.segments:
            return None, ()
        try:
            return run(self.bodies, samples), ()
        except SimulationError:
            pass
        lasting: dict[str, Phi] = {}
        missing: list[str] = []
        for place, (name, phi) in enumerate(self.bodies.items()):
            try:
                run({name: phi}, None)
            except SimulationError as error:
                missing.append(f"No replay {how} with the {name}: {_reason(error)}.")
                if place == 0:
                    return None, tuple(missing)
            else:
                lasting[name] = phi
        try:
            return run(lasting, samples), tuple(missing)
        except SimulationError:
            missing.append(
                f"No band {how}: some bodies within the estimate's uncertainty move beyond all "
                "bounds."
            )
        return run(lasting, None), tuple(missing)


_MOST_KEPT = 4000
"""Points of a path that are kept."""


@dataclass(frozen=True, slots=True)
class DoneReplays:
    """What came of replays, without the logs: it looks as they do.

    Attributes:
        windows, single_shot: as of `Replays`; paths are thinned.
        missing_windows, missing: sentences on what is missing.
    """

    windows: Replay | None
    single_shot: SingleShot | None
    missing_windows: tuple[str, ...]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, replays: Replays | DoneReplays) -> DoneReplays:
        """Of replays, which are simulated where they were not yet."""
        windows, shot = replays.windows, replays.single_shot
        if windows is not None:
            last = windows.times.shape[1] - 1
            kept = _spread(last, max(4, _MOST_KEPT // len(windows.times)))
            paths = {name: getattr(windows, name)[:, kept] for name in _PATHS}
            windows = replace(windows, **paths)
        if shot is not None:
            kept = _spread(len(shot.time) - 1, _MOST_KEPT)
            poses = {name: getattr(shot, name)[kept] for name in _POSES}
            shot = replace(
                shot,
                errors={name: _thinned(one) for name, one in shot.errors.items()},
                noise=None if shot.noise is None else _thinned(shot.noise),
                **poses,
            )
        return cls(windows, shot, replays.missing_windows, replays.missing)

    @property
    def without_bands(self) -> DoneReplays:
        """Itself: what is there is there."""
        return self


_PATHS = ("times", "simulated", "measured")
_POSES = ("time", "position", "quaternion", "measured_position", "measured_quaternion")


def _spread(last: int, most: int) -> Indices:
    """Places from the first to the last, evenly but for that one, about as many as are kept."""
    return np.unique([*range(0, last, max(1, last // most)), last])


def _thinned(errors: ReplayErrors) -> ReplayErrors:
    kept = _spread(len(errors.horizon) - 1, _MOST_KEPT)
    return ReplayErrors(errors.horizon[kept], errors.position[kept], errors.attitude[kept])


def _reason(error: SimulationError) -> str:
    """Why a motion could not be simulated; of one that is lost, nothing of batches and steps."""
    if not isinstance(error, Diverged):
        return str(error)
    return (
        f"under the measured wrench less the sensor offset it is lost {error.time:.3g} s after its "
        "start; this is not the body that moved so, or the offset or the signs of the wrench are "
        "wrong"
    )


def posterior_bodies(
    phi: Phi, covariance: Array, rng: np.random.Generator, count: int = SAMPLES
) -> Phi | None:
    """Possible bodies of the normal distribution N(phi, covariance), by rejection.

    Args:
        phi: the estimate, shape (10,).
        covariance: of phi, shape (10, 10).
        rng: makes the draws.
        count: how many.

    Returns:
        Shape (count, 10); None where possible bodies are rarer than one draw in twenty.
    """
    values, axes = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = axes * np.sqrt(np.maximum(values, 0.0))
    draws = phi + rng.standard_normal((_TRIES * count, 10)) @ root.T
    possible = draws[np.asarray(is_consistent(draws))]
    return possible[:count] if len(possible) >= count else None
