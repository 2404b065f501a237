"""Pooling of separate estimates of one body, with tests whether the estimates agree.

The identified parameters are compared with the generalised least squares mean of the estimates
(`equal_means_test`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from identify.arrays import Array
from identify.errors import ModelError
from identify.estimation.intervals import (
    COM_NAMES,
    INERTIA_ABOUT_COM_NAMES,
    derived_jacobian,
    derived_quantities,
)
from identify.estimation.scale_accuracy import WITHOUT_SENSOR_FAULTS
from identify.exchange import SavedEstimate
from identify.inertia import PHI
from identify.relevance import MAX_UNDETECTED_MASS_DIFFERENCE
from identify.significance import (
    CONFIDENCE_QUANTILE,
    ESTIMATES_DIFFER_P,
    UNLIMITED_DEGREES_OF_FREEDOM,
)
from identify.validation.equal_means import EqualMeansTest, equal_means_test

COMPARED_PARAMETERS = ("m", *COM_NAMES, *INERTIA_ABOUT_COM_NAMES)
"""Parameters that are compared separately: mass, centre of mass, inertia about the centre of
mass."""

_PHI_INDICES = (0, *range(1, 4), *range(4, 10))
"""Index in phi of the parameter that decides whether each compared parameter is identified."""

_MAX_SCATTER_OF_AGREEMENT = 1.1
"""Scatter of the estimates up to which they agree, whatever the p-value: no interval is accurate to
a tenth, and hundreds of logs would reveal it."""

Agreement: TypeAlias = Literal["agree", "differ", "undecided"]


@dataclass(frozen=True, slots=True)
class DifferenceFromPool:
    """Difference of one estimate from the pooled estimate of the others.

    Attributes:
        p: p-value under the hypothesis of one body; None if nothing can be compared.
        parameters: the `COMPARED_PARAMETERS` that differ significantly by themselves, the largest
            difference first; else the one that differs most.
    """

    p: float | None
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PooledEstimates:
    """Pooled estimates and the results of tests of their agreement.

    Attributes:
        verdict: whether they agree.
        undecided_reason: reason if the verdict is "undecided".
        p: p-value of all estimates together under the hypothesis of one body; None if nothing can
            be compared.
        degrees: degrees of freedom of that comparison.
        scatter: differences relative to their covariances, near 1 for one body.
        differing: names of estimates that differ from the others, the largest difference first;
            empty if they are half or more, so that known is no majority.
        by_name: difference of each estimate from the pool of the others without the differing.
        by_parameter: p-value of each of `COMPARED_PARAMETERS`; None if fewer than two identify it.
        values: `COMPARED_PARAMETERS` of the pool, without the differing estimates. NaN if known is
            none, as for estimates that differ without a majority.
        intervals: 95 % bounds of these, or None.
        calibrated: whether all intervals include the calibration error of their sensor, as far as
            known.
        detectable: difference of a typical estimate from the others in one parameter alone that
            is significant; None if fewer than two identify it.
    """

    verdict: Agreement
    undecided_reason: str
    p: float | None
    degrees: int
    scatter: float | None
    differing: tuple[str, ...]
    by_name: Mapping[str, DifferenceFromPool]
    by_parameter: Mapping[str, float | None]
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float] | None]
    detectable: Mapping[str, float | None]
    calibrated: bool


def pool_estimates(estimates: Mapping[str, SavedEstimate]) -> PooledEstimates:
    """Pool estimates of separate logs, and test whether they are of one body.

    Logs that differ are removed one after the other: each is compared with the pool of the others,
    with the level divided by their number (Bonferroni), and the furthest is removed from the pool;
    finally, removed ones that do not differ from that pool are restored. The covariance of an
    estimate on the boundary of consistency is used unchanged, which makes differences look
    smaller, not larger.

    Args:
        estimates: by name; each with covariance, intervals and `decided_by`. They must be based on
            different data. Given scale errors are taken to be those of one sensor: they cause no
            difference, and averaging does not reduce them.

    Raises:
        ModelError: one has no covariance, intervals or `decided_by`.
    """
    names = list(estimates)
    scaled = _ScaledEstimates.of(estimates)
    agreeing, differing = list(range(len(names))), list[int]()
    while len(agreeing) > 1:
        tests = {k: scaled.test_against(k, [i for i in agreeing if i != k]) for k in agreeing}
        if not min(test.p for test in tests.values()) * len(agreeing) < ESTIMATES_DIFFER_P:
            break
        # Remove the largest Q, after which the others agree best. p does not tell: compared with a
        # pool that contains the outlier a good log is as improbable, and p underflows to zero.
        furthest = max(agreeing, key=lambda k: tests[k].q_statistic)
        differing.append(furthest)
        agreeing.remove(furthest)
    while differing:  # restore those that differed only from a pool with another outlier
        p_values = {k: scaled.test_against(k, agreeing).p for k in differing}
        nearest = max(differing, key=lambda k: p_values[k])
        if p_values[nearest] * (len(agreeing) + 1) < ESTIMATES_DIFFER_P:
            break
        differing.remove(nearest)
        agreeing.append(nearest)
    if 2 * len(differing) >= len(names):  # no majority that the others could differ from
        differing, agreeing = [], list(range(len(names)))
    test = equal_means_test(scaled.phi, scaled.information, scaled.identified, scaled.degrees)
    verdict, why = _verdict(scaled, test, bool(differing))
    # The mean of bodies that differ without a majority is meaningless.
    pool = scaled.pool([] if verdict == "differ" and not differing else agreeing)
    return PooledEstimates(
        verdict=verdict,
        undecided_reason=why,
        p=None if np.isnan(test.p) else test.p,
        degrees=test.degrees,
        scatter=None if np.isnan(test.p) else test.scatter,
        differing=tuple(names[k] for k in differing),
        by_name={
            name: scaled.difference(k, [i for i in agreeing if i != k])
            for k, name in enumerate(names)
        },
        by_parameter={name: scaled.p_of_parameter(k) for k, name in enumerate(COMPARED_PARAMETERS)},
        values=dict(zip(COMPARED_PARAMETERS, pool.values.tolist(), strict=True)),
        intervals={
            name: None if np.isnan(half) else (value - half, value + half)
            for name, value, half in zip(
                COMPARED_PARAMETERS,
                pool.values.tolist(),
                np.hypot(pool.half_widths, _scale_half_widths(estimates)).tolist(),
                strict=True,
            )
        },
        detectable={
            name: scaled.detectable_difference(k) for k, name in enumerate(COMPARED_PARAMETERS)
        },
        calibrated=not any(
            WITHOUT_SENSOR_FAULTS in (e.interval_kind or "") for e in estimates.values()
        ),
    )


@dataclass(frozen=True, slots=True)
class _Pool:
    """Generalised least-squares mean of some estimates, in scaled units and in SI.

    Attributes:
        identified: which of the ten parameters any of them identifies, shape (10,).
        mean: shape (10,); NaN for the others.
        covariance: shape (10, 10).
        degrees: of freedom.
        values, variances: `COMPARED_PARAMETERS` in SI, shape (10,); NaN if not identified.
    """

    identified: NDArray[np.bool_]
    mean: Array
    covariance: Array
    degrees: float
    values: Array
    variances: Array

    @property
    def half_widths(self) -> Array:
        """Half-widths of the 95 % intervals of `COMPARED_PARAMETERS`, shape (10,)."""
        return stdtrit(self.degrees, CONFIDENCE_QUANTILE) * np.sqrt(self.variances)


@dataclass(frozen=True, slots=True)
class _ScaledEstimates:
    """Estimates in units that make their standard errors comparable.

    Attributes:
        units: units of the ten parameters, shape (10,).
        phi: in these units, shape (K, 10).
        covariances: in these units, shape (K, 10, 10).
        identified: whether the data identify each parameter, shape (K, 10).
        information: inverse covariances of the identified, zero elsewhere, shape (K, 10, 10).
        degrees: degrees of freedom of each, shape (K,).
        values, variances: `COMPARED_PARAMETERS` in SI, shape (K, 10); NaN if not identified.
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
    def of(cls, estimates: Mapping[str, SavedEstimate]) -> _ScaledEstimates:
        bodies = list(estimates.values())
        raw = [_require_covariance(name, estimate) for name, estimate in estimates.items()]
        spreads = np.array([np.sqrt(np.diag(covariance)) for covariance in raw]).reshape(-1, 10)
        identified = np.array([_identified(body) for body in bodies], dtype=bool).reshape(-1, 10)
        identified &= spreads > 0.0
        units = np.ones(10)
        for k in range(10):
            if identified[:, k].any():
                units[k] = np.median(spreads[identified[:, k], k])
        covariances = np.array(raw).reshape(-1, 10, 10) / units / units[:, None]
        phi = np.array([body.parameters.phi for body in bodies]).reshape(-1, 10)
        information = np.zeros_like(covariances)
        for k, mask in enumerate(identified):
            block = np.ix_(mask, mask)
            information[k][block] = np.linalg.inv(covariances[k][block])
        compared = [_compared_values(p, c, i) for p, c, i in zip(phi, raw, identified, strict=True)]
        return cls(
            units,
            phi / units,
            covariances,
            identified,
            information,
            np.array([_mean_degrees(body, i) for body, i in zip(bodies, identified, strict=True)]),
            np.array([value for value, _ in compared]).reshape(-1, 10),
            np.array([variance for _, variance in compared]).reshape(-1, 10),
        )

    def pool(self, members: Sequence[int]) -> _Pool:
        """Compute the generalised least squares mean of some estimates."""
        some = list(members)
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
        known = np.where(identified, mean, others) * self.units  # a given mass is the same in all
        for_show = covariance * self.units * self.units[:, None]
        values, variances = _compared_values(known, for_show, identified)
        degrees = 1.0 / spread if spread else UNLIMITED_DEGREES_OF_FREEDOM
        return _Pool(identified, mean, covariance, degrees, values, variances)

    def test_against(
        self, index: int, others: Sequence[int], pool: _Pool | None = None
    ) -> EqualMeansTest:
        """Test whether one estimate equals the pool of others; p = 1 if nothing can be compared."""
        pool = pool or self.pool(others)
        both = self.identified[index] & pool.identified
        if not both.any():
            return EqualMeansTest(1.0, 0, 0.0, 0.0)
        inside = np.ix_(both, both)
        pair = (self.covariances[index][inside], pool.covariance[inside])
        return equal_means_test(
            np.array([self.phi[index][both], pool.mean[both]]),
            np.array([np.linalg.inv(covariance) for covariance in pair]),
            np.ones((2, int(both.sum())), dtype=bool),
            np.array([self.degrees[index], pool.degrees]),
        )

    def difference(self, index: int, others: Sequence[int]) -> DifferenceFromPool:
        """Compare one estimate with the pool of others."""
        pool = self.pool(others)
        if not (self.identified[index] & pool.identified).any():
            return DifferenceFromPool(None, ())
        p = self.test_against(index, others, pool).p
        spread = np.sqrt(self.variances[index] + pool.variances)
        t_values = np.abs(self.values[index] - pool.values) / spread
        order = [int(k) for k in np.argsort(-np.nan_to_num(t_values)) if np.isfinite(t_values[k])]
        # Two-sided, for each of the parameters.
        degrees = min(self.degrees[index], pool.degrees)
        limit = stdtrit(degrees, 1.0 - 0.5 * ESTIMATES_DIFFER_P / len(COMPARED_PARAMETERS))
        significant = [k for k in order if t_values[k] > limit] or order[:1]
        return DifferenceFromPool(p, tuple(COMPARED_PARAMETERS[k] for k in significant))

    def detectable_difference(self, k: int) -> float | None:
        """Return the smallest significant difference of a typical estimate in one parameter."""
        known = np.isfinite(self.variances[:, k])
        count = int(known.sum())
        if count < 2:
            return None
        spread = np.sqrt(np.median(self.variances[known, k]) * (1.0 + 1.0 / (count - 1.0)))
        limit = stdtrit(np.median(self.degrees[known]), 1.0 - 0.5 * ESTIMATES_DIFFER_P / count)
        return float(limit * spread)

    def p_of_parameter(self, k: int) -> float | None:
        """Return the p-value of the hypothesis that one parameter is equal in all estimates."""
        known = np.isfinite(self.variances[:, k])
        if known.sum() < 2:
            return None
        variances = self.variances[known, k]
        return equal_means_test(
            self.values[known, k, None] / np.sqrt(np.median(variances)),
            (np.median(variances) / variances)[:, None, None],
            np.ones((int(known.sum()), 1), dtype=bool),
            self.degrees[known],
        ).p


def _verdict(
    scaled: _ScaledEstimates, test: EqualMeansTest, some_differ: bool
) -> tuple[Agreement, str]:
    """Return the verdict on the agreement of the estimates, and its reason."""
    if len(scaled.phi) < 2:
        return "undecided", "there are fewer than two estimates to compare"
    if np.isnan(test.p):
        return "undecided", "no parameter is identified by two of the estimates"
    if some_differ or (test.p < ESTIMATES_DIFFER_P and test.scatter > _MAX_SCATTER_OF_AGREEMENT):
        return "differ", ""
    detectable = scaled.detectable_difference(0)  # None for a given mass
    share = 0.0 if detectable is None else detectable / float(np.nanmedian(scaled.values[:, 0]))
    if share > MAX_UNDETECTED_MASS_DIFFERENCE:
        return "undecided", f"differences of {100.0 * share:.0f} % in mass are not detectable"
    return "agree", ""


def _require_covariance(name: str, estimate: SavedEstimate) -> Array:
    if estimate.covariance is None or not (estimate.intervals and estimate.decided_by):
        raise ModelError(
            f"{name}: an estimate without covariance, intervals or decided_by cannot be compared; "
            f"use one that identify fit has written"
        )
    return estimate.repeatability


def _scale_half_widths(estimates: Mapping[str, SavedEstimate]) -> Array:
    """Return the median 95 % half-widths of the parameters due to scale errors alone, (10,)."""
    of_each: list[Array] = [np.zeros(len(COMPARED_PARAMETERS))]
    for estimate in estimates.values():
        if estimate.calibration is not None:
            every = np.ones(len(PHI), dtype=np.bool_)
            of_each.append(
                _compared_values(estimate.parameters.phi, estimate.calibration, every)[1]
            )
    variances = np.median(np.nan_to_num(of_each[1:] or of_each), axis=0)
    return stdtrit(UNLIMITED_DEGREES_OF_FREEDOM, CONFIDENCE_QUANTILE) * np.sqrt(variances)


def _identified(estimate: SavedEstimate) -> list[bool]:
    """Return which of the ten parameters an estimate's data identify."""
    return [estimate.decided_by.get(name) in ("data", "constraint") for name in PHI]


def average_degrees_of_freedom(estimate: SavedEstimate) -> float:
    """Return the degrees of freedom of the intervals of an estimate, averaged over parameters."""
    return _mean_degrees(estimate, np.array(_identified(estimate)))


def _mean_degrees(estimate: SavedEstimate, identified: NDArray[np.bool_]) -> float:
    """Return the harmonic mean of the degrees of freedom of the identified parameters."""
    known = [estimate.degrees_of_freedom.get(PHI[k]) for k in np.flatnonzero(identified).tolist()]
    inverse = [
        1.0 / min(of or UNLIMITED_DEGREES_OF_FREEDOM, UNLIMITED_DEGREES_OF_FREEDOM) for of in known
    ]
    return 1.0 / float(np.mean(inverse)) if inverse else UNLIMITED_DEGREES_OF_FREEDOM


def _compared_values(
    phi: Array, covariance: Array, identified: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Return values and variances of `COMPARED_PARAMETERS`, NaN for those not identified."""
    if not phi[0] > 0.0:
        return np.full(10, np.nan), np.full(10, np.nan)
    values = np.concatenate((phi[:1], derived_quantities(phi)))
    jacobian = np.concatenate((np.eye(10)[:1], derived_jacobian(phi)))
    variances = np.einsum("ij,jk,ik->i", jacobian, covariance, jacobian)
    known = identified[list(_PHI_INDICES)] & (variances > 0.0)
    return np.where(known, values, np.nan), np.where(known, variances, np.nan)
