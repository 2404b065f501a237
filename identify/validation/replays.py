"""All replays of an estimate; a body whose motion is lost is said, and costs the others nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from identify.arrays import Phi
from identify.errors import SimulationError
from identify.simulation.checks import Interpolation
from identify.simulation.divergence import Diverged
from identify.validation.replay import HORIZON, Replay, replay
from identify.validation.single_shot import SingleShot, replay_in_one_shot
from identify.validation.windows import Part

T = TypeVar("T", Replay, SingleShot)

_LONG = 20_000
"""Samples of a stretch from which a band in one shot is worth its time only where it is asked for:
it takes a few seconds for each hundred thousand."""


@dataclass(frozen=True, slots=True)
class Replays:
    """What replays there are.

    Attributes:
        windows: from measured states, again and again; None where there are none.
        single_shot: from the first state to the end of the longest stretch; likewise.
        notes: sentences on what is missing.
    """

    windows: Replay | None
    single_shot: SingleShot | None
    notes: tuple[str, ...]


def replays(
    parts: Sequence[Part],
    bodies: Mapping[str, Phi],
    *,
    samples: Phi | None = None,
    horizon: float = HORIZON,
    interpolation: Interpolation = "linear",
    long_bands: bool = False,
) -> Replays:
    """Simulate windows of logs, and their longest stretch in one shot.

    Args:
        parts: stretches of the logs at full rate, each with the sensor bias to take off.
        bodies: ten parameters by name, the estimate first.
        samples: bodies drawn from the estimate for a band, shape (s, 10).
        horizon: length of a window [s].
        interpolation: the wrench between samples.
        long_bands: work out the band in one shot of long stretches too.
    """
    notes: list[str] = []

    def in_windows(some: Mapping[str, Phi], drawn: Phi | None) -> Replay | None:
        return replay(parts, some, horizon=horizon, samples=drawn, interpolation=interpolation)

    def in_one_shot(some: Mapping[str, Phi], drawn: Phi | None) -> SingleShot | None:
        return replay_in_one_shot(parts, some, samples=drawn, interpolation=interpolation)

    longest = max((len(segment.time) for segment, _ in parts), default=0)
    for_shot = samples if long_bands or longest <= _LONG else None
    windows = _of_those_that_last(in_windows, bodies, samples, "in windows", notes)
    shot = _of_those_that_last(in_one_shot, bodies, for_shot, "in one shot", notes)
    return Replays(windows, shot, tuple(notes))


def _reason(error: SimulationError) -> str:
    """Why a motion could not be simulated; of one that is lost, nothing of batches and steps."""
    if not isinstance(error, Diverged):
        return str(error)
    return (
        f"under the measured wrench less its bias it is lost {error.time:.3g} s after its start; "
        f"this is not the body that moved so, or the bias or the signs of the wrench are wrong"
    )


def _of_those_that_last(
    run: Callable[[Mapping[str, Phi], Phi | None], T | None],
    bodies: Mapping[str, Phi],
    samples: Phi | None,
    how: str,
    notes: list[str],
) -> T | None:
    """The replay of all bodies, or of those whose motion stays within bounds; None for no estimate.

    Why a body, or the band, is missing is added to `notes`.
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
            notes.append(f"No replay {how} with the {name}: {_reason(error)}.")
            if place == 0:
                return None
        else:
            lasting[name] = phi
    try:
        return run(lasting, samples)
    except SimulationError:
        notes.append(
            f"No band {how}: some bodies within the estimate's uncertainty move beyond all bounds."
        )
    return run(lasting, None)
