"""Requirements on the logs of a fit: errors raised before anything is estimated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from identify.errors import LogError, SchemaError
from identify.estimation import NegativeMass
from identify.estimation.priors.prior import Prior
from identify.estimation.terms import KnownCom
from identify.logs import Recording
from identify.pipeline.settings import FitSettings
from identify.regressors import LogSummary
from identify.spatial import Pose
from identify.spatial.columns import FORCE_AXES, TORQUE_AXES

_ADVICE_IF_NOT_NAMED = {
    "force": "the schema names no force, and of a body in free flight nothing else tells the mass: "
    "give it, as by --mass (in Python, mass), or name the force in [wrench]",
    "torque": "the schema names neither force nor torque: how a body turns freely tells the ratios "
    "of its moments of inertia, and nothing scales them; name the torque in [wrench]",
}
"""What to do where a schema does not name them."""


def require_live_wrench(log: LogSummary, *, mass_known: bool) -> None:
    """Raise if the force or the torque never changes: a dead sensor, or the wrong columns.

    A force of zero is no dead sensor where the mass is known: a body in free flight has none.

    Raises:
        LogError: it does not.
    """
    if log.rows_kept < 2:
        return
    schema = log.recording.schema
    wrench = schema.get("wrench")
    named = wrench if isinstance(wrench, Mapping) else ()
    unnamed = [name for name in _ADVICE_IF_NOT_NAMED if schema and name not in named]
    for name, axes in (("force", FORCE_AXES), ("torque", TORQUE_AXES)):
        values = log.wrench_range[:, axes]
        if np.ptp(values, axis=0).any() or (name == "force" and mass_known and not values.any()):
            continue
        if unnamed:
            raise LogError(f"{log.name}: {_ADVICE_IF_NOT_NAMED[unnamed[-1]]}")
        hint = "; of a body in free flight give the mass" if name == "force" else ""
        raise LogError(
            f"{log.name}: the {name} is {values[0].tolist()} in all {log.rows_kept} "
            f"rows: the sensor was off, or [wrench] {name} in the schema names the wrong "
            f"columns{hint if not values.any() else ''}"
        )


_FRAMES: Mapping[str, tuple[str, Callable[[Recording], object]]] = MappingProxyType(
    {
        "[wrench] frame": ("axes of the wrench", lambda log: log.frames["wrench"]),
        "[wrench] mount": ("mount of the sensor", lambda log: _matrix(log.X_BS)),
        "[world] gravity": ("gravity", lambda log: log.gravity.tolist()),
        "[body] name": ("name of the body frame", lambda log: log.body_frame.name),
        "[body.flange]": ("flange in the body frame", lambda log: _matrix(log.body_frame.flange)),
        "[body.tcp]": ("tool point in the flange", lambda log: _matrix(log.body_frame.tcp)),
    }
)
"""Where a schema says what logs have to agree on: in words, and what a log has."""


def require_same_frames(recordings: Sequence[Recording], *, with_carrier: bool) -> None:
    """Raise unless logs are of one body frame, and with a carrier in the same frames altogether.

    Args:
        recordings: of one fit.
        with_carrier: whether some are of the carrier alone: then the axes of the wrench, the
            sensor's mount and gravity have to be the same too.

    Raises:
        LogError: two differ.
    """
    first, *others = recordings
    why = "logs with the payload and without it" if with_carrier else "the logs of one fit"
    for other in others:
        for key, (what, of) in _FRAMES.items():
            one, two = of(first), of(other)
            if (with_carrier or key.startswith("[body")) and not _alike(one, two):
                raise LogError(
                    f"{other.name}: the {what} is {two or 'not given'}, but {one or 'not given'} "
                    f"in {first.name}: {why} have to be in the same frames; read them with one "
                    f"schema ({key})"
                )


def require_compatible_prior(prior: Prior, recordings: Sequence[Recording]) -> None:
    """Raise where a body that is the prior is in another frame, or was found from the same logs.

    Args:
        prior: of the fit.
        recordings: its logs, which are of one body frame.

    Raises:
        LogError: it is.
    """
    if prior.kind != "body":
        return
    from identify.estimation.priors import BodyPrior

    assert isinstance(prior, BodyPrior)
    frame = recordings[0].body_frame
    flanges, names = (frame.flange, prior.frames.flange), (frame.name, prior.frames.name)
    one, two = map(_matrix, flanges)
    apart = one is not None and two is not None and not _alike(one, two)
    unlike = None in (one, two) and None not in names and names[0] != names[1]
    if apart or unlike:
        raise LogError(
            f"prior: {prior} is about {prior.frames.name or 'another frame'}, and the logs are "
            f"about {frame.name or 'B'}, which are not the same: give a body about the frame "
            "of the logs (InertialParameters.in_frame)"
        )
    for recording in recordings:
        if recording.sha256 in prior.logs:
            raise LogError(
                f"prior: {prior} was found from {recording.name} itself; counted twice, a log "
                "would look twice as sure. Give an estimate of other logs"
            )


def require_mass_not_given_at_rest(logs: Sequence[LogSummary], settings: FitSettings) -> None:
    """Raise where a mass or a centre of mass is given that a log has found before the fit.

    The force of a log without pose and accelerometer is divided by the mass that its rests tell, so
    that it leaves nothing with that mass, and no other can be weighed against it.

    Raises:
        SchemaError: it is.
    """
    found = [log for log in logs if log.imu.at_rest]
    if not found:
        return
    from identify.estimation.terms import KnownMass

    given = [str(term) for term in settings.all_terms if isinstance(term, KnownMass | KnownCom)]
    for log in found:
        if given:
            raise SchemaError(
                f"{log.name}: the log has no pose and no accelerometer; its mass is found by "
                f"its rests, {log.imu.at_rest[0]:.5g} kg, and its centre of mass by the "
                f"torque, and neither can be given ({', '.join(given)}). Leave it out and compare "
                "it with what is found; or give [pose], or [imu] accelerometer, in the schema"
            )


def _matrix(pose: Pose | None) -> object:
    return None if pose is None else np.round(pose.matrix, 12).tolist()


def _alike(one: object, other: object) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return bool(np.allclose(one, other, rtol=1e-9, atol=1e-9))
    return one == other


def logs_swapped(
    loaded: Sequence[LogSummary],
    unloaded: Sequence[LogSummary],
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
