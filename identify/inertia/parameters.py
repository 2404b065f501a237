"""`InertialParameters`: the ten parameters of one body; the body that stands in for one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Mat44, Mat66, Phi, Vec3, seal
from identify.errors import ModelError
from identify.inertia.consistency import is_consistent
from identify.inertia.frames import in_frame
from identify.inertia.matrices import (
    inertia_about_com,
    inertia_about_origin,
    phi_from_inertia,
    pseudo_inertia,
    spatial_inertia,
)
from identify.spatial import Pose

PHI = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
"""Names of the ten parameters, in the only order the toolkit uses."""

UNITS = ("kg", "kg m", "kg m", "kg m", *("kg m²",) * 6)
"""Units of the ten parameters."""

DEFAULT_DENSITY = 1000.0
"""Density of the default body [kg/m³]: that of water, between plastics with voids and metals."""

_ASYMMETRY = 1e-9


@dataclass(frozen=True, slots=True)
class InertialParameters:
    """The ten inertial parameters of a rigid body about Bo in B.

    Any ten finite numbers are admitted: whether they are a possible body is what `consistent` says.

    Attributes:
        phi: [m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], h = m c [kg, kg m, kg m²], shape (10,).
    """

    phi: Phi

    def __post_init__(self) -> None:
        object.__setattr__(self, "phi", seal(self.phi, "phi", (10,)))

    @classmethod
    def from_com(
        cls, mass: float, com: ArrayLike, inertia_about_com: ArrayLike
    ) -> InertialParameters:
        """Parameters from mass [kg], centre of mass in B [m] and I_BBcm_B [kg m²].

        Raises:
            ModelError: another shape, not finite, or an inertia that is not symmetric.
        """
        com = seal(com, "com", (3,))
        inertia = seal(inertia_about_com, "inertia_about_com", (3, 3))
        if np.abs(inertia - inertia.T).max() > _ASYMMETRY * np.abs(inertia).max():
            raise ModelError(
                f"inertia_about_com: expected a symmetric matrix, got {inertia.tolist()}"
            )
        with np.errstate(invalid="ignore"):  # an infinite mass is refused with the rest of phi
            return cls(phi_from_inertia(mass, com, inertia))

    @property
    def mass(self) -> float:
        """Mass m [kg]."""
        return float(self.phi[0])

    @property
    def first_moment(self) -> Vec3:
        """First moment of mass h = m c [kg m], shape (3,)."""
        return self.phi[1:4]

    @property
    def com(self) -> Vec3:
        """Centre of mass p_BoBcm_B [m], shape (3,).

        Raises:
            ModelError: the mass is zero.
        """
        self._require_mass("a centre of mass")
        return self.phi[1:4] / self.phi[0]

    @property
    def inertia_about_com(self) -> Mat33:
        """I_BBcm_B [kg m²], shape (3, 3).

        Raises:
            ModelError: the mass is zero.
        """
        self._require_mass("an inertia about the centre of mass")
        return inertia_about_com(self.phi)

    @property
    def inertia_about_origin(self) -> Mat33:
        """I_BBo_B [kg m²], shape (3, 3)."""
        return inertia_about_origin(self.phi)

    @property
    def pseudo_inertia(self) -> Mat44:
        """Pi about Bo in B, shape (4, 4)."""
        return pseudo_inertia(self.phi)

    @property
    def spatial_inertia(self) -> Mat66:
        """M about Bo in B, linear first, shape (6, 6)."""
        return spatial_inertia(self.phi)

    @property
    def principal_moments(self) -> Array:
        """Principal moments of inertia about the centre of mass, ascending [kg m²], shape (3,)."""
        return np.linalg.eigvalsh(self.inertia_about_com)

    @property
    def consistent(self) -> bool:
        """Whether some mass density realises the body: m > 0 and Pi ⪰ 0, up to rounding."""
        return bool(is_consistent(self.phi))

    def in_frame(self, X_AB: Pose) -> InertialParameters:
        """The same body about Ao in A, where `X_AB` is the pose of this frame B in A."""
        return InertialParameters(in_frame(self.phi, X_AB))

    def _require_mass(self, what: str) -> None:
        if self.phi[0] == 0.0:
            raise ModelError(
                f"a body without mass has no {what.removeprefix('a ').removeprefix('an ')}"
            )


def default_radius(mass: float) -> float:
    """Radius of the default ball of a mass [m]."""
    return float(np.cbrt(3.0 * mass / (4.0 * np.pi * DEFAULT_DENSITY)))


def default_body(mass: float, com: Vec3) -> Phi:
    """A solid ball of `DEFAULT_DENSITY` about the centre of mass: I_c = 2/5 m r² 1.

    Args:
        mass: [kg], positive.
        com: p_BoBcm_B [m], shape (3,).

    Returns:
        Its ten parameters about Bo, shape (10,).
    """
    return phi_from_inertia(mass, com, 0.4 * mass * default_radius(mass) ** 2 * np.eye(3))
