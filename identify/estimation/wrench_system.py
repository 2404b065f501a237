"""Least-squares system of one body in a wrench sensor, or of a payload on its carrier."""

from __future__ import annotations

from collections.abc import Sequence

from identify.errors import ProblemError
from identify.estimation.settings import EstimatorSettings
from identify.regressors import BodyWrench, ParameterSpace, Statistics, System, join_logs

PAYLOAD, CARRIER = "payload", "carrier"
"""Names of the two bodies if some logs are of the carrier alone."""

PAYLOAD_ON_CARRIER = ParameterSpace((PAYLOAD, CARRIER))
LOADED, UNLOADED = (PAYLOAD, CARRIER), (CARRIER,)
"""Names of the bodies that move in logs with and without the payload."""


def body_system(logs: Sequence[Statistics], settings: EstimatorSettings) -> System:
    """Form the system of one body in a wrench sensor, or of a payload on its carrier.

    Logs with the payload and logs without it have a weight each, as what a model leaves may differ
    between the two. An offset that all logs share needs them in one, with one weight.

    Raises:
        ProblemError: there is no log with the payload.
    """
    if not settings.unloaded:
        return System.of([(join_logs(logs), BodyWrench(offsets=settings.bias))])
    loaded = len(logs) - settings.unloaded
    if loaded < 1:
        raise ProblemError("a payload needs at least one log with it")
    kinds = (loaded, LOADED), (settings.unloaded, UNLOADED)
    if settings.bias == "shared":
        moved = tuple(bodies for count, bodies in kinds for _ in range(count))
        return System.of([(join_logs(logs), BodyWrench(PAYLOAD_ON_CARRIER, "shared", moved))])
    parts = (logs[:loaded], LOADED), (logs[loaded:], UNLOADED)
    return System.of(
        [
            (join_logs(part), BodyWrench(PAYLOAD_ON_CARRIER, settings.bias, (bodies,)))
            for part, bodies in parts
        ]
    )
