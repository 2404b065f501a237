"""Units in which every body is alike: mass one, about its centre of mass, of unit size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Phi, Vec3
from identify.inertia.frames import congruence_map


@dataclass(frozen=True, slots=True)
class Scaling:
    """Congruence to scaled parameters theta: Pi_theta = T Pi Tᵀ / mass, T = [[1/L, −c/L], [0, 1]].

    A gram of screw and a hundred tonnes of satellite then pose the same problem, and since it is a
    congruence, Pi_theta ⪰ 0 if and only if Pi ⪰ 0. phi = `to_phi` theta is linear. Only the
    reference point moves, not the axes, so each theta stands for the phi of the same name.

    Attributes:
        mass: unit of mass [kg].
        length: unit of length L [m].
        com: centre of mass that the reference point is moved to [m], shape (3,).
        to_phi: matrix of theta → phi, shape (10, 10).
        to_theta: its inverse.
    """

    mass: float
    length: float
    com: Vec3
    to_phi: Array
    to_theta: Array

    @classmethod
    def of(cls, mass: float, length: float, com: Vec3) -> Scaling:
        """The scaling of a body of about this mass, size and centre of mass."""
        T = np.eye(4)
        T[:3, :3] /= length
        T[:3, 3] = -np.asarray(com) / length
        inverse = np.eye(4)
        inverse[:3, :3] *= length
        inverse[:3, 3] = com
        return cls(
            mass=mass,
            length=length,
            com=np.asarray(com, dtype=np.float64),
            to_phi=mass * congruence_map(inverse),
            to_theta=congruence_map(T) / mass,
        )

    def phi(self, theta: Array) -> Phi:
        """Parameters in SI about Bo from scaled ones."""
        return self.to_phi @ theta

    def theta(self, phi: Phi) -> Array:
        """Scaled parameters from those in SI about Bo."""
        return self.to_theta @ phi
