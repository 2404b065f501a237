"""Findings and verdicts on rows of regressors: wrong orders, parts, rows and constraints."""

import numpy as np
import pytest

from identify import ParameterSpace, solve
from identify.estimation import NegativeMass, TooLittleMotion
from identify.inertia.conventions import REGRESSOR_ORDERS, ColumnOrder
from tests.close import assert_close, assert_same_body
from tests.estimation.serial_arm import LINKS
from tests.estimation.simulated import flat_body, samples, wrench_noise
from tests.estimation.test_dependent_columns import arm
from tests.estimation.test_solve import stacked
from tests.strategies import random_body


def rows(seed: int, share: float = 0.02, count: int = 150):
    rng = np.random.default_rng(seed)
    phi = random_body(rng)
    return phi, *stacked(samples(phi, rng, count, noise=wrench_noise(phi, share)))


def in_order(A: np.ndarray, order: str, bodies: int = 1) -> np.ndarray:
    columns = ColumnOrder.of(order, bodies, A.shape[1] - 10 * bodies)
    given = np.empty_like(A)
    given[:, columns.columns] = A * columns.signs
    return given


def codes(estimate) -> list[str]:
    return [finding.code for finding in estimate.findings]


@pytest.mark.parametrize("order", ["pinocchio", "drake", "wensing", "cyclic", "figaroh"])
def test_an_order_by_name_gives_the_body_and_one_that_is_not_given_is_named(order):
    phi, A, b, groups = rows(0)
    given = in_order(A, order)
    named = solve(given, b, groups=groups, order=order)
    assert named.verdict.usable == "yes"
    assert not named.findings
    assert_same_body(named.parameters.phi, phi, 0.05)
    wrong = solve(given, b, groups=groups)
    assert wrong.verdict.usable == "no"
    assert not wrong.verdict.explains_data
    finding = next(each for each in wrong.findings if each.code == "column_order")
    named_orders = [
        REGRESSOR_ORDERS[each] if isinstance(each, str) else tuple(each)
        for each in finding.evidence["orders"]
    ]
    assert REGRESSOR_ORDERS[order] in named_orders
    assert repr(order) in finding.text


def test_links_of_an_arm_in_the_order_of_pinocchio():
    A, b, _, space, groups = arm(1, share=0.01)
    estimate = solve(in_order(A, "pinocchio", 3), b, space=space, groups=groups, order="pinocchio")
    plain = solve(A, b, space=space, groups=groups)
    for one, other in zip(estimate.bodies, plain.bodies, strict=True):
        assert_same_body(one.parameters.phi, other.parameters.phi, 1e-6)
    assert "column_order" not in codes(plain)
    assert "unexplained" not in codes(plain)


def test_negative_mass_and_missing_columns_speak_of_rows():
    _, A, b, groups = rows(1)
    with pytest.raises(NegativeMass, match=r"b has the other sign"):
        solve(A, -b, groups=groups)
    with pytest.raises(TooLittleMotion, match=r"the rows do not identify m"):
        solve(np.where(np.arange(10) == 0, 0.0, A), b - A[:, 0], groups=groups)
    still = solve(np.where(np.arange(10) == 9, 0.0, A), b, groups=groups)
    assert "little_motion" in codes(still)
    assert any("no row excites the columns Izz" in finding.text for finding in still.findings)


def test_rows_that_no_body_explains_are_refused():
    """Torques of the other sign: the free solution is far from every body."""
    _, A, b, groups = rows(2)
    torque = np.array(groups) == "torque"
    estimate = solve(A, np.where(torque, -b, b), groups=groups)
    assert estimate.verdict.usable == "no"
    assert not estimate.verdict.explains_data
    thin = flat_body(np.random.default_rng(3), (1.0, 0.5, 0.0))
    noisy = samples(thin, np.random.default_rng(4), 150, noise=wrench_noise(thin, 0.02))
    A, b, groups = stacked(noisy)
    edge = solve(A, b, groups=groups)
    assert edge.verdict.usable != "no"
    assert edge.verdict.explains_data


def test_halves_groups_and_rows_that_differ_are_found():
    _, A, b, groups = rows(5)
    half = len(b) // 2
    changed = np.where(np.arange(len(b)) < half, b, 1.3 * b)
    assert "body_changed" in codes(solve(A, changed, groups=groups))
    names = np.array([f"{name} {k // half}" for k, name in enumerate(groups)])
    assert "bodies_differ" in codes(solve(A, changed, groups=names))
    spiked = b.copy()
    spiked[[10, 200]] += 3.0 * b.std()
    estimate = solve(A, spiked, groups=groups)
    assert estimate.verdict.usable == "with care"
    outliers = next(each for each in estimate.findings if each.code == "wrong_rows")
    assert "2 of 900 rows" in outliers.text
    assert "200" in outliers.text


def test_repeated_rows_count_once():
    _, A, b, groups = rows(6)
    twice = solve(np.repeat(A, 3, axis=0), np.repeat(b, 3), groups=np.repeat(groups, 3))
    once = solve(A, b, groups=groups)
    assert_close(twice.covariance, once.covariance, 1e-9)
    assert codes(twice) == ["held_samples"]


def test_correlated_noise_widens_intervals():
    """A first-order process of correlation .8 has a ninth of the independent rows."""
    rng = np.random.default_rng(7)
    phi = random_body(rng)
    log = samples(phi, rng, 400)
    A, b, _ = stacked(log)
    white = wrench_noise(phi, 0.02) * rng.normal(size=(400, 6))
    slow = np.zeros_like(white)
    for k in range(1, 400):
        slow[k] = 0.8 * slow[k - 1] + 0.6 * white[k]
    channels = np.tile(["fx", "fy", "fz", "tx", "ty", "tz"], 400)
    independent = solve(A, b + white.ravel(), groups=channels)
    correlated = solve(A, b + slow.ravel(), groups=channels)
    ratio = np.sqrt(np.diag(correlated.covariance) / np.diag(independent.covariance))
    assert_close(ratio, np.full(10, 3.0), 0.35)
    assert "unexplained" in codes(correlated)
    assert correlated.verdict.usable == "with care"


def test_verdict_is_by_quantity():
    _, A, b, groups = rows(8)
    assert dict(solve(A, b, groups=groups).verdict.quantities) == {
        "mass": "yes",
        "com": "yes",
        "inertia": "yes",
    }
    A, b, _, space, groups = arm(3, share=0.02)
    linked = solve(A, b, space=space, groups=groups)
    assert linked.verdict.usable == "with care"
    assert set(linked.others[LINKS[-1]].verdict.quantities) == {"mass", "com", "inertia"}
    assert isinstance(space, ParameterSpace)
