"""The cases of the study, and what is scored of the fit of each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

import identify
from experiments.effects_study.faults import ONLY_MOVING, OTHER, SEVERAL, SMALL, changed
from experiments.effects_study.subjects import BODIES, MOTIONS, STILL, clean_log
from identify import Estimate, FitResult, Recording
from identify.arrays import Array, Phi
from identify.errors import IdentifyError
from identify.inertia import PHI
from identify.logs import load_schema
from identify.logs.effects import EFFECT_KEYS

CLEAN = "clean"
SMALL_KINDS = (*SMALL, *SEVERAL)
KINDS = {
    CLEAN: 81,
    **dict.fromkeys(SMALL, 12),
    "pairs": 40,
    "threes": 30,
    **dict.fromkeys(OTHER, 15),
}
"""Number of cases of each kind in the complete study."""

COUNTED = ("data", "constraint", "prior")
"""Values of `decided_by` of the parameters whose intervals are counted: no default body."""


@dataclass(frozen=True, slots=True)
class Score:
    """Result of a fit of one case, with its errors.

    Attributes:
        done: what was done to the log, in words; with the message where the fit raised an error.
        usable: verdict of the fit; "raised" without an estimate.
        said: codes of its findings, or the name of the error.
        covered, counted, defaults: of the ten parameters how many are in their intervals, of how
            many that is counted, and how many the default body has decided.
        off: largest error of a counted parameter in half-widths of its interval.
        mass, com: error of the mass, relative, and of the centre of mass [m].
        width: of the intervals over those without effects, median over the parameters.
        repeatability: the same of their standard deviations without the sensor's scale.
        seconds: time of the fit.
    """

    done: str
    usable: str
    said: tuple[str, ...]
    covered: int = 0
    counted: int = 0
    defaults: int = 0
    off: float = np.nan
    mass: float = np.nan
    com: float = np.nan
    width: float = np.nan
    repeatability: float = np.nan
    seconds: float = np.nan


@dataclass(frozen=True, slots=True)
class Case:
    """One log of the study: what is done to it, its number among those, and what it is of."""

    kind: str
    number: int
    body: str
    motion: str
    seed: int

    def made(self) -> tuple[Recording, Phi, str]:
        """The log, the true body, and what was done in words; the same each time."""
        rng = np.random.default_rng([self.seed, crc32(self.kind.encode()), self.number])
        log, done = changed(clean_log(self.body, self.motion, rng), self.kind, self.motion, rng)
        return replace(log.recording(rng), name=f"{self.kind} {self.number}"), log.phi, done

    def score(self) -> Score:
        """Make the log, fit it with effects and without them, and compare with the true body."""
        recording, phi, done = self.made()
        began = time.perf_counter()
        try:
            result = identify.fit(recording)
        except Exception as error:  # noqa: BLE001 - what a fit raises is its score
            return Score(f"{done}: {error}", "raised", (type(error).__name__,))
        score = replace(_scored(result, phi, done), seconds=time.perf_counter() - began)
        try:
            return _compared(score, result.estimate, fit_without_effects(recording).estimate)
        except IdentifyError:
            return score


def all_cases(count: int | None, only: str, seed: int) -> Iterator[Case]:
    """The cases of a study, bodies and motions in turn.

    Args:
        count: about how many, at least one of each kind; as many as `KINDS` says where None.
        only: in the names of their kinds.
        seed: of all of them.
    """
    kinds = {kind: most for kind, most in KINDS.items() if only in kind}
    share = 1.0 if count is None else count / max(sum(kinds.values()), 1)
    for kind, most in kinds.items():
        motions = [*MOTIONS] if kind in ONLY_MOVING else [*MOTIONS, STILL]
        motions = [STILL] if kind == "still vibration" else motions
        for number in range(max(round(share * most), 1)):
            turn, place = divmod(number + crc32(kind.encode()), len(motions))
            body = list(BODIES)[(turn + place) % len(BODIES)]
            yield Case(kind, number, body, motions[place], seed)


def fit_without_effects(recording: Recording) -> FitResult:
    """The fit of a recording whose schema leaves out every effect.

    Raises:
        IdentifyError: it has no estimate; a `SchemaError` where schemas have no table of effects.
    """
    schema = {**recording.schema, "effects": dict.fromkeys(EFFECT_KEYS, False)}
    load_schema(schema)
    return identify.fit(replace(recording, schema=schema))


def _scored(result: FitResult, phi: Phi, done: str) -> Score:
    estimate = result.estimate
    low, high = _intervals(estimate)
    counted = ~np.isnan(low)
    inside = (low <= phi) & (phi <= high)
    off = np.abs(estimate.parameters.phi - phi) / np.maximum(0.5 * (high - low), 1e-300)
    return Score(
        done=done,
        usable=result.verdict.usable,
        said=tuple(dict.fromkeys(finding.code for finding in result.findings)),
        covered=int(inside.sum()),
        counted=int(counted.sum()),
        defaults=list(estimate.decided_by.values()).count("default"),
        off=max(off[counted], default=np.nan),
        mass=abs(estimate.mass / phi[0] - 1.0),
        com=float(np.linalg.norm(estimate.com - phi[1:4] / phi[0])),
    )


def _compared(score: Score, estimate: Estimate, without: Estimate) -> Score:
    widths = [np.subtract(*_intervals(each)[::-1]) for each in (estimate, without)]
    deviations = [np.sqrt(np.diag(each.repeatability)) for each in (estimate, without)]
    both = ~np.isnan(widths[0] + widths[1])
    if not both.any():
        return score
    width, repeatability = (
        float(np.median(ours[both] / others[both])) for ours, others in (widths, deviations)
    )
    return replace(score, width=width, repeatability=repeatability)


def _intervals(estimate: Estimate) -> Array:
    """Lower and upper bounds of the ten parameters, NaN where not counted, shape (2, 10)."""
    cases = [
        estimate.intervals.get(name) if estimate.decided_by[name] in COUNTED else None
        for name in PHI
    ]
    return np.array([interval or (np.nan, np.nan) for interval in cases]).T
