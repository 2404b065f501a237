import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.simulation.decoupled.angular_velocity import (
    StageTorques,
)
from identify.simulation.decoupled.attitude import (
    AttitudeLayer,
    attitudes_from_pairs,
    step_rotations,
)
from identify.simulation.decoupled.workspace import Workspace
from identify.spatial.rotations import rotation_angle
from tests.close import assert_close


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


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.3, 0.6, 0.8, 2.0, 40.0])
def test_a_constant_spin_turns_exactly(size):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    theta = np.broadcast_to((size * axis)[:, None, None], (3, 5, 2)).copy()
    vector, scalar, square, largest = step_rotations(
        theta, np.zeros((3, 1, 2)), None, Workspace(5, 2)
    )
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
    rows, R = attitudes_from_pairs(pair, workspace)
    attitude = start
    for n in range(steps):
        attitude = attitude * Rotation.from_quat(q[n])
        assert rotation_angle(rows[:, n + 1].T, attitude.as_quat()).max() < 1e-12
        assert_close(R[:, :, n + 1].transpose(2, 0, 1), attitude.as_matrix(), 1e-12)
