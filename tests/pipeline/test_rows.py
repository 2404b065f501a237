"""Findings and verdicts on rows of regressors: wrong orders, parts, rows and constraints."""

from typing import Any

import mpmath
import numpy as np
import pytest

import identify
from identify import BodyPrior, ParameterSpace, ShapePrior, solve
from identify.errors import ProblemError
from identify.estimation import NegativeMass, TooLittleMotion
from identify.estimation.errors import TermError
from identify.estimation.terms import KnownCom, KnownMass, LinearEquality
from identify.inertia.conventions import REGRESSOR_ORDERS, ColumnOrder
from identify.inertia.shapes import Box
from identify.regressors import ONE_BODY_SPACE, newton_euler_regressor, stacked_statistics
from tests.close import assert_close, assert_same_body
from tests.estimation.serial_arm import LINKS
from tests.estimation.simulated import flat_body, samples, wrench_noise
from tests.estimation.test_dependent_columns import JOINTS, arm
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


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize("share", [None, 0.02])
def test_known_values_that_the_rows_contradict_are_errors(share, in_parts):
    phi, A, b, groups = rows(2)
    com = tuple((phi[1:4] / phi[0]).tolist())

    def fitted(*terms):
        spreads = {str(g): float(np.std(b[np.asarray(groups) == g])) for g in set(groups)}
        noise: Any = share and {g: share * size for g, size in spreads.items()}
        if in_parts:
            return solve(iter([(A, b, groups)]), terms=terms, noise=noise)
        return solve(A, b, terms=terms, noise=noise, groups=groups)

    assert "choice_contradicted" not in codes(fitted(KnownMass(float(phi[0])), KnownCom(com)))
    for terms in ((KnownMass(2.0 * float(phi[0])),), (KnownCom((com[0] + 0.1, *com[1:])),)):
        wrong = fitted(*terms)
        assert wrong.verdict.usable == "no"
        found = next(each for each in wrong.findings if each.code == "choice_contradicted")
        assert str(terms[0]) in found.text
        assert found.evidence["mass_by_data"] == pytest.approx(phi[0], rel=0.05)


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


@pytest.mark.parametrize("name", ["fx", "fz", "ty", *JOINTS])
def test_the_group_of_the_other_sign_is_named(name):
    _, A, b, _ = rows(2)
    groups, space = ["fx", "fy", "fz", "tx", "ty", "tz"] * (len(b) // 6), ONE_BODY_SPACE
    if name in JOINTS:
        A, b, _, space, groups = arm(1, share=0.01)
    changed = np.where(np.array(groups) == name, -b, b)
    estimate = solve(A, changed, groups=groups, space=space)
    finding = next(each for each in estimate.findings if each.code == "bodies_differ")
    assert finding.evidence["group"] == name
    assert f"b of group '{name}' has the other sign" in finding.text
    other = {name: 3.0, **dict.fromkeys(set(groups) - {name}, 1.0)}
    scaled = solve(A, b * [other[group] for group in groups], groups=groups, space=space)
    assert all("group" not in each.evidence for each in scaled.findings)
    assert "bodies_differ" in codes(scaled)


def test_the_group_whose_sign_makes_the_mass_negative_is_named():
    _, A, b, groups = rows(2)
    with pytest.raises(
        NegativeMass, match=r"sign is wrong: b of group 'force' has the other sign$"
    ):
        solve(A, np.where(np.array(groups) == "force", -b, b), groups=groups)


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


def test_known_noise_gives_the_covariance_of_the_normal_equations():
    rng = np.random.default_rng(9)
    _, A, b, groups = rows(9, share=0.0)
    sigma = np.where(np.array(groups) == "force", 0.3, 0.02) * rng.uniform(0.5, 2.0, len(b))
    measured = b + sigma * rng.normal(size=len(b))
    estimate = solve(A, measured, noise=sigma)
    exact = np.linalg.inv((A / sigma[:, None]).T @ (A / sigma[:, None]))
    assert_close(estimate.covariance, exact, 1e-6)
    assert estimate.degrees_of_freedom["m"] is None
    size = np.where(np.array(groups) == "force", 0.3, 0.02)[:, None]
    measured = b + size[:, 0] * rng.normal(size=len(b))
    by_group = solve(A, measured, groups=groups, noise={"force": 0.3, "torque": 0.02})
    assert_close(by_group.covariance, np.linalg.inv((A / size).T @ (A / size)), 1e-6)


def test_a_covariance_of_rows_of_a_group_whitens_them():
    """Against rows that were made independent by hand."""
    rng = np.random.default_rng(10)
    _, A, b, _ = rows(10, share=0.0)
    root = np.tril(rng.normal(size=(6, 6)) * 0.05) + 0.2 * np.eye(6)
    noisy = b + (rng.normal(size=(len(b) // 6, 6)) @ root.T).ravel()
    names = ["wrench"] * len(b)
    estimate = solve(A, noisy, groups=names, noise={"wrench": root @ root.T})
    W = np.kron(np.eye(len(b) // 6), np.linalg.inv(root))
    assert_close(estimate.covariance, np.linalg.inv((W @ A).T @ (W @ A)), 1e-6)
    assert_close(estimate.least_squares.phi, np.linalg.lstsq(W @ A, W @ noisy, rcond=None)[0], 1e-6)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (0.0, "noise: expected standard errors above zero"),
        (np.ones(7), r"noise: expected one number a row, .* got shape \(7,\)"),
        ({"force": 1.0}, "noise: expected the groups force, torque, got force"),
        ({"force": 1.0, "torque": np.ones((2, 2))}, "torque': the covariance is not positive def"),
        ({"force": 1.0, "torque": np.eye(4)}, r"multiple of k rows, got shape \(4, 4\) and 450"),
    ],
)
def test_invalid_noise_is_named(noise, message):
    _, A, b, groups = rows(11)
    with pytest.raises(ProblemError, match=message):
        solve(A, b, groups=groups, noise=noise)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": "a"}, "noise: expected numbers, got 'a'"),
        ({"noise": {"force": "x", "torque": 1}}, "noise of group 'force': expected numbers"),
        ({"order": None}, "order: expected the name of an order"),
        ({"prior": "ball"}, "prior: expected a prior, or a mapping .* got str"),
        ({"terms": KnownMass(1.0)}, "terms: expected a sequence of terms"),
    ],
)
def test_options_of_other_types_are_named(options, message):
    _, A, b, groups = rows(12)
    with pytest.raises(ProblemError, match=message):
        solve(A, b, groups=groups, **options)


def test_noise_that_is_far_from_the_residuals_is_a_finding():
    _, A, b, groups = rows(12)
    right = solve(A, b, groups=groups).residual_rms
    noise = dict(zip(("force", "torque"), right, strict=True))
    assert codes(solve(A, b, groups=groups, noise=noise)) == []
    small = solve(A, b, groups=groups, noise={**noise, "torque": right[1] / 3})
    (finding,) = [each for each in small.findings if each.code == "unexplained"]
    assert finding.severity == "warning"
    assert_close(finding.evidence["ratio"], 3.0, 0.05)
    assert "groups torque: 3" in finding.text
    assert "force" not in finding.text
    assert small.verdict.usable == "with care"


@pytest.mark.parametrize("factor", [0.2, 1 / 1.35, 1.0, 2.0])
def test_residuals_beyond_the_noise_given_widen_intervals_by_their_ratio(factor):
    """Against the normal equations; noise given too large is left."""
    rng = np.random.default_rng(31)
    _, A, b, _ = rows(31, share=0.0)
    sigma = rng.uniform(0.1, 0.4, len(b))
    scaled, noisy = A / sigma[:, None] / factor, b + sigma * rng.normal(size=len(b))
    square = np.linalg.lstsq(scaled, noisy / sigma / factor, rcond=None)[1][0] / (len(b) - 10)
    widening = square if factor < 1.0 else 1.0
    exact = widening * np.linalg.inv(scaled.T @ scaled)
    estimate = solve(A, noisy, noise=factor * sigma)
    assert_close(estimate.covariance, exact, 1e-6)
    parts = solve(
        iter(
            [
                (scaled[:500], (noisy / sigma / factor)[:500]),
                (scaled[500:], (noisy / sigma / factor)[500:]),
            ]
        ),
        noise=1.0,
    )
    assert_close(parts.covariance, exact, 1e-6)
    assert ("unexplained" in codes(estimate)) == (factor < 1.0)


def test_only_the_group_whose_noise_is_given_too_small_counts_less():
    rng = np.random.default_rng(32)
    _, A, b, groups = rows(32, share=0.0)
    size = {"force": 0.3, "torque": 0.02}
    sigma, of_torque = np.array([size[g] for g in groups]), np.array(groups) == "torque"
    noisy = b + sigma * np.where(of_torque, 4.0, 1.0) * rng.normal(size=len(b))
    estimate = solve(A, noisy, groups=groups, noise=size)
    W = A / sigma[:, None]
    Q, _ = np.linalg.qr(W)
    r = noisy / sigma - Q @ (Q.T @ (noisy / sigma))
    square = np.sum(r[of_torque] ** 2) / (of_torque.sum() - np.sum(Q[of_torque] ** 2))
    W[of_torque] /= np.sqrt(square)
    assert 3.5 < np.sqrt(square) < 4.5
    assert_close(estimate.covariance, np.linalg.inv(W.T @ W), 1e-6)


def test_intervals_cover_the_mass_if_the_noise_is_given_three_times_too_small():
    covered = 0
    for seed in range(100, 140):
        phi, A, b, _ = rows(seed, share=0.0, count=40)
        noisy = b + 0.1 * np.random.default_rng(seed).normal(size=len(b))
        low, high = solve(A, noisy, noise=0.1 / 3).intervals["m"]
        covered += low <= phi[0] <= high
    assert covered >= 34  # of 95 %, less with probability 1e-3; of the noise given half


def test_sums_of_several_bodies_hold():
    """Two arms: only sums are excited; a total mass, a mirror image and densities complete them."""
    rng = np.random.default_rng(13)
    left = random_body(rng, 2.0, 0.2)
    signs = np.array([1, 1, -1, 1, 1, -1, 1, 1, -1, 1.0])
    right, trunk = signs * left, random_body(rng, 4.0, 0.3)
    truth = np.concatenate((left, right, trunk))
    space = ParameterSpace(("left", "right", "trunk"))
    A = rng.normal(size=(300, 30)) * np.repeat([1.0, 0.0, 1.0], 10)  # nothing of the right one
    b = A @ truth + 1e-3 * rng.normal(size=300)
    mirror = LinearEquality.mirrored("left", "right", "y")
    estimate = solve(A, b, space=space, terms=[mirror])
    found = [body.parameters.phi for body in estimate.bodies]
    assert_close(found[1], signs * found[0], 1e-9)
    assert_same_body(found[0], left, 1e-2)
    masses = [LinearEquality.total_mass(("left", "right", "trunk"), 8.1), mirror]
    heavier = solve(A, b, space=space, terms=masses)
    assert_close(sum(body.parameters.mass for body in heavier.bodies), 8.1, 1e-9)
    dense = [mirror, LinearEquality.equal_density({"left": 0.002, "trunk": 0.004})]
    equal = solve(A, b, space=space, terms=dense)
    assert_close(equal.others["trunk"].parameters.mass, 2.0 * equal.parameters.mass, 1e-9)
    same = solve(A, b, space=space, terms=[mirror, LinearEquality.known_sum({"left.m": 1.0}, 2.01)])
    assert_close(same.others["right"].parameters.mass, 2.01, 1e-9)
    shared = LinearEquality.same_shape("right", "left", 0.4)
    scaled = solve(A, A @ np.concatenate((left, 0.4 * left, trunk)), space=space, terms=[shared])
    one, other = (body.parameters for body in scaled.bodies[:2])
    assert_same_body(one.phi, left, 1e-6)
    assert_close(other.mass, 0.4 * one.mass, 1e-9)
    assert_close(other.com, one.com, 1e-9)
    assert_close(other.inertia_about_com / other.mass, one.inertia_about_com / one.mass, 1e-9)
    with pytest.raises(TermError, match="mass_ratio: expected a number above zero, got 0"):
        LinearEquality.same_shape("right", "left", 0.0)
    with pytest.raises(ProblemError, match=r"no unknown 'arm\.m' among left\.m"):
        solve(A, b, space=space, terms=[LinearEquality.total_mass(("arm",), 1.0)])


def test_shape_priors_of_several_bodies_and_a_prior_that_rows_exclude():
    rng = np.random.default_rng(15)
    shapes = {name: Box(*rng.uniform(0.05, 0.2, 3)) for name in ("a", "b")}
    truth = np.concatenate([box.body(mass=1.0).phi for box in shapes.values()])
    A = rng.normal(size=(200, 20))
    A[:, 4:10] = A[:, 14:20] = 0.0  # nothing of the inertias
    b = A @ truth + 1e-3 * rng.normal(size=200)
    space = ParameterSpace(tuple(shapes))
    priors = {name: ShapePrior.of_shape(box) for name, box in shapes.items()}
    estimate = solve(A, b, space=space, prior=priors)
    for body, box in zip(estimate.bodies, shapes.values(), strict=True):
        assert body.decided_by["Izz"] == "prior"
        assert_same_body(body.parameters.phi, box.body(mass=1.0).phi, 0.2)
    wrong = BodyPrior.with_error(3.0 * truth[10:], 0.01)
    refused = solve(A, b, space=space, prior={"b": wrong})
    assert refused.verdict.usable == "no" or "choice_contradicted" in codes(refused.others["b"])
    assert "choice_contradicted" in codes(refused.others["b"])


def test_rows_in_parts_give_the_same_estimate():
    _, A, b, groups = rows(16, count=200)
    whole = solve(A, b, groups=groups)
    names = np.array(groups)
    parts = [slice(k, k + 30) for k in range(0, len(b), 30)]
    each = solve((in_order(A[k], "pinocchio"), b[k], names[k]) for k in parts)
    assert "column_order" in codes(each)
    each = solve(((in_order(A[k], "pinocchio"), b[k], names[k]) for k in parts), order="pinocchio")
    assert_close(each.parameters.phi, whole.parameters.phi, 1e-9)
    assert_close(each.covariance, whole.covariance, 1e-6)
    added = stacked_statistics(A[:600], b[:600], names[:600])
    added = added.append_blocks(stacked_statistics(A[600:], b[600:], names[600:]))
    assert_close(solve(added).parameters.phi, whole.parameters.phi, 1e-9)
    changed = [(A[k], b[k] * (1.0 if k.start < 600 else 1.3), names[k]) for k in parts]
    assert "body_changed" in codes(solve(iter(changed)))
    with pytest.raises(ProblemError, match="rows of the groups force, torque in each part, got f"):
        solve(iter([(A, b, groups), (A[:3], b[:3], groups[:3])]))
    with pytest.raises(ProblemError, match="there are none"):
        solve(iter([]))


@pytest.mark.parametrize("mass", [1e-9, 1e-6, 1e-3, 1e5])
def test_rows_of_one_group_are_exact_for_bodies_of_any_size(mass):
    """One size of noise for forces and torques, whose units hide a body of 1 mg and 1 mm."""
    rng = np.random.default_rng(17)
    phi = random_body(rng, mass, 0.1 * np.cbrt(mass))
    A = newton_euler_regressor(
        identify.BodyMotion(*(rng.normal(size=(100, 3)) * k for k in (5.0, 2.0, 8.0)))
    ).reshape(-1, 10)
    estimate = solve(A, A @ phi)
    assert estimate.complete
    assert_same_body(estimate.parameters.phi, phi, 1e-8)


def test_a_stack_of_rows_gives_the_estimates_of_single_calls():
    """A regressor each, or one for all; with a body at the edge, another order, and a failure."""
    thin = flat_body(np.random.default_rng(3), (1.0, 0.5, 0.0))
    edge = stacked(samples(thin, np.random.default_rng(5), 150, noise=wrench_noise(thin, 0.02)))
    groups, each = edge[2], [rows(20)[1:3], rows(21)[1:3], edge[:2]]
    each += [(in_order(each[0][0], "cyclic"), each[0][1]), (each[0][0], -each[0][1])]
    A, b = (np.array(values) for values in zip(*each, strict=True))
    stack: Any = solve(A, b, groups=groups)
    assert isinstance(stack, tuple)
    with pytest.raises(NegativeMass, match="b has the other sign"):
        raise stack[4]
    for k, estimate in enumerate(stack[:4]):
        alone = solve(A[k], b[k], groups=groups)
        assert np.array_equal(estimate.parameters.phi, alone.parameters.phi)
        assert estimate.intervals == alone.intervals
        assert estimate.certificate.distance_to_optimum == alone.certificate.distance_to_optimum
        assert estimate.verdict == alone.verdict
        assert estimate.findings == alone.findings
    assert stack[2].certificate.solver == "Clarabel"
    assert stack[3].verdict.reasons[0] == "column_order"
    noise = 0.02 * np.tile(b[0].reshape(-1, 6).std(axis=0), 150)
    of_one: Any = solve(A[0], np.stack((b[0], 2.0 * b[0]), axis=1), noise=noise)
    one, twice = (estimate.parameters.phi for estimate in of_one)
    assert np.array_equal(one, solve(A[0], b[0], noise=noise).parameters.phi)
    assert_close(twice, 2.0 * one, 1e-6)


def test_a_stack_of_other_shapes_or_without_any_estimate_is_refused():
    _, A, b, groups = rows(20)
    with pytest.raises(ProblemError, match=r"\(k, n, p\) and \(k, n\), got \(2, 900, 10\)"):
        solve(np.array([A, A]), b)
    with pytest.raises(NegativeMass):
        solve(np.array([A, A]), np.array([-b, -b]), groups=groups)


def conditioned(rng: np.random.Generator, bodies: int, condition: float, noise: float):
    """Rows whose columns, in units of the unknowns, have a condition number; with their noise."""
    truth = np.concatenate([random_body(rng, rng.uniform(0.5, 5.0), 0.2) for _ in range(bodies)])
    p = len(truth)
    U = np.linalg.qr(rng.normal(size=(4 * p, p)))[0]
    V = np.linalg.qr(rng.normal(size=(p, p)))[0]
    largest = np.repeat(np.abs(truth.reshape(-1, 10)).max(axis=1), 10)
    A = (U * np.geomspace(1.0, 1.0 / condition, p)) @ V.T
    A /= np.maximum(np.abs(truth), 1e-3 * largest)
    sigma = noise * float(np.std(A @ truth))
    space = ParameterSpace(tuple(f"body {k}" for k in range(bodies)))
    return truth, A, A @ truth + sigma * rng.normal(size=len(A)), sigma, space


@pytest.mark.parametrize("bodies", [1, 3])
@pytest.mark.parametrize("condition", [1e4, 1e6, 1e8])
def test_badly_conditioned_rows_agree_with_sixty_digits(bodies, condition):
    """The estimate and its standard errors, against normal equations in 60 digits."""
    rng = np.random.default_rng(30 + bodies)
    _, A, b, sigma, space = conditioned(rng, bodies, condition, 1e-10)
    estimate = solve(A, b, space=space, noise=sigma)
    with mpmath.workdps(60):
        exact_A, exact_b = mpmath.matrix(A.tolist()), mpmath.matrix(b.tolist())
        inverse = (exact_A.T * exact_A) ** -1
        x = np.array((inverse * (exact_A.T * exact_b)).tolist(), dtype=float).ravel()
        variances = np.array([float(inverse[k, k]) for k in range(len(x))])
    errors = sigma * np.sqrt(variances)
    covariances = [body.covariance for body in estimate.bodies]
    found = np.concatenate([body.least_squares.phi for body in estimate.bodies])
    assert np.abs((found - x) / errors).max() < 1e-2
    assert_close(np.concatenate([np.sqrt(np.diag(C)) for C in covariances]), errors, 1e-4)
    assert estimate.complete
    assert estimate.verdict.explains_data


@pytest.mark.parametrize("bodies", [1, 3])
def test_rows_too_badly_conditioned_for_their_noise_are_refused(bodies):
    *_, A, b, sigma, space = conditioned(np.random.default_rng(30 + bodies), bodies, 1e8, 1e-5)
    try:
        usable = solve(A, b, space=space, noise=sigma).verdict.usable
    except TooLittleMotion:
        return
    assert usable == "no"


@pytest.mark.parametrize("noise", [1e-3, 1e-10])
def test_faults_of_nearly_exact_rows_are_named(noise):
    """Rows of doubles are tested down to 1e-12 of the measured values."""
    rng = np.random.default_rng(41)
    _, A, b, sigma, space = conditioned(rng, 3, 1e3, noise)
    groups = np.array(["left", "right"])[np.arange(len(b)) % 2]
    spiked = b + 30.0 * sigma * (np.arange(len(b)) == 17)
    outlying = next(f for f in solve(A, spiked, space=space).findings if f.code == "wrong_rows")
    assert "1 of 120 rows are outliers of their group: rows 17." in outlying.text
    with pytest.raises(TooLittleMotion, match="other sign of b of group 'left' they fit one"):
        solve(A, np.where(groups == "left", -b, b), groups=groups, space=space)
    scaled = solve(A, np.where(groups == "left", 1e3 * b, b), groups=groups, space=space)
    assert "bodies_differ" in codes(scaled)
    _, A, b, _, space = conditioned(np.random.default_rng(43), 1, 1e3, 1e-4)
    groups = np.array(["left", "right"])[np.arange(len(b)) % 2]
    with pytest.raises(TooLittleMotion, match=r"'left' and the others are not of the same bodies"):
        solve(A, np.where(groups == "right", 1e3 * b, b), groups=groups, space=space)


def test_a_group_that_the_common_fit_gives_no_weight_is_compared_by_its_own_noise():
    """In the residuals of the common fit, its rows are as uncertain as they are far off."""
    rng = np.random.default_rng(42)
    _, A, b, _, space = conditioned(rng, 2, 10.0, 1e-4)
    A, b = np.repeat(A, 2, axis=0), np.repeat(b, 2) + 1e-4 * b.std() * rng.normal(size=2 * len(b))
    groups = np.array(["a", "b", "c", "c"])[np.arange(len(b)) % 4]
    assert codes(solve(A, b, groups=groups, space=space)) == []
    for unit in (-1e3, 1e3):
        estimate = solve(A, np.where(groups == "b", unit * b, b), groups=groups, space=space)
        finding = next(each for each in estimate.findings if each.code == "bodies_differ")
        assert "the rows of group 'b' and the others" in finding.text
        assert "group" not in finding.evidence
