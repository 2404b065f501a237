"""DART: `dart::dynamics::Inertia`, by its arguments, its ten parameters and its spatial tensor.

The moment is about the centre of mass, in the body's axes; the tensor, angular first, is about the
body's origin, and DART goes from one to the other by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Mat66, Phi, Vec3
from identify.inertia.conventions.central import central_inertia, require_mass
from identify.inertia.conventions.sealing import (
    require_symmetric,
    seal_batch,
    seal_fields,
    seal_phi,
)
from identify.inertia.conventions.six_orders import matrix_from_six, six_in_order
from identify.inertia.conventions.spatial_matrix import phi_from_spatial_matrix, spatial_matrix
from identify.inertia.matrices import phi_from_inertia


@dataclass(frozen=True, slots=True)
class DartInertia:
    """Arguments of DART's `Inertia(mass, com, momentOfInertia)`.

    Attributes:
        mass: [kg], shape (...).
        com: local centre of mass [m], shape (..., 3).
        moment: about the centre of mass, in the body's axes [kg m²], shape (..., 3, 3).
    """

    mass: Array
    com: Vec3
    moment: Mat33

    def __post_init__(self) -> None:
        seal_fields(self, {"mass": (), "com": (3,), "moment": (3, 3)})
        require_symmetric(self.moment, "DartInertia.moment")

    @classmethod
    def from_phi(cls, phi: ArrayLike) -> Self:
        """Arguments of ten parameters; a mass of zero raises `ModelError`."""
        return cls(*central_inertia(phi, "DART Inertia"))

    def to_phi(self) -> Phi:
        """Ten parameters, shape (..., 10)."""
        return phi_from_inertia(self.mass, self.com, self.moment)


def dart_parameters(phi: ArrayLike) -> Array:
    """DART's ten numbers [m, cx, cy, cz, Ixx, Iyy, Izz, Ixy, Ixz, Iyz], inertia about the CoM.

    Arguments of the C++ constructor with ten numbers, in the order of its enumeration `Param`: the
    centre of mass itself, not the first moment.

    Args:
        phi: shape (..., 10), mass not zero.

    Returns:
        Shape (..., 10).
    """
    mass, com, inertia = central_inertia(phi, "DART parameters")
    return np.concatenate((mass[..., None], com, six_in_order(inertia, "dart")), axis=-1)


def phi_from_dart_parameters(parameters: ArrayLike) -> Phi:
    """Ten parameters of DART's; inverse of `dart_parameters`."""
    values = seal_batch(parameters, "DART parameters", (10,))
    inertia = matrix_from_six(values[..., 4:], "dart")
    return phi_from_inertia(values[..., 0], values[..., 1:4], inertia)


def dart_spatial_tensor(phi: ArrayLike) -> Mat66:
    """`Inertia::getSpatialTensor()`: about the origin, angular first, shape (..., 6, 6).

    A mass of zero raises `ModelError`: DART divides by it when a tensor is set.
    """
    phi = seal_phi(phi)
    require_mass(phi, "DART spatial tensor")
    return spatial_matrix(phi, "angular first")


def phi_from_dart_spatial_tensor(tensor: ArrayLike) -> Phi:
    """Ten parameters of DART's spatial tensor; inverse of `dart_spatial_tensor`."""
    return phi_from_spatial_matrix(tensor, "angular first")
