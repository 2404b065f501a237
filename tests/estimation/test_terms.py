import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np
import pytest

from identify.errors import ProblemError, SolveError
from identify.estimation import (
    ContradictoryTerms,
    EstimatorSettings,
    estimate_body,
)
from identify.estimation.cones import ConicRows
from identify.estimation.scaling import Scaling
from identify.estimation.terms import (
    TERM_CLASSES,
    ComInBox,
    ComInHull,
    Consistent,
    KnownCom,
    KnownMass,
    LinearEquality,
    MassAtPoints,
    MassBetween,
    MassInBox,
    MassInEllipsoid,
    ScalarBounds,
    ScaledSpace,
    Term,
)
from identify.estimation.terms.consistent import CONSISTENCY_MARGIN
from identify.inertia import PSEUDO_INERTIA_BASIS, inertia_about_com
from identify.regressors import (
    ONE_BODY_SPACE,
    ParameterSpace,
    ScalarUnknown,
    newton_euler_regressor,
)
from tests.close import assert_close, assert_same_body, body_scale
from tests.estimation.simulated import fitted, samples, size_of, wrench_noise
from tests.strategies import random_body

MASSES = [1e-3, 1.0, 1e5]
"""From a gram to a hundred tonnes [kg]."""


@dataclass(frozen=True, slots=True)
class ComInBall(Term):
    """The centre of mass is within a ball: ‖h − c m‖ ≤ r m."""

    kind: ClassVar[str] = "com_in_ball"
    order: ClassVar[int] = 2

    centre: tuple[float, float, float]
    radius: float

    def build(self, x: ScaledSpace) -> list[cp.Constraint]:
        body = x.body(None)
        away = body.moment - cp.multiply(body.scaled_point(np.array(self.centre)), body.mass)
        return [cp.SOC(self.radius * body.inverse_length * body.mass, away)]

    def violation(self, x: np.ndarray, scaling: Scaling) -> float:
        away = np.linalg.norm(x[1:4] - np.array(self.centre) * x[0], self.order)
        unit = scaling.bodies[0]
        return float(away - self.radius * x[0]) / (unit.mass * unit.length)


@dataclass(frozen=True, slots=True)
class ComInDiamond(ComInBall):
    """‖h − c m‖₁ ≤ r m, written with variables of its own: |h − c m| ≤ u, Σ u ≤ r m."""

    kind: ClassVar[str] = "com_in_diamond"
    order: ClassVar[int] = 1
    auxiliary_bound: ClassVar[float | None] = 10.0

    def build(self, x: ScaledSpace) -> list[cp.Constraint]:
        body = x.body(None)
        away = body.moment - cp.multiply(body.scaled_point(np.array(self.centre)), body.mass)
        u = cp.Variable(3)
        return [away <= u, -away <= u, cp.sum(u) <= self.radius * body.inverse_length * body.mass]


@dataclass(frozen=True, slots=True)
class ComInDiamondOfNoBound(ComInDiamond):
    """The same, and nothing said of the size of its variables."""

    auxiliary_bound: ClassVar[float | None] = None


@dataclass(frozen=True, slots=True)
class FullOfNumbers(Term):
    """5 Sxx ≤ 3 Syy + 7 m and 4 Sxx ≥ 2 m in scaled units: numbers that a parameter may have."""

    kind: ClassVar[str] = "full_of_numbers"

    def build(self, x: ScaledSpace) -> list[cp.Constraint]:
        Pi, mass = x.body(None).Pi, x.body(None).mass
        return [5.0 * Pi[0, 0] <= 3.0 * Pi[1, 1] + 7.0 * mass, 4.0 * Pi[0, 0] >= 2.0 * mass]

    def violation(self, x: np.ndarray, scaling: Scaling) -> float:
        theta = scaling.theta(x)[:10]
        Pi = (PSEUDO_INERTIA_BASIS @ theta).reshape(4, 4)
        return max(5 * Pi[0, 0] - 3 * Pi[1, 1] - 7 * theta[0], 2 * theta[0] - 4 * Pi[0, 0])


@dataclass(frozen=True, slots=True)
class NotConvex(Term):
    """The centre of mass is at least so far from Bo, which is not a convex thing to ask."""

    kind: ClassVar[str] = "not_convex"

    def build(self, x: ScaledSpace) -> list[cp.Constraint]:
        return [cp.norm(x.body(None).moment) >= 5.0]

    def violation(self, x: np.ndarray, scaling: Scaling) -> float:
        return 1.0

    def __str__(self) -> str:
        return "a hole"


@dataclass(frozen=True, slots=True)
class Exponential(NotConvex):
    """exp(m) ≤ 5, which is convex, but of a cone without a certificate."""

    kind: ClassVar[str] = "exponential"

    def build(self, x: ScaledSpace) -> list[cp.Constraint]:
        return [cp.exp(x.body(None).mass) <= 5.0]


SPACE = ParameterSpace(
    ("payload", "carrier"),
    (ScalarUnknown("friction", low=0.0, high=2.0), ScalarUnknown("gain", low=-1.0)),
)


def scaled_space(rng: np.random.Generator, mass: float, space: ParameterSpace = SPACE):
    """Unknowns x of bodies of about this mass, and their scaling."""
    bodies = [random_body(rng, m, 0.2 * np.cbrt(mass)) for m in (mass, 3.0 * mass)]
    x = np.concatenate((*bodies[: len(space.bodies)], np.full(len(space.scalars), 0.5)))
    lengths = [1.3 * size_of(phi) for phi in bodies[: len(space.bodies)]]
    return x, Scaling.of(space, x, lengths, np.array([0.7, 20.0])[: len(space.scalars)])


def outside(rows: ConicRows, theta: np.ndarray) -> float:
    """By how much F θ + f is outside its cones; the definition of each written out."""
    s, start, worst = rows.F @ theta + rows.f, 0, -np.inf
    for cone in rows.cones:
        part = s[start : start + cone.size]
        start += cone.size
        if cone.kind == "zero":
            worst = max(worst, np.abs(part).max())
        elif cone.kind == "nonnegative":
            worst = max(worst, -part.min())
        elif cone.kind == "second_order":
            worst = max(worst, np.linalg.norm(part[1:]) - part[0])
        else:
            matrix = np.zeros((cone.order, cone.order))
            upper = [(i, j) for j in range(cone.order) for i in range(j + 1)]
            for value, (i, j) in zip(part, upper, strict=True):
                matrix[i, j] = matrix[j, i] = value if i == j else value / np.sqrt(2.0)
            worst = max(worst, -np.linalg.eigvalsh(matrix)[0])
    assert start == len(s)
    return float(worst)


def terms_about(x: np.ndarray, space: ParameterSpace) -> dict[str, Term]:
    """Terms whose bounds are near the bodies of x."""
    carrier = x[space.body_slice(space.bodies[-1])]
    com, size = carrier[1:4] / carrier[0], size_of(carrier)
    low, high = com - size * np.array([0.1, 0.2, 0.3]), com + size * np.array([0.2, 0.1, 0.4])
    name = space.bodies[-1]
    axes = size * size * np.diag([2.5, 2.0, 3.0])
    return {
        "consistent": Consistent(),
        "thick": Consistent(margin=0.02),
        "known mass": KnownMass(float(carrier[0]), name),
        "mass between": MassBetween(0.9 * carrier[0], 1.05 * carrier[0], name),
        "mass above": MassBetween(0.95 * carrier[0], np.inf, name),
        "com in box": ComInBox(tuple(low), tuple(high), name),
        "known com": KnownCom(tuple(com), name),
        "com in hull": ComInHull(hull_about(com, size), name),
        "mass in box": MassInBox(tuple(com - 2.5 * size), tuple(com + 3.0 * size), name),
        "mass in ellipsoid": MassInEllipsoid(tuple(com + 0.3 * size), axes, name),
        "linear equality": LinearEquality.known_sum({space.names[0]: 2.0}, 2.0 * x[0]),
        "scalar bounds": ScalarBounds(),
        "com in ball": ComInBall(tuple(x[1:4] / x[0]), float(0.2 * size_of(x[:10]))),
        "numbers": FullOfNumbers(),
    }


def hull_about(com: np.ndarray, size: float) -> tuple[tuple[float, ...], ...]:
    """Six points about a centre, which enclose an octahedron, and one within them."""
    away = size * np.concatenate((0.5 * np.eye(3), -0.4 * np.eye(3), [[0.05, 0.0, 0.05]]))
    return tuple(map(tuple, com + away))


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("name", terms_about(scaled_space(np.random.default_rng(0), 1.0)[0], SPACE))
def test_the_check_in_numpy_and_the_rows_of_the_solver_agree_at_random_points(name, mass):
    rng = np.random.default_rng(3)
    x0, scaling = scaled_space(rng, mass)
    term = terms_about(x0, SPACE)[name]
    rows, theta0 = term.conic_rows(scaling), scaling.theta(x0)
    assert not rows.G.size
    inside = 0
    for k in range(200):
        step = rng.normal(size=len(SPACE)) * 10.0 ** rng.uniform(-3.0, 0.3)
        if name == "known com":
            step[11:14] *= rng.integers(2)  # else none would meet it
            step[10] *= 0.0
        elif k % 2:
            step[[0, 10]] = 0.0
        theta = theta0 + step
        by_rows = outside(rows, theta)
        by_check = term.violation(scaling.x(theta), scaling)
        near = 1e-9 * max(1.0, np.abs(theta).max())
        assert (by_rows > near) == (by_check > near), (by_rows, by_check)
        inside += by_rows <= near
    assert 10 < inside < 190


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("space", [SPACE, ONE_BODY_SPACE], ids=["two bodies", "one body"])
def test_the_rows_of_every_term_are_those_of_cvxpy(space, mass):
    checked = set()
    for seed in range(5):
        x, scaling = scaled_space(np.random.default_rng(seed), mass, space)
        points = MassAtPoints(hull_about(x[1:4] / x[0], size_of(x[:10])))
        for term in (points, *terms_about(x, space).values()):
            ours, theirs = term.conic_rows(scaling), Term.conic_rows(term, scaling)
            assert ours.cones == theirs.cones
            for name in ("F", "G", "f") if ours.cones else ():
                assert_close(getattr(ours, name), getattr(theirs, name), 1e-13)
            if type(term).conic_rows is not Term.conic_rows:
                checked.add(type(term))
    assert checked == set(TERM_CLASSES.values())


def test_stacked_terms_are_ordered_by_cone_and_keep_their_own_auxiliary_variables():
    x, scaling = scaled_space(np.random.default_rng(6), 1.0)
    diamonds = [ComInDiamond(tuple(x[1:4] / x[0]), radius) for radius in (0.1, 0.2)]
    terms = [Consistent(), ComInBall((0.0, 0.0, 0.0), 0.1), *diamonds, KnownMass(2.0)]
    parts = [term.conic_rows(scaling) for term in terms]
    rows = ConicRows.stack(parts)
    kinds = ["zero", "nonnegative", "second_order", "semidefinite", "semidefinite"]
    assert [cone.kind for cone in rows.cones] == kinds
    assert rows.linear_count == 1 + 2 + 2 * 7
    theta = scaling.theta(x)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        at, u = theta + 0.2 * rng.normal(size=len(theta)), rng.normal(size=6)
        each = [
            replace(part, f=part.f + part.G @ variables)
            for part, variables in zip(parts, np.split(u, [0, 0, 3, 6]), strict=True)
        ]
        together = outside(replace(rows, f=rows.f + rows.G @ u), at)
        assert_close(together, max(outside(part, at) for part in each), 1e-12)


def test_equalities_agree_with_violation():
    x, scaling = scaled_space(np.random.default_rng(4), 2.0)
    term = KnownMass(float(x[10]), "carrier")
    E, e = term.equalities(SPACE)
    assert E.shape == (1, len(SPACE))
    assert_close(E @ x, e, 1e-15)
    assert term.violation(x, scaling) == 0.0
    for other in (Consistent(), MassBetween(1.0, 2.0), ScalarBounds()):
        assert other.equalities(SPACE)[0].shape == (0, len(SPACE))


def second_moments_about_com(phi: np.ndarray) -> np.ndarray:
    Ic = inertia_about_com(phi)
    return 0.5 * np.trace(Ic) * np.eye(3) - Ic


def bounds_that_cut(phi: np.ndarray) -> dict[str, Term]:
    """Terms that the body which made the data does not meet, by a noticeable part of itself."""
    com, size = phi[1:4] / phi[0], size_of(phi)
    far = tuple((com + size * np.array([0.3, 0.3, 0.2])).tolist())
    low, high = (tuple((com + share * size).tolist()) for share in (0.03, 1.0))
    half = np.array([1.0, 1.4, 1.5]) * np.sqrt(np.diag(second_moments_about_com(phi)) / phi[0])
    return {
        "known mass": KnownMass(1.04 * phi[0]),
        "mass above": MassBetween(1.04 * phi[0], np.inf),
        "mass below": MassBetween(0.0, 0.99 * phi[0]),
        "com in box": ComInBox(low, high),
        "known com": KnownCom(low),
        "com in hull": ComInHull(hull_about(com + 0.45 * size, size)),
        "mass in box": MassInBox(tuple(com - 0.99 * half), tuple(com + 0.98 * half)),
        "mass in ellipsoid": MassInEllipsoid(tuple(com), size**2 * np.diag([0.9, 1.0, 0.95])),
        "com in ball": ComInBall(far, 0.43 * size),
        "com in diamond": ComInDiamond(far, 0.75 * size),
        "numbers": FullOfNumbers(),
    }


def plain_constraints(term: Term, phi: Any, phi_units: np.ndarray, theta: Any) -> list[Any]:
    """The same in SI, divided by units of phi for the solver's sake."""
    m, h = phi[0], phi[1:4]
    mu, hu = phi_units[0], phi_units[1]
    match term:
        case KnownMass():
            return [m / mu == term.mass / mu]
        case MassBetween():
            upper = [m / mu <= term.high / mu] if np.isfinite(term.high) else []
            return [m / mu >= term.low / mu, *upper]
        case ComInBox():
            low, high = np.array(term.low), np.array(term.high)
            return [h / hu - m * (low / hu) >= 0, m * (high / hu) - h / hu >= 0]
        case KnownCom():
            return [h / hu == m * (np.array(term.com) / hu)]
        case ComInHull():
            shares = cp.Variable(len(term.points), nonneg=True)
            return [h / hu == np.array(term.points).T @ shares / hu, cp.sum(shares) == m]
        case MassInBox():
            low, high = np.array(term.low), np.array(term.high)
            S, lu = second_moments(phi), phi_units[4] / mu
            rows = [mean_of_product(S, h, m, low, high, a, a, -1, 1) for a in range(3)]
            for a, b in ((0, 1), (0, 2), (1, 2)):
                signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
                rows += [mean_of_product(S, h, m, low, high, a, b, s, t) for s, t in signs]
            mid, w = (low + high) / 2, (high - low) / 2
            xy, xz, yz = (
                (S[a, b] - mid[a] * h[b] - mid[b] * h[a] + mid[a] * mid[b] * m) / (w[a] * w[b])
                for a, b in ((0, 1), (0, 2), (1, 2))
            )
            threes = [m + xy + xz + yz, m - xy - xz + yz, m - xy + xz - yz, m + xy - xz - yz]
            return [*(row / (mu * lu) >= 0 for row in rows), *(three / mu >= 0 for three in threes)]
        case MassInEllipsoid():
            c, Q = np.array(term.centre), np.array(term.Q)
            S = second_moments(phi)
            inverse = np.linalg.inv(Q)
            about = cp.trace(inverse @ S) - 2 * (inverse @ c) @ h + (c @ inverse @ c) * m
            return [(m - about) / mu >= 0]
        case ComInBall():
            c = np.array(term.centre)
            return [cp.norm(h / hu - m * (c / hu), term.order) <= m * (term.radius / hu)]
        case FullOfNumbers():
            half = (theta[4] + theta[7] + theta[9]) / 2.0
            Sxx, Syy = half - theta[4], half - theta[7]
            return [5.0 * Sxx - 3.0 * Syy - 7.0 * theta[0] <= 0, 4.0 * Sxx - 2.0 * theta[0] >= 0]
    raise AssertionError(f"no second route for {term}")


def second_moments(phi: Any) -> Any:
    """S = ½ tr(I) 1 − I, entry by entry."""
    xx, xy, xz, yy, yz, zz = (phi[k] for k in range(4, 10))
    rows = [[(yy + zz - xx) / 2, -xy, -xz], [-xy, (xx + zz - yy) / 2, -yz]]
    return cp.bmat([*rows, [-xz, -yz, (xx + yy - zz) / 2]])


def mean_of_product(S, h, m, low, high, a, b, s, t) -> Any:
    """∫ of the distances from two faces of a box, one of axis a and one of b: all not negative."""
    d, e = (low[a] if s > 0 else high[a]), (low[b] if t > 0 else high[b])
    return s * t * (S[a, b] - d * h[b] - e * h[a] + d * e * m)


def cost_by_all_rows(log, weight: np.ndarray, phi: np.ndarray) -> float:
    """min ‖whitened rows‖² over the offset alone, from every row."""
    residual = log.wrench - newton_euler_regressor(log.motion) @ phi
    L = np.linalg.cholesky(weight).T
    return float(np.sum(((residual - residual.mean(axis=0)) @ L.T) ** 2))


def by_all_rows(log, weight: np.ndarray, scaling: Scaling, term: Term) -> np.ndarray:
    """min ‖whitened rows‖² over body and offset, in plain cvxpy from every row."""
    L = np.linalg.cholesky(weight).T
    Y = (L @ newton_euler_regressor(log.motion) @ scaling.to_x).reshape(-1, 10)
    shift = np.tile(L, (len(log.wrench), 1))
    target = (log.wrench @ L.T).ravel()
    shift_size = np.linalg.norm(shift)
    theta, offset = cp.Variable(10), cp.Variable(6)
    Pi = cp.reshape(PSEUDO_INERTIA_BASIS @ theta, (4, 4), order="F")
    phi = scaling.to_x @ theta
    units = body_scale(scaling.x(np.array([1.0, 0, 0, 0, 0.6, 0, 0, 0.6, 0, 0.6])))
    cost = cp.sum_squares(Y @ theta + shift @ offset / shift_size - target)
    constraints = [0.5 * (Pi + Pi.T) >> CONSISTENCY_MARGIN * np.eye(4)]
    constraints += plain_constraints(term, phi, units, theta)
    problem = cp.Problem(cp.Minimize(cost), constraints)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate", UserWarning)
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert problem.status in ("optimal", "optimal_inaccurate")
    return scaling.x(theta.value)


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("name", bounds_that_cut(random_body(np.random.default_rng(0))))
def test_the_estimate_is_the_optimum_of_all_rows_and_on_the_bound(name, mass):
    rng = np.random.default_rng(5)
    phi = random_body(rng, mass, 0.2 * np.cbrt(mass))
    log = samples(phi, rng, 150, noise=wrench_noise(phi, 0.02), bias=wrench_noise(phi, 1.0))
    settings = EstimatorSettings(terms=(bounds_that_cut(phi)[name],))
    (term,) = settings.terms
    estimate = estimate_body([log.blocks()], settings)
    fit = fitted(log, settings)
    found = estimate.parameters.phi
    exact = name in ("known mass", "known com")
    assert abs(term.violation(found, fit.scaling)) < 1e-7  # neither broken nor short of it
    assert term.violation(fit.x, fit.scaling) > 1e-3 or exact
    assert estimate.parameters.consistent
    certificate = estimate.certificate
    assert certificate.primal_residual <= 1e-9
    assert certificate.distance_to_optimum < 0.1
    if not exact:
        assert certificate.solver == "Clarabel"
        assert "constraint" in estimate.decided_by.values()
    # The cost is flat at its optimum: where plain cvxpy stops, at 1e-8 of the cost, its body is
    # known to 1e-5 of its size. The estimate is as near, and nearer the optimum.
    plain = by_all_rows(log, fit.weights[0], fit.scaling, term)
    assert_same_body(found, plain, 1e-5)
    cost, cost_of_plain = (cost_by_all_rows(log, fit.weights[0], phi) for phi in (found, plain))
    assert cost <= cost_of_plain * (1.0 + 1e-10)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (NotConvex(), r"a hole: the constraint .* is not convex \(see"),
        (Exponential(), "a hole: terms with exponential or power cones cannot be certified"),
    ],
)
def test_a_term_the_program_cannot_hold_is_named(term, message):
    rng = np.random.default_rng(8)
    log = samples(random_body(rng), rng, 100).blocks()
    with pytest.raises(SolveError, match=message):
        estimate_body([log], EstimatorSettings(terms=(MassBetween(0.1, 9.0), term)))


def test_variables_of_a_terms_own_need_a_bound_of_their_size():
    rng = np.random.default_rng(9)
    phi = random_body(rng)
    log = samples(phi, rng, 100, noise=wrench_noise(phi, 0.02)).blocks()
    with_bound = bounds_that_cut(phi)["com in diamond"]
    without = ComInDiamondOfNoBound(with_bound.centre, with_bound.radius)
    estimate_body([log], EstimatorSettings(terms=(with_bound,)))
    with pytest.raises(
        SolveError, match=r"auxiliary variables but no `auxiliary_bound` on their size"
    ):
        estimate_body([log], EstimatorSettings(terms=(without,)))


BOXES = (
    ComInBox((0.0, 0.0, 0.0), (0.01, 0.01, 0.01)),
    ComInBox((0.1, 0.1, 0.1), (0.2, 0.2, 0.2)),
)


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize(
    ("terms", "clash"),
    [
        ((MassBetween(2, 3), MassBetween(4, 5)), (0, 1)),
        ((KnownMass(1.0), MassBetween(2, 3)), (0, 1)),
        ((KnownMass(1.0), KnownMass(2.0)), (0, 1)),
        (BOXES, (0, 1)),
        ((MassBetween(1, 3), *BOXES), (1, 2)),
        ((BOXES[0], MassBetween(2, 3), MassBetween(4, 5)), (1, 2)),
        ((KnownMass(1.0), BOXES[1], MassBetween(4, 5)), (0, 2)),
    ],
)
def test_terms_that_exclude_each_other_are_named_both_and_no_other(terms, clash, mass):
    rng = np.random.default_rng(10)
    phi = random_body(rng, mass, 0.2 * np.cbrt(mass))
    log = samples(phi, rng, 100, noise=wrench_noise(phi, 0.02)).blocks()
    unit = np.cbrt(mass)
    terms = tuple(_in_units(term, mass, unit) for term in terms)
    expected = tuple(str(terms[k]) for k in clash)
    with pytest.raises(ContradictoryTerms) as caught:
        estimate_body([log], EstimatorSettings(terms=terms))
    assert caught.value.terms == expected
    assert caught.value.exit_code == 2
    assert all(words in str(caught.value) for words in expected)


def _in_units(term: Term, mass: float, length: float) -> Term:
    match term:
        case KnownMass():
            return KnownMass(mass * term.mass)
        case MassBetween():
            return MassBetween(mass * term.low, mass * term.high)
        case ComInBox():
            return ComInBox(
                tuple(length * x for x in term.low), tuple(length * x for x in term.high)
            )
    raise AssertionError(f"no second route for {term}")


@dataclass(frozen=True, slots=True)
class NegativeSpread(NotConvex):
    """Sxx ≤ −m, which no body has."""

    kind: ClassVar[str] = "negative_spread"

    def build(self, x: ScaledSpace) -> list[cp.Constraint]:
        return [x.body(None).Pi[0, 0] <= -x.body(None).mass]

    def __str__(self) -> str:
        return "a negative spread"


def test_a_term_that_no_body_meets_contradicts_consistency():
    rng = np.random.default_rng(11)
    log = samples(random_body(rng), rng, 100).blocks()
    with pytest.raises(ContradictoryTerms) as caught:
        estimate_body([log], EstimatorSettings(terms=(MassBetween(0.1, 9.0), NegativeSpread())))
    assert caught.value.terms == ("physical consistency", "a negative spread")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MassBetween(2.0, 1.0), "0 <= low < high, got 2.0 and 1.0 kg"),
        (lambda: MassBetween(-1.0, 1.0), "0 <= low < high"),
        (lambda: MassBetween(np.nan, 1.0), "0 <= low < high"),
        (lambda: MassBetween(np.inf, np.inf), "0 <= low < high"),
        (lambda: MassBetween(1e300, 1e301), "1e.300 to 1e.301 kg contains no mass"),
        (lambda: MassBetween(0.0, 1e-300), "0 to 1e-300 kg contains no mass"),
        (lambda: ComInBox((0, 0, 0), (1, 1, 1e300)), "high must be three finite numbers within"),
        (lambda: KnownMass(-1.0), r"mass: expected a positive, finite number \[kg\], got -1"),
        (lambda: ComInBox((0, 0, 0), (1, 0, 1)), "each low must be below its high"),
        (lambda: ComInBox((0, 0, np.inf), (1, 1, 1)), "low must be three finite numbers"),
        (lambda: ComInBox((0, 0, 0), (1, 1)), "high must be three finite numbers"),
        (lambda: ComInBox(1, (1, 1, 1)), "low: 'int' object is not iterable"),
        (lambda: KnownCom([1, 2]), r"got \[\[1.0, 2.0\]\] of shape \(1, 2\)"),
        (lambda: KnownCom([1, 2, "a"]), "got .*'a'.*: could not convert string to float: 'a'"),
    ],
)
def test_invalid_terms_are_rejected_on_construction(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_every_term_is_registered_under_its_name():
    assert {name: term.kind for name, term in TERM_CLASSES.items()} == {
        name: name for name in TERM_CLASSES
    }
    assert set(TERM_CLASSES) >= {"consistent", "known_mass", "mass_between", "com_in_box"}
