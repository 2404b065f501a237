import numpy as np
import pytest
from hypothesis import given

from identify.inertia import (
    frames,
    in_frame,
    inertia_about_com,
    is_consistent,
    phi_from_inertia,
    phi_from_pseudo_inertia,
    pseudo_inertia,
    spatial_inertia,
)
from identify.inertia.frames import spatial_inertia_in_frame
from identify.inertia.matrices import entries_from_symmetric
from identify.spatial import Pose, adjoint, rotation_from_quaternion, vee
from tests.close import assert_close, assert_same_body
from tests.strategies import bodies, phi_of_points, poses, seeds


def in_frame_by_sandwich(phi: np.ndarray, X_AB: Pose) -> np.ndarray:
    """As `in_frame`, by the sandwich rule Pi_A = T_AB Pi_B T_ABᵀ."""
    T = X_AB.matrix
    return phi_from_pseudo_inertia(T @ pseudo_inertia(phi) @ T.swapaxes(-1, -2))


def in_frame_by_coadjoint(phi: np.ndarray, X_AB: Pose) -> np.ndarray:
    """As `in_frame`, by the congruence of the 6×6 spatial inertia, M_A = Ad*_AB M_B Ad_BA."""
    M = spatial_inertia_in_frame(spatial_inertia(phi), X_AB)
    h = 0.5 * (vee(M[..., 3:, :3]) - vee(M[..., :3, 3:]))
    return np.concatenate((M[..., :1, 0], h, entries_from_symmetric(M[..., 3:, 3:])), axis=-1)


ROUTES = (in_frame, in_frame_by_sandwich, in_frame_by_coadjoint)


def size_of(phi: np.ndarray) -> float:
    return float(np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / phi[0]))


def pose_near(X: Pose, phi: np.ndarray) -> Pose:
    """The pose with a distance that suits the body's size."""
    return Pose(X.rotation, X.position * size_of(phi))


def crowd(seed: int, count: int) -> tuple[np.ndarray, Pose]:
    rng = np.random.default_rng(seed)
    phi = np.array(
        [phi_of_points(rng.normal(size=(5, 3)), rng.uniform(0.1, 1, 5)) for _ in range(count)]
    )
    R = rotation_from_quaternion(rng.normal(size=(count, 4)))
    return phi, Pose(R, rng.normal(size=(count, 3)))


@given(bodies(), poses())
def test_the_routes_agree_for_a_body(phi, X):
    """One pose goes by `frame_map`, a batch of them by component arithmetic."""
    X = pose_near(X, phi)
    ten = in_frame(phi, X)
    assert_same_body(in_frame_by_sandwich(phi, X), ten, 1e-14)
    assert_same_body(in_frame_by_coadjoint(phi, X), ten, 1e-14)
    assert_same_body(in_frame(phi, Pose(X.rotation[None], X.position[None]))[0], ten, 1e-14)
    R, com = X.rotation, X.apply(phi[1:4] / phi[0])
    parallel_axes = phi_from_inertia(phi[0], com, R @ inertia_about_com(phi) @ R.T)
    assert_same_body(ten, parallel_axes, 1e-13)


@given(bodies(), poses(), poses())
def test_changes_of_frame_compose_and_invert(phi, X_CA, X_AB):
    A, B = pose_near(X_CA, phi), pose_near(X_AB, phi)
    once = in_frame(phi, A @ B)
    assert_same_body(in_frame(in_frame(phi, B), A), once, 1e-13)
    # What comes back lost the digits of the farther frame.
    back = in_frame(in_frame(phi, B), B.inverse())
    scale = phi[0] * np.repeat([1.0, size_of(phi), size_of(phi) ** 2], [1, 3, 6])
    assert_close(back, phi, 1e-14, scale=100.0 * scale)


@pytest.mark.parametrize("chunk", [1, 3, 8192])
def test_the_routes_agree_for_many_bodies_and_poses_in_chunks(monkeypatch, chunk):
    monkeypatch.setattr(frames, "_CHUNK_BODIES", chunk)
    phi, X = crowd(1, 10)
    for route in ROUTES[1:]:
        assert_same_body(in_frame(phi, X), route(phi, X), 1e-14)


@pytest.mark.parametrize("route", ROUTES)
def test_bodies_and_poses_broadcast(route):
    phi, X = crowd(2, 6)
    grid = route(phi[:4, None], X)
    assert grid.shape == (4, 6, 10)
    for i, k in np.ndindex(4, 6):
        assert_same_body(grid[i, k], route(phi[i], Pose(X.rotation[k], X.position[k])), 1e-14)
    one_pose = Pose(X.rotation[0], X.position[0])
    assert_same_body(route(phi.reshape(2, 3, 10), one_pose)[1, 2], route(phi[5], one_pose), 1e-14)
    one_body = route(phi[0], X)
    assert_same_body(one_body[3], route(phi[0], Pose(X.rotation[3], X.position[3])), 1e-14)
    assert route(phi[:0], one_pose).shape == (0, 10)
    one_rotation = route(phi, Pose(X.rotation[0], X.position))
    for k in range(6):
        one = route(phi[k], Pose(X.rotation[0], X.position[k]))
        assert_same_body(one_rotation[k], one, 1e-14)


@given(bodies(flat=True), poses(), seeds())
def test_a_plate_stays_a_plate_under_a_rotation_of_few_digits(phi, X, seed):
    """Poses admit rotations printed with six digits; R I Rᵀ would leave the edge by 1e-6."""
    X = pose_near(X, phi)
    R = X.rotation + 3e-8 * np.random.default_rng(seed).normal(size=(3, 3))
    one, many = Pose(R, X.position), Pose(R[None], X.position[None])
    assert is_consistent(in_frame(phi, one))
    assert is_consistent(in_frame(phi, many)[0])
    assert_same_body(in_frame(phi, many)[0], in_frame(phi, one), 1e-14)


@given(poses(), seeds())
def test_any_mass_matrix_keeps_its_energy_in_another_frame(X, seed):
    """An added mass too, whose upper left block is no multiple of the identity."""
    rng = np.random.default_rng(seed)
    root, V = rng.normal(size=(6, 6)), rng.normal(size=6)
    M = root @ root.T
    V_A = adjoint(X) @ V
    energy = V_A @ spatial_inertia_in_frame(M, X) @ V_A
    assert_close(energy, V @ M @ V, 1e-12, scale=np.abs(M).max() * (V @ V + V_A @ V_A) * 10)
