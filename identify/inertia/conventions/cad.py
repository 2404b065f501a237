"""CAD programs: mass properties as they print them, with the sign of products of inertia said.

SolidWorks prints `positive tensor notation` unless told otherwise: the off-diagonal entries are
+∫ρ x y dV, the opposite of an inertia matrix's. It prints the matrix twice, about the centre of
mass (L) and about the origin of the output coordinate system (I). Units are the reader's to mend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Phi, Vec3
from identify.errors import ModelError
from identify.inertia.conventions.central import central_inertia
from identify.inertia.conventions.sealing import require_symmetric, seal_fields, seal_phi
from identify.inertia.conventions.six_orders import Products, signed
from identify.inertia.matrices import inertia_about_origin, phi_from_inertia, six_from_symmetric

Point: TypeAlias = Literal["centre of mass", "origin"]


@dataclass(frozen=True, slots=True)
class CadMassProperties:
    """Mass properties in axes of the output coordinate system.

    Attributes:
        mass: [kg], shape (...).
        com: centre of mass [m], shape (..., 3).
        inertia: the matrix as it is printed [kg m²], shape (..., 3, 3).
        products: sign of its products of inertia.
        point: what it is about.
    """

    mass: Array
    com: Vec3
    inertia: Mat33
    products: Products = "positive"
    point: Point = "centre of mass"

    def __post_init__(self) -> None:
        seal_fields(self, {"mass": (), "com": (3,), "inertia": (3, 3)})
        require_symmetric(self.inertia, "CadMassProperties.inertia")
        signed(self.inertia, self.products)
        if self.point not in ("centre of mass", "origin"):
            raise ModelError(f"point: expected 'centre of mass' or 'origin', got {self.point!r}")

    @classmethod
    def from_phi(
        cls,
        phi: ArrayLike,
        products: Products = "positive",
        point: Point = "centre of mass",
    ) -> Self:
        """What a CAD program prints of ten parameters; a mass of zero raises `ModelError`."""
        mass, com, inertia = central_inertia(phi, "CAD mass properties")
        if point == "origin":
            inertia = inertia_about_origin(seal_phi(phi))
        return cls(mass, com, signed(inertia, products), products, point)

    def to_phi(self) -> Phi:
        """Ten parameters about the origin of the coordinate system, shape (..., 10)."""
        inertia = signed(self.inertia, self.products)
        if self.point == "centre of mass":
            return phi_from_inertia(self.mass, self.com, inertia)
        mass = self.mass[..., None]
        return np.concatenate((mass, mass * self.com, six_from_symmetric(inertia)), axis=-1)
