"""Where the accelerations of a log come from: as logged, or differentiated, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from identify.logs import Recording
from identify.signals.prepared import LogSeries

_SOURCES: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "acceleration": (
            ("linear_acceleration", "as logged"),
            ("linear_velocity", "derivative of the velocity"),
            ("position", "second derivative of the position"),
        ),
        "angular_acceleration": (
            ("angular_acceleration", "as logged"),
            ("angular_velocity", "derivative of the angular velocity"),
            ("quaternion", "second derivative of the attitude"),
        ),
    }
)
"""The first signal that a log has is what is taken, as `kinematics.BodyAxes` does."""


class Route(NamedTuple):
    """How an acceleration was formed.

    Attributes:
        source: in words.
        noise: one sigma on the mean of three axes after the low-pass [m/s² or rad/s²].
        rms: of its change over the log, noise among it.
    """

    source: str
    noise: float
    rms: float


def routes_of(log: LogSeries) -> dict[str, Route]:
    """The routes of "acceleration" and "angular_acceleration"; none of still poses."""
    recording: Recording = log.recording
    if recording.still:
        return {}
    names = {*recording.signals, *(name for stream in recording.streams for name in stream.signals)}
    found = {}
    for columns, (what, sources) in zip((slice(0, 3), slice(3, 6)), _SOURCES.items(), strict=True):
        source = next((said for name, said in sources if name in names), None)
        if source is not None:
            noise = float(np.sqrt(np.mean(log.noise[columns])))
            changes = log.features[:, columns] - log.features[:, columns].mean(axis=0)
            found[what] = Route(source, noise, float(np.sqrt(np.mean(changes**2))))
    return found
