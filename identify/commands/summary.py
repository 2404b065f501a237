"""What `identify fit` prints when it is done: parameters, what to know about them, files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from identify.reporting import parameter_rich_table
from identify.reporting.body import repeatability_in_words
from identify.reporting.parameter_table import GROUPS
from identify.reporting.result import verdict_in_words
from identify.signals.prepared import acceleration_sources
from identify.significance import HALF_WIDTH_SIGMA
from identify.spatial.columns import SQUARES

if TYPE_CHECKING:
    from rich.table import Table

    from identify.exchange import SavedEstimate
    from identify.inertia import InertialParameters
    from identify.pipeline import FitResult
    from identify.regressors import LogSummary
    from identify.validation import Replay, ReplayErrors

_SAID = {"error": "Error", "warning": "Warning", "info": "Note"}

_VECTOR_TO_AXIS = float(np.sqrt(3.0))
"""RMS of a vector over that of one of its axes, on their mean."""


def summary(result: FitResult, truth: InertialParameters | None) -> Iterator[str | Table]:
    """A table of the parameters of each body, then the verdict and the findings."""
    for one in result.estimate.bodies:
        title = one.body.capitalize() if result.carrier else None
        yield parameter_table(one, truth if one is result.estimate else None, title)
    yield from lines_of(result)


def parameter_table(
    estimate: SavedEstimate,
    truth: InertialParameters | None = None,
    title: str | None = None,
) -> Table:
    """The table of the parameters for a terminal."""
    return parameter_rich_table(estimate, truth, GROUPS, title)


def lines_of(result: FitResult) -> Iterator[str]:
    """What the table does not say, a line each."""
    estimate, validation = result.estimate, result.validation
    yield from map(as_read, result.logs)
    if prior := estimate.prior:
        means = ", ".join(f"{name} {of:.2g}" for name, of in prior["means"].items())
        yield f"Prior: {prior['is']}{'; likeliest by the log: ' if means else ''}{means}."
    yield from verdict_lines(result)
    if result.carrier is not None:
        yield from verdict_lines(result.carrier)
    yield from (f"Before the fit: {said}" for said in result.corrected)
    for one in result.estimate.bodies:
        yield from (_sentence(one.of_body, said) for said in repeatability_in_words(one))
    yield from (
        f"{_SAID[finding.severity]} [{finding.code}]: {finding}" for finding in result.all_findings
    )
    proof = estimate.certificate
    how = f"solved by {proof.solver}, at the edge of {' and '.join(proof.active) or 'no term'}"
    if proof.solver == "none":
        how = "least squares meets all terms by itself, no solver was needed"
    distance = f"at most {proof.distance_to_optimum:.1g} standard errors from the optimum"
    given = result.settings.terms or result.settings.mass is not None
    what = f"{proof.optimal_for}{' and what was given' if given else ''}"
    yield f"Optimal for {what}: {distance}; {how}."
    for one in estimate.bodies:
        yield from bound_lines(one)
    origin = "default" if result.settings.cutoff_hz is None else "given"
    for log in result.logs:
        name = f" of {log.name}" if len(result.logs) > 1 else ""
        if log.cutoff_hz is None:
            yield f"Low-pass{name}: none, still poses are not filtered."
        else:
            why = "raised, as its segments are short" if log.cutoff_raised else origin
            yield f"Low-pass{name}: all signals alike at {log.cutoff_hz:.4g} Hz ({why})."
    replays = validation.replays.without_bands
    yield from replays.missing_windows
    yield from _replayed(replays.windows, "Replay")
    if validation.unloaded is not None:
        alone = validation.unloaded.without_bands
        yield from (f"Unloaded: {why}" for why in alone.missing_windows)
        yield from _replayed(alone.windows, "Replay, unloaded")


def _sentence(of_body: str, text: str) -> str:
    name, _, rest = text.partition(": ")
    return f"{name.capitalize()}{of_body}: {rest}"


def bound_lines(estimate: SavedEstimate) -> Iterator[str]:
    """The certified bounds, a line for each kind of parameter; none where none were asked for."""
    found = estimate.certified_bounds
    if not found:
        return
    of = getattr(estimate, "of_body", "")
    yield f"Bounds{of} over all bodies that the data and terms leave (95 %, each proved):"
    for names, unit in _BOUNDED:
        spans = []
        for name in names.split():
            low, high, _ = found[name]
            width = 0.0 if low is None or high is None else high - low
            ends = (("none" if v is None else _to_width(v, width)) for v in (low, high))
            least, most = ends
            spans.append(f"{name} ≤ {most}" if name in _ABOUT_COM else f"{name} {least} … {most}")
        yield f"  {', '.join(spans)} {unit}"


def _to_width(value: float, width: float) -> str:
    """A bound to three digits of the width between both."""
    digits = 3 if width <= 0.0 or value == 0.0 else 3 + round(np.log10(abs(value) / width))
    return f"{value:.{max(3, min(digits, 9))}g}"


_ABOUT_COM = ("Icxx", "Icyy", "Iczz")
"""Of these the least is no convex problem, and zero."""

_BOUNDED = (
    ("m", "kg"),
    ("cx cy cz", "m"),
    ("hx hy hz", "kg m"),
    ("Ixx Ixy Ixz Iyy Iyz Izz", "kg m² about the origin of B"),
    (" ".join(_ABOUT_COM), "kg m² about the centre of mass"),
)
"""In the order of the terminal, with their units."""


def _replayed(replay: Replay | None, what: str) -> Iterator[str]:
    if replay is not None:
        name, errors = next(iter(replay.errors.items()))
        yield (
            f"{what}: {replay.windows} windows of {errors.horizon[-1]:.3g} s simulated from the "
            f"{name} and the measured wrench end {pose_error(errors)} from the measured pose (RMS)"
            f"{beside_noise(replay.noise)}"
        )


def pose_error(errors: ReplayErrors) -> str:
    """How far the pose is off at the end, in position and attitude, as a person says it."""
    length, angle = float(errors.position[-1]), math.degrees(float(errors.attitude[-1]))
    shown = f"{length:.3g} m" if length >= 1.0 else f"{1e3 * length:.3g} mm"
    return f"{shown} and {angle:.3g}°"


def beside_noise(noise: ReplayErrors | None) -> str:
    """What errors of a replay are to be held against, as the end of a sentence; "." for nothing."""
    return "." if noise is None else f"; noise of the wrench alone makes {pose_error(noise)}."


def gain_lines(result: FitResult, mass: float) -> Iterator[str]:
    """The force gain of the sensor where the body weighs as said, as lines for other schemas.

    Raises:
        ProblemError: as `force_gain`.
    """
    from identify.estimation.calibration import gain_deviations
    from identify.pipeline.known_mass import force_gain

    found = force_gain(result, mass)
    said = result.logs[0].recording.schema.get("wrench")
    wrench = said if isinstance(said, dict) else {}
    half = HALF_WIDTH_SIGMA * found.sigma * found.gain
    yield (
        f"Known mass: the force is {found.gain:.5g} ± {half:.1g} times "
        f"what it was read as (95 %), where the body weighs {mass:g} kg. For other logs of this "
        "sensor:"
    )
    yield "[wrench]"
    yield f"force_gain = {found.gain * float(wrench.get('force_gain', 1.0)):.6g}"
    accuracy = f"gain_accuracy = [{found.sigma:.2g}, "
    if (given := wrench.get("gain_accuracy")) is None:
        yield f"# {accuracy}…]  # of force; of torque as its data sheet says"
    else:
        torque = float(gain_deviations(given)[0][3:6].max())
        yield f"{accuracy}{torque:.4g}]  # of force by this mass; of torque as before"


def verdict_lines(result: FitResult) -> Iterator[str]:
    """What is known of an estimate, each part on a line of its own, and which needs are met."""
    said, estimate = verdict_in_words(result), result.estimate
    of = f"{estimate.body.capitalize()}: " if estimate.of_body else ""
    yield f"{of}Usable: {said.usable}."
    least = estimate.certificate.eigenvalues[0]
    eigenvalue = f"least eigenvalue of the scaled pseudo-inertia {least:.2g}"
    yield f"{of}Possible: {said.possible} ({eigenvalue})."
    yield f"{of}Identifiable: {said.identifiable}."
    yield f"{of}Explains the data: {said.explains_data}."
    yield from (f"{of}Need {need}: {answer}." for need, answer in said.needs.items())


def as_read(log: LogSummary) -> str:
    """How a log was understood, so that a unit gone wrong shows; RMS are of whole vectors."""
    rows = f"Read: {log.name}, {log.recording.rows} rows"
    rows += f" ({log.unused} of them not used)" if log.unused else ""
    if log.recording.still:
        return f"{rows}, each a still pose."
    force = float(np.linalg.norm(np.mean(log.wrench[:, :3], axis=0)))
    spin = float(np.sqrt(np.mean(np.sum(log.features[:, SQUARES], axis=1))))
    turned = ""
    if (source := acceleration_sources(log).get("angular_acceleration")) is not None:
        turned = (
            f" Angular acceleration: {source.source}, {_VECTOR_TO_AXIS * source.rms:.2g} rad/s² "
            f"RMS with noise of {_VECTOR_TO_AXIS * source.noise:.2g}."
        )
    return (
        f"{rows}, {log.duration:.3g} s at {log.rate_hz:.4g} Hz; turning at {spin:.2g} rad/s RMS, "
        f"mean force {force:.3g} N with the sensor offset.{turned}"
    )
