"""Rounding of a body to text whose printed numbers are still physically consistent.

An exact plate or rod is on the boundary of the consistent set: rounding any of its numbers moves it
outside in half of all cases, and simulators refuse it. So it is moved to the interior
(`regularise_inertia`), by 1e-9 of its own second moment, and the change is reported. The printed
text is read back and checked, and digits are added until it keeps half of that margin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi, seal
from identify.errors import ModelError
from identify.inertia.consistency import is_consistent
from identify.inertia.conventions.axes import (
    principal_frame,
    rotation_from_wxyz,
    wxyz_from_rotation,
)
from identify.inertia.conventions.mass_properties import InertialFrame, without_rounding_noise
from identify.inertia.conventions.orders import entries_in_order, matrix_from_entries
from identify.inertia.conventions.simulators import MUJOCO_MIN_FULL_INERTIA, MUJOCO_MIN_INERTIA
from identify.inertia.matrices import (
    inertia_from_second_moment,
    second_moment_from_inertia,
)
from identify.inertia.verdict import check_consistency
from identify.spatial import Pose

MIN_MOMENT_RATIO = 1e-9
"""Smallest second moment about the centre of mass that is written, relative to the sum of three."""

_MAX_ROD_WIDTH = 1e-4
"""Second largest second moment up to which a body is a rod, relative to the sum of the three."""

DEFAULT_DIGITS = 9
"""Number of significant digits of printed numbers, unless consistency requires more."""

_EXACT_DIGITS = 17
"""Number of significant digits that determine a double-precision number exactly."""


class InertiaFloor(NamedTuple):
    """Lower limits of second moments and principal moments of inertia of a written body.

    Attributes:
        margin: smallest second moment, as a share of the sum of the three.
        min_moment: smallest principal moment [kg m²].
        rod_margin: smallest second moment of a rod, as a share of the sum of the three.
    """

    margin: float
    min_moment: float
    rod_margin: float = MIN_MOMENT_RATIO

    def smallest_second_moment(self, values: Array) -> float:
        """Return the smallest second moment [kg m²] allowed beside ascending second moments."""
        total = float(np.maximum(values, 0.0).sum())
        return (self.rod_margin if values[1] < _MAX_ROD_WIDTH * total else self.margin) * total


@dataclass(frozen=True, slots=True)
class RoundedBody:
    """Body as text, with the parameters that a reader of the text obtains.

    Attributes:
        mass: [kg].
        com: p_BoBcm_B [m].
        quat_wxyz: of the axes C of the inertia in B, scalar first.
        inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre of mass in C [kg m²].
        phi: ten parameters of these numbers, about Bo in B, shape (10,).
        digits: significant digits.
        change: sentence on changes beyond rounding; empty if there are none.
    """

    mass: str
    com: tuple[str, ...]
    quat_wxyz: tuple[str, ...]
    inertia: tuple[str, ...]
    phi: Phi
    digits: int
    change: str

    @property
    def diagonal(self) -> tuple[str, str, str]:
        """Moments of inertia ixx, iyy, izz."""
        return self.inertia[0], self.inertia[3], self.inertia[5]


def round_body(
    phi: ArrayLike,
    *,
    principal: bool = False,
    digits: int = DEFAULT_DIGITS,
    rod_margin: float = MIN_MOMENT_RATIO,
) -> RoundedBody:
    """Round a physically consistent body to text such that the text is consistent, too.

    Args:
        phi: ten parameters about Bo in B, shape (10,).
        principal: print principal moments and their axes, not the inertia in axes of B.
        digits: initial number of significant digits, 3 to 17.
        rod_margin: smallest second moment of a rod about its centre of mass, of the three's sum.

    Principal moments are at least MuJoCo's minimum, which is ten times higher if MuJoCo has to
    compute them (from a URDF too).

    Raises:
        ModelError: the body is not physically consistent, or has less than 1e-15 kg.
    """
    phi = seal(phi, "phi", (10,))
    if not phi.any():
        raise ModelError("a massless frame has no inertia to export: all ten parameters are zero")
    _check_input(phi, digits)
    mass, com, inertia = without_rounding_noise(phi)
    if mass < MUJOCO_MIN_INERTIA:
        raise ModelError(
            f"a mass of {mass:g} kg; model files need {MUJOCO_MIN_INERTIA:g} kg or more"
        )
    floor = InertiaFloor(
        MIN_MOMENT_RATIO, MUJOCO_MIN_INERTIA if principal else MUJOCO_MIN_FULL_INERTIA, rod_margin
    )
    inertia, change = regularise_inertia(inertia, floor)
    R, quat = np.eye(3), ("1", "0", "0", "0")
    if principal:
        moments, R = principal_frame(inertia, "unless diagonal")
        inertia = np.diag(moments)
    six, digit_count = format_consistent_inertia(inertia, digits, floor)
    com = _format_numbers(com, digits)
    if (np.eye(3) != R).any():
        quat = _format_numbers(wxyz_from_rotation(R), max(digit_count, digits))
    text = _format_number(float(mass), digits)
    X_BC = Pose(rotation_from_wxyz(_floats(quat)), _floats(com))
    frame = InertialFrame(np.array(float(text)), X_BC, matrix_from_entries(_floats(six), "urdf"))
    return RoundedBody(text, com, quat, six, seal(frame.phi, "phi", (10,)), digit_count, change)


def round_in_frame(
    frame: InertialFrame, floor: InertiaFloor, digits: int = DEFAULT_DIGITS
) -> RoundedBody:
    """Round the inertia of a body to text in its given axes, with mass and pose unchanged.

    The printed body keeps `floor`; `digits`, 3 to 17, is the initial number of significant digits.

    Raises `ModelError`: the body is not physically consistent.
    """
    central = np.concatenate(([frame.mass, 0.0, 0.0, 0.0], entries_in_order(frame.inertia, "urdf")))
    _check_input(central, digits)
    noise = 8.0 * np.finfo(np.float64).eps * np.trace(frame.inertia)
    inertia, change = regularise_inertia(_zero_small_products(frame.inertia, noise), floor)
    six, digit_count = format_consistent_inertia(inertia, digits, floor)
    printed = frame._replace(inertia=matrix_from_entries(_floats(six), "urdf"))
    return RoundedBody(
        mass=_format_number(float(frame.mass), _EXACT_DIGITS),
        com=_format_numbers(frame.X_BC.position, _EXACT_DIGITS),
        quat_wxyz=_format_numbers(wxyz_from_rotation(frame.X_BC.rotation), _EXACT_DIGITS),
        inertia=six,
        phi=seal(printed.phi, "phi", (10,)),
        digits=digit_count,
        change=change,
    )


def regularise_inertia(inertia: Mat33, floor: InertiaFloor) -> tuple[Mat33, str]:
    """Raise second moments to a floor; return the inertia and a sentence on the change.

    The inertia is about the centre of mass [kg m²], shape (3, 3); the body is consistent.
    """
    values, axes = np.linalg.eigh(second_moment_from_inertia(inertia))
    total = float(np.maximum(values, 0.0).sum())
    # A moment is the sum of two second moments: half of min_moment each, with 2 % for rounding.
    by_size = 0.51 * floor.min_moment
    minimum = max(floor.smallest_second_moment(values), by_size)
    rise = np.maximum(minimum - values, 0.0)
    if not rise.any():
        return inertia, ""
    raised = inertia + inertia_from_second_moment((axes * rise) @ axes.T)
    raised = _zero_small_products(raised, 4.0 * np.finfo(np.float64).eps * np.trace(raised))
    before = max(float(values[0]), 0.0)
    change = f"its smallest second moment was raised from {before:.3g} to {minimum:.3g} kg m²"
    if minimum > by_size:
        thin = "without" if before <= 1e-3 * MIN_MOMENT_RATIO * total else "with hardly any"
        return raised, (
            f"a body {thin} thickness: {change} ({minimum / total:.1g} of their sum), so that no "
            f"simulator refuses it"
        )
    return raised, (
        f"{change}, so that no moment is below {floor.min_moment:g} kg m², the minimum of MuJoCo"
    )


def _is_printable(inertia: Mat33, floor: InertiaFloor) -> bool:
    """Return whether a printed inertia keeps half the margin of its smallest second moment.

    Its principal moments and its diagonal have to be `min_moment` or more, and the diagonal has to
    fulfil the triangle inequality.
    """
    values = np.linalg.eigvalsh(second_moment_from_inertia(inertia))
    if values[0] < 0.5 * max(floor.smallest_second_moment(values), 0.5 * floor.min_moment):
        return False
    moments = values.sum() - values
    diagonal = np.diag(inertia)
    triangle = (diagonal.sum() - diagonal >= diagonal).all()
    large = (moments >= floor.min_moment).all() and (diagonal >= floor.min_moment).all()
    return bool(large and triangle)


def _zero_small_products(inertia: Mat33, noise: float) -> Mat33:
    """Set products of inertia up to `noise` [kg m²] to zero."""
    return np.where((np.abs(inertia) <= noise) & ~np.eye(3, dtype=bool), 0.0, inertia)


def format_consistent_inertia(
    inertia: Mat33,
    digits: int,
    floor: InertiaFloor,
    format_numbers: Callable[[Array, int], tuple[str, ...]] | None = None,
) -> tuple[tuple[str, ...], int]:
    """Format the six numbers of an inertia in the fewest digits that keep it consistent.

    The inertia is about the centre of mass [kg m²], shape (3, 3). `format_numbers` formats
    numbers with some digits, by default significant ones. Also returns the number of digits.

    Raises `ModelError`: no number of digits keeps it consistent.
    """
    format_numbers = format_numbers or _format_numbers
    for digit_count in range(digits, _EXACT_DIGITS + 1):
        six = format_numbers(entries_in_order(inertia, "urdf"), digit_count)
        if _is_printable(matrix_from_entries(_floats(six), "urdf"), floor):
            return six, digit_count
    raise ModelError(
        f"the body cannot be printed in {_EXACT_DIGITS} digits and stay physically consistent: it "
        "is too near the boundary; move it inside with nearest_consistent(..., margin=1e-9)"
    )


def _check_input(phi: Phi, digits: int) -> None:
    if not 3 <= digits <= _EXACT_DIGITS:
        raise ModelError(f"digits: expected 3 to {_EXACT_DIGITS}, got {digits}")
    if not is_consistent(phi):
        raise ModelError(
            f"{check_consistency(phi)}; replace it by the nearest physically consistent body"
        )


def _format_number(value: float, digits: int) -> str:
    """Format a number with a number of significant digits, or as its shortest exact text."""
    if value == 0.0:
        return "0"
    text, shortest = f"{value:.{digits}g}", repr(value)
    return shortest if float(text) == value and len(shortest) < len(text) else text


def _format_numbers(values: Array, digits: int) -> tuple[str, ...]:
    """Format each number with a number of significant digits."""
    return tuple(_format_number(float(value), digits) for value in values)


def _floats(texts: tuple[str, ...]) -> Array:
    return np.array(texts, dtype=np.float64)
