from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from identify import solve
from identify.errors import IdentifyError, ProblemError
from identify.estimation import (
    NegativeMass,
    TooLittleMotion,
    estimate_body,
    weighted_least_squares,
)
from identify.estimation.terms import KnownMass, MassBetween
from identify.inertia import PHI
from identify.regressors import (
    LinearSystem,
    ParameterSpace,
    ScalarUnknown,
    StackedEquations,
    newton_euler_regressor,
    stacked_statistics,
)
from tests.close import assert_close, assert_same_body, group_errors
from tests.estimation.simulated import samples, wrench_noise
from tests.strategies import random_body, seeds

OFFSETS = tuple(ScalarUnknown(f"offset {name}") for name in ("fx", "fy", "fz", "tx", "ty", "tz"))
KINDS = ["force"] * 3 + ["torque"] * 3


def stacked(log) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Rows of a log's wrench, their groups, sample after sample."""
    A = newton_euler_regressor(log.motion)
    return A.reshape(-1, 10), log.wrench.ravel(), KINDS * len(A)


def with_offsets(A: np.ndarray) -> np.ndarray:
    return np.concatenate((A, np.tile(np.eye(6), (len(A) // 6, 1))), axis=1)


@settings(max_examples=10)
@given(seeds(), st.sampled_from([0.0, 0.02]))
def test_rows_of_a_log_with_offsets_as_scalars_give_its_estimate(seed, share):
    """A log's weight has learned what axes have in common, two groups have one size each: where
    there is noise, the estimates differ by a part of it.
    """
    rng = np.random.default_rng(seed)
    phi = random_body(rng)
    log = samples(phi, rng, 150, noise=wrench_noise(phi, share), bias=rng.normal(size=6))
    A, b, groups = stacked(log)
    ours = solve(with_offsets(A), b, space=ParameterSpace(("body",), OFFSETS), groups=groups)
    theirs = estimate_body([log.blocks()])
    errors = np.sqrt(np.diag(theirs.covariance))
    apart = np.abs(ours.parameters.phi - theirs.parameters.phi)
    assert (apart <= errors + 1e-9 * np.abs(phi).max()).all()
    assert np.sqrt(np.mean((apart / errors) ** 2)) < 0.5 or not share
    found = [ours.scalars[offset.name][0] for offset in OFFSETS]
    assert_close(found, theirs.biases[0], 1e-2 if share else 1e-8)
    if share:
        assert_close(np.sqrt(np.diag(ours.covariance)) / errors, np.ones(10), 0.35)
        per_kind = np.sqrt(np.mean(theirs.residual_rms.reshape(2, 3) ** 2, axis=1))
        assert_close(ours.residual_rms, per_kind, 1e-2)
    assert ours.decided_by == theirs.decided_by
    assert ours.samples == 6 * theirs.samples


def test_intervals_cover_the_truth_of_rows():
    rng = np.random.default_rng(2)
    phi = random_body(rng)
    hits = np.zeros(10)
    for _ in range(60):
        A, b, groups = stacked(samples(phi, rng, 100, noise=wrench_noise(phi, 0.02)))
        intervals = solve(A, b, groups=groups).intervals
        hits += [intervals[n][0] <= x <= intervals[n][1] for n, x in zip(PHI, phi, strict=True)]
    assert 0.9 <= hits.mean() / 60 <= 0.985


def test_groups_of_different_noise_are_weighted_each_by_its_own():
    """Axes whose noise differs by a hundred: all rows alike are several times worse."""
    alike, grouped = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        phi = random_body(rng)
        noise = wrench_noise(phi, 0.1) * [1.0, 0.01, 1.0, 0.01, 1.0, 0.01]
        A, b, _ = stacked(samples(phi, rng, 200, noise=noise))
        names = ["fx", "fy", "fz", "tx", "ty", "tz"] * 200
        alike.append(group_errors(solve(A, b).parameters.phi, phi))
        estimate = solve(A, b, groups=names)
        grouped.append(group_errors(estimate.parameters.phi, phi))
        assert_close(estimate.residual_rms / noise, np.ones(6), 0.25)  # names in sorted order
    ratio = np.sqrt(np.mean(np.square(alike), axis=0) / np.mean(np.square(grouped), axis=0))
    assert (ratio > 3.0).all(), ratio


def friction_rows(rng: np.random.Generator, phi: np.ndarray, friction: float, share: float):
    """Rows with one more column, such as the sign of a joint's speed."""
    log = samples(phi, rng, 150, noise=wrench_noise(phi, share))
    A, b, groups = stacked(log)
    column = np.sign(rng.normal(size=len(b))) * 9.81 * phi[0] * 0.3
    return np.column_stack((A, column)), b + friction * column, groups


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e5])
def test_scalars_are_found_beside_the_body(mass):
    rng = np.random.default_rng(4)
    phi = random_body(rng, mass, 0.2 * np.cbrt(mass))
    A, b, groups = friction_rows(rng, phi, 0.2, 0.0)
    for scalar in (
        ScalarUnknown("friction"),
        ScalarUnknown("friction", low=0.0),
        ScalarUnknown("friction", high=1.0),
    ):
        estimate = solve(A, b, space=ParameterSpace(("body",), (scalar,)), groups=groups)
        assert_same_body(estimate.parameters.phi, phi, 1e-9)
        assert_close(estimate.scalars["friction"][0], 0.2, 1e-9)
        assert estimate.certificate.solver == "none"


@pytest.mark.parametrize(
    ("scalar", "bound"),
    [
        (ScalarUnknown("friction", low=0.22), 0.22),
        (ScalarUnknown("friction", low=-1.0, high=0.18), 0.18),
    ],
)
def test_scalar_bound_is_active_and_body_adapts(scalar, bound):
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    A, b, groups = friction_rows(rng, phi, 0.2, 0.02)
    space = ParameterSpace(("body",), (scalar,))
    estimate = solve(A, b, space=space, groups=groups)
    assert_close(estimate.scalars["friction"][0], bound, 1e-8)
    assert estimate.certificate.solver == "Clarabel"
    assert estimate.certificate.distance_to_optimum < 0.1
    system = LinearSystem.of([(stacked_statistics(A, b, groups), StackedEquations(space))])
    force, torque = weighted_least_squares(system).weights
    root = np.sqrt(np.where(np.array(groups) == "force", force.item(), torque.item()))
    held = np.linalg.lstsq(root[:, None] * A[:, :10], root * (b - bound * A[:, 10]), rcond=None)[0]
    assert_same_body(estimate.parameters.phi, held, 1e-6)
    assert estimate.scalars["friction"][1] > 0.0


def test_two_bodies_are_recovered_and_each_is_consistent():
    rng = np.random.default_rng(6)
    payload, carrier = random_body(rng, 0.5), random_body(rng, 3.0)
    first, second = samples(payload, rng, 80), samples(carrier, rng, 80)
    A1, b1, g1 = stacked(first)
    A2, b2, g2 = stacked(second)
    both = stacked(samples(payload + carrier, rng, 80, motion=first.motion))
    A = np.concatenate((np.hstack((A1, A1)), np.hstack((0.0 * A2, A2))))
    space = ParameterSpace(("payload", "carrier"))
    estimate = solve(A, np.concatenate((both[1], b2)), space=space, groups=[*g1, *g2])
    assert_same_body(estimate.parameters.phi, payload, 1e-8)
    assert_same_body(estimate.others["carrier"].parameters.phi, carrier, 1e-8)
    assert list(estimate.others) == ["carrier"]
    assert estimate.others["carrier"].certificate == estimate.certificate
    heavy = solve(
        A,
        np.concatenate((both[1], b2)),
        space=space,
        groups=[*g1, *g2],
        terms=[MassBetween(3.1, np.inf, "carrier")],
    )
    assert_close(heavy.others["carrier"].parameters.mass, 3.1, 1e-7)
    assert b1.shape == both[1].shape


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda A, b, g: (A[:, :9], b, g), r"A: expected shape \(n, 10\), got \(600, 9\)"),
        (lambda A, b, g: (A.ravel(), b, g), r"expected shapes \(n, p\) and \(n,\)"),
        (lambda A, b, g: (A, b[0], g), r"expected shapes \(n, p\) and \(n,\)"),
        (lambda A, b, g: (A, b[:-1], g), "A has 600 rows and b 599"),
        (lambda A, b, g: (A[:10], b[:10], g[:10]), "10 rows for 10 unknowns: expected more"),
        (lambda A, b, g: (A[:0], b[:0], g[:0]), "0 rows for 10 unknowns"),
        (lambda A, b, g: (A, b, g[:-1]), "groups: expected 600 entries, one a row, got 599"),
        (lambda A, b, g: (np.where(A > 1.0, np.nan, A), b, g), r"A: entry .* is nan"),
        (lambda A, b, g: (A, np.where(b > 1.0, np.inf, b), g), r"b: entry .* is inf"),
        (lambda A, b, g: ([["x"] * 10] * 20, b, g), "A: expected numbers"),
    ],
)
def test_invalid_solve_input_is_rejected(change, message):
    rng = np.random.default_rng(9)
    A, b, groups = change(*stacked(samples(random_body(rng), rng, 100)))
    with pytest.raises(IdentifyError, match=message):
        solve(A, b, groups=groups)


def test_a_group_that_measured_nothing_is_named():
    rng = np.random.default_rng(10)
    A, b, groups = stacked(samples(random_body(rng), rng, 100))
    dead = np.where(np.array(groups) == "torque", 0.0, b)
    with pytest.raises(ProblemError, match="measured b of group 'torque' is zero throughout"):
        solve(A, dead, groups=groups)


def test_rows_that_do_not_identify_a_mass_or_have_another_sign_are_rejected():
    rng = np.random.default_rng(11)
    phi = random_body(rng)
    A, b, groups = stacked(samples(phi, rng, 100, noise=wrench_noise(phi, 0.01)))
    with pytest.raises(NegativeMass, match="unconstrained mass is -"):
        solve(A, -b, groups=groups)
    nothing = A.copy()
    nothing[:, 0] = 0.0
    with pytest.raises(TooLittleMotion, match="rows do not identify m"):
        solve(nothing, b - phi[0] * A[:, 0], groups=groups)


def test_a_regressors_estimate_has_a_verdict():
    rng = np.random.default_rng(40)
    phi = random_body(rng)
    A, b, groups = stacked(samples(phi, rng, 150, noise=wrench_noise(phi, 0.02)))
    whole = solve(A, b, groups=groups)
    assert (whole.verdict.usable, whole.verdict.identifiable) == ("yes", PHI)
    still = solve(np.where(np.arange(10) < 4, A, 0.0), A[:, :4] @ phi[:4], groups=groups)
    assert (still.verdict.usable, still.verdict.reasons) == ("with care", ("completed",))
    assert still.verdict.identifiable == PHI[:4]


def test_a_force_of_zero_is_an_observation_where_the_mass_is_known():
    """As of a body in free flight, whose origin moves so that no force is needed."""
    rng = np.random.default_rng(41)
    phi = random_body(rng)
    log = samples(phi, rng, 150)
    A = newton_euler_regressor(log.motion)
    a = log.motion.proper_acceleration - log.wrench[:, :3] / phi[0]
    free = newton_euler_regressor(replace(log.motion, proper_acceleration=a))
    b = free @ phi
    assert np.abs(b[:, :3]).max() < 1e-9 * np.abs(log.wrench[:, :3]).max()
    b[:, :3] = 0.0
    groups = KINDS * len(A)
    given = solve(free.reshape(-1, 10), b.ravel(), terms=[KnownMass(phi[0])], groups=groups)
    assert max(group_errors(given.parameters.phi, phi)) < 1e-6
    with pytest.raises(ProblemError, match="measured b of group 'force' is zero throughout"):
        solve(free.reshape(-1, 10), b.ravel(), groups=groups)
