from dataclasses import replace

import numpy as np
import pytest
from scipy.special import chdtrc, fdtrc, stdtrit
from scipy.stats import f as f_distribution

from identify.estimation.intervals import intervals_of
from identify.estimation.scale_accuracy import WITHOUT_SENSOR_FAULTS
from identify.exchange import SavedEstimate
from identify.inertia import PHI, InertialParameters
from identify.significance import ESTIMATES_DIFFER_P
from identify.validation import PooledEstimates, pool_estimates
from identify.validation.equal_means import equal_means_test
from tests.close import assert_close

BODY = InertialParameters.from_com(1.2, [0.01, -0.02, 0.05], np.diag([3e-3, 2e-3, 4e-3]))
SPREAD = np.array([2e-3, *(3e-4,) * 3, *(5e-5,) * 6])
BY_DATA = dict.fromkeys(PHI, "data")


def drawn(rng, phi=BODY.phi, *, degrees=40.0, wide=1.0, decided_by=BY_DATA) -> SavedEstimate:
    """An estimate of phi whose covariance is known but for its size."""
    mixing = np.eye(10) + 0.3 * rng.standard_normal((10, 10))
    root = wide * SPREAD[:, None] * mixing
    phi = phi + root @ rng.standard_normal(10)
    covariance = rng.chisquare(degrees) / degrees * root @ root.T
    intervals = intervals_of(phi, covariance, np.full(10, degrees), decided_by)
    return SavedEstimate(
        InertialParameters(phi),
        covariance=covariance,
        intervals=intervals,
        decided_by=decided_by,
    )


def test_shared_scale_error_neither_separates_nor_averages_out():
    rng = np.random.default_rng(5)
    several = {f"log{k}": drawn(rng) for k in range(16)}
    of_scale = 0.02**2 * np.outer(BODY.phi, BODY.phi)

    def with_scale(one: SavedEstimate) -> SavedEstimate:
        assert one.covariance is not None
        covariance = one.covariance + of_scale
        intervals = intervals_of(one.parameters.phi, covariance, np.full(10, 40.0), BY_DATA)
        return replace(one, covariance=covariance, calibration=of_scale, intervals=intervals)

    plain = pool_estimates(several)
    scaled = pool_estimates({name: with_scale(one) for name, one in several.items()})
    assert scaled.detectable["m"] == pytest.approx(plain.detectable["m"], rel=0.05)
    assert_close(scaled.values["m"], plain.values["m"], 1e-3)
    low, high = bounds(scaled, "m")
    assert 0.5 * (high - low) == pytest.approx(1.96 * 0.02 * BODY.mass, rel=0.05)
    odd = {name: with_scale(one) for name, one in several.items()}
    odd["odd"] = with_scale(drawn(rng, 1.02 * BODY.phi))
    assert pool_estimates(odd).differing == ("odd",)
    assert scaled.calibrated
    unknown = replace(several["log0"], interval_kind=f"95 %; {WITHOUT_SENSOR_FAULTS}")
    assert not pool_estimates(several | {"log0": unknown}).calibrated


def narrowed(one: SavedEstimate, factor: float) -> SavedEstimate:
    """The same with a covariance that says its errors are smaller by a factor."""
    covariance = np.array(one.covariance) / factor**2
    phi = one.parameters.phi
    intervals = intervals_of(phi, covariance, np.full(10, 1e6), one.decided_by)
    return replace(one, covariance=covariance, intervals=intervals)


def bounds(pooled: PooledEstimates, name: str) -> tuple[float, float]:
    interval = pooled.intervals[name]
    assert interval is not None
    return interval


def positive(rng, size: int) -> np.ndarray:
    root = rng.standard_normal((size, size + 2))
    return root @ root.T / size


def test_same_mean_of_scalars_is_welch_test():
    rng = np.random.default_rng(1)
    count, means = 5, rng.standard_normal((5, 1))
    variances, degrees = rng.uniform(0.2, 2.0, count), rng.uniform(4.0, 20.0, count)
    p, f, *_ = equal_means_test(
        means, 1.0 / variances[:, None, None], np.ones((count, 1), bool), degrees
    )
    w = 1.0 / variances
    mean = (w @ means[:, 0]) / w.sum()
    between = w @ (means[:, 0] - mean) ** 2 / (count - 1)
    lost = ((1.0 - w / w.sum()) ** 2 / degrees).sum()
    welch = between / (1.0 + 2.0 * (count - 2) / (count**2 - 1) * lost)
    assert f == count - 1
    assert_close(p, f_distribution.sf(welch, count - 1, (count**2 - 1) / (3.0 * lost)), rtol=1e-10)


def test_comparison_with_known_mean_is_f_test():
    rng = np.random.default_rng(2)
    covariance, mean = positive(rng, 10), rng.standard_normal(10)
    information = np.array([np.linalg.inv(covariance), 1e12 * np.eye(10)])
    means = np.array([mean, np.zeros(10)])
    p, f, *_ = equal_means_test(means, information, np.ones((2, 10), bool), np.array([25.0, 1e12]))
    assert f == 10
    square = float(mean @ np.linalg.solve(covariance, mean))
    assert_close(p, fdtrc(10, 25.0, square / 10.0), rtol=1e-6)


def test_same_mean_excludes_unidentified_parameters_from_degrees_of_freedom():
    rng = np.random.default_rng(3)
    size, count = 4, 3
    which = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [0, 1, 1, 0]], dtype=bool)
    means = rng.standard_normal((count, size))
    information = np.zeros((count, size, size))
    rows, right = [], []
    for one in range(count):
        inside = np.ix_(which[one], which[one])
        covariance = positive(rng, size)[inside]
        information[one][inside] = np.linalg.inv(covariance)
        whiten = np.linalg.inv(np.linalg.cholesky(covariance))
        rows.append(whiten @ np.eye(size)[which[one]])
        right.append(whiten @ means[one][which[one]])
    p, f, *_ = equal_means_test(means, information, which, np.full(count, 1e12))
    _, squares, rank, _ = np.linalg.lstsq(np.concatenate(rows), np.concatenate(right))
    assert f == which.sum() - rank
    assert_close(p, chdtrc(f, squares[0]), rtol=1e-6)


def test_same_mean_p_value_is_calibrated_for_few_degrees_of_freedom():
    rng = np.random.default_rng(4)
    count, size, rounds = 5, 10, 1500
    degrees = np.array([12.0, 20.0, 30.0, 60.0, 60.0])
    truths = np.array([positive(rng, size) for _ in range(count)])
    roots, everything = np.linalg.cholesky(truths), np.ones((count, size), bool)
    inverse = np.linalg.inv(truths)
    found = []
    for _ in range(rounds):
        means = np.einsum("kij,kj->ki", roots, rng.standard_normal((count, size)))
        sizes = rng.chisquare(degrees) / degrees
        found.append(equal_means_test(means, inverse / sizes[:, None, None], everything, degrees).p)
    below = [float(np.mean(np.array(found) < level)) for level in (0.5, 0.1, 0.02)]
    # Four standard errors of a share on either side.
    assert abs(below[0] - 0.5) < 0.052
    assert abs(below[1] - 0.1) < 0.031
    assert abs(below[2] - 0.02) < 0.0145


def test_estimates_of_same_body_agree_and_pool_covers_it():
    rng = np.random.default_rng(5)
    pooled = pool_estimates({f"log{k}": drawn(rng) for k in range(20)})
    assert pooled.verdict == "agree"
    assert pooled.p is not None
    assert pooled.p > ESTIMATES_DIFFER_P
    assert (pooled.degrees, pooled.differing) == (190, ())
    truth = dict(zip(pooled.values, [BODY.mass, *BODY.com], strict=False))
    for name, value in truth.items():
        low, high = bounds(pooled, name)
        assert low - 0.5 * (high - low) < value < high + 0.5 * (high - low)
        assert_close(pooled.values[name], 0.5 * (low + high))


def test_the_pool_is_the_weighted_mean():
    rng = np.random.default_rng(6)
    several = {f"log{k}": drawn(rng, degrees=1e12) for k in range(4)}
    pooled = pool_estimates(several)
    weights = [np.linalg.inv(one.covariance / SPREAD / SPREAD[:, None]) for one in several.values()]
    right = sum(w @ (one.parameters.phi / SPREAD) for w, one in zip(weights, several.values()))  # noqa: B905
    mean = SPREAD * np.linalg.solve(sum(weights), right)
    body = InertialParameters(mean)
    inertia = body.inertia_about_com[np.triu_indices(3)]
    assert_close(np.array(list(pooled.values.values())), [mean[0], *body.com, *inertia], rtol=1e-8)
    half = np.sqrt(np.linalg.inv(sum(weights))[0, 0]) * SPREAD[0] * stdtrit(1e12, 0.975)
    low, high = bounds(pooled, "m")
    assert_close(0.5 * (high - low), half, rtol=1e-6)


def test_logs_of_another_body_are_named_with_differing_parameters():
    rng = np.random.default_rng(7)
    other = BODY.phi + np.array([0.03, *np.zeros(9)])
    several = {f"log{k}": drawn(rng, other if k in (2, 5) else BODY.phi) for k in range(8)}
    pooled = pool_estimates(several)
    assert pooled.verdict == "differ"
    assert sorted(pooled.differing) == ["log2", "log5"]
    assert "m" in pooled.by_name["log2"].parameters
    odd, other = (pooled.by_name[name].p for name in ("log2", "log0"))
    assert odd is not None
    assert other is not None
    assert odd < ESTIMATES_DIFFER_P / 8 < other
    assert abs(pooled.values["m"] - BODY.mass) < 3e-3  # of the rest


def test_outlier_of_high_weight_does_not_incriminate_good_log():
    """Of the pool the odd one has half the weight, and the narrowest of the others seem far."""
    rng = np.random.default_rng(15)
    other = BODY.phi + np.array([0.3, *np.zeros(9)])
    several = {f"part{k}": drawn(rng, degrees=400.0) for k in range(6)}
    several["part3"] = drawn(rng, degrees=4000.0, wide=0.7)
    several["odd"] = drawn(rng, other, degrees=400.0, wide=0.4)
    pooled = pool_estimates(several)
    assert (pooled.verdict, pooled.differing) == ("differ", ("odd",))
    for name in several:
        p = pooled.by_name[name].p
        assert p is not None
        assert (p < ESTIMATES_DIFFER_P / len(several)) == (name == "odd")
    few = pool_estimates({name: several[name] for name in ("part0", "part1", "part3", "odd")})
    assert few.differing == ("odd",)
    assert abs(few.values["m"] - BODY.mass) < 6e-3


def test_slightly_narrow_intervals_do_not_cause_disagreement():
    rng = np.random.default_rng(14)
    several = {}
    for factor, verdict in ((1.05, "agree"), (1.25, "differ")):
        for k in range(300):
            one = drawn(rng, degrees=1e6)
            several[f"{k}"] = narrowed(one, factor)
        pooled = pool_estimates(several)
        assert pooled.p is not None
        assert pooled.p < ESTIMATES_DIFFER_P
        assert pooled.scatter == pytest.approx(factor, rel=0.05)  # four standard errors
        assert pooled.verdict == verdict


def test_too_few_or_imprecise_estimates_are_undecided():
    rng = np.random.default_rng(10)
    for few in ({}, {"a": drawn(rng)}):
        assert pool_estimates(few).verdict == "undecided"
        assert "fewer than two" in pool_estimates(few).undecided_reason
    vague = pool_estimates({f"{k}": drawn(rng, wide=60.0) for k in range(2)})
    assert vague.verdict == "undecided"
    assert "% in mass" in vague.undecided_reason


def test_a_mass_that_is_given_is_not_compared_but_used():
    rng = np.random.default_rng(11)
    given = BY_DATA | {"m": "given"}
    several = {}
    for k in range(3):
        one = drawn(rng, decided_by=given)
        phi, covariance = np.array(one.parameters.phi), np.array(one.covariance)
        phi[0], covariance[0], covariance[:, 0] = 1.2, 0.0, 0.0
        intervals = intervals_of(phi, covariance, np.full(10, 40.0), given)
        several[f"{k}"] = replace(
            one, parameters=InertialParameters(phi), covariance=covariance, intervals=intervals
        )
    pooled = pool_estimates(several)
    assert (pooled.verdict, pooled.degrees) == ("agree", 18)
    assert pooled.by_parameter["m"] is None
    assert pooled.intervals["m"] is None
    assert pooled.intervals["cx"] is not None
