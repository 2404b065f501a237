"""Arithmetic in pairs of doubles against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from identify.simulation.free_rotation.double_double import (
    PI,
    DoubleDouble,
    double_double,
    remainder,
    sqrt,
    total,
    where,
)

numbers = st.floats(1e-12, 1e12).flatmap(lambda x: st.sampled_from([x, -x]))
EXACT = 2.0**-100


@st.composite
def pairs(draw) -> DoubleDouble:
    high = draw(numbers)
    low = high * draw(st.floats(-(2.0**-54), 2.0**-54))
    return double_double(np.array(high)) + low


def exact(number: DoubleDouble) -> Fraction:
    return Fraction(float(number.high)) + Fraction(float(number.low))


def close(found: DoubleDouble, expected: Fraction, scale: Fraction) -> bool:
    return abs(exact(found) - expected) <= Fraction(EXACT) * abs(scale)


@given(pairs(), pairs())
def test_operations_keep_a_hundred_bits(a, b):
    x, y = exact(a), exact(b)
    assert close(a + b, x + y, abs(x) + abs(y))
    assert close(a - b, x - y, abs(x) + abs(y))
    assert close(a * b, x * y, x * y)
    assert close(a / b, x / y, x / y)


@given(pairs(), numbers)
def test_a_double_on_either_side(a, number):
    x, y = exact(a), Fraction(number)
    array = np.array(number)
    for result, expected in ((number + a, x + y), (array - a, y - x), (number * a, x * y)):
        assert close(result, expected, abs(x) + abs(y) + abs(x * y))
    assert close(number / a, y / x, y / x)


@given(pairs())
def test_square_root(a):
    a = abs(a)
    root = exact(sqrt(a))
    assert abs(root * root - exact(a)) <= Fraction(4 * EXACT) * exact(a)


def test_what_plain_doubles_lose():
    third = 1.0 / double_double(np.array(3.0))
    assert abs(exact(third) - Fraction(1, 3)) < Fraction(1, 10**31)
    assert float((third * 3.0 - 1.0).high) == pytest.approx(0.0, abs=1e-31)
    assert Fraction(float(third.high)) != Fraction(1, 3)


def test_zero_has_a_root_and_keeps_its_shape():
    zero = double_double(np.zeros((2, 3)))
    assert sqrt(zero).shape == (2, 3)
    assert not sqrt(zero).value.any()


def test_pi():
    # Machin, in exact fractions.
    def arctan_of_inverse(n: int) -> Fraction:
        return sum(
            (Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(60)), Fraction(0)
        )

    machin = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))
    assert abs(exact(PI) - machin) < Fraction(1, 10**31)


@given(st.integers(-(10**15), 10**15), st.floats(-0.49, 0.49))
def test_remainder_takes_whole_periods_off(count, share):
    period = 4.0 * PI
    left = float(remainder(period * float(count) + share, period))
    assert abs(left - share) < 1e-15 + 1e-14 * abs(count) * 1e-15


def test_sum_along_an_axis_and_choice():
    values = double_double(np.arange(6.0).reshape(2, 3))
    assert total(values, axis=1).value.tolist() == [3.0, 12.0]
    assert total(values).value.tolist() == [3.0, 5.0, 7.0]
    assert where(values.high > 2.0, values, -1.0).value.tolist() == [[-1, -1, -1], [3, 4, 5]]
