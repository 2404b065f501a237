"""Shifts of an estimate by spans of time that may be wrong, and by changes that may be chance."""

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
from identify.estimation.intervals import NAMES, interval_jacobian, principal_spread
from identify.estimation.least_squares import LeastSquaresFit
from identify.findings import Finding
from identify.pipeline.correcting import SPANS, exclude_spans, interpolate_spikes
from identify.pipeline.diagnose import Checks, fit_least_squares
from identify.pipeline.fitted_effects import fit_sensor_effects
from identify.pipeline.needs import ENTRIES, WORDS
from identify.pipeline.scanned_log import ScannedLog

_Alternative: TypeAlias = tuple[Array, Array]
"""Difference of another estimate of the unknowns, and the covariance of that estimate."""


class FaultInflation(NamedTuple):
    """Covariance from what may be wrong with a log at some times.

    Attributes:
        covariance: to add so that intervals cover the estimate with the times and without them, of
            the parameters of all bodies, shape (10 n, 10 n).
        of_scale: its part that is the same in all logs of the sensor, likewise.
        unknown: codes of spans without which there is no fit.
        doubted: quantities that needs name, such as "mass", whose intervals another explanation
            widens by more than √2, by the code of its finding.
    """

    covariance: Array
    of_scale: Array
    unknown: tuple[str, ...]
    doubted: Mapping[str, frozenset[str]]


def fault_inflation(
    logs: Sequence[ScannedLog], checks: Checks, estimate: Estimate, settings: EstimatorSettings
) -> FaultInflation:
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
    others, unknown = list[tuple[str, *_Alternative]](), list[str]()
    codes = dict.fromkeys(span.code for of_log in checks.spans for span in of_log)
    for code in codes:
        try:
            leaves_out = code in SPANS
            now = (
                exclude_spans(logs, checks, code)
                if leaves_out
                else interpolate_spikes(logs, checks)
            )[0]
            effects = fit_sensor_effects(now, settings)
            fit = fit_least_squares(now, settings) if effects is None else effects.fit
        except IdentifyError:
            fit = None
        if fit is None:
            unknown.append(code)
        else:
            others.append((code, *_difference(fit, x)))
    for change in checks.possible_changes:
        for phi, errors in (
            (change.first, change.first_errors),
            (change.second, change.second_errors),
        ):
            shift = np.zeros(len(x))
            shift[:10] = phi - x[:10]
            own = np.diag(errors**2) if len(x) == 10 else np.zeros((len(x), len(x)))
            others.append((change.code, shift, own))
    zero = np.zeros((len(x), len(x)))
    added, scale, largest = zero, zero, zero
    by_code = defaultdict[str, Array](lambda: zero)
    for code, shift, covariance in others:
        added = added + cover_shift(shift, zero)
        by_code[code] = by_code[code] + cover_shift(shift, covariance)
        largest = max(largest, covariance, key=np.trace)
    # (z σ + |δ|)² ≤ 2 z² σ² + 2 δ²
    added = added + 2.0 * largest
    # What may be read otherwise, or is a gain, is so in all logs of the sensor.
    of_scale = list[tuple[str, Array]]()
    if checks.likelier_reading is not None and len(x) == 10:
        of_scale.append(
            (checks.likelier_reading.code, cover_shift(checks.likelier_reading.phi - x, zero))
        )
    if checks.gain_alternative is not None:
        own = 2.0 * checks.gain_alternative.covariance_of_unknowns
        of_scale.append(("kinematic_offset", cover_shift(checks.gain_alternative.fit.x - x, own)))
    for code, covariance in of_scale:
        scale = scale + covariance
        by_code[code] = by_code[code] + covariance
    doubted = {code: _widened_quantities(estimate, of[:10, :10]) for code, of in by_code.items()}
    return FaultInflation(added + scale, scale, tuple(unknown), doubted)


def _widened_quantities(estimate: Estimate, added: Array) -> frozenset[str]:
    """Quantities that needs name with an interval that a covariance widens by more than √2."""
    phi = estimate.parameters.phi
    jacobian = interval_jacobian(phi, principal_spread(phi, estimate.covariance))
    before, more = ((jacobian @ of * jacobian).sum(axis=1) for of in (estimate.covariance, added))
    wider = {name for name, a, b in zip(NAMES, before, more, strict=True) if b > a > 0.0}
    return frozenset(quantity for quantity, names in ENTRIES.items() if wider.intersection(names))


def _difference(fit: LeastSquaresFit, x: Array) -> _Alternative:
    """Difference of a fit from unknowns along the directions that it identifies.

    Along the others the default body stands in, which says nothing of the span that was left out.
    """
    known = fit.identifiability.identifiable.shape[1]
    into = fit.scaling.to_x @ fit.directions[:, :known]
    shift = into @ (fit.coordinates[:known] @ fit.scaling.theta(fit.x - x))
    along = fit.score_root @ fit.corrected_information_inverse @ into.T
    return shift, along.T @ along


def add_fault_inflation(finding: Finding, left: FaultInflation) -> Finding:
    """Return a finding with what it leaves open: the fit without some time, or some parameters."""
    if finding.code in left.unknown:
        text = (
            f"{finding.text} Without that time there is no fit: its share of the estimate is "
            "unknown."
        )
        return replace(finding, severity="error", text=text, remedy="Log again without it.")
    if finding.code not in left.doubted:
        return finding
    doubted = left.doubted[finding.code].union(finding.evidence.get("doubted", ()))
    kept = [WORDS[quantity] for quantity in ENTRIES if quantity not in doubted]
    text = finding.text
    if kept:
        are = "is" if len(kept) == 1 else "are"
        text += f" The {' and the '.join(kept)} {are} nearly the same either way."
    return replace(finding, text=text, evidence={**finding.evidence, "doubted": sorted(doubted)})
