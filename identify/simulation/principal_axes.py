"""Body stored as principal moments and a quaternion of the principal axes.

The angular momentum in W of a body that turns with ω then needs no matrix: with q = q_WB ⊗ q_BP,

    L = q ◇ (I_d ⊙ (q⁻¹ ◇ ω)),    ω = q ◇ (I_d⁻¹ ⊙ (q⁻¹ ◇ L)),

where ◇ rotates a vector by a quaternion and ⊙ multiplies entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from identify.arrays import Array, Phi, PhiLike, Vec3, Vec4, seal
from identify.inertia import phi_from_inertia
from identify.inertia.conventions import principal_frame
from identify.inertia.conventions.mass_properties import central_inertia
from identify.spatial import quaternion_from_rotation, quaternion_product
from identify.spatial.rotations import (
    cross,
    normalised_quaternion,
    quaternion_conjugate,
    rotation_from_unit_quaternion,
)


@dataclass(frozen=True, slots=True)
class PrincipalBody:
    """Mass, centre of mass, and principal moments and axes about the centre of mass.

    Attributes:
        mass: [kg], shape (...).
        com: p_BoBcm_B [m], shape (..., 3).
        moments: principal moments about the centre of mass [kg m²], shape (..., 3).
        quaternion: R_BP, whose columns are the principal axes in B, shape (..., 4); normalised
            here.

    Raises:
        ModelError: numbers that are not finite, other shapes, or a quaternion of zeros.
    """

    mass: Array
    com: Vec3
    moments: Vec3
    quaternion: Vec4

    def __post_init__(self) -> None:
        for name, last in (("mass", ()), ("com", (3,)), ("moments", (3,)), ("quaternion", (4,))):
            array = seal(getattr(self, name), f"principal body: {name}", (..., *last))
            if name == "quaternion":
                array = normalised_quaternion(array)
                array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, phi: PhiLike) -> PrincipalBody:
        """Create principal bodies from ten parameters about Bo in B, shape (..., 10).

        Moments are ascending. The axes are right-handed, and orthonormal also for repeated
        moments: of the four choices of sign the one nearest to the body's axes is used.

        Raises:
            ModelError: not ten finite numbers, or a mass of zero.
        """
        mass, com, inertia = central_inertia(phi, "principal axes")
        moments, axes = principal_frame(inertia)
        return cls(mass, com, moments, quaternion_from_rotation(axes))

    @property
    def phi(self) -> Phi:
        """Ten parameters about Bo in B, shape (..., 10)."""
        R = rotation_from_unit_quaternion(self.quaternion)
        inertia = (R * self.moments[..., None, :]) @ np.swapaxes(R, -1, -2)
        return phi_from_inertia(self.mass, self.com, inertia)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the ten parameters as an array."""
        return np.asarray(self.phi, dtype=dtype)

    def angular_momentum(self, attitude: Vec4, angular_velocity: Vec3) -> Vec3:
        """Compute the angular momentum L about the centre of mass in W from ω in W.

        Args:
            attitude: R_WB, unit quaternions, shape (..., 4).
            angular_velocity: w_WB_W [rad/s], shape (..., 3).

        Returns:
            [kg m²/s], shape (..., 3).
        """
        q = quaternion_product(attitude, self.quaternion)
        return rotate_by_quaternion(
            q, self.moments * rotate_by_quaternion(quaternion_conjugate(q), angular_velocity)
        )

    def angular_velocity(self, attitude: Vec4, angular_momentum: Vec3) -> Vec3:
        """Compute ω in W from the angular momentum about the centre of mass in W."""
        q = quaternion_product(attitude, self.quaternion)
        return rotate_by_quaternion(
            q, rotate_by_quaternion(quaternion_conjugate(q), angular_momentum) / self.moments
        )


def rotate_by_quaternion(q: Vec4, v: Vec3) -> Vec3:
    """Rotate vectors by unit quaternions, q v q⁻¹, without a matrix, shape (..., 3)."""
    axis = q[..., :3]
    twice = 2.0 * cross(axis, v)
    return v + q[..., 3:] * twice + cross(axis, twice)
