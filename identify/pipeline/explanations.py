"""Explanations of the logs of a fit: ranked with small faults, and logs scanned again under one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Explanation, Fault, Ranking, Span, contact_spans
from identify.diagnosis.body_likelihood import BandRows, cost_without_noisy_motion, fit_body
from identify.diagnosis.contacts import DOMINANT_CONTACT_FRACTION
from identify.diagnosis.ranking import better_than_noise
from identify.errors import IdentifyError
from identify.estimation import EstimatorSettings
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.settings import CARRIER
from identify.inertia.consistency import MAX_DENSITY, density_lower_bound
from identify.logs.patch import Patch
from identify.pipeline.check_findings import MAX_NAMED_EXPLANATIONS, distinct_best_explanations
from identify.pipeline.scanned_log import ScannedLog, finest_blocks, split_by_body
from identify.pipeline.small_fault_fit import FittedLogs, comparison_bands, deviance
from identify.signals import Interpretation
from identify.significance import MIN_LIKELIHOOD_LEAD
from identify.validation import MAX_UNEXPLAINED, assess_residuals, unexplained_fraction

MAX_COMPARED_ROWS = 30_000
"""Approximate number of rows of a longer log with which the best interpretations are compared."""

_MAX_OTHER_INTERPRETATIONS = 3
"""Maximum number of interpretations, besides the likeliest, that are fitted with small faults."""


class RankingScope(NamedTuple):
    """Logs of a fit that a ranking of interpretations is of.

    Attributes:
        logs: which logs of the fit have the fault of the best interpretation.
        body: name of what moves in the ranked logs, of a payload on its carrier; else empty.
        where: names of these logs if others do not have the fault; else empty.
    """

    logs: slice = slice(None)
    body: str = ""
    where: str = ""


ALL_LOGS = RankingScope()
"""Scope of a ranking of all logs of one body."""


def rank_interpretations(
    logs: FittedLogs,
    settings: EstimatorSettings,
    large_types: Collection[str] = (),
    *,
    explained: bool = False,
) -> tuple[Ranking, RankingScope]:
    """Rank interpretations of the logs of a fit, the best with small faults of the sensor.

    Logs of a payload on its carrier, and of the carrier alone, move another body each: each of both
    is ranked by itself, as if it had a sensor of its own.
    """
    from identify.pipeline.interpretation_comparison import rank_explanations  # few fits compare

    if not settings.unloaded:
        plain = rank_explanations(logs.scanned, large_types, explained=explained)
        return rank_with_small_faults(plain, logs, settings), ALL_LOGS
    one_body = settings_of_one_body(settings)
    rankings = [
        rank_with_small_faults(
            rank_explanations(part, large_types, explained=explained),
            FittedLogs(tuple(part)),
            one_body,
        )
        for part in split_by_body(logs.scanned, settings.unloaded)
    ]
    part = min((0, 1), key=lambda k: _report_priority(rankings[k]))
    ranking, other = rankings[part], rankings[1 - part]
    body = ("payload and carrier", CARRIER)[part]
    is_undecided = len(other.explanations) < 2 or ranking.best.code in {e.code for e in other.tied}
    if is_undecided or not ranking.best.code:
        return ranking, RankingScope(body=body)
    loaded = len(logs.scanned) - settings.unloaded
    ranked = (slice(loaded), slice(loaded, None))[part]
    where = ", ".join(log.summary.name for log in logs.scanned[ranked])
    return ranking, RankingScope(ranked, body, where)


def settings_of_one_body(settings: EstimatorSettings) -> EstimatorSettings:
    """Return the settings for one part of the logs of a payload on its carrier, without terms."""
    return replace(settings, unloaded=0, terms=(), mass=None)


def _report_priority(ranking: Ranking) -> int:
    """Return how soon a ranking is reported: the lowest for a fault that explains its logs."""
    if not ranking.confirms_schema:
        return int(ranking.best.unexplained > MAX_UNEXPLAINED)
    return 2 + (ranking.best.log_likelihood_ratio <= MIN_LIKELIHOOD_LEAD)


def rank_with_small_faults(
    ranking: Ranking, logs: FittedLogs, settings: EstimatorSettings
) -> Ranking:
    """Rank the best explanations of logs again, each with small sensor faults fitted to it.

    Readings near the best of the ranking, and the logs as read, are compared by their deviance:
    the cost of the logs without the fitted effects, plus the penalty of the effects.

    `logs`: of one body; their small faults are fitted if they are unknown.
    """
    if len(ranking.explanations) < 2:
        return ranking
    logs = _with_spread_rows(logs, settings)
    bands = comparison_bands(logs.scanned)
    as_read = next(e for e in ranking.explanations if not e.code)
    cost, refitted = _deviance_with_small_faults(as_read, logs, settings, bands)
    too_dense = max(as_read.density, refitted.density) > MAX_DENSITY
    compared = [replace(refitted, log_likelihood_ratio=0.0)]
    for each in _leading_explanations(ranking):
        other, refitted = _deviance_with_small_faults(
            each, logs, settings, bands, too_dense=too_dense
        )
        compared.append(replace(refitted, log_likelihood_ratio=cost - other))
    compared = better_than_noise(compared, _lead_of_noise(logs, bands))
    return Ranking.of(
        [*compared, *_behind_refitted(ranking, compared)], ranking.separate_bodies_lead
    )


def _lead_of_noise(logs: FittedLogs, bands: Sequence[tuple[int, ...]]) -> float:
    """Return by how much logs are likelier without noisy motion, their small faults taken off."""
    statistics = [finest_blocks(log.summary) for log in logs.clean]
    rows = [BandRows.of(s, kept) for s, kept in zip(statistics, bands, strict=True)]
    if not any(len(each.effective_samples) for each in rows):
        return 0.0
    gravities = [log.summary.recording.gravity for log in logs.clean]
    return fit_body(rows).cost - cost_without_noisy_motion(statistics, rows, gravities)


def _with_spread_rows(logs: FittedLogs, settings: EstimatorSettings) -> FittedLogs:
    """Return long logs by evenly spread rows, with their small faults; others as they are."""
    if all(len(log.source) <= MAX_COMPARED_ROWS for log in logs.scanned):
        return logs
    spread = [
        log._replace(summary=log.rescan_subset(MAX_COMPARED_ROWS, all_columns=True))
        for log in logs.scanned
    ]
    return FittedLogs.fit(spread, settings)


def _behind_refitted(ranking: Ranking, compared: Sequence[Explanation]) -> list[Explanation]:
    """Return the faults whose small faults are not fitted, as far behind others of their code.

    Of codes without a refitted fault they are behind the least likely one.
    """
    names = {e.faults[0].name for e in compared if e.faults}
    best = {e.code: e.log_likelihood_ratio for e in reversed(ranking.explanations)}
    best_refitted = {e.code: e.log_likelihood_ratio for e in reversed(compared)}
    least = min(best_refitted.values())

    def likelihood_ratio(each: Explanation) -> float:
        behind = best[each.code] - each.log_likelihood_ratio
        return min(each.log_likelihood_ratio, best_refitted.get(each.code, least) - behind)

    return [
        replace(each, log_likelihood_ratio=likelihood_ratio(each))
        for each in ranking.explanations
        if each.faults and each.faults[0].name not in names
    ]


def _leading_explanations(ranking: Ranking) -> list[Explanation]:
    """Return the faults whose small faults are fitted: the likeliest, and some of other codes."""
    leading = distinct_best_explanations(ranking)[:MAX_NAMED_EXPLANATIONS]
    codes = {"", *(each.code for each in leading)}
    others = [each for each in ranking.explanations if each.code not in codes]
    return [each for each in (*leading, *others[:_MAX_OTHER_INTERPRETATIONS]) if each.code]


def _deviance_with_small_faults(
    explanation: Explanation,
    logs: FittedLogs,
    settings: EstimatorSettings,
    bands: Sequence[tuple[int, ...]],
    *,
    too_dense: bool = False,
) -> tuple[float, Explanation]:
    """Return the deviance of logs read under an explanation, and the explanation with its body.

    The deviance is infinite if they cannot be read so.
    """
    try:
        again = _read_under(explanation, logs, settings)
    except IdentifyError:
        if explanation.code:
            return np.inf, explanation
        again = FittedLogs(logs.scanned)
    statistics = [finest_blocks(log.summary) for log in logs.scanned]
    samples = float(
        sum(
            BandRows.of(s, kept).effective_samples.sum()
            for s, kept in zip(statistics, bands, strict=True)
        )
    )
    cost = deviance(again, bands, explanation.faults, samples, too_dense=too_dense)
    if again.small_faults is None:
        return cost, explanation
    fit = again.small_faults.fit
    phi, covariance = fit.x[:10], again.small_faults.covariance_of_unknowns[:10, :10]
    unexplained = unexplained_share(fit, again.clean, 0)
    density = density_lower_bound(phi, covariance)
    return cost, replace(explanation, phi=phi, density=density, unexplained=unexplained)


def _read_under(
    explanation: Explanation, logs: FittedLogs, settings: EstimatorSettings
) -> FittedLogs:
    """Correct logs for the fault of an explanation, and fit their small faults.

    They are read again only for a fault that no map of their columns corrects. A clock rate is
    corrected by its map, too: another rate would change the bands.
    """
    if not explanation.code:
        return FittedLogs.fit(logs.scanned, settings) if logs.small_faults is None else logs
    size = explanation.fault_size
    again = [
        log.rescan(
            log.summary.reading.with_map(fault.map_at(size))
            if fault.linear and fault.map_is_exact
            else correct_fault(log.summary.reading, fault, size),
            check_signals=False,
        )
        for log, fault in zip(logs.scanned, explanation.faults, strict=True)
    ]
    return FittedLogs.fit(again, settings)


def unexplained_share(fit: LeastSquaresFit, logs: Sequence[ScannedLog], n_unloaded: int) -> float:
    """Return the fraction of the wrench's variance that the fit does not explain beyond noise.

    Slow noise exceeds the level that the signals' spectra show above the band of the motion; it is
    independent of the motion and stationary over the log.
    """
    unexplained = unexplained_fraction(fit.data.system, fit.x)
    if unexplained <= MAX_UNEXPLAINED or any(unexplained_contacts(log) for log in logs):
        return unexplained
    phi = fit.x[:20].reshape(-1, 10)
    bodies = [
        phi[-1] if log >= len(logs) - n_unloaded else phi.sum(axis=0) for log in range(len(logs))
    ]
    offsets = fit.wrench_offsets(fit.x)
    residuals = assess_residuals([log.summary for log in logs], np.array(bodies), offsets)
    return unexplained if residuals.systematic.any() else 0.0


def unexplained_contacts(log: ScannedLog) -> tuple[Span, ...]:
    """Return the contacts of a log that no single body fits, if they cover enough of the log."""
    summary = log.summary
    if summary.recording.still:
        return ()
    contacts = contact_spans(summary.time, summary.rows, summary.segment_ids, unexplained=True)
    inside = sum(span.rows for span in contacts)
    return contacts if inside > DOMINANT_CONTACT_FRACTION * len(summary.time) else ()


def rescan_under_explanation(
    logs: Sequence[ScannedLog], explanation: Explanation, scope: RankingScope = ALL_LOGS
) -> list[ScannedLog]:
    """Scan logs again with an explanation's fault corrected."""
    reread = list(logs)
    numbers = range(len(logs))[scope.logs]
    # Of a payload on its carrier, faults are of the logs of one body; the others take the first.
    faults = (*explanation.faults, *explanation.faults[:1] * len(logs))
    for number, fault in zip(numbers, faults, strict=False):
        reread[number] = _rescan_without_fault(logs[number], fault, explanation.fault_size)
    return reread


def _rescan_without_fault(log: ScannedLog, fault: Fault, size: Array) -> ScannedLog:
    again = None
    if fault.time_factor != 1.0:  # another unit of time changes the rate, the cut-off and the noise
        again = log.rescan_with_time_scale(fault.time_factor)
    if again is None:  # another fault, or a log whose time cannot be scaled
        again = log.rescan(correct_fault(log.summary.reading, fault, size))
    if fault.parametric is not None:
        again = again._replace(corrected_faults=(*again.corrected_faults, fault))
    return again


def correct_fault(interpretation: Interpretation, fault: Fault, size: Array) -> Interpretation:
    """Add a fault's correction to a log's interpretation: schema keys, or else a linear map."""
    patch = correcting_patch(fault, size)
    return (
        interpretation.with_patch(patch) if patch else interpretation.with_map(fault.map_at(size))
    )


def correcting_patch(fault: Fault, size: Array) -> Patch:
    """Return the schema keys that correct a fault; none if a linear map corrects it."""
    return fault.patch(size) if fault.patch is not None and fault.time_factor == 1.0 else {}
