"""Detection of logs, and of parts of a log, that belong to different bodies.

Parts that may differ are fitted separately with their own weights: in a pooled fit, a change would
be hidden in the scatter that it causes. Chow's test with the weights of the common fit selects
them. A log is halved first: a change anywhere makes its halves differ, and other change points are
tested only if they may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from identify.arrays import Array, Flags, Phi
from identify.errors import ProblemError
from identify.estimation.accelerometer_errors import AccelerometerErrors
from identify.estimation.intervals import covariance_of, degrees_of_freedom
from identify.estimation.least_squares import LeastSquaresFit, weighted_least_squares
from identify.estimation.posterior import posterior_of
from identify.estimation.priors import NoPrior
from identify.estimation.terms import Term
from identify.regressors import Equations, LinearSystem, Statistics
from identify.regressors.padded_system import coefficients_by_log
from identify.relevance import MIN_RELATIVE_BODY_CHANGE
from identify.signals.imu_calibration import ImuCalibration
from identify.significance import (
    BODY_CHANGE_P,
    LOG_PARTS_DIFFER_P,
    PARTS_MAY_DIFFER_P,
    POSSIBLE_BODY_CHANGE_P,
)

_MAX_CHANGE_POINTS = 8
"""Largest number of change points tested in a log; a change between two shows at both."""

_MIN_PART_FRACTION = 0.2
"""Smallest fraction of a log's blocks on either side of a change point."""

_MIN_PART_BLOCKS = 2
"""Fewest blocks on either side of a change point."""

_MAX_LOGS_FITTED_SEPARATELY = 12
"""Largest number of logs fitted separately, the logs most distant from all others."""

_NEGLIGIBLE_INFORMATION = 1e-9
"""Ratio to the largest information below which a direction of the parameters is not compared."""

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, slots=True)
class BodyChange:
    """Two parts of the data of a fit that belong to different bodies.

    Attributes:
        code: "bodies_differ" for a whole log, "body_changed" for a time in a log.
        log: index of the log.
        block: first block of the second part; zero for a whole log.
        fraction_before: fraction of the log's rows before the most likely change point.
        fraction_bounds: bounds of `fraction_before`: the neighbouring change points tested, or the
            log's ends, zero and one.
        p_value: p-value of the hypothesis of one body, corrected for the number of tests.
        first_phi, second_phi: parameters of the log's parts before and from the block, or of the
            other logs and of this one, shape (10,).
        first_phi_errors, second_phi_errors: standard errors, shape (10,).
    """

    code: str
    log: int
    block: int
    fraction_before: float
    fraction_bounds: tuple[float, float]
    p_value: float
    first_phi: Phi
    second_phi: Phi
    first_phi_errors: Phi
    second_phi_errors: Phi

    @property
    def significant(self) -> bool:
        """Whether the change of the body is significant; otherwise it may be chance."""
        return self.p_value < BODY_CHANGE_P


def detect_body_changes(
    fit: LeastSquaresFit, terms: Sequence[Term] = (), imus: Sequence[ImuCalibration] = ()
) -> tuple[BodyChange, ...]:
    """Test all logs, and all parts of each log, for a change of the body.

    Args:
        fit: fit of one body; fits of several bodies are not tested.
        terms: constraints whose equalities hold for each part.
        imus: calibration of each log's IMU: the error of an estimated accelerometer position makes
            two logs differ, but not the parts of a log.

    Returns:
        The changes by p-value, insignificant ones included; a log with a significant change is not
        compared with the others.
    """
    if len(fit.data.space) != 10 or len(fit.data.system.data) != 1:
        return ()
    statistics, equations = fit.data.system.data[0]
    parts = _PartFits(fit, statistics.fit_columns_only(), equations, tuple(terms), tuple(imus))
    logs = range(len(statistics.logs))
    within = _find_change_points(parts, logs)
    mixed = {change.log for change in within if change.significant}
    apart = _find_outlying_logs(parts, [log for log in logs if log not in mixed])
    return tuple(sorted((*within, *apart), key=lambda change: change.p_value))


@dataclass(frozen=True, slots=True)
class _PartFits:
    """Data of a fit, of which single logs and parts of logs are fitted separately."""

    fit: LeastSquaresFit
    statistics: Statistics
    equations: Equations
    terms: tuple[Term, ...]
    imus: tuple[ImuCalibration, ...]

    def _part(self, cells: Flags) -> tuple[Statistics, Equations]:
        """Return some cells of the statistics, and the equations of their logs."""
        part = self.statistics.subset(cells)
        logs = np.unique(part.log)
        part = replace(
            part,
            log=np.searchsorted(logs, part.log),
            noise=part.noise[logs],
            logs=tuple(part.logs[log] for log in logs.tolist()),
        )
        bodies = getattr(self.equations, "bodies", ())
        if len(bodies) < 2:
            return part, self.equations
        of_part = tuple(bodies[log] for log in logs.tolist())
        return part, replace(self.equations, bodies=of_part)  # type: ignore[type-var]

    def fit_cells(self, cells: Flags) -> LeastSquaresFit | None:
        """Fit some cells of the statistics by least squares; None if the body is unidentifiable."""
        if not cells.any():
            return None
        try:
            return weighted_least_squares(
                LinearSystem.of([self._part(cells)]), self.terms, self.fit.x
            )
        except ProblemError:
            return None

    def moments(self, cells: Flags) -> _PartMoments:
        """Return moments of some cells with the weights of the common fit, and without offsets."""
        part, equations = self._part(cells)
        system = self.fit.data.system
        groups, channels = system.group_index[:, 1], system.padded.channels
        Z = np.zeros(part.noise.shape)
        np.add.at(Z, (part.log, part.group), part.factors.swapaxes(1, 2) @ part.factors)
        if equations.offsets != "none":
            constant = Z[..., :1]
            Z -= constant @ constant.swapaxes(-1, -2) / np.maximum(constant[..., :1, :], _TINY)
        M = np.zeros((len(equations.space) + 1,) * 2)
        for logs, C in coefficients_by_log(
            equations, len(part.logs), groups.tolist(), channels.shape[1]
        ):
            through = np.einsum("gkl,glap->gkap", Z[logs].sum(axis=0)[groups], C)
            weighted = np.einsum("gab,gkbp->gkap", self.fit.weights, C)
            M += np.tensordot(weighted, through, ((0, 1, 2), (0, 1, 2)))
        samples = part.effective_samples_of_groups.sum(axis=0)[groups]
        return _PartMoments(M, float(samples @ channels.sum(axis=1)))

    def may_differ(self, first: Flags, second: Flags) -> bool:
        """Whether two parts of the data may be of different bodies."""
        return _chow_p_value(self.moments(first), self.moments(second)) < PARTS_MAY_DIFFER_P

    def compare(self, *parts: Flags, logs: bool = False) -> _PairTest | None:
        """Fit two parts of the data and test whether they are of one body; None without a fit."""
        first, second = map(self.fit_cells, parts)
        if first is None or second is None:
            return None
        covariances = [covariance_of(first), covariance_of(second)]
        if logs and self.imus:
            places = map(self._position_covariance, parts, (first, second))
            covariances = [C + D for C, D in zip(covariances, places, strict=True)]
        return _PairTest.of(first, second, covariances)

    def _position_covariance(self, cells: Flags, fit: LeastSquaresFit) -> Array:
        """Return the covariance of the body due to errors of the accelerometers' calibration."""
        logs = np.unique(self.statistics.log[cells]).tolist()
        accelerometer_errors = AccelerometerErrors.of([self.imus[log] for log in logs])
        if not accelerometer_errors.calibration_maps:
            return np.zeros((10, 10))
        of_x, _ = accelerometer_errors.changes_by_error(posterior_of(fit, NoPrior()))
        return of_x.T @ of_x


@dataclass(frozen=True, slots=True)
class _PairTest:
    """Test whether two parts of the data are of one body.

    Attributes:
        log_p_value: log of the p-value.
        parameters: parameters of both parts.
        errors: their standard errors.
    """

    log_p_value: float
    parameters: tuple[Phi, Phi]
    errors: tuple[Phi, Phi]

    @classmethod
    def of(
        cls, first: LeastSquaresFit, second: LeastSquaresFit, covariances: Sequence[Array]
    ) -> _PairTest:
        """Test φ₁ = φ₂ by Wald's test, for all ten parameters and for mass and first moments only.

        A payload changes mass and first moments most, and a short log identifies little else.
        """
        difference = first.x - second.x
        degrees = (degrees_of_freedom(fit, subtract_leverage=False) for fit in (first, second))
        # The fewest degrees of mass and first moments, for both tests.
        free = [float(each[:4].min()) for each in degrees]
        log_p_values = [
            _log_p_value(difference[:d], [covariance[:d, :d] for covariance in covariances], free)
            for d in (len(difference), 4)
        ]
        errors = tuple(np.sqrt(np.diag(covariance)) for covariance in covariances)
        # Bonferroni: the smaller p-value of two tests.
        log_p = min(0.0, float(np.log(len(log_p_values))) + min(log_p_values))
        return cls(log_p, (first.x, second.x), (errors[0], errors[1]))

    @property
    def p_value(self) -> float:
        """Probability of at least this difference if both parts are of one body."""
        return float(np.exp(self.log_p_value))

    def change(
        self,
        code: str,
        log: int,
        tested_count: int,
        block: int = 0,
        at: float = 0.0,
        between: tuple[float, float] = (0.0, 1.0),
    ) -> BodyChange | None:
        """Return the change of the body if it is significant or doubtful, else None."""
        p_value = min(1.0, self.p_value * tested_count)
        if p_value >= POSSIBLE_BODY_CHANGE_P or self._is_negligible():
            return None
        return BodyChange(code, log, block, at, between, p_value, *self.parameters, *self.errors)

    def _is_negligible(self) -> bool:
        """Return whether the difference of the bodies is too small to be relevant."""
        first, second = self.parameters
        difference, mass = first - second, abs(float(first[0]))
        inertia = float(np.linalg.norm(first[4:]))
        shares = (
            float(abs(difference[0])) / mass,
            float(np.linalg.norm(difference[1:4])) / np.sqrt(mass * inertia),
            float(np.linalg.norm(difference[4:])) / inertia,
        )
        return max(shares) < MIN_RELATIVE_BODY_CHANGE


def _log_p_value(
    difference: Array, covariances: Sequence[Array], degrees: Sequence[float]
) -> float:
    """Return the log of the p-value that two means are equal, in the identified directions.

    By Hotelling's T² with the degrees of freedom of Yao (1965) for different covariances. If p
    underflows, it is the first term of its series, so that p-values can still be compared.
    """
    from scipy.special import betaln, fdtrc

    both = covariances[0] + covariances[1]
    scale = np.sqrt(np.diag(both))
    scale = np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(both / np.outer(scale, scale))
    used = values > 1e-9 * values[-1]
    along = vectors[:, used].T @ (difference / scale)
    distance, rank = float(np.sum(along**2 / values[used])), int(used.sum())
    if distance == 0.0:
        return 0.0
    towards = vectors[:, used] @ (along / values[used]) / scale
    parts = [float(towards @ covariance @ towards) / distance for covariance in covariances]
    free = 1.0 / sum(part**2 / count for part, count in zip(parts, degrees, strict=True))
    below = max(free - rank + 1.0, 1.0)
    ratio = distance * below / (free * rank)
    p_value = float(fdtrc(rank, below, ratio))
    if p_value > np.finfo(float).tiny:
        return float(np.log(p_value))
    a = 0.5 * below
    b = 0.5 * rank
    z = below / (below + rank * ratio)
    return float(a * np.log(z) + b * np.log1p(-z) - np.log(a) - betaln(a, b))


class _PartMoments(NamedTuple):
    """Second moments of whitened regressor and data [A | b] of a part of the data.

    Attributes:
        matrix: sum over the rows, shape (p + 1, p + 1).
        samples: effective number of rows.
    """

    matrix: Array
    samples: float

    def __add__(self, other: _PartMoments) -> _PartMoments:  # type: ignore[override]
        return _PartMoments(self.matrix + other.matrix, self.samples + other.samples)

    @property
    def without_inertia(self) -> _PartMoments:
        """Moments after the moments of inertia were eliminated, shape (5, 5)."""
        kept, inertia = [0, 1, 2, 3, -1], slice(4, 10)
        across = self.matrix[kept, inertia]
        inverse = np.linalg.pinv(
            self.matrix[inertia, inertia], _NEGLIGIBLE_INFORMATION, hermitian=True
        )
        return self._replace(matrix=self.matrix[np.ix_(kept, kept)] - across @ inverse @ across.T)

    def least_squares(self) -> tuple[float, int]:
        """Return the residual sum of squares, and the number of identified unknowns."""
        scale = np.sqrt(np.maximum(np.diag(self.matrix), _TINY))
        M = self.matrix / np.outer(scale, scale)
        values, vectors = np.linalg.eigh(M[:-1, :-1])
        used = values > _NEGLIGIBLE_INFORMATION * values[-1]
        explained = np.sum((vectors[:, used].T @ M[:-1, -1]) ** 2 / values[used])
        return float(self.matrix[-1, -1] * max(1.0 - explained, 0.0)), int(used.sum())


def _chow_p_value(first: _PartMoments, second: _PartMoments) -> float:
    """Return the p-value that two parts are of one body, by the test of Chow (1960).

    F = (S₁₂ − S₁ − S₂)/k · (n − p)/(S₁ + S₂), with S the residual sums of squares of both parts
    together and of each, n rows, p unknowns of both parts and k of them common. Of two tests as
    `_PairTest`, it is the smaller p-value.
    """
    p_values = []
    for parts in ((first, second), (first.without_inertia, second.without_inertia)):
        (S1, rank1), (S2, rank2) = (part.least_squares() for part in parts)
        S12, rank12 = (parts[0] + parts[1]).least_squares()
        count, free = rank1 + rank2 - rank12, max(first.samples + second.samples - 20.0, 1.0)
        if count > 0:
            ratio = max(S12 - S1 - S2, 0.0) / count * free / max(S1 + S2, _TINY)
            p_values.append(float(fdtrc(count, free, ratio)))
    return min(p_values, default=1.0)


def _find_change_points(parts: _PartFits, logs: Sequence[int]) -> list[BodyChange]:
    """Find the most likely change point of the body in each log."""
    changes: list[BodyChange] = []
    for log in logs:
        places = _ChangePoints.of(parts, log)
        if not any(parts.may_differ(*pair) for pair in places.split_cells(places.coarse)):
            continue
        pairs = places.compare(places.coarse)
        if all(pair.p_value > LOG_PARTS_DIFFER_P for pair, _ in pairs):
            continue
        pairs += places.compare(places.fine)
        pair, block = min(pairs, key=lambda tested: tested[0].log_p_value)
        at = places.fraction_before(block)
        between = neighbouring_change_points(
            at, [places.fraction_before(other) for _, other in pairs]
        )
        change = pair.change("body_changed", log, len(pairs), block, at, between)
        changes += [change] if change else []
    return changes


@dataclass(frozen=True, slots=True)
class _ChangePoints:
    """Candidate change points in a log, each given by the first block after it.

    Attributes:
        parts: data of the fit.
        log: index of the log.
        cells: cells of the log.
        coarse: the middle and the outermost candidates.
        fine: the other candidates.
    """

    parts: _PartFits
    log: int
    cells: Flags
    coarse: list[int]
    fine: list[int]

    @classmethod
    def of(cls, parts: _PartFits, log: int) -> _ChangePoints:
        """Return evenly spread change points of a log; none for a short one."""
        cells = parts.statistics.log == log
        blocks = np.unique(parts.statistics.block[cells])
        least = max(_MIN_PART_BLOCKS, int(np.ceil(_MIN_PART_FRACTION * len(blocks))))
        places = blocks[least : len(blocks) - least + 1]
        if not len(places):
            return cls(parts, log, cells, [], [])
        spread = np.linspace(0, len(places) - 1, min(_MAX_CHANGE_POINTS, len(places)))
        places = places[np.unique(spread.astype(int))]
        first = np.unique([len(places) // 2, 0, len(places) - 1])
        return cls(parts, log, cells, places[first].tolist(), np.delete(places, first).tolist())

    def split_cells(self, first_blocks: Sequence[int]) -> list[tuple[Flags, Flags]]:
        """Return flags of the log's cells before and after each change point."""
        later = [self.parts.statistics.block >= place for place in first_blocks]
        return [(self.cells & ~after, self.cells & after) for after in later]

    def compare(self, first_blocks: Sequence[int]) -> list[tuple[_PairTest, int]]:
        """Test change points; those without a fit of both sides are left out."""
        tested = [self.parts.compare(*pair) for pair in self.split_cells(first_blocks)]
        return [(pair, k) for pair, k in zip(tested, first_blocks, strict=True) if pair]

    def fraction_before(self, block: int) -> float:
        """Return the fraction of the log's rows before a change point."""
        rows = self.parts.statistics.samples[self.cells]
        before = self.parts.statistics.block[self.cells] < block
        return float(rows[before].sum() / rows.sum())


def neighbouring_change_points(at: float, tested: Sequence[float]) -> tuple[float, float]:
    """Return the change points tested before and after one, or the log's ends, as fractions."""
    before = [share for share in tested if share < at]
    after = [share for share in tested if share > at]
    return max(before, default=0.0), min(after, default=1.0)


def _find_outlying_logs(parts: _PartFits, logs: Sequence[int]) -> list[BodyChange]:
    """Find logs whose body differs from that of all others, the most distant first."""
    changes: list[BodyChange] = []
    remaining = list(logs)
    moments = {log: parts.moments(parts.statistics.log == log) for log in logs}
    while len(remaining) > 1:
        pairs = []
        for log in _most_distant_logs({log: moments[log] for log in remaining}):
            cells = parts.statistics.log == log
            others = np.isin(parts.statistics.log, remaining) & ~cells
            pair = parts.compare(others, cells, logs=True)
            if pair is not None:
                pairs.append((pair, log))
        if not pairs:
            break
        pair, log = min(pairs, key=lambda tested: tested[0].log_p_value)
        change = pair.change("bodies_differ", log, len(remaining) if len(remaining) > 2 else 1)
        if change is None:
            break
        changes.append(change)
        remaining.remove(log)
        if not change.significant:
            break
    return changes


def _most_distant_logs(moments: Mapping[int, _PartMoments]) -> list[int]:
    """Return the logs that may be of another body than all others, the most distant first.

    At most `_MAX_LOGS_FITTED_SEPARATELY` logs; of two, the second.
    """
    p_values = {}
    for log in list(moments)[len(moments) == 2 :]:
        others = reduce(add, (each for other, each in moments.items() if other != log))
        p_values[log] = _chow_p_value(moments[log], others)
    may_differ = [log for log, p_value in p_values.items() if p_value < PARTS_MAY_DIFFER_P]
    return sorted(may_differ, key=lambda log: p_values[log])[:_MAX_LOGS_FITTED_SEPARATELY]
