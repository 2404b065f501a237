"""Formatting of numbers for people: rounded to their precision, in a suitable unit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

MAX_DIGITS = 7
"""Maximum number of significant digits in a table."""

_MAX_DECIMALS = 12
"""Maximum number of decimals of a number; a smaller value is a rounding error."""

_SI_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k"}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Unit:
    """A display unit: value in SI = factor × displayed value."""

    name: str
    factor: float

    def of(self, value: float) -> float:
        """Convert a value from SI to this unit."""
        return value / self.factor


def power_of_ten(exponent: int) -> str:
    """Write a power of ten with superscript digits, such as 10⁻³."""
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def with_si_prefix(unit: str, largest: float) -> Unit:
    """Return a unit with the SI prefix that makes a largest value between 0.1 and 100."""
    exponent = 3 * ((_exponent(largest) + 1) // 3)
    exponent = min(max(exponent, min(_SI_PREFIXES)), max(_SI_PREFIXES))
    return Unit(_SI_PREFIXES[exponent] + unit, 10.0**exponent)


def unit_of_mass(largest: float) -> Unit:
    """Return kilograms, or grams below 0.1 kg."""
    return Unit("g", 1e-3) if 0.0 < largest < 0.1 else Unit("kg", 1.0)


def unit_of_length(largest: float) -> Unit:
    """Return metres, or millimetres below 1 m."""
    return Unit("mm", 1e-3) if largest < 1.0 else Unit("m", 1.0)


def with_power_of_ten(unit: str, largest: float) -> Unit:
    """Return a unit with the power of ten that suits a largest value, such as 10⁻³ kg m²."""
    exponent = 3 * (_exponent(largest) // 3)
    return Unit(f"{power_of_ten(exponent)} {unit}" if exponent else unit, 10.0**exponent)


def decimals_for(half_width: float | None, largest: float) -> int:
    """Return the number of decimals that shows a value to two digits of its half-width."""
    limit = MAX_DIGITS - 1 - _exponent(largest)
    if half_width is None or half_width <= 0.0:
        return max(0, min(limit, _MAX_DECIMALS))
    rounded = float(f"{half_width:.1e}")  # 0.0996 becomes 0.10
    return max(0, min(1 - _exponent(rounded), limit))


def format_fixed(value: float, decimals: int) -> str:
    """Format a number with fixed decimals, and without a sign if it rounds to zero."""
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.") else text


def format_half_width(half_width: float, decimals: int) -> str:
    """Format an interval's half-width behind ±, with two digits if it would round to zero."""
    text = format_fixed(half_width, decimals)
    return f"± {text if text.strip('0.') else format_significant(half_width)}"


def with_half_width(value: float, half_width: float) -> str:
    """Format a value to two digits of its half-width, with it behind ±."""
    decimals = decimals_for(half_width, abs(value))
    return f"{format_fixed(value, decimals)} {format_half_width(half_width, decimals)}"


def format_significant(value: float, digits: int = 2) -> str:
    """Format a number with significant digits, and an exponent if it is very small or large."""
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = f"{value:.{digits - 1}e}"
    exponent = int(rounded.split("e")[1])
    if not -4 <= exponent < 6:
        return rounded
    return f"{float(rounded):.{max(0, digits - 1 - exponent)}f}"


def format_r_squared(score: float) -> str:
    """Format an R² with two digits after its leading nines; NaN as a dash."""
    if math.isnan(score):
        return "–"
    lost = 1.0 - score
    digits = 3 if lost >= 0.1 or lost <= 0.0 else min(12, 2 + len(f"{1.0 / lost:.0f}"))
    return f"{score:.{digits}f}" if lost > 0.0 else "1"


_MINUS_PATTERN = re.compile(r"(?<![\w.)\]])-(?=[\d.]*\d)")
_EXPONENT_PATTERN = re.compile(r"(?<=\d)e([+-]?)0*(\d+)(?!\w)")


def typeset(text: str) -> str:
    """Typeset the numbers of a text: minus signs for hyphens, and 2·10⁻⁶ for 2e-06."""
    with_powers = _EXPONENT_PATTERN.sub(
        lambda match: f"·10{(match[1].strip('+') + match[2]).translate(_SUPERSCRIPTS)}", text
    )
    return minus_signs(with_powers)


def minus_signs(text: str) -> str:
    """Replace the hyphen before each number by a minus sign."""
    return _MINUS_PATTERN.sub("−", text)


def _exponent(value: float) -> int:
    return math.floor(math.log10(value)) if value > 0.0 and math.isfinite(value) else 0
