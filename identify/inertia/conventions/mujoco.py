"""MuJoCo: the attributes of MJCF's `inertial`, with principal moments or with the full inertia.

Both are about the centre of mass. `diaginertia` is in the frame that `quat` (scalar first) turns;
`fullinertia` is in axes of the body and admits no `quat` beside it. From `fullinertia` the compiler
makes principal moments in descending order; `diaginertia` it keeps as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Flags, Phi, Vec3, Vec4
from identify.errors import ModelError
from identify.inertia.conventions.central import CentralInertia, InertialFrame, central_inertia
from identify.inertia.conventions.principal import principal_frame
from identify.inertia.conventions.quaternions import rotation_from_wxyz, wxyz_from_rotation
from identify.inertia.conventions.sealing import seal_fields
from identify.inertia.conventions.six_orders import matrix_from_six, six_in_order
from identify.inertia.matrices import phi_from_inertia
from identify.spatial import Pose

SMALLEST_INERTIA = 1e-15
"""Smallest mass [kg] and `diaginertia` [kg m²] of a moving body that compiles (mjMINVAL)."""

SMALLEST_FULL_INERTIA = 1e-14
"""Smallest principal moment that `fullinertia` may have [kg m²] (mjEPS): ten times the other."""


@dataclass(frozen=True, slots=True)
class MujocoInertial:
    """`<inertial pos quat mass diaginertia>`.

    Attributes:
        mass: [kg], shape (...).
        pos: centre of mass in the body's frame [m], shape (..., 3).
        quat_wxyz: of the principal axes in the body's frame, scalar first, shape (..., 4).
        diaginertia: principal moments about the centre of mass [kg m²], shape (..., 3).
    """

    mass: Array
    pos: Vec3
    quat_wxyz: Vec4
    diaginertia: Vec3

    def __post_init__(self) -> None:
        seal_fields(self, {"mass": (), "pos": (3,), "quat_wxyz": (4,), "diaginertia": (3,)})

    @classmethod
    def from_phi(cls, phi: ArrayLike) -> Self:
        """The attributes of ten parameters: moments in descending order, as the compiler's own.

        Raises:
            ModelError: a mass of zero or below it.
        """
        mass, com, inertia = _central_inertia(phi)
        moments, R = principal_frame(inertia, "descending")
        return cls(mass, com, wxyz_from_rotation(R), moments)

    def to_phi(self) -> Phi:
        """Ten parameters about the body's origin, shape (..., 10)."""
        X_BC = Pose(rotation_from_wxyz(self.quat_wxyz), self.pos)
        inertia = self.diaginertia[..., None, :] * np.eye(3)
        return InertialFrame(self.mass, X_BC, inertia).phi

    @property
    def compiles(self) -> Flags:
        """Whether MuJoCo's compiler takes the numbers for a moving body, shape (...).

        It wants the mass and the moments at `SMALLEST_INERTIA` or above, and A + B ≥ C exactly,
        rounding not forgiven, for any order of the moments (unless `balanceinertia` is on).
        """
        a, b, c = np.moveaxis(self.diaginertia, -1, 0)
        large = (self.mass >= SMALLEST_INERTIA) & (self.diaginertia >= SMALLEST_INERTIA).all(-1)
        return large & (a + b >= c) & (a + c >= b) & (b + c >= a)


@dataclass(frozen=True, slots=True)
class MujocoFullInertial:
    """`<inertial pos mass fullinertia>`.

    Attributes:
        mass: [kg], shape (...).
        pos: centre of mass in the body's frame [m], shape (..., 3).
        fullinertia: Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the centre of mass, in the body's axes
            [kg m²], shape (..., 6).
    """

    mass: Array
    pos: Vec3
    fullinertia: Array

    def __post_init__(self) -> None:
        seal_fields(self, {"mass": (), "pos": (3,), "fullinertia": (6,)})

    @classmethod
    def from_phi(cls, phi: ArrayLike) -> Self:
        """The attributes of ten parameters.

        Raises:
            ModelError: a mass of zero or below it.
        """
        mass, com, inertia = _central_inertia(phi)
        return cls(mass, com, six_in_order(inertia, "mujoco"))

    def to_phi(self) -> Phi:
        """Ten parameters about the body's origin, shape (..., 10)."""
        inertia = matrix_from_six(self.fullinertia, "mujoco")
        return phi_from_inertia(self.mass, self.pos, inertia)


def _central_inertia(phi: ArrayLike) -> CentralInertia:
    central = central_inertia(phi, "MuJoCo inertial")
    if (central.mass < 0.0).any():
        raise ModelError(
            f"MuJoCo inertial: a mass of {central.mass.min():g} kg; MJCF allows none below zero"
        )
    return central
