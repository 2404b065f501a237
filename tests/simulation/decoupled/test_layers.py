"""Each layer by itself, against another way to what it computes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.simulation import PrincipalBody
from identify.simulation.decoupled.angular_velocity import (
    StageTorques,
    by_floats,
    by_rows,
    euler_ratios,
)
from identify.simulation.decoupled.attitude import AttitudeLayer, attitude_rows, turns
from identify.simulation.decoupled.block import LoadLayer
from identify.simulation.decoupled.problem import SampledWrench
from identify.simulation.decoupled.workspace import Workspace
from identify.spatial.rotations import rotation_angle, rotation_from_quaternion
from tests.close import assert_close
from tests.simulation.decoupled.cases import some_bodies

MOMENTS = np.array([[1.0, 1.7, 2.2], [0.5, 0.5, 0.8]])


# Loads -------------------------------------------------------------------------------------------


def test_loads_are_about_the_centre_of_mass_in_principal_axes():
    phi, wrench = some_bodies(4), np.random.default_rng(0).normal(size=(4, 7, 6))
    body, h = PrincipalBody.of(phi), 0.01
    layer = LoadLayer(body, SampledWrench.over(wrench, (4,)), h, 5)
    layer.advance(2, 5, Workspace(5, 4))
    for b in range(4):
        R_PB = rotation_from_quaternion(body.quaternion[b]).T
        f, t = wrench[b, 2:, :3], wrench[b, 2:, 3:]
        about_com = t - np.cross(body.com[b], f)
        assert_close(layer.force[:, :, b].T, h**2 / (12 * body.mass[b]) * f @ R_PB.T, 1e-13)
        assert_close(
            layer.torque[:, :, b].T, h**2 / 4 * about_com @ R_PB.T / body.moments[b], 1e-13
        )


@pytest.mark.parametrize("shape", [(), (1,), (3, 1), (1, 4), (3, 4)])
def test_samples_reach_the_bodies_that_broadcasting_gives_them(shape):
    wrench = np.random.default_rng(1).normal(size=(*shape, 9, 6))
    sampled = SampledWrench.over(wrench, (3, 4))
    expected = np.broadcast_to(wrench, (3, 4, 9, 6)).reshape(12, 9, 6)
    for bodies in (slice(0, 12), slice(5, 9), slice(11, 12)):
        rows = sampled.of_bodies(bodies).rows(3, 4, Workspace(4, len(expected[bodies])))
        got = np.broadcast_to(rows, (6, 4, len(expected[bodies])))
        assert_close(got.transpose(2, 1, 0), expected[bodies, 3:7], 0.0)


def test_repeated_samples_are_not_copied():
    wrench = np.zeros((9, 6))
    sampled = SampledWrench.over(np.broadcast_to(wrench, (3, 4, 9, 6)), (3, 4))
    assert sampled.of_body is None
    assert np.shares_memory(sampled.samples, wrench)


def test_stage_torques_lie_on_the_line_or_on_the_last_sample():
    samples = np.random.default_rng(2).normal(size=(3, 5, 2))
    held, linear = (StageTorques(samples, linear=linear) for linear in (False, True))
    for torques in (held, linear):
        torques.refresh()
        assert_close(torques.twice_middle, 2.0 * torques.middle, 1e-15)
    assert_close(held.ahead, samples.swapaxes(0, 1), 0.0)
    assert_close(held.middle, samples.swapaxes(0, 1), 0.0)
    assert_close(linear.ahead, samples.swapaxes(0, 1)[1:], 0.0)
    middle = 0.5 * (samples[:, 1:] + samples[:, :-1])
    assert_close(linear.middle, middle.swapaxes(0, 1), 1e-15)


# Layer 1 -----------------------------------------------------------------------------------------


def test_both_methods_of_layer_one_are_one_method():
    rng = np.random.default_rng(4)
    ends = []
    samples = 1e-4 * rng.normal(size=(3, 40, 2))
    for method in (by_rows, by_floats):
        theta = np.empty((3, 41, 2))
        theta[:, 0] = 0.01
        torques = StageTorques(samples, linear=False)
        torques.refresh()
        method(euler_ratios(MOMENTS).T, theta, torques)(40)
        ends.append(theta)
    assert_close(ends[0], ends[1], 1e-14)


# Layer 2 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.3, 0.6, 0.8, 2.0, 40.0])
def test_a_constant_spin_turns_exactly(size):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    theta = np.broadcast_to((size * axis)[:, None, None], (3, 5, 2)).copy()
    vector, scalar, square, largest = turns(theta, np.zeros((3, 1, 2)), None, Workspace(5, 2))
    expected = np.broadcast_to((np.sin(size) * axis)[:, None, None], (3, 4, 2))
    assert_close(vector, expected, 2e-15, scale=1.0 + size)
    assert_close(scalar, np.full((4, 2), np.cos(size)), 2e-15, scale=1.0 + size)
    assert_close(square, np.full((4, 2), size**2), 2e-15)
    assert largest == square.max()


@pytest.mark.parametrize(("steps", "count"), [(1, 1), (2, 1), (3, 2), (130, 1), (143, 5), (20, 80)])
def test_attitudes_are_the_product_of_the_turns(steps, count):
    rng = np.random.default_rng(5)
    start, turn = (Rotation.random(n, random_state=rng) for n in (count, steps * count))
    q = turn.as_quat().reshape(steps, count, 4)
    workspace = Workspace(steps + 1, count)
    layer = AttitudeLayer(start.as_quat(), steps)
    pair = layer.advance(q[..., :3].transpose(2, 0, 1).copy(), q[..., 3].copy(), workspace)
    rows, R = attitude_rows(pair, workspace)
    attitude = start
    for n in range(steps):
        attitude = attitude * Rotation.from_quat(q[n])
        assert rotation_angle(rows[:, n + 1].T, attitude.as_quat()).max() < 1e-12
        assert_close(R[:, :, n + 1].transpose(2, 0, 1), attitude.as_matrix(), 1e-12)


def test_the_norm_of_an_attitude_does_not_drift():
    layer = AttitudeLayer(np.array([[0.0, 0.0, 0.0, 1.0 + 1e-7]]), 1)
    layer.pair[:, 1] = layer.pair[:, 0]
    layer.restart(1)
    assert abs(np.linalg.norm(layer.pair[:, 0]) - 1.0) < 1e-15


# Layer 3 -----------------------------------------------------------------------------------------
