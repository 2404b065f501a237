"""Units of mass, length and inertia as CAD programs print them, in SI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from identify.errors import ModelError

_POUND, _INCH, _STANDARD_GRAVITY = 0.45359237, 0.0254, 9.80665

MASS_UNITS: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(("kg", "kgs", "kilogram", "kilograms"), 1.0),
        **dict.fromkeys(("g", "gram", "grams"), 1e-3),
        **dict.fromkeys(("mg", "milligram", "milligrams"), 1e-6),
        **dict.fromkeys(("t", "tonne", "tonnes"), 1e3),
        **dict.fromkeys(("lb", "lbs", "lbm", "lbmass", "pound", "pounds"), _POUND),
        **dict.fromkeys(("oz", "ozm", "ounce", "ounces"), _POUND / 16.0),
        **dict.fromkeys(("slug", "slugs"), _POUND * _STANDARD_GRAVITY / (12.0 * _INCH)),
    }
)
"""Units of mass [kg]."""

LENGTH_UNITS: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), 1.0),
        **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), 1e-3),
        **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), 1e-2),
        **dict.fromkeys(("in", "inch", "inches"), _INCH),
        **dict.fromkeys(("ft", "foot", "feet"), 12.0 * _INCH),
    }
)
"""Units of length [m]."""

_SQUARE_BEFORE = re.compile(r"\b(?:square|sq)\.?[ ]+([a-z]+)")
_INERTIA = re.compile(
    rf"(?:({'|'.join(MASS_UNITS)})[ .]+|(kg|g))({'|'.join(LENGTH_UNITS)}) ?\^?2"  # lbmm2 is open
)


def mass_unit(words: str) -> float:
    """Return a unit of mass [kg]; raise `ModelError` if it is not known."""
    return _factor(words, MASS_UNITS, "mass")


def length_unit(words: str) -> float:
    """Return a unit of length [m]; raise `ModelError` if it is not known."""
    return _factor(words, LENGTH_UNITS, "length")


def inertia_unit(words: str) -> float:
    """Return a unit of inertia [kg m²], such as `grams * square millimeters` or `kg m^2`.

    Raises `ModelError`: not a unit of mass times the square of a length.
    """
    text = " ".join(re.sub(r"[*·⋅×()]|\bx\b", " ", words.lower().replace("²", "^2")).split())
    text = _SQUARE_BEFORE.sub(r"\1^2", text)
    match = _INERTIA.fullmatch(text)
    if match is None:
        raise ModelError(
            f"unknown unit of inertia {words.strip()!r}; expected a mass times the square of a "
            "length, such as 'kg m^2' or 'grams * square millimeters'"
        )
    return MASS_UNITS[match[1] or match[2]] * LENGTH_UNITS[match[3]] ** 2


def _factor(words: str, units: Mapping[str, float], quantity: str) -> float:
    name = words.strip().strip("()").strip().lower().rstrip(".")
    if name not in units:
        known = ", ".join(name for name in units if len(name) < 3)
        raise ModelError(
            f"unknown unit of {quantity} {words.strip()!r}; expected one of {known}, or its name"
        )
    return units[name]
