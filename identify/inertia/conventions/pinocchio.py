"""Pinocchio: dynamic parameters, and what `pinocchio.Inertia` is constructed from.

Spatial vectors are linear first, as ours; `Inertia.matrix()` is our spatial inertia.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.inertia.conventions.central import central_inertia
from identify.inertia.conventions.sealing import require_symmetric, seal_fields
from identify.inertia.conventions.ten_orders import phi_from_ten, ten_from_phi
from identify.inertia.matrices import phi_from_inertia


def dynamic_parameters(phi: ArrayLike) -> Array:
    """Pinocchio's dynamic parameters [m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] about the origin.

    As of `Inertia.toDynamicParameters()`, `FromDynamicParameters` and the columns of its
    regressors.

    Args:
        phi: shape (..., 10).

    Returns:
        Shape (..., 10).
    """
    return ten_from_phi(phi, "pinocchio")


def phi_from_dynamic_parameters(parameters: ArrayLike) -> Phi:
    """Ten parameters of Pinocchio's; inverse of `dynamic_parameters`."""
    return phi_from_ten(parameters, "pinocchio")


@dataclass(frozen=True, slots=True)
class PinocchioInertia:
    """Arguments of `pinocchio.Inertia(mass, lever, inertia)`.

    Attributes:
        mass: [kg], shape (...).
        lever: centre of mass in the body's frame [m], shape (..., 3).
        inertia: about the centre of mass, in the body's axes [kg m²], shape (..., 3, 3).
    """

    mass: Array
    lever: Vec3
    inertia: Mat33

    def __post_init__(self) -> None:
        seal_fields(self, {"mass": (), "lever": (3,), "inertia": (3, 3)})
        require_symmetric(self.inertia, "PinocchioInertia.inertia")

    @classmethod
    def from_phi(cls, phi: ArrayLike) -> Self:
        """Arguments of ten parameters; a mass of zero raises `ModelError`."""
        return cls(*central_inertia(phi, "Pinocchio Inertia"))

    def to_phi(self) -> Phi:
        """Ten parameters, shape (..., 10)."""
        return phi_from_inertia(self.mass, self.lever, self.inertia)
