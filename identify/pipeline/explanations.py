"""All that may explain logs, compared: as read, with a fault, or read again without it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from identify.arrays import Array
from identify.diagnosis import (
    Explanation,
    Fault,
    LogFacts,
    Ranking,
    Span,
    segments,
    sized_faults,
)
from identify.diagnosis.explained import MOST_LEFT, share_left
from identify.diagnosis.fault import gain_of
from identify.diagnosis.faults import faults_of
from identify.diagnosis.faults.wrench import sign_faults, turn_of_axes, turns_about
from identify.diagnosis.misfit import BandRows, clear_bands
from identify.diagnosis.ranking import CLEAR_LEAD, Compared
from identify.diagnosis.trial import Trial, stepped
from identify.errors import IdentifyError
from identify.estimation import EstimatorSettings
from identify.estimation.estimator import body_system
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.pipeline.messages import SHOWN, distinct
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors import FEATURE_TENSOR, LogSummary
from identify.regressors.wrench import PSI, RT, W
from identify.signals import Reading
from identify.validation import axes_beyond_noise

_LOG = logging.getLogger(__name__)

ROWS = 10_000
"""Rows of a log that are read again for each fault that needs it, about."""

_LEAST_CONTACT = 0.2
"""Share of a log that contacts are, where they alone leave it unexplained."""

_SCREENED, _LIKELY_AXES = 1000, 2
"""Points of a series that world axes are screened with, and how many the log is read again for."""

_STARTS = 4
"""Sizes that a large fault is looked for from, the likeliest of those that are tried."""

_OF_AXES = ("wrench_axes", "force_sign", "torque_sign")
"""Codes of faults that, of a wrench in world axes, mix what the attitude turns."""

Candidate = tuple[Fault, ...]


def rank_explanations(
    logs: Sequence[ScannedLog],
    found: Sequence[Explanation] = (),
) -> Ranking:
    """Compare all that logs of one body may mean.

    Args:
        logs: of one body, as they were read.
        found: faults with a size that were found of them, to be compared with the others.
    """
    _LOG.info("comparing other readings")
    base = [log.some(ROWS, wide=True, validated=False) for log in logs]
    bands = [clear_bands(each.statistics, each.recording.gravity) for each in base]
    rows = [BandRows.of(each.statistics, own) for each, own in zip(base, bands, strict=True)]
    if not any(len(each.samples) and each.measures_wrench for each in rows):
        return Ranking((Explanation(0.0, np.zeros(10)),))
    compared = Compared.of(rows)
    fastest = _fastest(logs)
    facts = [LogFacts.of(log.summary.recording, fastest) for log in logs]
    slips = [candidate for candidate in faults_of(facts) if candidate[0].sizes is None]
    ranked = [compared.as_read]
    ranked += [compared.mapped(one) for one in slips if all(fault.linear for fault in one)]
    ranked += [compared.sized(one) for one in found]
    of_all = {fault.name for fault in sign_faults(facts[0])}
    signs = [one for one in slips if one[0].name in of_all and all(fault.linear for fault in one)]
    for candidate in _to_be_read(slips, base[0].rows, facts):
        try:
            again = [
                BandRows.of(_read_by(log, fault).statistics, own)
                for log, fault, own in zip(logs, candidate, bands, strict=True)
            ]
        except IdentifyError:  # so read it is no motion
            continue
        if any(a.bands != b.bands for a, b in zip(again, rows, strict=True)):
            continue
        ranked.append(compared.read_again(again, candidate))
        for sign in signs:
            both = tuple(one.with_sign(s) for one, s in zip(candidate, sign, strict=True))
            mapped = [_mapped(r, fault) for r, fault in zip(again, sign, strict=True)]
            ranked.append(compared.read_again(mapped, both))
    likely = sorted((e for e in ranked if e.gain > CLEAR_LEAD), key=lambda each: -each.gain)
    turns = [turn_of_axes(each.faults[0], facts[0]) for each in likely]
    halfway = [nearby for turn in turns if turn is not None for nearby in turns_about(turn)]
    ranked += _at_sizes(compared, facts, "wrench_misaligned", halfway)
    if "partly_compensated" not in {each.code for each in found}:
        ranked += _at_sizes(compared, facts, "partly_compensated", [np.zeros(4)])
    return Ranking.of(ranked, compared.apart)


def _at_sizes(
    compared: Compared, facts: Sequence[LogFacts], name: str, starts: Sequence[Array]
) -> Iterator[Explanation]:
    """A fault so large that a fit does not come to it, as a turn, or that there is none with it.

    Args:
        compared: the logs as read.
        facts: of each.
        name: of the fault.
        starts: sizes to look for it from.
    """
    candidates = sized_faults(facts, [name])
    if not candidates or any(fault.patch is None for fault in candidates[0]):
        return
    (candidate,), logs = candidates, Trial(compared.rows, (tuple(range(len(facts))),))
    tried = sorted((logs.at((candidate,), (s,)) for s in starts), key=lambda t: t.cost)
    trials = [stepped(trial) for trial in tried[:_STARTS]]
    trial = min((t for t in trials if t is not None), key=lambda t: t.cost, default=None)
    if trial is None or not candidate[0].possible(trial.sizes[0]):
        return
    (size,), covariance = trial.sizes, trial.step()[1]
    half = 1.96 * np.sqrt(np.diag(covariance))
    found = compared.sized(Explanation(0.0, trial.phi, candidate, size, half))
    fixed = tuple(fault.at_size(size, found.text) for fault in candidate)
    yield Explanation(found.gain, found.phi, fixed)


def fitted(ranking: Ranking, logs: Sequence[ScannedLog], settings: EstimatorSettings) -> Ranking:
    """A ranking in which the readings that lead have the body that a fit then gives.

    Args:
        ranking: of the logs.
        logs: all of a fit, those of the carrier alone last.
        settings: of the fit.
    """
    if ranking.as_read:
        return ranking
    again = {
        id(each): _fitted(each, logs, settings)
        for each in distinct(ranking)[:SHOWN]
        if not each.sized
    }
    now = tuple(again.get(id(each), each) for each in ranking.explanations)
    return replace(ranking, explanations=now)


def _fitted(
    best: Explanation, logs: Sequence[ScannedLog], settings: EstimatorSettings
) -> Explanation:
    try:
        again = read_otherwise(logs, best)
        read = [log.summary.statistics for log in again]
        fit = weighted_least_squares(body_system(read, settings), settings.all_terms)
    except IdentifyError:  # so read there is none, as for the logs as they were read
        return best
    return replace(best, phi=fit.x[:10], left=left_by(fit, again, settings.unloaded))


def left_by(fit: LeastSquaresFit, logs: Sequence[ScannedLog], unloaded: int) -> float:
    """Share of the wrench's signal that a fit leaves unexplained; zero where it is slow noise.

    Noise that is slow is more than the signals' spectra show above the motion's band; it does not
    go with the motion, and is in all of the log alike.
    """
    left = share_left(fit.data.system, fit.x).worst
    if left <= MOST_LEFT or any(contacts_of(log) for log in logs):
        return left
    phi = fit.x[:20].reshape(-1, 10)
    moved = [
        phi[-1] if log >= len(logs) - unloaded else phi.sum(axis=0) for log in range(len(logs))
    ]
    offsets = fit.data.system.offsets(fit.x, fit.weights)
    beyond = axes_beyond_noise([log.summary for log in logs], np.array(moved), offsets)
    return left if beyond.any() else 0.0


def contacts_of(log: ScannedLog) -> tuple[Span, ...]:
    """What one body does not explain of a log that nothing explains, where it is a good part."""
    summary = log.summary
    if summary.recording.still:
        return ()
    found = segments(summary.time, summary.rows, summary.segment_ids, unexplained=True)
    inside = sum(span.rows for span in found)
    return found if inside > _LEAST_CONTACT * len(summary.time) else ()


def read_otherwise(logs: Sequence[ScannedLog], best: Explanation) -> list[ScannedLog]:
    """Logs read by an explanation; what loaded logs mean, those without the payload do."""
    now = []
    faults = (*best.faults, *best.faults[:1] * (len(logs) - len(best.faults)))
    for log, fault in zip(logs, faults, strict=True):
        # The rate, the cut-off and the noise of another unit are others too.
        again = log.timed(fault.clock) if fault.clock != 1.0 else None
        reading = with_fault_corrected(log.summary.reading, fault, best.size)
        now.append(again or log.again(reading))
    return now


def with_fault_corrected(reading: Reading, fault: Fault, size: Array) -> Reading:
    """By the patch of the schema, where there is one, or by the map."""
    if fault.patch is not None and fault.clock == 1.0 and (patch := fault.patch(size)):
        return reading.with_patch(patch)
    return reading.with_map(fault.map_at(size))


def _read_by(log: ScannedLog, fault: Fault) -> LogSummary:
    assert fault.patch is not None
    reading = log.summary.reading.with_patch(fault.patch(np.zeros(0)))
    return log.some(ROWS, reading, validated=False)


def _mapped(rows: BandRows, fault: Fault) -> BandRows:
    """Rows of few columns by a map of the wrench."""
    return rows.mapped(fault.fit_map()[: 1 + rows.factors.shape[2]])


def _to_be_read(
    slips: Sequence[Candidate], rows: Array, facts: Sequence[LogFacts]
) -> list[Candidate]:
    """The faults for which logs have to be read again; of axes in the world the likely ones."""
    again = [one for one in slips if not all(fault.linear for fault in one)]
    axes = [one for one in again if one[0].code in _OF_AXES]
    others = [one for one in again if one[0].code not in _OF_AXES]
    return others + _likeliest_axes(rows, axes, facts[0])


def _fastest(logs: Sequence[ScannedLog]) -> tuple[float, float]:
    rates = [log.summary.fastest for log in logs]
    return max(speed for speed, _ in rates), max(spin for _, spin in rates)


def _likeliest_axes(rows: Array, axes: Sequence[Candidate], facts: LogFacts) -> list[Candidate]:
    """Of other world axes of the wrench those that leave least of a series, in a plain fit.

    Args:
        rows: of the series, extended, shape (n, 40).
        axes: to be looked at.
        facts: of the log.
    """
    if not axes or not facts.attitude or facts.schema is None:
        return []
    rows = rows[:: max(1, len(rows) // _SCREENED)]
    into_body = rows[:, RT].reshape(-1, 3, 3)
    offsets = np.broadcast_to(np.eye(6), (len(rows), 6, 6))
    A = np.concatenate((np.tensordot(rows[:, PSI], FEATURE_TENSOR, axes=1), offsets), axis=-1)
    w = rows[:, W].reshape(-1, 2, 3)
    sizes = np.sqrt(np.mean(w**2, axis=(0, 2))) + 1e-300
    scales = np.repeat(1.0 / sizes, 3)
    plane = np.linalg.qr((scales[:, None] * A).reshape(-1, 16))[0]
    left = []
    for one in axes:
        assert one[0].patch is not None
        G = gain_of(one[0].patch(np.zeros(0)), facts.schema)
        of_halves = np.stack((G[:3, :3], G[3:, 3:]))
        turned = into_body[:, None] @ of_halves @ into_body[:, None].swapaxes(-1, -2)
        b = (scales * np.einsum("nkij,nkj->nki", turned, w).reshape(-1, 6)).reshape(-1)
        r = (b - plane @ (plane.T @ b)).reshape(-1, 2, 3)
        left.append(float(np.log(np.sum(r**2, axis=(0, 2)) + 1e-300).sum()))
    return [axes[k] for k in np.argsort(left)[:_LIKELY_AXES]]
