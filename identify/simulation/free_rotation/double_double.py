"""Numbers of twice the precision: unevaluated sums of two doubles, on arrays.

A phase that has run for 10⁴ periods needs its rate to 10⁻²⁰. A pair of doubles holds 106 bits, on
every platform; the long double of NumPy holds 64 on some and 53 on others.

References: Dekker, "A floating-point technique for extending the available precision" (1971);
Hida, Li and Bailey, "Algorithms for quad-double precision floating point arithmetic" (2001).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar, TypeAlias

import numpy as np

from identify.arrays import Array, Flags

_SPLITTER = 134217729.0
"""2²⁷ + 1: cuts the 53 bits of a double into two halves whose products are exact."""


@dataclass(frozen=True, slots=True)
class DoubleDouble:
    """The numbers high + low, |low| ≤ ½ ulp(high), with the arithmetic of arrays.

    Relative error of an operation about 10⁻³¹, for numbers between 10⁻²⁵⁰ and 10²⁵⁰.

    Attributes:
        high, low: arrays of one shape.
    """

    __array_ufunc__: ClassVar[None] = None  # an array to the left leaves the operation to us

    high: Array
    low: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.high.shape

    @property
    def value(self) -> Array:
        """The nearest doubles."""
        return self.high + self.low

    def __getitem__(self, index: Any) -> DoubleDouble:
        return DoubleDouble(self.high[index], self.low[index])

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.high, -self.low)

    def __add__(self, other: Operand) -> DoubleDouble:
        other = double_double(other)
        high, error = _sum(self.high, other.high)
        low, lower = _sum(self.low, other.low)
        high, error = _ordered_sum(high, error + low)
        return DoubleDouble(*_ordered_sum(high, error + lower))

    __radd__ = __add__

    def __sub__(self, other: Operand) -> DoubleDouble:
        return self + (-double_double(other))

    def __rsub__(self, other: Operand) -> DoubleDouble:
        return -self + other

    def __mul__(self, other: Operand) -> DoubleDouble:
        other = double_double(other)
        high, error = _product(self.high, other.high)
        error = error + (self.high * other.low + self.low * other.high)
        return DoubleDouble(*_ordered_sum(high, error))

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> DoubleDouble:
        other = double_double(other)
        first = self.high / other.high
        rest = self - other * first
        second = rest.high / other.high
        third = (rest - other * second).high / other.high
        return double_double(first) + second + third

    def __rtruediv__(self, other: Operand) -> DoubleDouble:
        return double_double(other) / self

    def __abs__(self) -> DoubleDouble:
        return where(self.high < 0.0, -self, self)


Operand: TypeAlias = DoubleDouble | Array | float


def double_double(number: Operand) -> DoubleDouble:
    """Doubles as numbers of twice the precision, exactly."""
    if isinstance(number, DoubleDouble):
        return number
    high = np.asarray(number, dtype=np.float64)
    return DoubleDouble(high, np.zeros_like(high))


PI = DoubleDouble(np.asarray(3.141592653589793), np.asarray(1.2246467991473532e-16))


def sqrt(number: DoubleDouble) -> DoubleDouble:
    """Square root of numbers that are not negative."""
    root = np.sqrt(number.high)
    rest = number - double_double(root) * root
    return double_double(root) + rest.high / np.where(root > 0.0, 2.0 * root, 1.0)


def where(condition: Flags, yes: Operand, no: Operand) -> DoubleDouble:
    """`yes` where the condition holds, `no` elsewhere."""
    return rearranged(lambda a, b: np.where(condition, a, b), yes, no)


def rearranged(rule: Callable[..., Array], *numbers: Operand) -> DoubleDouble:
    """Entries moved, picked or joined by one rule, which is applied to both parts of a pair."""
    pairs = [double_double(number) for number in numbers]
    return DoubleDouble(rule(*(pair.high for pair in pairs)), rule(*(pair.low for pair in pairs)))


def total(number: DoubleDouble, axis: int = 0) -> DoubleDouble:
    """Sum of the few entries along an axis."""
    first = rearranged(lambda part: np.moveaxis(part, axis, 0), number)
    return reduce(add, (first[k] for k in range(len(first.high))))


def remainder(number: DoubleDouble, period: DoubleDouble) -> Array:
    """What is left of numbers when whole periods are taken off, in [−½, ½] period, as doubles."""
    first = number - np.rint(number.high / period.high) * period
    # Of a huge number the first count of periods is rounded itself.
    return (first - np.rint(first.high / period.high) * period).value


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error (Knuth)."""
    s = a + b
    part = s - a
    return s, (a - (s - part)) + (b - part)


def _ordered_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error, for |a| ≥ |b|."""
    s = a + b
    return s, b - (s - a)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its error (Dekker)."""
    p = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Array) -> tuple[Array, Array]:
    shifted = _SPLITTER * a
    high = shifted - (shifted - a)
    return high, a - high
