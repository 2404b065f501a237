"""Variance components of random effects by maximum marginal likelihood.

Effects η are seen as T η = t + N(0, 1). Groups of them are normal, η_i ~ N(0, σ_g²) in units of
their columns, and the prior of each size is a gamma distribution, p(σ_g) ∝ σ_g^(a−1) exp(−σ_g/s_g)
up to a cap. Its shape a is between that of an exponential (1), by which a sensor without a fault
would have to be far more precise than its noise, and that of no preferred scale (0). Sizes are
found one after the other on a grid that is even in log σ, at the maximum of the marginal likelihood
beside the other groups at theirs. The error of a size is in the covariance: that of the mixture
over the grid.

Harville, "Maximum likelihood approaches to variance component estimation" (1977).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Flags, Indices
from identify.regressors.triangular import cholesky, invert_triangular, qr_factor

_RELATIVE_SIZES = np.logspace(-5.0, 0.0, 17)
"""Grid of the standard deviation of a variance component, as fractions of its upper limit."""

_GAMMA_SHAPE = 0.25
"""Shape of the gamma prior of a standard deviation: on 200 logs of the study `effects` (seed 311),
clean intervals were 1.2, 1.3, 1.8 times as wide as without effects for shapes 0, 0.25 and 1."""

_MAX_SWEEPS = 4
"""Largest number of sweeps of coordinate-wise maximisation over the standard deviations."""

_START_SIZES = (1.0, 0.01)
"""Initial standard deviations relative to their prior scales, as there may be several maxima."""

_MIN_VARIANCE_REDUCTION = 1e-12
"""Relative reduction of the prior's variance below which the data are uninformative."""

_MAX_SQUARED_INFORMATION = 1e10
"""Largest information relative to the prior information for which normal equations are used."""


@dataclass(frozen=True, slots=True)
class VarianceComponent:
    """Random effects that share one standard deviation, called the size of the component.

    Attributes:
        columns: indices of the effects, shape (k,).
        prior_size: s of the gamma prior of the size, in units of the columns.
        max_size: largest size.
        min_size: smallest size.
        tied: indices of further effects of that size that do not inform it, shape (t,).
        size_is_fixed: whether the size is fixed to one unit of each column.
    """

    columns: Indices
    prior_size: float = 1.0
    max_size: float = 1.0
    min_size: float = 0.0
    tied: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    size_is_fixed: bool = False

    @property
    def grid(self) -> Array:
        """Grid of standard deviations, from `min_size` to `cap`."""
        sizes = self.max_size * _RELATIVE_SIZES
        return sizes[sizes >= min(self.min_size, sizes[-1])]

    def size_prior_cost(self, size: Array | float) -> Array:
        """Evaluate −2 log of the prior density of log σ, up to a constant."""
        share = np.asarray(size) / self.prior_size
        return 2.0 * share - 2.0 * _GAMMA_SHAPE * np.log(share)


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """Estimated random effects at the maximum-likelihood variances of their components.

    Attributes:
        sizes: σ of each component, shape (components,).
        at_cap: whether the size of each component is at its cap, shape (components,).
        effects: η in units of the columns, shape (q,).
        covariance: covariance of the effects including errors of the sizes, shape (q, q).
        size_error_covariances: covariance from the error of each size, (components, q, q).
        laplace_penalty: ηᵀΛ⁻¹η + log |Λ C⁻¹| plus the cost of the sizes' prior. Twice the
            log-likelihood at the effects exceeds twice the marginal one (Laplace) by it.
        prior_root: C Λ^-½ with C the covariance at the sizes and Λ the prior's, shape (q, q). Each
            column is the uncertainty that the prior of one effect contributes.
    """

    sizes: Array
    at_cap: Flags
    effects: Array
    covariance: Array
    size_error_covariances: Array
    laplace_penalty: float
    prior_root: Array


def random_effects(
    T: Array, t: Array, components: Sequence[VarianceComponent], start: Array | None = None
) -> RandomEffects:
    """Estimate random effects and the standard deviations of their variance components.

    `T`: coefficients of the effects in units of the columns, shape (n, q); `t`: right side, whose
    noise has variance one, shape (n,); `start`: initial sizes, shape (components,); two default
    starts if not given.
    """
    data = _EffectEquations(T, t, T.T @ T, T.T @ t)
    free = [k for k, c in enumerate(components) if not c.size_is_fixed]
    starts = [np.array([share * c.prior_size for c in components]) for share in _START_SIZES]
    candidates = [
        _maximise_sizes(data, components, free, sizes)
        for sizes in (starts if start is None else [start])
    ]
    sizes = min(candidates, key=lambda sizes: data.cost(components, sizes, free))
    posterior = data.posterior(components, sizes)
    C, spread = posterior.covariance, _prior_deviations(components, sizes, len(data.scores))
    size_error_covariances = np.zeros((len(components), *C.shape))
    for k in free:
        profile = _Profile.of(posterior, components[k], sizes[k])
        size_error_covariances[k] = profile.size_error_covariance(sizes[k])
    at_cap = np.array(
        [
            not c.size_is_fixed and size >= c.max_size and len(c.grid) > 1
            for c, size in zip(components, sizes, strict=True)
        ]
    )
    known = spread > 0.0
    unit = spread[known]
    shares = C[np.ix_(known, known)] / np.outer(unit, unit)
    penalty = float(np.sum((posterior.mean[known] / unit) ** 2) - np.linalg.slogdet(shares)[1])
    penalty += sum(float(components[k].size_prior_cost(sizes[k])) for k in free)
    return RandomEffects(
        sizes=sizes,
        at_cap=at_cap,
        effects=posterior.mean,
        covariance=C + size_error_covariances.sum(axis=0),
        size_error_covariances=size_error_covariances,
        laplace_penalty=penalty,
        prior_root=C / spread,
    )


def _maximise_sizes(
    data: _EffectEquations,
    components: Sequence[VarianceComponent],
    free: Sequence[int],
    start: Array,
) -> Array:
    """Maximise the marginal likelihood over one component's standard deviation after another."""
    sizes = np.array(
        [
            1.0 if c.size_is_fixed else max(float(size), c.grid[0])
            for c, size in zip(components, start, strict=True)
        ]
    )
    posterior = data.posterior(components, sizes)
    for _ in range(_MAX_SWEEPS):
        before = sizes.copy()
        for k in free:
            likeliest = _Profile.of(posterior, components[k], sizes[k]).likeliest
            if likeliest != sizes[k]:
                sizes[k] = likeliest
                posterior = data.posterior(components, sizes)
        if np.array_equal(sizes, before):
            break
    return sizes


def _prior_deviations(components: Sequence[VarianceComponent], sizes: Array, count: int) -> Array:
    """Return the prior standard deviation of each column, shape (q,)."""
    spread = np.zeros(count)
    for component, size in zip(components, sizes, strict=True):
        spread[component.columns] = spread[component.tied] = size
    return spread


class _EffectPosterior(NamedTuple):
    """Mean and covariance of all random effects at given variances of the components."""

    mean: Array
    covariance: Array


@dataclass(frozen=True, slots=True)
class _EffectEquations:
    """Linear equations T η = t + noise of random effects η, with TᵀT and Tᵀt."""

    T: Array
    t: Array
    information: Array
    scores: Array

    def cost(
        self, components: Sequence[VarianceComponent], sizes: Array, free: Sequence[int]
    ) -> float:
        """Evaluate −2 log (marginal likelihood × prior), up to a constant."""
        posterior = self.posterior(components, sizes)
        spread = _prior_deviations(components, sizes, len(self.scores))
        residual = self.T @ posterior.mean - self.t
        shares = posterior.covariance / np.outer(spread, spread)
        cost = float(residual @ residual + np.sum((posterior.mean / spread) ** 2))
        cost -= float(np.linalg.slogdet(shares)[1])
        return cost + sum(float(components[k].size_prior_cost(sizes[k])) for k in free)

    def posterior(self, components: Sequence[VarianceComponent], sizes: Array) -> _EffectPosterior:
        """Compute the posterior of the effects for given standard deviations of the components."""
        spread = _prior_deviations(components, sizes, len(self.scores))
        scaled = spread[:, None] * self.information * spread
        if np.diag(scaled).max(initial=0.0) < _MAX_SQUARED_INFORMATION:
            R = cholesky(np.eye(len(spread)) + scaled)
        else:
            R = qr_factor(np.concatenate((self.T * spread, np.eye(len(spread)))))
        root = spread[:, None] * invert_triangular(R)
        return _EffectPosterior(root @ (root.T @ self.scores), root @ root.T)


@dataclass(frozen=True, slots=True)
class _Profile:
    """Marginal likelihood over a component's standard deviation, with the others fixed.

    Attributes:
        sizes: of the grid, shape (n,).
        cost: minus twice the logarithm of likelihood and prior at each, shape (n,).
        marginal_information: of the component's marginal information M, shape (k,).
        estimates: of the effects along its eigenvectors, without the prior, shape (k,).
        lift: change of all effects by that of those along the eigenvectors, shape (q, k).
    """

    sizes: Array
    cost: Array
    marginal_information: Array
    estimates: Array
    back_projection: Array

    @classmethod
    def of(cls, posterior: _EffectPosterior, component: VarianceComponent, size: float) -> _Profile:
        """Compute the profile of one component from the posterior, with σ² (1 + σ² M)⁻¹ = C."""
        columns = component.columns
        C = posterior.covariance[np.ix_(columns, columns)]
        shares, vectors = np.linalg.eigh(C / size**2)
        shares = np.clip(shares, 1e-100, 1.0)
        informative_share = 1.0 - shares
        marginal_information = informative_share / shares / size**2
        # The estimate without the prior, where the data say anything of it.
        estimates = (
            vectors.T
            @ posterior.mean[columns]
            / np.where(informative_share > _MIN_VARIANCE_REDUCTION, informative_share, np.inf)
        )
        grid = component.grid
        after = 1.0 + grid[:, None] ** 2 * marginal_information
        cost = np.log(after).sum(axis=1) + (marginal_information * estimates**2 / after).sum(axis=1)
        cost += component.size_prior_cost(grid)
        back_projection = posterior.covariance[:, columns] @ (vectors / (shares * size**2))
        return cls(grid, cost, marginal_information, estimates, back_projection)

    @property
    def likeliest(self) -> float:
        """Standard deviation of the component with the highest likelihood."""
        return float(self.sizes[np.argmin(self.cost)])

    def _moments(self, size: Array) -> tuple[Array, Array]:
        """Compute mean and variance of effects along eigenvectors for n sizes, (n, k) each."""
        squares = size[:, None] ** 2
        variance = squares / (1.0 + squares * self.marginal_information)
        return variance * self.marginal_information * self.estimates, variance

    def size_error_covariance(self, size: float) -> Array:
        """Compute the effects' covariance due to the error of the standard deviation, (q, q)."""
        weights = np.exp(-0.5 * (self.cost - self.cost.min()))
        weights /= weights.sum()
        mean, variance = self._moments(np.array([size]))
        means, variances = self._moments(self.sizes)
        off = means - mean
        added = np.diag(weights @ variances - variance[0]) + (weights[:, None] * off).T @ off
        values, vectors = np.linalg.eigh(added)
        root = self.back_projection @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        return root @ root.T
