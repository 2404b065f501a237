import numpy as np
import pytest
from hypothesis import given
from scipy.integrate import solve_ivp

from identify.errors import SimulationError
from identify.inertia import inertia_about_com
from identify.simulation.free_rotation import (
    Regime,
    angular_momentum,
    rotate_freely,
    rotation_invariants,
)
from identify.spatial import exp_rotation, quaternion_product, rotation_from_quaternion
from identify.spatial.rotations import rotation_angle
from tests.close import assert_close
from tests.simulation.free_rotation.cases import ALL, OSCILLATING, QUATERNION, body
from tests.strategies import random_body, seeds

Q = QUATERNION / np.linalg.norm(QUATERNION)
REGIMES = {
    "about the smallest": Regime.ABOUT_SMALLEST,
    "about the largest": Regime.ABOUT_LARGEST,
    "axes in another order": Regime.ABOUT_SMALLEST,
    "backwards": Regime.ABOUT_LARGEST,
    "separatrix 1e-13": Regime.ABOUT_LARGEST,
    "separatrix 1e-9": Regime.ABOUT_SMALLEST,
    "oblate": Regime.ABOUT_LARGEST,
    "prolate": Regime.ABOUT_SMALLEST,
    "on the separatrix": Regime.SEPARATRIX,
    "on the separatrix, later": Regime.SEPARATRIX,
    "sphere": Regime.STEADY,
    "at rest": Regime.AT_REST,
    "spin, smallest": Regime.STEADY,
    "spin, middle": Regime.STEADY,
    "spin, largest": Regime.STEADY,
    "spin across a top": Regime.STEADY,
}


@pytest.mark.parametrize("name", REGIMES)
def test_regime(name):
    assert rotation_invariants(*body(ALL[name], turned=False)).regime == REGIMES[name]


@given(seeds())
def test_energy_and_momentum_match_their_definitions(seed):
    rng = np.random.default_rng(seed)
    inertia, w, q = inertia_about_com(random_body(rng)), rng.normal(size=3), rng.normal(size=4)
    found = rotation_invariants(inertia, w)
    assert_close(found.kinetic_energy, 0.5 * w @ inertia @ w, 1e-14)
    assert_close(found.angular_momentum, np.linalg.norm(inertia @ w), 1e-14)
    L = angular_momentum(inertia, q, w)
    assert_close(L, rotation_from_quaternion(q) @ inertia @ w, 1e-14)


@pytest.mark.parametrize("name", OSCILLATING)
def test_after_a_period_spin_repeats_and_body_is_rotated_about_momentum(name):
    """Turned about L by the precession, and by no other axis."""
    inertia, w = body(OSCILLATING[name], turned=True)
    found = rotation_invariants(inertia, w)
    L = angular_momentum(inertia, Q, w)
    start, end = (rotate_freely(inertia, Q, w, t) for t in (0.0, float(found.period)))
    assert_close(end.angular_velocity, w, 1e-11)
    axis = L / np.linalg.norm(L)
    turned = quaternion_product(exp_rotation(found.precession % (2 * np.pi) * axis), Q)
    # The period is rounded to a double, in which the body turns by eps of all its angle.
    tolerance = 1e-12 + 4e-16 * float(found.period) * np.linalg.norm(w)
    assert rotation_angle(end.quaternion, turned) < tolerance
    assert rotation_angle(start.quaternion, Q) < 1e-14


@pytest.mark.parametrize("name", ["about the smallest", "about the largest", "tennis racket"])
def test_precession_counts_whole_turns_of_the_encircled_axis(name):
    inertia, w = body(OSCILLATING[name], turned=True)
    found = rotation_invariants(inertia, w)
    L = angular_momentum(inertia, Q, w)
    first = np.cross(L, [1.0, 0.0, 0.0])
    first /= np.linalg.norm(first)
    second = np.cross(L / np.linalg.norm(L), first)
    times = np.linspace(0.0, float(found.period), 20001)
    axis = rotation_from_quaternion(rotate_freely(inertia, Q, w, times).quaternion) @ found.axis
    azimuth = np.unwrap(np.arctan2(axis @ second, axis @ first))
    assert_close(azimuth[-1] - azimuth[0], found.precession, 1e-10)
    assert_close(found.mean_precession_rate * found.period, found.precession, 1e-15)


def test_flip_time_of_a_tennis_racket():
    """The middle component changes its sign every 2 K(m)/λ: formula, and event of an integrator."""
    I, w = np.diag([1.0, 2.0, 2.5]), np.array([1e-3, 1.0, 2e-3])

    def rate(_, w):
        return np.cross(I @ w, w) / np.diag(I)

    def flip(_, w):
        return w[1]

    done = solve_ivp(rate, (0.0, 200.0), w, "DOP853", events=flip, rtol=1e-13, atol=1e-16)
    flips = done.t_events[0]
    found = rotation_invariants(I, w)
    assert len(flips) > 4
    assert_close(np.diff(flips), np.full(len(flips) - 1, found.flip_time), 1e-8)


def test_symmetric_top_precesses_at_l_over_the_transverse_moment():
    inertia, w = body(ALL["oblate"], turned=False)
    found = rotation_invariants(inertia, w)
    assert_close(found.mean_precession_rate, np.linalg.norm(inertia @ w) / 1.0, 1e-14)
    assert_close(found.period, 2.0 * np.pi / (0.8 * w[2]), 1e-14)
    assert_close(found.axis, [0.0, 0.0, 1.0], 1e-15)
    assert found.moment == 1.8


def test_period_is_nan_for_degenerate_rotations():
    for name in ("sphere", "at rest", "spin, middle"):
        found = rotation_invariants(*body(ALL[name], turned=False))
        assert np.isnan(found.period)
        assert np.isnan(found.precession)
        assert np.isnan(found.flip_time)
    found = rotation_invariants(*body(ALL["on the separatrix, other side"], turned=False))
    assert np.isinf(found.flip_time)
    # ω₁ ω₃ > 0 drives ω₂ up.
    assert_close(found.axis, [0.0, 1.0, 0.0], 1e-15)
    assert found.moment == 2.0


def test_the_axis_of_a_steady_rotation_matches_its_spin():
    found = rotation_invariants(np.eye(3) * 1.5, [[0.0, 3.0, 4.0], [0.0, 0.0, 0.0]])
    assert_close(found.axis, [[0.0, 0.6, 0.8], [0.0, 0.0, 0.0]], 1e-15)
    assert_close(found.moment, [1.5, 0.0], 1e-15)
    assert_close(found.kinetic_energy, [18.75, 0.0], 1e-15)


def test_invalid_invariants_input_is_rejected():
    with pytest.raises(SimulationError, match="triangle inequality"):
        rotation_invariants(np.diag([1.0, 1.0, 3.0]), [1.0, 0.0, 0.0])
