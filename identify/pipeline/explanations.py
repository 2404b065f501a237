"""All that may explain logs, compared: as read, with a fault, or read again without it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from identify.arrays import Array
from identify.diagnosis import (
    Explanation,
    Fault,
    Ranking,
    Span,
    contact_spans,
)
from identify.diagnosis.contacts import LEAST_CONTACT
from identify.diagnosis.explained import MAX_UNEXPLAINED, unexplained_fraction
from identify.diagnosis.fault import gain_of
from identify.diagnosis.fault_model import FaultModel, gauss_newton
from identify.diagnosis.faults import faults_of, sized_faults
from identify.diagnosis.faults.rotation import rotation_faults
from identify.diagnosis.faults.wrench import (
    RATIO_STARTS,
    axes_rotation,
    rotation_starts,
    sign_faults,
)
from identify.diagnosis.misfit import BandRows, high_snr_bands
from identify.diagnosis.ranking import BaselineLikelihood
from identify.diagnosis.screening import likeliest_poses
from identify.errors import IdentifyError
from identify.estimation import EstimatorSettings, FittedEffects
from identify.estimation.least_squares import LeastSquaresFit
from identify.inertia.consistency import MAX_DENSITY, density_lower_bound
from identify.logs import Recording
from identify.logs.facts import LogFacts
from identify.logs.patch import Patch
from identify.pipeline.check_findings import MAX_NAMED_EXPLANATIONS, distinct_leaders
from identify.pipeline.fitted_effects import comparison_bands, deviance, fit_sensor_effects
from identify.pipeline.scanned_log import ScannedLog, finest_blocks, without_effects
from identify.pipeline.wrench_delays import delayed_explanations
from identify.regressors import FEATURE_TENSOR, LogSummary
from identify.signals import Reading, on_one_clock
from identify.significance import CLEAR_LEAD, HALF_WIDTH_SIGMA
from identify.spatial.columns import PSI, RT, W
from identify.validation import non_noise_axes

_LOG = logging.getLogger(__name__)

SUBSET_ROWS = 10_000
"""Rows of a log that are read again for each fault that needs it, about."""

_MAX_SCREENED_ROWS, _MAX_REREAD_AXES = 1000, 2
"""Points of a series that world axes are screened with, and how many the log is read again for."""

_COMPARED_MAPS = 24
"""Axes of one vector of the wrench that are compared where the log need not be read again."""

_MIN_SHARED_SAMPLES = 0.9
"""Share of a log's samples in bands that another reading has too, from which on it is compared."""

_ROTATION_ROWS = 100_000
"""Rows of a long log whose rotations are screened by other conventions."""

_MAX_STARTS = 4
"""Sizes that a large fault is looked for from, the likeliest of those that are tried."""

_MAX_OTHER_READINGS = 3
"""Readings of other codes than those that lead, which are compared with their effects in them."""

_LARGE_FAULTS = (
    *("wrench_misaligned", "torque_gain", "counts", "position_scale", "partly_compensated"),
)
"""Names of faults with a size that no effect of a fit has, or that may be far larger than one."""

_FAULT_OF_LARGE_GROUP = {
    "filter_s": "sensor_lag",
    "tilt_deg": "gravity_tilted",
    "clock": "clock_rate",
    "point_m": "kinematic_offset",
}
"""Groups of effects, and the fault with a size that is ranked where the group is large."""

_AXES_CODES = ("wrench_axes", "force_sign", "torque_sign")
"""Codes of faults that, of a wrench in world axes, mix what the attitude turns."""

CandidateFaults = tuple[Fault, ...]


def rank_explanations(logs: Sequence[ScannedLog], large: Collection[str] = ()) -> Ranking:
    """Compare readings of logs of one body by the misfit that each leaves.

    Args:
        logs: of one body, as they were read.
        large: groups of effects that may be larger than small faults are.
    """
    _LOG.info("comparing other readings")
    base = [log.rescan_subset(SUBSET_ROWS, wide=True, validated=False) for log in logs]
    bands = [high_snr_bands(each.statistics, each.recording.gravity) for each in base]
    rows = [BandRows.of(each.statistics, own) for each, own in zip(base, bands, strict=True)]
    if not any(len(each.samples) and each.measures_wrench for each in rows):
        return Ranking((Explanation(0.0, np.zeros(10)),))
    compared = BaselineLikelihood.of(rows)
    fastest = _max_speeds(logs)
    facts = [LogFacts.of(log.summary.recording, fastest, log.summary.imu.scale) for log in logs]
    slips = [candidate for candidate in faults_of(facts) if candidate[0].sizes is None]
    ranked = [compared.as_read]
    maps = [one for one in slips if all(fault.linear for fault in one)]
    alone = [one for one in maps if _permutes_one_vector(one[0])]
    ranked += [compared.mapped(one) for one in maps if one not in alone]
    ranked += [compared.mapped(one) for one in _likeliest_axes(base[0].rows, alone, facts[0])]
    of_all = {fault.name for fault in sign_faults(facts[0])}
    signs = [one for one in maps if one[0].name in of_all]
    for candidate in _candidates_to_reread(slips, logs[0], base[0], facts):
        try:
            again = [
                BandRows.of(_reread_subset(log, fault).statistics, own)
                for log, fault, own in zip(logs, candidate, bands, strict=True)
            ]
        except IdentifyError as error:  # so read it is no motion
            _LOG.debug("not compared: %s: %s", candidate[0].text, error)
            continue
        beside = compared
        if any(a.bands != b.bands for a, b in zip(again, rows, strict=True)):
            # A pose that jumps has other segments than one that does not.
            alike = [b.in_bands_of(a) for a, b in zip(again, rows, strict=True)]
            if sum(each.samples.sum() for each in alike) < _MIN_SHARED_SAMPLES * compared.samples:
                _LOG.debug("not compared: %s: too few bands are alike", candidate[0].text)
                continue
            beside = BaselineLikelihood.of(alike)
            again = [a.in_bands_of(b) for a, b in zip(again, rows, strict=True)]
        ranked.append(beside.read_again(again, candidate))
        for sign in () if _permutes_one_vector(candidate[0]) else signs:
            both = tuple(one.with_sign(s) for one, s in zip(candidate, sign, strict=True))
            mapped = [_map_rows(r, fault) for r, fault in zip(again, sign, strict=True)]
            ranked.append(beside.read_again(mapped, both))
    likely = sorted((e for e in ranked if e.gain > CLEAR_LEAD), key=lambda each: -each.gain)
    turns = [axes_rotation(each.faults[0], facts[0]) for each in likely]
    halfway = [nearby for turn in turns if turn is not None for nearby in rotation_starts(turn)]
    halfway += rotation_starts(np.zeros(3))
    for delay in sized_faults(facts, ["delay"]):
        ranked += delayed_explanations(compared, logs, delay, bands, SUBSET_ROWS)
    for name in (
        *_LARGE_FAULTS,
        *(fault for group, fault in _FAULT_OF_LARGE_GROUP.items() if group in large),
    ):
        starts = halfway if name == "wrench_misaligned" else None
        starts = RATIO_STARTS if name == "counts" else starts
        ranked += _at_likeliest_size(compared, facts, name, starts)
    return Ranking.of(ranked, compared.apart)


def _at_likeliest_size(
    compared: BaselineLikelihood,
    facts: Sequence[LogFacts],
    name: str,
    starts: Sequence[Array] | None = None,
) -> Iterator[Explanation]:
    """A fault at its likeliest size, which may be far beyond what the effects of a fit are.

    Args:
        compared: the logs as read.
        facts: of each.
        name: of the fault.
        starts: sizes to look for it from; zero where not given.
    """
    candidates = sized_faults(facts, [name])
    if not candidates:
        return
    (candidate,) = candidates
    starts = [np.zeros(candidate[0].d)] if starts is None else starts
    tried = sorted(
        (FaultModel.at(compared.rows, candidate, s) for s in starts), key=lambda t: t.cost
    )
    trials = [gauss_newton(trial) for trial in tried[:_MAX_STARTS]]
    trial = min((t for t in trials if t is not None), key=lambda t: t.cost, default=None)
    if trial is None or not candidate[0].possible(trial.size):
        return
    size, covariance = trial.size, trial.step()[1]
    half = HALF_WIDTH_SIGMA * np.sqrt(np.diag(covariance))
    found = compared.sized(Explanation(0.0, trial.phi, candidate, size, half))
    fixed = tuple(fault.at_size(size, found.text) for fault in candidate)
    yield replace(found, faults=fixed, size=np.zeros(0), half_width=np.zeros(0))


def rank_with_effects(
    ranking: Ranking,
    logs: Sequence[ScannedLog],
    settings: EstimatorSettings,
    as_read: FittedEffects | None,
) -> Ranking:
    """A ranking whose leading readings have the small faults of their own sensor in them.

    Readings near the best by plain misfit, and the logs as read, are compared by the likelihood of
    all: the misfit of the logs without the effects of the sensor that each reading leaves, and what
    these cost.

    Args:
        ranking: by plain misfit.
        logs: all of a fit, those of the carrier alone last.
        settings: of the fit.
        as_read: effects of the logs as read.
    """
    if len(ranking.explanations) < 2:
        return ranking
    loaded = logs[: len(logs) - settings.unloaded]
    bands = comparison_bands(loaded)
    leading = distinct_leaders(ranking)[:MAX_NAMED_EXPLANATIONS]
    known = set(map(id, leading))
    others = [e for e in ranking.explanations if e.code and id(e) not in known]
    leading += [e for e in others if e.code not in {each.code for each in leading}][
        :_MAX_OTHER_READINGS
    ]
    own = settings if not settings.unloaded else replace(settings, unloaded=0, terms=(), mass=None)
    read = next(e for e in ranking.explanations if not e.code)
    cost, again = _deviance_with_effects(read, loaded, own, bands, as_read)
    compared, dense = [replace(again, gain=0.0)], max(read.density, again.density) > MAX_DENSITY
    for each in leading:
        if each.code:
            other, now = _deviance_with_effects(each, loaded, own, bands, None, dense=dense)
            compared.append(replace(now, gain=cost - other))
    names = {e.faults[0].name for e in compared if e.faults}
    rest = [
        replace(e, gain=min(e.gain, min(each.gain for each in compared)))
        for e in ranking.explanations
        if e.faults and e.faults[0].name not in names
    ]
    return Ranking.of([*compared, *rest], ranking.apart)


def _deviance_with_effects(
    each: Explanation,
    logs: Sequence[ScannedLog],
    settings: EstimatorSettings,
    bands: Sequence[tuple[int, ...]],
    known: FittedEffects | None,
    *,
    dense: bool = False,
) -> tuple[float, Explanation]:
    """Minus twice the log-likelihood of logs by a reading with its effects, and the reading."""
    try:
        again = list(logs)
        if each.code:  # a clock by its map: at another rate the bands would be others
            again = [
                log.rescan(correct_fault(log.summary.reading, fault, each.size))
                for log, fault in zip(logs, each.faults, strict=True)
            ]
        if known is None:
            known = fit_sensor_effects(again, settings)
    except IdentifyError:  # so read there is no estimate
        known, again = None, list(logs)
        if each.code:
            return np.inf, each
    whole = [finest_blocks(log.summary) for log in logs]
    samples = float(
        sum(BandRows.of(s, own).samples.sum() for s, own in zip(whole, bands, strict=True))
    )
    if known is None:
        return deviance(again, None, bands, each.faults, samples, dense=dense), each
    cost = deviance(again, known, bands, each.faults, samples, dense=dense)
    left = unexplained_share(known.fit, without_effects(again, known), 0)
    phi = known.fit.x[:10]
    density = density_lower_bound(phi, known.covariance_of_unknowns[:10, :10])
    return cost, replace(each, phi=phi, density=density, left=left)


def unexplained_share(fit: LeastSquaresFit, logs: Sequence[ScannedLog], unloaded: int) -> float:
    """Share of the wrench's signal that a fit leaves unexplained; zero where it is slow noise.

    Noise that is slow is more than the signals' spectra show above the motion's band; it does not
    go with the motion, and is in all of the log alike.
    """
    left = unexplained_fraction(fit.data.system, fit.x).worst
    if left <= MAX_UNEXPLAINED or any(unexplained_contacts(log) for log in logs):
        return left
    phi = fit.x[:20].reshape(-1, 10)
    moved = [
        phi[-1] if log >= len(logs) - unloaded else phi.sum(axis=0) for log in range(len(logs))
    ]
    offsets = fit.data.system.offsets(fit.x, fit.weights)
    beyond = non_noise_axes([log.summary for log in logs], np.array(moved), offsets)
    return left if beyond.any() else 0.0


def unexplained_contacts(log: ScannedLog) -> tuple[Span, ...]:
    """What one body does not explain of a log that nothing explains, where it is a good part."""
    summary = log.summary
    if summary.recording.still:
        return ()
    found = contact_spans(summary.time, summary.rows, summary.segment_ids, unexplained=True)
    inside = sum(span.rows for span in found)
    return found if inside > LEAST_CONTACT * len(summary.time) else ()


def reread_logs(logs: Sequence[ScannedLog], best: Explanation) -> list[ScannedLog]:
    """Logs read by an explanation; what loaded logs mean, those without the payload do."""
    now = list[ScannedLog]()
    faults = (*best.faults, *best.faults[:1] * (len(logs) - len(best.faults)))
    for log, fault in zip(logs, faults, strict=True):
        # The rate, the cut-off and the noise of another unit are others too.
        again = log.rescan_with_time_scale(fault.clock) if fault.clock != 1.0 else None
        reading = correct_fault(log.summary.reading, fault, best.size)
        again = again or log.rescan(reading)
        if fault.of_size is not None:
            again = again._replace(applied=(*again.applied, fault.of_size[0]))
        now.append(again)
    return now


def correct_fault(reading: Reading, fault: Fault, size: Array) -> Reading:
    """By the patch of the schema, where there is one, or by the map."""
    patch = correcting_patch(fault, size)
    return reading.with_patch(patch) if patch else reading.with_map(fault.map_at(size))


def correcting_patch(fault: Fault, size: Array) -> Patch:
    """The keys of the schema that correct a log that was read; none where it takes a map."""
    return fault.patch(size) if fault.patch is not None and fault.clock == 1.0 else {}


def _reread_subset(log: ScannedLog, fault: Fault) -> LogSummary:
    assert fault.patch is not None
    reading = log.summary.reading.with_patch(fault.patch(np.zeros(0)))
    return log.rescan_subset(SUBSET_ROWS, reading, validated=False)


def _map_rows(rows: BandRows, fault: Fault) -> BandRows:
    """Rows of few columns by a map of the wrench."""
    return rows.mapped(fault.fit_map()[: 1 + rows.factors.shape[2]])


def _candidates_to_reread(
    slips: Sequence[CandidateFaults], log: ScannedLog, base: LogSummary, facts: Sequence[LogFacts]
) -> list[CandidateFaults]:
    """The faults for which logs have to be read again; of axes and conventions the likely ones."""
    again = [one for one in slips if not all(fault.linear for fault in one)]
    axes = [one for one in again if one[0].code in _AXES_CODES]
    of_rotation = {fault.name for fault in rotation_faults(facts[0])}
    poses = [one for one in again if one[0].name in of_rotation]
    others = [one for one in again if one[0].code not in _AXES_CODES and one not in poses]
    some = base.rows[:: max(1, len(base.rows) // _MAX_SCREENED_ROWS)]
    time = base.time[:: max(1, len(base.rows) // _MAX_SCREENED_ROWS)]
    some, numbers = _rotation_numbers(log, some, time)
    others += likeliest_poses(poses, some, numbers, facts[0])
    return others + _likeliest_axes(base.rows, axes, facts[0])


def _rotation_numbers(log: ScannedLog, rows: Array, time: Array) -> tuple[Array, Array | None]:
    """Rows of a series, and what the log has for the rotation in them; of a long log its begin."""
    source = log.source
    read = (
        source if isinstance(source, Recording) else source.reader()(0, _ROTATION_ROWS, 0).recording
    )
    read = on_one_clock(log.summary.reading.pose_of(read))
    if (numbers := read.rotation_numbers) is None:
        return rows, None
    if read.time is None:
        return rows, numbers[time.astype(int)]
    inside = time <= read.time[-1]
    return rows[inside], numbers[np.searchsorted(read.time, time[inside]).clip(max=len(read) - 1)]


def _permutes_one_vector(fault: Fault) -> bool:
    """Whether it is of the axes of force or torque alone, with whatever signs they have."""
    return fault.name.startswith(("the force's x", "the torque's x"))


def _max_speeds(logs: Sequence[ScannedLog]) -> tuple[float, float]:
    rates = [log.summary.fastest for log in logs]
    return max(speed for speed, _ in rates), max(spin for _, spin in rates)


def _likeliest_axes(
    rows: Array, axes: Sequence[CandidateFaults], facts: LogFacts
) -> list[CandidateFaults]:
    """Of other axes of the wrench those that leave least of a series, in a plain fit.

    Args:
        rows: of the series, extended, shape (n, 43).
        axes: to be looked at.
        facts: of the log.
    """
    if not axes or facts.schema is None:
        return []
    rows = rows[:: max(1, len(rows) // _MAX_SCREENED_ROWS)]
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
        if one[0].linear:
            read = rows @ one[0].fit_map()[:, W]
        else:
            G = gain_of(one[0].patch(np.zeros(0)), facts.schema)
            of_halves = np.stack((G[:3, :3], G[3:, 3:]))
            turned = into_body[:, None] @ of_halves @ into_body[:, None].swapaxes(-1, -2)
            read = np.einsum("nkij,nkj->nki", turned, w).reshape(-1, 6)
        b = (scales * read).reshape(-1)
        r = (b - plane @ (plane.T @ b)).reshape(-1, 2, 3)
        left.append(float(np.log(np.sum(r**2, axis=(0, 2)) + 1e-300).sum()))
    count = _COMPARED_MAPS if axes[0][0].linear else _MAX_REREAD_AXES
    return [axes[k] for k in np.argsort(left)[:count]]
