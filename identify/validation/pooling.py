"""Whether separate estimates of one body agree: all of them together, and each with the others.

What the data identify is compared, by the generalised least squares mean of the estimates. The
size of each covariance was read off residuals, so the sum of squares is held against F:

    Q = Σ (φᵢ − φ̄)ᵀ Wᵢ (φᵢ − φ̄),  Wᵢ = Cᵢ⁻¹,  W = Σ Wᵢ,  Pᵢ = 1 − W⁻¹ Wᵢ
    a = Σ tr(Pᵢ²) / νᵢ,  b = Σ tr²(Pᵢ) / νᵢ
    Q / c ~ F(f, f (f + 2) / (2 a + b)),  c = f + 2 a − 2 (2 a + b) / (f + 2)

This gives the mean and the variance of Q to first order in 1/νᵢ. It is the test of Welch (1951)
where single numbers are compared, and exact where all sizes but one are known. Johansen (1980)
has (a + b) / 2 in place of a and of b, for covariances of which every entry was estimated;

with f the numbers compared less those pooled, and νᵢ the degrees of freedom of an estimate.

Welch, "On the comparison of several mean values: an alternative approach" (1951).
Johansen, "The Welch-James approximation to the distribution of the residual sum of squares in a
    weighted linear regression" (1980).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtrit

from identify.arrays import Array
from identify.errors import ModelError
from identify.estimation.calibration import NOT_INCLUDED
from identify.estimation.intervals import (
    COM,
    INERTIA_ABOUT_COM,
    derived,
    derived_jacobian,
)
from identify.exchange import SavedEstimate
from identify.inertia import PHI
from identify.relevance import UNNOTICED_MASS_SHARE
from identify.significance import CONFIDENCE_QUANTILE, ESTIMATES_DIFFER_P, UNLIMITED_DEGREES

COMPARED_PARAMETERS = ("m", *COM, *INERTIA_ABOUT_COM)
"""What is compared parameter by parameter: mass, centre of mass, inertia about it."""

_BEHIND = (0, *range(1, 4), *range(4, 10))
"""The parameter of phi that decides whether each of them is identified."""

_TRUSTED = 1.1
"""Scatter up to which estimates are said to agree whatever its probability: no interval is right to
a tenth, and of hundreds of logs that would show."""

Agreement: TypeAlias = Literal["agree", "differ", "cannot be told"]


@dataclass(frozen=True, slots=True)
class DifferenceFromPool:
    """One estimate beside the pool of the others.

    Attributes:
        p: how probable a difference as large is by chance, were the body the same; None where
            nothing of the estimate can be compared.
        parameters: of `COMPARED_PARAMETERS`, what differs most by itself; those beyond chance, or the first.
    """

    p: float | None
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PooledEstimates:
    """Estimates put together, and what the tests of them say.

    Attributes:
        verdict: whether they agree.
        why: in words, where that cannot be told.
        p: how probable differences as large are by chance, all estimates together; None where
            nothing can be compared.
        degrees: of freedom of that comparison.
        scatter: how large the differences are over what the covariances say, near 1 by chance.
        differing: names of those that differ from the rest, the furthest first; more than half of
            them is no majority to differ from, and then it is none.
        by_name: each beside the pool of the others; those that differ are no part of that pool.
        by_parameter: the probability by parameter of `COMPARED_PARAMETERS`; None where fewer than two have it.
        values: of the pool, by parameter of `COMPARED_PARAMETERS`; those that differ are no part of it. NaN
            where there is none, as where they differ without a majority.
        intervals: 95 % bounds of these, or None.
        calibrated: whether the intervals of all count the calibration of their sensor, as far as
            that is said.
        noticed: how far from the others a typical estimate has to be, in one parameter alone, to
            differ beyond chance; None where fewer than two have it.
    """

    verdict: Agreement
    why: str
    p: float | None
    degrees: int
    scatter: float | None
    differing: tuple[str, ...]
    by_name: Mapping[str, DifferenceFromPool]
    by_parameter: Mapping[str, float | None]
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float] | None]
    noticed: Mapping[str, float | None]
    calibrated: bool


def pool_estimates(estimates: Mapping[str, SavedEstimate]) -> PooledEstimates:
    """Pool estimates of separate logs, and test whether they are of one body.

    Logs that differ are looked for one after the other: each is held against the pool of the
    others, with the level divided by how many there are (Bonferroni), and the furthest is left out
    of the pool; in the end those that do not differ from that pool come back. An estimate on the
    edge of what is possible is taken as its covariance says, which makes differences look smaller
    than they are and not larger.

    Args:
        estimates: by name; each with covariance, intervals and what decided its parameters. They
            must rest on different data. Errors of scale that are given are taken to be those of one
            sensor: no difference comes of them, and no number of logs makes them less.

    Raises:
        ModelError: one has no covariance, intervals or `decided_by`.
    """
    names = list(estimates)
    parts = _Parts.of(estimates)
    rest, found = list(range(len(names))), []
    while len(rest) > 1:
        tests = {one: parts.against(one, [k for k in rest if k != one]) for one in rest}
        if not min(test.p for test in tests.values()) * len(rest) < ESTIMATES_DIFFER_P:
            break
        # Without it the rest agree best. Its probability does not say that: beside a pool with
        # the odd one in it a good log is as improbable, and none is below zero.
        furthest = max(rest, key=lambda one: tests[one].squares)
        found.append(furthest)
        rest.remove(furthest)
    while found:  # what seemed to differ beside a pool with another in it comes back
        back = {one: parts.against(one, rest).p for one in found}
        nearest = max(found, key=lambda one: back[one])
        if back[nearest] * (len(rest) + 1) < ESTIMATES_DIFFER_P:
            break
        found.remove(nearest)
        rest.append(nearest)
    if 2 * len(found) >= len(names):  # no majority that the others could differ from
        found, rest = [], list(range(len(names)))
    test = parts.together()
    verdict, why = _verdict(parts, test, bool(found))
    # Of bodies that differ without a majority there is no mean that means anything.
    pool = parts.pool([] if verdict == "differ" and not found else rest)
    return PooledEstimates(
        verdict=verdict,
        why=why,
        p=None if np.isnan(test.p) else test.p,
        degrees=test.degrees,
        scatter=None if np.isnan(test.p) else test.scatter,
        differing=tuple(names[one] for one in found),
        by_name={
            name: parts.difference(one, [k for k in rest if k != one])
            for one, name in enumerate(names)
        },
        by_parameter={name: parts.of_parameter(k) for k, name in enumerate(COMPARED_PARAMETERS)},
        values=dict(zip(COMPARED_PARAMETERS, pool.values.tolist(), strict=True)),
        intervals={
            name: None if np.isnan(half) else (value - half, value + half)
            for name, value, half in zip(
                COMPARED_PARAMETERS,
                pool.values.tolist(),
                np.hypot(pool.half_widths, _of_scale(estimates)).tolist(),
                strict=True,
            )
        },
        noticed={name: parts.noticed(k) for k, name in enumerate(COMPARED_PARAMETERS)},
        calibrated=not any(NOT_INCLUDED in (e.interval_kind or "") for e in estimates.values()),
    )


@dataclass(frozen=True, slots=True)
class _Pool:
    """The mean of some estimates: in scaled units, and as it is shown in SI.

    Attributes:
        identified: which of the ten any of them identifies, shape (10,).
        mean: shape (10,); NaN for the others.
        covariance: shape (10, 10).
        degrees: of freedom.
        values, variances: of `COMPARED_PARAMETERS`, shape (10,); NaN where one is not identified.
    """

    identified: NDArray[np.bool_]
    mean: Array
    covariance: Array
    degrees: float
    values: Array
    variances: Array

    @property
    def half_widths(self) -> Array:
        """Of the 95 % intervals of `COMPARED_PARAMETERS`."""
        return stdtrit(self.degrees, CONFIDENCE_QUANTILE) * np.sqrt(self.variances)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Estimates in units that make their spreads alike; K of them.

    Attributes:
        units: of the ten parameters, shape (10,).
        phi: in these units, shape (K, 10).
        covariances: in these units, shape (K, 10, 10).
        identified: what the data of each identify, shape (K, 10).
        information: inverse covariances of that, zero elsewhere, shape (K, 10, 10).
        degrees: of freedom of each, shape (K,).
        values, variances: of `COMPARED_PARAMETERS` in SI, shape (K, 10); NaN where one is not identified.
    """

    units: Array
    phi: Array
    covariances: Array
    identified: NDArray[np.bool_]
    information: Array
    degrees: Array
    values: Array
    variances: Array

    @classmethod
    def of(cls, estimates: Mapping[str, SavedEstimate]) -> _Parts:
        several = list(estimates.values())
        raw = [_covariance(name, one) for name, one in estimates.items()]
        spreads = np.array([np.sqrt(np.diag(one)) for one in raw]).reshape(-1, 10)
        identified = np.array([_identified(one) for one in several], dtype=bool).reshape(-1, 10)
        identified &= spreads > 0.0
        units = np.ones(10)
        for k in range(10):
            if identified[:, k].any():
                units[k] = np.median(spreads[identified[:, k], k])
        covariances = np.array(raw).reshape(-1, 10, 10) / units / units[:, None]
        phi = np.array([one.parameters.phi for one in several]).reshape(-1, 10)
        information = np.zeros_like(covariances)
        for one, which in enumerate(identified):
            inside = np.ix_(which, which)
            information[one][inside] = np.linalg.inv(covariances[one][inside])
        shown = [_shown(p, c, i) for p, c, i in zip(phi, raw, identified, strict=True)]
        return cls(
            units,
            phi / units,
            covariances,
            identified,
            information,
            np.array([_degrees(one, i) for one, i in zip(several, identified, strict=True)]),
            np.array([value for value, _ in shown]).reshape(-1, 10),
            np.array([variance for _, variance in shown]).reshape(-1, 10),
        )

    def together(self) -> EqualMeansTest:
        """All of them."""
        return equal_means_test(self.phi, self.information, self.identified, self.degrees)

    def pool(self, which: Sequence[int]) -> _Pool:
        """The mean of some."""
        some = list(which)
        identified = np.asarray(self.identified[some].any(axis=0))
        inside = np.ix_(identified, identified)
        total = self.information[some].sum(axis=0)
        covariance = np.zeros((10, 10))
        covariance[inside] = np.linalg.inv(total[inside])
        weighted = np.einsum("kij,kj->i", self.information[some], self.phi[some])
        mean = np.where(identified, covariance @ weighted, np.nan)
        shares = np.einsum("ij,kji->k", covariance, self.information[some])
        shares = shares / max(int(identified.sum()), 1)
        spread = float((shares**2 / self.degrees[some]).sum())
        others = np.median(self.phi[some], axis=0) if some else np.full(10, np.nan)
        known = np.where(identified, mean, others) * self.units  # a mass that is given is the same
        for_show = covariance * self.units * self.units[:, None]
        values, variances = _shown(known, for_show, identified)
        degrees = 1.0 / spread if spread else UNLIMITED_DEGREES
        return _Pool(identified, mean, covariance, degrees, values, variances)

    def against(self, one: int, others: Sequence[int], pool: _Pool | None = None) -> EqualMeansTest:
        """The test of one and the pool of others; a probability of 1 for nothing to compare."""
        pool = pool or self.pool(others)
        both = self.identified[one] & pool.identified
        if not both.any():
            return EqualMeansTest(1.0, 0, 0.0, 0.0)
        inside = np.ix_(both, both)
        pair = (self.covariances[one][inside], pool.covariance[inside])
        return equal_means_test(
            np.array([self.phi[one][both], pool.mean[both]]),
            np.array([np.linalg.inv(covariance) for covariance in pair]),
            np.ones((2, int(both.sum())), dtype=bool),
            np.array([self.degrees[one], pool.degrees]),
        )

    def difference(self, one: int, others: Sequence[int]) -> DifferenceFromPool:
        """One beside the pool of others."""
        pool = self.pool(others)
        if not (self.identified[one] & pool.identified).any():
            return DifferenceFromPool(None, ())
        p = self.against(one, others, pool).p
        spread = np.sqrt(self.variances[one] + pool.variances)
        away = np.abs(self.values[one] - pool.values) / spread
        order = [int(k) for k in np.argsort(-np.nan_to_num(away)) if np.isfinite(away[k])]
        # Two-sided, for each of the parameters.
        degrees = min(self.degrees[one], pool.degrees)
        limit = stdtrit(degrees, 1.0 - 0.5 * ESTIMATES_DIFFER_P / len(COMPARED_PARAMETERS))
        far = [k for k in order if away[k] > limit] or order[:1]
        return DifferenceFromPool(p, tuple(COMPARED_PARAMETERS[k] for k in far))

    def noticed(self, k: int) -> float | None:
        """How far a typical estimate has to be from the others in one parameter of `COMPARED_PARAMETERS`."""
        there = np.isfinite(self.variances[:, k])
        count = int(there.sum())
        if count < 2:
            return None
        spread = np.sqrt(np.median(self.variances[there, k]) * (1.0 + 1.0 / (count - 1.0)))
        limit = stdtrit(np.median(self.degrees[there]), 1.0 - 0.5 * ESTIMATES_DIFFER_P / count)
        return float(limit * spread)

    def of_parameter(self, k: int) -> float | None:
        """Probability of differences as large in one parameter of `COMPARED_PARAMETERS`."""
        there = np.isfinite(self.variances[:, k])
        if there.sum() < 2:
            return None
        variances = self.variances[there, k]
        return equal_means_test(
            self.values[there, k, None] / np.sqrt(np.median(variances)),
            (np.median(variances) / variances)[:, None, None],
            np.ones((int(there.sum()), 1), dtype=bool),
            self.degrees[there],
        ).p


class EqualMeansTest(NamedTuple):
    """What the test of several means says.

    Attributes:
        p: how probable differences as large are by chance; NaN where there is nothing to compare.
        degrees: f, the numbers compared less those pooled.
        scatter: √(Q / c), the differences over what the covariances say; near 1 by chance.
        squares: Q.
    """

    p: float
    degrees: int
    scatter: float
    squares: float


def equal_means_test(
    means: Array, information: Array, identified: NDArray[np.bool_], degrees: Array
) -> EqualMeansTest:
    """Whether several means estimate the same.

    Args:
        means: shape (K, p).
        information: inverse covariances of what each has, zero elsewhere, shape (K, p, p).
        identified: what each has, shape (K, p).
        degrees: of freedom of the size of each covariance, shape (K,).
    """
    pooled = identified.any(axis=0)
    f = int(identified.sum()) - int(pooled.sum())
    if f == 0:
        return EqualMeansTest(float("nan"), 0, float("nan"), 0.0)
    inside = np.ix_(pooled, pooled)
    total = np.zeros(information.shape[1:])
    total[inside] = np.linalg.inv(information.sum(axis=0)[inside])
    mean = total @ np.einsum("kij,kj->i", information, means)
    left = np.where(identified, means - mean, 0.0)
    squares = float(np.einsum("ki,kij,kj->", left, information, left))
    own = total @ information
    sizes = identified.sum(axis=1)
    traces = np.einsum("kii->k", own)
    of_squares = sizes - 2.0 * traces + np.einsum("kij,kji->k", own, own)
    a, b = (float((of / degrees).sum()) for of in (of_squares, (sizes - traces) ** 2))
    c = f + 2.0 * a - 2.0 * (2.0 * a + b) / (f + 2.0)
    p = float(fdtrc(f, f * (f + 2.0) / (2.0 * a + b), squares / c))
    return EqualMeansTest(p, f, float(np.sqrt(squares / c)), squares)


def _verdict(parts: _Parts, test: EqualMeansTest, found: bool) -> tuple[Agreement, str]:
    if len(parts.phi) < 2:
        return "cannot be told", "there are fewer than two estimates to compare"
    if np.isnan(test.p):
        return "cannot be told", "no parameter is identified by two of the estimates"
    if found or (test.p < ESTIMATES_DIFFER_P and test.scatter > _TRUSTED):
        return "differ", ""
    noticed = parts.noticed(0)  # none of a mass that is given: the rest decides
    share = 0.0 if noticed is None else noticed / float(np.nanmedian(parts.values[:, 0]))
    if share > UNNOTICED_MASS_SHARE:
        return "cannot be told", f"they would differ by {100.0 * share:.0f} % in mass unnoticed"
    return "agree", ""


def _covariance(name: str, estimate: SavedEstimate) -> Array:
    if estimate.covariance is None or not (estimate.intervals and estimate.decided_by):
        raise ModelError(
            f"{name}: an estimate without covariance, intervals or decided_by cannot be compared; "
            f"take one that identify fit has written"
        )
    return estimate.repeatability


def _of_scale(estimates: Mapping[str, SavedEstimate]) -> Array:
    """95 % half-widths that errors of scale alone make, by `COMPARED_PARAMETERS`: of a typical estimate."""
    of_each: list[Array] = [np.zeros(len(COMPARED_PARAMETERS))]
    for estimate in estimates.values():
        if estimate.calibration is not None:
            every = np.ones(len(PHI), dtype=np.bool_)
            of_each.append(_shown(estimate.parameters.phi, estimate.calibration, every)[1])
    variances = np.median(np.nan_to_num(of_each[1:] or of_each), axis=0)
    return stdtrit(UNLIMITED_DEGREES, CONFIDENCE_QUANTILE) * np.sqrt(variances)


def _identified(estimate: SavedEstimate) -> list[bool]:
    return [estimate.decided_by.get(name) in ("data", "constraint") for name in PHI]


def average_degrees_of_freedom(estimate: SavedEstimate) -> float:
    """Degrees of freedom that the intervals of an estimate were made with, on the whole.

    Args:
        estimate: with covariance, intervals and what decided its parameters.
    """
    return _degrees(estimate, np.array(_identified(estimate)))


def _degrees(estimate: SavedEstimate, identified: NDArray[np.bool_]) -> float:
    """Of freedom of the covariance: what the intervals were made with, harmonic over parameters."""
    known = [estimate.degrees_of_freedom.get(PHI[k]) for k in np.flatnonzero(identified).tolist()]
    inverse = [1.0 / min(of or UNLIMITED_DEGREES, UNLIMITED_DEGREES) for of in known]
    return 1.0 / float(np.mean(inverse)) if inverse else UNLIMITED_DEGREES


def _shown(phi: Array, covariance: Array, identified: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Values and variances of `COMPARED_PARAMETERS`, NaN where one is not identified."""
    if not phi[0] > 0.0:
        return np.full(10, np.nan), np.full(10, np.nan)
    values = np.concatenate((phi[:1], derived(phi)))
    jacobian = np.concatenate((np.eye(10)[:1], derived_jacobian(phi)))
    variances = np.einsum("ij,jk,ik->i", jacobian, covariance, jacobian)
    known = identified[list(_BEHIND)] & (variances > 0.0)
    return np.where(known, values, np.nan), np.where(known, variances, np.nan)
