"""Faults with sizes that explain logs, each at the size that fits best, by the likelihood `misfit`.

Faults are looked for one after the other, each at its likeliest size beside those before it
(`trial`). A score test of the scatter over blocks of time decides whether what leads in likelihood
is there at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from identify.arrays import Array
from identify.diagnosis.facts import LogFacts, once_for_logs_alike
from identify.diagnosis.fault import Fault
from identify.diagnosis.faults import faults_of
from identify.diagnosis.faults.wrench import CALIBRATION, calibration_fault
from identify.diagnosis.ranking import CLEAR_LEAD, Explanation
from identify.diagnosis.score_test import (
    Extra,
    Linearised,
    ScoreTest,
    each_beside,
    require_wide,
    score_tests,
    solve_extra,
    tested,
)
from identify.diagnosis.trial import SETTLED, STEPS, Candidate, Trial, settled, stepped
from identify.errors import ProblemError
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.terms import Term
from identify.regressors import System

MOST_FAULTS = 3
"""Faults looked for one after the other: a fourth would explain what the first three left."""

SCREEN = 0.02
"""p of a score test from which on a fault is not taken further: at it the scatter is that of a
misfit, so the test at the end decides."""

ALARM = 1e-4
"""p of the test at the end, of nine faults that are no more independent than four."""

_LEAST_SHARE = 0.5
"""Share of the best one's gain below which a fault is dropped after a few steps."""

_ALIKE = (
    ("delay", "sensor_lag"),
    ("clock_rate", "gravity_magnitude"),
    ("kinematic_offset", "torque_gain"),
)
"""Faults that a third one, not yet corrected, may make look like each other."""

_SPECIAL = {"partly_compensated": ("clock_rate", "gravity_magnitude")}
"""Faults that another one is at some sizes: the weight of the body itself, as of a part of it."""

_ALIKE_LEAD = 0.03
"""Share of a gain by which one of those has to lead the other: what a map of low order leaves of a
large delay or lag grows with it."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All faults with a size of logs, in the order in which they were found.

    Attributes:
        found: at most three.
        tests: of the logs as read, one for each fault that makes sense for them.
        fit: least squares of the logs with the faults corrected; as given where there is no fault.
        calibration: the linear map of the readings that explains more than any of the faults; then
            none of them is found.
    """

    found: tuple[Explanation, ...]
    tests: tuple[ScoreTest, ...]
    fit: LeastSquaresFit
    calibration: Explanation | None = None


def find_faults(
    fit: LeastSquaresFit,
    facts: Sequence[LogFacts],
    terms: Sequence[Term] = (),
    names: Sequence[str] | None = None,
    *,
    exact: bool = False,
) -> Diagnosis:
    """Find the faults with a size of what a fit leaves.

    Args:
        fit: of extended statistics.
        facts: of each log, in the order of the fit's data.
        terms: of the fit; its equalities hold for the corrected logs too.
        names: of the faults to look for; all where not given.
        exact: what the fit leaves is rounding, which has no cause: there are the tests alone.

    Raises:
        ProblemError: the statistics are not extended, or facts are missing.
    """
    require_wide(fit, len(facts))
    candidates = sized_faults(facts, names)
    *pairs, (_, whole_map) = each_beside(fit, [*candidates, _map_of_all(facts)])
    tests = tuple(tested(extra, fault, fit.x[:10]) for fault, extra in pairs)
    read = Trial.of(fit, facts)
    if exact or not read.measured:
        return Diagnosis((), tests, fit)
    now, fit_now, found, again = read, fit, list[Explanation](), tests
    while len(found) < MOST_FAULTS:
        likely = {test.fault.name for test in again if test.p_value < SCREEN}
        open_ = likely - {each.faults[0].name for each in found}
        step = _likeliest(now, [c for c in candidates if c[0].name in open_], fit, terms)
        if step is None:
            break
        now, fit_now, found = step[0], step[1], [*found, step[2]]
        again = score_tests(fit_now, candidates)
    if any(test.p_value < SCREEN for test in tests) or _map_shows(whole_map):
        map_of_all = calibration(fit, facts)
        gain = read.cost - now.cost + CLEAR_LEAD if found else 0.0
        if map_of_all is not None and map_of_all.gain > gain:
            return Diagnosis((), tests, fit, map_of_all)
    if len(found) > 1:
        now, fit_now, found = _together(now, found, candidates, fit, terms)
    return Diagnosis(tuple(found), tests, fit_now)


def sized_faults(
    facts: Sequence[LogFacts], names: Sequence[str] | None = None
) -> list[tuple[Fault, ...]]:
    """The faults with a size that can be corrected, of all names or of some."""
    return [
        candidate
        for candidate in faults_of(facts)
        if candidate[0].sizes is not None and candidate[0].name != CALIBRATION
        if names is None or candidate[0].name in names
    ]


def calibration(fit: LeastSquaresFit, facts: Sequence[LogFacts]) -> Explanation | None:
    """The linear map of the six readings that explains logs clearly better than none, if any.

    Other faults show in it too: it means something where it explains more than they do.

    Args:
        fit: of extended statistics.
        facts: of each log, in the order of the fit's data.
    """
    found = _calibrated(fit, facts)
    if found is None or found[0].gain < CLEAR_LEAD:
        return None
    return found[0]


class Hidden(NamedTuple):
    """A fault that logs do not exclude, at its likeliest size, and what it makes of the unknowns.

    Attributes:
        fault: as it is of the first log.
        size: of it [SI], shape (d,).
        x: the unknowns with it corrected, shape (p,).
        covariance: of them, its size left open, shape (p, p).
        p_value: that it is not there.
    """

    fault: Fault
    size: Array
    x: Array
    covariance: Array
    p_value: float


def hidden(
    fit: LeastSquaresFit, facts: Sequence[LogFacts], named: Collection[str]
) -> Iterator[Hidden]:
    """The faults that may be there besides those that were found, of logs with something wrong.

    Such logs are more likely to have a second fault than others, and the first may hide it: what
    would be no reason to name it is one to count it.

    Args:
        fit: of extended statistics, what was found corrected.
        facts: of each log, in the order of the fit's data.
        named: codes of what was found.
    """
    candidates = [c for c in sized_faults(facts) if c[0].code not in named]
    map_of_all, of_map = _calibrated(fit, facts), 1.0
    if map_of_all is not None:
        samples = sum(float(rows.samples.sum()) for rows in map_of_all[1].rows)
        free = map_of_all[1].directions
        ratio = map_of_all[0].gain + free * float(np.log(6.0 * samples))
        of_map = float(chdtrc(free, max(ratio, 0.0)))
        candidates += [map_of_all[0].faults] if of_map < SCREEN else []
    for fault, extra in each_beside(fit, candidates):
        if extra is None:
            continue
        # The test of a whole map has more directions than a log has blocks; its likelihood has not.
        p_value = of_map if fault.name == CALIBRATION else extra.p_value
        if p_value < SCREEN:
            yield Hidden(fault, extra.size, fit.x + extra.shift, extra.spread, p_value)


def _map_shows(found: Extra | None) -> bool:
    """Whether logs show the map of the six readings by the weights of a fit: a screen alone.

    It may show where none of the faults does; coloured noise looks like it too.
    """
    if found is None:
        return False
    try:
        distance = float(found.size @ np.linalg.solve(found.by_weights, found.size))
    except np.linalg.LinAlgError:
        return False
    return bool(chdtrc(len(found.size), max(distance, 0.0)) < ALARM)


def _map_of_all(facts: Sequence[LogFacts]) -> Candidate:
    return once_for_logs_alike(facts, calibration_fault)


def _calibrated(
    fit: LeastSquaresFit, facts: Sequence[LogFacts]
) -> tuple[Explanation, Trial] | None:
    """Logs with the map of the six readings that fits best."""
    candidate = _map_of_all(facts)
    now = Trial.of(fit, facts)
    if not now.measured:
        return None
    after = settled(now, candidate)
    if after is None:
        return None
    gain, size = now.cost - after.cost, after.sizes[-1]
    return Explanation(gain, after.phi, tuple(candidate), size), after


def _likeliest(
    before: Trial, candidates: Sequence[Candidate], fit: LeastSquaresFit, terms: Sequence[Term]
) -> tuple[Trial, LeastSquaresFit, Explanation] | None:
    """The fault that gains most and is there, with those that gain hardly less as equivalents."""
    trials: list[tuple[float, Trial]] = []
    for candidate in candidates:
        most = max((gain for gain, _ in trials), default=0.0)
        after = settled(before, candidate, before.cost - _LEAST_SHARE * most)
        possible = after is not None and candidate[0].possible(after.sizes[-1])
        if after is not None and possible and before.cost - after.cost > 0.0:
            trials.append((before.cost - after.cost, after))
    trials.sort(key=lambda trial: -trial[0])
    for gain, trial in trials:
        checked = _checked(trial, fit, terms)
        if checked is None:
            continue
        now, fit_now, extra = checked
        fault, size = now.candidates[-1][0], now.sizes[-1]
        p_value = extra.part(slice(-len(size), None)).p_value
        assert fault.sizes is not None
        if p_value >= ALARM:
            continue
        if np.linalg.norm(size) < fault.sizes.floor * fault.sizes.scale(now.phi):
            return None
        rivals = [
            other.candidates[-1][0] for g, other in trials if gain - g < _lead(now, other, gain)
        ]
        codes = dict.fromkeys(each.code for each in rivals if each.code != fault.code)
        half = extra.half_widths[-len(size) :]
        found = Explanation(
            gain, now.phi, tuple(now.candidates[-1]), size, half, p_value, tuple(codes)
        )
        return now, fit_now, found
    return None


def _lead(best: Trial, rival: Trial, gain: float) -> float:
    """By how much a fault has to lead another to be named alone.

    One that holds it as a special case has more numbers: of the same likelihood, it is sooner the
    special case, unless that is larger than such faults are.
    """
    first, other = best.candidates[-1][0], rival.candidates[-1][0]
    if first.name in _SPECIAL.get(other.name, ()):
        assert first.sizes is not None
        low, high = first.sizes.believed
        believed = ((best.sizes[-1] > low) & (best.sizes[-1] < high)).all()
        return -np.inf if believed else CLEAR_LEAD + best.price(other.d - first.d)
    alike = any({first.name, other.name} <= set(names) for names in _ALIKE)
    return max(CLEAR_LEAD, _ALIKE_LEAD * gain) if alike else CLEAR_LEAD


def _checked(
    trial: Trial, read: LeastSquaresFit, terms: Sequence[Term]
) -> tuple[Trial, LeastSquaresFit, Extra] | None:
    """A trial with its fit, and what that still says of its sizes, noise in the motion counted.

    The fit takes off noise in the columns, which the likelihood does not: the sizes end by its
    steps. None where the logs so corrected have no fit.
    """
    try:
        for _ in range(STEPS):
            fit = _corrected(trial, read, terms)
            extra = _left(trial, fit)
            if extra is None:
                return None
            small = np.abs(extra.size) < SETTLED * np.sqrt(np.diag(extra.covariance))
            if small.all() or any(c[0].amplifies for c in trial.candidates):
                break
            moved = np.concatenate(trial.sizes) + extra.size
            trial = trial.at(trial.candidates, np.split(moved, np.cumsum(trial.widths)[:-1]))
        else:
            return None
    except ProblemError:
        return None
    return trial, fit, replace(extra, size=np.concatenate(trial.sizes))


def _left(trial: Trial, fit: LeastSquaresFit) -> Extra | None:
    """The step that all sizes of a trial still have to go by its fit, with its covariances."""
    inverse = np.linalg.inv(trial.maps(trial.candidates, trial.sizes))[:, None]
    slopes = inverse @ np.moveaxis(trial.tangents(), -1, 1)
    columns = [np.moveaxis(of_log, 0, -1) for of_log in slopes]
    return solve_extra(Linearised.of(fit, columns), slice(0, columns[0].shape[-1]))


def _corrected(trial: Trial, read: LeastSquaresFit, terms: Sequence[Term]) -> LeastSquaresFit:
    """The fit of the logs with all faults of a trial corrected."""
    return with_maps(read, trial.maps(trial.candidates, trial.sizes), terms)


def with_maps(read: LeastSquaresFit, maps: Array, terms: Sequence[Term]) -> LeastSquaresFit:
    """The fit of logs whose columns are mapped.

    Args:
        read: the fit of the logs as they are read.
        maps: M of each log, shape (logs, 40, 40).
        terms: of the fit.
    """
    first, data = 0, []
    for statistics, equations in read.data.system.data:
        own = maps[first : first + len(statistics.logs)]
        data.append((statistics.mapped(own), equations))
        first += len(statistics.logs)
    return weighted_least_squares(System.of(data), terms)


def _together(
    now: Trial,
    found: list[Explanation],
    candidates: Sequence[Candidate],
    fit: LeastSquaresFit,
    terms: Sequence[Term],
) -> tuple[Trial, LeastSquaresFit, list[Explanation]]:
    """Several faults as they are beside each other.

    What explains the logs as well as the first while a second is not yet corrected need not do so
    after; each is held against its equivalents again.
    """
    by_name = {candidate[0].name: candidate for candidate in candidates}
    for number, each in enumerate(found):
        name, others = each.faults[0].name, {c[0].name for c in now.candidates}
        alike = {other for names in _ALIKE if name in names for other in names}
        alike |= {other for other, c in by_name.items() if c[0].code in each.equivalent}
        trials = [now]
        for rival in sorted(alike & set(by_name) - others):
            chosen, sizes = list(now.candidates), list(now.sizes)
            chosen[number], sizes[number] = by_name[rival], np.zeros(by_name[rival][0].d)
            trial = stepped(now.at(chosen, sizes))
            trials += [] if trial is None else [trial]
        now = min(trials, key=lambda trial: trial.cost)
        near = [t.candidates[number][0] for t in trials if t.cost < now.cost + CLEAR_LEAD]
        fault = now.candidates[number][0]
        codes = dict.fromkeys(other.code for other in near if other.code != fault.code)
        found[number] = replace(each, faults=tuple(now.candidates[number]), equivalent=tuple(codes))
    checked = _checked(now, fit, terms)
    if checked is None:
        return now, _corrected(now, fit, terms), found
    now, fit_now, extra = checked
    ends = np.cumsum(now.widths)
    refined = [
        replace(each, size=size, half_width=extra.half_widths[end - len(size) : end])
        for each, size, end in zip(found, now.sizes, ends, strict=True)
    ]
    return now, fit_now, refined
