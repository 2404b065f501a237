import numpy as np
import pytest
from hypothesis import given

from identify.errors import ModelError
from identify.inertia.shapes import PointMasses
from tests.close import assert_same_body
from tests.strategies import phi_of_points, seeds


@given(seeds())
def test_weights_are_absolute_or_relative_masses(seed):
    rng = np.random.default_rng(seed)
    positions, weights = rng.normal(size=(7, 3)) + rng.normal(size=3), rng.uniform(0.0, 2.0, 7)
    points = PointMasses(positions, weights)
    assert_same_body(points.body(), phi_of_points(positions, weights), 1e-13)
    share = 3.0 / weights.sum() * weights
    assert_same_body(points.body(mass=3.0), phi_of_points(positions, share), 1e-13)
    assert_same_body(points.body(density=2.0), phi_of_points(positions, 2.0 * weights), 1e-13)


@pytest.mark.parametrize(
    ("positions", "weights", "message"),
    [
        (np.zeros((2, 2)), np.ones(2), r"points: positions: expected shape \(n, 3\), got \(2, 2\)"),
        (np.zeros((2, 3)), np.ones(3), r"points: weights: expected shape \(2\), got \(3,\)"),
        (np.zeros((2, 3)), [1.0, -0.5], "weight 1 is -0.5; expected zero or more"),
        (np.zeros((2, 3)), np.zeros(2), "the weights are all zero"),
        (np.zeros((0, 3)), np.zeros(0), "there is no point"),
        ([[0.0, np.nan, 0.0]], [1.0], r"positions: entry \(0, 1\) is nan"),
    ],
)
def test_invalid_point_masses_are_rejected(positions, weights, message):
    with pytest.raises(ModelError, match=message):
        PointMasses(positions, weights)
