"""Covariance inflation for faulty time spans, body changes and other interpretations of logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
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
from identify.pipeline.check_findings import unaffected_quantities
from identify.pipeline.checks import fit_least_squares
from identify.pipeline.hypotheses import Hypothesis
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
    logs: Sequence[ScannedLog],
    hypotheses: Sequence[Hypothesis],
    estimate: Estimate,
    settings: EstimatorSettings,
) -> CovarianceInflation:
    """Compute the covariance inflation from the estimates under each hypothesis that widens it.

    By (z σ + |δ|)² ≤ 2 z² σ² + 2 δ² it is 2 δδᵀ/z² for the shift δ of each, and twice the largest
    covariance of those of single logs; hypotheses of the sensor have what they add themselves.
    """
    # A prior moves the estimate from least squares: compare least-squares solutions then.
    x = np.concatenate(
        [
            (body.least_squares if estimate.prior else body.parameters).phi
            for body in estimate.bodies
        ]
    )
    zero = np.zeros((len(x), len(x)))
    by_code = defaultdict[str, Array](lambda: zero)
    of_logs, of_sensor, largest = zero, zero, zero
    unknown = list[str]()
    for hypothesis in hypotheses:
        if hypothesis.outcome != "widens":
            continue
        differences = _differences_from_estimate(hypothesis, logs, settings, x)
        if not differences:
            unknown.append(hypothesis.code)
        for shift, covariance in differences:
            widening = cover_shift(shift, covariance)
            by_code[hypothesis.code] = by_code[hypothesis.code] + widening
            if hypothesis.is_of_sensor:  # common to all of its logs
                of_sensor = of_sensor + widening
            else:
                of_logs = of_logs + cover_shift(shift, zero)
                largest = max(largest, covariance, key=np.trace)
    added = of_logs + 2.0 * largest + of_sensor
    doubted = {code: _widened_quantities(estimate, C[:10, :10]) for code, C in by_code.items()}
    return CovarianceInflation(added, of_sensor, tuple(unknown), doubted)


def _differences_from_estimate(
    hypothesis: Hypothesis,
    logs: Sequence[ScannedLog],
    settings: EstimatorSettings,
    estimated_parameters: Array,
) -> list[_EstimateDifference]:
    """Return the differences under a hypothesis; none where its corrected logs give no fit."""
    if hypothesis.alternatives:
        return [
            (phi - estimated_parameters, covariance) for phi, covariance in hypothesis.alternatives
        ]
    assert hypothesis.correct is not None
    try:
        corrected = hypothesis.correct(logs).logs
        small_faults = fit_small_faults(corrected, settings)
    except IdentifyError:
        return []
    fit = fit_least_squares(corrected, settings) if small_faults is None else small_faults.fit
    if fit is None:
        return []
    shift, covariance = _difference_from_estimate(fit, estimated_parameters)
    # The same rows, read otherwise, are as precise as the estimate is already.
    return [(shift, 0.0 * covariance if hypothesis.is_of_sensor else covariance)]


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

    With their coordinates c = C θ, x = S V c, the difference is S V C (θ_fit − θ), its covariance
    S V B⁻¹ GᵀG B⁻¹ (S V)ᵀ, with the corrected information B and the covariance GᵀG of the scores.
    Along the others a fit is the default body, which does not depend on an excluded span.
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
