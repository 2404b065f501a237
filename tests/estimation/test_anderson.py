"""Anderson acceleration of linear fixed-point iterations."""

import numpy as np
import pytest

from identify.estimation.anderson import AndersonAcceleration
from tests.close import assert_close


def travelled(J, b, x, rounds):
    """Last iterate of x → J x + b, and the state of the acceleration."""
    acceleration, information = AndersonAcceleration(), np.diag(np.arange(1.0, 1.0 + len(b)))
    for _ in range(rounds):
        x = acceleration.next_iterate(x, J @ x + b - x, information)
    return x, acceleration


def turned(*rates):
    Q = np.linalg.qr(np.random.default_rng(len(rates)).normal(size=(len(rates), len(rates))))[0]
    return Q @ np.diag(rates) @ Q.T


@pytest.mark.parametrize("rates", [(0.8, 0.3), (0.9, -0.4), (-0.6, 0.05)])
def test_anderson_acceleration_solves_two_modes_in_three_rounds(rates):
    J, b = turned(*rates), np.array([1.0, -2.0])
    x, _ = travelled(J, b, np.zeros(2), 3)
    assert_close(x, np.linalg.solve(np.eye(2) - J, b), 1e-9)


def test_anderson_acceleration_removes_single_slow_mode():
    rates = (0.9, *np.linspace(-0.1, 0.1, 9))
    J, b = turned(*rates), np.ones(10)
    x, _ = travelled(J, b, np.zeros(10), 12)
    assert_close(x, np.linalg.solve(np.eye(10) - J, b), 1e-7)


def test_convergence_rate_of_scalar_iteration():
    _, acceleration = travelled(np.array([[0.7]]), np.ones(1), np.zeros(1), 2)
    assert acceleration.convergence_rate == pytest.approx(0.7)
    assert acceleration.residual_norm < 1e-12  # both steps foretell that there is none


def test_growing_steps_are_not_accelerated():
    acceleration, one = AndersonAcceleration(), np.eye(1)
    acceleration.next_iterate(np.zeros(1), np.ones(1), one)
    assert acceleration.next_iterate(np.ones(1), 2.0 * np.ones(1), one) == 3.0
