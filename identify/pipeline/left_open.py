"""Shifts of an estimate by spans of time that may be wrong, and by changes that may be chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.errors import IdentifyError
from identify.estimation import Estimate, EstimatorSettings
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.widened import of_shift
from identify.findings import Finding
from identify.pipeline.correcting import SPANS, leave_out, take_out_spikes
from identify.pipeline.diagnose import Checks, least_squares_of
from identify.pipeline.fitted_effects import effects_of
from identify.pipeline.scanned_log import ScannedLog

_Other: TypeAlias = tuple[Array, Array]
"""Difference of another estimate of the unknowns, and the covariance of that estimate."""


class LeftOpen(NamedTuple):
    """Covariance from what may be wrong with a log at some times.

    Attributes:
        covariance: to add so that intervals cover the estimate with the times and without them, of
            the parameters of all bodies, shape (10 n, 10 n).
        of_scale: its part that is the same in all logs of the sensor, likewise.
        unknown: codes of spans without which there is no fit.
    """

    covariance: Array
    of_scale: Array
    unknown: tuple[str, ...]


def left_open(
    logs: Sequence[ScannedLog], checks: Checks, estimate: Estimate, settings: EstimatorSettings
) -> LeftOpen:
    """Compare an estimate with those without the spans that were found, and of parts of a log.

    Args:
        logs: as they were fitted.
        checks: of them.
        estimate: of them.
        settings: it was fitted with.
    """
    # A prior leaves the estimate apart from least squares: these are compared with each other.
    x = np.concatenate(
        [(one.least_squares if estimate.prior else one.parameters).phi for one in estimate.bodies]
    )
    others, unknown = list[_Other](), list[str]()
    codes = dict.fromkeys(span.code for of_log in checks.spans for span in of_log)
    for code in codes:
        try:
            leaves_out = code in SPANS
            now = (leave_out(logs, checks, code) if leaves_out else take_out_spikes(logs, checks))[
                0
            ]
            effects = effects_of(now, settings)
            fit = least_squares_of(now, settings) if effects is None else effects.fit
        except IdentifyError:
            fit = None
        if fit is None:
            unknown.append(code)
        else:
            others.append(_difference(fit, x))
    for change in checks.doubts:
        for phi, errors in (
            (change.first, change.first_errors),
            (change.second, change.second_errors),
        ):
            shift = np.zeros(len(x))
            shift[:10] = phi - x[:10]
            others.append((shift, np.diag(errors**2) if len(x) == 10 else np.zeros((10, 10))))
    added, largest = np.zeros((len(x), len(x))), np.zeros((len(x), len(x)))
    for shift, covariance in others:
        added += of_shift(shift, np.zeros_like(added))
        if covariance.shape == largest.shape and np.trace(covariance) > np.trace(largest):
            largest = covariance
    # (z σ + |δ|)² ≤ 2 z² σ² + 2 δ²
    added, scale = added + 2.0 * largest, np.zeros_like(added)
    # What may be read otherwise, or is a gain, is so in all logs of the sensor.
    if checks.likelier is not None and len(x) == 10:
        scale = scale + of_shift(checks.likelier.phi - x, np.zeros_like(added))
    if checks.rival is not None:
        scale = scale + of_shift(checks.rival.fit.x - x, 2.0 * checks.rival.covariance_of_unknowns)
    return LeftOpen(added + scale, scale, tuple(unknown))


def _difference(fit: LeastSquaresFit, x: Array) -> _Other:
    """Difference of a fit from unknowns along the directions that it identifies.

    Along the others the default body stands in, which says nothing of the span that was left out.
    """
    known = fit.identifiability.identifiable.shape[1]
    into = fit.scaling.to_x @ fit.directions[:, :known]
    shift = into @ (fit.along[:known] @ fit.scaling.theta(fit.x - x))
    along = fit.scores @ fit.inverse_along @ into.T
    return shift, along.T @ along


def of_unknown(finding: Finding, unknown: Sequence[str]) -> Finding:
    """The finding of spans without which there is no fit of a possible body: an error."""
    if finding.code not in unknown:
        return finding
    text = (
        f"{finding.text} Without that time there is no fit: its share of the estimate is unknown."
    )
    return replace(finding, severity="error", text=text, remedy="Log again without it.")
