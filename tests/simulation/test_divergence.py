"""A step that no method can follow is refused by each, with the time and the body."""

from __future__ import annotations

import numpy as np
import pytest

from identify.inertia import phi_from_inertia
from identify.simulation import State, fast_rollout, simulate, single_shot
from identify.simulation.divergence import Diverged

PHI = phi_from_inertia(1.0, np.zeros(3), np.diag([1.0, 1.5, 2.0]))
H = 0.1


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
        fast_rollout(PHI, spinning(rates), load, H)
    assert caught.value.index == index
    assert caught.value.time == pytest.approx(2.0, abs=1.01 * H)
    assert ("batch index " + ", ".join(map(str, index)) in str(caught.value)) == bool(batch)
    assert "take a step of 0.01 s or less" in str(caught.value)
    fast_rollout(PHI, spinning(rates), load, 0.5 * H)


def test_a_single_shot_refuses_it_too():
    load = np.zeros((45_001, 6))
    load[30_000:, 5] = 2.0 * 5e4
    with pytest.raises(Diverged) as caught:
        single_shot(PHI, spinning(1.0), load, 1e-3)
    assert caught.value.index == ()
    assert caught.value.time == pytest.approx(30.02, abs=2.1e-3)


@pytest.mark.parametrize("steps", [1, 3000])
@pytest.mark.parametrize("count", [1, 9])
def test_free_bodies_that_turn_too_far_are_refused_and_others_are_not(steps, count):
    with pytest.raises(Diverged, match=r"turns by 1.01 rad .* at 0 s"):
        fast_rollout(PHI, spinning(np.full(count, 10.1)), None, H, steps=steps)
    fast_rollout(PHI, spinning(np.full(count, 9.99)), None, H, steps=steps)
    with pytest.raises(Diverged, match=r"turns by 10 rad .* at 0 s"):
        fast_rollout(PHI, spinning(np.full(count, 100.0)), None, H, steps=steps)


def test_simulate_says_time_and_index_as_attributes():
    with pytest.raises(Diverged) as caught:
        simulate(PHI, spinning([1.0, 20.0]), duration=1.0, step=H)
    assert (caught.value.time, caught.value.index) == (0.0, (1,))
    assert caught.value.exit_code == 3


def test_a_motion_without_bounds_has_them_too():
    load = np.zeros((3, 60, 6))
    load[1, 30:, 3:] = 1e12 * np.array([1.0, 2.0, 3.0])
    with pytest.raises(Diverged, match="moved beyond all bounds") as caught:
        fast_rollout(PHI, spinning([1.0, 1.0, 1.0]), load, H)
    assert caught.value.index == (1,)
    assert caught.value.time == pytest.approx(3.0, abs=1.01 * H)
