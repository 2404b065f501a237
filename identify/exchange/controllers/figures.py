"""The numbers of a payload as text, for the three ways in which controllers take them.

All are without exponents, and what is rounded is still a possible body: three moments along the
flange's axes on a screen, principal moments with their axes, or the whole inertia matrix.
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
from identify.exchange.rounding import DIGITS, MARGIN, Floor, regularised, safe_texts
from identify.inertia.conventions import PrincipalFrame, principal_frame, rpy_from_rotation
from identify.inertia.conventions.axes import wxyz_from_rotation

SINGLE = 6
"""Significant digits that a single precision number surely keeps."""

_VISIBLE = 0.01
"""Share of the largest moment by which a screen's digits may be off before it is said."""

_PRODUCT_ROUNDING = 1e-12
"""Share of the largest moment up to which products of inertia are rounding."""


class Payload(NamedTuple):
    """A checked payload.

    Attributes:
        mass: [kg].
        com: centre of mass in the flange's frame [m], shape (3,).
        inertia: about the centre of mass, in axes of the flange [kg m²], shape (3, 3).
    """

    mass: float
    com: Vec3
    inertia: Mat33


class Figures(NamedTuple):
    """Numbers by the name that they have in templates, what they do not say, what to see to."""

    words: Mapping[str, str]
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def screen_figures(payload: Payload, *, length: float, inertia: float, decimals: int) -> Figures:
    """`m`, `x y z` and the moments `jx jy jz` along the flange's axes, products left out.

    `length` [m] and `inertia` [kg m²] are the screen's units, `decimals` those of every number.

    Raises:
        ModelError: a mass that the screen shows as zero.
    """
    mass = fixed(payload.mass, decimals)
    if float(mass) == 0.0:
        raise ModelError(
            f"a mass of {payload.mass:g} kg is zero in {decimals} decimals; "
            f"a load so light needs no setting"
        )
    moments = np.diag(payload.inertia) / inertia
    texts = round_moments(moments, decimals)
    lost: list[str] = []
    share = _product_share(payload.inertia)
    if share > 0.0:
        lost.append(
            f"products of inertia: there is no place for them; the largest was "
            f"{share:.3g} of the largest moment"
        )
    if (moments > 0.0).any():
        errors = np.abs(np.array(texts, dtype=np.float64) - moments)
        share = float(errors.max() / moments.max())
        if share > _VISIBLE:
            lost.append(
                f"digits: in {decimals} decimals the moments are off by up to "
                f"{100.0 * share:.3g} % of the largest"
            )
    com = fixed_all(payload.com / length, decimals)
    return Figures(_named("m x y z jx jy jz", mass, *com, *texts), tuple(lost))


def principal_figures(payload: Payload, *, lost: str, axes: str) -> Figures:
    """`m`, `x y z` [mm], the principal moments `jx jy jz`, and their axes in two ways.

    These are the quaternion `q1 q2 q3 q4`, scalar first, and R = Rz(a) Ry(b) Rx(c) in degrees.

    `lost` is what is lost of every body, `axes` where the setting has the axes, for the message.
    """
    moments, rotation = nearest_principal_frame(payload.inertia)
    com_mm = 1e3 * payload.com
    words = _named(
        "m x y z jx jy jz q1 q2 q3 q4 c b a",
        fixed(payload.mass, decimals_for(payload.mass, SINGLE, 3)),
        *fixed_all(com_mm, decimals_for(com_mm, SINGLE, 3)),
        *round_moments(moments, decimals_for(moments, SINGLE, 4)),
        *fixed_all(wxyz_from_rotation(rotation), 7),
        *fixed_all(np.degrees(rpy_from_rotation(rotation)), 4),
    )
    if _product_share(payload.inertia) == 0.0:
        return Figures(words, (lost,))
    products = (
        f"products of inertia, as such: they are in {axes} (their order and directions are free)"
    )
    return Figures(words, (lost, products))


def tensor_figures(payload: Payload) -> Figures:
    """`m`, `x y z` and `xx xy xz yy yz zz` about the centre of mass.

    An exact plate or rod is on the edge of what is possible, where any rounding may take it
    outside: it is thickened as in model files, and decimals are added as there.

    Raises:
        ModelError: no number of digits keeps the body possible.
    """
    floor = Floor(MARGIN, 0.0)
    inertia, thickened = regularised(payload.inertia, floor)
    six, _ = safe_texts(inertia, DIGITS, floor, lambda x, n: fixed_all(x, decimals_for(x, n)))
    words = _named(
        "m x y z xx xy xz yy yz zz",
        fixed(payload.mass, decimals_for(payload.mass, DIGITS)),
        *fixed_all(payload.com, decimals_for(payload.com, DIGITS)),
        *six,
    )
    if not thickened:
        return Figures(words)
    lost = (
        f"thickness: the body has none in some direction, and was given {MARGIN:g} of its "
        f"second moment, so that its rounded numbers are still a possible body"
    )
    return Figures(words, (lost,))


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
    """Principal moments in that order, and right-handed axes, that turn least from the body's.

    A controller takes any of the 24 frames along the same axes; this is the one a person can check.
    """
    moments, axes = principal_frame(inertia, "unless diagonal")
    rows = np.arange(3)
    orders = [list(order) for order in itertools.permutations(range(3))]
    order = max(orders, key=lambda columns: float(np.abs(axes[rows, columns]).sum()))
    axes = axes[:, order] * np.where(np.diag(axes[:, order]) < 0.0, -1.0, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, np.argmin(np.abs(np.diag(axes)))] *= -1.0
    return PrincipalFrame(moments[order], axes)


def _product_share(inertia: Mat33) -> float:
    """Largest product of inertia over the largest moment, zero where it is rounding."""
    moments = np.diag(inertia)
    products = float(np.abs(inertia - np.diag(moments)).max())
    return products / float(moments.max()) if products > _PRODUCT_ROUNDING * moments.max() else 0.0


def _named(names: str, *numbers: str) -> dict[str, str]:
    return dict(zip(names.split(), numbers, strict=True))
