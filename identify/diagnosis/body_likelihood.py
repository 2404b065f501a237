"""Maximum likelihood of logs of one body, to compare interpretations of the logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from identify.arrays import Array, Phi, Vec3
from identify.inertia import PSEUDO_INERTIA_BASIS, pseudo_inertia
from identify.inertia.consistency import MAX_DENSITY, density_lower_bound
from identify.regressors import FEATURE_TENSOR, Statistics
from identify.signals.transform import CONSTANT_GROUP
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    ATTITUDE,
    COLUMN_COUNT,
    FEATURES,
    FIT_COLUMN_COUNT,
    FORCE_AXES,
    PROPER_ACCELERATION,
    TORQUE_AXES,
    WRENCH,
    columns_of_part,
    without_constant,
)

_IRLS_ITERATIONS = 4
"""Number of iterations of reweighting; convergence is far below the differences compared."""

_MIN_RELATIVE_RESIDUAL = 1e-5
"""Smallest residual considered, as a fraction of the wrench: that of differentiation errors."""

_MAX_NOISE_TO_SIGNAL = 0.25
"""Largest noise-to-signal ratio of the motion in a band that is used: with more noise, an
interpretation without the motion would fit better than the correct one."""

_TOO_DENSE_PENALTY = 100.0
"""Penalty, as twice a log-likelihood, of a body that is denser than any material."""

_MAX_NEGATIVE_MOMENT_PENALTY = 15.0
"""Largest penalty of a negative second moment: noise in the motion, which the fit does not correct,
makes the moments of slender bodies negative."""

_NEGATIVE_MOMENT_TOLERANCE = 0.02
"""Negative second moment without penalty, as a share of the mean, as bias may cause for a rod."""

_MIN_BAND_SAMPLES = 10.0
"""Effective samples below which a band's noise is bounded by that of larger bands: a body and a
fault have enough parameters to fit a few samples exactly."""

_PRIOR_SAMPLES = 12.0
"""Prior samples of independent axes for the covariance of a residual: from fewer than about twenty
samples, as in static poses, its 21 entries are so uncertain that any fault seems more likely."""

_FAULT_UNKNOWNS = 2
"""Unknowns beside those of a body: about half of a rotation's three, and the noise (Bartlett)."""

_MIN_INDEPENDENT_SHARE = 0.1
"""Least share of the equations that counts as left beside the unknowns."""

_INFORMATION_RIDGE = 1e-11
"""Ridge relative to the information of each unknown, larger than its rounding errors."""

_MIN_INFORMATION_SCALE = 1e-100
"""Smallest scale of the information in the ridge, so that a log without any divides by no zero."""

_FORCE_AND_TORQUE_AXES = FORCE_AXES, TORQUE_AXES

_PSI, _W = without_constant(FEATURES), without_constant(WRENCH)
"""Columns of the features and of the wrench in rows without the constant."""

_ALPHA = columns_of_part(ANGULAR_ACCELERATION, _PSI)
"""Columns of the angular acceleration in rows without the constant."""

_MAX_ATTENUATION = 0.99
"""Largest share of noise in a motion: with more, nothing is known about the inertia anyway."""


@dataclass(frozen=True, slots=True)
class BandRows:
    """Rows of one log by band as triangular factors, with the sensor's offset eliminated.

    Attributes:
        bands: numbers of the groups.
        factors: triangular factor of each band without the constant, shape (bands, K, K − 1).
        effective_samples: effective samples of each band, less those that the unknowns of a body
            and a fault fit, shape (bands,).
        turning_noise: noise of the angular acceleration, as a share of its power about the axis
            where the share is largest; at most `_MAX_ATTENUATION`.
    """

    bands: tuple[int, ...]
    factors: Array
    effective_samples: Array
    turning_noise: float

    @classmethod
    def of(cls, statistics: Statistics, bands: Sequence[int] | None = None) -> BandRows:
        """Return the rows of a log's bands, by default of all, from its statistics."""
        (counts,) = statistics.sum_over_blocks(statistics.effective_samples)
        groups = np.flatnonzero(counts) if bands is None else np.array(bands, dtype=np.intp)
        samples = counts[groups] - (groups == CONSTANT_GROUP)
        groups, samples = groups[samples >= 1.0], samples[samples >= 1.0]
        factors = statistics.total_factors[0, groups][:, :, 1:].copy()
        factors[groups == CONSTANT_GROUP, 0] = 0.0  # the row that an offset affects
        noise = statistics.noise_rows[0, groups][:, :, _ALPHA.start + 1 : _ALPHA.stop + 1]
        shares, _ = _noise_shares(factors[:, :, _ALPHA], noise)
        share = min(float(shares.max()), _MAX_ATTENUATION)
        return cls(
            tuple(groups.tolist()), factors, samples * _independent_share(factors, samples), share
        )

    @property
    def measures_wrench(self) -> bool:
        """Whether force and torque are nonzero: in free flight they are zero."""
        return all(self.factors[:, :, _W][..., half].any() for half in _FORCE_AND_TORQUE_AXES)

    def in_bands_of(self, other: BandRows) -> BandRows:
        """Return the rows in the bands that another log has too."""
        kept = [k for k, band in enumerate(self.bands) if band in other.bands]
        bands = tuple(self.bands[k] for k in kept)
        return BandRows(bands, self.factors[kept], self.effective_samples[kept], self.turning_noise)

    def mapped(self, M: Array | None) -> BandRows:
        """Return the rows times a matrix of shape (K, K′); unchanged for None."""
        if M is None:
            return self
        without_offset = M[1 : 1 + self.factors.shape[2], 1:]
        return replace(self, factors=self.factors @ without_offset)


def _independent_share(factors: Array, samples: Array) -> float:
    """Return the share of equations that is left beside the unknowns of a body and a fault.

    Twice a log-likelihood ratio of N equations, with p unknowns and a noise that is estimated too,
    is about (N − p)/N of χ² (Bartlett 1937): few static poses fit any rotation.
    """
    acting = np.tensordot(factors[:, :, _PSI], FEATURE_TENSOR, axes=1).any(axis=(0, 1, 2))
    unknowns = np.count_nonzero(acting) + _FAULT_UNKNOWNS
    return max(1.0 - unknowns / (6.0 * max(float(samples.sum()), 1.0)), _MIN_INDEPENDENT_SHARE)


def high_snr_bands(statistics: Statistics, gravity: Vec3) -> tuple[int, ...]:
    """Return the bands of a log whose motion exceeds its noise, or all bands if none does.

    Turns, or accelerations, that exceed their noise in no band are not asked for.

    `gravity`: g in W [m/s²].
    """
    moving = np.zeros((len(statistics.layout.columns), 6))
    moving[FEATURES, :][:6] = np.eye(6)
    moving[ATTITUDE, :3] = np.kron(np.eye(3), np.asarray(gravity)[:, None])
    (counts,) = statistics.sum_over_blocks(statistics.effective_samples)
    bands = [b for b in np.flatnonzero(counts).tolist() if b != CONSTANT_GROUP]
    power, noise = (
        np.sum((rows[0, bands] @ moving) ** 2, axis=1).reshape(-1, 2, 3).sum(axis=2)
        for rows in (statistics.total_factors, statistics.noise_rows)
    )
    clear = noise <= _MAX_NOISE_TO_SIGNAL * power
    clear |= ~clear.any(axis=0)  # a body that hardly turns
    kept = [band for band, is_clear in zip(bands, clear.all(axis=1), strict=True) if is_clear]
    return (*(CONSTANT_GROUP,) * bool(counts[CONSTANT_GROUP]), *(kept or bands))


def motion_noise_map(statistics: Statistics, rows: BandRows, gravity: Vec3) -> Array:
    """Return the map of a log's columns to those without motion that is mostly noise.

    Of the acceleration of Bo, of the direction of gravity and of the angular acceleration, each in
    axes of B, the directions are dropped whose noise is above `_MAX_NOISE_TO_SIGNAL`. Whatever
    shrinks such motion explains the wrench better than the motion does.

    `gravity`: g in W [m/s²].
    """
    g = np.asarray(gravity)[:, None]
    weight, acceleration, turning = np.zeros((3, COLUMN_COUNT, 3))
    weight[ATTITUDE] = np.kron(np.eye(3), g)  # Rᵀ g
    acceleration[columns_of_part(PROPER_ACCELERATION, FEATURES)] = np.eye(3)
    acceleration += weight  # a' + Rᵀ g
    turning[columns_of_part(ANGULAR_ACCELERATION, FEATURES)] = np.eye(3)
    noise = statistics.noise_rows[0, list(rows.bands)]
    M = np.eye(COLUMN_COUNT)
    for motion, sign, part in (
        (acceleration, 1.0, PROPER_ACCELERATION),
        (weight, -1.0, PROPER_ACCELERATION),
        (turning, 1.0, ANGULAR_ACCELERATION),
    ):
        shares, axes = _noise_shares(
            rows.factors @ motion[1 : 1 + rows.factors.shape[2]], noise @ motion
        )
        noisy = axes[:, shares > _MAX_NOISE_TO_SIGNAL]
        M[:, columns_of_part(part, FEATURES)] -= sign * motion @ noisy @ noisy.T
    return M


def cost_without_noisy_motion(
    logs: Sequence[Statistics], rows: Sequence[BandRows], gravities: Sequence[Vec3]
) -> float:
    """Return the cost of logs without the motion that is mostly noise.

    Another reading has to cost clearly less, as it may shrink that motion.

    `gravities`: g of each log in W [m/s²].
    """
    maps = map(motion_noise_map, logs, rows, gravities)
    return fit_body([each.mapped(M) for each, M in zip(rows, maps, strict=True)]).cost


def _noise_shares(logged: Array, noise: Array) -> tuple[Array, Array]:
    """Return the share of noise in the power of a vector about its principal axes, and these axes.

    `logged`: factors of the vector in each band, shape (bands, n, 3); `noise`: factors of its
    noise, shape (bands, m, 3).
    Returns shares, shape (3,), and axes as columns, shape (3, 3).
    """
    rows = logged.reshape(-1, 3)
    powers, axes = np.linalg.eigh(rows.T @ rows)
    spread = np.sum((noise.reshape(-1, 3) @ axes) ** 2, axis=0)
    return spread / np.maximum(powers, max(powers.max(), _MIN_INFORMATION_SCALE) * 1e-12), axes


@dataclass(frozen=True, slots=True)
class BodyFit:
    """Maximum-likelihood fit of one body to logs.

    Attributes:
        cost: minus twice the log-likelihood of the mapped wrench, plus the penalty of an
            infeasible body.
        phi: the body, by weighted least squares.
        weights: inverse covariance of the residual of each band, log after log, shape (n, 6, 6).
        density: lower bound of the body's density [kg/m³].
    """

    cost: float
    phi: Phi
    weights: Array
    density: float


def fit_body(logs: Sequence[BandRows], *, scale: float = 1.0) -> BodyFit:
    """Fit one body to logs by maximum likelihood with a residual covariance in each band.

    `scale`: smallest factor by which the wrench, and with it the density, may be smaller; zero if
    its unit is unknown, which disables the test of the density.
    """
    Z = stacked_factors(logs)[:, :, : FIT_COLUMN_COUNT - 1]
    n = np.concatenate([log.effective_samples for log in logs])
    G = Z.swapaxes(1, 2) @ Z
    measured = G[:, _W, _W]
    power = np.diag(measured.sum(axis=0)) / n.sum()
    power = np.repeat(
        [max(power[part].mean(), np.finfo(float).tiny) for part in _FORCE_AND_TORQUE_AXES], 3
    )
    floor = np.diag(_MIN_RELATIVE_RESIDUAL**2 * power)
    covariances = np.broadcast_to(np.diag(power), (len(n), 6, 6))
    phi, covariance = np.zeros(10), np.eye(10)
    spread = np.empty_like(covariances)
    for _ in range(_IRLS_ITERATIONS):
        phi, covariance = _weighted_least_squares(G, np.linalg.inv(covariances))
        r = Z @ np.concatenate((-FEATURE_TENSOR @ phi, np.eye(6)))  # w − Y φ
        spread = r.swapaxes(1, 2) @ r / n[:, None, None] + floor
        covariances = _residual_covariances(spread, n)
    inverse = np.linalg.inv(covariances)
    cost = n @ (np.linalg.slogdet(covariances)[1] + np.einsum("bij,bji->b", inverse, spread))
    attenuation = min(log.turning_noise for log in logs)
    density = density_lower_bound(phi, covariance, attenuation)
    # NaN if the second moment is significantly negative; that is not feasible either.
    too_dense = scale > 0.0 and not scale * density <= MAX_DENSITY
    cost += _infeasibility_penalty(phi, covariance) + _TOO_DENSE_PENALTY * too_dense
    return BodyFit(float(cost), phi, inverse, density)


def _weighted_least_squares(G: Array, weights: Array) -> tuple[Phi, Array]:
    """Solve weighted least squares for φ (minimum norm if not unique), with its covariance."""
    F = FEATURE_TENSOR.reshape(72, 10)
    weighted = np.matmul(weights[:, None], FEATURE_TENSOR)
    crossed = G[:, _PSI, _PSI] @ weighted.reshape(-1, 12, 60)
    N = F.T @ crossed.sum(axis=0).reshape(72, 10)
    b = G[:, _PSI, _W].reshape(-1) @ weighted.reshape(-1, 10)
    covariance = inverse_information(N)
    return covariance @ b, covariance


def inverse_information(N: Array) -> Array:
    """Invert an information matrix with a relative ridge for unidentified directions."""
    scale = np.sqrt(np.maximum(np.diag(N), 1e-20 * max(N.max(), _MIN_INFORMATION_SCALE)))
    known = N / np.outer(scale, scale) + _INFORMATION_RIDGE * np.eye(len(N))
    return np.linalg.inv(known) / np.outer(scale, scale)


def stacked_factors(logs: Sequence[BandRows]) -> Array:
    """Stack triangular factors of all bands of logs, padded to equal height, (n, K, columns)."""
    factors = [log.factors for log in logs]
    height = max(factor.shape[1] for factor in factors)
    if all(factor.shape[1] == height for factor in factors):
        return np.concatenate(factors)
    return np.concatenate(
        [np.pad(factor, ((0, 0), (0, height - factor.shape[1]), (0, 0))) for factor in factors]
    )


def _residual_covariances(moments: Array, samples: Array) -> Array:
    """Estimate residual covariances: a common correlation, and force and torque scales per band.

    The correlation is shrunk to zero in proportion to the prior samples.
    """
    common = _shrink_to_independent(
        (samples @ moments.reshape(-1, 36)).reshape(6, 6) / samples.sum(), samples.sum()
    )
    sizes, large = np.ones((len(samples), 6)), samples >= min(_MIN_BAND_SAMPLES, samples.max())
    for _ in range(2):
        inverse = np.linalg.inv(np.array([common[part, part] for part in _FORCE_AND_TORQUE_AXES]))
        for part, precision in zip(_FORCE_AND_TORQUE_AXES, inverse, strict=True):
            size = moments[:, part, part].reshape(-1, 9) @ precision.T.reshape(9) / 3.0
            size[~large] = np.maximum(size[~large], size[large].min())
            sizes[:, part] = np.sqrt(size)[:, None]
        whitened = moments / sizes[:, :, None] / sizes[:, None, :]
        common = _shrink_to_independent(
            (samples @ whitened.reshape(-1, 36)).reshape(6, 6) / samples.sum(), samples.sum()
        )
    return sizes[:, :, None] * common * sizes[:, None, :]


def _shrink_to_independent(covariance: Array, samples: float) -> Array:
    """Shrink a sample covariance to independent axes with equal variances in force and torque."""
    variances = covariance.diagonal().reshape(2, 3).sum(axis=1) / 3.0
    independent = np.diag(np.repeat(variances, 3))
    return (samples * covariance + _PRIOR_SAMPLES * independent) / (samples + _PRIOR_SAMPLES)


def _infeasibility_penalty(phi: Phi, covariance: Array) -> float:
    """Return the squared z-score of a negative mass or second moment."""
    worst = _squared_z_below_zero(phi[0], np.eye(10)[0], covariance)
    values, gradient = pseudo_inertia_spectrum(phi)
    short = float(values[0]) + _NEGATIVE_MOMENT_TOLERANCE * max(float(values.mean()), 0.0)
    return worst + min(
        _squared_z_below_zero(short, gradient, covariance), _MAX_NEGATIVE_MOMENT_PENALTY
    )


def pseudo_inertia_spectrum(phi: Phi) -> tuple[Array, Array]:
    """Return the scaled pseudo-inertia's eigenvalues, and the gradient of the smallest by φ.

    `phi`: parameters of a body, physically consistent or not, shape (10,).
    Returns eigenvalues in ascending order, shape (4,), and the derivative of the first, shape
    (10,).
    """
    Pi = pseudo_inertia(phi)
    length = np.sqrt(max(np.trace(Pi[:3, :3]), 1e-12) / max(abs(phi[0]), 1e-12))
    units = np.array([1.0, 1.0, 1.0, length]) / length
    values, vectors = np.linalg.eigh(Pi * np.outer(units, units))
    v = vectors[:, 0] * units
    return values, PSEUDO_INERTIA_BASIS.T.reshape(10, 4, 4) @ v @ v


def _squared_z_below_zero(value: float, gradient: Array, covariance: Array) -> float:
    variance = float(gradient @ covariance @ gradient)
    return value**2 / max(variance, np.finfo(float).tiny) if value < 0.0 else 0.0
