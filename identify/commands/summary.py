"""Printed summary of `identify fit`: parameters, verdict and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from identify.findings import findings_requiring_care
from identify.regressors import LogSummary
from identify.reporting import parameter_rich_table
from identify.reporting.parameter_table import GROUPS_ABOUT_COM, TABLE_GROUPS
from identify.reporting.replays import format_pose_error
from identify.reporting.result import verdict_in_words
from identify.signals.prepared_log import acceleration_sources
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial.columns import RATE_SQUARES

if TYPE_CHECKING:
    from rich.table import Table

    from identify.exchange import SavedEstimate
    from identify.findings import Finding
    from identify.inertia import InertialParameters
    from identify.pipeline import Result
    from identify.pipeline.result import LogRecord
    from identify.validation import Replay, ReplayErrors

_SEVERITY_LABELS = {"error": "Error", "warning": "Warning", "info": "Note"}

_VECTOR_TO_AXIS = float(np.sqrt(3.0))
"""Ratio of the RMS of a vector to the mean RMS of its axes."""


def summary(
    result: Result, truth: InertialParameters | None, *, verbose: bool = False
) -> Iterator[str | Table]:
    """Format verdict, what to do, and the parameter table of each body, for a terminal.

    `verbose`: whether to add the parameters about the origin, notes, logs, proof and replay.
    """
    if not result.body_fitted:
        yield from arm_lines(result)
        return
    yield from verdict_lines(result)
    if result.carrier is not None:
        yield from verdict_lines(result.carrier)
    yield from torque_scale_lines(result)
    yield from (f"Before the fit: {correction}" for correction in result.corrected)
    important = findings_requiring_care(result.all_findings, result.verdict.needs)
    notes = [finding for finding in result.all_findings if finding not in important]
    yield from finding_lines(important)
    if notes and not verbose:
        codes = ", ".join(dict.fromkeys(finding.code for finding in notes))
        yield f"Notes, with --verbose and in the report: {codes}."
    groups = TABLE_GROUPS if verbose else GROUPS_ABOUT_COM
    for body in result.estimate.bodies:
        title = body.body.capitalize() if body.body_suffix else None
        reference = truth if body is result.estimate else None
        yield parameter_rich_table(body, reference, groups, title)
        yield from bound_lines(body)
    if verbose:
        yield from finding_lines(notes)
        yield from detail_lines(result)


def detail_lines(result: Result) -> Iterator[str]:
    """Format logs, prior, consistency, certificate and replay, one line each."""
    estimate, validation = result.estimate, result.validation
    yield from log_lines(result)
    if prior := estimate.prior:
        means = ", ".join(f"{name} {value:.2g}" for name, value in prior["means"].items())
        yield f"Prior: {prior['is']}{'; maximum-likelihood values: ' if means else ''}{means}."
    for of_body in filter(None, (result, result.carrier)):
        yield from _consistency_lines(of_body)
    proof = estimate.certificate
    method = f"solver {proof.solver}; active constraints: {' and '.join(proof.active) or 'none'}"
    if proof.solver == "none":
        method = "least squares satisfies all constraints, no solver was needed"
    distance = f"at most {proof.distance_to_optimum:.1g} standard errors from the optimum"
    given = result.settings.terms or result.settings.mass is not None
    objective = f"{proof.optimal_for}{' and the given constraints' if given else ''}"
    yield f"Optimal for {objective}: {distance}; {method}."
    origin = "default" if result.settings.cutoff_hz is None else "given"
    for log in result.wrench_logs:
        name = f" of {log.name}" if len(result.logs) > 1 else ""
        if log.cutoff_hz is None:
            yield f"Low-pass{name}: none, static poses are not filtered."
        else:
            reason = "raised, as its segments are short" if log.cutoff_raised else origin
            yield f"Low-pass{name}: {log.cutoff_hz:.4g} Hz for all signals ({reason})."
    replays = validation.replays.without_bands
    yield from replays.missing_windows
    yield from _replay_lines(replays.windows, "Replay")
    if validation.unloaded is not None:
        alone = validation.unloaded.without_bands
        yield from (f"Unloaded: {reason}" for reason in alone.missing_windows)
        yield from _replay_lines(alone.windows, "Replay, unloaded")


def bound_lines(estimate: SavedEstimate) -> Iterator[str]:
    """Format the certified bounds, one line per kind of parameter; empty without `--bounds`."""
    bounds = estimate.certified_bounds
    if not bounds:
        return
    of_body = getattr(estimate, "body_suffix", "")
    yield f"Certified 95 % bounds{of_body} over all bodies compatible with data and constraints:"
    for names, unit in _BOUND_LINES:
        spans = []
        for name in names.split():
            low, high, _ = bounds[name]
            width = 0.0 if low is None or high is None else high - low
            lower, upper = ("none" if v is None else _format_bound(v, width) for v in (low, high))
            only_upper = name in _NAMES_WITHOUT_LOWER_BOUND
            spans.append(f"{name} ≤ {upper}" if only_upper else f"{name} {lower} … {upper}")
        yield f"  {', '.join(spans)} {unit}"


def _format_bound(value: float, width: float) -> str:
    """Format a bound with three digits of the distance between both bounds."""
    digits = 3 if width <= 0.0 or value == 0.0 else 3 + round(np.log10(abs(value) / width))
    return f"{value:.{max(3, min(digits, 9))}g}"


_NAMES_WITHOUT_LOWER_BOUND = ("Icxx", "Icyy", "Iczz")
"""Moments about the centre of mass: only their upper bound is convex; the lower bound is zero."""

_BOUND_LINES = (
    ("m", "kg"),
    ("cx cy cz", "m"),
    ("hx hy hz", "kg m"),
    ("Ixx Ixy Ixz Iyy Iyz Izz", "kg m² about the origin of B"),
    (" ".join(_NAMES_WITHOUT_LOWER_BOUND), "kg m² about the centre of mass"),
)
"""Printed groups of bounds with their units."""


def _replay_lines(replay: Replay | None, title: str) -> Iterator[str]:
    """Yield a line on the errors of a replay's first model, the estimate."""
    if replay is not None:
        name, errors = next(iter(replay.errors.items()))
        yield (
            f"{title}: {replay.windows} windows of {errors.horizon[-1]:.3g} s, simulated from the "
            f"{name} and the measured wrench, end {format_pose_error(errors)} from the measured "
            f"pose (RMS){format_noise_suffix(replay.noise)}"
        )


def format_noise_suffix(noise: ReplayErrors | None) -> str:
    """Format the end of a sentence with the replay error expected from noise, or "."."""
    if noise is None:
        return "."
    return f"; noise of the wrench alone causes {format_pose_error(noise)}."


def force_gain_lines(result: Result, mass: float) -> Iterator[str]:
    """Format the force gain that reproduces a known mass, as lines for other schemas.

    Raises `ProblemError`: see `force_gain`.
    """
    from identify.estimation.scale_accuracy import gain_deviations
    from identify.pipeline.known_mass import force_gain

    gain = force_gain(result, mass)
    schema_table = result.logs[0].recording.schema.get("wrench")
    wrench = schema_table if isinstance(schema_table, dict) else {}
    half_width = HALF_WIDTH_SIGMA * gain.sigma * gain.gain
    yield (
        f"Known mass: with a mass of {mass:g} kg, the true force is {gain.gain:.5g} ± "
        f"{half_width:.1g} times the measured force (95 %). For other logs of this sensor:"
    )
    yield "[wrench]"
    yield f"force_gain = {gain.gain * float(wrench.get('force_gain', 1.0)):.6g}"
    accuracy = f"gain_accuracy = [{gain.sigma:.2g}, "
    if (given := wrench.get("gain_accuracy")) is None:
        yield f"# {accuracy}…]  # of force; of torque: see the sensor's data sheet"
    else:
        torque = float(gain_deviations(given)[0][3:6].max())
        yield f"{accuracy}{torque:.4g}]  # of force by this mass; of torque unchanged"


def finding_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Format findings, and below each its remedy."""
    for finding in findings:
        place = f"{finding.where}: " if finding.where else ""
        yield f"{_SEVERITY_LABELS[finding.severity]} [{finding.code}]: {place}{finding.text}"
        if finding.remedy:
            yield f"  {finding.remedy}"


def verdict_lines(result: Result) -> Iterator[str]:
    """Format the verdict on an estimate, on each of its quantities, and on needs."""
    verdict, estimate = verdict_in_words(result), result.estimate
    prefix = f"{estimate.body.capitalize()}: " if estimate.body_suffix else ""
    yield f"{prefix}Usable: {verdict.usable}."
    for quantity, answer in verdict.quantities.items():
        yield f"{prefix}{quantity[:1].upper()}{quantity[1:]}: {answer}."
    yield from (f"{prefix}Need {need}: {answer}." for need, answer in verdict.needs.items())


def _consistency_lines(result: Result) -> Iterator[str]:
    """Format whether an estimate is consistent, identifiable, and explains the data."""
    verdict, estimate = verdict_in_words(result), result.estimate
    prefix = f"{estimate.body.capitalize()}: " if estimate.body_suffix else ""
    minimum = estimate.certificate.eigenvalues[0]
    eigenvalue = f"minimum eigenvalue of the scaled pseudo-inertia {minimum:.2g}"
    yield f"{prefix}Physically consistent: {verdict.physically_consistent} ({eigenvalue})."
    yield f"{prefix}Identifiable: {verdict.identifiable}."
    yield f"{prefix}Explains the data: {verdict.explains_data}."


def log_lines(result: Result) -> Iterator[str]:
    """Format rows and rate of each log, and joints of an arm that are locked."""
    yield from map(log_line, result.logs)
    if result.arm is not None and result.arm.robot.locked:
        locked = result.arm.robot.locked
        positions = ", ".join(f"{name} at {value:g}" for name, value in locked.items())
        yield f"Locked, as the log lacks these joints: {positions}."


def torque_scale_lines(result: Result) -> Iterator[str]:
    """Format the torque scale of an arm."""
    if (arm := result.arm) is None:
        return
    listed = ", ".join(arm.gains.words(arm.joints))
    shown = "" if (arm.scale.gains == 1.0).all() else f"; logged = gain × true: {listed}"
    yield f"Torque scale: {arm.scale.interval_kind}{shown}."


def arm_lines(result: Result) -> Iterator[str]:
    """Format torque errors, friction, logs and findings of a fit of an arm without a load."""
    from identify.reporting.arm_sections import error_table, friction_table
    from identify.reporting.arm_torques import fitted_arm
    from identify.reporting.content import terminal_lines

    arm = fitted_arm(result)
    yield from terminal_lines(error_table(arm.joints, arm.all_errors))
    yield ""
    yield from terminal_lines(friction_table(arm))
    yield "± 95 %; rotor inertia [kg m²], viscous [N m s/rad] and Coulomb friction, offset [N m]"
    yield ""
    yield from log_lines(result)
    yield from torque_scale_lines(result)
    if arm.weighted is not None:
        count, precise = len(arm.weighted.values), arm.weighted.precise
        yield f"Base parameters: {count}, {precise} of them with a 95 % interval below 10 %."
    yield from finding_lines(result.findings)


def log_line(log: LogRecord) -> str:
    """Format rows, rate and magnitudes of a log, which reveals wrong units."""
    if not isinstance(log, LogSummary):
        cutoff = "" if log.cutoff_hz is None else f", cut-off {log.cutoff_hz:.3g} Hz"
        return (
            f"Read: {log.name}, {log.recording.rows} rows, {log.duration:.3g} s at "
            f"{log.rate_hz:.4g} Hz{cutoff}."
        )
    rows = f"Read: {log.name}, {log.recording.rows} rows"
    rows += f" ({log.unused_rows} of them not used)" if log.unused_rows else ""
    if log.recording.still:
        return f"{rows}, {log.points} static poses."
    force = float(np.linalg.norm(np.mean(log.wrench[:, :3], axis=0)))
    spin = float(np.sqrt(np.mean(np.sum(log.features[:, RATE_SQUARES], axis=1))))
    acceleration = ""
    if (source := acceleration_sources(log).get("angular_acceleration")) is not None:
        acceleration = (
            f" Angular acceleration: {source.source}, {_VECTOR_TO_AXIS * source.rms:.2g} "
            f"rad/s² RMS with noise of {_VECTOR_TO_AXIS * source.noise:.2g}."
        )
    return (
        f"{rows}, {log.duration:.3g} s at {log.rate_hz:.4g} Hz; angular velocity {spin:.2g} rad/s "
        f"RMS, mean force {force:.3g} N including the sensor offset.{acceleration}"
    )
