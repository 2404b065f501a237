"""Score tests of faults with sizes at a fit, noise in the motion counted, with scatter over cells.

At the unknowns x of a fit the residual of a fault of size η is, to first order,

    r(η) = z M(η) · (B0 − B x) = r(0) − J η,

so η joins x and the sensors' offsets as further columns of the whitened equations, from which noise
in the columns is taken off as from those of the fit. Two covariances of η are looked at, that of
the fit's own weights and that of the scatter of its scores over cells of blocks and bands, and the
one that says less decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Indices, Phi
from identify.diagnosis.fault import Fault, logs_with_same_faults
from identify.errors import ProblemError
from identify.estimation.identifiability import without_noise
from identify.estimation.least_squares import LeastSquaresFit
from identify.regressors import WIDE_LAYOUT, WRENCH_LAYOUT, Offsets, Statistics
from identify.regressors.system import whitener
from identify.regressors.triangular import triangle
from identify.regressors.wrench import W

DETECTED = 4.5
"""Standard errors from which a size is detected at the level of the alarm."""

_EXPECTED = 10.0
"""Cells that the covariance of the weights counts as in that of the scatter (Smyth 2004): a log of
ten seconds has no more than a handful of them."""

_NOTHING = 1e-7
"""Share of a fault's effect that the unknowns do not take, below which nothing is left of it:
more decimals than that do not come through the columns' noise."""


@dataclass(frozen=True, slots=True)
class ScoreTest:
    """What logs say of one fault, at the fit as it is.

    Attributes:
        fault: which, as it is of the first log.
        size: η of one Gauss-Newton step [SI], shape (d,).
        covariance: of it, shape (d, d).
        p_value: of η = 0.
        observable: whether the logs would show sizes that matter.
    """

    fault: Fault
    size: Array
    covariance: Array
    p_value: float
    observable: bool

    @property
    def errors(self) -> Array:
        """Standard errors of the components [SI], shape (d,)."""
        return np.sqrt(np.diag(self.covariance))


def score_tests(fit: LeastSquaresFit, faults: Sequence[Sequence[Fault]]) -> tuple[ScoreTest, ...]:
    """Test faults with sizes, each for itself.

    Args:
        fit: of extended statistics.
        faults: each as it is of every log, in the order of the fit's data.

    Raises:
        ProblemError: the statistics are not extended, or logs are missing.
    """
    return tuple(tested(found, fault, fit.x[:10]) for fault, found in each_beside(fit, faults))


def each_beside(
    fit: LeastSquaresFit, faults: Sequence[Sequence[Fault]]
) -> Iterator[tuple[Fault, Extra | None]]:
    """Each of some faults, as it is of the first log, with its size beside the unknowns of a fit.

    Args:
        fit: of extended statistics.
        faults: each as it is of every log, in the order of the fit's data.

    Raises:
        ProblemError: the statistics are not extended, or logs are missing.
    """
    if not faults:
        return
    of_logs = list(zip(*faults, strict=True))
    alike = logs_with_same_faults(faults)
    of_some = {
        log: np.concatenate([fault.tangent() for fault in of_logs[log]], axis=-1)
        for log in set(alike)
    }
    tangents = [of_some[log] for log in alike]
    whole, start = Linearised.of(fit, tangents), 0
    for fault, *_ in faults:
        own = slice(start, start + fault.d)
        known = 0.0 if fault.sizes is None else fault.sizes.known
        now, columns = whole.known(own, known) if known else (whole, own)
        yield fault, solve_extra(now, columns) if columns.stop > columns.start else None
        start += fault.d


@dataclass(frozen=True, slots=True)
class Linearised:
    """Whitened equations in [y, η] at a fit, offsets eliminated; y is along its directions.

    Attributes:
        rows: triangular factor of [A | r], shape (q, q).
        noise: moment of what noise adds to them, shape (q, q).
        cross_term: scatter of the scores from the noise cross term, shape (q − 1, q − 1).
        scores: of each cell, what noise adds on average taken off, shape (cells, q − 1).
        of_groups: AᵀA of each group, shape (groups, q − 1, q − 1).
        cells: how many cells each group has, shape (groups,).
        degrees: residuals that each group has, shape (groups,).
        extra: number of the first column of η.
        to_x: the unknowns of the fit for each of y, shape (p, extra).
    """

    rows: Array
    noise: Array
    cross_term: Array
    scores: Array
    of_groups: Array
    cells: Array
    degrees: Array
    extra: int
    to_x: Array

    @classmethod
    def of(cls, fit: LeastSquaresFit, tangents: Sequence[Array]) -> Linearised:
        """The equations of a fit with further columns.

        Args:
            fit: of extended statistics.
            tangents: ∂M/∂η for each log, shape (40, 19, d).

        Raises:
            ProblemError: the statistics are not extended, or there are not as many tangents as
                logs.
        """
        require_wide(fit, len(tangents))
        split, system = fit.identifiability, fit.data.system
        to_y = fit.scaling.to_x @ np.concatenate((split.identifiable, split.unidentifiable), axis=1)
        extra, q = to_y.shape[1], to_y.shape[1] + tangents[0].shape[-1] + 1
        groups, m = system.arrays.channels.shape
        R, noise, cross = np.zeros((q, q)), np.zeros((q, q)), np.zeros((groups, m, m, q - 1))
        of_groups, cells, scores = np.zeros((groups, q - 1, q - 1)), np.zeros(groups), []
        for parts in _of_logs(fit, tangents, to_y):
            for part in parts:
                rows = part.rows.reshape(-1, q)
                of_groups[part.group] += rows[:, :-1].T @ rows[:, :-1]
                noise += part.noise
                cross[part.group] += part.cross_term
                cells[part.group] += len(part.scores)
                scores.append(part.scores)
            R = triangle(np.concatenate((R, *(part.rows.reshape(-1, q) for part in parts))))
        completed = np.zeros((split.unidentifiable.shape[1], q))
        completed[:, split.identifiable.shape[1] : extra] = np.eye(len(completed))
        arrays = system.arrays
        return cls(
            rows=triangle(np.concatenate((R, completed))),
            noise=noise,
            cross_term=np.einsum(
                "gmnp,gnmq->pq", cross, cross / arrays.effective_samples[:, None, None, None]
            ),
            scores=np.concatenate(scores),
            of_groups=of_groups,
            cells=cells,
            degrees=arrays.channels.sum(axis=1) * arrays.effective_samples,
            extra=extra,
            to_x=to_y,
        )

    def known(self, columns: slice, error: float) -> tuple[Linearised, slice]:
        """The same, of some further columns those combinations alone that are known so well.

        Args:
            columns: of η.
            error: standard error up to which one is.
        """
        own = np.arange(self.extra + columns.start, self.extra + columns.stop)
        kept = np.concatenate((np.arange(self.extra), own))
        left = triangle(self.rows[:, kept])[self.extra :, self.extra :]
        _, values, directions = np.linalg.svd(left)
        along = directions[values * error > 1.0].T
        to = np.zeros((len(self.rows), self.extra + along.shape[1] + 1))
        to[: self.extra, : self.extra] = np.eye(self.extra)
        to[own, self.extra : -1] = along
        to[-1, -1] = 1.0
        inner = to[:-1, :-1]
        now = replace(
            self,
            rows=triangle(self.rows @ to),
            noise=to.T @ self.noise @ to,
            cross_term=inner.T @ self.cross_term @ inner,
            scores=self.scores @ inner,
            of_groups=inner.T @ self.of_groups @ inner,
        )
        return now, slice(0, along.shape[1])


class _GroupOfLog(NamedTuple):
    """What a group of a log adds: whitened rows, moment of their noise, cross term and scores."""

    group: int
    rows: Array
    noise: Array
    cross_term: Array
    scores: Array


def _of_logs(
    fit: LeastSquaresFit, tangents: Sequence[Array], to_y: Array
) -> Iterator[list[_GroupOfLog]]:
    """The groups of each log, log after log."""
    system, first = fit.data.system, 0
    lever, offsets = np.append(1.0, -fit.x), system.offsets(fit.x, fit.weights)
    for number, (statistics, equations) in enumerate(system.data):
        groups = np.flatnonzero(system.members[:, 0] == number)
        own, logs = system.members[groups, 1], range(len(statistics.logs))
        coefficients = np.array(
            [
                _coefficients(
                    equations.residual(log, int(own[0])),
                    lever,
                    offsets[first + log],
                    tangents[first + log],
                    to_y,
                )
                for log in logs
            ]
        )
        weights = fit.weights[groups]
        maps = _offset_maps(statistics, own, weights, coefficients, equations.offsets)
        coefficients[:, 0] -= maps
        for log in logs:
            yield [
                _group_of_log(fit, statistics, (log, g), group, coefficients[log])
                for g, group in zip(own.tolist(), groups.tolist(), strict=True)
            ]
        first += len(logs)


def _offset_maps(
    statistics: Statistics, groups: Indices, weights: Array, coefficients: Array, offsets: Offsets
) -> Array:
    """What offsets of least cost take of the coefficients of the constant, (logs, 6, q).

    Args:
        statistics: extended.
        groups: of them that the fit has, shape (G,).
        weights: of those, shape (G, 6, 6).
        coefficients: of each log, shape (logs, 40, 6, q).
        offsets: whose are fitted.
    """
    if offsets == "none":
        return np.zeros_like(coefficients[:, 0])
    first = statistics.totals[:, groups, 0]
    constants = first[..., 0]
    rows = np.einsum("lgk,lkmq->lgmq", first, coefficients)
    normal = np.einsum("lg,gmn->lmn", constants**2, weights)
    right = np.einsum("lg,gmn,lgnq->lmq", constants, weights, rows, optimize=True)
    if offsets == "shared":
        normal, right = (np.broadcast_to(of.sum(axis=0), of.shape) for of in (normal, right))
    fitted = np.any(constants, axis=1, keepdims=True)[:, None]
    normal = np.where(fitted, normal, np.eye(normal.shape[-1]))
    return np.where(fitted, np.linalg.solve(normal, right), 0.0)


def _group_of_log(
    fit: LeastSquaresFit, statistics: Statistics, which: tuple[int, int], group: int, C: Array
) -> _GroupOfLog:
    """What a group of a log adds.

    Args:
        fit: at which.
        statistics: extended.
        which: log and group of them.
        group: number of the group in the fit.
        C: coefficients of [y | η | r], the offset eliminated, shape (40, 6, q).
    """
    weight = fit.weights[group]
    root, (_, m, q) = whitener(weight), C.shape
    rows = root @ np.tensordot(statistics.totals[which], C, axes=1)
    noise = np.sqrt(fit.noise_fraction) * statistics.noise_rows[which]
    noisy = np.tensordot(noise[noise.any(axis=1)], C, axes=1)
    cross_term = weight @ np.tensordot(noisy[..., -1], noisy[..., :-1], axes=(0, 0)).reshape(m, -1)
    cross_term = cross_term.reshape(m, m, q - 1)
    whitened = (root @ noisy).reshape(-1, q)
    mine = statistics.cells_of(*which)
    z, samples = statistics.factors[mine], statistics.samples[mine]
    left = (z.reshape(-1, z.shape[-1]) @ C[..., -1]) @ weight
    moments = z.swapaxes(-1, -2) @ left.reshape(*z.shape[:2], m)
    scores = np.tensordot(moments, C[..., :-1], axes=2)
    expected = np.einsum("mmq->q", cross_term) / max(samples.sum(), 1.0)
    return _GroupOfLog(
        group, rows, whitened.T @ whitened, cross_term, scores - samples[:, None] * expected
    )


@dataclass(frozen=True, slots=True)
class Extra:
    """Further columns of a fit, solved for together with what it has.

    Attributes:
        size: their solution, shape (d,).
        by_weights, by_scatter: its covariance of the weights, and of the scatter, shape (d, d).
        degrees: of freedom of the two.
        shift: by how much the unknowns of the fit are others beside them, shape (p,).
        spread: covariance of those unknowns beside them, of the weights, shape (p, p).
    """

    size: Array
    by_weights: Array
    by_scatter: Array
    degrees: tuple[float, float]
    shift: Array
    spread: Array

    @property
    def p_value(self) -> float:
        """That all are zero, by the covariance that says less."""
        of_scatter = _p_value(self.size, self.by_scatter, self.degrees[1])
        return max(_p_value(self.size, self.by_weights, self.degrees[0]), of_scatter)

    def part(self, columns: slice) -> Extra:
        """Some of them."""
        return replace(
            self,
            size=self.size[columns],
            by_weights=self.by_weights[columns, columns],
            by_scatter=self.by_scatter[columns, columns],
        )

    @property
    def half_widths(self) -> Array:
        """Of the 95 % interval of each, by the covariance and Student's t that say less, (d,)."""
        from scipy.special import stdtrit

        pairs = zip((self.by_weights, self.by_scatter), self.degrees, strict=True)
        return np.max(
            [
                stdtrit(max(degrees, 1.0), 0.975) * np.sqrt(np.diag(covariance))
                for covariance, degrees in pairs
            ],
            axis=0,
        )

    @property
    def covariance(self) -> Array:
        """The larger of both, axis by axis, with the correlations of the weights."""
        ratio = np.diag(self.by_scatter) / np.diag(self.by_weights)
        scale = np.sqrt(np.maximum(ratio, 1.0))
        return self.by_weights * np.outer(scale, scale)


def solve_extra(whole: Linearised, columns: slice) -> Extra | None:
    """Solve for some of the further columns; None where nothing of them is left.

    Args:
        whole: equations of the fit.
        columns: of η.
    """
    d, q = columns.stop - columns.start, len(whole.rows)
    own = np.arange(whole.extra + columns.start, whole.extra + columns.stop)
    kept = np.concatenate((np.arange(whole.extra), own))
    taken = np.append(kept, q - 1)
    rows = triangle(whole.rows[:, taken])
    norms = np.linalg.norm(rows[:, :-1], axis=0)
    norms = np.where(norms > 0.0, norms, 1.0)
    left = np.linalg.svd(rows[-d - 1 : -1, -d - 1 : -1] / norms[-d:], compute_uv=False)
    if left[-1] < _NOTHING:
        return None
    scaled = rows.copy()
    scaled[:, :-1] /= norms
    sizes = np.append(norms, 1.0)
    A, b = without_noise(scaled, whole.noise[np.ix_(taken, taken)] / np.outer(sizes, sizes))
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return None
    solution = (inverse @ b) / norms
    size = solution[-d:]
    to_all = (inverse @ inverse.T) / norms / norms[:, None]
    to_size = to_all[-d:]
    H = rows[:, :-1].T @ rows[:, :-1] + whole.cross_term[np.ix_(kept, kept)]
    by_weights = to_size @ H @ to_size.T
    to_x = whole.to_x @ to_all[:-d]
    influence = whole.scores[:, kept] @ to_size.T
    degrees, cells = _freedom(whole, to_size, kept, by_weights)
    spread = influence - influence.mean(axis=0)
    found = spread.T @ spread * (cells / max(cells - 1.0, 1.0))
    free = max(cells - 1.0, 0.0)
    by_scatter = (_EXPECTED * by_weights + free * found) / (_EXPECTED + free)
    shift = whole.to_x @ solution[:-d]
    free_of_both = (degrees, _EXPECTED + free)
    return Extra(size, by_weights, by_scatter, free_of_both, shift, to_x @ H @ to_x.T)


def _freedom(
    whole: Linearised, to_size: Array, kept: Indices, covariance: Array
) -> tuple[float, float]:
    """Degrees of freedom of the weights, and how many equal cells the scatter is worth.

    By what each group says of η (Satterthwaite 1946).
    """
    half = np.linalg.pinv(covariance) @ to_size
    along = to_size.T @ half
    shares = np.einsum("kl,glk->g", along, whole.of_groups[:, kept][:, :, kept])
    squares = shares**2
    by_weights = shares.sum() ** 2 / np.sum(squares / np.maximum(0.5 * whole.degrees, 1.0))
    return float(by_weights), float(shares.sum() ** 2 / np.sum(squares / whole.cells))


def _p_value(size: Array, covariance: Array, degrees: float) -> float:
    """Of Hotelling's T² with so many degrees of freedom."""
    from scipy.special import fdtrc  # kept out of `import identify`

    d = len(size)
    free = degrees - d + 1.0
    if free < 1.0:
        return 1.0
    try:
        distance = float(size @ np.linalg.solve(covariance, size))
    except np.linalg.LinAlgError:
        return 1.0
    return float(fdtrc(d, free, max(distance, 0.0) * free / (d * degrees)))


def tested(found: Extra | None, fault: Fault, phi: Phi) -> ScoreTest:
    """The test of a fault by its size beside the unknowns of a fit, None where nothing is left.

    Args:
        found: that size.
        fault: as it is of the first log.
        phi: of the body, shape (10,).
    """
    if found is None:
        unknown = np.diag(np.full(fault.d, np.inf))
        return ScoreTest(fault, np.zeros(fault.d), unknown, 1.0, observable=False)
    covariance = found.covariance
    assert fault.sizes is not None
    matters = fault.sizes.matters * fault.sizes.scale(phi)
    observable = bool(DETECTED * np.sqrt(np.diag(covariance).max()) < matters)
    return ScoreTest(fault, found.size, covariance, found.p_value, observable)


def require_wide(fit: LeastSquaresFit, logs: int) -> None:
    """Raise `ProblemError` unless a fit is of wide statistics of so many logs."""
    data = fit.data.system.data
    if any(statistics.layout != WIDE_LAYOUT for statistics, _ in data):
        raise ProblemError("a diagnosis needs wide statistics: prepare the logs with wide=True")
    have = sum(len(statistics.logs) for statistics, _ in data)
    if have != logs:
        raise ProblemError(f"a diagnosis needs the facts of each log: {have} logs, got {logs}")


def _coefficients(C: Array, lever: Array, offset: Array, tangent: Array, to_y: Array) -> Array:
    """Coefficients [y | η | r] over the wide columns, shape (40, 6, k + d + 1).

    Where η multiplies the measured wrench, its effect is worked out with the one the fit predicts:
    the noise of the measured one is that of the residual.
    """
    fit = len(WRENCH_LAYOUT.columns)
    r = C @ lever
    J = -np.einsum("kfd,fm->kmd", tangent, r)
    predicted = np.zeros((fit, 6))
    predicted[:] = -r
    predicted[W] = 0.0
    predicted[0] += offset
    J[:fit] += np.einsum("kn,nmd->kmd", predicted, J[W])
    J[W] = 0.0
    whole = np.zeros((len(J), 6, to_y.shape[1] + J.shape[-1] + 1))
    whole[:fit, :, : to_y.shape[1]] = C[..., 1:] @ to_y
    whole[..., to_y.shape[1] : -1] = J
    whole[:fit, :, -1] = r
    return whole
