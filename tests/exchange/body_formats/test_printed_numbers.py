import numpy as np
import pytest

from identify.errors import ModelError
from identify.exchange.body_formats.answers import UnstatedProperty
from identify.exchange.body_formats.printed_numbers import find_decimal_mark, parse_numbers
from identify.exchange.body_formats.units import inertia_unit, length_unit, mass_unit


@pytest.mark.parametrize(
    ("numbers", "mark"),
    [
        (["12", "-3"], "point"),
        (["1.5"], "point"),
        (["1,5"], "comma"),
        (["0,125"], "comma"),
        (["1.234", "2.5"], "point"),
        (["1.234", "2,5"], "comma"),
        (["1.234.567"], "comma"),
        (["1,234,567"], "point"),
        (["1.234,5"], "comma"),
        (["1,234.5"], "point"),
        (["1.234E+06"], "point"),
        (["1234.567"], "point"),
        (["1'234.5"], "point"),
        (["1\u202f234,5"], "comma"),
    ],
)
def test_the_decimal_mark_of_a_text(numbers, mark):
    assert find_decimal_mark(numbers) == mark


@pytest.mark.parametrize(
    "numbers", [["1.234"], ["1,234", "12"], ["1.5", "2,5"], ["1,234.5", "2,5"]]
)
def test_a_mark_that_is_open(numbers):
    with pytest.raises(UnstatedProperty, match=r"--decimal point\|comma"):
        find_decimal_mark(numbers)
    assert find_decimal_mark(numbers, "comma") == "comma"


def test_values_and_half_units():
    numbers = parse_numbers(["1,234.50", "-2.440E+06", "−3", ".25", "1'000"], "point")
    np.testing.assert_array_equal(numbers.values, [1234.5, -2.44e6, -3.0, 0.25, 1000.0])
    np.testing.assert_allclose(numbers.half_units, [0.005, 500.0, 0.5, 0.005, 0.5], rtol=1e-15)
    german = parse_numbers(["1.234,5"], "comma")
    assert (german.values[0], german.half_units[0]) == (1234.5, 0.05)


@pytest.mark.parametrize(
    ("number", "mark"), [("1,23", "point"), ("1.2.3", "comma"), ("1,2,3", "comma")]
)
def test_a_number_with_another_mark(number, mark):
    with pytest.raises(ValueError, match=f"is not a number with a decimal {mark}"):
        parse_numbers([number], mark)


@pytest.mark.parametrize(
    "words",
    [
        "grams *  square millimeters",
        "g mm^2",
        "g mm²",
        "g·mm^2",
        "g*mm^2",
        "gmm2",
        "Grams x square Millimetres",
        "g.mm^2",
    ],
)
def test_names_of_one_unit_of_inertia(words):
    assert inertia_unit(words) == pytest.approx(1e-9, rel=1e-15)


def test_units_of_pounds_and_slugs():
    """A slug gets 1 ft/s² from a pound of force, 0.45359237 kg · 9.80665 m/s²."""
    assert inertia_unit("pounds * square inches") == pytest.approx(0.45359237 * 0.0254**2)
    assert inertia_unit("lbmass ft^2") == pytest.approx(0.45359237 * 0.3048**2)
    assert mass_unit("slugs") * 0.3048 == pytest.approx(0.45359237 * 9.80665)
    assert mass_unit(" Kg ") == 1.0
    assert length_unit("( inches )") == 0.0254


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (mass_unit, "mm"),
        (length_unit, "g"),
        (inertia_unit, "kg"),
        (inertia_unit, "N m^2"),
        (mass_unit, ""),
    ],
)
def test_an_unknown_unit(unit, words):
    with pytest.raises(ModelError, match="unknown unit of"):
        unit(words)
