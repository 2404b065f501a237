"""Half a unit of the last digit of a number as it is written."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from identify.errors import ModelError
from identify.inertia.verdict import half_unit
from tests.close import assert_close


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.0120", 5e-5),
        ("1.2e-3", 5e-5),
        ("-1.2E-3", 5e-5),
        ("+.5", 0.05),
        ("0.000", 5e-4),
        ("12.50", 5e-3),
        ("1e3", 500.0),
        (" 0.25 ", 5e-3),
        ("2", 0.0),
        ("2.", 0.0),
        ("0", 0.0),
        ("0.0", 0.0),
        ("-0.0", 0.0),
    ],
)
def test_the_half_unit_of_what_is_printed(text, expected):
    assert_close(half_unit(text), expected, 1e-15)


@given(st.floats(1e-6, 1e6), st.integers(2, 12))
def test_the_number_meant_is_within_it(value, decimals):
    for text in (f"{value:.{decimals}f}", f"{value:.{decimals}e}"):
        assert abs(float(text) - value) <= half_unit(text) * (1.0 + 1e-9) + 1e-15 * value


@pytest.mark.parametrize("text", ["", ".", "e5", "one", "1,5", "nan", "inf", "0x10", "1.2.3", "٣"])
def test_what_is_no_decimal_number_is_refused(text):
    with pytest.raises(ModelError, match="expected a decimal number"):
        half_unit(text)


@pytest.mark.parametrize("text", ["1e999", "1e-999", "0e99999999999"])
def test_absurd_powers_neither_overflow_nor_vanish(text):
    assert 0.0 < half_unit(text) < float("inf")
