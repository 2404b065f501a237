"""Numbers as a person reads them: as many digits as are known, in a unit that suits their size."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

MOST_DIGITS = 7
"""Significant digits a table shows at the most."""

_MOST_DECIMALS = 12
"""What is smaller is the rounding of a zero."""

_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k"}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit to show values in: value in SI = factor × value shown."""

    name: str
    factor: float

    def of(self, value: float) -> float:
        """A value in SI, in this unit."""
        return value / self.factor


def power_of_ten(exponent: int) -> str:
    """10 to a power in plain characters: 10⁻³."""
    return "10" + str(exponent).translate(_RAISED)


def prefixed(unit: str, largest: float) -> Unit:
    """A unit with the SI prefix that brings `largest` between 0.1 and 100."""
    exponent = 3 * ((_exponent(largest) + 1) // 3)
    exponent = min(max(exponent, min(_PREFIXES)), max(_PREFIXES))
    return Unit(_PREFIXES[exponent] + unit, 10.0**exponent)


def unit_of_mass(largest: float) -> Unit:
    """Kilograms, or grams below 0.1 kg."""
    return Unit("g", 1e-3) if 0.0 < largest < 0.1 else Unit("kg", 1.0)


def unit_of_length(largest: float) -> Unit:
    """Metres, or millimetres below 1 m."""
    return Unit("mm", 1e-3) if largest < 1.0 else Unit("m", 1.0)


def scaled(unit: str, largest: float) -> Unit:
    """A compound unit, with a power of ten in front where values are small or large: 10⁻³ kg m².

    It brings `largest` between 1 and 1000.
    """
    exponent = 3 * (_exponent(largest) // 3)
    return Unit(f"{power_of_ten(exponent)} {unit}" if exponent else unit, 10.0**exponent)


def decimals_for(half_width: float | None, largest: float) -> int:
    """Decimals that show a value to two digits of its half-width, and no more than are known."""
    most = MOST_DIGITS - 1 - _exponent(largest)
    if half_width is None or half_width <= 0.0:
        return max(0, min(most, _MOST_DECIMALS))
    return max(0, min(1 - _exponent(half_width), most))


def fixed(value: float, decimals: int) -> str:
    """A number with that many decimals; one that rounds to zero has no sign."""
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.") else text


def plus_minus(half_width: float, decimals: int) -> str:
    """Half of an interval behind its sign; to two digits where its decimals would all be zero."""
    text = fixed(half_width, decimals)
    return f"± {text if text.strip('0.') else significant(half_width)}"


def significant(value: float, digits: int = 2) -> str:
    """A number to a few significant digits; with an exponent where it is small or large."""
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = f"{value:.{digits - 1}e}"
    exponent = int(rounded.split("e")[1])
    if not -4 <= exponent < 6:
        return rounded
    return f"{float(rounded):.{max(0, digits - 1 - exponent)}f}"


def nines(score: float) -> str:
    """An R² to as many nines as it has, and two digits more; a dash for none."""
    if math.isnan(score):
        return "–"
    lost = 1.0 - score
    digits = 3 if lost >= 0.1 or lost <= 0.0 else min(12, 2 + len(f"{1.0 / lost:.0f}"))
    return f"{score:.{digits}f}" if lost > 0.0 else "1"


_MINUS = re.compile(r"(?<![\w.)\]])-(?=[\d.]*\d)")
_POWER = re.compile(r"(?<=\d)e([+-]?)0*(\d+)(?!\w)")


def typeset(text: str) -> str:
    """Numbers as they are printed: a minus sign for a hyphen, and 2·10⁻⁶ for 2e-06."""
    raised = _POWER.sub(
        lambda found: f"·10{(found[1].strip('+') + found[2]).translate(_RAISED)}", text
    )
    return minus_signs(raised)


def minus_signs(text: str) -> str:
    """A minus sign for each hyphen before a number."""
    return _MINUS.sub("−", text)


def _exponent(value: float) -> int:
    return math.floor(math.log10(value)) if value > 0.0 and math.isfinite(value) else 0
