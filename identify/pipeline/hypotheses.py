"""What else a log may mean: a sign or unit that explains it better, and the line to change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from identify.errors import IdentifyError
from identify.estimation import NegativeMass, ordinary_least_squares
from identify.logs import Recording
from identify.regressors import BodyWrench, System, block_statistics, join_logs
from identify.signals import PreparedLog, prepare
from identify.spatial.rotations import quaternion_conjugate, rotate_back, rotation_from_quaternion

_CLEARLY = 0.5
"""A hypothesis is believed if its residual is below this share of the other's."""


def sign_error(logs: Sequence[PreparedLog], error: NegativeMass) -> NegativeMass:
    """The error to raise for a negative mass, with the change that repairs it.

    The wrench or gravity may have the other sign, or the pose be read wrongly. A wrench of the
    other sign leaves the residual of the unconstrained fit as it is; the others change it, so the
    log is prepared again for each, and the one that fits best is named if it fits clearly better.
    """
    recording = logs[0].recording
    gravity_line = f"[world] gravity = {recording.gravity.tolist()}"
    advice = {
        "gravity_direction": f"most likely gravity points the other way, {gravity_line} (or "
        "--gravity) fits better with its sign changed",
    }
    changes: dict[str, Callable[[Recording], Recording]] = {
        "gravity_direction": lambda log: replace(log, gravity=-log.gravity)
    }
    pose = recording.schema.get("pose")
    if isinstance(pose, dict) and all("quaternion" in log.recording.signals for log in logs):
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
    loaded: Sequence[PreparedLog],
    unloaded: Sequence[PreparedLog],
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
    names = (", ".join(log.name for log in logs) for logs in (loaded, unloaded))
    return NegativeMass(
        error.mass,
        "swap them if {} is of the carrier alone, and {} of it with the payload; else check that "
        "all logs are of one carrier, in one unit{}".format(*names, zeroed if shared else ""),
        error.body,
        code="logs_swapped",
        meaning="what moved in the unloaded logs is heavier than in those with the payload",
    )


def fits_better(logs: Sequence[PreparedLog], change: Callable[[Recording], Recording]) -> bool:
    """Whether logs that are read otherwise leave a clearly smaller residual, and a positive mass.

    Args:
        logs: as they were prepared.
        change: the recording as it may be meant.
    """
    return _share_left(logs, change) < _CLEARLY


def _share_left(logs: Sequence[PreparedLog], change: Callable[[Recording], Recording]) -> float:
    """The residual of logs that are read otherwise as a share of theirs; infinite for no body."""
    try:
        changed = [prepare(change(log.recording), log.cutoff_hz) for log in logs]
        now, then = _system(logs), _system(changed)
        phi_now, phi_then = ordinary_least_squares(now), ordinary_least_squares(then)
    except IdentifyError:
        return np.inf
    residual_now = sum(float(np.trace(moment)) for moment in now.residual_moments(phi_now))
    residual_then = sum(float(np.trace(moment)) for moment in then.residual_moments(phi_then))
    return residual_then / residual_now if phi_then[0] > 0.0 and residual_now > 0.0 else np.inf


def _system(logs: Sequence[PreparedLog]) -> System:
    return System.of([(join_logs([block_statistics(log) for log in logs]), BodyWrench())])


def _other_order(recording: Recording) -> Recording:
    """The scalar of the log's quaternions stands at the other end."""
    pose = recording.schema.get("pose")
    shift = 1 if isinstance(pose, dict) and pose.get("order") == "wxyz" else -1
    turned = np.roll(recording.signals["quaternion"], shift, axis=1)
    return replace(recording, signals={**recording.signals, "quaternion": turned})


def _other_map(recording: Recording) -> Recording:
    """The log's poses are those of the world in the body, or no longer so."""
    signals = dict(recording.signals)
    q = signals["quaternion"]
    signals["quaternion"] = quaternion_conjugate(q)
    if "position" in signals:
        signals["position"] = -rotate_back(rotation_from_quaternion(q), signals["position"])
    return replace(recording, signals=signals)


_POSE_KEYS = (
    ("quaternion_order", "order", ("xyzw", "wxyz"), _other_order),
    ("pose_maps", "maps", ("body_to_world", "world_to_body"), _other_map),
)
"""What of a pose may be read wrongly: code, key of [pose], its two values (the default first)."""
