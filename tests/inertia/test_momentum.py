import numpy as np
from hypothesis import given

from identify.inertia import in_frame, inertia_about_com
from identify.inertia.matrices import kinetic_energy, momentum_in_frame, spatial_momentum
from identify.spatial import Pose, adjoint, coadjoint, rotation_from_quaternion
from tests.close import assert_close
from tests.strategies import bodies, phi_of_points, poses, seeds, vectors


def size_of(phi: np.ndarray) -> float:
    return float(np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / phi[0]))


def twist(phi: np.ndarray, unit: np.ndarray) -> np.ndarray:
    return unit * np.repeat([size_of(phi), 1.0], 3)


@given(seeds())
def test_momentum_and_energy_match_moving_points(seed):
    rng = np.random.default_rng(seed)
    points, weights, V = rng.normal(size=(9, 3)), rng.uniform(0.1, 1.0, 9), rng.normal(size=6)
    velocities = V[:3] + np.cross(V[3:], points)
    p, L = weights @ velocities, weights @ np.cross(points, velocities)
    phi = phi_of_points(points, weights)
    assert_close(spatial_momentum(phi, V), np.concatenate((p, L)), 1e-14, scale=300.0)
    energy = 0.5 * weights @ np.sum(velocities**2, axis=1)
    assert_close(kinetic_energy(phi, V), energy, 1e-13, scale=100.0)


@given(bodies(), vectors(6), poses())
def test_momentum_in_another_frame_matches_the_body_seen_from_there(phi, unit, X):
    L = size_of(phi)
    X_AB = Pose(X.rotation, X.position * L)
    V = twist(phi, unit)
    p_A = momentum_in_frame(spatial_momentum(phi, V), X_AB)
    seen = spatial_momentum(in_frame(phi, X_AB), adjoint(X_AB) @ V)
    scale = 300.0 * phi[0] * L * np.repeat([1.0, L], 3)
    assert_close(p_A, seen, 1e-14, scale=scale)
    assert_close(p_A, coadjoint(X_AB) @ spatial_momentum(phi, V), 1e-14, scale=scale)


def test_bodies_twists_and_poses_broadcast():
    rng = np.random.default_rng(11)
    phi = np.array([phi_of_points(rng.normal(size=(5, 3)), np.ones(5)) for _ in range(3)])
    V = rng.normal(size=(4, 1, 6))
    momentum = spatial_momentum(phi, V)
    assert momentum.shape == (4, 3, 6)
    assert kinetic_energy(phi, V).shape == (4, 3)
    assert_close(momentum[2, 1], spatial_momentum(phi[1], V[2, 0]), 1e-15)
    R = rotation_from_quaternion(rng.normal(size=(3, 4)))
    X = Pose(R, rng.normal(size=(3, 3)))
    moved = momentum_in_frame(momentum, X)
    one = Pose(X.rotation[1], X.position[1])
    assert_close(moved[2, 1], momentum_in_frame(momentum[2, 1], one), 1e-14)
    fan = momentum_in_frame(momentum[0, 0], Pose(R[0], X.position))
    assert fan.shape == (3, 6)
    assert_close(fan[1, :3], R[0] @ momentum[0, 0, :3], 1e-15)
