"""Finding on values and options, given by a person, that the logs contradict."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.errors import ProblemError, SolveError
from identify.estimation import AccelerometerErrors, Estimate, EstimatorSettings, estimate_body
from identify.estimation.terms import KnownCom
from identify.exchange.estimate_views import CENTRAL_PARAMETER_NAMES
from identify.findings import Finding, Severity
from identify.inertia.matrices import second_moment_about_com
from identify.pipeline.check_findings import quantities_that_differ
from identify.pipeline.settings import FitSettings
from identify.pipeline.small_fault_fit import FittedLogs
from identify.significance import CONTRADICTED_CONSTRAINT_SIGMA, HALF_WIDTH_SIGMA

_BOX_RESOLUTION = 1e-4
"""Resolution to which the proposed box around a known centre of mass is rounded [m]."""

_CONTRADICTING_RESIDUAL_RATIO = 1.5
"""Ratio of residuals with and without a user's choice above which the data contradict the
choice."""

_MAX_SCALE_ERROR = 0.3
"""Largest relative error of the scale of a sensor that is not calibrated."""


class _Contradiction(NamedTuple):
    """Distance of one choice of a person from what the logs say without it.

    Attributes:
        choice: in words.
        severity: of its finding.
        standard_errors: distance of the estimate with a value from the one without; 0 of options.
        residual_ratio: of one axis, with and without an option of the offset; 1 of values.
    """

    choice: str
    severity: Severity
    standard_errors: float = 0.0
    residual_ratio: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Whether the logs exclude the choice."""
        return (
            self.standard_errors > CONTRADICTED_CONSTRAINT_SIGMA
            or self.residual_ratio > _CONTRADICTING_RESIDUAL_RATIO
        )

    def __str__(self) -> str:
        if self.standard_errors:
            return f"{self.choice}, by {self.standard_errors:.2g} standard errors"
        return f"{self.choice}, by a residual of one axis {self.residual_ratio:.2g} times as large"


def contradicted_choice_finding(
    estimate: Estimate, fitted: FittedLogs, settings: FitSettings
) -> Finding | None:
    """Return a finding if a value or offset option chosen by the user contradicts the data.

    A value is held against the estimate without it, whose errors count the sensor's scale and all
    small faults; each choice alone, so that only those are named that are contradicted. A value
    that moves nothing by as much as matters is noted only.
    """
    choices = _settings_with_one_choice(estimate, settings)
    if not choices:
        return None
    try:
        free = _estimate(fitted, EstimatorSettings(unloaded=estimate.unloaded))
    except (ProblemError, SolveError):
        return None
    judged = [_contradiction(text, alone, fitted, free) for text, alone in choices.items()]
    clear = [each for each in judged if each is not None and each.is_clear]
    if not clear:
        return None
    given = "the given values" if settings.mass is None else "the given mass"
    remedy = f"Check {given}, and correct or omit what is wrong."
    if settings.mass is not None:
        from identify.pipeline.known_mass import mass_in_other_unit  # few fits need it

        by_data = free.parameters.mass
        hint = mass_in_other_unit(settings.mass, by_data)
        scale = abs(by_data / settings.mass - 1.0)
        if hint:
            remedy = f"{hint[0].upper()}{hint[1:]}."
        elif scale < _MAX_SCALE_ERROR:
            remedy += (
                f" If the body was weighed, the sensor's scale is off by {100.0 * scale:.2g} %: "
                f"calibrate it, or set `gain_accuracy = {scale:.2g}` in [wrench]."
            )
    severities = {each.severity for each in clear}
    severity: Severity = (
        "error" if "error" in severities else "warning" if "warning" in severities else "info"
    )
    texts = "; ".join(map(str, clear))
    small = "too little to matter: " if severity == "info" else ""
    named = {each.choice for each in clear}
    coms = [t for t in settings.terms if isinstance(t, KnownCom) and f"with {t}" in named]
    distance, box = _describe_com_conflict(coms[-1], free) if coms else ("", "")
    return Finding(
        "choice_contradicted",
        severity,
        f"{small}the logs contradict the given values or options: {texts}. Without, the mass is "
        f"{free.parameters.mass:.5g} kg.{distance}",
        f"{remedy}{box}",
        {
            "standard_errors": max(each.standard_errors for each in clear),
            "residual_ratio": max(each.residual_ratio for each in clear),
            "mass_by_data": free.parameters.mass,
        },
    )


def _contradiction(
    text: str, alone: EstimatorSettings, fitted: FittedLogs, free: Estimate
) -> _Contradiction | None:
    """Compare the fit with one choice with the one without; None if there is no such fit."""
    try:
        if alone.all_terms:
            chosen = _estimate(fitted, alone)
            pair = chosen.parameters.phi, free.parameters.phi
            severity: Severity = "error" if quantities_that_differ(pair) else "info"
            return _Contradiction(text, severity, largest_deviation(chosen, free))
        # As read: small faults that are fitted with a wrong offset hide a part of its residual.
        as_read = FittedLogs(fitted.scanned)
        without = _estimate(as_read, replace(alone, bias="per_log"), refit=False)
        ratio = _residual_ratio(_estimate(as_read, alone, refit=False), without)
        return _Contradiction(text, "warning", residual_ratio=ratio)
    except (ProblemError, SolveError):
        return None


def _estimate(logs: FittedLogs, settings: EstimatorSettings, *, refit: bool = True) -> Estimate:
    """Estimate the body under other settings, with the small faults that go with them."""
    logs = FittedLogs.fit(logs.scanned, settings) if refit else logs
    statistics = [log.summary.statistics for log in logs.clean]
    accelerometer_errors = AccelerometerErrors.of([log.summary.imu for log in logs.scanned])
    return estimate_body(statistics, settings, logs.small_faults, accelerometer_errors)


def _describe_com_conflict(known: KnownCom, free: Estimate) -> tuple[str, str]:
    """Describe how far the fitted is from the given centre of mass, and propose a box instead."""
    com, distance = np.array(known.com), float(np.linalg.norm(free.parameters.com - known.com))
    radius = np.sqrt(np.trace(second_moment_about_com(free.parameters.phi)) / free.parameters.mass)
    text = f" The fitted centre of mass is {1e3 * distance:.3g} mm from the given one."
    if not distance < radius:
        return text, ""
    half = np.ceil(2.0 * distance / _BOX_RESOLUTION) * _BOX_RESOLUTION
    box = " ".join(f"{c - half:.7g} {c + half:.7g}" for c in com)
    return text, (
        f" --com is exact: where the centre of mass is known to {1e3 * half:.3g} mm only, give a "
        f"box around it instead: --com-box {box}"
    )


def _settings_with_one_choice(
    estimate: Estimate, settings: FitSettings
) -> dict[str, EstimatorSettings]:
    """Return settings with only one of the user's choices each, by the choice in words."""
    alone = EstimatorSettings(unloaded=estimate.unloaded)
    bias_texts = {"none": "without sensor offset", "shared": "with one sensor offset for all logs"}
    choices = {}
    if settings.bias in bias_texts:
        choices[bias_texts[settings.bias]] = replace(alone, bias=settings.bias)
    if settings.mass is not None:
        of = " of the payload" if estimate.unloaded else ""
        text = f"with the mass{of} given as {settings.mass:g} kg"
        choices[text] = replace(alone, mass=settings.mass)
    return choices | {f"with {term}": replace(alone, terms=(term,)) for term in settings.terms}


def _residual_ratio(estimate: Estimate, free: Estimate) -> float:
    """Return the largest ratio, over all axes, of the residuals (RMS) of two estimates."""
    tiny = np.finfo(float).tiny
    return max(
        float(np.max(body.residual_rms / np.maximum(other.residual_rms, tiny)))
        for body, other in zip(estimate.bodies, free.bodies, strict=True)
    )


def largest_deviation(chosen: Estimate, free: Estimate) -> float:
    """Return the largest shift of mass, centre of mass or inertia about it, in standard errors.

    Each quantity alone: a common scale of the sensor moves many of them, and a given mass only one.
    """
    shifts = np.abs(_central_values(chosen) - _central_values(free))
    intervals = [free.intervals[name] for name in ("m", *CENTRAL_PARAMETER_NAMES)]
    widths = np.array([np.inf if each is None else each[1] - each[0] for each in intervals])
    return float(np.max(2.0 * HALF_WIDTH_SIGMA * shifts / np.maximum(widths, np.finfo(float).tiny)))


def _central_values(body: Estimate) -> Array:
    """Return mass, centre of mass and the entries of the inertia about it, shape (10,)."""
    return np.concatenate(([body.mass], body.com, body.inertia_about_com[np.triu_indices(3)]))
