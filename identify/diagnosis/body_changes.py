"""Detection of logs, and of parts of a log, that belong to different bodies.

Each part is fitted separately with its own weights: in a pooled fit, a change would be hidden in
the scatter that it causes. A log is halved first: a change anywhere makes its halves differ, and
other change points are tested only if they may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Flags, Indices, Phi
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
from identify.significance import BODY_CHANGE_P, LOG_PARTS_DIFFER_P, POSSIBLE_BODY_CHANGE_P

_MAX_CHANGE_POINTS = 8
"""Largest number of change points tested in a log; a change between two shows at both."""

_MIN_PART_FRACTION = 0.2
"""Smallest fraction of a log's blocks on either side of a change point."""

_MIN_PART_BLOCKS = 2
"""Fewest blocks on either side of a change point."""

_LOGS_PER_FIT = 8
"""Number of logs whose parts are fitted together; about three copies of their statistics exist."""

_MAX_LOGS_FITTED_SEPARATELY = 12
"""Largest number of logs fitted separately, the logs most distant from all others."""

_NEGLIGIBLE_INFORMATION = 1e-9
"""Ratio to the largest information below which a direction of the parameters is not compared."""


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
    parts = _PartFits(statistics.fit_columns_only(), equations, tuple(terms), fit.x, tuple(imus))
    logs = range(len(statistics.logs))
    within = _find_change_points(parts, logs)
    mixed = {change.log for change in within if change.significant}
    apart = _find_outlying_logs(parts, [log for log in logs if log not in mixed])
    return tuple(sorted((*within, *apart), key=lambda change: change.p_value))


@dataclass(frozen=True, slots=True)
class _PartFits:
    """Data of a fit, of which single logs and parts of logs are fitted separately."""

    statistics: Statistics
    equations: Equations
    terms: tuple[Term, ...]
    start: Phi
    imus: tuple[ImuCalibration, ...]

    def fit_cells(self, cells: Flags) -> LeastSquaresFit | None:
        """Fit some cells of the statistics by least squares; None if the body is unidentifiable."""
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
        system = LinearSystem.of([(part, self._equations(logs))])
        try:
            return weighted_least_squares(system, self.terms, self.start)
        except ProblemError:
            return None

    def _equations(self, logs: Indices) -> Equations:
        bodies = getattr(self.equations, "bodies", ())
        if len(bodies) < 2:
            return self.equations
        return replace(self.equations, bodies=tuple(bodies[log] for log in logs.tolist()))  # type: ignore[type-var]

    def most_distant_logs(self, logs: Sequence[int]) -> list[int]:
        """Return the logs most distant from all others, by their scores at the others' estimate.

        Only these are fitted separately; the scores use the weights of the common fit.
        """
        fit = None
        if len(logs) > _MAX_LOGS_FITTED_SEPARATELY:
            fit = self.fit_cells(np.isin(self.statistics.log, logs))
        if fit is None:
            return list(logs)
        # Columns: the identifiable directions, and the residual b − A x.
        into = np.zeros((11, fit.identifiability.identifiable.shape[1] + 1))
        into[:-1, :-1] = fit.scaling.to_x @ fit.identifiability.identifiable
        into[:-1, -1], into[-1, -1] = -fit.x, 1.0
        of_logs = into.T @ _moments_by_log(fit) @ into
        H, s = of_logs[:, :-1, :-1], of_logs[:, :-1, -1:]
        others = np.linalg.pinv(H.sum(axis=0) - H, _NEGLIGIBLE_INFORMATION, hermitian=True)
        # sₖ − Hₖ θ with θ of all other logs, squared in its own covariance.
        difference = s - H @ (others @ (s.sum(axis=0) - s))
        spread = np.linalg.pinv(H + H @ others @ H, _NEGLIGIBLE_INFORMATION, hermitian=True)
        distance = (difference.swapaxes(-1, -2) @ spread @ difference)[:, 0, 0]
        return [
            logs[k]
            for k in np.argsort(-distance, kind="stable")[:_MAX_LOGS_FITTED_SEPARATELY].tolist()
        ]

    def compare_pairs(
        self, pairs: Sequence[tuple[Flags, Flags]], *, logs: bool = False
    ) -> list[_PairTest | None]:
        """Fit both parts of each pair and test whether they are of one body."""
        tested = list[_PairTest | None]()
        for pair in pairs:
            first, second = map(self.fit_cells, pair)
            if first is None or second is None:
                tested.append(None)
            else:
                tested.append(self._test_pair(pair, (first, second), logs=logs))
        return tested

    def _test_pair(
        self,
        cells: tuple[Flags, Flags],
        fits: tuple[LeastSquaresFit, LeastSquaresFit],
        *,
        logs: bool,
    ) -> _PairTest:
        covariances = [covariance_of(fit) for fit in fits]
        if logs and self.imus:
            places = map(self._position_covariance, cells, fits)
            covariances = [C + D for C, D in zip(covariances, places, strict=True)]
        return _PairTest.of(*fits, covariances)

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


def _moments_by_log(fit: LeastSquaresFit) -> Array:
    """Return second moments of whitened regressor and data of each log, less those of noise.

    Rows that an offset affects are excluded.

    Shape (logs, p + 1, p + 1).
    """
    system = fit.data.system
    ((statistics, equations),) = system.data
    groups, columns = system.group_index[:, 1], statistics.layout.fit
    _, m, _, q = system.padded.rows.shape
    moments = np.zeros((len(statistics.logs), q, q))
    for logs, C in coefficients_by_log(equations, len(statistics.logs), groups.tolist(), m):
        weighted = np.einsum("gab,gkap->gpkb", fit.weights, C).reshape(len(groups), q, -1)
        for log in logs:
            z = np.array(statistics.total_factors[log, groups, :columns, :columns])
            if equations.offsets != "none":
                z[z[:, 0, 0] != 0.0, 0] = 0.0
            noise = statistics.noise_rows[log, groups, :, :columns]
            Z = z.swapaxes(-1, -2) @ z
            Z -= fit.noise_fraction * noise.swapaxes(-1, -2) @ noise
            through = (Z @ C.reshape(len(groups), columns, -1)).reshape(len(groups), -1, q)
            moments[log] = (weighted @ through).sum(axis=0)
    return moments


def _find_change_points(parts: _PartFits, logs: Sequence[int]) -> list[BodyChange]:
    """Find the most likely change point of the body in each log."""
    changes: list[BodyChange] = []
    for start in range(0, len(logs), _LOGS_PER_FIT):
        several = [_ChangePoints.of(parts, log) for log in logs[start : start + _LOGS_PER_FIT]]
        cells = [pair for places in several for pair in places.split_cells(places.coarse)]
        tested = iter(parts.compare_pairs(cells))
        for places in several:
            pairs = [(pair, block) for block in places.coarse if (pair := next(tested)) is not None]
            if all(pair.p_value > LOG_PARTS_DIFFER_P for pair, _ in pairs):
                continue
            others = parts.compare_pairs(places.split_cells(places.fine))
            pairs += [(pair, k) for pair, k in zip(others, places.fine, strict=True) if pair]
            pair, block = min(pairs, key=lambda tested: tested[0].log_p_value)
            at = places.fraction_before(block)
            between = neighbouring_change_points(
                at, [places.fraction_before(other) for _, other in pairs]
            )
            change = pair.change("body_changed", places.log, len(pairs), block, at, between)
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
    while len(remaining) > 1:
        pairs = []
        for log in parts.most_distant_logs(remaining) if len(remaining) > 2 else remaining[1:]:
            cells = parts.statistics.log == log
            others = np.isin(parts.statistics.log, remaining) & ~cells
            (pair,) = parts.compare_pairs([(others, cells)], logs=True)
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
