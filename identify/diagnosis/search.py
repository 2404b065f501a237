"""Faults with sizes that explain logs, each at the size that fits best, by the likelihood `misfit`.

Faults are looked for one after the other. The likelihood is minimised over their sizes η by Gauss
and Newton: at weights W and a body φ the residual r = z M(η) (B0 − B φ) is linear in φ, and nearly
so in η, and both step together. A score test of the scatter over blocks of time decides whether
what leads in likelihood is there at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Phi
from identify.diagnosis.facts import LogFacts
from identify.diagnosis.fault import Fault
from identify.diagnosis.faults import faults_of
from identify.diagnosis.faults.wrench import CALIBRATION
from identify.diagnosis.misfit import BandRows, Misfit, clear_bands, inverse_information, misfit
from identify.diagnosis.ranking import CLEAR_LEAD, Explanation
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
from identify.regressors import FEATURE_TENSOR, SCAN_LAYOUT, WIDE_LAYOUT, System
from identify.regressors.wrench import DDW, DW, W
from identify.signals.transform import band_middle

MOST_FAULTS = 3
"""Faults looked for one after the other: a fourth would explain what the first three left."""

SCREEN = 0.02
"""p of a score test from which on a fault is not taken further: at it the scatter is that of a
misfit, so the test at the end decides."""

ALARM = 1e-4
"""p of the test at the end, of nine faults that are no more independent than four."""

_STEPS, _HALVINGS = 8, 4
_TRIED, _LEAST_SHARE = 2, 0.5
"""Steps after which a fault with less than this share of the best one's gain is dropped."""

_SETTLED = 0.1
"""Standard errors of a step after which no other is taken."""

_UNOBSERVABLE = 1e-6
"""Share of the information on a direction of η that body and offset have to leave."""

_AMPLIFIED = (0.3, 8.0)
"""Least and largest multiple of a size whose likelihood is compared, where steps fall short."""

_ALIKE = (
    ("delay", "sensor_lag"),
    ("clock_rate", "gravity_magnitude"),
    ("kinematic_offset", "torque_gain"),
)
"""Faults that a third one, not yet corrected, may make look like each other."""

_ALIKE_LEAD = 0.03
"""Share of a gain by which one of those has to lead the other: what a map of low order leaves of a
large delay or lag grows with it."""

_FARTHEST_IN_MATTERS = 30.0
"""Largest size, in those that matter (.3 s, 60°): beyond it, what is wrong is not continuous."""

_WRENCH = slice(W.start - 1, W.stop - 1)
"""Columns of the wrench where the constant is left out."""

Candidate = Sequence[Fault]
"""One fault as it is of each log."""


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
    tests = score_tests(fit, candidates)
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
    if any(test.p_value < SCREEN for test in tests):
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
    candidate = next(c for c in faults_of(facts) if c[0].name == CALIBRATION)
    now = Trial.of(fit, facts)
    if not now.measured:
        return None
    settled = _settled(now, candidate)
    if settled is None or now.cost - settled.cost < CLEAR_LEAD:
        return None
    return Explanation(now.cost - settled.cost, settled.phi, tuple(candidate), settled.sizes[-1])


@dataclass(frozen=True, slots=True)
class Trial:
    """Logs with some faults corrected, and the bodies that explain them so.

    Attributes:
        rows: of each log, extended.
        bodies: numbers of the logs of each body.
        candidates: the faults that are corrected.
        sizes: of each.
        misfits: of each body.
        directions: of η that the logs tell.
    """

    rows: tuple[BandRows, ...]
    bodies: tuple[tuple[int, ...], ...]
    candidates: tuple[Candidate, ...] = ()
    sizes: tuple[Array, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    directions: int = 0

    @classmethod
    def of(cls, fit: LeastSquaresFit, facts: Sequence[LogFacts]) -> Trial:
        """Of the logs of a fit; logs with a payload and those without it are of two bodies."""
        rows: list[BandRows] = []
        bodies: list[tuple[int, ...]] = []
        for statistics, _ in fit.data.system.data:
            first = len(rows)
            for log in range(len(statistics.logs)):
                bands = clear_bands(statistics, facts[len(rows)].gravity, log)
                rows.append(BandRows.of(statistics, bands, log))
            bodies.append(tuple(range(first, len(rows))))
        now = cls(tuple(rows), tuple(bodies))
        return now.at((), ()) if now.measured else now

    def at(self, candidates: Sequence[Candidate], sizes: Sequence[Array]) -> Trial:
        """The same logs with other faults corrected, or sizes of them."""
        maps = self.maps(candidates, sizes)
        mapped = [
            rows.mapped(M[:, : len(SCAN_LAYOUT.columns)])
            for rows, M in zip(self.rows, maps, strict=True)
        ]
        misfits = tuple(misfit([mapped[log] for log in of_body]) for of_body in self.bodies)
        directions = sum(len(size) for size in sizes)
        return replace(
            self,
            candidates=tuple(candidates),
            sizes=tuple(sizes),
            misfits=misfits,
            directions=directions,
        )

    def maps(self, candidates: Sequence[Candidate], sizes: Sequence[Array]) -> Array:
        """M of all faults for each log, shape (logs, 40, 40)."""
        whole = np.tile(np.eye(len(WIDE_LAYOUT.columns)), (len(self.rows), 1, 1))
        for candidate, size in zip(candidates, sizes, strict=True):
            whole = whole @ np.array([fault.map_at(size) for fault in candidate])
        return whole

    @property
    def measured(self) -> bool:
        """Whether every body has a wrench to be explained."""
        return all(
            any(len(self.rows[log].samples) and self.rows[log].measures_wrench for log in of_body)
            for of_body in self.bodies
        )

    @property
    def phi(self) -> Phi:
        """The first body."""
        return self.misfits[0].phi

    @property
    def cost(self) -> float:
        """Minus twice the log-likelihood of the wrench as it was read, sizes paid for."""
        total, samples = sum(each.cost for each in self.misfits), 0.0
        for rows, M in zip(self.rows, self.maps(self.candidates, self.sizes), strict=True):
            samples += float(rows.samples.sum())
            for band, n in zip(rows.bands, rows.samples, strict=True):
                total -= float(n) * _log_power(M, band_middle(band))
        return total + self.directions * float(np.log(6.0 * max(samples, 1.0)))

    def tangents(self) -> Array:
        """∂M/∂η of all sizes, of the columns as read, shape (logs, 40, 19, Σd)."""
        width, columns = len(SCAN_LAYOUT.columns), []
        for number, (candidate, size) in enumerate(zip(self.candidates, self.sizes, strict=True)):
            sizes = candidate[0].sizes
            assert sizes is not None
            for step in 1e-4 * sizes.matters * np.eye(len(size)):
                ends = []
                for end in (size + step, size - step):
                    moved = [*self.sizes[:number], end, *self.sizes[number + 1 :]]
                    ends.append(self.maps(self.candidates, moved))
                columns.append(((ends[0] - ends[1]) / (2.0 * step.sum()))[..., :width])
        return np.stack(columns, axis=-1)

    def step(self) -> tuple[Array, Array, int]:
        """The Gauss-Newton step of all sizes, its covariance, and how many directions are told."""
        maps, tangents = self.maps(self.candidates, self.sizes), self.tangents()
        d = tangents.shape[-1]
        S, s, whole = np.zeros((d, d)), np.zeros(d), np.zeros(d)
        for of_body, found in zip(self.bodies, self.misfits, strict=True):
            C = np.concatenate((-FEATURE_TENSOR @ found.phi, np.eye(6)))
            N, g, first = np.zeros((10 + d, 10 + d)), np.zeros(10 + d), 0
            for log in of_body:
                Z = self.rows[log].factors
                weights = found.weights[first : first + len(Z)]
                first += len(Z)
                base = Z @ maps[log][1 : 1 + Z.shape[2], 1 : len(SCAN_LAYOUT.columns)]
                r = base @ C
                # What η does to the wrench is worked out with the predicted one: the noise of the
                # measured one is that of the residual, and a smaller wrench explains no more.
                predicted = Z.copy()
                predicted[..., _WRENCH] -= r
                of_body_part = -np.einsum("bkf,fmp->bkmp", base[..., :12], FEATURE_TENSOR)
                slope = np.einsum("jfd,fm->jmd", tangents[log][1 : 1 + Z.shape[2], 1:], C)
                of_sizes = np.einsum("bkj,jmd->bkmd", predicted, slope)
                J = np.concatenate((of_body_part, of_sizes), axis=-1)
                weighted = np.einsum("bmn,bknp->bkmp", weights, J)
                N += np.tensordot(J, weighted, axes=((0, 1, 2), (0, 1, 2)))
                g += np.tensordot(weighted, r, axes=((0, 1, 2), (0, 1, 2)))
            to_phi = inverse_information(N[:10, :10]) @ N[:10, 10:]
            S += N[10:, 10:] - N[10:, :10] @ to_phi
            s += g[10:] - to_phi.T @ g[:10]
            whole += np.diag(N)[10:]
        scale = np.sqrt(np.maximum(whole, np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(S / np.outer(scale, scale))
        told = values > _UNOBSERVABLE
        along = vectors[:, told] / scale[:, None]
        covariance = (along / values[told]) @ along.T
        return -covariance @ s, covariance, int(told.sum())


def _log_power(M: Array, omega: float) -> float:
    """log |det C|² of the map of the wrench at a frequency: what it makes of its noise."""
    C = M[W, W] + 1j * omega * M[DW, W] - omega**2 * M[DDW, W]
    return 2.0 * float(np.linalg.slogdet(C)[1])


def _settled(before: Trial, candidate: Candidate, bound: float = np.inf) -> Trial | None:
    """A fault at the size that fits best, beside those corrected before at theirs."""
    from scipy.optimize import minimize_scalar  # kept out of a fit that finds nothing

    fault = candidate[0]
    start = before.at((*before.candidates, candidate), (*before.sizes, np.zeros(fault.d)))
    now = _stepped(start, bound)
    if now is None or not fault.amplifies:
        return now

    # Steps by the residual fall short where a correction makes noise larger; the likelihood of the
    # wrench as it was read counts that.
    def at(factor: float) -> Trial:
        return now.at(now.candidates, (*now.sizes[:-1], factor * now.sizes[-1]))

    found = minimize_scalar(
        lambda factor: at(factor).cost, bounds=_AMPLIFIED, method="bounded", options={"xatol": 0.02}
    )
    return min((now, at(float(found.x))), key=lambda trial: trial.cost)


def _stepped(now: Trial, bound: float = np.inf) -> Trial | None:
    """Steps of all sizes together until they are small or gain nothing.

    None where there is no way on, or the cost after a few of them is still above a bound.
    """
    for number in range(_STEPS):
        try:
            step, covariance, directions = now.step()
        except np.linalg.LinAlgError:
            return None
        partial = any(c[0].name == CALIBRATION for c in now.candidates)
        if not directions or (directions < len(step) and not partial):
            return None
        now = replace(now, directions=directions)
        after = None
        for _ in range(_HALVINGS):
            sizes = np.split(np.concatenate(now.sizes) + step, np.cumsum(_widths(now))[:-1])
            if any(
                np.abs(size).max() / c[0].sizes.matters > _FARTHEST_IN_MATTERS
                for c, size in zip(now.candidates, sizes, strict=True)
                if c[0].sizes is not None
            ):
                return None
            trial = replace(now.at(now.candidates, sizes), directions=directions)
            if trial.cost < now.cost:
                after = trial
                break
            step = 0.5 * step
        if after is None:
            break
        now = after
        if number >= _TRIED - 1 and now.cost > bound:
            return None
        if (np.abs(step) <= _SETTLED * np.sqrt(np.diag(covariance))).all():
            break
    return now


def _widths(now: Trial) -> list[int]:
    return [len(size) for size in now.sizes]


def _likeliest(
    before: Trial, candidates: Sequence[Candidate], fit: LeastSquaresFit, terms: Sequence[Term]
) -> tuple[Trial, LeastSquaresFit, Explanation] | None:
    """The fault that gains most and is there, with those that gain hardly less as equivalents."""
    trials: list[tuple[float, Trial]] = []
    for candidate in candidates:
        most = max((gain for gain, _ in trials), default=0.0)
        after = _settled(before, candidate, before.cost - _LEAST_SHARE * most)
        if after is not None and before.cost - after.cost > 0.0:
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
        if np.linalg.norm(size) < fault.sizes.floor:
            return None
        rivals = [
            other.candidates[-1][0]
            for g, other in trials
            if gain - g < _lead(fault, other.candidates[-1][0], gain)
        ]
        codes = dict.fromkeys(each.code for each in rivals if each.code != fault.code)
        half = extra.half_widths[-len(size) :]
        found = Explanation(
            gain, now.phi, tuple(now.candidates[-1]), size, half, p_value, tuple(codes)
        )
        return now, fit_now, found
    return None


def _lead(first: Fault, other: Fault, gain: float) -> float:
    """By how much a fault has to lead another to be named alone."""
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
        for _ in range(_STEPS):
            fit = _corrected(trial, read, terms)
            extra = _left(trial, fit)
            if extra is None:
                return None
            small = np.abs(extra.size) < _SETTLED * np.sqrt(np.diag(extra.covariance))
            if small.all() or any(c[0].amplifies for c in trial.candidates):
                break
            moved = np.concatenate(trial.sizes) + extra.size
            trial = trial.at(trial.candidates, np.split(moved, np.cumsum(_widths(trial))[:-1]))
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
    maps, first, data = trial.maps(trial.candidates, trial.sizes), 0, []
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
            trial = _stepped(now.at(chosen, sizes))
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
    ends = np.cumsum(_widths(now))
    refined = [
        replace(each, size=size, half_width=extra.half_widths[end - len(size) : end])
        for each, size, end in zip(found, now.sizes, ends, strict=True)
    ]
    return now, fit_now, refined
