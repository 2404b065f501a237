"""Numbers as programs print them: decimal marks, thousands separators, and the last digit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from identify.arrays import Array
from identify.exchange.body_formats.answers import UnstatedProperty

DecimalMark: TypeAlias = Literal["point", "comma"]

NUMBER = r"[-+−]?(?:\d(?:[\d.,’'\u00a0\u202f]*\d)?\.?|[.,]\d+)(?:[eE][-+−]?\d+)?"
"""Pattern of a number with a decimal point or comma and thousands separators."""

_GROUP_SEPARATORS = re.compile(r"[’'\u00a0\u202f]")
"""Separators of thousands that are no decimal marks."""
_GROUPED = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
"""One mark before three digits, which may be a decimal mark or a thousands separator."""


class RoundedNumbers(NamedTuple):
    """Numbers of a text, with half a unit of the last digit of each."""

    values: Array
    half_units: Array

    def scaled(self, factor: float) -> RoundedNumbers:
        """Return the numbers in another unit."""
        return RoundedNumbers(factor * self.values, factor * self.half_units)


def find_decimal_mark(numbers: Iterable[str], given: DecimalMark | None = None) -> DecimalMark:
    """Return the decimal mark that all numbers of a text have in common.

    `given`: the mark, if a person names it.
    Raises `UnstatedProperty`: each number reads as either (1,234), or they contradict each other.
    """
    if given is not None:
        return given
    marks, grouped = set[DecimalMark](), ""
    for number in map(_plain, numbers):
        mark = _mark_of(number)
        if mark is not None:
            marks.add(mark)
        elif _GROUPED.fullmatch(number):
            grouped = number
    if len(marks) == 1:
        return marks.pop()
    if marks:
        raise UnstatedProperty(
            "some numbers have a decimal point and others a decimal comma", "--decimal point|comma"
        )
    if grouped:
        raise UnstatedProperty(
            f"{grouped} may be {grouped.replace(',', '.')} or {re.sub('[.,]', '', grouped)}, and "
            "no other number of the text tells",
            "--decimal point|comma",
        )
    return "point"


def parse_numbers(numbers: Iterable[str], mark: DecimalMark) -> RoundedNumbers:
    """Return numbers as floats, with half a unit of the last digit of each.

    Raises `ValueError`: not a number with this decimal mark.
    """
    pairs = [_parse_number(number, mark) for number in numbers]
    values, half_units = zip(*pairs, strict=True)
    return RoundedNumbers(np.array(values), np.array(half_units))


def _parse_number(number: str, mark: DecimalMark) -> tuple[float, float]:
    decimal, group = (".", ",") if mark == "point" else (",", ".")
    mantissa, _, exponent = _plain(number).lower().partition("e")
    whole, _, fraction = mantissa.partition(decimal)
    if not re.fullmatch(r"\d*", fraction) or not re.fullmatch(
        rf"[-+]?\d*(?:\{group}\d{{3}})*", whole
    ):
        raise ValueError(f"{number!r} is not a number with a decimal {mark}")
    power = int(exponent or 0)
    value = float(f"{whole.replace(group, '')}.{fraction}e{power}")
    return value, 0.5 * 10.0 ** (power - len(fraction))


def _plain(number: str) -> str:
    return _GROUP_SEPARATORS.sub("", number.strip()).replace("−", "-")


def _mark_of(number: str) -> DecimalMark | None:
    """Return the decimal mark of a number; None if it has none or reads as either."""
    digits = number.lstrip("+-")
    mantissa, exponent, _ = digits.lower().partition("e")
    points, commas = mantissa.count("."), mantissa.count(",")
    if points and commas:
        return "point" if mantissa.rfind(".") > mantissa.rfind(",") else "comma"
    if points > 1 or commas > 1:  # thousands
        return "comma" if points else "point"
    if not points and not commas:
        return None
    if not exponent and _GROUPED.fullmatch(mantissa):
        return None
    return "point" if points else "comma"
