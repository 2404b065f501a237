"""Numbers as controllers take them: without exponents, and moments that stay possible."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
from numpy.typing import ArrayLike

SINGLE = 6
"""Significant digits that a single precision number surely keeps."""


def decimals_for(values: ArrayLike, digits: int, least: int = 0) -> int:
    """Decimals by which the largest of some numbers has so many significant digits."""
    largest = float(np.abs(np.asarray(values, dtype=np.float64)).max(initial=0.0))
    if largest == 0.0:
        return least
    return max(digits - 1 - math.floor(math.log10(largest)), least)


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals, never `-0.0`, and with a decimal point."""
    return f"{value:z.{max(decimals, 1)}f}"


def fixed_all(values: ArrayLike, decimals: int) -> tuple[str, ...]:
    """Numbers with so many decimals."""
    return tuple(fixed(float(value), decimals) for value in np.asarray(values))


def round_moments(moments: ArrayLike, decimals: int) -> tuple[str, ...]:
    """Three moments of inertia with so many decimals, A + B ≥ C to the last digit.

    Each is rounded to the nearest unit of the last digit. Where that takes a plate or a rod over
    the edge the largest becomes the sum of the others, which is at most one unit less.

    Args:
        moments: of a possible body, shape (3,).
        decimals: how many.
    """
    decimals = max(decimals, 1)
    values = np.maximum(np.asarray(moments, dtype=np.float64), 0.0)
    unit = Decimal(1).scaleb(-decimals)
    rounded = [Decimal(float(value)).quantize(unit) for value in values]
    largest = max(range(3), key=rounded.__getitem__)
    others = sum(rounded) - rounded[largest]
    rounded[largest] = min(rounded[largest], Decimal(others))
    return tuple(f"{value:f}" for value in rounded)
