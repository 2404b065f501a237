"""Requirements on the logs of a fit, checked before anything is estimated."""

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

_ADVICE_WITHOUT_FORCE = (
    "the schema names no force, without which free flight does not determine the mass: "
    "give it with --mass (in Python, mass), or name the force in [wrench]"
)
_ADVICE_WITHOUT_WRENCH = (
    "the schema names neither force nor torque: free rotation determines only the ratios "
    "of the moments of inertia, not their scale; name the torque in [wrench]"
)


def require_live_wrench(log: LogSummary, *, mass_known: bool) -> None:
    """Raise if force or torque never changes, because of a dead sensor or wrong columns.

    A force of zero is valid where the mass is known: a body in free flight has no force.

    Raises `LogError`: it does not change.
    """
    if log.rows_kept < 2:
        return
    schema = log.recording.schema
    wrench = schema.get("wrench")
    named = wrench if isinstance(wrench, Mapping) else ()
    for name, axes in (("force", FORCE_AXES), ("torque", TORQUE_AXES)):
        values = log.wrench_range[:, axes]
        if np.ptp(values, axis=0).any() or (name == "force" and mass_known and not values.any()):
            continue
        if schema and name not in named:  # a table [wrench] always names the torque
            advice = _ADVICE_WITHOUT_FORCE if "torque" in named else _ADVICE_WITHOUT_WRENCH
            raise LogError(f"{log.name}: {advice}")
        hint = "; of a body in free flight give the mass" if name == "force" else ""
        raise LogError(
            f"{log.name}: the {name} is {values[0].tolist()} in all {log.rows_kept} "
            f"rows: the sensor was off, or [wrench] {name} in the schema names the wrong "
            f"columns{hint if not values.any() else ''}"
        )


_COMMON_FRAME_SETTINGS: Mapping[str, tuple[str, Callable[[Recording], object]]] = MappingProxyType(
    {
        "[wrench] frame": ("axes of the wrench", lambda log: log.frames["wrench"]),
        "[wrench] mount": ("mount of the sensor", lambda log: _pose_matrix(log.X_BS)),
        "[world] gravity": ("gravity", lambda log: log.gravity.tolist()),
        "[body] name": ("name of the body frame", lambda log: log.body_frame.name),
        "[body.flange]": (
            "flange in the body frame",
            lambda log: _pose_matrix(log.body_frame.flange),
        ),
        "[body.tcp]": ("tool point in the flange", lambda log: _pose_matrix(log.body_frame.tcp)),
    }
)
"""Frame settings that all logs of a fit must share: name and getter, by schema key."""


def require_same_frames(recordings: Sequence[Recording], *, has_carrier: bool) -> None:
    """Raise unless logs have the same body frame and, with a carrier, all other frames in common.

    `has_carrier`: whether some are of the carrier alone: then the axes of the wrench, the sensor's
    mount and gravity have to be the same too.
    Raises `LogError`: two differ.
    """
    first, *others = recordings
    why = "logs with the payload and without it" if has_carrier else "the logs of one fit"
    for other in others:
        for key, (name, value_in) in _COMMON_FRAME_SETTINGS.items():
            expected, value = value_in(first), value_in(other)
            if (has_carrier or key.startswith("[body")) and not _equal_frames(expected, value):
                raise LogError(
                    f"{other.name}: the {name} is {value or 'not given'}, but "
                    f"{expected or 'not given'} in {first.name}: {why} must have the same frames; "
                    f"read them with one schema ({key})"
                )


def require_compatible_prior(prior: Prior, recordings: Sequence[Recording]) -> None:
    """Raise if a prior body is in another frame, or was estimated from the same logs.

    `recordings`: its logs, which are of one body frame.
    Raises `LogError`: it is.
    """
    if prior.kind != "body":
        return
    from identify.estimation.priors import BodyPrior

    assert isinstance(prior, BodyPrior)
    frame = recordings[0].body_frame
    flanges, names = (frame.flange, prior.frames.flange), (frame.name, prior.frames.name)
    of_logs, of_prior = map(_pose_matrix, flanges)
    flanges_differ = None not in (of_logs, of_prior) and not _equal_frames(of_logs, of_prior)
    names_differ = None in (of_logs, of_prior) and None not in names and names[0] != names[1]
    if flanges_differ or names_differ:
        raise LogError(
            f"prior: {prior} refers to {prior.frames.name or 'another frame'}, and the logs to "
            f"{frame.name or 'B'}, which are not the same: give a body in the frame of the logs "
            "(InertialParameters.in_frame)"
        )
    for recording in recordings:
        if recording.sha256 in prior.logs:
            raise LogError(
                f"prior: {prior} was estimated from {recording.name} itself; a log counted twice "
                "would make intervals too narrow. Give an estimate of other logs"
            )


def require_mass_not_given_at_rest(logs: Sequence[LogSummary], settings: FitSettings) -> None:
    """Raise if a mass or centre of mass is given that the log itself determines at rest.

    The acceleration of a log without pose and accelerometer is its force divided by the mass
    determined at rest: the residual vanishes with this mass, so that no other can be compared.

    Raises `SchemaError`: it is given.
    """
    at_rest = [log for log in logs if log.imu.static_calibration]
    if not at_rest:
        return
    from identify.estimation.terms import KnownMass

    given = [str(term) for term in settings.all_terms if isinstance(term, KnownMass | KnownCom)]
    for log in at_rest:
        if given:
            raise SchemaError(
                f"{log.name}: the log has no pose and no accelerometer; its mass is determined "
                f"at rest, {log.imu.static_calibration[0]:.5g} kg, and its centre of mass from the "
                f"torque, so that a known mass or centre of mass cannot be imposed. Omit "
                f"{', '.join(given)}, and compare with the estimate; or give [pose], or [imu] "
                "accelerometer, in the schema"
            )


def _pose_matrix(pose: Pose | None) -> object:
    return None if pose is None else np.round(pose.matrix, 12).tolist()


def _equal_frames(first: object, second: object) -> bool:
    """Whether two frame settings are equal up to rounding."""
    if isinstance(first, list) and isinstance(second, list):
        return bool(np.allclose(first, second, rtol=1e-9, atol=1e-9))
    return first == second


def swapped_logs_error(
    loaded: Sequence[LogSummary],
    unloaded: Sequence[LogSummary],
    fit_error: NegativeMass,
    *,
    shared_offset: bool,
) -> NegativeMass:
    """Return the error for a negative payload mass caused by swapped loaded and unloaded logs."""
    zeroed = ", without zeroing the sensor between them, as one shared offset requires"
    names = (", ".join(log.name for log in logs) for logs in (loaded, unloaded))
    return NegativeMass(
        fit_error.mass,
        "swap them if {} is of the carrier alone, and {} of it with the payload; otherwise check "
        "that all logs are of one carrier, in one unit{}".format(
            *names, zeroed if shared_offset else ""
        ),
        fit_error.body,
        code="logs_swapped",
        meaning="the mass in the unloaded logs is larger than in those with the payload",
    )
