"""Covariance inflation for faulty time spans, body changes and other interpretations of logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Explanation
from identify.errors import IdentifyError
from identify.estimation import Estimate, EstimatorSettings
from identify.estimation.inflated_covariance import cover_shift
from identify.estimation.intervals import (
    ESTIMATED_QUANTITIES,
    interval_jacobian,
    principal_uncertainty,
)
from identify.estimation.least_squares import LeastSquaresFit
from identify.findings import Finding
from identify.pipeline.check_findings import SPAN_FAULTS, unaffected_quantities
from identify.pipeline.checks import Checks, fit_least_squares
from identify.pipeline.correcting import exclude_spans, interpolate_spikes
from identify.pipeline.explanations import rescan_under_explanation
from identify.pipeline.required_precision import INTERVAL_NAMES
from identify.pipeline.scanned_log import ScannedLog
from identify.pipeline.small_fault_fit import fit_small_faults

_EstimateDifference: TypeAlias = tuple[Array, Array]
"""Difference of an alternative estimate from the reported one, and its covariance."""


class CovarianceInflation(NamedTuple):
    """Covariance that is added to an estimate for possible faults of its logs.

    Attributes:
        covariance: addition to the covariance of the parameters of all bodies, so that intervals
            cover the estimates with and without the faulty spans, shape (10 n, 10 n).
        scale_covariance: part of `covariance` that is common to all logs of the sensor, same shape.
        indispensable_span_codes: codes of faults without which there is no fit.
        doubtful_quantities: quantities, such as "mass", whose intervals another explanation widens
            by more than √2, by the code of its finding.
    """

    covariance: Array
    scale_covariance: Array
    indispensable_span_codes: tuple[str, ...]
    doubtful_quantities: Mapping[str, frozenset[str]]


def covariance_inflation(
    logs: Sequence[ScannedLog], checks: Checks, estimate: Estimate, settings: EstimatorSettings
) -> CovarianceInflation:
    """Compute the covariance inflation from estimates under each possible fault of the logs."""
    # A prior moves the estimate from least squares: compare least-squares solutions then.
    x = np.concatenate(
        [
            (body.least_squares if estimate.prior else body.parameters).phi
            for body in estimate.bodies
        ]
    )
    others, unknown = list[tuple[str, *_EstimateDifference]](), list[str]()
    codes = dict.fromkeys(span.code for of_log in checks.spans for span in of_log)
    for code in codes:
        try:
            without, _ = (
                exclude_spans(logs, checks, code)
                if SPAN_FAULTS[code].is_excludable
                else interpolate_spikes(logs, checks)
            )
            small_faults = fit_small_faults(without, settings)
            fit = fit_least_squares(without, settings) if small_faults is None else small_faults.fit
        except IdentifyError:
            fit = None
        if fit is None:
            unknown.append(code)
        else:
            others.append((code, *_difference_from_estimate(fit, x)))
    for change in checks.possible_body_changes:
        for phi, errors in (
            (change.first_phi, change.first_phi_errors),
            (change.second_phi, change.second_phi_errors),
        ):
            others.append((change.code, phi - x, np.diag(errors**2)))
    zero = np.zeros((len(x), len(x)))
    added = zero
    scale = zero
    largest = zero
    by_code = defaultdict[str, Array](lambda: zero)
    for code, shift, covariance in others:
        added = added + cover_shift(shift, zero)
        by_code[code] = by_code[code] + cover_shift(shift, covariance)
        largest = max(largest, covariance, key=np.trace)
    # (z σ + |δ|)² ≤ 2 z² σ² + 2 δ²
    added = added + 2.0 * largest
    # Another reading, or a gain, is common to all logs of the sensor.
    readings = list[tuple[str, Array]]()
    if checks.slightly_likelier is not None:
        code = checks.slightly_likelier.code
        shift = _shift_under_interpretation(logs, checks, checks.slightly_likelier, settings, x)
        if shift is None:
            unknown.append(code)
        else:
            readings.append((code, cover_shift(shift, zero)))
    if checks.small_faults_with_gain is not None:
        doubled = 2.0 * checks.small_faults_with_gain.covariance_of_unknowns
        readings.append(
            ("kinematic_offset", cover_shift(checks.small_faults_with_gain.fit.x - x, doubled))
        )
    for code, covariance in readings:
        scale = scale + covariance
        by_code[code] = by_code[code] + covariance
    doubted = {code: _widened_quantities(estimate, C[:10, :10]) for code, C in by_code.items()}
    return CovarianceInflation(added + scale, scale, tuple(unknown), doubted)


def _shift_under_interpretation(
    logs: Sequence[ScannedLog],
    checks: Checks,
    interpretation: Explanation,
    settings: EstimatorSettings,
    estimated_parameters: Array,
) -> Array | None:
    """Return the change of an estimate under another interpretation; None where it gives no fit."""
    if not settings.unloaded:
        return interpretation.phi - estimated_parameters
    try:
        reread = rescan_under_explanation(logs, interpretation, checks.ranking_scope)
        small_faults = fit_small_faults(reread, settings)
    except IdentifyError:
        return None
    fit = fit_least_squares(reread, settings) if small_faults is None else small_faults.fit
    return None if fit is None else _difference_from_estimate(fit, estimated_parameters)[0]


def _widened_quantities(estimate: Estimate, added_covariance: Array) -> frozenset[str]:
    """Return the quantities (mass, com, inertia) whose intervals widen by more than √2."""
    phi = estimate.parameters.phi
    jacobian = interval_jacobian(phi, principal_uncertainty(phi, estimate.covariance))
    before, more = (
        (jacobian @ C * jacobian).sum(axis=1) for C in (estimate.covariance, added_covariance)
    )
    wider = {
        name for name, a, b in zip(ESTIMATED_QUANTITIES, before, more, strict=True) if b > a > 0.0
    }
    return frozenset(
        quantity for quantity, names in INTERVAL_NAMES.items() if wider.intersection(names)
    )


def _difference_from_estimate(
    fit: LeastSquaresFit, estimated_parameters: Array
) -> _EstimateDifference:
    """Return the difference of a fit from an estimate, in identifiable directions of the fit.

    Along the others it is the default body, which does not depend on the excluded span.
    """
    known = fit.identifiability.identifiable.shape[1]
    into = fit.scaling.to_x @ fit.direction_basis[:, :known]
    shift = into @ (fit.to_coordinates[:known] @ fit.scaling.theta(fit.x - estimated_parameters))
    along = fit.score_root @ fit.corrected_information_inverse @ into.T
    return shift, along.T @ along


def with_uncertain_parameters(finding: Finding, inflation: CovarianceInflation) -> Finding:
    """Return a finding with a sentence on the parameters that its fault makes uncertain."""
    if finding.code in inflation.indispensable_span_codes:
        text = (
            f"{finding.text} With this corrected the fit fails: its effect on the estimate is "
            "unknown."
        )
        return replace(finding, severity="error", text=text, remedy="Log again without it.")
    if finding.code not in inflation.doubtful_quantities:
        return finding
    doubted = inflation.doubtful_quantities[finding.code].union(finding.evidence.get("doubted", ()))
    text = f"{finding.text}{unaffected_quantities(doubted)}"
    return replace(finding, text=text, evidence={**finding.evidence, "doubted": sorted(doubted)})
