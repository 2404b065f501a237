"""Numbers of a payload as text, in the forms that controllers take.

These are three moments along the flange's axes, principal moments with their axes, the complete
inertia matrix, or the weight alone. No number has an exponent, and the rounded body is still
physically consistent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Mat33, Vec3
from identify.errors import ModelError
from identify.exchange.rounding import (
    DEFAULT_DIGITS,
    MIN_MOMENT_RATIO,
    InertiaFloor,
    format_consistent_inertia,
    regularise_inertia,
)
from identify.inertia.conventions import PrincipalFrame, principal_frame, rpy_from_rotation
from identify.inertia.conventions.axes import wxyz_from_rotation

SINGLE_PRECISION_DIGITS = 6
"""Number of significant digits that every single-precision number keeps."""

_MAX_MOMENT_ERROR = 0.01
"""Largest rounding error of moments that is not reported, relative to the largest moment."""


class Payload(NamedTuple):
    """Mass, centre of mass and inertia of a checked payload.

    Attributes:
        mass: [kg].
        com: centre of mass in the flange's frame [m], shape (3,).
        inertia: about the centre of mass, in axes of the flange [kg m²], shape (3, 3).
    """

    mass: float
    com: Vec3
    inertia: Mat33


class PayloadNumbers(NamedTuple):
    """Numbers of a payload by their names in a template, with notes on information they lack."""

    by_name: Mapping[str, str]
    lost_information: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def diagonal_numbers(
    payload: Payload, *, length: float, inertia: float, decimals: int
) -> PayloadNumbers:
    """Format mass, centre of mass and the moments along the flange's axes, without products.

    The names are `m`, `x y z` and `jx jy jz`. `length` [m] and `inertia` [kg m²] are the screen's
    units, `decimals` those of every number.

    Raises `ModelError`: a mass that the screen shows as zero.
    """
    mass = format_fixed(payload.mass, decimals)
    if float(mass) == 0.0:
        raise ModelError(
            f"a mass of {payload.mass:g} kg is zero in {decimals} decimals; "
            f"such a light load needs no setting"
        )
    moments = np.diag(payload.inertia) / inertia
    texts = round_moments(moments, decimals)
    lost: list[str] = []
    share = _relative_product(payload.inertia)
    if share > 0.0:
        lost.append(
            f"products of inertia: the setting has no field for them; the largest was "
            f"{share:.3g} of the largest moment"
        )
    if (moments > 0.0).any():
        errors = np.abs(np.array(texts, dtype=np.float64) - moments)
        share = float(errors.max() / moments.max())
        if share > _MAX_MOMENT_ERROR:
            lost.append(
                f"digits: in {decimals} decimals the moments are off by up to "
                f"{100.0 * share:.3g} % of the largest"
            )
    com = format_all_fixed(payload.com / length, decimals)
    by_name = _name_numbers("m x y z jx jy jz", mass, *com, *texts)
    return PayloadNumbers(by_name, tuple(lost))


def principal_numbers(payload: Payload, *, lost: str, axes: str) -> PayloadNumbers:
    """Format mass, centre of mass, principal moments and principal axes.

    The names are `m`, `x y z` [mm], the moments `jx jy jz`, and for their axes the quaternion
    `q1 q2 q3 q4`, scalar first, and R = Rz(a) Ry(b) Rx(c) in degrees.

    For the messages, `lost` is the information that every body loses, and `axes` the field of the
    setting that holds the axes.
    """
    moments, rotation = nearest_principal_frame(payload.inertia)
    com_mm = 1e3 * payload.com
    by_name = _name_numbers(
        "m x y z jx jy jz q1 q2 q3 q4 c b a",
        format_fixed(payload.mass, decimals_for(payload.mass, SINGLE_PRECISION_DIGITS, 3)),
        *format_all_fixed(com_mm, decimals_for(com_mm, SINGLE_PRECISION_DIGITS, 3)),
        *round_moments(moments, decimals_for(moments, SINGLE_PRECISION_DIGITS, 4)),
        *format_all_fixed(wxyz_from_rotation(rotation), 7),
        *format_all_fixed(np.degrees(rpy_from_rotation(rotation)), 4),
    )
    if _relative_product(payload.inertia) == 0.0:
        return PayloadNumbers(by_name, (lost,))
    products = (
        f"products of inertia, as such: they are in {axes} (their order and directions are free)"
    )
    return PayloadNumbers(by_name, (lost, products))


def tensor_numbers(payload: Payload) -> PayloadNumbers:
    """Format mass, centre of mass and the inertia matrix about it.

    The names are `m`, `x y z` and `xx xy xz yy yz zz`. An exact plate or rod is on the boundary of
    the consistent set, and any rounding may move it outside: it is thickened by as little as
    rounding changes, and decimals are added, as in model files.

    Raises `ModelError`: no number of digits keeps the body physically consistent.
    """
    floor = InertiaFloor(MIN_MOMENT_RATIO, 0.0)
    inertia, _ = regularise_inertia(payload.inertia, floor)
    six, _ = format_consistent_inertia(
        inertia, DEFAULT_DIGITS, floor, lambda x, n: format_all_fixed(x, decimals_for(x, n))
    )
    by_name = _name_numbers(
        "m x y z xx xy xz yy yz zz",
        format_fixed(payload.mass, decimals_for(payload.mass, DEFAULT_DIGITS)),
        *format_all_fixed(payload.com, decimals_for(payload.com, DEFAULT_DIGITS)),
        *six,
    )
    return PayloadNumbers(by_name)


def weight_numbers(payload: Payload, *, lost: str, length: float = 1.0) -> PayloadNumbers:
    """Format mass and centre of mass; the names are `m` and `x y z`.

    `lost`: the information that every body loses; `length`: unit of the centre of mass [m].
    """
    com = payload.com / length
    by_name = _name_numbers(
        "m x y z",
        format_fixed(payload.mass, decimals_for(payload.mass, DEFAULT_DIGITS)),
        *format_all_fixed(com, decimals_for(com, DEFAULT_DIGITS)),
    )
    return PayloadNumbers(by_name, (lost,) if payload.inertia.any() else ())


def decimals_for(values: ArrayLike, digits: int, minimum: int = 0) -> int:
    """Return the number of decimals that gives the largest value a number of significant digits."""
    largest = float(np.abs(np.asarray(values, dtype=np.float64)).max(initial=0.0))
    if largest == 0.0:
        return minimum
    return max(digits - 1 - math.floor(math.log10(largest)), minimum)


def format_fixed(value: float, decimals: int) -> str:
    """Format a number with a fixed number of decimals, a decimal point, and never as `-0.0`."""
    return f"{value:z.{max(decimals, 1)}f}"


def format_all_fixed(values: ArrayLike, decimals: int) -> tuple[str, ...]:
    """Format each number with a fixed number of decimals."""
    return tuple(format_fixed(float(value), decimals) for value in np.asarray(values))


def round_moments(moments: ArrayLike, decimals: int) -> tuple[str, ...]:
    """Round three moments of inertia so that they still satisfy the triangle inequality.

    Each is rounded to the nearest unit of the last digit. If that violates the inequality (a plate
    or a rod), the largest becomes the sum of the others, which is at most one unit less.
    """
    decimals = max(decimals, 1)
    values = np.maximum(np.asarray(moments, dtype=np.float64), 0.0)
    unit = Decimal(1).scaleb(-decimals)
    rounded = [Decimal(float(value)).quantize(unit) for value in values]
    largest = max(range(3), key=rounded.__getitem__)
    others = sum(rounded) - rounded[largest]
    rounded[largest] = min(rounded[largest], Decimal(others))
    return tuple(f"{value:f}" for value in rounded)


def nearest_principal_frame(inertia: Mat33) -> PrincipalFrame:
    """Return the right-handed principal frame nearest to the axes of the inertia.

    Its moments are in the order of its axes. A controller takes any of the 24 frames along the
    same axes; this one is the easiest to check by eye.
    """
    moments, axes = principal_frame(inertia, "unless diagonal")
    rows = np.arange(3)
    orders = [list(order) for order in itertools.permutations(range(3))]
    order = max(orders, key=lambda columns: float(np.abs(axes[rows, columns]).sum()))
    axes = axes[:, order] * np.where(np.diag(axes[:, order]) < 0.0, -1.0, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, np.argmin(np.abs(np.diag(axes)))] *= -1.0
    return PrincipalFrame(moments[order], axes)


def _relative_product(inertia: Mat33) -> float:
    """Return the ratio of the largest product of inertia to the largest moment."""
    products = inertia - np.diag(np.diag(inertia))
    return float(np.abs(products).max() / max(inertia.max(), np.finfo(float).tiny))


def _name_numbers(names: str, *numbers: str) -> dict[str, str]:
    """Map names, separated by spaces, to numbers in the same order."""
    return dict(zip(names.split(), numbers, strict=True))
