"""Change of frame by three routes: on the ten numbers, by the sandwich, by the 6×6 congruence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.inertia import (
    frames,
    in_frame,
    inertia_about_com,
    is_consistent,
    pseudo_inertia,
)
from identify.inertia.frames import (
    congruence_map,
    frame_map,
    spatial_inertia_in_frame,
)
from identify.spatial import Pose, adjoint, rotation_from_quaternion
from tests.close import assert_close, assert_same_body, body_scale
from tests.inertia.frame_routes import in_frame_by_coadjoint, in_frame_by_sandwich
from tests.strategies import bodies, phi_of_points, poses, seeds, vectors

ROUTES = (in_frame, in_frame_by_sandwich, in_frame_by_coadjoint)


def pose_near(X: Pose, phi: np.ndarray) -> Pose:
    """The pose with a distance that suits the body's size."""
    return Pose(X.rotation, X.position * np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / phi[0]))


def crowd(seed: int, count: int) -> tuple[np.ndarray, Pose]:
    """Bodies and as many poses."""
    rng = np.random.default_rng(seed)
    phi = np.array(
        [phi_of_points(rng.normal(size=(5, 3)), rng.uniform(0.1, 1, 5)) for _ in range(count)]
    )
    R = rotation_from_quaternion(rng.normal(size=(count, 4)))
    return phi, Pose(R, rng.normal(size=(count, 3)))


@given(bodies(), poses())
def test_the_three_routes_agree_for_a_body(phi, X):
    X = pose_near(X, phi)
    ten = in_frame(phi, X)
    assert_same_body(in_frame_by_sandwich(phi, X), ten, 1e-14)
    assert_same_body(in_frame_by_coadjoint(phi, X), ten, 1e-14)


@given(bodies(), poses())
def test_one_pose_as_a_matrix_and_as_components_agree(phi, X):
    """One pose goes by `frame_map`, a batch of them by component arithmetic."""
    X = pose_near(X, phi)
    batch = Pose(X.rotation[None], X.position[None])
    assert_same_body(in_frame(phi, batch)[0], in_frame(phi, X), 1e-14)


@pytest.mark.parametrize("chunk", [1, 3, 8192])
def test_the_three_routes_agree_for_many_bodies_and_poses_in_chunks(monkeypatch, chunk):
    monkeypatch.setattr(frames, "_CHUNK", chunk)
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


def test_one_rotation_with_many_positions_is_a_batch_too():
    phi, X = crowd(3, 4)
    many = in_frame(phi, Pose(X.rotation[0], X.position))
    for k in range(4):
        assert_same_body(many[k], in_frame(phi[k], Pose(X.rotation[0], X.position[k])), 1e-14)
    assert in_frame(phi[0], Pose(X.rotation[0], X.position)).shape == (4, 10)
    assert in_frame(phi[:0], Pose(X.rotation[:0], X.position[:0])).shape == (0, 10)


@given(vectors(10, 3.0), poses())
def test_any_ten_numbers_go_by_every_route(phi, X):
    """The change of frame is linear: it does not ask whether the numbers are a body."""
    for route in ROUTES[1:]:
        assert_close(route(phi, X), in_frame(phi, X), 1e-14, scale=100.0)


@given(bodies(), poses())
def test_a_pose_is_a_rotation_and_then_a_translation(phi, X):
    X = pose_near(X, phi)
    turn, shift = Pose(X.rotation, np.zeros(3)), Pose(np.eye(3), X.position)
    assert_same_body(in_frame(in_frame(phi, turn), shift), in_frame(phi, X), 1e-14)
    h, mp = phi[1:4], phi[0] * X.position
    size = np.abs(h).max() + np.abs(mp).max()
    assert_close(in_frame(phi, turn)[1:4], X.rotation @ h, 1e-14, scale=np.abs(h).max())
    assert_close(in_frame(phi, shift)[1:4], h + mp, 1e-14, scale=size)


def test_axes_that_only_change_names_lose_no_bit():
    """Quarter turns, and a shift of nothing, are exact for one pose."""
    phi = phi_of_points(np.random.default_rng(5).normal(size=(7, 3)), np.full(7, 0.3))
    R = np.array([[0.0, -1, 0], [0, 0, 1], [-1, 0, 0]])
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = phi
    turned = [m, -hy, hz, -hx, yy, -yz, xy, zz, -xz, xx]
    assert in_frame(phi, Pose(R, np.zeros(3))).tolist() == turned
    assert in_frame(phi, Pose(np.eye(3), np.zeros(3))).tolist() == phi.tolist()
    assert_same_body(in_frame(phi, Pose(R[None], np.zeros((1, 3))))[0], np.array(turned), 1e-15)


@given(bodies(flat=True), poses(), seeds())
def test_a_plate_stays_a_plate_under_a_rotation_of_few_digits(phi, X, seed):
    """Poses admit rotations printed with six digits; R I Rᵀ would leave the edge by 1e-6."""
    X = pose_near(X, phi)
    R = X.rotation + 3e-8 * np.random.default_rng(seed).normal(size=(3, 3))
    one, many = Pose(R, X.position), Pose(R[None], X.position[None])
    assert is_consistent(in_frame(phi, one))
    assert is_consistent(in_frame(phi, many)[0])
    assert_same_body(in_frame(phi, many)[0], in_frame(phi, one), 1e-14)


@given(bodies(), poses(), seeds())
def test_a_covariance_moves_by_the_matrix_of_the_frame(phi, X, seed):
    X = pose_near(X, phi)
    F = frame_map(X)
    assert_same_body(F @ phi, in_frame_by_sandwich(phi, X), 1e-14)
    draws = phi * (1.0 + 0.01 * np.random.default_rng(seed).normal(size=(50, 10)))
    unit = body_scale(in_frame(phi, X)) + body_scale(phi)
    moved = np.cov(in_frame(draws, X).T) / np.outer(unit, unit)
    assert_close(F @ np.cov(draws.T) @ F.T / np.outer(unit, unit), moved, 1e-14, scale=1.0)


def test_the_map_of_a_batch_of_poses_is_a_batch_of_maps_and_inverts():
    _, X = crowd(6, 5)
    F = frame_map(X)
    assert F.shape == (5, 10, 10)
    assert_close(F[2], frame_map(Pose(X.rotation[2], X.position[2])), 1e-15)
    assert_close(F @ frame_map(X.inverse()), np.tile(np.eye(10), (5, 1, 1)), 1e-13, scale=10.0)


def test_the_map_of_a_congruence_need_not_be_one_of_a_frame():
    """In millimetres and grams: the map of a change of units."""
    T = np.diag([1e3, 1e3, 1e3, 1.0]) * np.sqrt(1e3)
    phi, _ = crowd(7, 1)
    Pi = T @ pseudo_inertia(phi[0]) @ T.T
    moved = pseudo_inertia(congruence_map(T) @ phi[0])
    assert_close(moved, Pi, 1e-15)
    assert_close(congruence_map(T), np.diag(1e3 * 1e3 ** np.repeat([0.0, 1, 2], [1, 3, 6])), 1e-15)


@given(poses(), st.integers(0, 100))
def test_any_mass_matrix_keeps_its_energy_in_another_frame(X, seed):
    """An added mass too, whose upper left block is no multiple of the identity."""
    rng = np.random.default_rng(seed)
    root, V = rng.normal(size=(6, 6)), rng.normal(size=6)
    M = root @ root.T
    V_A = adjoint(X) @ V
    energy = V_A @ spatial_inertia_in_frame(M, X) @ V_A
    assert_close(energy, V @ M @ V, 1e-12, scale=np.abs(M).max() * (V @ V + V_A @ V_A) * 10)
