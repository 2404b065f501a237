import numpy as np
import pytest

from identify.errors import SimulationError
from identify.simulation import fast_rollout, single_shot
from tests.close import assert_close
from tests.simulation.decoupled.cases import (
    GRAVITY,
    STATE,
    errors,
    some_bodies,
    some_states,
)
from tests.simulation.plain_rollout import plain_rollout

PHI = some_bodies(1)[0]
START = some_states((), spin=1.0)
STEP = 1e-3
WAYS = ["linear", "hold"]


def tumbling(n: int, strength: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(4)
    return rng.normal(size=(n, 6)) * np.repeat([5.0, strength], 3)


@pytest.mark.parametrize("way", WAYS)
def test_a_single_shot_is_a_fast_rollout_of_one_body(way):
    load = tumbling(1001)
    shot = single_shot(PHI, START, load, STEP, GRAVITY, interpolation=way)
    path = fast_rollout(PHI, START, load, STEP, GRAVITY, interpolation=way)
    for name in STATE:
        assert_close(getattr(shot.trajectory, name), getattr(path, name), 0.0)
    plain = plain_rollout(PHI, START, load, STEP, GRAVITY, interpolation=way)
    # On straight lines between noise, steps of order four are no better than this.
    assert errors(shot.trajectory, plain).max() < (1e-4 if way == "linear" else 1e-9)


def test_a_free_body_is_shot_too():
    shot = single_shot(PHI, START, None, STEP, GRAVITY, steps=20_050)
    path = fast_rollout(PHI, START, None, STEP, GRAVITY, steps=20_050)
    for name in STATE:
        assert_close(getattr(shot.trajectory, name), getattr(path, name), 0.0)


def test_a_batch_is_refused():
    with pytest.raises(SimulationError, match=r"one body, got a batch of shape \(3,\)"):
        single_shot(some_bodies(3), START, tumbling(11), STEP)


def test_parallel_windows_are_gone():
    with pytest.raises(SimulationError, match=r"parallel=True is no longer there.* leave"):
        single_shot(PHI, START, tumbling(11), STEP, parallel=True)


def test_a_log_that_diverges_says_when():
    load = tumbling(20_001)
    load[12_000:, 3:] *= 1e12
    with pytest.raises(SimulationError, match=r"^the body moved beyond .* at 12(\.0\d*)? s"):
        single_shot(PHI, START, load, STEP)
