import math

import pytest
from hypothesis import given, strategies as st

from identify.reporting.content import markup_of_text
from identify.reporting.rounding import (
    MAX_DIGITS,
    decimals_for,
    format_fixed,
    format_significant,
    typeset,
    unit_of_length,
    unit_of_mass,
    with_power_of_ten,
    with_si_prefix,
)

magnitudes = st.floats(1e-12, 1e9)


@given(magnitudes, magnitudes)
def test_two_digits_of_the_half_width(half, largest):
    decimals = decimals_for(half, largest)
    digits = 1 + math.floor(math.log10(largest)) + decimals
    assert decimals >= 0
    assert decimals == 0 or digits <= MAX_DIGITS
    if digits < MAX_DIGITS and decimals > 0:
        assert 10 <= round(float(f"{half:.1e}") * 10.0**decimals) < 100


@pytest.mark.parametrize(
    ("half", "largest", "decimals"),
    [
        (0.12, 3.0, 2),
        (0.0996, 3.0, 2),
        (0.012, 3.0, 3),
        (11.0, 50.0, 0),
        (1500.0, 9e4, 0),
        (1e-12, 3.0, 6),
    ],
)
def test_decimals(half, largest, decimals):
    assert decimals_for(half, largest) == decimals


def test_decimals_without_an_interval():
    assert decimals_for(None, 12.0) == decimals_for(0.0, 12.0) == 5


@given(st.floats(-1e6, 1e6), st.integers(0, 9))
def test_fixed_rounds_and_has_no_negative_zero(value, decimals):
    text = format_fixed(value, decimals)
    assert abs(float(text) - value) <= 0.5000001 * 10.0**-decimals
    assert not (text.startswith("-") and float(text) == 0.0)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 2, "0"),
        (1234.5, 2, "1200"),
        (0.99951, 3, "1.00"),
        (0.01234, 3, "0.0123"),
        (1.234e-5, 2, "1.2e-05"),
        (-7.25e8, 3, "-7.25e+08"),
        (math.nan, 2, "nan"),
        (math.inf, 2, "inf"),
    ],
)
def test_significant(value, digits, text):
    assert format_significant(value, digits) == text


@given(st.floats(1e-11, 99.0))
def test_unit_prefixes_scale_values_to_readable_range(largest):
    unit = with_si_prefix("N", largest)
    assert 0.0999 <= unit.of(largest) <= 100.0 * (1.0 + 1e-9)
    assert unit.name.endswith("N")


@given(st.floats(1e-15, 1e12))
def test_scaled_units_preserve_values(largest):
    unit = with_power_of_ten("kg m²", largest)
    assert 0.999 <= unit.of(largest) <= 1000.0 * (1.0 + 1e-9)
    assert (unit.factor == 1.0) == (unit.name == "kg m²")


def test_units():
    assert with_power_of_ten("kg m²", 0.0149).name == "10⁻³ kg m²"
    assert with_si_prefix("N m", 2e-4).name == "mN m"
    assert with_si_prefix("m", 3e-7).name == "µm"
    assert unit_of_mass(0.02).name == "g"
    assert unit_of_mass(0.02).of(0.02) == pytest.approx(20.0)
    assert unit_of_mass(1e5).name == "kg"
    assert unit_of_length(0.08).name == "mm"
    assert unit_of_length(3.0).name == "m"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-0.5", "−0.5"),
        ("± 0.1, -2 … -1", "± 0.1, −2 … −1"),
        ("2e-06 kg", "2·10⁻⁶ kg"),
        ("-1.5e+12", "−1.5·10¹²"),
        ("run-3", "run-3"),
        ("2026-03-01", "2026-03-01"),
        ("1e3x, -x, a -b", "1e3x, -x, a -b"),
    ],
)
def test_numbers_have_the_signs_of_print(text, expected):
    assert typeset(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fy 0.9, fx -2.3", "fy 0.9, fx −2.3"),
        ("set `f = [-1, <x>]`, not -1", "set <code>f = [-1, &lt;x&gt;]</code>, not −1"),
        ("sha256 71e12, a -2e-6 `", "sha256 71e12, a -2e-6 `"),
        ("digest 71e12\x1b", "digest 71e12\\x1b"),
    ],
)
def test_words_keep_their_code_and_have_signs_of_print(text, expected):
    assert markup_of_text(text) == expected
