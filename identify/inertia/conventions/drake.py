"""Drake: `SpatialInertia(mass, p_PScm_E, G_SP_E)` and its 6×6 matrix, which is angular first.

The unit inertia G is that of one kilogram, about P and **not** about the centre of mass. P is the
body's origin here, E its axes. `SpatialInertia.MakeFromCentralInertia` takes the inertia about the
centre of mass instead: the arguments of `PinocchioInertia`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Mat66, Phi, Vec3
from identify.inertia.conventions.central import require_mass
from identify.inertia.conventions.sealing import require_symmetric, seal_fields, seal_phi
from identify.inertia.conventions.six_orders import six_in_order
from identify.inertia.conventions.spatial_matrix import phi_from_spatial_matrix, spatial_matrix
from identify.inertia.matrices import inertia_about_origin, six_from_symmetric


@dataclass(frozen=True, slots=True)
class DrakeSpatialInertia:
    """Arguments of Drake's `SpatialInertia`.

    With `G = UnitInertia(*self.moments, *self.products)` it is `SpatialInertia(mass, p_PScm_E, G)`.

    Attributes:
        mass: [kg], shape (...).
        p_PScm_E: centre of mass from the body's origin [m], shape (..., 3).
        G_SP_E: unit inertia about the body's origin, I_BBo_B / m [m²], shape (..., 3, 3).
    """

    mass: Array
    p_PScm_E: Vec3
    G_SP_E: Mat33

    def __post_init__(self) -> None:
        seal_fields(self, {"mass": (), "p_PScm_E": (3,), "G_SP_E": (3, 3)})
        require_symmetric(self.G_SP_E, "DrakeSpatialInertia.G_SP_E")

    @classmethod
    def from_phi(cls, phi: ArrayLike) -> Self:
        """Arguments of ten parameters; a mass of zero raises `ModelError`."""
        phi = seal_phi(phi)
        require_mass(phi, "Drake SpatialInertia")
        mass = phi[..., 0]
        return cls(mass, phi[..., 1:4] / mass[..., None], _unit(phi))

    def to_phi(self) -> Phi:
        """Ten parameters, shape (..., 10)."""
        mass = self.mass[..., None]
        six = mass * six_from_symmetric(self.G_SP_E)
        return np.concatenate((mass, mass * self.p_PScm_E, six), axis=-1)

    @property
    def moments(self) -> Vec3:
        """Gxx, Gyy, Gzz, as `UnitInertia.get_moments()` [m²], shape (..., 3)."""
        return six_in_order(self.G_SP_E, "drake")[..., :3]

    @property
    def products(self) -> Vec3:
        """Gxy, Gxz, Gyz, as `UnitInertia.get_products()` [m²], shape (..., 3)."""
        return six_in_order(self.G_SP_E, "drake")[..., 3:]


def drake_matrix(phi: ArrayLike) -> Mat66:
    """`SpatialInertia.CopyToFullMatrix6()`: angular first, shape (..., 10) to (..., 6, 6)."""
    return spatial_matrix(phi, "angular first")


def phi_from_drake_matrix(matrix: ArrayLike) -> Phi:
    """Ten parameters of Drake's 6×6 matrix; inverse of `drake_matrix`."""
    return phi_from_spatial_matrix(matrix, "angular first")


def _unit(phi: Phi) -> Mat33:
    return inertia_about_origin(phi) / phi[..., 0, None, None]
