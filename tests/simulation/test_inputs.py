"""What is asked of states, bodies and steps, alike by every way to simulate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from identify.errors import SimulationError
from identify.inertia import InertialParameters, phi_from_inertia
from identify.simulation import (
    State,
    fast_rollout,
    free_motion,
    poinsot_motion,
    rotate_freely,
    rotation_invariants,
    simulate,
    single_shot,
)
from tests.close import assert_close

PHI = phi_from_inertia(2.0, np.array([0.1, 0.0, -0.2]), np.diag([0.3, 0.4, 0.5]))
Q = np.array([0.0, 0.0, 0.0, 1.0])
H, N = 1e-2, 5
LOAD = np.zeros((N + 1, 6))
WAYS = {
    "simulate": lambda phi, start: simulate(phi, start, duration=N * H, step=H),
    "fast_rollout": lambda phi, start: fast_rollout(phi, start, LOAD, H),
    "free_motion": lambda phi, start: free_motion(phi, start, H * np.arange(N + 1)),
}
FIELDS = ("position", "quaternion", "velocity", "angular_velocity")


def state(**changed: Any) -> State:
    fields = {"position": np.zeros(3), "quaternion": Q, "velocity": np.zeros(3)}
    return State(**{**fields, "angular_velocity": np.array([0.1, 2.0, 0.3]), **changed})


@pytest.mark.parametrize("way", WAYS)
def test_bodies_and_states_are_broadcast(way):
    bodies = PHI * np.linspace(0.5, 2.0, 7)[:, None] + [0, 0.01, 0, 0, 0, 0, 0, 0, 0, 0]
    w = np.random.default_rng(1).normal(size=(3, 1, 3))
    start = state(angular_velocity=w, position=np.ones((3, 1, 3)))
    path = WAYS[way](bodies, start)
    assert path.position.shape == (3, 7, N + 1, 3)
    for i, j in ((0, 0), (2, 6), (1, 3)):
        one = WAYS[way](bodies[j], state(angular_velocity=w[i, 0], position=np.ones(3)))
        for name in FIELDS:
            assert_close(getattr(path, name)[i, j], getattr(one, name), 1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("field", FIELDS)
def test_one_batched_field_makes_a_batch_of_states(way, field):
    rows = np.random.default_rng(2).normal(size=(3, 4 if field == "quaternion" else 3))
    path = WAYS[way](PHI, state(**{field: rows}))
    assert path.velocity.shape == (3, N + 1, 3)
    one = WAYS[way](PHI, state(**{field: rows[1]}))
    for name in FIELDS:
        assert_close(getattr(path, name)[1], getattr(one, name), 1e-12)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("position", [0, 0], r"state: position: expected shape \(..., 3\), got \(2,\)"),
        ("velocity", 1.0, r"state: velocity: expected shape \(..., 3\), got \(\)"),
        ("quaternion", [0, 0, 1], r"state: quaternion: expected shape \(..., 4\), got \(3,\)"),
        ("angular_velocity", ["a", "b", "c"], "state: angular_velocity: expected numbers: .*'a'"),
        ("position", [[0, 0, 0], [0, 0]], "state: position: expected numbers"),
        (
            "velocity",
            np.zeros((4, 3)),
            r"do not broadcast .*: state: position \(5,\), state: velocity \(4,\)",
        ),
    ],
)
def test_a_field_of_a_state_that_is_none_is_named(field, value, message):
    others: dict[str, Any] = {"position": np.zeros((5, 3))} if "broadcast" in message else {}
    with pytest.raises(SimulationError, match=message):
        state(**{**others, field: value})


@pytest.mark.parametrize("way", WAYS)
def test_batches_that_do_not_go_together_are_refused(way):
    with pytest.raises(SimulationError, match=r"batch.* do not .*\(4,\).*\(3,\)"):
        WAYS[way](np.tile(PHI, (4, 1)), state(position=np.zeros((3, 3))))


@pytest.mark.parametrize("step", ["a", None, [0.1, 0.2], 1j, 0.0, -1.0, np.nan, np.inf])
def test_a_step_that_is_none_is_refused(step: Any):
    for run in (
        lambda: simulate(PHI, state(), duration=1.0, step=step),
        lambda: fast_rollout(PHI, state(), LOAD, step),
        lambda: single_shot(PHI, state(), LOAD, step),
    ):
        with pytest.raises(SimulationError, match="the time step must be positive and finite, got"):
            run()
    with pytest.raises(SimulationError, match="the duration must be positive and finite, got"):
        simulate(PHI, state(), duration=step, step=0.1)


def test_words_are_no_body_load_or_gravity():
    word: Any = "heavy"
    with pytest.raises(SimulationError, match="phi: expected numbers"):
        fast_rollout(word, state(), LOAD, H)
    with pytest.raises(SimulationError, match="wrench: expected numbers"):
        fast_rollout(PHI, state(), word, H)
    with pytest.raises(SimulationError, match="gravity: expected numbers"):
        single_shot(PHI, state(), LOAD, H, word)


def test_inertial_parameters_are_a_body_everywhere():
    body, w, time = InertialParameters(PHI), np.array([0.1, 2.0, 0.3]), H * np.arange(3)
    for way in WAYS.values():
        assert_close(way(body, state()).position, way(PHI, state()).position, 0.0)
    shots = (single_shot(one, state(), LOAD, H).trajectory.position for one in (body, PHI))
    assert_close(*shots, 0.0)
    turned = (rotate_freely(one, Q, w, time).quaternion for one in (body, PHI))
    assert_close(*turned, 0.0)
    assert_close(*(poinsot_motion(one, Q, w, time).herpolhode for one in (body, PHI)), 0.0)
    assert_close(*(rotation_invariants(one, w).period for one in (body, PHI)), 0.0)
