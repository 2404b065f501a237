import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from identify.errors import SimulationError
from identify.inertia import (
    kinetic_energy,
    phi_from_inertia,
    spatial_momentum,
)
from identify.simulation import State, fast_rollout
from identify.spatial import rotation_from_quaternion
from identify.spatial.rotations import rotate, rotation_angle
from tests.close import assert_close
from tests.simulation.decoupled.cases import (
    GRAVITY,
    STATE,
    errors,
    pick,
    some_bodies,
    some_states,
    still,
    wavy_wrench,
)
from tests.simulation.exact import exact_end, state_at
from tests.simulation.plain_rollout import plain_rollout
from tests.strategies import bodies, seeds

PHI = some_bodies(1)[0]
STEP = 2e-3
WAYS = ["linear", "hold"]


def resampled(step: float, way: str, duration: float = 0.4) -> np.ndarray:
    """The same wrench, a function of time that is linear or held over 8 ms, at a smaller step."""
    coarse = wavy_wrench(8e-3 * np.arange(round(duration / 8e-3) + 1), PHI)
    parts = round(8e-3 / step)
    index = np.arange((len(coarse) - 1) * parts + 1) / parts
    if way == "hold":
        return coarse[index.astype(int)]
    return np.stack([np.interp(index, np.arange(len(coarse)), c) for c in coarse.T], axis=-1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [2, 9, 70])  # Python's numbers; by segments; by rows
def test_decoupled_and_plain_rollouts_converge_at_order_four(way, count):
    phi, start = some_bodies(count), some_states((count,))
    steps = 8e-3 / 2.0 ** np.arange(3)
    gaps = np.array(
        [
            errors(
                fast_rollout(phi, start, load, h, GRAVITY, interpolation=way),
                plain_rollout(phi, start, load, h, GRAVITY, interpolation=way),
            )
            for h in steps
            for load in [resampled(h, way)]
        ]
    )
    assert gaps[-1].max() < 1e-5
    order = np.log2(gaps[:-1, :3] / gaps[1:, :3])
    assert (order > 3.7).all(), order
    assert gaps[:, 3].max() < 1e-10  # angular velocity is the same method in other axes


@pytest.mark.parametrize("way", WAYS)
def test_convergence_to_dop853_is_of_order_four(way):
    """DOP853 on momenta, from one sample to the next: other unknowns, equations and method."""
    start = some_states(())
    truth = start.vector
    for now, ahead in pairwise(resampled(8e-3, way)):
        slope = (ahead - now) / 8e-3 * (way == "linear")
        truth = exact_end(
            PHI,
            State.from_vector(truth),
            8e-3,
            gravity=GRAVITY,
            wrench=lambda t, R, now=now, slope=slope: now + t * slope,
        )
    worst = []
    for h in (8e-3, 4e-3, 2e-3, 1e-3):
        path = fast_rollout(PHI, start, resampled(h, way), h, GRAVITY, interpolation=way)
        end = state_at(path)
        end[3:7] *= np.sign(end[3:7] @ truth[3:7])
        worst.append(
            [np.abs((end - truth)[part]).max() for part in np.split(np.arange(13), (3, 7, 10))]
        )
    worst = np.array(worst)
    assert worst[-1].max() < 1e-9
    order = np.log2(worst[:-1] / worst[1:])
    assert (order > 3.6).all(), order
    assert (order < 5.5).all(), order


@settings(max_examples=15)
@given(bodies(flat=False, offset=10.0), seeds())
def test_a_free_body_keeps_energy_and_momentum(phi, seed):
    start = some_states((), seed)
    path = fast_rollout(phi, start, None, 1e-3, np.zeros(3), steps=300)
    R = rotation_from_quaternion(path.quaternion)
    twist = np.concatenate(
        (np.einsum("nji,nj->ni", R, path.velocity), path.angular_velocity), axis=-1
    )
    energy, momentum = kinetic_energy(phi, twist), spatial_momentum(phi, twist)
    linear = rotate(R, momentum[:, :3])
    angular = rotate(R, momentum[:, 3:]) + np.cross(path.position, linear)
    assert_close(energy / energy[0], np.ones(301), 1e-8)
    assert_close(linear, np.broadcast_to(linear[0], linear.shape), 1e-8)
    assert_close(angular, np.broadcast_to(angular[0], angular.shape), 1e-8)


@pytest.mark.parametrize("count", [1, 9])
def test_a_spin_up_to_the_largest_turn_is_exact_about_a_principal_axis(count):
    """A sphere: every axis is one."""
    phi = phi_from_inertia(1.0, np.array([0.1, 0.2, 0.3]), np.eye(3))
    rate = np.geomspace(999.0, 1.0, count)[:, None] * np.array([0.6, 0.0, 0.8])
    start = State(np.zeros((count, 3)), still((count,)).quaternion, np.zeros((count, 3)), rate)
    path = fast_rollout(phi, start, None, 1e-3, steps=40)
    half = 0.5 * rate[:, None] * path.time[:, None]
    angle = np.linalg.norm(half, axis=-1, keepdims=True)
    exact = np.concatenate((half / np.maximum(angle, 1e-300) * np.sin(angle), np.cos(angle)), -1)
    exact[:, 0] = [0, 0, 0, 1]
    assert rotation_angle(path.quaternion, exact).max() < 1e-10


def test_rollout_broadcasts_all_arguments():
    phi, start = some_bodies(3)[:, None], some_states((5,))
    wrench = np.stack([wavy_wrench(STEP * np.arange(41), PHI, k) for k in range(5)])
    gravity = np.array([0.0, 0.0, 1.0]) * np.arange(3)[:, None, None]
    path = fast_rollout(phi, start, wrench, STEP, gravity)
    assert path.position.shape == (3, 5, 41, 3)
    for i, j in np.ndindex(3, 5):
        one = fast_rollout(phi[i, 0], pick(start, j), wrench[j], STEP, gravity[i, 0])
        for name in STATE:
            assert_close(getattr(path, name)[i, j], getattr(one, name), 1e-12)


@pytest.mark.parametrize("count", [1, 1025, 2100])
def test_more_bodies_than_a_block_holds(count):
    rng = np.random.default_rng(3)
    phi = some_bodies(5)[np.arange(count) % 5]
    start, wrench = some_states((count,)), 0.1 * rng.normal(size=(count, 40, 6))
    path = fast_rollout(phi, start, wrench, STEP)
    few = [0, count // 2, count - 1]
    some = plain_rollout(phi[few], pick(start, few), wrench[few], STEP)
    assert_close(path.position[few], some.position, 1e-9)


@pytest.mark.parametrize("every", [2, 7, 100, 1000])
@pytest.mark.parametrize("count", [1, 9])
@pytest.mark.parametrize("loaded", [True, False])
def test_keeping_some_states_only(every, count, loaded):
    phi, start = some_bodies(count), some_states((count,))
    n = 5001
    wrench = 0.1 * wavy_wrench(STEP * np.arange(n), PHI) if loaded else None
    whole = fast_rollout(phi, start, wrench, STEP, steps=n - 1)
    some = fast_rollout(phi, start, wrench, STEP, every=every, steps=n - 1)
    assert_close(some.time, whole.time[::every], 1e-14)
    for name in STATE:
        assert_close(getattr(some, name), getattr(whole, name)[:, ::every], 1e-13)


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (-PHI, "not physically possible"),
        (np.array([1.0, 0, 0, 0, 1.0, 0, 0, 0.1, 0, 0.1]), "repair the body first"),
        (np.full(10, np.nan), r"phi: entry \(0,\) is nan; every entry"),
        (phi_from_inertia(1.0, np.zeros(3), np.diag([0.0, 1.0, 1.0])), "a point or a rod"),
        (phi_from_inertia(1.0, np.ones(3), np.zeros((3, 3))), "a point or a rod"),
        (phi_from_inertia(1.0, np.array([1e7, 0, 0]), 1e-3 * np.eye(3)), "a point or a rod|lost"),
        (np.ones(9), r"phi: expected shape \(..., 10\), got \(9,\)"),
    ],
)
def test_a_body_that_cannot_be_simulated_is_rejected(phi, message):
    with pytest.raises(SimulationError, match=message):
        fast_rollout(phi, still(), np.zeros((3, 6)), STEP)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"wrench": np.zeros((0, 6))}, r"wrench: expected shape \(..., n, 6\)"),
        ({"wrench": np.zeros((3, 5))}, r"wrench: expected shape \(..., n, 6\)"),
        ({"steps": 3}, "3 samples are enough for 2 steps, asked for 3"),
        ({"wrench": None}, "without a wrench, steps"),
        ({"wrench": None, "steps": -1}, "steps: expected a whole number, 0 or more, got -1"),
        ({"steps": 1.5}, "steps: expected a whole number"),
        ({"every": 0}, "every: expected a whole number"),
        ({"every": 1.5}, "every: expected a whole number"),
        ({"interpolation": "cubic"}, "cubic"),
        ({"gravity": np.zeros(2)}, r"gravity: expected shape"),
        (
            {"gravity": [0.0, np.nan, 0.0]},
            r"gravity: entry \(1,\) is nan; every entry",
        ),
        ({"start": still((2,)), "wrench": np.zeros((3, 4, 6))}, "do not broadcast"),
    ],
)
def test_invalid_rollout_arguments_are_rejected(changed, message):
    arguments: dict[str, Any] = {"phi": PHI, "start": still(), "wrench": np.zeros((3, 6))}
    with pytest.raises(SimulationError, match=message):
        fast_rollout(**{"step": STEP, **arguments, **changed})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("sample", [0, 20, 49, 50])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [1, 9])
def test_nan_sample_is_found_anywhere(bad, sample, way, count):
    wrench = np.zeros((count, 51, 6))
    wrench[-1, sample, sample % 6] = bad
    with pytest.raises(SimulationError, match="wrench: some samples are not finite"):
        fast_rollout(PHI, still((count,)), wrench, STEP, interpolation=way)


@pytest.mark.parametrize("batch", [(3,), (3, 4)])
def test_diverging_motion_reports_time_and_body(batch):
    phi = phi_from_inertia(1.0, np.zeros(3), np.diag([1.0, 1.5, 2.0]))
    loads = np.zeros((*batch, 60, 6))
    loads[1, ..., 3:] = 1e12 * np.array([1.0, 2.0, 3.0])
    index = "1" if len(batch) == 1 else "1, 0"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(
            SimulationError, match=rf"\(batch index {index}\) moved beyond all bounds at \d.* s"
        ) as caught:
            fast_rollout(phi, still(batch), loads, 0.1)
    assert 0.0 < float(str(caught.value).split(" at ")[1].split(" s;")[0]) <= 0.3
