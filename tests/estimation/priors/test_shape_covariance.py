"""Moments over points, and their spread with density and outline, by a second route each."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from identify.estimation.priors.shape_covariance import (
    density_covariance,
    outline_covariance,
    point_parameters,
)
from identify.inertia import phi_from_inertia
from tests.close import assert_close
from tests.strategies import phi_of_points

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(60, 3)) * [0.1, 0.04, 0.02] + [0.2, -0.1, 0.05]
WEIGHTS = RNG.dirichlet(np.full(60, 3.0))


def test_features_add_up_to_the_ten_parameters_of_point_masses():
    assert_close(WEIGHTS @ point_parameters(POINTS), phi_of_points(POINTS, WEIGHTS), 1e-13)


def test_the_spread_of_the_density_matches_bodies_drawn_from_the_field():
    """Densities 1 + field at each point, scaled to one mass to first order, and their moments."""
    radius = 0.1
    K = np.mean(
        [
            np.exp(-0.5 * (cdist(POINTS, POINTS) / (scale * radius)) ** 2)
            for scale in (0.2, 0.4, 0.8, 1.6, 3.2)
        ],
        axis=0,
    )
    root = np.linalg.cholesky(K + 1e-12 * np.eye(60))
    size = 1e-4
    fields = size * np.random.default_rng(0).normal(size=(20_000, 60)) @ root.T
    bodies = (WEIGHTS * (1.0 + fields)) @ point_parameters(POINTS)
    bodies /= bodies[:, :1]
    drawn = np.cov(bodies.T) / size**2
    units = np.sqrt(np.diag(drawn)) + 1e-12
    found = density_covariance(POINTS, WEIGHTS, radius)
    assert_close(found / np.outer(units, units), drawn / np.outer(units, units), 0.05, scale=1.0)
    assert np.abs(found[0]).max() < 1e-15  # the mass stays


def test_subsampled_points_keep_covariance():
    rng = np.random.default_rng(1)
    many = rng.uniform(-0.5, 0.5, (20_000, 3)) * [0.3, 0.1, 0.05]
    all_alike = np.full(len(many), 1.0 / len(many))
    drawn = density_covariance(many, all_alike, 0.09)
    other = density_covariance(many[:600], np.full(600, 1.0 / 600), 0.09)
    assert_close(np.diag(drawn), np.diag(other), 0.25, scale=np.diag(other) + 1e-30)


@pytest.mark.parametrize("turned", [False, True])
def test_the_spread_of_the_outline_matches_points_that_are_strained(turned):
    rotation = (
        np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0] if turned else np.eye(3)
    )
    sides, error = np.array([0.3, 0.1, 0.04]), 1e-6
    squares = sides**2 / 12.0
    covariance = (rotation * squares) @ rotation.T

    def body(strain):
        """The even box under a strain, of unit mass, about its centroid."""
        T = np.eye(3) + rotation @ strain @ rotation.T
        S = T @ covariance @ T.T
        return phi_from_inertia(1.0, np.zeros(3), np.trace(S) * np.eye(3) - S)

    expected = np.zeros((10, 10))
    for a in range(3):
        for b in range(a, 3):
            strain = np.zeros((3, 3))
            strain[a, b] = strain[b, a] = error / (0.5 * max(sides[a], sides[b]))
            v = body(strain) - body(np.zeros((3, 3)))
            expected += np.outer(v, v)
    assert_close(outline_covariance(covariance, error), expected, 1e-4)
