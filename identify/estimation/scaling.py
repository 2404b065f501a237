"""Scaling of the unknowns: bodies get mass one and size one about their centres of mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from identify.arrays import Array, Phi, Vec3
from identify.inertia import inertia_about_com
from identify.inertia.frames import congruence_map
from identify.regressors import ParameterSpace

_LENGTH_POWERS = np.repeat([0.0, 1.0, 2.0], [1, 3, 6])
"""Exponents of length in the units of the ten parameters."""


@dataclass(frozen=True, slots=True)
class BodyScaling:
    """Scaling of a body to parameters theta: Pi_theta = T Pi Tᵀ / mass, T = [[1/L, −c/L], [0, 1]].

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

    @classmethod
    def of_body(cls, phi: Phi) -> BodyScaling:
        """Return the scaling by mass, root mean square radius and centre of mass of a body."""
        mass = float(phi[0])
        length = float(np.sqrt(0.5 * np.trace(inertia_about_com(phi)) / mass))
        return cls(mass, length, phi[1:4] / mass)

    @property
    def units(self) -> Array:
        """Units of the ten parameters about the centre of mass [SI], shape (10,)."""
        return self.mass * self.length**_LENGTH_POWERS

    @property
    def to_phi(self) -> Array:
        """Matrix that maps theta to phi, shape (10, 10)."""
        T = np.eye(4)
        T[:3, :3] *= self.length
        T[:3, 3] = self.com
        return self.mass * congruence_map(T)

    @property
    def to_theta(self) -> Array:
        """Matrix that maps phi to theta, shape (10, 10)."""
        T = np.eye(4)
        T[:3, :3] /= self.length
        T[:3, 3] = -self.com / self.length
        return congruence_map(T) / self.mass


@dataclass(frozen=True)
class Scaling:
    """Scaling of all unknowns of a space: x = `to_x` theta.

    Attributes:
        space: parameter space of the unknowns.
        bodies: scaling of each body.
        units: unit of each scalar, shape (s,).
        to_x: matrix of theta → x, shape (p, p).
    """

    space: ParameterSpace
    bodies: tuple[BodyScaling, ...]
    units: Array
    to_x: Array

    @classmethod
    def of(cls, space: ParameterSpace, x: Array, lengths: Sequence[float], units: Array) -> Scaling:
        """Return the scaling by the masses and centres of mass in given unknowns.

        A body with a default has the units of that, wherever its unknowns are.

        `x`: unknowns [SI] with positive masses of bodies without a default, shape (p,); `lengths`:
        unit of length of each body without a default [m]; `units`: units of the scalars.
        """
        bodies = []
        for number, length in enumerate(lengths):
            phi, default = x[space.body_slice(number)], space.default_parameters(number)
            if default is not None:
                bodies.append(BodyScaling.of_body(default))
            else:
                bodies.append(BodyScaling(float(phi[0]), length, phi[1:4] / phi[0]))
        return cls(
            space, tuple(bodies), units, _block_diagonal([body.to_phi for body in bodies], units)
        )

    @cached_property
    def to_theta(self) -> Array:
        """Matrix that maps x to theta, the inverse of `to_x`, shape (p, p)."""
        return _block_diagonal([body.to_theta for body in self.bodies], 1.0 / self.units)

    def x(self, theta: Array) -> Array:
        """Convert scaled unknowns to SI."""
        return self.to_x @ theta

    def theta(self, x: Array) -> Array:
        """Convert unknowns in SI to scaled unknowns."""
        return self.to_theta @ x


def _block_diagonal(blocks: Sequence[Array], factors: Array) -> Array:
    """Form the block-diagonal matrix of the bodies' matrices and the scalars' factors."""
    if len(blocks) == 1 and not len(factors):
        return blocks[0]
    start = 10 * len(blocks)
    matrix = np.zeros((start + len(factors), start + len(factors)))
    for number, block in enumerate(blocks):
        matrix[10 * number : 10 * number + 10, 10 * number : 10 * number + 10] = block
    scalars = np.arange(start, start + len(factors))
    matrix[scalars, scalars] = factors
    return matrix
