"""Principal moments and their axes: derivatives, and how often intervals and cones hold the truth.

The errors are drawn, not fitted: what an estimate of a known covariance would be.
"""

import numpy as np
import pytest
from hypothesis import given

from identify.estimation.intervals import (
    BOUNDS_OF_EVERY_BODY,
    ESTIMATED_QUANTITIES,
    _simultaneous_level,
    interval_jacobian,
    intervals_of,
    principal_axes_of,
    principal_uncertainty,
)
from identify.inertia import PHI, inertia_about_com, phi_from_inertia
from tests.close import assert_close
from tests.estimation.simulated import size_of
from tests.strategies import bodies, seeds

DATA = dict.fromkeys(PHI, "data")
BODIES = {
    "brick": (1.0, 0.75, 0.5),
    "cylinder": (1.0, 0.6, 0.6),
    "almost a cylinder": (1.0, 0.63, 0.6),
    "cube": (1.0, 1.0, 1.0),
    "plate": (1.0, 0.7, 0.0),
    "rod": (1.0, 0.0, 0.0),
}


def body(sides: tuple[float, float, float]) -> np.ndarray:
    """A box of these sides [dm] and 1.2 kg, along the axes, about its centre of mass."""
    spread = np.square(sides)
    inertia = 1.2 * 0.01 / 12.0 * np.diag(spread.sum() - spread)
    return phi_from_inertia(1.2, np.zeros(3), inertia)


def spread_of(phi: np.ndarray, share: float, products: float = 1.0) -> np.ndarray:
    """A covariance with correlations, each standard error a share of the body's scale.

    Args:
        phi: the body.
        share: standard error of the moments.
        products: how many times as much that of the products of inertia is.
    """
    L, rng = size_of(phi), np.random.default_rng(0)
    units = share * phi[0] * np.repeat([0.1, 0.1 * L, L**2], [1, 3, 6])
    units[[5, 6, 8]] *= products
    root = 0.1 * rng.normal(size=(10, 10)) + np.eye(10)
    correlation = root @ root.T
    sigma = np.sqrt(np.diag(correlation))
    return units[:, None] * (correlation / np.outer(sigma, sigma)) * units


def drawn(phi: np.ndarray, covariance: np.ndarray, count: int, seed: int = 2) -> np.ndarray:
    z = np.random.default_rng(seed).standard_normal((count, 10))
    return phi + z @ np.linalg.cholesky(covariance).T


@given(bodies(flat=False), seeds())
def test_derivatives_of_principal_moments_and_axes_match_differences(phi, seed):
    scale = phi[0] * size_of(phi) ** 2
    step = np.zeros(10)
    step[4:] = 1e-6 * scale * np.random.default_rng(seed).normal(size=6)
    spread = principal_uncertainty(phi, np.zeros((10, 10)))
    G = spread.jacobian @ step
    ahead, behind = (np.linalg.eigh(inertia_about_com(phi + sign * step)) for sign in (1.0, -1.0))
    gaps = np.abs(spread.moments[:, None] - spread.moments)[np.triu_indices(3, 1)]
    if gaps.min() < 0.02 * scale:  # eigenvectors turn fast where two moments are alike
        return
    assert_close(0.5 * (ahead[0] - behind[0]), np.diag(G), 1e-3, scale=1e-6 * scale)
    for k, j in ((0, 1), (1, 2), (2, 0)):
        before, after = behind[1][:, k], ahead[1][:, k]
        after = after * np.sign(after @ before)
        turned = 0.5 * (after - before) @ spread.axes[:, j] * np.sign(before @ spread.axes[:, k])
        expected = G[k, j] / (spread.moments[k] - spread.moments[j])
        assert_close(turned, expected, 1e-3, scale=1e-6 * scale / gaps.min())


def test_the_rows_of_all_quantities_are_their_derivatives():
    phi = body(BODIES["brick"])
    steps = 1e-6 * np.diag(phi[0] * np.repeat([1.0, 0.05, 0.0025], [1, 3, 6]))

    def quantities(at):
        found = intervals_of(at, np.zeros((10, 10)), np.inf, DATA)
        return np.array([found[name][0] for name in ESTIMATED_QUANTITIES])

    numeric = [(quantities(phi + s) - quantities(phi - s)) / (2.0 * s.sum()) for s in steps]
    J = interval_jacobian(phi)
    assert_close(np.array(numeric).T, J, 1e-6, scale=np.abs(J).max())


@pytest.mark.parametrize("products", [0.5, 3.0])
@pytest.mark.parametrize("kind", BODIES)
def test_intervals_of_principal_moments_cover_whatever_the_shape(kind, products):
    """Equal moments come out apart, and plain intervals around them would miss."""
    phi = body(BODIES[kind])
    covariance = spread_of(phi, 0.01, products)
    true = np.linalg.eigvalsh(inertia_about_com(phi)).clip(0.0)
    held = np.zeros(3)
    for estimate in drawn(phi, covariance, 250):
        found = intervals_of(estimate, covariance, np.inf, DATA)
        bounds = np.array([found[name] for name in ("I1", "I2", "I3")])
        held += (bounds[:, 0] <= true + 1e-12) & (true - 1e-12 <= bounds[:, 1])
        assert bounds[0, 0] >= min(0.0, np.linalg.eigvalsh(inertia_about_com(estimate))[0]) - 1e-12
    assert (held / 250 >= 0.92).all(), held / 250


@pytest.mark.parametrize("kind", ["brick", "plate", "cylinder"])
def test_cones_hold_the_true_axis(kind):
    phi = body(BODIES[kind])
    covariance = spread_of(phi, 0.01, 2.0)
    true = np.linalg.eigh(inertia_about_com(phi))[1].T
    given, held = np.zeros(3), np.zeros(3)
    for estimate in drawn(phi, covariance, 400):
        for k, axis in enumerate(principal_axes_of(estimate, covariance, np.inf, DATA)):
            if axis.half_angle is not None:
                off = np.arcsin(min(1.0, np.linalg.norm(np.cross(axis.direction, true[k]))))
                given[k] += 1
                held[k] += off <= axis.half_angle
    # A long cylinder's least moment is about its own axis; the others may be any across it.
    sure = given >= 395
    assert sure.tolist() == ([True, False, False] if kind == "cylinder" else [True] * 3), given
    assert (held[sure] / given[sure] >= 0.92).all(), held / given
    assert (held[sure] / given[sure] <= 0.985).all(), held / given
    assert (given[~sure] <= 0.09 * 400).all(), given


def test_interval_is_cut_at_consistency_boundary_on_one_side():
    phi = body(BODIES["rod"])
    covariance = spread_of(phi, 0.03)
    cut = intervals_of(phi, covariance, np.inf, DATA)
    free = intervals_of(phi, covariance, np.inf, DATA, limits={})
    assert cut["I1"][0] == 0.0 > free["I1"][0]
    assert cut["I1"][1] == free["I1"][1] > 0.0
    beyond = intervals_of(phi, covariance, np.inf, DATA, limits={"m": (1.199, 1.201)})
    assert beyond["m"] == (1.199, 1.201)
    assert free["m"][0] < 1.199
    known = intervals_of(phi, covariance, np.inf, DATA, limits={"m": (1.3, 2.0)})
    assert known["m"] == (phi[0], free["m"][1])  # an estimate beyond a limit is its own end
    assert set(BOUNDS_OF_EVERY_BODY) <= set(ESTIMATED_QUANTITIES)


def test_unidentified_inertia_has_no_principal_intervals():
    phi = body(BODIES["brick"])
    decided = DATA | {"Ixy": "default"}
    covariance = spread_of(phi, 0.03)
    found = intervals_of(phi, covariance, np.inf, decided)
    assert found["I1"] is found["Icxy"] is None
    assert found["Icxx"] is not None
    assert principal_axes_of(phi, covariance, np.inf, decided) == ()


def test_the_level_of_independent_quantities_is_sidaks():
    level = _simultaneous_level(np.eye(10), np.diag(np.arange(1.0, 11.0)))
    assert_close(1.0 - level, 0.5 * (1.0 - 0.95**0.1), 0.05)


def test_simultaneous_intervals_cover_all_at_once():
    """Ten parameters and twelve functions of them; those of one each hold less often together."""
    phi = body(BODIES["brick"])
    covariance = spread_of(phi, 0.01)
    true = np.concatenate((phi, np.zeros(12)))
    exact = intervals_of(phi, np.zeros((10, 10)), np.inf, DATA)
    true[10:] = [exact[name][0] for name in ESTIMATED_QUANTITIES[10:]]
    J = interval_jacobian(phi)
    errors = np.sqrt(np.diag(J @ covariance @ J.T))
    off = np.abs((drawn(phi, covariance, 20_000) - phi) @ J.T) / errors
    for simultaneous, low, high in ((True, 0.945, 0.955), (False, 0.3, 0.75)):
        found = intervals_of(phi, covariance, np.inf, DATA, simultaneous=simultaneous)
        half = np.array([true[k] - found[name][0] for k, name in enumerate(ESTIMATED_QUANTITIES)])
        reached = half[:-3] / errors[:-3]
        assert_close(reached, np.full(len(reached), reached[0]), 1e-6)
        assert low < np.mean((off <= reached[0]).all(axis=1)) < high
