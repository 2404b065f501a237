"""What else a log may mean: a sign or unit that explains it better, and the line to change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.errors import IdentifyError
from identify.estimation import NegativeMass, ordinary_least_squares
from identify.logs import LogFile, Recording
from identify.regressors import BodyWrench, LogSummary, System, join_logs, scan
from identify.signals import Reading

_CLEARLY = 0.5
"""A hypothesis is believed if its residual is below this share of the other's."""

_ROWS = 20_000
"""Rows of a log that hypotheses are tried on, about."""

Change: TypeAlias = Callable[[LogSummary], Reading]
"""How a log that was read may be meant."""


class ScannedLog(NamedTuple):
    """A log, which may be read again, and what was found when it was read."""

    source: Recording | LogFile
    summary: LogSummary


def sign_error(logs: Sequence[ScannedLog], error: NegativeMass) -> NegativeMass:
    """The error to raise for a negative mass, with the change that repairs it.

    The wrench or gravity may have the other sign, or the pose be read wrongly. A wrench of the
    other sign leaves the residual of the unconstrained fit as it is; the others change it, so the
    log is read again for each, and the one that fits best is named if it fits clearly better.
    """
    recording = logs[0].summary.recording
    gravity_line = f"[world] gravity = {recording.gravity.tolist()}"
    advice = {
        "gravity_direction": f"most likely gravity points the other way, {gravity_line} (or "
        "--gravity) fits better with its sign changed",
    }
    changes: dict[str, Change] = {"gravity_direction": _other_gravity}
    pose = recording.schema.get("pose")
    if isinstance(pose, dict) and all(
        "quaternion" in log.summary.recording.signals for log in logs
    ):
        for code, key, values, change in _POSE_KEYS:
            # in an inverse pose, the other order makes no mass negative
            if key == "maps" or ("quaternion" in pose and pose.get("maps") != "world_to_body"):
                now = pose.get(key, values[0])
                other = values[1 - values.index(now)]
                line = f'change `{key} = "{now}"` to `{key} = "{other}"`, which fits clearly better'
                advice[code], changes[code] = f"in the schema, [pose], {line}", change
    shares = {code: _share_left(logs, change) for code, change in changes.items()}
    best = min(shares, key=shares.__getitem__)
    if shares[best] < _CLEARLY:
        meaning = "a sign is wrong" if best == "gravity_direction" else "the pose is read wrongly"
        return NegativeMass(error.mass, advice[best], error.body, code=best, meaning=meaning)
    wrench = recording.schema.get("wrench")
    acts_on = wrench.get("acts_on") if isinstance(wrench, dict) else None
    if acts_on not in ("body", "sensor"):
        return error
    other = "body" if acts_on == "sensor" else "sensor"
    return NegativeMass(
        error.mass,
        f"most likely the wrench has the other one. In the schema, [wrench], change "
        f'`acts_on = "{acts_on}"` to `acts_on = "{other}"`. Else check {gravity_line}, and `order` '
        f"and `maps` in [pose]",
        error.body,
    )


def logs_swapped(
    loaded: Sequence[ScannedLog],
    unloaded: Sequence[ScannedLog],
    error: NegativeMass,
    *,
    shared: bool,
) -> NegativeMass:
    """The error to raise where a payload's mass is negative, and that of each log is not.

    Args:
        loaded: logs with the payload.
        unloaded: logs without it.
        error: that of the fit.
        shared: whether all logs had one offset.
    """
    zeroed = ", without zeroing the sensor between them, as one shared offset means"
    names = (", ".join(log.summary.name for log in logs) for logs in (loaded, unloaded))
    return NegativeMass(
        error.mass,
        "swap them if {} is of the carrier alone, and {} of it with the payload; else check that "
        "all logs are of one carrier, in one unit{}".format(*names, zeroed if shared else ""),
        error.body,
        code="logs_swapped",
        meaning="what moved in the unloaded logs is heavier than in those with the payload",
    )


def fits_better(logs: Sequence[ScannedLog], change: Change) -> bool:
    """Whether logs that are read otherwise leave a clearly smaller residual, and a positive mass.

    Args:
        logs: as they were read.
        change: how they may be meant.
    """
    return _share_left(logs, change) < _CLEARLY


def _share_left(logs: Sequence[ScannedLog], change: Change) -> float:
    """The residual of logs that are read otherwise as a share of theirs; infinite for no body."""
    try:
        now, then = _system(logs, lambda log: log.reading), _system(logs, change)
        phi_now, phi_then = ordinary_least_squares(now), ordinary_least_squares(then)
    except IdentifyError:
        return np.inf
    residual_now = sum(float(np.trace(moment)) for moment in now.residual_moments(phi_now))
    residual_then = sum(float(np.trace(moment)) for moment in then.residual_moments(phi_then))
    return residual_then / residual_now if phi_then[0] > 0.0 and residual_now > 0.0 else np.inf


def _system(logs: Sequence[ScannedLog], change: Change) -> System:
    """The logs, thinned, as they were read but for a change."""
    found = []
    for log in logs:
        reading = replace(change(log.summary), cutoff_hz=log.summary.cutoff_hz, most_rows=_ROWS)
        found.append(scan(log.source, reading).statistics)
    return System.of([(join_logs(found), BodyWrench())])


def _other_gravity(log: LogSummary) -> Reading:
    x, y, z = (-log.recording.gravity).tolist()
    return replace(log.reading, gravity=(x, y, z))


_POSE_KEYS: tuple[tuple[str, str, tuple[str, str], Change], ...] = (
    (
        "quaternion_order",
        "order",
        ("xyzw", "wxyz"),
        lambda log: replace(log.reading, turned_order=True),
    ),
    (
        "pose_maps",
        "maps",
        ("body_to_world", "world_to_body"),
        lambda log: replace(log.reading, turned_maps=True),
    ),
)
"""What of a pose may be read wrongly: code, key of [pose], its two values (the default first)."""
