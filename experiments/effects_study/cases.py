"""Cases of the study, and the score of the fit of each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

import identify
from experiments.effects_study.faults import (
    DISTURBANCES,
    ONLY_MOVING,
    SEVERAL,
    SMALL_FAULTS,
    apply_changes,
)
from experiments.effects_study.subjects import BODIES, MOTIONS, STILL, clean_log
from identify import Estimate, Recording, Result
from identify.arrays import Array, Phi
from identify.errors import IdentifyError
from identify.inertia import PHI
from identify.logs import load_schema
from identify.logs.effect_keys import EFFECT_KEYS

CLEAN = "clean"
SMALL_KINDS = (*SMALL_FAULTS, *SEVERAL)
CASES_BY_KIND = {
    CLEAN: 81,
    **dict.fromkeys(SMALL_FAULTS, 12),
    "pairs": 40,
    "threes": 30,
    **dict.fromkeys(DISTURBANCES, 15),
}
"""Number of cases per kind in the complete study."""

COUNTED_DECIDED_BY = ("data", "constraint", "prior")
"""Values of `decided_by` for which an interval is counted: all but the default body."""


@dataclass(frozen=True, slots=True)
class Score:
    """Result of a fit of one case, with its errors.

    Attributes:
        change: description of the change of the log, with the message if the fit raised an error.
        usable: verdict of the fit; "raised" without an estimate.
        codes: codes of its findings, or the name of the error.
        covered, counted, defaults: number of the ten parameters within their intervals, number
            counted, and number that the default body decided.
        largest_error: largest error of a counted parameter in half-widths of its interval.
        mass_error, com_error: relative error of the mass, and error of the centre of mass [m].
        width_ratio: ratio of interval widths with and without effects, median over the parameters.
        repeatability_ratio: ratio of standard deviations without the sensor's scale, likewise.
        seconds: time of the fit [s].
    """

    change: str
    usable: str
    codes: tuple[str, ...]
    covered: int = 0
    counted: int = 0
    defaults: int = 0
    largest_error: float = np.nan
    mass_error: float = np.nan
    com_error: float = np.nan
    width_ratio: float = np.nan
    repeatability_ratio: float = np.nan
    seconds: float = np.nan


@dataclass(frozen=True, slots=True)
class Case:
    """One log of the study: kind of change, number, body and motion."""

    kind: str
    number: int
    body: str
    motion: str
    seed: int

    def make_log(self) -> tuple[Recording, Phi, str]:
        """Make the log; return it with the true body and a description of the change."""
        rng = np.random.default_rng([self.seed, crc32(self.kind.encode()), self.number])
        log, change = apply_changes(
            clean_log(self.body, self.motion, rng), self.kind, self.motion, rng
        )
        return replace(log.recording(rng), name=f"{self.kind} {self.number}"), log.phi, change

    def score(self) -> Score:
        """Make the log, fit it with effects and without them, and compare with the true body."""
        recording, phi, change = self.make_log()
        began = time.perf_counter()
        try:
            result = identify.fit(recording)
        except Exception as error:  # noqa: BLE001 - a defect of the code must show as a score, too
            return Score(f"{change}: {error}", "raised", (type(error).__name__,))
        score = replace(_score(result, phi, change), seconds=time.perf_counter() - began)
        try:
            return _with_comparison(score, result.estimate, fit_without_effects(recording).estimate)
        except IdentifyError:
            return score


def all_cases(count: int | None, only: str, seed: int) -> Iterator[Case]:
    """Yield the cases of a study, with bodies and motions in turn.

    Args:
        count: approximate number of cases, at least one of each kind; None for `KINDS`.
        only: text that names of kinds must contain.
        seed: seed of all cases.
    """
    kinds = {kind: total for kind, total in CASES_BY_KIND.items() if only in kind}
    share = 1.0 if count is None else count / max(sum(kinds.values()), 1)
    for kind, total in kinds.items():
        motions = [*MOTIONS] if kind in ONLY_MOVING else [*MOTIONS, STILL]
        motions = [STILL] if kind == "still vibration" else motions
        for number in range(max(round(share * total), 1)):
            turn, index = divmod(number + crc32(kind.encode()), len(motions))
            body = list(BODIES)[(turn + index) % len(BODIES)]
            yield Case(kind, number, body, motions[index], seed)


def fit_without_effects(recording: Recording) -> Result:
    """Fit a recording with every sensor effect disabled in its schema.

    Raises:
        IdentifyError: the fit has no estimate, or schemas have no table of effects.
    """
    schema = {**recording.schema, "effects": dict.fromkeys(EFFECT_KEYS, False)}
    load_schema(schema)
    return identify.fit(replace(recording, schema=schema))


def _score(result: Result, phi: Phi, change: str) -> Score:
    estimate = result.estimate
    low, high = _intervals(estimate)
    counted = ~np.isnan(low)
    inside = (low <= phi) & (phi <= high)
    off = np.abs(estimate.parameters.phi - phi) / np.maximum(0.5 * (high - low), 1e-300)
    return Score(
        change=change,
        usable=result.verdict.usable,
        codes=tuple(dict.fromkeys(finding.code for finding in result.findings)),
        covered=int(inside.sum()),
        counted=int(counted.sum()),
        defaults=list(estimate.decided_by.values()).count("default"),
        largest_error=max(off[counted], default=np.nan),
        mass_error=abs(estimate.mass / phi[0] - 1.0),
        com_error=float(np.linalg.norm(estimate.com - phi[1:4] / phi[0])),
    )


def _with_comparison(score: Score, estimate: Estimate, without: Estimate) -> Score:
    widths = [np.subtract(*_intervals(result)[::-1]) for result in (estimate, without)]
    deviations = [np.sqrt(np.diag(result.repeatability)) for result in (estimate, without)]
    both = ~np.isnan(widths[0] + widths[1])
    if not both.any():
        return score
    width, repeatability = (
        float(np.median(fitted[both] / plain[both])) for fitted, plain in (widths, deviations)
    )
    return replace(score, width_ratio=width, repeatability_ratio=repeatability)


def _intervals(estimate: Estimate) -> Array:
    """Return lower and upper bounds of the ten parameters, NaN if not counted, shape (2, 10)."""
    intervals = [
        estimate.intervals.get(name) if estimate.decided_by[name] in COUNTED_DECIDED_BY else None
        for name in PHI
    ]
    return np.array([interval or (np.nan, np.nan) for interval in intervals]).T
