from typing import Any

import numpy as np
import pytest

from identify.errors import SimulationError
from identify.inertia import phi_from_inertia
from identify.simulation import (
    State,
    fast_rollout,
    free_motion,
    simulate,
)
from identify.simulation.checks import Diverged
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
@pytest.mark.parametrize("field", FIELDS)
def test_batched_field_broadcasts_state(way, field):
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
        ("angular_velocity", ["a", "b", "c"], "state: angular_velocity: expected numbers .*'a'"),
        ("position", [[0, 0, 0], [0, 0]], "state: position: expected numbers"),
        (
            "velocity",
            np.zeros((4, 3)),
            r"do not broadcast .*: state: position \(5,\), state: velocity \(4,\)",
        ),
    ],
)
def test_invalid_state_field_is_named(field, value, message):
    others: dict[str, Any] = {"position": np.zeros((5, 3))} if "broadcast" in message else {}
    with pytest.raises(SimulationError, match=message):
        state(**{**others, field: value})


@pytest.mark.parametrize("step", ["a", None, [0.1, 0.2], 1j, 0.0, -1.0, np.nan, np.inf])
def test_invalid_step_is_rejected(step: Any):
    for run in (
        lambda: simulate(PHI, state(), duration=1.0, step=step),
        lambda: fast_rollout(PHI, state(), LOAD, step),
    ):
        with pytest.raises(SimulationError, match=r"time step: expected a .*number \[s\], got"):
            run()
    with pytest.raises(SimulationError, match=r"duration: expected a .*number \[s\], got"):
        simulate(PHI, state(), duration=step, step=0.1)


TOP = phi_from_inertia(1.0, np.zeros(3), np.diag([1.0, 1.5, 2.0]))
STEP = 0.1


def spinning(rates) -> State:
    w = np.multiply.outer(np.asarray(rates), [0.0, 0.0, 1.0])
    return State(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), w)


@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (20,), (40, 30)])  # by floats, rows and blocks
def test_too_long_step_reports_time_body_and_remedy(batch):
    """The last body spins up by 0.5 rad/s²·2 s… from 9 rad/s: 1 rad a step is passed at 2 s."""
    rates = np.full(batch, 1.0)
    index = tuple(n - 1 for n in batch)
    rates[index] = 9.0
    load = np.zeros((*batch, 61, 6))
    load[(*index, slice(None), 5)] = 2.0 * 0.5
    with pytest.raises(
        Diverged, match=r"turns by 1 rad in a step of 0.1 s at [12]\.?\d* s"
    ) as caught:
        fast_rollout(TOP, spinning(rates), load, STEP)
    assert caught.value.index == index
    assert caught.value.time == pytest.approx(2.0, abs=1.01 * STEP)
    assert ("batch index " + ", ".join(map(str, index)) in str(caught.value)) == bool(batch)
    assert "take a step of 0.01 s or less" in str(caught.value)
    fast_rollout(TOP, spinning(rates), load, 0.5 * STEP)


@pytest.mark.parametrize("steps", [1, 3000])
@pytest.mark.parametrize("count", [1, 9])
def test_free_bodies_that_turn_too_far_are_rejected_and_others_are_not(steps, count):
    with pytest.raises(Diverged, match=r"turns by 1.01 rad .* at 0 s"):
        fast_rollout(TOP, spinning(np.full(count, 10.1)), None, STEP, steps=steps)
    fast_rollout(TOP, spinning(np.full(count, 9.99)), None, STEP, steps=steps)
    with pytest.raises(Diverged, match=r"turns by 10 rad .* at 0 s"):
        fast_rollout(TOP, spinning(np.full(count, 100.0)), None, STEP, steps=steps)
