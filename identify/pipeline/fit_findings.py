"""Findings about each log and about its fit, before an estimate is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from identify.arrays import Array, Flags, Phi, Vec3
from identify.estimation import Estimate
from identify.findings import UNIDENTIFIED_SOURCES, Finding
from identify.inertia.consistency import (
    MAX_DENSITY,
    density_lower_bound,
    distance_of_com,
    within_arm_capacity,
)
from identify.logs.log_properties import LogProperties
from identify.pipeline.check_findings import excluded_small_faults_note
from identify.pipeline.settings import FitSettings
from identify.pipeline.small_fault_fit import FittedLogs
from identify.regressors import WRENCH_NAMES, LogSummary
from identify.relevance import MIN_RATE_IN_DEGREES, MIN_SCORED_SIGNAL_RATIO
from identify.signals.cutoff import motion_cutoff_hz
from identify.signals.prepared_log import acceleration_sources
from identify.significance import CONTRADICTED_CONSTRAINT_SIGMA, REPORTED_CONSTRAINT_SIGMA
from identify.spatial.columns import FORCE_AXES, TORQUE_AXES
from identify.spatial.vectors import STANDARD_GRAVITY, is_usual_gravity
from identify.validation import (
    HeldOutScores,
    Validation,
    assess_residuals,
)

_IMPLAUSIBLE_SPEED = 20.0
"""Speed above which the unit of the position may be wrong [m/s]."""

_MAX_UNUSED_FRACTION = 0.2
"""Fraction of unused rows of a log above which there is a warning."""

_POOR_R_SQUARED = 0.99
"""Held-out R² below which the fit explains an axis with a signal poorly."""

_USELESS_R_SQUARED = 0.5
"""Held-out R² of all force axes together below which an estimate must not be used."""

_SYSTEMATIC_POWER_RATIO = 10.0
"""Ratio of the power of a residual to that of the noise of the signals above which the residual of
a poorly explained axis is systematic; to that of the wrench, above which the fit is unconfirmed."""


def findings_of_log(log: LogSummary) -> Iterator[Finding]:
    """Yield findings on one log: clocks, dropped and unused rows, and implausible values."""
    recording, dropped = log.recording, log.recording.dropped
    yield from (
        replace(finding, where=log.name) for finding in (*recording.findings, *log.imu.findings)
    )
    if dropped.total:
        yield Finding(
            "rows_dropped",
            "info",
            f"{dropped.total} of {recording.rows} rows dropped ({dropped.not_finite} not finite, "
            f"{dropped.cut_short} cut short, {dropped.not_numbers} not numbers).",
            evidence={"dropped": dropped.total, "rows": recording.rows},
            where=log.name,
        )
    if log.unused_rows > _MAX_UNUSED_FRACTION * log.rows_kept:
        yield Finding(
            "rows_unused",
            "warning",
            f"{log.unused_rows} of {log.rows_kept} rows are not used: they are in segments between "
            "gaps or jumps that are too short to filter.",
            "Check the time stamps and their unit.",
            {"unused": log.unused_rows, "rows": log.rows_kept},
            log.name,
        )
    if log.holes and not log.reading.excluded_spans:
        spans = ", ".join(f"{start:.4g} to {stop:.4g} s" for start, stop in log.holes[:3])
        more = f" and {len(log.holes) - 3} more" if len(log.holes) > 3 else ""
        missing = sum(stop - start for start, stop in log.holes)
        yield Finding(
            "rows_missing",
            "info",
            f"{missing:.3g} s of {log.duration:.4g} s have no rows: {spans}{more}.",
            "Gaps are not interpolated; find out why the recorder stopped.",
            {"seconds": missing, "spans": log.holes},
            log.name,
        )
    longest = max(log.segments, key=lambda segment: len(segment.time), default=None)
    cutoff, rate = log.cutoff_hz, log.rate_hz
    if (
        log.motion_cutoff_hz is None
        and longest is not None
        and cutoff is not None
        and rate is not None
    ):
        fast = motion_cutoff_hz({"quaternion": longest.quaternion}, rate, cutoff)
        if fast > cutoff:
            yield Finding(
                "cutoff_low",
                "warning",
                f"the body turns at frequencies above the cut-off of {cutoff:g} Hz: the low-pass "
                "attenuates its acceleration, which biases the inertia.",
                f"Omit the cut-off, so that the motion determines it, or choose at least {fast:g} "
                "Hz.",
                {"cutoff_hz": cutoff, "motion_hz": fast},
                log.name,
            )
    size = float(np.linalg.norm(recording.gravity))
    if LogProperties.of(recording).gravity_added and not is_usual_gravity(size):
        factor = STANDARD_GRAVITY / size
        yield Finding(
            "gravity_magnitude",
            "info",
            f"gravity is given as {size:.4g} m/s²; slow motion cannot separate it from the mass, "
            f"which on Earth would be {1.0 / factor:.3g} times the estimate.",
            "If the log was recorded on Earth, set "
            f"`gravity = {np.round(factor * recording.gravity, 6).tolist()}` in [world].",
            {"gravity": size},
            log.name,
        )
    speed, spin = log.max_rates
    for code, verb, shown, rate, unit, limit in (
        ("position_unit", "moves", f"{speed:.3g} m/s", speed, "mm", _IMPLAUSIBLE_SPEED),
        ("angle_unit", "turns", f"{spin:.3g} rad/s", spin, "deg", MIN_RATE_IN_DEGREES),
    ):
        if rate > limit:
            section = (
                "[pose]" if code == "position_unit" else "[pose], [twist], [acceleration] or [imu]"
            )
            yield Finding(
                code,
                "info",
                f"the body {verb} at up to {shown}.",
                f'If the log is in {unit}, set `{code} = "{unit}"` in {section}.',
                {"fastest": rate},
                log.name,
            )


def findings_of_fit(
    validation: Validation,
    estimate: Estimate,
    fitted: FittedLogs,
    settings: FitSettings,
) -> Iterator[Finding]:
    """Yield findings on a fit: unexplained wrench, contradicted choices, implausible bodies."""
    scores = validation.scores
    logs = [log.summary for log in fitted.clean]
    contradicted = None
    if settings.bias != "per_log" or settings.all_terms:
        # Few fits have a value that a person gives.
        from identify.pipeline.contradicted_choices import contradicted_choice_finding

        contradicted = contradicted_choice_finding(estimate, fitted, settings)
    unexplained = None
    if scores is None:
        text = "the data are too few to fit a part of them: there are no held-out scores."
        yield Finding("little_motion", "info", text, "Log more motion.")
    else:
        folds = scores.folds + scores.refused
        refused = scores.refused
        if contradicted is not None and scores.unproved:
            refused -= scores.unproved
            more = (
                f" There the optimum of {scores.unproved} of {folds} folds could not be certified."
            )
            contradicted = replace(contradicted, text=contradicted.text + more)
        if refused:
            text = f"{refused} of {folds} folds cannot be fitted without the held-out part."
            yield Finding("little_motion", "info", text, "Log more motion.")
        unexplained = _unexplained_wrench_finding(scores, estimate, logs)
        yield from noisy_motion_findings(scores, logs) if unexplained is None else ()
    if contradicted is not None:
        if unexplained is not None and unexplained.severity == "error":
            contradicted = replace(contradicted, severity="error")  # the cause of the residual
        yield contradicted
    edge = tuple(_inconsistency_findings(estimate, settings.apply))
    yield from edge
    if all(finding.code != "too_dense" for log in logs for finding in log.imu.findings):
        yield from _density_findings(estimate)
    yield from _implausible_load_findings(estimate, logs[0])
    if unexplained is not None and edge:
        text = (
            f"{unexplained.text} The nearest physically consistent body is on the boundary of the "
            "consistent set."
        )
        unexplained = replace(unexplained, severity="error", text=text)
    if unexplained is not None:
        yield unexplained


def _unexplained_wrench_finding(
    scores: HeldOutScores,
    estimate: Estimate,
    logs: Sequence[LogSummary],
) -> Finding | None:
    """Return a finding if axes of the wrench are predicted poorly although noise is small."""
    poor = _judged_axes(scores) & (scores.r_squared < _POOR_R_SQUARED)
    if not poor.any():
        return None
    phi = np.array([estimate.moving_assembly(number).phi for number in range(len(logs))])
    residuals = assess_residuals(logs, phi, estimate.biases)
    # A short log does not show the correlation time of its residual: far above noise, it is none.
    far = residuals.noise_power_ratio > _SYSTEMATIC_POWER_RATIO
    systematic = residuals.systematic | (far & (scores.r_squared < _USELESS_R_SQUARED))
    if not (poor & systematic).any():
        return None
    forces = _decisive_axes(scores)
    pooled = scores.pooled_r_squared(forces)
    useless = pooled < _USELESS_R_SQUARED and bool((poor & systematic)[forces].any())
    shown = ", ".join(f"{WRENCH_NAMES[i]} {scores.r_squared[i]:.2f}" for i in np.flatnonzero(poor))
    return Finding(
        "unexplained",
        "error" if useless else "warning",
        f"the fit explains {'little' if useless else 'not all'} of the measured wrench, and the "
        f"residual is not noise (held-out R²: {shown}).{excluded_small_faults_note(logs)}",
        "Check units, axes, order and signs in the schema, the sensor's mount, and that nothing "
        "touched the body.",
        {f"r_squared_of_{'forces' if forces.start == 0 else 'torques'}": pooled},
    )


def _judged_axes(scores: HeldOutScores) -> Flags:
    """Return which axes carry a signal that is not small beside that of the others of a kind."""
    relative = np.maximum(scores.normalised_rms, np.finfo(float).tiny)
    signal = np.where(scores.carries_signal, scores.rms, 0.0) / relative
    largest = np.repeat([signal[:3].max(), signal[3:].max()], 3)
    return scores.carries_signal & (signal > MIN_SCORED_SIGNAL_RATIO * largest)


def _decisive_axes(scores: HeldOutScores) -> slice:
    """Return the axes of the forces, or of the torques in free flight, without any force."""
    return FORCE_AXES if scores.carries_signal[FORCE_AXES].any() else TORQUE_AXES


def noisy_motion_findings(scores: HeldOutScores, logs: Sequence[LogSummary]) -> Iterator[Finding]:
    """Yield a finding if noise exceeds the signal of an axis.

    The fit itself is valid, but nothing in the log confirms it, which is an error, if the noise is
    far above the signal of a force (in free flight, a torque) that is not small beside the others.
    """
    hidden = scores.carries_signal & (scores.r_squared < 0.0)
    if not hidden.any():
        return
    far_below = _judged_axes(scores) & (scores.r_squared < 1.0 - _SYSTEMATIC_POWER_RATIO)
    unconfirmed = bool(far_below[_decisive_axes(scores)].any())
    shown = ", ".join(
        f"{WRENCH_NAMES[i]} {scores.r_squared[i]:.2f}" for i in np.flatnonzero(hidden)
    )
    signal, unit = "angular_acceleration", "rad/s²"
    if hidden[:3].any():
        signal, unit = "acceleration", "m/s²"
    routes = "; ".join(
        f"{log.name}: {route.source}, noise {route.noise:.2g} of {route.rms:.2g} {unit}"
        for log in logs
        if (route := acceleration_sources(log).get(signal)) is not None
    )
    yield Finding(
        "motion_noise",
        "error" if unconfirmed else "info",
        f"the wrench of the body on an axis is {'far ' if unconfirmed else ''}below the noise "
        f"(held-out R²: {shown}), "
        + ("and nothing confirms the fit." if unconfirmed else "which the intervals include.")
        + (f" Source of the {signal.replace('_', ' ')}: {routes}." if routes else ""),
        "Move faster, or log a motion with less noise, for narrower intervals."
        if routes
        else "Log more poses, or average each for longer, for narrower intervals.",
        {
            f"r_squared_{WRENCH_NAMES[i]}": float(scores.r_squared[i])
            for i in np.flatnonzero(hidden)
        },
    )


def _inconsistency_findings(estimate: Estimate, corrected: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding for each body whose least-squares solution is physically inconsistent."""
    for body in estimate.bodies:
        if body.prior:  # the estimate then differs from least squares anyway
            continue
        sigmas = _distance_in_standard_errors(body, body.least_squares.phi)
        if body.least_squares.consistent or sigmas < REPORTED_CONSTRAINT_SIGMA:
            continue
        text = (
            f"the least-squares solution{body.body_suffix} is not physically consistent: the "
            f"estimate is {sigmas:.2g} standard errors from it, on the boundary of the consistent "
            "set, where intervals are less reliable."
        )
        evidence = {"standard_errors": sigmas}
        if corrected and sigmas > CONTRADICTED_CONSTRAINT_SIGMA:
            text += f" With this correction ({', '.join(corrected)}), no body explains the logs."
            remedy = "The fault is another one: check the schema, and log again."
            yield Finding("at_the_edge", "error", text, remedy, evidence)
        else:
            yield Finding("at_the_edge", "info", text, "Log longer, or turn faster.", evidence)


def _density_findings(estimate: Estimate) -> Iterator[Finding]:
    """Yield a finding for each identified body that is denser than any material."""
    for body in estimate.bodies:
        density = density_lower_bound(body.parameters.phi, body.covariance)
        if UNIDENTIFIED_SOURCES & set(body.decided_by.values()) or not density > MAX_DENSITY:
            continue
        yield Finding(
            "too_dense",
            "error",
            f"the body{body.body_suffix} is denser than any material: {body.parameters.mass:.4g} "
            f"kg with these second moments means at least {density:.2g} kg/m³; osmium has 22 600.",
            "Check the units of the wrench: if force and torque are both in thousandths, set "
            '`force_unit = "mN"` and `torque_unit = "mNm"` in [wrench].',
            {"density": density},
        )


_MAX_ARM_LOAD = 100.0
"""Mass that few robot arms can carry [kg]; in static poses, a larger mass reveals a wrong unit."""

_MAX_COM_DISTANCE_IF_HEAVY = 1.0
"""Largest plausible distance of the centre of mass of a body heavier than `_MAX_ARM_LOAD` [m]."""

_MIN_COM_DISTANCES = (_MAX_ARM_LOAD, 0.5), (20.0, 0.1)
"""Masses [kg], and the smallest plausible distance of the centre of mass from the sensor for each,
relative to the radius of a ball of that mass and of the densest material: a body hangs beside its
sensor."""


def _implausible_load_findings(estimate: Estimate, log: LogSummary) -> Iterator[Finding]:
    """Yield a finding for each body that is too heavy, or too far away, for an arm to carry."""
    recording = log.recording
    sensor = np.zeros(3) if recording.X_BS is None else recording.X_BS.position
    for body in estimate.bodies:
        mass, away = body.parameters.mass, float(np.linalg.norm(body.parameters.com - sensor))
        held = within_arm_capacity(body.parameters.phi, body.covariance, sensor)
        odd = _describe_implausible_load(body, sensor, log.wrench_range) if recording.still else ""
        if held and not odd and not (recording.still and mass > _MAX_ARM_LOAD):
            continue
        who = "few arms can carry" if held and not odd else "no arm can carry"
        yield Finding(
            "not_held",
            "warning" if held and not odd else "error",
            f"{who} the body{body.body_suffix}: {mass:.4g} kg, with the centre of mass {away:.3g} "
            f"m from the sensor{odd}.",
            "Check the units of force and torque in [wrench] (in mN, mNm or kgf?), and of [imu]; "
            "if they are raw counts of the sensor, apply its calibration.",
            {"mass": mass, "distance": away},
        )


def _describe_implausible_load(body: Estimate, sensor: Vec3, wrench_range: Array) -> str:
    """Describe why a robot arm cannot carry a body fitted to static poses; empty if it can."""
    phi, covariance = body.parameters.phi, body.covariance
    mass, (least, most) = phi[0], distance_of_com(phi, covariance, sensor)
    if mass > _MAX_ARM_LOAD and (np.round(wrench_range) == wrench_range).all():
        return "; force and torque are whole numbers, as raw counts are"
    radius = float(np.cbrt(0.75 * mass / (np.pi * MAX_DENSITY)))
    if any(mass > heavy and most < share * radius for heavy, share in _MIN_COM_DISTANCES):
        return (
            f", nearer than possible for such a heavy body (a ball of osmium has a radius of "
            f"{radius:.2g} m): the force is too large, in another unit or in counts"
        )
    if mass > _MAX_ARM_LOAD and least > _MAX_COM_DISTANCE_IF_HEAVY:
        return ", farther than an arm can carry this mass: force and torque may be in counts"
    return ""


def _distance_in_standard_errors(estimate: Estimate, phi: Phi) -> float:
    """Return the Mahalanobis distance √(dᵀ Σ⁻¹ d) of an estimate from other parameters."""
    away = estimate.parameters.phi - phi
    sigma = np.sqrt(np.diag(estimate.covariance))
    sigma = np.where(sigma > 0.0, sigma, np.inf)
    covariance = estimate.covariance / np.outer(sigma, sigma)
    inverse = np.linalg.pinv(covariance, rcond=1e-12, hermitian=True)
    return float(np.sqrt(max(away / sigma @ inverse @ (away / sigma), 0.0)))
