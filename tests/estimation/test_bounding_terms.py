"""Terms of where the mass is: bodies inside and outside, cases of another tool, refusals."""

import cvxpy as cp
import numpy as np
import pytest

from identify.estimation import EstimatorSettings, estimate_body
from identify.estimation.errors import TermError
from identify.estimation.program import constraint_rows, solve_cone_program
from identify.estimation.scaling import Scaling
from identify.estimation.terms import (
    ComInHull,
    Consistent,
    KnownCom,
    KnownMass,
    MassAtPoints,
    MassInBox,
    MassInEllipsoid,
    Term,
)
from identify.inertia import phi_from_inertia
from identify.inertia.shapes import enclosing_ellipsoid
from identify.regressors import ONE_BODY_SPACE
from tests.close import assert_close
from tests.estimation.simulated import fitted, samples, size_of, wrench_noise
from tests.strategies import random_body

LOW, HIGH = np.array([-0.05, 0.02, -0.3]), np.array([0.07, 0.10, -0.1])
AXES = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
CENTRE, SEMI_AXES = np.array([0.1, -0.2, 0.05]), np.array([0.05, 0.1, 0.2])
GRID = np.stack(np.meshgrid(*np.linspace(LOW, HIGH, 5).T, indexing="ij"), -1).reshape(-1, 3)


BOX_GRID = np.stack(np.meshgrid(*np.linspace(LOW, HIGH, 9).T, indexing="ij"), -1).reshape(-1, 3)


def tupled(array: np.ndarray) -> tuple:
    return tuple(map(tuple, array.tolist())) if array.ndim > 1 else tuple(array.tolist())


TERMS: dict[str, Term] = {
    "box": MassInBox(tupled(LOW), tupled(HIGH)),
    "ellipsoid": MassInEllipsoid(tupled(CENTRE), tupled(AXES * SEMI_AXES**2 @ AXES.T)),
    "points": MassAtPoints(tupled(GRID)),
    "hull": ComInHull(tupled(GRID)),
    "com": KnownCom(tupled(GRID[7])),
}


def points_inside(name: str, rng: np.random.Generator, count: int) -> np.ndarray:
    """Points that any masses may be at, or, where the centre alone is known, that make it."""
    if name == "box":
        return rng.uniform(LOW, HIGH, (count, 3))
    if name == "ellipsoid":
        on = rng.normal(size=(count, 3))
        on *= rng.random((count, 1)) ** 0.1 / np.linalg.norm(on, axis=1, keepdims=True)
        return CENTRE + (on * SEMI_AXES) @ AXES.T
    if name == "com":
        away = 0.1 * rng.normal(size=(count, 3))
        return GRID[7] + np.concatenate((away, -away))
    return GRID[rng.choice(len(GRID), count)]


def body_at(points: np.ndarray, masses: np.ndarray | None = None) -> np.ndarray:
    masses = np.ones(len(points)) if masses is None else masses
    x, y, z = points.T
    squares = (y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y)
    return np.array([np.sum(masses * f) for f in (np.ones(len(points)), x, y, z, *squares)])


def scaling_of(phi: np.ndarray) -> Scaling:
    return Scaling.of(ONE_BODY_SPACE, phi, [max(size_of(phi), 1e-3)], np.zeros(0))


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("count", [4, 40])
def test_term_is_met_inside_and_violated_outside(name, count):
    term = TERMS[name]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points = points_inside(name, rng, count)
        masses = None if name == "com" else 10.0 ** rng.uniform(-2, 1, len(points))
        phi = body_at(points, masses)
        scaling = scaling_of(phi)
        assert term.violation(phi, scaling) <= 1e-12
        centre = np.average(points, axis=0, weights=masses)
        far = body_at(centre + np.array([0.5, 0.4, 0.3]) + (points - centre), masses)
        assert term.violation(far, scaling) > 1e-3
        if name not in ("com", "hull"):  # about the same centre, but larger
            wide = body_at(centre + 1.0 / size_of(phi) * (points - centre), masses)
            assert term.violation(wide, scaling) > 1e-3


def test_a_box_excludes_products_of_axes_that_no_corner_has():
    """Of points in a cube with corners ±1 the mean of xy + xz + yz is −1 or more, not −1.5."""
    term, centre, half = TERMS["box"], (LOW + HIGH) / 2, (HIGH - LOW) / 2
    second = np.outer(half, half) * (1.5 * np.eye(3) - 0.5)
    inertia = np.trace(second) * np.eye(3) - second
    phi = phi_from_inertia(2.0, centre, 2.0 * inertia)
    scaling = scaling_of(phi)
    assert term.violation(phi, scaling) > 1e-3
    rows = constraint_rows((Consistent(), term), scaling)
    found = solve_cone_program(np.eye(10), scaling.theta(phi), rows).theta
    assert abs(term.violation(scaling.x(found), scaling)) < 1e-7
    assert np.linalg.norm(found - scaling.theta(phi)) > 1e-3


@pytest.mark.parametrize("name", ["box", "ellipsoid", "points"])
def test_projection_onto_term_matches_point_mass_least_squares(name):
    """The body nearest to one outside: its mass can be found inside, by least squares over it."""
    term = TERMS[name]
    rng = np.random.default_rng(3)
    points = points_inside(name, rng, 30)
    centre = points.mean(axis=0)
    target = body_at(centre + 3.0 * (points - centre) + [0.03, 0.02, 0.0])
    scaling = scaling_of(body_at(points))
    theta = scaling.theta(target)
    rows = constraint_rows((Consistent(), term), scaling)
    found = solve_cone_program(np.eye(10), theta, rows).theta
    assert abs(term.violation(scaling.x(found), scaling)) < 1e-7
    # The same over masses at many points inside. No such body is nearer, and but for how coarse
    # the points are one is as near; for a box, whose moments bound a little less, nearly so.
    many = {"box": BOX_GRID, "points": GRID}.get(name, points_inside(name, rng, 4000))
    made = scaling.to_theta @ np.array([body_at(point[None]) for point in many]).T
    masses = cp.Variable(len(many), nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.norm(made @ masses - theta)))
    problem.solve(solver="CLARABEL")
    ours, theirs = np.linalg.norm(found - theta), float(problem.value)
    assert ours <= theirs * (1.0 + 1e-6)
    assert theirs <= ours * (1.0 + 1e-6 if name == "points" else 1.03)


@pytest.mark.parametrize("seed", range(3))
def test_masses_at_points_bound_the_estimate_and_are_certified(seed):
    rng = np.random.default_rng(seed)
    points = GRID[rng.choice(len(GRID), 60, replace=False)]
    masses = rng.random(60) * (np.arange(60) < 3)
    phi = body_at(points, masses)
    log = samples(phi, rng, 60, noise=wrench_noise(phi, 0.05), bias=wrench_noise(phi, 1.0))
    term = MassAtPoints(tupled(points))
    settings = EstimatorSettings(terms=(term,))
    estimate = estimate_body([log.blocks()], settings)
    assert estimate.certificate.solver == "Clarabel"
    assert estimate.certificate.distance_to_optimum < 1e-2
    assert term.violation(estimate.parameters.phi, fitted(log).scaling) < 1e-7
    free = estimate_body([log.blocks()])
    error = np.linalg.norm(fitted(log).problem.A @ (estimate.parameters.phi - phi))
    assert error < np.linalg.norm(fitted(log).problem.A @ (free.parameters.phi - phi)) + 0.1


def test_a_known_centre_of_mass_is_met_exactly_and_its_interval_is_that_point():
    rng = np.random.default_rng(0)
    phi = random_body(rng)
    com = phi[1:4] / phi[0]
    log = samples(phi, rng, 200, noise=wrench_noise(phi, 0.05)).blocks()
    estimate = estimate_body([log], EstimatorSettings(terms=(KnownCom(tupled(com)),)))
    assert_close(estimate.com, com, 1e-12)
    assert estimate.intervals["cx"] == pytest.approx((com[0], com[0]), rel=1e-9)
    low, high = estimate.intervals["m"]
    assert low < phi[0] < high
    free = estimate_body([log]).intervals["m"]
    assert high - low <= (free[1] - free[0]) * (1.0 + 1e-6)


FLAT = np.array([[0, 0, 1.0], [1, 0, 1.0], [0, 1, 1.0], [1, 1, 1.0]]) + 0.1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ComInHull(tupled(FLAT)), "its 4 points lie in a plane"),
        (lambda: ComInHull(tupled(FLAT[:3])), "its 3 points lie in a plane"),
        (lambda: ComInHull(((1.0, 2.0),)), r"three numbers each, got .* of shape \(1, 2\)"),
        (lambda: MassAtPoints(tupled(np.tile(FLAT, (3, 1)))), "these 12 points lie in a plane"),
        (lambda: MassInBox((0, 0, 0), (1, 0, 1)), "each low must be below its high"),
        (lambda: MassInBox((0, 0, 0), (1, np.nan, 1)), "expected finite points"),
        (lambda: MassInEllipsoid((0, 0, 0), tupled(np.diag([1, 1, 0]))), "it is flat"),
        (lambda: MassInEllipsoid((0, 0, 0), tupled(-np.eye(3))), "positive semidefinite"),
        (lambda: KnownCom((0.0, np.inf, 0.0)), "known centre of mass: expected finite points"),
    ],
)
def test_infeasible_term_is_rejected_on_construction(make, message):
    with pytest.raises(TermError, match=message):
        make()


def test_an_ellipsoid_around_points_is_a_term():
    ellipsoid = enclosing_ellipsoid(GRID)
    term = MassInEllipsoid.of(ellipsoid)
    assert_close(term.ellipsoid.Q, ellipsoid.Q, 1e-14)
    phi = body_at(GRID)
    assert term.violation(phi, scaling_of(phi)) < 0.0
    assert term.record()["kind"] == "mass_in_ellipsoid"


def log_of_cuboid():
    """A log of a cuboid of 2 kg that fills the box of `LOW` and `HIGH`, with some noise."""
    rng = np.random.default_rng(7)
    phi = body_at(np.random.default_rng(8).uniform(LOW, HIGH, (500, 3)), np.full(500, 2.0 / 500))
    return samples(phi, rng, 100, noise=wrench_noise(phi, 0.02)).blocks()


@pytest.mark.parametrize("name", ["box", "ellipsoid", "points", "hull"])
def test_lengths_in_millimetres_are_rejected_by_the_mass_of_the_data(name):
    in_mm = {
        "box": MassInBox(tupled(1e3 * LOW), tupled(1e3 * HIGH)),
        "ellipsoid": MassInEllipsoid.of(enclosing_ellipsoid(1e3 * GRID)),
        "points": MassAtPoints(tupled(1e3 * GRID)),
        "hull": ComInHull(tupled(1e3 * GRID)),
    }
    with pytest.raises(TermError, match="lighter than any body: its lengths look like milli"):
        estimate_body([log_of_cuboid()], EstimatorSettings(terms=(in_mm[name],)))


def test_a_shape_that_is_too_small_for_the_mass_is_rejected():
    small = MassInBox(tupled(1e-3 * LOW), tupled(1e-3 * HIGH))
    with pytest.raises(TermError, match=r"denser than any material: check its lengths"):
        estimate_body([log_of_cuboid()], EstimatorSettings(terms=(small,)))


def test_contradicted_centre_of_mass_is_named_as_cause():
    settings = EstimatorSettings(terms=(KnownCom((0.3, 0.3, 0.3)),))
    with pytest.raises(
        TermError, match=r"with centre of mass at .* they contradict the given value"
    ):
        estimate_body([log_of_cuboid()], settings)


def test_duplicate_terms_do_not_change_estimate():
    com = (0.01, 0.06, -0.2)
    once, twice = (
        estimate_body([log_of_cuboid()], EstimatorSettings(mass=2.0, terms=terms))
        for terms in ((KnownCom(com),), (KnownCom(com), KnownCom(com, "body"), KnownMass(2.0)))
    )
    assert_close(twice.parameters.phi, once.parameters.phi, 1e-12)
    assert [once.decided_by[name] for name in ("m", "hx", "hy", "hz")] == ["given"] * 4
    assert once.decided_by["Ixx"] == "data"
