"""All replays of an estimate; a body whose motion is lost is said, and costs the others nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from identify.arrays import Array, Phi
from identify.errors import SimulationError
from identify.inertia import is_consistent
from identify.simulation.checks import Interpolation
from identify.simulation.divergence import Diverged
from identify.validation.single_shot import SingleShot, replay_in_one_shot
from identify.validation.windowed import HORIZON, Replay, replay
from identify.validation.windows import OffsetSegment

T = TypeVar("T", Replay, SingleShot)

_LONG = 20_000
"""Samples of a segment from which a band in one shot is worth its time only where it is asked for:
it takes a few seconds for each hundred thousand."""

SAMPLES = 32
"""Bodies that a band is made of."""

_TRIES = 20
"""Draws for each body that is wanted, of which most may be impossible."""


@dataclass(frozen=True, slots=True)
class Replays:
    """What replays there are.

    Attributes:
        windows: from measured states, again and again; None where there are none.
        single_shot: from the first state to the end of the longest segment; likewise.
        missing: sentences on what is missing.
    """

    windows: Replay | None
    single_shot: SingleShot | None
    missing: tuple[str, ...]


def replays(
    segments: Sequence[OffsetSegment],
    bodies: Mapping[str, Phi],
    *,
    samples: Phi | None = None,
    horizon: float = HORIZON,
    interpolation: Interpolation = "linear",
    long_bands: bool = False,
) -> Replays:
    """Simulate windows of logs, and their longest segment in one shot.

    Args:
        segments: of the logs at full rate, each with the sensor offset to take off.
        bodies: ten parameters by name, the estimate first.
        samples: bodies drawn from the estimate for a band, shape (s, 10).
        horizon: length of a window [s].
        interpolation: the wrench between samples.
        long_bands: work out the band in one shot of long segments too.
    """
    missing: list[str] = []

    def in_windows(some: Mapping[str, Phi], drawn: Phi | None) -> Replay | None:
        return replay(segments, some, horizon=horizon, samples=drawn, interpolation=interpolation)

    def in_one_shot(some: Mapping[str, Phi], drawn: Phi | None) -> SingleShot | None:
        return replay_in_one_shot(segments, some, samples=drawn, interpolation=interpolation)

    longest = max((len(segment.time) for segment, _ in segments), default=0)
    for_shot = samples if long_bands or longest <= _LONG else None
    windows = _of_those_that_last(in_windows, bodies, samples, "in windows", missing)
    shot = _of_those_that_last(in_one_shot, bodies, for_shot, "in one shot", missing)
    return Replays(windows, shot, tuple(missing))


def _reason(error: SimulationError) -> str:
    """Why a motion could not be simulated; of one that is lost, nothing of batches and steps."""
    if not isinstance(error, Diverged):
        return str(error)
    return (
        f"under the measured wrench less the sensor offset it is lost {error.time:.3g} s after its "
        "start; this is not the body that moved so, or the offset or the signs of the wrench are "
        "wrong"
    )


def _of_those_that_last(
    run: Callable[[Mapping[str, Phi], Phi | None], T | None],
    bodies: Mapping[str, Phi],
    samples: Phi | None,
    how: str,
    missing: list[str],
) -> T | None:
    """The replay of all bodies, or of those whose motion stays within bounds; None for no estimate.

    Why a body, or the band, is missing is added to `missing`.
    """
    try:
        return run(bodies, samples)
    except SimulationError:
        pass
    lasting: dict[str, Phi] = {}
    for place, (name, phi) in enumerate(bodies.items()):
        try:
            run({name: phi}, None)
        except SimulationError as error:
            missing.append(f"No replay {how} with the {name}: {_reason(error)}.")
            if place == 0:
                return None
        else:
            lasting[name] = phi
    try:
        return run(lasting, samples)
    except SimulationError:
        missing.append(
            f"No band {how}: some bodies within the estimate's uncertainty move beyond all bounds."
        )
    return run(lasting, None)


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
