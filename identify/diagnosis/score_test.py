"""Score tests of faults with sizes at a fit, noise in the motion counted, with scatter over cells.

At the unknowns x of a fit the residual of a fault of size η is, to first order,

    r(η) = z M(η) · (B0 − B x) = r(0) − J η,

so η joins x and the sensors' offsets as further columns of the whitened equations, from which noise
in the columns is taken off as from those of the fit. Two covariances of η are looked at, that of
the fit's own weights and that of the scatter of its scores over cells of blocks and bands, and the
one that says less decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Indices
from identify.diagnosis.fault import Fault
from identify.errors import ProblemError
from identify.estimation.identifiability import without_noise
from identify.estimation.least_squares import LeastSquaresFit
from identify.regressors import WIDE_LAYOUT, WRENCH_LAYOUT, Statistics
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
    if not faults:
        return ()
    tangents = [
        np.concatenate([fault.tangent() for fault in of_log], axis=-1)
        for of_log in zip(*faults, strict=True)
    ]
    whole = Linearised.of(fit, tangents)
    tests, start = [], 0
    for fault, *_ in faults:
        tests.append(_tested(whole, fault, slice(start, start + fault.d)))
        start += fault.d
    return tuple(tests)


@dataclass(frozen=True, slots=True)
class Linearised:
    """Whitened equations in [y, offsets, η] at a fit; y is along its directions.

    Attributes:
        rows: triangular factor of [A | r], shape (q, q).
        noise: rows of what noise adds, shape (n, q).
        meeting: scatter of scores of noise that meets noise, shape (q − 1, q − 1).
        scores: of each cell, what noise adds on average taken off, shape (cells, q − 1).
        of_groups: AᵀA of each group, shape (groups, q − 1, q − 1).
        cells: how many cells each group has, shape (groups,).
        degrees: residuals that each group has, shape (groups,).
        extra: number of the first column of η.
    """

    rows: Array
    noise: Array
    meeting: Array
    scores: Array
    of_groups: Array
    cells: Array
    degrees: Array
    extra: int

    @classmethod
    def of(cls, fit: LeastSquaresFit, tangents: Sequence[Array]) -> Linearised:
        """The equations of a fit with further columns.

        Args:
            fit: of wide statistics.
            tangents: ∂M/∂η for each log, shape (40, 19, d).

        Raises:
            ProblemError: the statistics are not wide, or there are not as many tangents as logs.
        """
        require_wide(fit, len(tangents))
        system, split, x = fit.data.system, fit.identifiability, fit.x
        directions = np.concatenate((split.identifiable, split.unidentifiable), axis=1)
        to_y = fit.scaling.to_x @ directions
        lever = np.concatenate(([1.0], -x))
        offsets = system.offsets(x, fit.weights)
        first_log = np.cumsum([0, *(len(statistics.logs) for statistics, _ in system.data)])
        known, logs = to_y.shape[1], int(first_log[-1])
        fitted = len(system.arrays.offsets) > 0
        extra = known + 6 * logs * fitted
        q = extra + tangents[0].shape[-1] + 1
        share = fit.noise_fraction
        stacks, noises, scores, of_groups, cells = [], [], [], [], []
        meeting = np.zeros((q - 1, q - 1))
        for (number, g), weight in zip(system.members.tolist(), fit.weights, strict=True):
            statistics, equations = system.data[number]
            root, parts, meetings, count = whitener(weight), [], [], 0
            for log in range(len(statistics.logs)):
                at = int(first_log[number]) + log
                C = equations.residual(log, g)
                coefficients = _coefficients(C, lever, offsets[at], tangents[at], to_y)
                own = None
                if fitted:
                    own = known + (6 * at if equations.offsets == "per_log" else 0)
                placed = _placed(coefficients, known, extra, own, offsets[at])
                parts.append(np.tensordot(statistics.totals[log, g], placed, axes=1))
                noise = np.sqrt(share) * statistics.noise_rows[log, g]
                rows_of_noise = np.tensordot(noise[noise.any(axis=1)], placed, axes=1)
                noises.append((root @ rows_of_noise).reshape(-1, q))
                met = np.tensordot(rows_of_noise[..., -1], rows_of_noise[..., :-1], axes=(0, 0))
                meetings.append(np.tensordot(weight, met, axes=1))
                scores.append(_scores(statistics, (log, g), placed, weight, meetings[-1]))
                count += len(scores[-1])
            V = sum(meetings)
            effective = system.arrays.effective_samples[len(of_groups)]
            meeting += np.einsum("mnp,nmq->pq", V, V) / effective
            rows = (root @ np.concatenate(parts)).reshape(-1, q)
            stacks.append(rows)
            of_groups.append(rows[:, :-1].T @ rows[:, :-1])
            cells.append(count)
        drawn = np.zeros((split.unidentifiable.shape[1], q))
        drawn[:, split.identifiable.shape[1] : known] = np.eye(len(drawn))
        return cls(
            rows=triangle(np.concatenate((*stacks, drawn))),
            noise=triangle(np.concatenate(noises)),
            meeting=meeting,
            scores=np.concatenate(scores),
            of_groups=np.array(of_groups),
            cells=np.array(cells, dtype=np.float64),
            degrees=system.arrays.channels.sum(axis=1) * system.arrays.effective_samples,
            extra=extra,
        )


@dataclass(frozen=True, slots=True)
class Extra:
    """Further columns of a fit, solved for together with what it has.

    Attributes:
        size: their solution, shape (d,).
        by_weights, by_scatter: its covariance of the weights, and of the scatter, shape (d, d).
        degrees: of freedom of the two.
    """

    size: Array
    by_weights: Array
    by_scatter: Array
    degrees: tuple[float, float]

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
    noise = whole.noise[:, taken].copy()
    noise[:, :-1] /= norms
    A, b = without_noise(scaled, noise.T @ noise)
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return None
    size = (inverse @ b)[-d:] / norms[-d:]
    to_size = (inverse[-d:] @ inverse.T) / norms / norms[-d:, None]
    H = rows[:, :-1].T @ rows[:, :-1] + whole.meeting[np.ix_(kept, kept)]
    by_weights = to_size @ H @ to_size.T
    influence = whole.scores[:, kept] @ to_size.T
    degrees, cells = _freedom(whole, to_size, kept, by_weights)
    spread = influence - influence.mean(axis=0)
    found = spread.T @ spread * (cells / max(cells - 1.0, 1.0))
    free = max(cells - 1.0, 0.0)
    by_scatter = (_EXPECTED * by_weights + free * found) / (_EXPECTED + free)
    return Extra(size, by_weights, by_scatter, (degrees, _EXPECTED + free))


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


def _tested(whole: Linearised, fault: Fault, columns: slice) -> ScoreTest:
    found = solve_extra(whole, columns)
    if found is None:
        unknown = np.diag(np.full(fault.d, np.inf))
        return ScoreTest(fault, np.zeros(fault.d), unknown, 1.0, observable=False)
    covariance = found.covariance
    assert fault.sizes is not None
    observable = bool(DETECTED * np.sqrt(np.diag(covariance).max()) < fault.sizes.matters)
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


def _placed(coefficients: Array, known: int, extra: int, own: int | None, offset: Array) -> Array:
    """Coefficients [y | η | r] among the columns of all logs' offsets, shape (40, 6, q).

    Args:
        coefficients: of one log.
        known: how many columns y has.
        extra: the first column of η.
        own: the first column of the log's offset, where one is fitted.
        offset: its value.
    """
    placed = np.zeros((len(coefficients), 6, extra + coefficients.shape[-1] - known))
    placed[..., :known] = coefficients[..., :known]
    placed[..., extra:] = coefficients[..., known:]
    if own is not None:
        placed[0, :, own : own + 6] = np.eye(6)
        placed[0, :, -1] -= offset
    return placed


def _scores(
    statistics: Statistics, which: tuple[int, int], placed: Array, weight: Array, met: Array
) -> Array:
    """AᵀWr of each cell of a log's group, less what noise adds, shape (cells, q − 1)."""
    mine = statistics.cells_of(*which)
    z, samples = statistics.factors[mine], statistics.samples[mine]
    left = (z.reshape(-1, z.shape[-1]) @ placed[..., -1]) @ weight
    moments = z.swapaxes(-1, -2) @ left.reshape(*z.shape[:2], 6)
    found = np.tensordot(moments, placed[..., :-1], axes=2)
    return found - samples[:, None] * (np.einsum("mmq->q", met) / max(samples.sum(), 1.0))
