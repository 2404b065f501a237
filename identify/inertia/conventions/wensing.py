"""Wensing's vector of ten, as spatial_v2_extended computes with it, about the body's origin.

[m, hx, hy, hz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy]. The comments of that library's `inertiaVecToMat` and
`inertiaMatToVec` list the last three as Ixy, Ixz, Iyz; its code, which this follows, does not.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from identify.arrays import Array, Phi
from identify.inertia.conventions.ten_orders import phi_from_ten, ten_from_phi


def wensing_parameters(phi: ArrayLike) -> Array:
    """Wensing's ten parameters, shape (..., 10) to (..., 10)."""
    return ten_from_phi(phi, "wensing")


def phi_from_wensing_parameters(parameters: ArrayLike) -> Phi:
    """Ten parameters of Wensing's; inverse of `wensing_parameters`."""
    return phi_from_ten(parameters, "wensing")
