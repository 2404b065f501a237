import numpy as np
import pytest

from identify.errors import SimulationError
from identify.simulation import ConstantLoad, Impulse, SampledLoad, buoyancy
from tests.close import assert_close


def test_sampled_load_is_linear_between_samples():
    load = SampledLoad([0.0, 1.0, 3.0], np.outer([0.0, 2.0, -2.0], np.ones(6)))
    value, rate = load.value_and_rate(2.5)
    assert_close(value, np.full(6, -1.0), 1e-15)
    assert_close(rate, np.full(6, -2.0), 1e-15)
    held = SampledLoad(load.time, load.wrench, interpolation="hold")
    value, rate = held.value_and_rate(2.5)
    assert_close(value, np.full(6, 2.0), 0.0)
    assert_close(rate, np.zeros(6), 0.0)


def test_a_load_is_off_outside_its_window():
    load = ConstantLoad([1.0, 0, 0], start=1.0, end=2.0)
    assert load.value_and_rate(0.5) is None
    assert load.value_and_rate(2.5) is None
    for time in (1.0, 1.5):  # what happens at an instant is what happens just after it
        assert_close(load.value_and_rate(time)[0], [1.0, 0, 0, 0, 0, 0], 0.0)
    assert load.value_and_rate(2.0) is None
    assert_close(load.break_times(), [1.0, 2.0], 0.0)


def test_breaks_of_samples_are_those_within_the_window():
    load = SampledLoad(np.arange(6.0), np.zeros((6, 6)), start=1.5, end=4.0)
    assert load.break_times().tolist() == [1.5, 2.0, 3.0, 4.0]


def test_buoyancy_is_minus_the_weight_of_the_fluid():
    load = buoyancy(1025.0 * 0.002, [0.0, 0, 0.1], [0.0, 0, -9.81])
    assert_close(load.force, [0.0, 0, 1025.0 * 0.002 * 9.81], 1e-15)
    assert load.frame == "world"
    many = buoyancy(np.array([1.0, 2.0]), np.zeros((2, 3)), [0.0, 0, -10.0])
    assert_close(many.force, [[0, 0, 10], [0, 0, 20]], 0.0)


TWO = np.zeros((2, 6))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantLoad([1.0, 2.0]), r"load: force: expected shape \(..., 3\), got \(2,\)"),
        (lambda: ConstantLoad([1.0, np.nan, 0]), r"load: force: entry \(1,\) is nan"),
        (lambda: ConstantLoad(torque=["a", 0, 0]), "load: torque: expected numbers .*'a'"),
        (lambda: ConstantLoad(frame="World"), r"frame: .* got 'World'; did you mean 'world'\?"),
        (lambda: ConstantLoad(start=2.0, end=1.0), "acts from 2.0 to 1.0 s"),
        (lambda: ConstantLoad(start=np.nan), "acts from nan to inf s"),
        (lambda: SampledLoad([0.0], TWO[:1]), "two or more samples"),
        (lambda: SampledLoad([0.0, 1.0], np.zeros((3, 6))), r"got \(2,\) and \(3, 6\)"),
        (lambda: SampledLoad([0.0, 1.0], np.zeros((2, 5))), r"wrench: expected shape"),
        (lambda: SampledLoad([0.0, 0.0], TWO, name="a.csv"), "a.csv: time must increase, got 0 s"),
        (lambda: SampledLoad([0.0, np.inf], TWO), r"time: entry \(1,\) is inf"),
        (
            lambda: SampledLoad([0.0, 1.0], TWO, interpolation="lineal"),
            "expected \"linear\" or \"hold\", got 'lineal'; did you mean 'linear'",
        ),
        (lambda: Impulse(-1.0), "time must be zero or later and finite, got -1.0 s"),
        (lambda: Impulse(np.nan), "time must be zero or later"),
        (lambda: Impulse(0.0, [1.0, 2]), r"impulse: linear: expected shape \(..., 3\)"),
        (lambda: Impulse(0.0, frame="bdy"), r"did you mean 'body'"),
    ],
)
def test_invalid_load_is_rejected(make, message):
    with pytest.raises(SimulationError, match=message):
        make()
