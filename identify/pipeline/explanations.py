"""Comparison of explanations of logs: the schema is right, or the log has a certain fault."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Explanation, Fault, Ranking, Span, contact_spans
from identify.diagnosis.body_likelihood import BandRows, fit_body, high_snr_bands, motion_noise_map
from identify.diagnosis.contacts import DOMINANT_CONTACT_FRACTION
from identify.diagnosis.fault import wrench_map_of_patch
from identify.diagnosis.fault_model import FaultModel, gauss_newton
from identify.diagnosis.faults import faults_of, parametric_faults
from identify.diagnosis.faults.rotation import rotation_faults
from identify.diagnosis.faults.wrench import (
    LOG_RATIO_STARTS,
    axes_rotation,
    rotation_starts,
    sign_faults,
)
from identify.diagnosis.ranking import BaselineLikelihood
from identify.diagnosis.screening import likeliest_poses
from identify.errors import IdentifyError
from identify.estimation import EstimatorSettings
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.random_effects_model import SENSOR_FAULT_TYPES
from identify.estimation.settings import CARRIER
from identify.inertia.consistency import MAX_DENSITY, density_lower_bound
from identify.logs import Recording
from identify.logs.log_properties import LogProperties
from identify.logs.patch import Patch
from identify.pipeline.check_findings import MAX_NAMED_EXPLANATIONS, distinct_best_explanations
from identify.pipeline.scanned_log import (
    ScannedLog,
    finest_blocks,
    split_by_body,
)
from identify.pipeline.small_fault_fit import FittedLogs, comparison_bands, deviance
from identify.pipeline.wrench_delays import delayed_explanations
from identify.regressors import FEATURE_TENSOR, LogSummary
from identify.signals import Interpretation, on_one_clock
from identify.significance import CLEAR_LIKELIHOOD_LEAD, HALF_WIDTH_SIGMA, MIN_LIKELIHOOD_LEAD
from identify.spatial.columns import ATTITUDE, FEATURES, WRENCH
from identify.validation import MAX_UNEXPLAINED, assess_residuals, unexplained_fraction

_LOGGER = logging.getLogger(__name__)

MAX_RESCANNED_ROWS = 10_000
"""Approximate number of rows that are scanned again to correct a fault that is not a linear map."""

_MAX_SCREENED_ROWS, _MAX_RESCANNED_AXES = 1000, 2
"""Maximum number of rows with which axes and rotation conventions are screened, and maximum number
of axis assignments for which logs are then reread."""

_MAX_COMPARED_AXES = 24
"""Maximum number of axis assignments of force or torque that are compared without rereading."""

_MIN_COMMON_FRACTION = 0.9
"""Fraction of the samples that must be in frequency bands common to two interpretations, for the
interpretations to be compared."""

_MAX_ROTATION_ROWS = 100_000
"""Number of rows of a long log with which rotation conventions are screened."""

_MAX_STARTING_POINTS = 4
"""Maximum number of starting points of the search for the size of a large fault."""

_MAX_OTHER_INTERPRETATIONS = 3
"""Maximum number of interpretations, besides the likeliest, that are fitted with small faults."""

_FAULTS_OF_ANY_SIZE = (
    *("wrench_misaligned", "torque_gain", "counts", "position_scale", "partly_compensated"),
)
"""Names of parametric faults that no fit includes, or only at far smaller sizes."""

_AXIS_PERMUTATION_CODES = ("wrench_axes", "force_sign", "torque_sign")
"""Codes of findings that axes are permuted or negated: no linear map of a wrench in world axes."""

CandidateFaults = tuple[Fault, ...]
"""One hypothetical fault as it would be in each of the logs."""


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
    logs: FittedLogs, settings: EstimatorSettings, large_types: Collection[str] = ()
) -> tuple[Ranking, RankingScope]:
    """Rank interpretations of the logs of a fit, the best with small faults of the sensor.

    Logs of a payload on its carrier, and of the carrier alone, move another body each: each of both
    is ranked by itself, as if it had a sensor of its own.
    """
    if not settings.unloaded:
        plain = rank_explanations(logs.scanned, large_types)
        return rank_with_small_faults(plain, logs, settings), ALL_LOGS
    one_body = settings_of_one_body(settings)
    rankings = [
        rank_with_small_faults(
            rank_explanations(part, large_types), FittedLogs(tuple(part)), one_body
        )
        for part in split_by_body(logs.scanned, settings.unloaded)
    ]
    part = min((0, 1), key=lambda k: _report_priority(rankings[k]))
    ranking, other = rankings[part], rankings[1 - part]
    body = ("payload and carrier", CARRIER)[part]
    undecided = len(other.explanations) < 2 or ranking.best.code in {e.code for e in other.tied}
    if undecided or not ranking.best.code:
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


def rank_explanations(logs: Sequence[ScannedLog], large_types: Collection[str] = ()) -> Ranking:
    """Rank interpretations of logs of one body, such as other units or signs, by likelihood."""
    _LOGGER.info("comparing other interpretations")
    base = [log.rescan_subset(MAX_RESCANNED_ROWS, all_columns=True) for log in logs]
    bands = [high_snr_bands(each.statistics, each.recording.gravity) for each in base]
    rows = [BandRows.of(log.statistics, kept) for log, kept in zip(base, bands, strict=True)]
    if not any(len(each.effective_samples) and each.measures_wrench for each in rows):
        return Ranking((Explanation(0.0, np.zeros(10)),))
    reference = BaselineLikelihood.of(rows)
    speeds, spins = zip(*(log.summary.max_rates for log in logs), strict=True)
    fastest = (max(speeds), max(spins))
    log_facts = [
        LogProperties.of(log.summary.recording, fastest, log.summary.imu.scale) for log in logs
    ]
    discrete = [candidate for candidate in faults_of(log_facts) if candidate[0].parameters is None]
    ranked = [reference.as_read]
    maps = [faults for faults in discrete if all(fault.linear for fault in faults)]
    one_vector = [faults for faults in maps if _permutes_one_vector(faults[0])]
    ranked += [reference.explain_by_map(faults) for faults in maps if faults not in one_vector]
    ranked += [
        reference.explain_by_map(faults)
        for faults in _likeliest_axes(base[0].rows, one_vector, log_facts[0])
    ]
    sign_names = {fault.name for fault in sign_faults(log_facts[0])}
    signs = [faults for faults in maps if faults[0].name in sign_names]
    for candidate in _candidates_to_rescan(discrete, logs[0], base[0], log_facts):
        try:
            again = [
                BandRows.of(_rescan_subset(log, fault).statistics, kept)
                for log, fault, kept in zip(logs, candidate, bands, strict=True)
            ]
        except IdentifyError as error:  # no motion can be read this way
            _LOGGER.debug("not compared: %s: %s", candidate[0].text, error)
            continue
        baseline = reference
        if any(a.bands != b.bands for a, b in zip(again, rows, strict=True)):
            # Jumps of a pose change the segments.
            shared = [b.in_bands_of(a) for a, b in zip(again, rows, strict=True)]
            if (
                sum(each.effective_samples.sum() for each in shared)
                < _MIN_COMMON_FRACTION * reference.samples
            ):
                _LOGGER.debug("not compared: %s: too few common bands", candidate[0].text)
                continue
            baseline = BaselineLikelihood.of(shared)
            again = [a.in_bands_of(b) for a, b in zip(again, rows, strict=True)]
        ranked.append(baseline.explain_by_rescan(again, candidate))
        for sign in () if _permutes_one_vector(candidate[0]) else signs:
            both = tuple(fault.with_sign(s) for fault, s in zip(candidate, sign, strict=True))
            mapped = [
                r.mapped(fault.fit_map()[: 1 + r.factors.shape[2]])
                for r, fault in zip(again, sign, strict=True)
            ]
            ranked.append(baseline.explain_by_rescan(mapped, both))
    likely = sorted(
        (e for e in ranked if e.log_likelihood_ratio > CLEAR_LIKELIHOOD_LEAD),
        key=lambda each: -each.log_likelihood_ratio,
    )
    turns = [axes_rotation(each.faults[0], log_facts[0]) for each in likely]
    halfway = [nearby for turn in turns if turn is not None for nearby in rotation_starts(turn)]
    halfway += rotation_starts(np.zeros(3))
    for delay in parametric_faults(log_facts, ["delay"]):
        ranked += delayed_explanations(reference, logs, delay, bands, MAX_RESCANNED_ROWS)
    for name in (
        *_FAULTS_OF_ANY_SIZE,
        *(t.large for t in SENSOR_FAULT_TYPES if t.name in large_types and t.ranked_if_large),
    ):
        starts = halfway if name == "wrench_misaligned" else None
        starts = LOG_RATIO_STARTS if name == "counts" else starts
        ranked += _explain_at_likeliest_size(reference, log_facts, name, starts)
    noise = [
        motion_noise_map(log.statistics, each, log.recording.gravity)
        for log, each in zip(base, rows, strict=True)
    ]
    by_noise = (
        reference.body_fit.cost
        - fit_body([each.mapped(M) for each, M in zip(rows, noise, strict=True)]).cost
    )
    if by_noise > MIN_LIKELIHOOD_LEAD:  # a fault has to explain more than a remedy of noise
        least = by_noise + CLEAR_LIKELIHOOD_LEAD
        ranked = [e for e in ranked if not e.code or e.log_likelihood_ratio > least]
    return Ranking.of(ranked, reference.separate_bodies_lead)


def _explain_at_likeliest_size(
    baseline: BaselineLikelihood,
    log_facts: Sequence[LogProperties],
    fault_name: str,
    starting_sizes: Sequence[Array] | None = None,
) -> Iterator[Explanation]:
    """Yield the explanation of logs by a parametric fault, such as a gain, at its best size."""
    candidates = parametric_faults(log_facts, [fault_name])
    if not candidates:
        return
    (candidate,) = candidates
    starting_sizes = (
        [np.zeros(candidate[0].parameter_count)] if starting_sizes is None else starting_sizes
    )
    tried = sorted(
        (FaultModel.at(baseline.rows, candidate, s) for s in starting_sizes), key=lambda t: t.cost
    )
    trials = [gauss_newton(trial) for trial in tried[:_MAX_STARTING_POINTS]]
    trial = min((t for t in trials if t is not None), key=lambda t: t.cost, default=None)
    if trial is None or not candidate[0].is_possible(trial.size):
        return
    size, covariance = trial.size, trial.step()[1]
    half = HALF_WIDTH_SIGMA * np.sqrt(np.diag(covariance))
    explanation = baseline.explain_at_size(Explanation(0.0, trial.phi, candidate, size, half))
    fixed = tuple(fault.at_size(size, explanation.text) for fault in candidate)
    yield replace(explanation, faults=fixed, fault_size=np.zeros(0), fault_half_width=np.zeros(0))


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
    bands = comparison_bands(logs.scanned)
    leading = distinct_best_explanations(ranking)[:MAX_NAMED_EXPLANATIONS]
    known = set(map(id, leading))
    others = [e for e in ranking.explanations if e.code and id(e) not in known]
    leading += [e for e in others if e.code not in {each.code for each in leading}][
        :_MAX_OTHER_INTERPRETATIONS
    ]
    read = next(e for e in ranking.explanations if not e.code)
    cost, fitted = _deviance_with_small_faults(read, logs, settings, bands)
    dense = max(read.density, fitted.density) > MAX_DENSITY
    compared = [replace(fitted, log_likelihood_ratio=0.0)]
    for each in leading:
        if each.code:
            other, refitted = _deviance_with_small_faults(
                each, logs, settings, bands, too_dense=dense
            )
            compared.append(replace(refitted, log_likelihood_ratio=cost - other))
    names = {e.faults[0].name for e in compared if e.faults}
    plain = {e.code: e for e in reversed(ranking.explanations)}
    refitted = {e.code: e.log_likelihood_ratio for e in reversed(compared)}
    least = min(refitted.values())
    unranked = list[Explanation]()
    for each in ranking.explanations:
        if each.faults and each.faults[0].name not in names:
            behind = plain[each.code].log_likelihood_ratio - each.log_likelihood_ratio
            ratio = min(each.log_likelihood_ratio, refitted.get(each.code, least) - behind)
            unranked.append(replace(each, log_likelihood_ratio=ratio))
    return Ranking.of([*compared, *unranked], ranking.separate_bodies_lead)


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
    unexplained = unexplained_share(fit, again.clean(), 0)
    density = density_lower_bound(phi, covariance)
    return cost, replace(explanation, phi=phi, density=density, unexplained=unexplained)


def _read_under(
    explanation: Explanation, logs: FittedLogs, settings: EstimatorSettings
) -> FittedLogs:
    """Scan logs again without the fault of an explanation, and fit their small faults."""
    if not explanation.code:
        return FittedLogs.fit(logs.scanned, settings) if logs.small_faults is None else logs
    again = [  # a clock rate by its map: rereading would change the bands
        log.rescan(
            correct_fault(log.summary.reading, fault, explanation.fault_size), check_signals=False
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
    offsets = fit.data.system.offsets(fit.x, fit.weights)
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
    faults = (*explanation.faults, *explanation.faults[:1] * len(logs))
    for number, fault in zip(numbers, faults, strict=False):
        log = logs[number]
        # Another unit of time changes the rate, the cut-off and the noise.
        again = log.rescan_with_time_scale(fault.time_factor) if fault.time_factor != 1.0 else None
        reading = correct_fault(log.summary.reading, fault, explanation.fault_size)
        again = again or log.rescan(reading)
        if fault.parametric is not None:
            again = again._replace(corrected_faults=(*again.corrected_faults, fault.parametric[0]))
        reread[number] = again
    return reread


def correct_fault(interpretation: Interpretation, fault: Fault, size: Array) -> Interpretation:
    """Add a fault's correction to a log's interpretation: schema keys, or else a linear map."""
    patch = correcting_patch(fault, size)
    return (
        interpretation.with_patch(patch) if patch else interpretation.with_map(fault.map_at(size))
    )


def correcting_patch(fault: Fault, size: Array) -> Patch:
    """Return the schema keys that correct a fault; none if a linear map corrects it."""
    return fault.patch(size) if fault.patch is not None and fault.time_factor == 1.0 else {}


def _rescan_subset(log: ScannedLog, fault: Fault) -> LogSummary:
    """Scan a subset of a log's rows with a fault corrected in its schema."""
    assert fault.patch is not None
    reading = log.summary.reading.with_patch(fault.patch(np.zeros(0)))
    return log.rescan_subset(MAX_RESCANNED_ROWS, reading)


def _candidates_to_rescan(
    candidates: Sequence[CandidateFaults],
    log: ScannedLog,
    summary: LogSummary,
    log_facts: Sequence[LogProperties],
) -> list[CandidateFaults]:
    """Return the faults that no linear map corrects; of axes and conventions, the likeliest."""
    again = [faults for faults in candidates if not all(fault.linear for fault in faults)]
    axes = [faults for faults in again if faults[0].code in _AXIS_PERMUTATION_CODES]
    rotation_names = {fault.name for fault in rotation_faults(log_facts[0])}
    poses = [faults for faults in again if faults[0].name in rotation_names]
    others = [
        faults
        for faults in again
        if faults[0].code not in _AXIS_PERMUTATION_CODES and faults not in poses
    ]
    some = summary.rows[:: max(1, len(summary.rows) // _MAX_SCREENED_ROWS)]
    time = summary.time[:: max(1, len(summary.rows) // _MAX_SCREENED_ROWS)]
    some, numbers = _logged_rotations(log, some, time)
    others += likeliest_poses(poses, some, numbers, log_facts[0])
    return others + _likeliest_axes(summary.rows, axes, log_facts[0])


def _logged_rotations(log: ScannedLog, rows: Array, time: Array) -> tuple[Array, Array | None]:
    """Return regression rows and their logged rotations; of a long log, only its beginning."""
    source = log.source
    read = (
        source
        if isinstance(source, Recording)
        else source.reader()(0, _MAX_ROTATION_ROWS, 0).recording
    )
    read = on_one_clock(log.summary.reading.apply_to_pose(read))
    if (numbers := read.attitude_coordinates) is None:
        return rows, None
    if read.time is None:
        return rows, numbers[time.astype(int)]
    inside = time <= read.time[-1]
    return rows[inside], numbers[np.searchsorted(read.time, time[inside]).clip(max=len(read) - 1)]


def _permutes_one_vector(fault: Fault) -> bool:
    """Whether a fault permutes or negates the axes of either force or torque."""
    return fault.name.startswith(("the force's x", "the torque's x"))


def _likeliest_axes(
    rows: Array, candidates: Sequence[CandidateFaults], log_facts: LogProperties
) -> list[CandidateFaults]:
    """Return the axis assignments of the wrench with the smallest residual in rows (n, 43)."""
    if not candidates or log_facts.schema is None:
        return []
    rows = rows[:: max(1, len(rows) // _MAX_SCREENED_ROWS)]
    into_body = rows[:, ATTITUDE].reshape(-1, 3, 3)
    offsets = np.broadcast_to(np.eye(6), (len(rows), 6, 6))
    A = np.concatenate((np.tensordot(rows[:, FEATURES], FEATURE_TENSOR, axes=1), offsets), axis=-1)
    w = rows[:, WRENCH].reshape(-1, 2, 3)
    sizes = np.sqrt(np.mean(w**2, axis=(0, 2))) + 1e-300
    scales = np.repeat(1.0 / sizes, 3)
    plane = np.linalg.qr((scales[:, None] * A).reshape(-1, 16))[0]
    residuals = list[float]()
    for fault, *_ in candidates:
        assert fault.patch is not None
        if fault.linear:
            read = rows @ fault.fit_map()[:, WRENCH]
        else:
            G = wrench_map_of_patch(fault.patch(np.zeros(0)), log_facts.schema)
            G_halves = np.stack((G[:3, :3], G[3:, 3:]))
            turned = into_body[:, None] @ G_halves @ into_body[:, None].swapaxes(-1, -2)
            read = np.einsum("nkij,nkj->nki", turned, w).reshape(-1, 6)
        b = (scales * read).reshape(-1)
        r = (b - plane @ (plane.T @ b)).reshape(-1, 2, 3)
        residuals.append(float(np.log(np.sum(r**2, axis=(0, 2)) + 1e-300).sum()))
    count = _MAX_COMPARED_AXES if candidates[0][0].linear else _MAX_RESCANNED_AXES
    return [candidates[k] for k in np.argsort(residuals)[:count]]
