"""Certified bounds: against cvxpy in other words, against closed forms, and with false proofs."""

from dataclasses import replace
from unittest import mock

import cvxpy as cp
import numpy as np
import pytest

from identify.errors import ModelError
from identify.estimation import EstimatorSettings, estimate_body, score_equations
from identify.estimation.bounds import _SupportPoint, _SupportProgram
from identify.estimation.inflated_covariance import inflate_covariance
from identify.estimation.terms import KnownCom, KnownMass, MassBetween, MassInBox
from identify.exchange import read_estimate
from identify.inertia import PHI, inertia_about_com, phi_from_inertia, pseudo_inertia
from identify.spatial import BodyMotion
from tests.close import assert_close
from tests.estimation.simulated import fitted, samples, size_of, wrench_noise
from tests.estimation.test_program import noisy_plate
from tests.slow import few_or_many, mostly_slow
from tests.strategies import random_body

NAMES = (*PHI, "cx", "cy", "cz", "Icxx", "Icyy", "Iczz")
Z95 = 1.959963984540054


def value_of(phi: np.ndarray, name: str) -> float:
    if name in PHI:
        return float(phi[PHI.index(name)])
    axis = "xyz".index(name[-1])
    if name.startswith("c"):
        return float(phi[1 + axis] / phi[0])
    return float(inertia_about_com(phi)[axis, axis])


def plate_with_bounds(seed: int):
    """An estimate at the edge of what is possible, and its fit; Student's t taken for normal."""
    phi, log, _, fit = noisy_plate(seed)
    estimate = estimate_body([log.blocks()])
    region = replace(estimate.region, degrees=np.full(10, np.inf))
    return phi, fit, replace(estimate, region=region)


class OtherWords:
    """The region in cvxpy, in scaled unknowns, with the matrix of densities as the variable."""

    def __init__(self, fit) -> None:
        self.said, self.scaling = score_equations(fit), fit.scaling
        self.Pi = cp.Variable((4, 4), symmetric=True)
        S, h, m = self.Pi[:3, :3], self.Pi[:3, 3], self.Pi[3, 3]
        inertia = cp.trace(S) * np.eye(3) - S
        pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
        self.theta = cp.hstack([m, *(h[k] for k in range(3)), *(inertia[ij] for ij in pairs)])
        self.possible = [self.Pi >> 1e-9 * np.eye(4)]
        misfit = cp.norm(self.said.R @ self.theta - self.said.r)
        least = cp.Problem(cp.Minimize(misfit), self.possible).solve(solver="CLARABEL")
        self.left = [*self.possible, misfit <= np.hypot(least, Z95)]

    def greatest(self, value) -> float:
        problem = cp.Problem(cp.Maximize(value), self.left)
        exact = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
        problem.solve(solver="CLARABEL", **exact)
        return float(problem.value)


@pytest.mark.parametrize("seed", few_or_many(0, 1))
def test_bounds_match_direct_cone_program(seed):
    _, fit, estimate = plate_with_bounds(seed)
    found, other = estimate.bounds(), OtherWords(fit)
    assert tuple(found) == NAMES
    unit = fit.scaling.bodies[0]
    rows = fit.scaling.to_x
    for k, name in enumerate(PHI):
        size = np.linalg.norm(rows[k])
        low = -size * other.greatest(-(rows[k] / size) @ other.theta)
        high = size * other.greatest((rows[k] / size) @ other.theta)
        assert found[name].low == pytest.approx(low, abs=1e-5 * (high - low))
        assert found[name].high == pytest.approx(high, abs=1e-5 * (high - low))
        assert found[name].gap < 1e-5
    theta = other.theta
    for axis, name in enumerate(("cx", "cy", "cz")):  # at the bound c the greatest h − c m is zero
        width = (found[name].high - found[name].low) / unit.length
        for sign, c in ((1.0, found[name].high), (-1.0, found[name].low)):
            scaled = (c - unit.com[axis]) / unit.length
            beyond = other.greatest(sign * (theta[1 + axis] - scaled * theta[0]))
            assert abs(beyond) < 1e-5 * width
    for axis, name in enumerate(("Icxx", "Icyy", "Iczz")):
        h, moment = cp.hstack([theta[1 + k] for k in range(3) if k != axis]), theta[(4, 7, 9)[axis]]
        high = other.greatest(moment - cp.quad_over_lin(h, theta[0]))
        assert found[name].low == 0.0
        assert found[name].high / (unit.mass * unit.length**2) == pytest.approx(high, rel=1e-6)


def test_bounds_without_active_terms_match_least_squares_intervals():
    rng = np.random.default_rng(0)
    phi = phi_from_inertia(2.0, [0.1, -0.05, 0.2], np.diag([0.01, 0.012, 0.009]))
    log = samples(phi, rng, 400, noise=wrench_noise(phi, 1e-4))
    estimate = estimate_body([log.blocks()])
    bounds = estimate.bounds()
    for name in NAMES[:13]:
        interval = np.array(estimate.intervals[name])
        near = 1e-6 if name in PHI else 1e-3  # the centre of mass is a quotient
        width = interval[1] - interval[0]
        assert_close(np.array(bounds[name][:2]), interval, near, scale=width)
    more = np.diag((0.1 * np.abs(phi) + 1e-4) ** 2) * 1e-3
    wider = inflate_covariance(estimate, more)
    for k, name in enumerate(PHI):
        grown = np.sqrt(wider.covariance[k, k] / estimate.covariance[k, k])
        widths = [of[name].high - of[name].low for of in (bounds, wider.bounds())]
        assert widths[1] / widths[0] == pytest.approx(grown, rel=1e-6)
    only = np.zeros((10, 10))
    only[4, 4] = 3.0 * estimate.covariance[4, 4]
    of_one = inflate_covariance(estimate, only).bounds()
    for name, grown in {"m": 1.0, "Ixx": 2.0}.items():
        widths = [of[name].high - of[name].low for of in (bounds, of_one)]
        assert widths[1] / widths[0] == pytest.approx(grown, rel=1e-6)


@pytest.mark.parametrize("seed", mostly_slow(range(3), {0}))
def test_feasible_bodies_lie_within_bounds(seed):
    rng = np.random.default_rng(seed)
    _, fit, estimate = plate_with_bounds(seed)
    said, bounds = score_equations(fit), estimate.bounds()
    centre = np.linalg.lstsq(said.R, said.r, rcond=None)[0]
    best = fit.scaling.theta(estimate.parameters.phi)
    least = np.sqrt(said.chi_square(best))
    inside = 0
    for _ in range(4000):
        step = rng.normal(size=10)
        step *= (Z95 * rng.random() ** 0.1) / np.linalg.norm(step)
        theta = best + np.linalg.solve(said.R, step) + rng.random() * 0.02 * (best - centre)
        phi = fit.scaling.x(theta)
        possible = np.linalg.eigvalsh(pseudo_inertia(phi))[0] > 0.0
        if possible and said.chi_square(theta) <= least**2 * (1 - 1e-6) + Z95**2:
            inside += 1
            for name in NAMES:
                low, high, _ = bounds[name]
                slack = 1e-6 * (high - low)
                assert low - slack <= value_of(phi, name) <= high + slack
    assert inside > 20


def test_inexact_multiplier_widens_bounds_validly():
    _, _, estimate = plate_with_bounds(1)
    proved, rng = estimate.bounds(), np.random.default_rng(0)
    right = _SupportProgram.support_point

    def wrong(self, a, radius=None):
        y, z = right(self, a, radius)
        return _SupportPoint(y, z + rng.normal(size=len(z)) * 0.1 * np.abs(z).max())

    with mock.patch.object(_SupportProgram, "support_point", wrong):
        spoiled = estimate.bounds()
    looser = 0
    for name, (low, high, gap) in proved.items():
        slack = 1e-7 * (high - low)
        assert spoiled[name].low <= low + slack
        assert spoiled[name].high >= high - slack
        looser += spoiled[name].gap > 100.0 * gap + 1e-6
    assert looser > 8


def test_certified_bounds_have_nominal_coverage():
    held = []
    for seed in range(25):
        phi, log, _, _ = noisy_plate(seed)
        bounds = estimate_body([log.blocks()]).bounds()
        held += [low <= value_of(phi, name) <= high for name, (low, high, _) in bounds.items()]
    assert 0.92 < np.mean(held) < 0.99


def test_noise_free_bounds_collapse_to_body():
    phi = random_body(np.random.default_rng(2))
    estimate = estimate_body([samples(phi, np.random.default_rng(3), 200).blocks()])
    for name, (low, high, _) in estimate.bounds().items():
        value = value_of(phi, name)
        size = phi[0] * size_of(phi) ** (2 if name.startswith("I") else 1 if name[0] == "h" else 0)
        assert abs(high - value) < 1e-7 * max(abs(value), size)
        if not name.startswith("Ic"):
            assert abs(low - value) < 1e-7 * max(abs(value), size)


def test_known_values_tighten_other_bounds():
    phi, log, _, _ = noisy_plate(3)
    com = tuple((phi[1:4] / phi[0]).tolist())
    terms = (KnownMass(float(phi[0])), KnownCom(com))
    free, known = (
        estimate_body([log.blocks()], EstimatorSettings(terms=each)).bounds()
        for each in ((), terms)
    )
    assert known["m"][:2] == pytest.approx((phi[0],) * 2, rel=1e-12)
    assert known["cx"][:2] == pytest.approx((com[0],) * 2, rel=1e-9)
    for name in PHI[4:]:
        widths = [of[name].high - of[name].low for of in (free, known)]
        assert widths[1] < widths[0] * 1.05
    size = 1.0001 * np.abs(com).max() + 4.0 * size_of(phi)
    between = MassBetween(0.5 * phi[0], float(1.001 * phi[0]))
    boxed = (between, MassInBox((-size,) * 3, (size,) * 3))
    found = estimate_body([log.blocks()], EstimatorSettings(terms=boxed)).bounds()
    assert found["m"].high <= 1.001 * phi[0] * (1.0 + 1e-9)


def test_unidentified_parameters_are_unbounded():
    rng = np.random.default_rng(5)
    phi = random_body(rng)
    down = rng.normal(size=(60, 3))
    down *= 9.81 / np.linalg.norm(down, axis=1, keepdims=True)
    still = BodyMotion(down, np.zeros((60, 3)), np.zeros((60, 3)))
    log = samples(phi, rng, noise=wrench_noise(phi, 0.01), motion=still)
    bounds = estimate_body([log.blocks()]).bounds()
    assert bounds["Ixx"].high is bounds["Iczz"].high is None
    for name in ("m", "hx", "hy", "hz", "cx", "cy", "cz"):
        low, high, _ = bounds[name]
        assert low < value_of(phi, name) < high
    # However little is known, no moment about Bo is below that of the mass at its centre.
    assert bounds["Ixx"].low > 0.0


def test_both_bodies_of_a_fit_have_them_and_a_file_keeps_them(tmp_path):
    rng = np.random.default_rng(6)
    carrier, payload = random_body(rng, 2.0), random_body(rng, 1.0)
    noise = wrench_noise(carrier, 0.01)
    logs = [samples(body, rng, 300, noise=noise).blocks() for body in (carrier + payload, carrier)]
    estimate = estimate_body(logs, EstimatorSettings(unloaded=1))
    kept = estimate.with_bounds()
    for one, phi in zip(kept.bodies, (payload, carrier), strict=True):
        for name in PHI:
            low, high, _ = one.certified_bounds[name]
            width = high - low
            assert low - width < value_of(phi, name) < high + width
            assert one.bounds() is one.certified_bounds
    read = read_estimate(kept.save(tmp_path / "e.json"))
    assert read.bounds() == kept.certified_bounds
    with pytest.raises(ModelError, match=r"no certified bounds.*fit its logs again with --bounds"):
        read_estimate(estimate.save(tmp_path / "e.json")).bounds()


def test_a_fit_of_many_fold_noise_still_ends_with_bounds_in_order():
    for seed in range(5):
        _, log, _, _ = noisy_plate(seed, share=0.2, complete=False)
        estimate = estimate_body([log.blocks()])
        for name, (low, high, _) in estimate.bounds().items():
            value = value_of(estimate.parameters.phi, name)
            assert (low or -np.inf) < (high or np.inf)
            if fitted(log).identifiability.complete:
                assert (low or -np.inf) <= value <= (high or np.inf)
