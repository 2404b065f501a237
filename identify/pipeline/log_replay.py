"""Replay of a log by an estimate: in short windows, and in a single shot from its first state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Phi, Vec6, require_positive
from identify.errors import LogError, ModelError, SimulationError
from identify.exchange import SavedEstimate
from identify.findings import UNIDENTIFIED_SOURCES
from identify.inertia import InertialParameters, check_consistency
from identify.logs import Recording
from identify.logs.schema import schema_as_written
from identify.regressors import LogSummary, summarise_log
from identify.regressors.newton_euler import FEATURE_TENSOR
from identify.signals import Interpretation
from identify.signals.offset_steps import OffsetStep
from identify.simulation.checks import Interpolation
from identify.validation import (
    DEFAULT_HORIZON,
    ESTIMATE,
    TRUTH,
    Replay,
    Replays,
    SingleShot,
    posterior_bodies,
    wrench_noise,
)

_SEED = 0


@dataclass(frozen=True, slots=True)
class LogReplay:
    """A log and its replays.

    Attributes:
        log: summary of the log.
        bodies: ten parameters by name: the estimate first.
        bias: subtracted from the measured wrench, [f; t] at Bo in B [N, N m], shape (6,).
        bias_origin: source of the bias, in words.
        windows: restarted from measured states; None where no segment is long enough.
        single_shot: from the first state to the end of the longest segment.
        missing_reasons: why a replay or its band is missing, a sentence each.
    """

    log: LogSummary
    bodies: Mapping[str, Phi]
    bias: Vec6
    bias_origin: str
    windows: Replay | None
    single_shot: SingleShot | None
    missing_reasons: tuple[str, ...] = ()


def replay_log(
    recording: Recording,
    estimate: SavedEstimate,
    *,
    no_bias: bool = False,
    truth: InertialParameters | None = None,
    horizon: float | None = None,
    interpolation: Interpolation = "linear",
) -> LogReplay:
    """Simulate the motion of a log from a body and the measured wrench.

    The sensor offset is that of the estimate's entry for this log, by its sha256; for another log
    it is fitted with the body fixed: the mean difference of the measured and the body's wrench.

    Args:
        recording: the log, with pose and time.
        estimate: the body, and its covariance for a band, where it has one.
        no_bias: whether the sensor has no offset.
        truth: another body to replay for comparison.
        horizon: length of a window [s]; one second, or less with much noise, where not given.
        interpolation: of the wrench between samples: linear, or zero-order hold.

    Raises:
        LogError: a log without time, attitude or position.
        ModelError: a physically inconsistent body, or one of two bodies that moved in the log.
        SimulationError: the estimate's motion leaves all bounds, in windows and in one shot.
    """
    if horizon is not None:
        require_positive(horizon, "horizon", "s", LogError)
    phi = estimate.parameters.phi
    if (verdict := check_consistency(phi)).impossible:
        raise ModelError(
            f"the estimate cannot be replayed: {verdict}; repair it with identify inspect --repair"
        )
    require_single_body(recording, estimate)
    reading, unlike = interpretation_from_estimate(recording, estimate)
    log = summarise_log(recording, reading)
    if not log.segments:
        raise LogError(
            f"{recording.name}: a replay needs time stamps, attitude and position; the schema "
            f"does not name such columns, or every segment is too short"
        )
    bias, origin = _sensor_offset(log, estimate, no_bias)
    bodies: dict[str, Phi] = {ESTIMATE: phi}
    if truth is not None:
        bodies[TRUTH] = truth.phi
    samples, missing = _posterior_samples(estimate)
    done = Replays(
        segments=tuple((segment, bias) for segment in log.segments),
        bodies=bodies,
        samples=samples,
        horizon=horizon,
        interpolation=interpolation,
        noise=wrench_noise([log]),
        long_bands=True,
        too_short="No windows: no uninterrupted segment is long enough for "
        f"{horizon or DEFAULT_HORIZON:g} s.",
    )
    if done.windows is None and done.single_shot is None:
        raise SimulationError(" ".join(done.missing))
    return LogReplay(
        log=log,
        bodies=bodies,
        bias=bias,
        bias_origin=origin,
        windows=done.windows,
        single_shot=done.single_shot,
        missing_reasons=(*unlike, *missing, *done.missing),
    )


def require_single_body(recording: Recording, estimate: SavedEstimate) -> None:
    """Raise unless the estimated body was the only body that moved in a log."""
    body, logs = estimate.provenance.get("body"), estimate.provenance.get("logs")
    for log in logs if isinstance(logs, list) else ():
        is_same_log = isinstance(log, dict) and log.get("sha256") == recording.sha256
        bodies = log.get("bodies") if is_same_log else None
        if isinstance(bodies, list) and bodies != [body]:
            raise ModelError(
                f"{recording.name}: the bodies in this log are {' and '.join(map(str, bodies))}, "
                f"and the estimate is of the {body} alone; for both as one body, "
                f"identify add estimate.json carrier.json -o both.json"
            )


def interpretation_from_estimate(
    recording: Recording, estimate: SavedEstimate
) -> tuple[Interpretation, tuple[str, ...]]:
    """Return a log's interpretation as in the fit of an estimate, and notes on differences.

    For a log of the fit it contains the final schema and all corrections; for another log the
    corrected keys of the schema.
    """
    logs, applied = (estimate.provenance.get(key) or [] for key in ("logs", "applied"))
    if not isinstance(logs, list) or not isinstance(applied, list):
        return Interpretation(), ()
    same_log = [k for k, log in enumerate(logs) if log.get("sha256") == recording.sha256]
    reading, unlike = Interpretation(), list[str]()
    for record in applied:
        code = record["code"]
        reading = reading.with_patch(record.get("patch", {}))
        if "gain" in record and "patch" not in record:
            unlike.append(f"The fit was corrected for {code}, which a schema cannot express.")
        for k in same_log:
            spans = [tuple(span) for span in record.get("left_out", {k: []})[k]]
            steps = [OffsetStep(a, b, tuple(w)) for a, b, *w in record.get("steps", {k: []})[k]]
            reading = replace(
                reading,
                excluded_spans=(*reading.excluded_spans, *spans),
                offset_steps=(*reading.offset_steps, *steps),
                without_spikes=reading.without_spikes or code == "spikes",
            )
    for k in same_log:
        now, then = (
            dict(_schema_keys(each))
            for each in (schema_as_written(recording.schema), logs[k].get("schema", {}))
        )
        patch = {key: then.get(key) for key in {**now, **then} if now.get(key) != then.get(key)}
        reading = reading.with_patch(patch)
        reading = replace(reading, cutoff_hz=logs[k].get("cutoff_hz"))
    return reading, tuple(unlike)


def _schema_keys(schema: Mapping[str, object], section: str = "") -> Iterator[tuple[str, object]]:
    """Yield the schema keys that affect the interpretation of a log, with their values."""
    for key, value in schema.items():
        if isinstance(value, Mapping):
            if key not in ("log", "streams", "body", "effects"):
                yield from _schema_keys(value, f"{section}{key}.")
        elif section:
            yield f"{section}{key}", value


def _sensor_offset(log: LogSummary, estimate: SavedEstimate, no_bias: bool) -> tuple[Vec6, str]:
    """Return the sensor offset to subtract, and a description of its source."""
    if no_bias:
        return np.zeros(6), "none"
    for entry in estimate.bias:
        if entry.sha256 == log.recording.sha256:
            return np.asarray(entry.six_axis_offset), "the estimate's for this log"
    constant = log.rows[:, 0]
    residual = log.wrench - log.features @ (FEATURE_TENSOR @ estimate.parameters.phi)
    return constant @ residual / (constant @ constant), "fitted to this log with the body fixed"


def _posterior_samples(estimate: SavedEstimate) -> tuple[Phi | None, tuple[str, ...]]:
    """Return bodies drawn from the estimate's posterior, or the reason why there are none."""
    defaults = [name for name, by in estimate.decided_by.items() if by in UNIDENTIFIED_SOURCES]
    if defaults:
        return None, (
            f"No band: {', '.join(defaults)} are those of a default body, not measured, and the "
            f"replay cannot show their errors.",
        )
    if estimate.covariance is None:
        return None, ("No band: the estimate has no covariance.",)
    drawn = posterior_bodies(
        estimate.parameters.phi, estimate.repeatability, np.random.default_rng(_SEED)
    )
    if drawn is None:
        return None, (
            "No band: hardly any body within the estimate's uncertainty is physically consistent.",
        )
    return drawn, ()
