"""Whether all logs, and all parts of a log, are of one body.

Parts are fitted each by itself, with weights of its own: pooled, a change would be hidden in the
scatter it makes. A log is halved first: a change anywhere in it tells its halves apart, and only
where they may differ are other times looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Flags, Indices, Phi
from identify.errors import ProblemError
from identify.estimation.accelerometer_place import PlaceErrors
from identify.estimation.intervals import covariance_of, degrees_of_freedom
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.posterior import posterior_of
from identify.estimation.priors import NoPrior
from identify.estimation.terms import Term
from identify.regressors import Equations, Statistics, System
from identify.regressors.padded_system import coefficients
from identify.relevance import BODY_CHANGE_SHARE
from identify.signals.prepared import ImuCalibration
from identify.significance import BODY_CHANGE_DOUBT_P, BODY_CHANGE_P, PARTS_DIFFER_P

_MOST_PLACES = 8
"""Times in a log that are fitted: a change between two of them shows at both."""

_LEAST_SHARE = 0.2
"""Share of a log's blocks on either side of those times, at least."""

_FEWEST_BLOCKS = 2
"""Blocks in each part."""

_LOGS_AT_ONCE = 8
"""Logs whose parts are fitted in step: their statistics are held some three times over."""

_FITTED_APART = 12
"""Logs that are fitted apart from all others at the most, those that look farthest away."""

_NOTHING = 1e-9
"""Share of the information below which a direction is not compared there."""


@dataclass(frozen=True, slots=True)
class Change:
    """Two parts of the data that are of different bodies.

    Attributes:
        code: "bodies_differ" where a log stands apart, "body_changed" where it is a time in a log.
        log: which log.
        block: first block of the second part; zero for a whole log.
        at: share of the log's rows before it; the likeliest of those that were tried.
        between: as far as it is known: the shares that were tried next to it, or the log's ends,
            zero and one.
        p_value: that both are one body, every place looked at counted.
        first, second: parameters of the log's parts before and from the block, or of the other
            logs and of this one, shape (10,).
        first_errors, second_errors: standard errors, shape (10,).
    """

    code: str
    log: int
    block: int
    at: float
    between: tuple[float, float]
    p_value: float
    first: Phi
    second: Phi
    first_errors: Phi
    second_errors: Phi

    @property
    def sure(self) -> bool:
        """Whether it is there; else it may be chance."""
        return self.p_value < BODY_CHANGE_P


def changed(
    fit: LeastSquaresFit, terms: Sequence[Term] = (), imus: Sequence[ImuCalibration] = ()
) -> tuple[Change, ...]:
    """Logs that are of another body than the others, or times when the body changes in a log.

    Args:
        fit: of one body; of others there is nothing to compare, and nothing is found.
        terms: whose equalities hold for each part.
        imus: calibration of each log: what was found of the accelerometer has an error, which
            tells the bodies of two logs apart, but not the parts of one.

    Returns:
        The likeliest first, those that are not sure among them; a log whose body surely changes is
        not compared with the others.
    """
    if len(fit.data.space) != 10 or len(fit.data.system.data) != 1:
        return ()
    statistics, equations = fit.data.system.data[0]
    parts = _Parts(statistics.fit_columns_only(), equations, tuple(terms), fit.x, tuple(imus))
    logs = range(len(statistics.logs))
    within = _within(parts, logs)
    mixed = {change.log for change in within if change.sure}
    apart = _apart(parts, [log for log in logs if log not in mixed])
    return tuple(sorted((*within, *apart), key=lambda change: change.p_value))


@dataclass(frozen=True, slots=True)
class _Parts:
    """The data of a fit, to be fitted in parts."""

    statistics: Statistics
    equations: Equations
    terms: tuple[Term, ...]
    whole: Phi
    imus: tuple[ImuCalibration, ...]

    def fit(self, cells: Flags) -> LeastSquaresFit | None:
        """Least squares of some cells; None where they do not tell the body."""
        part = self.statistics.subset(cells)
        logs = np.unique(part.log)
        if not len(logs):
            return None
        part = replace(
            part,
            log=np.searchsorted(logs, part.log),
            noise=part.noise[logs],
            logs=tuple(part.logs[log] for log in logs.tolist()),
        )
        system = System.of([(part, self._equations(logs))])
        try:
            return weighted_least_squares(system, self.terms, self.whole)
        except ProblemError:
            return None

    def _equations(self, logs: Indices) -> Equations:
        bodies = getattr(self.equations, "bodies", ())
        if len(bodies) < 2:
            return self.equations
        return replace(self.equations, bodies=tuple(bodies[log] for log in logs.tolist()))  # type: ignore[type-var]

    def farthest(self, logs: Sequence[int]) -> list[int]:
        """Those of some logs that may be the farthest from all others together.

        Of many logs only so many are fitted apart. Which, says the score of each log at the
        estimate of the others, all with the weights of the fit of all.
        """
        fit = None
        if len(logs) > _FITTED_APART:
            fit = self.fit(np.isin(self.statistics.log, logs))
        if fit is None:
            return list(logs)
        into = np.zeros((11, fit.identifiability.identifiable.shape[1] + 1))
        into[:-1, :-1] = fit.scaling.to_x @ fit.identifiability.identifiable
        into[:-1, -1], into[-1, -1] = -fit.x, 1.0
        of_logs = into.T @ _moments_of_logs(fit) @ into
        H, s = of_logs[:, :-1, :-1], of_logs[:, :-1, -1:]
        others = np.linalg.pinv(H.sum(axis=0) - H, _NOTHING, hermitian=True)
        away = s - H @ (others @ (s.sum(axis=0) - s))
        spread = np.linalg.pinv(H + H @ others @ H, _NOTHING, hermitian=True)
        distance = (away.swapaxes(-1, -2) @ spread @ away)[:, 0, 0]
        return [logs[k] for k in np.argsort(-distance, kind="stable")[:_FITTED_APART].tolist()]

    def compared(
        self, pairs: Sequence[tuple[Flags, Flags]], *, logs: bool = False
    ) -> list[_Pair | None]:
        """Both parts of each pair fitted, and the test that they are one body.

        Args:
            pairs: cells of the two parts.
            logs: whether the parts are whole logs.
        """
        tested = list[_Pair | None]()
        for pair in pairs:
            one, other = map(self.fit, pair)
            tested.append(self._tested(pair, (one, other), logs=logs) if one and other else None)
        return tested

    def _tested(
        self,
        cells: tuple[Flags, Flags],
        fits: tuple[LeastSquaresFit, LeastSquaresFit],
        *,
        logs: bool,
    ) -> _Pair:
        covariances = [covariance_of(fit) for fit in fits]
        if logs and self.imus:
            places = map(self._of_places, cells, fits)
            covariances = [one + of for one, of in zip(covariances, places, strict=True)]
        return _Pair.of(*fits, covariances)

    def _of_places(self, cells: Flags, fit: LeastSquaresFit) -> Array:
        """What errors of what was found of accelerometers make of the body of some cells."""
        logs = np.unique(self.statistics.log[cells]).tolist()
        found = PlaceErrors.of([self.imus[log] for log in logs])
        if not found.maps:
            return np.zeros((10, 10))
        of_x, _ = found.effects(posterior_of(fit, NoPrior()))
        return of_x.T @ of_x


@dataclass(frozen=True, slots=True)
class _Pair:
    log_p: float
    x: tuple[Phi, Phi]
    errors: tuple[Phi, Phi]

    @classmethod
    def of(
        cls, first: LeastSquaresFit, second: LeastSquaresFit, covariances: Sequence[Array]
    ) -> _Pair:
        """Wald's test of φ₁ = φ₂, of all ten and of mass and first moments alone.

        The latter are what a payload changes most, and a short log shows little else.
        """
        away = first.x - second.x
        degrees = (degrees_of_freedom(fit, less_leverage=False) for fit in (first, second))
        free = [float(each[:4].min()) for each in degrees]
        ways = [
            _log_p(away[:d], [covariance[:d, :d] for covariance in covariances], free)
            for d in (len(away), 4)
        ]
        errors = tuple(np.sqrt(np.diag(covariance)) for covariance in covariances)
        log_p = min(0.0, float(np.log(len(ways))) + min(ways))
        return cls(log_p, (first.x, second.x), (errors[0], errors[1]))

    @property
    def p_value(self) -> float:
        """That both are one body."""
        return float(np.exp(self.log_p))

    def change(
        self,
        code: str,
        log: int,
        places: int,
        block: int = 0,
        at: float = 0.0,
        between: tuple[float, float] = (0.0, 1.0),
    ) -> Change | None:
        """The finding, if it is one."""
        p_value = min(1.0, self.p_value * places)
        if p_value >= BODY_CHANGE_DOUBT_P or self._alike():
            return None
        return Change(code, log, block, at, between, p_value, *self.x, *self.errors)

    def _alike(self) -> bool:
        """Whether the difference is too little to matter."""
        first, second = self.x
        away, mass = first - second, abs(float(first[0]))
        inertia = float(np.linalg.norm(first[4:]))
        shares = (
            float(abs(away[0])) / mass,
            float(np.linalg.norm(away[1:4])) / np.sqrt(mass * inertia),
            float(np.linalg.norm(away[4:])) / inertia,
        )
        return max(shares) < BODY_CHANGE_SHARE


def _log_p(away: Array, covariances: Sequence[Array], degrees: Sequence[float]) -> float:
    """Logarithm of p that a difference of two means is zero, along what is identified.

    By Hotelling's T² with the degrees of freedom of Yao (1965), where the two differ in covariance.
    Where p is less than any number, it is the first term of its series, which still tells times
    apart.
    """
    from scipy.special import betaln, fdtrc

    both = covariances[0] + covariances[1]
    scale = np.sqrt(np.diag(both))
    scale = np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(both / np.outer(scale, scale))
    used = values > 1e-9 * values[-1]
    along = vectors[:, used].T @ (away / scale)
    distance, rank = float(np.sum(along**2 / values[used])), int(used.sum())
    if distance == 0.0:
        return 0.0
    towards = vectors[:, used] @ (along / values[used]) / scale
    parts = [float(towards @ covariance @ towards) / distance for covariance in covariances]
    free = 1.0 / sum(part**2 / count for part, count in zip(parts, degrees, strict=True))
    below, ratio = max(free - rank + 1.0, 1.0), distance * (free - rank + 1.0) / (free * rank)
    p_value = float(fdtrc(rank, below, ratio))
    if p_value > np.finfo(float).tiny:
        return float(np.log(p_value))
    a, b, z = 0.5 * below, 0.5 * rank, below / (below + rank * ratio)
    return float(a * np.log(z) + b * np.log1p(-z) - np.log(a) - betaln(a, b))


def _moments_of_logs(fit: LeastSquaresFit) -> Array:
    """Moments of the whitened rows [A | b] of each log of one statistics, noise taken off.

    Rows that an offset acts on are left out.

    Returns:
        Shape (logs, p + 1, p + 1).
    """
    system = fit.data.system
    ((statistics, equations),) = system.data
    groups, columns = system.group_index[:, 1], statistics.layout.fit
    _, m, _, q = system.arrays.rows.shape
    moments = np.zeros((len(statistics.logs), q, q))
    for logs, C in coefficients(equations, len(statistics.logs), groups.tolist(), m):
        weighted = np.einsum("gab,gkap->gpkb", fit.weights, C).reshape(len(groups), q, -1)
        for log in logs:
            z = np.array(statistics.totals[log, groups, :columns, :columns])
            if equations.offsets != "none":
                z[z[:, 0, 0] != 0.0, 0] = 0.0
            noise = statistics.noise_rows[log, groups, :, :columns]
            Z = z.swapaxes(-1, -2) @ z
            Z -= fit.noise_fraction * noise.swapaxes(-1, -2) @ noise
            through = (Z @ C.reshape(len(groups), columns, -1)).reshape(len(groups), -1, q)
            moments[log] = (weighted @ through).sum(axis=0)
    return moments


def _within(parts: _Parts, logs: Sequence[int]) -> list[Change]:
    """The likeliest time in each log from which on the body is another."""
    found: list[Change] = []
    for start in range(0, len(logs), _LOGS_AT_ONCE):
        several = [_Places.of(parts, log) for log in logs[start : start + _LOGS_AT_ONCE]]
        cells = [pair for places in several for pair in places.pairs(places.first)]
        tested = iter(parts.compared(cells))
        for places in several:
            pairs = [(pair, block) for block in places.first if (pair := next(tested)) is not None]
            if all(pair.p_value > PARTS_DIFFER_P for pair, _ in pairs):
                continue
            others = parts.compared(places.pairs(places.others))
            pairs += [(pair, k) for pair, k in zip(others, places.others, strict=True) if pair]
            pair, block = min(pairs, key=lambda tried: tried[0].log_p)
            at = places.share(block)
            between = neighbours(at, [places.share(other) for _, other in pairs])
            change = pair.change("body_changed", places.log, len(pairs), block, at, between)
            found += [change] if change else []
    return found


@dataclass(frozen=True, slots=True)
class _Places:
    """Where in a log the body may change, as first blocks of the part after it.

    Attributes:
        parts: of the fit.
        log: which log.
        mine: its cells.
        first: the middle and the outermost.
        others: the rest of them.
    """

    parts: _Parts
    log: int
    mine: Flags
    first: list[int]
    others: list[int]

    @classmethod
    def of(cls, parts: _Parts, log: int) -> _Places:
        """Of a log, so many at the most; of a short one none."""
        mine = parts.statistics.log == log
        blocks = np.unique(parts.statistics.block[mine])
        least = max(_FEWEST_BLOCKS, int(np.ceil(_LEAST_SHARE * len(blocks))))
        places = blocks[least : len(blocks) - least + 1]
        if not len(places):
            return cls(parts, log, mine, [], [])
        spread = np.linspace(0, len(places) - 1, min(_MOST_PLACES, len(places)))
        places = places[np.unique(spread.astype(int))]
        first = np.unique([len(places) // 2, 0, len(places) - 1])
        return cls(parts, log, mine, places[first].tolist(), np.delete(places, first).tolist())

    def pairs(self, places: Sequence[int]) -> list[tuple[Flags, Flags]]:
        """Cells of the parts before and from each place."""
        later = [self.parts.statistics.block >= place for place in places]
        return [(self.mine & ~after, self.mine & after) for after in later]

    def share(self, place: int) -> float:
        """Share of the log's rows before a place."""
        rows = self.parts.statistics.samples[self.mine]
        before = self.parts.statistics.block[self.mine] < place
        return float(rows[before].sum() / rows.sum())


def neighbours(at: float, tried: Sequence[float]) -> tuple[float, float]:
    """Of the shares of a log that were tried, those next to one of them, or the log's ends."""
    before, after = [one for one in tried if one < at], [one for one in tried if one > at]
    return max(before, default=0.0), min(after, default=1.0)


def _apart(parts: _Parts, logs: Sequence[int]) -> list[Change]:
    """Logs that differ from all others together, the farthest first, until the rest agrees."""
    found: list[Change] = []
    left = list(logs)
    while len(left) > 1:
        pairs = []
        for log in parts.farthest(left) if len(left) > 2 else left[1:]:
            mine = parts.statistics.log == log
            others = np.isin(parts.statistics.log, left) & ~mine
            (pair,) = parts.compared([(others, mine)], logs=True)
            if pair is not None:
                pairs.append((pair, log))
        if not pairs:
            break
        pair, log = min(pairs, key=lambda one: one[0].log_p)
        change = pair.change("bodies_differ", log, len(left) if len(left) > 2 else 1)
        if change is None:
            break
        found.append(change)
        left.remove(log)
        if not change.sure:
            break
    return found
