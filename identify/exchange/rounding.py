"""Numbers as text, with so many digits that the body they print is still possible.

An exact plate or rod is on the edge of what is possible: rounding any of its numbers puts it
outside every other time, and simulators refuse it. So it is moved to the interior (`regularised`),
by 1e-9 of its own second moment, and the change is said. What is printed is then read back and
checked, and digits are added until the body that is read has half of that distance to spare.
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
from identify.inertia.conventions.mass_properties import InertialFrame
from identify.inertia.conventions.orders import matrix_from_six, six_in_order
from identify.inertia.conventions.simulators import MIN_FULL_INERTIA, MIN_INERTIA
from identify.inertia.matrices import (
    inertia_about_com,
    inertia_from_second_moment,
    rounding_error_about_com,
    second_moment_from_inertia,
)
from identify.inertia.verdict import check
from identify.spatial import Pose

MARGIN = 1e-9
"""Smallest second moment about the centre of mass that is written, of the sum of the three."""

_ROD = 1e-4
"""A body whose two smallest second moments are below this, of the sum of the three, is a rod."""

DIGITS = 9
"""Significant digits of what is printed, where no more are needed."""

_EXACT = 17
"""Digits that say a double precision number to the last bit."""


class Floor(NamedTuple):
    """How far from the edge a body has to be.

    Attributes:
        margin: smallest second moment, of the sum of the three.
        smallest: smallest principal moment [kg m²].
        rod_margin: that of the second moment for a rod.
    """

    margin: float
    smallest: float
    rod_margin: float = MARGIN

    def relative(self, values: Array) -> float:
        """The smallest second moment [kg m²] by the share of it, of second moments, ascending."""
        total = float(np.maximum(values, 0.0).sum())
        return (self.rod_margin if values[1] < _ROD * total else self.margin) * total


@dataclass(frozen=True, slots=True)
class RoundedBody:
    """A body as text, and what the text says when it is read.

    Attributes:
        mass: [kg].
        com: p_BoBcm_B [m].
        quat_wxyz: of the axes C of the inertia in B, scalar first.
        inertia: ixx, ixy, ixz, iyy, iyz, izz about the centre of mass in C [kg m²].
        phi: ten parameters of these numbers, about Bo in B, shape (10,).
        digits: significant digits.
        change: what was changed beyond rounding, in a sentence, or nothing.
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
        """ixx, iyy, izz."""
        return self.inertia[0], self.inertia[3], self.inertia[5]


def round_body(
    phi: ArrayLike,
    *,
    principal: bool = False,
    digits: int = DIGITS,
    rod_margin: float = MARGIN,
) -> RoundedBody:
    """The numbers of a possible body as text that still is one.

    Args:
        phi: ten parameters about Bo in B, shape (10,).
        principal: print principal moments and their axes, not the inertia in axes of B.
        digits: significant digits to begin with, 3 to 17.
        rod_margin: smallest second moment of a rod about its centre of mass, of the three's sum.

    Principal moments are at least MuJoCo's floor, which is ten times higher where it has to find
    them itself (from a URDF too).

    Raises:
        ModelError: an impossible body, or one of less than 1e-15 kg.
    """
    phi = seal(phi, "phi", (10,))
    if not phi.any():
        raise ModelError("a massless frame has no inertia to export: all ten parameters are zero")
    _require(phi, digits)
    mass, com = float(phi[0]), phi[1:4] / phi[0]
    if mass < MIN_INERTIA:
        raise ModelError(f"a mass of {mass:g} kg; model files take {MIN_INERTIA:g} or more")
    floor = Floor(MARGIN, MIN_INERTIA if principal else MIN_FULL_INERTIA, rod_margin)
    inertia = _without_noise(inertia_about_com(phi), float(rounding_error_about_com(phi)))
    inertia, change = regularised(inertia, floor)
    R, quat = np.eye(3), ("1", "0", "0", "0")
    if principal:
        moments, R = principal_frame(inertia, "unless diagonal")
        inertia = np.diag(moments)
    six, count = safe_texts(inertia, digits, floor)
    size = np.sqrt(np.trace(inertia) / mass) + np.abs(com).max()
    com = _texts(np.where(np.abs(com) < 1e-15 * size, 0.0, com), digits)
    if (np.eye(3) != R).any():
        quat = _texts(wxyz_from_rotation(R), max(count, digits))
    text = _text(mass, digits)
    X_BC = Pose(rotation_from_wxyz(_floats(quat)), _floats(com))
    frame = InertialFrame(np.array(float(text)), X_BC, matrix_from_six(_floats(six), "urdf"))
    return RoundedBody(text, com, quat, six, seal(frame.phi, "phi", (10,)), count, change)


def round_in_frame(frame: InertialFrame, floor: Floor, digits: int = DIGITS) -> RoundedBody:
    """A possible body's inertia as text, in the axes that it has; the mass and the pose stay.

    `floor` is what the printed body has to keep; `digits`, 3 to 17, are those to begin with.

    Raises:
        ModelError: an impossible body.
    """
    central = np.concatenate(([frame.mass, 0.0, 0.0, 0.0], six_in_order(frame.inertia, "urdf")))
    _require(central, digits)
    noise = 8.0 * np.finfo(np.float64).eps * np.trace(frame.inertia)
    inertia, change = regularised(_without_noise(frame.inertia, noise), floor)
    six, count = safe_texts(inertia, digits, floor)
    said = frame._replace(inertia=matrix_from_six(_floats(six), "urdf"))
    return RoundedBody(
        mass=_text(float(frame.mass), _EXACT),
        com=_texts(frame.X_BC.position, _EXACT),
        quat_wxyz=_texts(wxyz_from_rotation(frame.X_BC.rotation), _EXACT),
        inertia=six,
        phi=seal(said.phi, "phi", (10,)),
        digits=count,
        change=change,
    )


def regularised(inertia: Mat33, floor: Floor) -> tuple[Mat33, str]:
    """The inertia with every second moment at a floor or above, and what changed, in a sentence.

    It is that of a possible body about its centre of mass [kg m²], shape (3, 3).
    """
    values, axes = np.linalg.eigh(second_moment_from_inertia(inertia))
    total = float(np.maximum(values, 0.0).sum())
    by_size = 0.51 * floor.smallest
    least = max(floor.relative(values), by_size)
    rise = np.maximum(least - values, 0.0)
    if not rise.any():
        return inertia, ""
    raised = inertia + inertia_from_second_moment((axes * rise) @ axes.T)
    raised = _without_noise(raised, 4.0 * np.finfo(np.float64).eps * np.trace(raised))
    before = max(float(values[0]), 0.0)
    change = f"its smallest second moment was raised from {before:.3g} to {least:.3g} kg m²"
    if least > by_size:
        thin = "without" if before <= 1e-3 * MARGIN * total else "of hardly any"
        return raised, (
            f"a body {thin} thickness: {change} ({least / total:.1g} of their sum), so that no "
            f"simulator takes it for impossible"
        )
    return raised, (
        f"{change}, for no moment to be below {floor.smallest:g} kg m², the least that MuJoCo takes"
    )


def _is_safe(inertia: Mat33, floor: Floor) -> bool:
    """Whether a printed inertia keeps half the floor, and A + B ≥ C to the last bit."""
    values = np.linalg.eigvalsh(second_moment_from_inertia(inertia))
    if values[0] < 0.5 * max(floor.relative(values), 0.5 * floor.smallest):
        return False
    moments = values.sum() - values
    diagonal = np.diag(inertia)
    triangle = (diagonal.sum() - diagonal >= diagonal).all()
    large = (moments >= floor.smallest).all() and (diagonal >= floor.smallest).all()
    return bool(large and triangle)


def _without_noise(inertia: Mat33, noise: float) -> Mat33:
    """The inertia, products up to `noise` [kg m²] made zero."""
    return np.where((np.abs(inertia) <= noise) & ~np.eye(3, dtype=bool), 0.0, inertia)


def safe_texts(
    inertia: Mat33,
    digits: int,
    floor: Floor,
    texts: Callable[[Array, int], tuple[str, ...]] | None = None,
) -> tuple[tuple[str, ...], int]:
    """The six numbers in the fewest digits that keep the body possible, and how many those are.

    The inertia is about the centre of mass [kg m²], shape (3, 3). `texts` prints numbers in so many
    digits; by default each has as many of its own.

    Raises:
        ModelError: no number of digits does.
    """
    texts = texts or _texts
    for count in range(digits, _EXACT + 1):
        six = texts(six_in_order(inertia, "urdf"), count)
        if _is_safe(matrix_from_six(_floats(six), "urdf"), floor):
            return six, count
    raise ModelError(f"the body cannot be printed in {_EXACT} digits and stay possible")


def _require(phi: Phi, digits: int) -> None:
    if not 3 <= digits <= _EXACT:
        raise ModelError(f"digits: expected 3 to {_EXACT}, got {digits}")
    if not is_consistent(phi):
        raise ModelError(f"{check(phi)}; write the nearest possible body in its place")


def _text(value: float, digits: int) -> str:
    """A number in so many significant digits, without what says nothing."""
    if value == 0.0:
        return "0"
    text, shortest = f"{value:.{digits}g}", repr(value)
    return shortest if float(text) == value and len(shortest) < len(text) else text


def _texts(values: Array, digits: int) -> tuple[str, ...]:
    """Numbers, each in so many digits of its own."""
    return tuple(_text(float(value), digits) for value in values)


def _floats(texts: tuple[str, ...]) -> Array:
    return np.array(texts, dtype=np.float64)
