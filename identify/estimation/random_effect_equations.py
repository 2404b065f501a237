"""Linear equations of a body and the random effects (small sensor faults), reduced by QR.

Rows of block means are kept one by one until the offsets and the drift are in them; all others are
of the bands. The noise in the columns is taken off the triangle, not off its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array
from identify.estimation.errors_in_variables import subtract_noise_moment_triangular
from identify.estimation.least_squares import LeastSquaresFit
from identify.estimation.random_effects_model import BodyScale, EffectModel
from identify.regressors import WRENCH_LAYOUT, Statistics
from identify.regressors.system import whitener
from identify.regressors.triangular import qr_factor, solve_transposed, whiten_moment
from identify.regressors.wrench import block_mean_cells, equal_time_intervals
from identify.signals.transform import CONSTANT_GROUP, band_middle
from identify.spatial.columns import WRENCH, WRENCH_RATE, WRENCH_SECOND_RATE

_MAX_COSINES, _MAX_COSINES_OF_POSES = 8, 16
"""Largest number of cosines that model the drift of a log, in motion and in static poses."""

_PSEUDO_INFORMATION = 1e-3
"""Largest size of an effect, in standard errors of the pseudo-observation of zero that keeps
rounding errors from informing it."""

_MIN_CAP = 1e-12
"""Smallest upper limit of an effect's size, so that a limit of zero does not divide by zero."""

_MAX_DRIFT_COLUMNS = 400
"""Approximate largest number of drift columns of all logs together."""


def cosine_means(start: Array, stop: Array, count: int) -> Array:
    """Compute means of √2 cos(πkt), k = 1 … count, over intervals of time, shape (n, count)."""
    k = np.pi * np.arange(1, count + 1)
    ends = np.sin(np.outer(stop, k)) - np.sin(np.outer(start, k))
    return np.sqrt(2.0) * ends / (k * (stop - start)[:, None])


@dataclass(frozen=True)
class RandomEffectEquations:
    """Whitened linear equations of body coordinates y, random effects η and drift amplitudes d.

    Attributes:
        fit: fit at which the equations are linearised.
        scale: weight and lever of its body.
        rows: triangular factor of [A | r], shape (k + 1, k + 1).
        noise: moment of the noise in the rows, shape (k + 1, k + 1).
        noise_scatter: covariance of the scores from the noise cross term, shape (k, k).
        to_x: matrix from y to the unknowns, shape (p, y).
        cosines: number of drift cosines of each log.
    """

    fit: LeastSquaresFit
    scale: BodyScale
    rows: Array
    noise: Array
    noise_scatter: Array
    to_x: Array
    cosines: tuple[int, ...]

    @classmethod
    def of(
        cls, fit: LeastSquaresFit, logs: Sequence[Statistics], model: EffectModel
    ) -> RandomEffectEquations:
        """Linearise the logs of a fit in the unknowns, the effects of a model and the drift.

        `logs`: the statistics of the fit, with all columns.
        """
        to_y = fit.scaling.to_x @ fit.direction_basis
        cosines = (0,) * len(logs)
        if any(model.drift):
            cosines = tuple(
                _cosine_count(log, len(block_mean_cells(log)), len(logs)) for log in logs
            )
        ends = np.cumsum([to_y.shape[1] + model.effect_count, *(6 * k for k in cosines)])
        drift_count = int(ends[-1] - ends[0])
        builder = _WhitenedRowsCollector(fit, to_y, model.effect_count, drift_count)
        places = [
            (number, log)
            for number, (statistics, _) in enumerate(fit.data.system.data)
            for log in range(len(statistics.logs))
        ]
        for log_number, (log, place) in enumerate(zip(logs, places, strict=True)):
            columns = slice(int(ends[log_number]), int(ends[log_number + 1]))
            builder.add_log(log, place, model.tangents[log_number], columns, log_number)
        rows, noise, noise_scatter = builder.finish()
        phi = fit.x[:10] + (fit.x[10:20] if len(fit.data.space.bodies) > 1 else 0.0)
        return cls(fit, BodyScale.of(phi), rows, noise, noise_scatter, to_y, cosines)

    def equations(self, max_sizes: Array) -> tuple[Array, Array, Array]:
        """Eliminate the body: equations T η = t of the effects, and their shift of the unknowns.

        `max_sizes`: largest sizes of the effects, shape (e,); weak pseudo-data at these sizes keep
        rounding errors from informing the effects.
        Returns T and t, whose noise has variance one, and the change of the unknowns by each
        effect, shape (p, e).
        """
        R, A, b = self._eiv_corrected(np.maximum(max_sizes, _MIN_CAP))
        k = self.to_x.shape[1]
        # A is triangular: its first rows are those of the unknowns, with what the effects add.
        shift = -self.to_x @ np.linalg.solve(A[:k, :k], A[:k, k:])
        return *self._marginalise(R, A, b), shift

    def _eiv_corrected(self, max_sizes: Array) -> tuple[Array, Array, Array]:
        """Return the rows as measured, and matrix and right side corrected for regressor noise."""
        if not self.noise.any():
            return self.rows[:-1, :-1], self.rows[:-1, :-1], self.rows[:-1, -1]
        least = np.zeros((len(max_sizes), len(self.rows)))
        least[:, -1 - len(max_sizes) : -1] = np.diag(_PSEUDO_INFORMATION / max_sizes)
        rows = qr_factor(np.concatenate((self.rows, least)))
        return rows[:-1, :-1], *subtract_noise_moment_triangular(rows, self.noise)

    def _marginalise(self, R: Array, A: Array, b: Array) -> tuple[Array, Array]:
        """Marginalise the equations over the unknowns, in root form.

        With B = AᵀA and V = RᵀR + X, X the `noise_scatter`, the information on all is BᵀV⁻¹B: that
        of the rows (1 + R⁻ᵀXR⁻¹)^-½ (AR⁻¹)ᵀA.
        """
        k, rows = self.to_x.shape[1], np.concatenate((A, b[:, None]), axis=1)
        if self.noise.any():
            values, vectors = np.linalg.eigh(whiten_moment(self.noise_scatter, R))
            root = vectors / np.sqrt(1.0 + np.maximum(values, 0.0))
            rows = qr_factor(root.T @ (solve_transposed(R, A.T) @ rows))
        return rows[k : len(A), k:-1], rows[k : len(A), -1]


def _cosine_count(statistics: Statistics, block_count: int, log_count: int) -> int:
    """Return the number of cosines that model a log's drift, by its blocks or static poses."""
    by_log = min(block_count // 3, _MAX_COSINES_OF_POSES)
    if not statistics.one_sample_per_cell:
        by_log = min(block_count - 2, _MAX_COSINES)
    return max(0, min(by_log, max(1, _MAX_DRIFT_COLUMNS // (6 * log_count))))


class _WhitenedRowsCollector:
    """Builder of whitened rows of all logs in the columns of body, effects, drift and residual.

    The columns of a log's drift are in its rows alone. They are eliminated log by log, so that only
    the common columns, of shared offsets, body, effects and residual, are factored again for each.
    """

    def __init__(
        self, fit: LeastSquaresFit, to_y: Array, effect_count: int, drift_count: int
    ) -> None:
        self.fit, self.to_y, self.drift_count = fit, to_y, drift_count
        system = fit.data.system
        self.group_index = system.group_index
        self.lever = np.append(1.0, -fit.x)
        self.offsets = system.offsets(fit.x, fit.weights)
        self.weights = _weights_with_drift(fit)
        groups, m = system.padded.channels.shape
        has_shared = any(equations.offsets == "shared" for _, equations in system.data)
        self.shared_count = m if has_shared else 0
        width = to_y.shape[1] + effect_count + 1
        self.R = np.zeros((0, self.shared_count + width))
        self.drift_rows: list[tuple[slice, Array]] = []
        self.noise = np.zeros((width, width))
        self.noise_products = np.zeros((groups, m, m, width - 1))

    def add_log(
        self,
        statistics: Statistics,
        data_and_log: tuple[int, int],
        tangent: Array,
        drift_columns: slice,
        log_index: int,
    ) -> None:
        """Add the whitened rows of one log, whose place in the fit is of its statistics and log."""
        number, log = data_and_log
        equations = self.fit.data.system.data[number][1]
        groups = np.flatnonzero(self.group_index[:, 0] == number)
        C = _residual_coefficients(
            equations.residual_coefficients(log, int(self.group_index[groups[0], 1])),
            self.lever,
            self.offsets[log_index],
            tangent,
            self.to_y,
        )
        stacks, noise = [self.R], statistics.noise_rows[0]
        for group in groups.tolist():
            group_number, root = int(self.group_index[group, 1]), whitener(self.weights[group])
            total = statistics.total_factor(0, group_number)
            self._add_noise(total, noise[group_number], group, C)
            if group_number != CONSTANT_GROUP:
                rows = (root @ np.tensordot(total, C, axes=1)).reshape(-1, C.shape[-1])
                stacks.append(np.pad(rows, ((0, 0), (self.shared_count, 0))))
                continue
            stacks.append(
                self._block_mean_rows(statistics, C, root, (drift_columns, equations.offsets))
            )
        self.R = qr_factor(np.concatenate(stacks))

    def _add_noise(self, total: Array, noise: Array, group: int, C: Array) -> None:
        """Add the noise of the rows of a log and group, whose triangular factor is `total`."""
        noise = np.sqrt(self.fit.noise_fraction) * noise[noise.any(axis=1)]
        if not len(noise):
            return
        weight, band = self.weights[group], int(self.group_index[group, 1])
        more, less = _coloured_noise_rows(total, noise, C, band)
        noisy = np.tensordot(np.concatenate((noise, more, less)), C, axes=1)
        signed = noisy.copy()
        signed[len(noise) + len(more) :] *= -1.0
        root, shape = whitener(weight), (-1, C.shape[-1])
        self.noise += (root @ noisy).reshape(shape).T @ (root @ signed).reshape(shape)
        products = np.tensordot(noisy[..., -1], signed[..., :-1], axes=(0, 0))
        self.noise_products[group] += np.tensordot(weight, products, axes=1)

    def _block_mean_rows(
        self,
        statistics: Statistics,
        C: Array,
        root: Array,
        drift_and_offsets: tuple[slice, str],
    ) -> Array:
        """Form the rows of block means; keep those of drift, return those of common columns."""
        drift, offsets = drift_and_offsets
        cells = block_mean_cells(statistics)
        z = statistics.factors[cells]
        kept = z.any(axis=2)
        owner, m = np.nonzero(kept)[0], C.shape[1]
        z = z[kept]
        count = drift.stop - drift.start
        acted = z[:, 0]
        shape = cosine_means(*equal_time_intervals(len(cells)), count // m)[owner]
        of_drift = np.einsum("ck,mn->cmkn", shape * acted[:, None], root)
        of_offset = -acted[:, None, None] * root
        no_offset = of_offset[..., :0]
        columns = (
            of_offset if offsets == "per_log" else no_offset,
            of_drift.reshape(len(z), m, count),
            of_offset if offsets == "shared" else np.zeros((len(z), m, self.shared_count)),
            root @ np.tensordot(z, C, axes=1),
        )
        rows = np.concatenate(columns, axis=2).reshape(len(z) * m, -1)
        eliminated = columns[0].shape[2]
        R = qr_factor(rows)[eliminated:, eliminated:]
        self.drift_rows.append((drift, R[:count]))
        return R[count:, count:]

    def finish(self) -> tuple[Array, Array, Array]:
        """Return the triangular factor of all rows, and noise moment and noise scatter.

        Columns are [shared offsets | body, effects | drift | residual]; the m shared offsets are
        eliminated by dropping the first m rows and columns of the factor. Each unidentifiable
        direction, last among those of the body, has a pseudo-row of unit variance.

        The noise scatter of columns p and q is Σ_g tr(N_p N_q) / n over the groups of channels,
        with N_p = W Σ ±ν_r ν_pᵀ (`noise_products`) of noise ν in the residual r and column p, minus
        where there is less of it than white noise.
        """
        split = self.fit.identifiability
        k = split.identifiable.shape[1]
        body_and_effects = len(self.noise) - 1
        m = self.shared_count
        width = body_and_effects + self.drift_count + 1
        pseudo_rows = np.zeros((split.unidentifiable.shape[1], m + width))
        pseudo_rows[:, m + k : m + k + len(pseudo_rows)] = np.eye(len(pseudo_rows))
        common = np.append(np.arange(m + body_and_effects), m + width - 1)
        stacks = [pseudo_rows]
        for columns, rows in (
            (common, self.R),
            *((np.append(m + np.r_[drift], common), rows) for drift, rows in self.drift_rows),
        ):
            wide = np.zeros((len(rows), m + width))
            wide[:, columns] = rows
            stacks.append(wide)
        samples = self.fit.data.system.padded.effective_samples[:, None, None, None]
        noise, noise_scatter = np.zeros((width, width)), np.zeros((width - 1, width - 1))
        noise[np.ix_(common[m:] - m, common[m:] - m)] = self.noise
        noise_scatter[:body_and_effects, :body_and_effects] = np.einsum(
            "gmnp,gnmq->pq", self.noise_products, self.noise_products / samples
        )
        return qr_factor(np.concatenate(stacks))[m:, m:], noise, noise_scatter


def _coloured_noise_rows(total: Array, noise: Array, C: Array, band: int) -> tuple[Array, Array]:
    """Compute the least-squares rows that correct for coloured noise in ẇ and ẅ of the wrench.

    Noise that was filtered with the wrench, or is slow, is as large in a band as its residuals. Let
    E be their moment less that of white noise, and ω the middle of the band: the moment of the
    noise of ẇ is ω² E, of ẅ ω⁴ E, and of ẅ with w −ω² E.

    `total`: of the rows of the band, shape (k, 43); `C`: coefficients, of the residual last, shape
    (43, 6, n).
    Shape (k, 43) each.
    """
    if band == CONSTANT_GROUP:
        return total[:0], total[:0]
    r, white = total @ C[..., -1], noise @ C[..., -1]
    values, vectors = np.linalg.eigh(r.T @ r - white.T @ white)
    root = np.sqrt(np.abs(values))[:, None] * vectors.T
    omega = band_middle(band)
    rows = np.zeros((6, 2, total.shape[1]))
    rows[:, 0, WRENCH], rows[:, 0, WRENCH_SECOND_RATE], rows[:, 1, WRENCH_RATE] = (
        root,
        -(omega**2) * root,
        omega * root,
    )
    parts = rows[values > 0.0], rows[values < 0.0]
    return parts[0].reshape(-1, rows.shape[2]), parts[1].reshape(-1, rows.shape[2])


def _weights_with_drift(fit: LeastSquaresFit) -> Array:
    """Return the weights of a fit, with block means weighted like the lowest band.

    A separate weight of the block means would absorb the drift.
    """
    weights, members = fit.weights.copy(), fit.data.system.group_index
    for number in range(len(fit.data.system.data)):
        groups = np.flatnonzero(members[:, 0] == number)
        means = groups[members[groups, 1] == CONSTANT_GROUP]
        bands = groups[members[groups, 1] != CONSTANT_GROUP]
        if len(means) and len(bands):
            weights[means[0]] = weights[bands[np.argmin(members[bands, 1])]]
    return weights


def _residual_coefficients(
    C: Array, lever: Array, offset: Array, tangent: Array, to_y: Array
) -> Array:
    """Compute coefficients of body, effects and residual in each log column, (43, 6, k + q + 1).

    Where η multiplies the measured wrench, the wrench predicted by the fit is used, because noise
    of the measured wrench is also noise of the residual.
    """
    fit = len(WRENCH_LAYOUT.columns)
    r = C @ lever
    J = -np.einsum("kfd,fm->kmd", tangent, r)
    predicted = np.zeros((fit, 6))
    predicted[:] = -r
    predicted[WRENCH] = 0.0
    predicted[0] += offset
    J[:fit] += np.einsum("kn,nmd->kmd", predicted, J[WRENCH])
    J[WRENCH] = 0.0
    whole = np.zeros((len(J), 6, to_y.shape[1] + J.shape[-1] + 1))
    whole[:fit, :, : to_y.shape[1]] = C[..., 1:] @ to_y
    whole[..., to_y.shape[1] : -1] = J
    whole[:fit, :, -1] = r
    return whole
