"""All that may explain logs, compared: as read, with a fault, or read again without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from identify.arrays import Array
from identify.diagnosis import Explanation, Fault, LogFacts, Ranking
from identify.diagnosis.fault import gain_of
from identify.diagnosis.faults import faults_of
from identify.diagnosis.misfit import BandRows, clear_bands
from identify.diagnosis.ranking import Compared
from identify.errors import IdentifyError
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors import FEATURE_TENSOR, LogSummary
from identify.regressors.wrench import PSI, RT, W

ROWS = 10_000
"""Rows of a log that are read again for each fault that needs it, about."""

_SCREENED, _LIKELY_AXES = 1000, 2
"""Points of a series that world axes are screened with, and how many the log is read again for."""

_SIGNS = ("wrench_sign", "force_sign", "torque_sign")

Candidate = tuple[Fault, ...]


def rank_explanations(
    logs: Sequence[ScannedLog],
    found: Sequence[Explanation] = (),
    progress: Callable[[str], None] | None = None,
) -> Ranking:
    """Compare all that logs of one body may mean.

    Args:
        logs: of one body, as they were read.
        found: faults with a size that were found of them, to be compared with the others.
        progress: called with a line of text as readings are tried.
    """
    say = progress or (lambda line: None)
    say("comparing other readings")
    base = [log.some(ROWS, wide=True) for log in logs]
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
    signs = [one for one in slips if one[0].code in _SIGNS and all(fault.linear for fault in one)]
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
    order = sorted(ranked, key=lambda each: -round(each.gain, 3))  # ties in the order of families
    return Ranking(tuple(order), compared.apart)


def _read_by(log: ScannedLog, fault: Fault) -> LogSummary:
    assert fault.patch is not None
    return log.some(ROWS, log.summary.reading.with_patch(fault.patch(np.zeros(0))))


def _mapped(rows: BandRows, fault: Fault) -> BandRows:
    """Rows of few columns by a map of the wrench."""
    return rows.mapped(fault.fit_map()[: 1 + rows.factors.shape[2]])


def _to_be_read(
    slips: Sequence[Candidate], rows: Array, facts: Sequence[LogFacts]
) -> list[Candidate]:
    """The faults for which logs have to be read again; of axes in the world the likely ones."""
    again = [one for one in slips if not all(fault.linear for fault in one)]
    axes = [one for one in again if one[0].code == "wrench_axes"]
    others = [one for one in again if one[0].code != "wrench_axes"]
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
        turned = into_body @ G[:3, :3] @ into_body.swapaxes(-1, -2)
        b = (scales * np.einsum("nij,nkj->nki", turned, w).reshape(-1, 6)).reshape(-1)
        r = (b - plane @ (plane.T @ b)).reshape(-1, 2, 3)
        left.append(float(np.log(np.sum(r**2, axis=(0, 2)) + 1e-300).sum()))
    return [axes[k] for k in np.argsort(left)[:_LIKELY_AXES]]
