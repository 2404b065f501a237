import numpy as np
from hypothesis import given, strategies as st

from identify.simulation.schedule import make_schedule
from tests.close import assert_close


def test_breaks_cut_steps_but_are_not_kept():
    times = make_schedule(
        1.0, 0.5, 1, [np.array([-1.0, 0.0, 0.2, 0.5, 2.0]), np.array([0.2, np.inf])]
    )
    assert times.instants.tolist() == [0.0, 0.2, 0.5, 1.0]
    assert times.is_returned.tolist() == [True, False, True, True]
    assert times.index_of(0.2) == 1
    assert times.index_of(0.2 + 1e-13) == 1
    assert times.index_of(1.0) == 3


def test_stamps_a_rounding_off_the_grid_are_on_it():
    breaks = 1e-3 * np.arange(1001) * (1.0 + 1e-14) - 1e-16
    times = make_schedule(1.0, 1e-3, 1, [breaks])
    assert len(times.instants) == 1001


@given(st.floats(1e-3, 1e3), st.integers(1, 5000))
def test_duration_of_whole_steps_has_no_extra_step(step, count):
    times = make_schedule(step * count, step, 1, [])
    assert len(times.instants) == count + 1
    assert_close(np.diff(times.instants), np.full(count, step), 1e-9)
    assert times.instants[-1] == step * count


@given(st.lists(st.floats(0.0, 1.0), max_size=20), st.floats(0.01, 2.0), st.integers(1, 5))
def test_instants_increase_and_include_every_break(breaks, step, every):
    times = make_schedule(1.0, step, every, [np.array(breaks)])
    assert times.instants[0] == 0.0
    assert times.instants[-1] == 1.0
    assert (np.diff(times.instants) > 0.9e-9 * step).all()
    for one in breaks:
        assert np.abs(times.instants - one).min() <= 1.1e-9 * step
    assert times.is_returned[0]
    assert times.is_returned[-1]
