"""The sum of loads along a motion: the wrench that the equations of motion ask for."""

from __future__ import annotations

import numpy as np

from identify.regressors import newton_euler_wrench
from identify.simulation import ConstantLoad, SampledLoad, simulate
from identify.simulation.forced_body import total_wrench
from identify.spatial import BodyMotion
from identify.spatial.rotations import rotate_back, rotation_from_quaternion
from tests.close import assert_close
from tests.recordings import GRAVITY
from tests.simulation.test_rollout import PHI, random_state


def test_it_is_the_wrench_of_the_motion_it_makes():
    """By the equations of motion, with accelerations from differences of the states."""
    rng = np.random.default_rng(3)
    time = np.linspace(0.0, 1.0, 51)
    waves = np.sin(np.outer(time, rng.uniform(1, 5, 6)))
    loads = (
        ConstantLoad([1.0, 0, 2.0], [0, 0.1, 0], point=[0.1, 0.2, 0], frame="world"),
        ConstantLoad([0, 3.0, 0], point=[0, 0, 0.3]),
        SampledLoad(time, waves, point=[0.05, 0, 0], frame="world"),
    )
    path = simulate(PHI, random_state(rng), duration=0.1, step=2.5e-4, loads=loads)
    R = rotation_from_quaternion(path.quaternion)
    acceleration = np.gradient(path.velocity, path.time, axis=0, edge_order=2)
    motion = BodyMotion(
        rotate_back(R, acceleration - GRAVITY),
        path.angular_velocity,
        np.gradient(path.angular_velocity, path.time, axis=0, edge_order=2),
    )
    inner = slice(2, -2)
    expected = newton_euler_wrench(PHI, motion)[inner]
    assert_close(total_wrench(loads, path)[inner], expected, 2e-3)


def test_a_load_is_there_while_it_acts():
    load = ConstantLoad([1.0, 0, 0], start=0.25, end=0.5)
    path = simulate(PHI, random_state(np.random.default_rng(0)), duration=1.0, step=0.01)
    wrench = total_wrench((load,), path)
    assert wrench[30, 0] == 1.0
    assert not wrench[path.time < 0.25].any()
    assert not wrench[path.time > 0.5].any()
