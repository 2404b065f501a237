"""Units in which every body is alike: mass one, about its centre of mass, of unit size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from identify.arrays import Array, Vec3
from identify.inertia.frames import congruence_map
from identify.regressors import ParameterSpace


@dataclass(frozen=True, slots=True)
class BodyScaling:
    """Congruence to scaled parameters theta: Pi_theta = T Pi Tᵀ / mass, T = [[1/L, −c/L], [0, 1]].

    A gram of screw and a hundred tonnes of satellite then pose the same problem, and since it is a
    congruence, Pi_theta ⪰ 0 if and only if Pi ⪰ 0. Only the reference point moves, not the axes, so
    each theta stands for the phi of the same name.

    Attributes:
        mass: unit of mass [kg].
        length: unit of length L [m].
        com: centre of mass that the reference point is moved to [m], shape (3,).
    """

    mass: float
    length: float
    com: Vec3

    @property
    def to_phi(self) -> Array:
        """Matrix of theta → phi, shape (10, 10)."""
        T = np.eye(4)
        T[:3, :3] *= self.length
        T[:3, 3] = self.com
        return self.mass * congruence_map(T)

    @property
    def to_theta(self) -> Array:
        """Matrix of phi → theta, shape (10, 10)."""
        T = np.eye(4)
        T[:3, :3] /= self.length
        T[:3, 3] = -self.com / self.length
        return congruence_map(T) / self.mass


@dataclass(frozen=True, slots=True)
class Scaling:
    """The units of all unknowns of a space: x = `to_x` theta.

    Attributes:
        space: of the unknowns.
        bodies: the congruence of each.
        units: of each scalar, shape (s,).
        to_x: matrix of theta → x, shape (p, p).
        to_theta: its inverse.
    """

    space: ParameterSpace
    bodies: tuple[BodyScaling, ...]
    units: Array
    to_x: Array
    to_theta: Array

    @classmethod
    def of(cls, space: ParameterSpace, x: Array, lengths: Sequence[float], units: Array) -> Scaling:
        """The scaling of bodies of about these masses and centres of mass.

        Args:
            space: of the unknowns.
            x: unknowns [SI], whose masses are positive, shape (p,).
            lengths: unit of length of each body [m].
            units: of the scalars.
        """
        bodies = []
        for number, length in enumerate(lengths):
            phi = x[space.of_body(number)]
            bodies.append(BodyScaling(float(phi[0]), length, phi[1:4] / phi[0]))
        p = len(space)
        to_x, to_theta = np.zeros((p, p)), np.zeros((p, p))
        for number, body in enumerate(bodies):
            block = space.of_body(number)
            to_x[block, block], to_theta[block, block] = body.to_phi, body.to_theta
        rest = np.arange(p)[space.of_scalars]
        to_x[rest, rest], to_theta[rest, rest] = units, 1.0 / units
        return cls(space, tuple(bodies), units, to_x, to_theta)

    def x(self, theta: Array) -> Array:
        """Unknowns in SI from scaled ones."""
        return self.to_x @ theta

    def theta(self, x: Array) -> Array:
        """Scaled unknowns from those in SI."""
        return self.to_theta @ x
