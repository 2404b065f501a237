from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from identify.arrays import Phi
from identify.errors import SimulationError
from identify.inertia import InertialParameters, is_consistent, phi_from_inertia, spatial_inertia
from identify.simulation import (
    State,
    fast_rollout,
    free_motion,
    simulate,
)
from identify.simulation.checks import require_simulable
from identify.simulation.divergence import Diverged
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
        ("angular_velocity", ["a", "b", "c"], "state: angular_velocity: expected numbers .*'a'"),
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


@pytest.mark.parametrize("step", ["a", None, [0.1, 0.2], 1j, 0.0, -1.0, np.nan, np.inf])
def test_a_step_that_is_none_is_refused(step: Any):
    for run in (
        lambda: simulate(PHI, state(), duration=1.0, step=step),
        lambda: fast_rollout(PHI, state(), LOAD, step),
    ):
        with pytest.raises(SimulationError, match=r"time step: expected a .*number \[s\], got"):
            run()
    with pytest.raises(SimulationError, match=r"duration: expected a .*number \[s\], got"):
        simulate(PHI, state(), duration=step, step=0.1)


def test_words_are_no_body_load_or_gravity():
    word: Any = "heavy"
    with pytest.raises(SimulationError, match="phi: expected numbers"):
        fast_rollout(word, state(), LOAD, H)
    with pytest.raises(SimulationError, match="wrench: expected numbers"):
        fast_rollout(PHI, state(), word, H)
    with pytest.raises(SimulationError, match="gravity: expected numbers"):
        fast_rollout(PHI, state(), LOAD, H, word)


TOP = phi_from_inertia(1.0, np.zeros(3), np.diag([1.0, 1.5, 2.0]))
STEP = 0.1


def spinning(rates) -> State:
    w = np.multiply.outer(np.asarray(rates), [0.0, 0.0, 1.0])
    return State(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), w)


@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (20,), (40, 30)])  # by floats, rows and blocks
def test_a_step_too_long_says_when_who_and_what_would_do(batch):
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
def test_free_bodies_that_turn_too_far_are_refused_and_others_are_not(steps, count):
    with pytest.raises(Diverged, match=r"turns by 1.01 rad .* at 0 s"):
        fast_rollout(TOP, spinning(np.full(count, 10.1)), None, STEP, steps=steps)
    fast_rollout(TOP, spinning(np.full(count, 9.99)), None, STEP, steps=steps)
    with pytest.raises(Diverged, match=r"turns by 10 rad .* at 0 s"):
        fast_rollout(TOP, spinning(np.full(count, 100.0)), None, STEP, steps=steps)


@given(st.floats(-9.0, 0.0), st.floats(-9.0, 0.0), st.floats(0.0, 3.0), st.integers(0, 2**32 - 1))
def test_what_is_thin_is_what_the_condition_says(width, height, away, seed):
    """Boxes of any width and height, turned, near or far: by all eigenvalues of the 6×6 inertia."""
    rng = np.random.default_rng(seed)
    second = np.diag([1.0, 10.0**width, 10.0**height]) ** 2
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = R @ (np.trace(second) * np.eye(3) - second) @ R.T
    phi = InertialParameters.from_com(1.0, 10.0**away * rng.normal(size=3), inertia).phi
    M = spatial_inertia(phi)
    scale = 1.0 / np.sqrt(np.diag(M))
    values = np.linalg.eigvalsh(M * np.outer(scale, scale))
    margin = values[0] * 1e13 / values[-1]
    assume(not 0.9 < margin < 1.1)
    if margin < 1.0:
        with pytest.raises(SimulationError, match="no inertia about some axis"):
            require_simulable(np.stack([PHI, phi]))
    else:
        np.testing.assert_array_equal(require_simulable(phi), phi)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_possible_is_what_eigenvalues_say(sign):
    """Second moments of any signs and sizes, turned."""
    rng = np.random.default_rng(0)
    for _ in range(400):
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        signs = rng.choice([1.0, 1.0, 1.0, 0.0, -1.0], size=3)
        S = (R * signs * 10.0 ** rng.uniform(-9.0, 0.0, 3)) @ R.T
        phi = phi_from_inertia(1.0, rng.normal(size=3), sign * (np.trace(S) * np.eye(3) - S))
        assert ("is not physically possible" in refusal_of(phi)) != is_consistent(phi)


@pytest.mark.parametrize(("x", "y"), [(0.3, 0.54), (0.54, 0.8), (0.76, 0.69), (0.94, 0.62)])
def test_a_minor_that_is_lost_in_rounding_makes_no_body_possible(x, y):
    """The second is zero, and the products next to it are so large that the third may be any."""
    S = np.array([[x, y, 1e4 * x], [y, y * y / x, 1e4 * y], [1e4 * x, 1e4 * y, 1.0]])
    phi = phi_from_inertia(1.0, np.zeros(3), np.trace(S) * np.eye(3) - S)
    assert "is not physically possible" in refusal_of(phi)


@pytest.mark.parametrize("moment", [2e-321, 1e-322])
def test_moments_of_inertia_of_hardly_any_digits_are_none(moment):
    phi = np.array([1.0, 0.0, 0.0, 0.0, moment, 0.0, 0.0, moment, 0.0, moment])
    assert "no inertia about some axis" in refusal_of(phi)


def refusal_of(phi: Phi) -> str:
    try:
        require_simulable(phi)
    except SimulationError as error:
        return str(error)
    return ""
