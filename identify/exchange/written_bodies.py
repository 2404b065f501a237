"""Numbers of a link as they are written, and its shape of uniform density, to compare them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from identify.arrays import Array, Mat33, Vec3
from identify.exchange.link_geometry import ShapeInertia
from identify.exchange.link_inertia import LinkInertia
from identify.inertia.matrices import inertia_about_com, symmetric_from_entries

MAX_DEVIATION = 0.1
"""Largest deviation from the shape of a reading that fits, see `deviations_from_shape`."""

MIN_DEVIATION_AS_WRITTEN = 0.02
"""Smallest deviation from the shape of numbers that clearly do not fit."""


class WrittenBody(NamedTuple):
    """Numbers of a link as they are written, or corrected.

    Attributes:
        mass: [kg].
        com: in the link's axes, from its origin [m], shape (3,).
        axes: R_LC of the axes C of the inertia in the link's, shape (3, 3).
        inertia: about the centre of mass in C [kg m²], shape (3, 3).
        order: of the six numbers in the file, by its name in `ENTRY_ORDERS`.
        axes_in_other_unit: R_LC if its angles are in degrees instead of radians, or vice versa.
    """

    mass: float
    com: Vec3
    axes: Mat33
    inertia: Mat33
    order: str
    axes_in_other_unit: Mat33

    @property
    def inertia_in_link(self) -> Mat33:
        """Inertia about the centre of mass in the link's axes [kg m²]."""
        return self.axes @ self.inertia @ self.axes.T

    def with_inertia_in_link(self, inertia: Mat33) -> WrittenBody:
        """Return the body with another inertia about its centre of mass, in the link's axes."""
        return self._replace(inertia=self.axes.T @ inertia @ self.axes)


class UniformBody(NamedTuple):
    """Shape of a link filled with uniform density to the link's mass.

    Attributes:
        density: [kg/m³].
        volume: [m³].
        com: its centre of mass in the link's axes, from its origin [m], shape (3,).
        inertia: about it, in the link's axes [kg m²], shape (3, 3).
        parts: inertia of each part about its own centre of mass [kg m²], shape (k, 3, 3).
        rotations: R_LP of the parts' own axes P in the link's, shape (k, 3, 3).
        corners: of the parts' bounding boxes, in the link's axes [m], shape (n, 3).
    """

    density: float
    volume: float
    com: Vec3
    inertia: Mat33
    parts: Mat33
    rotations: Mat33
    corners: Vec3

    @classmethod
    def of_shape(cls, shape: ShapeInertia, mass: float) -> UniformBody:
        """Fill a shape to a mass [kg]."""
        phi = shape.phi
        density = mass / float(phi[0])
        return cls(
            density,
            float(phi[0]),
            phi[1:4] / phi[0],
            density * inertia_about_com(phi),
            density * inertia_about_com(shape.parts),
            shape.rotations,
            shape.corners,
        )


def written_body(link: LinkInertia) -> WrittenBody | None:
    """Return the numbers of a link with a mass in a model's file; None for other links."""
    if link.phi is None or link.printed is None or link.line is None or not link.phi[0] > 0.0:
        return None
    mass = float(link.phi[0])
    six = symmetric_from_entries(link.printed[4:])
    axes = link.axes if link.axes_in_other_unit is None else link.axes_in_other_unit
    return WrittenBody(mass, link.phi[1:4] / mass, link.axes, six, link.order, axes)


def deviations_from_shape(bodies: Sequence[WrittenBody], uniform: UniformBody) -> Array:
    """Return how far bodies are from a shape of their mass and of uniform density, shape (n,).

    This is the largest |ΔI_ij| / √(I_ii I_jj) about the centre of mass in the link's axes, with I
    of the shape, and the distance of the centres of mass over the shape's radius of gyration.
    """
    total = uniform.density * uniform.volume
    masses = np.array([body.mass for body in bodies]) / total
    inertias = np.array([body.inertia for body in bodies]) / masses[:, None, None]
    axes = np.array([body.axes for body in bodies])
    excess = axes @ inertias @ np.swapaxes(axes, -1, -2) - uniform.inertia
    sizes = np.sqrt(np.diag(uniform.inertia))
    off = np.abs(excess / (sizes[:, None] * sizes)).max(axis=(-2, -1))
    distances = np.linalg.norm(np.array([body.com for body in bodies]) - uniform.com, axis=-1)
    return np.maximum(off, distances / math.sqrt(0.5 * float(np.trace(uniform.inertia)) / total))
