"""One ranking of all that may explain a log: as read, read otherwise, or as read with a cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from identify.arrays import Array, Phi
from identify.diagnosis import Cause
from identify.errors import IdentifyError
from identify.pipeline.alternatives import (
    Alternative,
    axes_of_world,
    linear_alternatives,
    read_alternatives,
    sign_alternatives,
)
from identify.pipeline.misfit import BandRows, Misfit, clear_bands, misfit
from identify.pipeline.scanned_log import ScannedLog
from identify.regressors import FEATURE_TENSOR, LogSummary, scan
from identify.regressors.wrench import PSI, RT, SCAN_LAYOUT, W
from identify.signals import Reading

ROWS = 10_000
"""Rows of a log that are read again for each other reading, about."""

SLIP = 12.0
"""Twice the log-likelihood that each slip has to gain for itself."""

CLEAR_LEAD = 20.0
"""Twice the log-likelihood by which one explanation has to lead to be named alone."""

_SCREENED, _LIKELY_AXES = 1000, 2
"""Points of a series that world axes are screened with, and how many the log is read again for."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One line of the ranking.

    Attributes:
        gain: twice the log-likelihood it gains on the log as read, what it takes paid for.
        phi: the body by it.
        alternative: what is read otherwise, if anything …
        cause: … or the continuous cause, if any.
    """

    gain: float
    phi: Phi
    alternative: Alternative | None = None
    cause: Cause | None = None

    @property
    def code(self) -> str:
        """Of its finding; empty for the log as read."""
        found = self.alternative or self.cause
        return "" if found is None else found.code

    @property
    def text(self) -> str:
        """What is so by it."""
        if self.alternative is not None:
            return self.alternative.text
        return "the log is as it was read" if self.cause is None else in_words(self.cause)

    @property
    def remedy(self) -> str:
        """What to change."""
        found = self.alternative or self.cause
        return "" if found is None else found.remedy

    @property
    def mass(self) -> float:
        """Of the body by it [kg]."""
        return float(self.phi[0])


@dataclass(frozen=True, slots=True)
class Ranking:
    """All explanations of one body, the likeliest first; the log as read is one of them.

    Attributes:
        explanations: at least the log as read.
        apart: twice the log-likelihood that a body for each log gains, paid for; of one log none.
    """

    explanations: tuple[Explanation, ...]
    apart: float = -np.inf

    @property
    def best(self) -> Explanation:
        """The likeliest."""
        return self.explanations[0]

    @property
    def tied(self) -> tuple[Explanation, ...]:
        """Those that explain the log as well as the best, the best among them."""
        return tuple(e for e in self.explanations if self.best.gain - e.gain < CLEAR_LEAD)

    @property
    def as_read(self) -> bool:
        """Whether nothing explains the log clearly better than how it was read."""
        return any(not e.code for e in self.tied)

    @property
    def lead(self) -> float:
        """Of the best over the first of another code."""
        others = [e.gain for e in self.explanations if e.code != self.best.code]
        return self.best.gain - max(others) if others else np.inf


def in_words(cause: Cause) -> str:
    """A continuous cause with its size and interval."""
    hypothesis, name = cause.hypothesis, cause.hypothesis.name.replace("_", " ")
    per, parameters = hypothesis.per_unit, hypothesis.parameters
    sizes = [
        f"{size / per:.4g} ± {half / per:.2g} {hypothesis.unit}"
        for size, half in zip(cause.size, cause.half_width, strict=True)
    ]
    if len(sizes) == 1 and name.endswith(parameters[0]):
        return f"{name} {sizes[0]}"
    return f"{name}: {', '.join(map(' '.join, zip(parameters, sizes, strict=True)))}"


def rank_explanations(
    logs: Sequence[ScannedLog],
    causes: Sequence[Cause] = (),
    progress: Callable[[str], None] | None = None,
) -> Ranking:
    """Compare all that logs of one body may mean.

    Args:
        logs: of one body, as they were read.
        causes: continuous ones that were found of them, to be compared with the others.
        progress: called with a line of text as readings are tried.
    """
    say = progress or (lambda line: None)
    say("comparing other readings")
    base = [_thinned(log, log.summary.reading, wide=True) for log in logs]
    bands = [
        clear_bands(each.statistics, log.summary.recording.gravity)
        for each, log in zip(base, logs, strict=True)
    ]
    rows = [BandRows.of(each.statistics, own) for each, own in zip(base, bands, strict=True)]
    if not any(len(each.samples) and each.measures_wrench for each in rows):
        return Ranking((Explanation(0.0, np.zeros(10)),))
    as_read = misfit(rows)
    samples = float(sum(each.samples.sum() for each in rows))
    weigh = partial(_weighed, as_read=as_read, samples=samples)
    first = logs[0].summary
    linear = [
        weigh([m.mapped(a.change) for m in rows], alternative=a)
        for a in linear_alternatives(first.recording, _fastest(logs))
    ]
    found = [Explanation(0.0, as_read.phi), *linear]
    found += [
        weigh([m.mapped(change) for m, change in zip(rows, _changes(c), strict=True)], cause=c)
        for c in causes
    ]
    of_axes = _likeliest_axes(base[0].rows, axes_of_world(first.recording))
    for other in (*read_alternatives(first.recording, _fastest(logs)), *of_axes):
        try:
            again = [
                BandRows.of(
                    _thinned(log, merged_reading(log.summary.reading, other)).statistics, own
                )
                for log, own in zip(logs, bands, strict=True)
            ]
        except IdentifyError:  # so read it is no motion
            continue
        if any(a.bands != b.bands for a, b in zip(again, rows, strict=True)):
            continue
        found.append(weigh(again, alternative=other))
        found += [
            weigh(
                [m.mapped(_narrow(sign.change, m)) for m in again],
                alternative=other.with_sign(sign),
            )
            for sign in sign_alternatives(first.recording)
        ]
    apart = -np.inf
    if len(rows) > 1:
        paid = (len(rows) - 1) * (SLIP + 10.0 * float(np.log(6.0 * samples)))
        apart = as_read.cost - sum(misfit([each]).cost for each in rows) - paid
    return Ranking(tuple(sorted(found, key=lambda e: -e.gain)), apart)


def _weighed(
    rows: Sequence[BandRows],
    as_read: Misfit,
    samples: float,
    alternative: Alternative | None = None,
    cause: Cause | None = None,
) -> Explanation:
    """An explanation, by the rows that come of it, of the wrench as it was read."""
    after = misfit(rows)
    if alternative is not None:
        paid, change = SLIP * alternative.changes, alternative.change
        jacobian = 0.0 if change is None else samples * _log_power(change)
    else:
        assert cause is not None
        paid = SLIP + len(cause.size) * float(np.log(6.0 * samples))
        jacobian = samples * _log_power(cause.maps[0])
    # Rows whose edges are tapered otherwise are worth others in number.
    again = float(sum(each.samples.sum() for each in rows))
    gain = as_read.cost - after.cost * samples / again + jacobian - paid
    return Explanation(float(gain), after.phi, alternative, cause)


def _log_power(change: Array) -> float:
    """log |det C|² of the map of the wrench."""
    return 2.0 * float(np.linalg.slogdet(change[W, W])[1])


def _changes(cause: Cause) -> list[Array]:
    return [M[:, : len(SCAN_LAYOUT.columns)] for M in cause.maps]


def _narrow(change: Array | None, rows: BandRows) -> Array | None:
    """The part of a map that rows of fewer columns need."""
    return None if change is None else change[: 1 + rows.factors.shape[2]]


def _fastest(logs: Sequence[ScannedLog]) -> tuple[float, float]:
    rates = [log.summary.fastest for log in logs]
    return max(speed for speed, _ in rates), max(spin for _, spin in rates)


def _likeliest_axes(rows: Array, axes: Sequence[Alternative]) -> list[Alternative]:
    """Of other world axes of the wrench those that leave least of a series, in a plain fit.

    Args:
        rows: of the series, wide, shape (n, 40).
        axes: with what they are read as.
    """
    if not axes:
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
    for each in axes:
        assert each.reading is not None
        turned = into_body @ np.array(each.reading.wrench_axes) @ into_body.swapaxes(-1, -2)
        b = (scales * np.einsum("nij,nkj->nki", turned, w).reshape(-1, 6)).reshape(-1)
        r = (b - plane @ (plane.T @ b)).reshape(-1, 2, 3)
        left.append(float(np.log(np.sum(r**2, axis=(0, 2)) + 1e-300).sum()))
    return [axes[k] for k in np.argsort(left)[:_LIKELY_AXES]]


def _thinned(log: ScannedLog, reading: Reading, *, wide: bool = False) -> LogSummary:
    """Some rows of a log."""
    reading = replace(reading, cutoff_hz=log.summary.cutoff_hz, most_rows=ROWS)
    return scan(log.source, reading, wide=wide)


def merged_reading(now: Reading, other: Alternative) -> Reading:
    """A reading with what another one changes."""
    new = other.reading
    if new is None:
        return now
    return replace(
        now,
        turned_order=now.turned_order != new.turned_order,
        turned_maps=now.turned_maps != new.turned_maps,
        position=new.position or now.position,
        scales=(*now.scales, *new.scales),
        wrench_frame=new.wrench_frame or now.wrench_frame,
        wrench_axes=new.wrench_axes or now.wrench_axes,
        acceleration_kind=new.acceleration_kind or now.acceleration_kind,
    )
