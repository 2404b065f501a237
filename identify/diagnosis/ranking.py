"""Which continuous causes explain a log, ranked by what they gain in likelihood.

A hypothesis that the score test does not dismiss is taken to the size that fits best by Gauss and
Newton, with the statistics mapped and the weights found again at each step: where the misfit is
large, the scatter at the fit as read is made of it, and says less than that at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array
from identify.diagnosis.facts import LogFacts
from identify.diagnosis.hypotheses import HYPOTHESES, Hypothesis
from identify.diagnosis.score_test import (
    Extra,
    Linearised,
    ScoreTest,
    require_wide,
    score_tests,
    solve_extra,
)
from identify.errors import ProblemError
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.terms import Term
from identify.regressors import SCAN_LAYOUT, WIDE_LAYOUT, Statistics, System
from identify.regressors.wrench import DDW, DW, W
from identify.signals.transform import BAND_EDGES_HZ

MOST_CAUSES = 3
"""Causes looked for one after the other: a fourth would explain what the first three left."""

SCREEN = 0.02
"""p of a score test from which on a hypothesis is not taken further: at it the scatter is that of a
misfit, so the test at the end decides."""

ALARM = 1e-4
"""p of the test at the end, of nine hypotheses that are no more independent than four."""

CLEAR_LEAD = 20.0
"""Twice the log-likelihood by which one cause has to lead another to be named alone."""

_STEPS = 6
_TRIED, _LEAST_SHARE = 2, 0.5
"""Steps after which a hypothesis with less than this share of the best one's gain is dropped."""

_MULTIPLE, _MULTIPLES, _FINE = 1.3, 12, 0.02
"""First factor of a size whose likelihood is compared, most of them, and the last but for one."""

_SETTLED = 0.1
"""Standard errors of a step after which no other is taken."""

_ALIKE = (
    ("delay", "sensor_lag"),
    ("clock_rate", "gravity_magnitude"),
    ("kinematic_offset", "torque_gain"),
)
"""Hypotheses that a third cause, not yet corrected, may make look like each other."""

_ALIKE_LEAD = 0.03
"""Share of a gain by which one of those has to lead the other: what a map of low order leaves of a
large delay or lag grows with it."""

_FARTHEST_IN_MATTERS = 30.0
"""Largest size, in those that matter (.3 s, 60°): beyond it, what is wrong is not continuous."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One continuous cause, at the size that fits best.

    Attributes:
        hypothesis: which; its `code` is that of the finding.
        size: η [SI], shape (d,).
        half_width: of the 95 % interval of each component [SI], shape (d,).
        p_value: that it is zero.
        gain: twice the log-likelihood it gains, its parameters paid for.
        equivalent: codes of other causes that explain the log as well; where there is one, none is
            to be corrected.
        maps: M of all wide columns for each log, shape (40, 40) each.
        remedy: the line of the schema, or the action.
        undecided: what else may be wrong that looks just the same; where there is something, it is
            not to be corrected either.
    """

    hypothesis: Hypothesis
    size: Array
    half_width: Array
    p_value: float
    gain: float
    equivalent: tuple[str, ...]
    maps: tuple[Array, ...]
    remedy: str
    undecided: str = ""

    @property
    def code(self) -> str:
        """Of the finding."""
        return self.hypothesis.code

    @property
    def interval(self) -> tuple[Array, Array]:
        """95 % bounds of each component [SI]."""
        return self.size - self.half_width, self.size + self.half_width


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All continuous causes of a log, in the order in which they were found.

    Attributes:
        causes: at most three.
        tests: of the log as read, one for each hypothesis that makes sense for it.
        statistics: of the logs with the causes corrected, wide, in the order of the fit's data.
        fit: least squares of those; the fit as given where there is no cause.
    """

    causes: tuple[Cause, ...]
    tests: tuple[ScoreTest, ...]
    statistics: tuple[Statistics, ...]
    fit: LeastSquaresFit


def causes(
    fit: LeastSquaresFit,
    facts: Sequence[LogFacts],
    terms: Sequence[Term] = (),
    hypotheses: Sequence[Hypothesis] = HYPOTHESES,
    *,
    exact: bool = False,
) -> Diagnosis:
    """Find the continuous causes of what a fit leaves.

    Args:
        fit: of wide statistics.
        facts: of each log, in the order of the fit's data.
        terms: of the fit; its equalities hold for the corrected ones too.
        hypotheses: which to look for.
        exact: what the fit leaves is rounding, which has no cause: there are the tests alone.

    Raises:
        ProblemError: the statistics are not wide, or facts are missing.
    """
    require_wide(fit, len(facts))
    tests = score_tests(fit, facts, hypotheses)
    now = _Corrected(fit, tuple(facts), tuple(terms), fit.data.system)
    found: list[Cause] = []
    for _ in range(0 if exact else MOST_CAUSES):
        again = tests if not found else score_tests(now.fit, facts, hypotheses)
        likely = sorted(again, key=lambda test: test.p_value)
        open_ = [test.hypothesis for test in likely if test.p_value < SCREEN]
        named = {cause.hypothesis.name for cause in found}
        step = _likeliest(now, [h for h in open_ if h.name not in named])
        if step is None:
            break
        now, cause = step
        found.append(cause)
    if len(found) > 1:
        now, found = _together(now, found)
    statistics = tuple(statistics for statistics, _ in now.fit.data.system.data)
    return Diagnosis(tuple(found), tests, statistics, now.fit)


@dataclass(frozen=True, slots=True)
class _Corrected:
    """A fit with some causes corrected.

    Attributes:
        fit: least squares of the corrected statistics.
        facts: of each log.
        terms: whose equalities hold.
        read: the system as read.
        chosen: causes and their sizes.
    """

    fit: LeastSquaresFit
    facts: tuple[LogFacts, ...]
    terms: tuple[Term, ...]
    read: System
    chosen: tuple[tuple[Hypothesis, Array], ...] = ()

    def maps(self, chosen: Sequence[tuple[Hypothesis, Array]] | None = None) -> Array:
        """M of all causes for each log, shape (logs, 40, 40)."""
        chosen = self.chosen if chosen is None else chosen
        whole = np.tile(np.eye(len(WIDE_LAYOUT.columns)), (len(self.facts), 1, 1))
        for hypothesis, size in chosen:
            whole = whole @ np.array([hypothesis.map_of(size, of_log) for of_log in self.facts])
        return whole

    def at(self, chosen: Sequence[tuple[Hypothesis, Array]]) -> _Corrected:
        """The same with other causes, or sizes of them: statistics mapped, and fitted."""
        maps, first, data = self.maps(chosen), 0, []
        for statistics, equations in self.read.data:
            own = maps[first : first + len(statistics.logs)]
            data.append((statistics.mapped(own), equations))
            first += len(statistics.logs)
        fit = weighted_least_squares(System.of(data), self.terms)
        return replace(self, fit=fit, chosen=tuple(chosen))

    def tangents(self) -> list[Array]:
        """∂M/∂η of all sizes in the columns as corrected, for each log, shape (40, 19, Σd)."""
        width, columns = len(SCAN_LAYOUT.columns), []
        inverse = np.linalg.inv(self.maps())
        for number, (hypothesis, size) in enumerate(self.chosen):
            for step in 1e-4 * hypothesis.matters * np.eye(len(size)):
                ends = []
                for end in (size + step, size - step):
                    moved = list(self.chosen)
                    moved[number] = hypothesis, end
                    ends.append(self.maps(moved))
                slope = (ends[0] - ends[1]) / (2.0 * step.sum())
                columns.append((inverse @ slope)[..., :width])
        return list(np.stack(columns, axis=-1))

    def extra(self) -> Extra | None:
        """The step that all sizes still have to go, with its covariances."""
        tangents = self.tangents()
        whole = Linearised.of(self.fit, tangents)
        return solve_extra(whole, slice(0, tangents[0].shape[-1]))

    @property
    def cost(self) -> float:
        """Minus twice the log-likelihood of the wrench as it was read, sizes paid for."""
        system, weights = self.fit.data.system, self.fit.weights
        maps, total, samples = self.maps(), 0.0, 0.0
        moments = system.residual_moments(self.fit.x, weights)
        for (_, g), group, weight, moment in zip(
            system.members, system.groups, weights, moments, strict=True
        ):
            n = group.effective_samples
            samples += n
            total += float(np.sum(weight * moment)) - n * float(np.linalg.slogdet(weight)[1])
            total -= n * _log_power(maps[0], _frequency(g))
        count = sum(len(size) for _, size in self.chosen)
        return total + count * float(np.log(6.0 * samples))


def _frequency(group: int) -> float:
    """Angular frequency in the middle of a group's band [rad/s]."""
    if group == 0:
        return 0.0
    low, high = BAND_EDGES_HZ[group - 1 : group + 1]
    return np.pi * (low + (high if np.isfinite(high) else low))


def _log_power(M: Array, omega: float) -> float:
    """log |det C|² of the map of the wrench at a frequency: what it makes of its noise."""
    C = M[W, W] + 1j * omega * M[DW, W] - omega**2 * M[DDW, W]
    return 2.0 * float(np.linalg.slogdet(C)[1])


def _likeliest(
    now: _Corrected, hypotheses: Sequence[Hypothesis]
) -> tuple[_Corrected, Cause] | None:
    """The cause that gains most, with those that gain hardly less as its equivalents."""
    before = now.cost
    candidates: list[tuple[float, _Corrected, Extra]] = []
    for hypothesis in hypotheses:
        most = max((gain for gain, *_ in candidates), default=0.0)
        settled = _settled(now, hypothesis, before - _LEAST_SHARE * most)
        if settled is None:
            continue
        after, extra = settled
        d = len(hypothesis.parameters)
        size = after.chosen[-1][1]
        own = replace(
            extra,
            size=size,
            by_weights=extra.by_weights[-d:, -d:],
            by_scatter=extra.by_scatter[-d:, -d:],
        )
        gain = before - after.cost
        if gain > 0.0 and own.p_value < ALARM:
            candidates.append((gain, after, own))
    if not candidates:
        return None
    gain, best, own = max(candidates, key=lambda candidate: candidate[0])
    hypothesis, size = best.chosen[-1]
    if np.linalg.norm(size) < hypothesis.floor:
        return None
    near = [
        rival
        for g, after, _ in candidates
        for rival in [after.chosen[-1][0]]
        if gain - g < _clear_lead(hypothesis, rival, gain)
    ]
    codes = dict.fromkeys(h.code for h in near if h.code != hypothesis.code)
    return best, Cause(
        hypothesis=hypothesis,
        size=size,
        half_width=own.half_widths,
        p_value=own.p_value,
        gain=gain,
        equivalent=tuple(codes),
        maps=tuple(hypothesis.map_of(size, of_log) for of_log in now.facts),
        remedy=hypothesis.remedy(size, now.facts[0]),
        undecided=hypothesis.undecided(now.facts[0]),
    )


def _clear_lead(first: Hypothesis, other: Hypothesis, gain: float) -> float:
    """By how much a hypothesis has to lead another to be named alone."""
    alike = any({first.name, other.name} <= set(names) for names in _ALIKE)
    return max(CLEAR_LEAD, _ALIKE_LEAD * gain) if alike else CLEAR_LEAD


def _settled(
    now: _Corrected, hypothesis: Hypothesis, bound: float
) -> tuple[_Corrected, Extra] | None:
    """A hypothesis at the size that fits best, beside those chosen before at theirs."""
    try:
        start = replace(
            now, chosen=(*now.chosen, (hypothesis, np.zeros(len(hypothesis.parameters))))
        )
        stepped = _stepped(start, bound)
        if stepped is None or not hypothesis.amplifies:
            return stepped
        return _likeliest_size(*stepped)
    except ProblemError:  # so corrected, the log has no fit
        return None


def _likeliest_size(now: _Corrected, extra: Extra) -> tuple[_Corrected, Extra]:
    """The last hypothesis at the likeliest multiple of its size.

    Steps by the residual fall short where a correction makes noise larger; the likelihood of the
    wrench as it was read counts that.
    """
    *before, (hypothesis, size) = now.chosen
    best, factor = now, _MULTIPLE
    for _ in range(_MULTIPLES):
        size = factor * best.chosen[-1][1]
        after = best.at((*before, (hypothesis, size)))
        if after.cost < best.cost:
            best = after
        elif factor == _MULTIPLE and best is now:
            factor = 1.0 / _MULTIPLE
        elif abs(factor - 1.0) > _FINE:
            factor = factor**-0.5
        else:
            break
    if best is now:
        return now, extra
    return best, best.extra() or extra


def _stepped(now: _Corrected, bound: float = np.inf) -> tuple[_Corrected, Extra] | None:
    """Gauss-Newton steps of all sizes together until they are small.

    None where there is no way on, or the cost after a few of them is still above a bound.
    """
    extra = now.extra()
    for step in range(_STEPS):
        if extra is None:
            return None
        small = np.abs(extra.size) < _SETTLED * np.sqrt(np.diag(extra.covariance))
        if small.all():
            break
        chosen, start = [], 0
        for hypothesis, size in now.chosen:
            moved = size + extra.size[start : start + len(size)]
            if np.abs(moved).max() / hypothesis.matters > _FARTHEST_IN_MATTERS:
                return None
            chosen.append((hypothesis, moved))
            start += len(size)
        now = now.at(chosen)
        if step >= _TRIED - 1 and now.cost > bound:
            return None
        extra = now.extra()
    return None if extra is None else (now, extra)


def _together(now: _Corrected, found: list[Cause]) -> tuple[_Corrected, list[Cause]]:
    """Several causes as they are beside each other.

    What explains the log as well as the first while a second is not yet corrected need not do so
    after; each is held against its equivalents again.
    """
    for number, cause in enumerate(found):
        others = {other.hypothesis.name for other in found} - {cause.hypothesis.name}
        rivals = [h for h in _rivals(cause) if h.name not in others]
        ways = [now, *(way for h in rivals if (way := _exchanged(now, number, h)) is not None)]
        best = min(ways, key=lambda way: way.cost)
        near = [way.chosen[number][0] for way in ways if way.cost < best.cost + CLEAR_LEAD]
        chosen = best.chosen[number][0]
        codes = dict.fromkeys(h.code for h in near if h.code != chosen.code)
        found[number] = replace(cause, hypothesis=chosen, equivalent=tuple(codes))
        now = best
    extra = now.extra()
    if extra is None:
        return now, found
    half_widths, start, refined = extra.half_widths, 0, []
    for cause, (hypothesis, size) in zip(found, now.chosen, strict=True):
        own = slice(start, start + len(size))
        start = own.stop
        maps = tuple(hypothesis.map_of(size, of_log) for of_log in now.facts)
        remedy = hypothesis.remedy(size, now.facts[0])
        refined.append(
            replace(
                cause,
                size=size,
                half_width=half_widths[own],
                maps=maps,
                remedy=remedy,
                undecided=hypothesis.undecided(now.facts[0]),
            )
        )
    return now, refined


def _rivals(cause: Cause) -> list[Hypothesis]:
    """What may be taken for a cause: its equivalents, and those of its kind."""
    alike = {name for names in _ALIKE if cause.hypothesis.name in names for name in names}
    alike |= {h.name for h in HYPOTHESES if h.code in cause.equivalent}
    return [h for h in HYPOTHESES if h.name in alike - {cause.hypothesis.name}]


def _exchanged(now: _Corrected, number: int, hypothesis: Hypothesis) -> _Corrected | None:
    """The same with another hypothesis in place of one, all at the sizes that fit best."""
    chosen = list(now.chosen)
    chosen[number] = hypothesis, np.zeros(len(hypothesis.parameters))
    try:
        settled = _stepped(now.at(chosen))
    except ProblemError:  # so corrected, the log has no fit
        return None
    return None if settled is None else settled[0]
