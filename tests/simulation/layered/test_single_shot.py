"""One long log in one shot: sequentially, in parallel windows, and where those do not converge."""

from __future__ import annotations

import numpy as np
import pytest

from identify.errors import SimulationError
from identify.simulation import fast_rollout, single_shot
from identify.simulation.layered import shooting
from tests.close import assert_close
from tests.simulation.layered.cases import (
    GRAVITY,
    STATE,
    errors,
    some_bodies,
    some_states,
    state_at,
)
from tests.simulation.plain_rollout import plain_rollout

PHI = some_bodies(1)[0]
START = some_states((), spin=1.0)
STEP = 1e-3
WAYS = ["linear", "hold"]


def tumbling(n: int, strength: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(4)
    return rng.normal(size=(n, 6)) * np.repeat([5.0, strength], 3)


def shots(load, **options):
    return [
        single_shot(PHI, START, load, STEP, GRAVITY, parallel=parallel, **options)
        for parallel in (False, True)
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_single_shot_is_a_fast_rollout_of_one_body(way):
    load = tumbling(3001)
    shot = single_shot(PHI, START, load, STEP, GRAVITY, interpolation=way)
    path = fast_rollout(PHI, START, load, STEP, GRAVITY, interpolation=way)
    for name in STATE:
        assert_close(getattr(shot.trajectory, name), getattr(path, name), 0.0)
    assert shot.note == ""
    assert shot.windows == 0
    plain = plain_rollout(PHI, START, load, STEP, GRAVITY, interpolation=way)
    # On straight lines between noise, steps of order four are no better than this.
    assert errors(shot.trajectory, plain).max() < (1e-4 if way == "linear" else 1e-9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("steps", [20_000, 47_123])
def test_parallel_windows_agree_with_the_sequential_way(way, steps):
    sequential, parallel = shots(tumbling(steps + 1), interpolation=way)
    assert parallel.windows == -(-steps // shooting.WINDOW)
    assert parallel.not_converged == ()
    assert parallel.note == ""
    assert parallel.sequential == 0.0
    for name in STATE:
        assert_close(getattr(parallel.trajectory, name), getattr(sequential.trajectory, name), 1e-9)


def test_they_agree_as_far_as_the_log_lets_any_two_ways_agree():
    """How far a log takes apart two starts that differ by rounding bounds what can be asked."""
    load = tumbling(40_001)
    sequential, parallel = shots(load)
    nudged = some_states((), spin=1.0)
    nudged = type(nudged)(
        nudged.position, nudged.quaternion, nudged.velocity, nudged.angular_velocity * (1 + 1e-14)
    )
    other = single_shot(PHI, nudged, load, STEP, GRAVITY)
    apart = errors(sequential.trajectory, other.trajectory)
    assert (errors(sequential.trajectory, parallel.trajectory) < 10.0 * apart + 1e-11).all()


def test_a_free_body_is_shot_too():
    sequential, parallel = shots(None, steps=20_050)
    assert parallel.windows == 2 - int(shooting._FEWEST_SEGMENTS * shooting._SEGMENT > 50)
    assert parallel.note == ""
    for name in STATE:
        assert_close(getattr(parallel.trajectory, name), getattr(sequential.trajectory, name), 1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_an_unstable_log_defeats_the_windows_and_is_stepped_through(way):
    sequential, parallel = shots(tumbling(70_001, strength=20.0), interpolation=way)
    assert parallel.windows == 2  # no more are tried
    assert parallel.not_converged == (0.0, 20.0)
    assert parallel.sequential == 1.0
    assert "windows from 0 s, 20 s did not converge): 100 % of the steps" in parallel.note
    w = [shot.trajectory.angular_velocity for shot in (sequential, parallel)]
    assert_close(w[1], w[0], 0.0)


def test_a_body_at_rest_stays_there():
    rest = state_at(plain_rollout(PHI, START, np.zeros((1, 6)), STEP), 0)
    rest = type(rest)(np.zeros(3), rest.quaternion, np.zeros(3), np.zeros(3))
    for parallel in (False, True):
        shot = single_shot(PHI, rest, np.zeros((20_001, 6)), STEP, np.zeros(3), parallel=parallel)
        assert np.abs(shot.trajectory.position).max() < 1e-12
        assert not shot.trajectory.angular_velocity.any()


def test_a_short_log_is_not_cut_into_windows():
    sequential, parallel = shots(tumbling(501))
    assert parallel.windows == 0
    assert parallel.sequential == 1.0
    assert parallel.note == ""
    assert errors(sequential.trajectory, parallel.trajectory).max() < 1e-10


def test_a_batch_is_refused():
    with pytest.raises(SimulationError, match=r"one body, got a batch of shape \(3,\)"):
        single_shot(some_bodies(3), START, tumbling(11), STEP)


@pytest.mark.parametrize("parallel", [False, True])
def test_a_log_that_diverges_says_when(parallel):
    load = tumbling(20_001)
    load[12_000:, 3:] *= 1e12
    with pytest.raises(SimulationError, match=r"^the body moved beyond .* at 12(\.0\d*)? s"):
        single_shot(PHI, START, load, STEP, parallel=parallel)
