"""Random effects whose sizes the data tell: variance components by marginal likelihood.

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

_GRID = np.logspace(-5.0, 0.0, 17)
"""Sizes that are compared, as shares of the cap."""

_SHAPE = 0.25
"""Shape of the gamma prior of a size. Chosen on 200 logs of the study `effects` (seed 311): clean
intervals were 1.2, 1.3 and 1.8 times as wide as without effects for 0, this and 1."""

_SIZE_SWEEPS = 4
"""Times that each size is found anew beside the others."""

_START_SIZES = (1.0, 0.01)
"""Sizes that a maximum is looked for from, as shares of their scales: there may be several."""

_TOLD = 1e-12
"""Share of the prior's variance that the data have to take off, to be more than rounding."""

_SQUARED = 1e10
"""Information, in units of the prior's, up to which it may be squared."""


@dataclass(frozen=True, slots=True)
class Component:
    """Columns of effects that share one standard deviation.

    Attributes:
        columns: their numbers, shape (k,).
        scale: s of the gamma prior of the size, in units of the columns.
        cap: largest size.
        least: smallest size.
        tied: numbers of further columns of that size, which do not decide it, shape (t,).
        known: whether the size is given, as one unit of each column.
    """

    columns: Indices
    scale: float = 1.0
    cap: float = 1.0
    least: float = 0.0
    tied: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    known: bool = False

    @property
    def grid(self) -> Array:
        """Sizes that are compared, from the least to the cap."""
        sizes = self.cap * _GRID
        return sizes[sizes >= min(self.least, sizes[-1])]

    def prior_cost(self, size: Array | float) -> Array:
        """Minus twice the log density of the prior at a size, in log σ, but for a constant."""
        share = np.asarray(size) / self.scale
        return 2.0 * share - 2.0 * _SHAPE * np.log(share)


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """Effects at the likeliest sizes of their components.

    Attributes:
        sizes: σ of each component, shape (components,).
        at_cap: which components' sizes are at their cap, shape (components,).
        effects: η in units of the columns, shape (q,).
        covariance: of them, the error of the sizes counted, shape (q, q).
        of_size_errors: covariance that the error of each size adds, shape (components, q, q).
        price: cost of the effects and of their sizes, ηᵀΛ⁻¹η + log |Λ C⁻¹| and the prior's: by as
            much is twice the log-likelihood at the effects larger than that of all (Laplace).
        prior_root: C Λ^-½ with C the covariance at the sizes and Λ the prior's: its columns are
            what the prior of each effect leaves open, shape (q, q).
    """

    sizes: Array
    at_cap: Flags
    effects: Array
    covariance: Array
    of_size_errors: Array
    price: float
    prior_root: Array


def random_effects(
    T: Array, t: Array, components: Sequence[Component], start: Array | None = None
) -> RandomEffects:
    """Estimate effects and the sizes of their components.

    Args:
        T: coefficients of the effects in units of the columns, shape (n, q).
        t: right side, whose noise has variance one, shape (n,).
        components: each column belongs to one, or is tied to it.
        start: sizes that the maximum is near, shape (components,); found from two where not given.
    """
    data = _Data(T, t, T.T @ T, T.T @ t)
    free = [k for k, c in enumerate(components) if not c.known]
    starts = [np.array([share * c.scale for c in components]) for share in _START_SIZES]
    found = [
        _likeliest_sizes(data, components, free, sizes)
        for sizes in (starts if start is None else [start])
    ]
    sizes = min(found, key=lambda sizes: data.cost(components, sizes, free))
    posterior = data.posterior(components, sizes)
    C, spread = posterior.covariance, _spread(components, sizes, len(data.scores))
    of_size_errors = np.zeros((len(components), *C.shape))
    for k in free:
        profile = _Profile.of(posterior, components[k], sizes[k])
        of_size_errors[k] = profile.of_size_error(sizes[k])
    at_cap = np.array(
        [
            not c.known and size >= c.cap and len(c.grid) > 1
            for c, size in zip(components, sizes, strict=True)
        ]
    )
    known = spread > 0.0
    unit = spread[known]
    shares = C[np.ix_(known, known)] / np.outer(unit, unit)
    price = float(np.sum((posterior.mean[known] / unit) ** 2) - np.linalg.slogdet(shares)[1])
    price += sum(float(components[k].prior_cost(sizes[k])) for k in free)
    return RandomEffects(
        sizes=sizes,
        at_cap=at_cap,
        effects=posterior.mean,
        covariance=C + of_size_errors.sum(axis=0),
        of_size_errors=of_size_errors,
        price=price,
        prior_root=C / spread,
    )


def _likeliest_sizes(
    data: _Data, components: Sequence[Component], free: Sequence[int], start: Array
) -> Array:
    """Sizes at a maximum of their marginal likelihood, one found after the other."""
    sizes = np.array(
        [
            1.0 if c.known else max(float(size), c.grid[0])
            for c, size in zip(components, start, strict=True)
        ]
    )
    posterior = data.posterior(components, sizes)
    for _ in range(_SIZE_SWEEPS):
        before = sizes.copy()
        for k in free:
            likeliest = _Profile.of(posterior, components[k], sizes[k]).likeliest
            if likeliest != sizes[k]:
                sizes[k] = likeliest
                posterior = data.posterior(components, sizes)
        if np.array_equal(sizes, before):
            break
    return sizes


def _spread(components: Sequence[Component], sizes: Array, count: int) -> Array:
    """Standard deviation of each column, shape (q,)."""
    spread = np.zeros(count)
    for component, size in zip(components, sizes, strict=True):
        spread[component.columns] = spread[component.tied] = size
    return spread


class _Posterior(NamedTuple):
    """Mean and covariance of all effects at some sizes."""

    mean: Array
    covariance: Array


@dataclass(frozen=True, slots=True)
class _Data:
    """Equations of the effects, with their moments."""

    T: Array
    t: Array
    information: Array
    scores: Array

    def cost(self, components: Sequence[Component], sizes: Array, free: Sequence[int]) -> float:
        """Minus twice the logarithm of marginal likelihood and prior, but for a constant."""
        posterior = self.posterior(components, sizes)
        spread = _spread(components, sizes, len(self.scores))
        left = self.T @ posterior.mean - self.t
        shares = posterior.covariance / np.outer(spread, spread)
        cost = float(left @ left + np.sum((posterior.mean / spread) ** 2))
        cost -= float(np.linalg.slogdet(shares)[1])
        return cost + sum(float(components[k].prior_cost(sizes[k])) for k in free)

    def posterior(self, components: Sequence[Component], sizes: Array) -> _Posterior:
        """Effects at some sizes: C = Λ^½ (1 + Λ^½ TᵀT Λ^½)⁻¹ Λ^½, and C Tᵀt."""
        spread = _spread(components, sizes, len(self.scores))
        scaled = spread[:, None] * self.information * spread
        if np.diag(scaled).max(initial=0.0) < _SQUARED:
            R = cholesky(np.eye(len(spread)) + scaled)
        else:
            R = qr_factor(np.concatenate((self.T * spread, np.eye(len(spread)))))
        root = spread[:, None] * invert_triangular(R)
        return _Posterior(root @ (root.T @ self.scores), root @ root.T)


@dataclass(frozen=True, slots=True)
class _Profile:
    """Marginal likelihood of the size of one component beside the others at theirs.

    Attributes:
        sizes: of the grid, shape (n,).
        cost: minus twice the logarithm of likelihood and prior at each, shape (n,).
        values: of the component's marginal information M, shape (k,).
        estimates: of the effects along its eigenvectors, without the prior, shape (k,).
        lift: change of all effects by that of those along the eigenvectors, shape (q, k).
    """

    sizes: Array
    cost: Array
    values: Array
    estimates: Array
    lift: Array

    @classmethod
    def of(cls, posterior: _Posterior, component: Component, size: float) -> _Profile:
        """The profile from the effects at some sizes, σ² (1 + σ² M)⁻¹ = C of the component.

        Args:
            posterior: with the component at its size.
            component: which.
            size: of it.
        """
        own = component.columns
        C = posterior.covariance[np.ix_(own, own)]
        shares, vectors = np.linalg.eigh(C / size**2)
        shares = np.clip(shares, 1e-100, 1.0)
        told = 1.0 - shares
        values = told / shares / size**2
        # The estimate without the prior, where the data say anything of it.
        estimates = vectors.T @ posterior.mean[own] / np.where(told > _TOLD, told, np.inf)
        grid = component.grid
        after = 1.0 + grid[:, None] ** 2 * values
        cost = np.log(after).sum(axis=1) + (values * estimates**2 / after).sum(axis=1)
        cost += component.prior_cost(grid)
        lift = posterior.covariance[:, own] @ (vectors / (shares * size**2))
        return cls(grid, cost, values, estimates, lift)

    @property
    def likeliest(self) -> float:
        """The size of least cost."""
        return float(self.sizes[np.argmin(self.cost)])

    def _moments(self, size: Array) -> tuple[Array, Array]:
        """Mean and variance along the eigenvectors at some sizes, shape (n, k) each."""
        squares = size[:, None] ** 2
        variance = squares / (1.0 + squares * self.values)
        return variance * self.values * self.estimates, variance

    def of_size_error(self, size: float) -> Array:
        """Covariance that the error of the size adds to that at the size, shape (q, q)."""
        weights = np.exp(-0.5 * (self.cost - self.cost.min()))
        weights /= weights.sum()
        mean, variance = self._moments(np.array([size]))
        means, variances = self._moments(self.sizes)
        off = means - mean
        added = np.diag(weights @ variances - variance[0]) + (weights[:, None] * off).T @ off
        values, vectors = np.linalg.eigh(added)
        root = self.lift @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        return root @ root.T
