"""Numbers as text, with so many digits that the body they print is still possible.

An exact plate or rod is on the edge of what is possible: rounding any of its numbers puts it
outside every other time, and simulators refuse it. So it is lifted off the edge, by 1e-9 of its own
second moment, and the change is told. What is printed is then read back and checked, and digits are
added until the body that is read is possible with at least half of that distance to spare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi, Vec3, seal
from identify.errors import ModelError
from identify.inertia.consistency import is_consistent
from identify.inertia.conventions.central import InertialFrame
from identify.inertia.conventions.mujoco import SMALLEST_FULL_INERTIA, SMALLEST_INERTIA
from identify.inertia.conventions.principal import principal_frame
from identify.inertia.conventions.quaternions import rotation_from_wxyz, wxyz_from_rotation
from identify.inertia.conventions.six_orders import matrix_from_six, six_in_order
from identify.inertia.matrices import inertia_about_com
from identify.inertia.second_moment import (
    inertia_from_second_moment,
    rounding_about_com,
    second_moment_from_inertia,
)
from identify.inertia.verdict import check
from identify.spatial import Pose

DIGITS = 9
"""Significant digits of what is printed, where no more are needed."""

LIFT = 1e-9
"""Smallest second moment about the centre of mass that is written, of the sum of the three."""

_EXACT = 17
"""Digits that a double precision number is told by to the last bit."""

_IDENTITY = ("1", "0", "0", "0")


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


class _Central(NamedTuple):
    mass: float
    com: Vec3
    inertia: Mat33
    change: str


def round_body(
    phi: ArrayLike,
    *,
    principal: bool = False,
    digits: int = DIGITS,
) -> RoundedBody:
    """The numbers of a possible body as text that still is one.

    Args:
        phi: ten parameters about Bo in B, shape (10,).
        principal: print principal moments and their axes, not the inertia in axes of B.
        digits: significant digits to begin with, 3 to 17.

    Principal moments are at least MuJoCo's floor, which is ten times higher where it has to find
    them itself (from a URDF too).

    Raises:
        ModelError: an impossible body, or one of less than 1e-15 kg.
    """
    if not 3 <= digits <= _EXACT:
        raise ModelError(f"digits: expected 3 to {_EXACT}, got {digits}")
    smallest = SMALLEST_INERTIA if principal else SMALLEST_FULL_INERTIA
    body = _lifted(seal(phi, "phi", (10,)), smallest)
    R, inertia, quat = np.eye(3), body.inertia, _IDENTITY
    if principal:
        moments, R = principal_frame(inertia, "unless diagonal")
        inertia = np.diag(moments)
    for count in range(digits, _EXACT + 1):
        six = _texts(six_in_order(inertia, "urdf"), count)
        if _is_safe(six, smallest):
            break
    else:
        raise ModelError(f"the body cannot be printed in {_EXACT} digits and stay possible")
    mass, com = _text(body.mass, digits), _texts(_clean(body.com, inertia, body.mass), digits)
    if (np.eye(3) != R).any():
        quat = _texts(wxyz_from_rotation(R), max(count, digits))
    X_BC = Pose(rotation_from_wxyz(np.array(quat, dtype=float)), np.array(com, dtype=float))
    frame = InertialFrame(np.array(float(mass)), X_BC, matrix_from_six(_floats(six), "urdf"))
    return RoundedBody(mass, com, quat, six, seal(frame.phi, "phi", (10,)), count, body.change)


def _lifted(phi: Phi, smallest: float) -> _Central:
    """The body about its centre of mass, off the edge of what is possible."""
    if not is_consistent(phi):
        raise ModelError(f"{check(phi)}; write the nearest possible body in its place")
    mass = float(phi[0])
    if mass < SMALLEST_INERTIA:
        raise ModelError(f"a mass of {mass:g} kg; model files take {SMALLEST_INERTIA:g} or more")
    inertia = _without_noise(inertia_about_com(phi), float(rounding_about_com(phi)))
    values, axes = np.linalg.eigh(second_moment_from_inertia(inertia))
    total = float(np.maximum(values, 0.0).sum())
    floor = max(LIFT * total, 0.51 * smallest)
    lift = np.maximum(floor - values, 0.0)
    if not lift.any():
        return _Central(mass, phi[1:4] / mass, inertia, "")
    inertia = inertia + inertia_from_second_moment((axes * lift) @ axes.T)
    why = (
        "so that no simulator takes it for impossible"
        if floor > 0.51 * smallest
        else f"for no moment to be below {smallest:g} kg m²"
    )
    change = (
        f"a body without thickness: its smallest second moment was raised from "
        f"{max(float(values[0]), 0.0):.3g} to {floor:.3g} kg m² "
        f"({floor / total if total else np.inf:.1g} of their sum), {why}"
    )
    return _Central(mass, phi[1:4] / mass, inertia, change)


def _without_noise(inertia: Mat33, noise: float) -> Mat33:
    """The inertia, products that are rounding of the shift to the centre of mass made zero."""
    return np.where((np.abs(inertia) <= noise) & ~np.eye(3, dtype=bool), 0.0, inertia)


def _is_safe(six: tuple[str, ...], smallest: float) -> bool:
    """Whether printed numbers keep half the distance to the edge, and A + B ≥ C to the last bit."""
    inertia = matrix_from_six(_floats(six), "urdf")
    values = np.linalg.eigvalsh(second_moment_from_inertia(inertia))
    if values[0] < 0.5 * max(LIFT * float(values.sum()), 0.5 * smallest):
        return False
    moments = values.sum() - values
    diagonal = np.diag(inertia)
    triangle = (diagonal.sum() - diagonal >= diagonal).all()
    return bool((moments >= smallest).all() and (diagonal >= smallest).all() and triangle)


def _clean(com: Vec3, inertia: Mat33, mass: float) -> Vec3:
    """The centre of mass, zero where it is rounding of the body's size."""
    size = np.sqrt(np.trace(inertia) / mass) + np.abs(com).max()
    return np.where(np.abs(com) < 1e-15 * size, 0.0, com)


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
    return np.array([float(text) for text in texts])
