"""Named orders of the six entries of an inertia and of the two parts of a twist.

Products of inertia called `negative` are the matrix's off-diagonal entries, Ixy = −∫ρ x y dV, as in
phi and nearly everywhere; `positive` ones, +∫ρ x y dV, are SolidWorks' positive tensor notation,
its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33, Mat66, Phi, PhiLike, seal
from identify.documents import lookup
from identify.errors import ModelError
from identify.inertia.conventions.mass_properties import require_mass, seal_phi
from identify.inertia.matrices import (
    entries_from_symmetric,
    inertia_about_com,
    inertia_about_origin,
    phi_from_inertia,
    spatial_inertia,
    swap_spatial_order,
    symmetric_from_entries,
)
from identify.spatial import vee

ProductSign: TypeAlias = Literal["negative", "positive", "none"]
"""Sign of the products of inertia; `none` if all are zero by definition."""
ReferencePoint: TypeAlias = Literal["origin", "centre of mass", "mixed"]
"""Reference point of an inertia; `mixed` is Gazebo's body matrix, with blocks of two points."""
SpatialOrder: TypeAlias = Literal["linear first", "angular first"]

ENTRIES_BY_ROWS = ("xx", "xy", "xz", "yy", "yz", "zz")
"""Upper triangle of an inertia matrix by rows."""
_BY_COLUMNS = ("xx", "xy", "yy", "xz", "yz", "zz")
"""Upper triangle of an inertia matrix by columns."""
_DIAGONAL_FIRST = ("xx", "yy", "zz", "xy", "xz", "yz")
"""Diagonal entries, then xy, xz, yz."""
_VOIGT = ("xx", "yy", "zz", "yz", "xz", "xy")
"""Diagonal entries, then yz, xz, xy, as in Voigt notation."""

ENTRY_ORDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("identify", "rigeo", "ros", "sdf", "urdf"), ENTRIES_BY_ROWS),
        "pinocchio": _BY_COLUMNS,
        **dict.fromkeys(("dart", "drake", "gazebo", "mujoco"), _DIAGONAL_FIRST),
        **dict.fromkeys(("voigt", "wensing"), _VOIGT),
        "cyclic": ("xx", "yy", "zz", "xy", "yz", "zx"),
    }
)
"""Named orders of the six independent entries of an inertia matrix. The upper triangle by rows
(`identify`) equals the lower triangle by columns; `pinocchio` is the lower triangle by rows."""

_STRUCTURE_TOLERANCE = 1e-9
"""Largest deviation of a 6×6 matrix from the form [[m 1, −ĥ], [ĥ, I]], relative to its entries."""


def matrix_from_entries(six: ArrayLike, order: str, products: ProductSign = "negative") -> Mat33:
    """Build inertia matrices from six independent entries in a named order.

    Args:
        six: shape (..., 6).
        order: a name in `ENTRY_ORDERS`.
        products: sign of the products of inertia among the six.

    Returns:
        Inertia matrices, shape (..., 3, 3).

    Raises:
        ModelError: an unknown name, or not six finite numbers.
    """
    six = seal(six, f"six numbers ({order})", (..., 6))
    return convert_product_sign(
        symmetric_from_entries(six[..., np.argsort(_entry_indices(order))]), products
    )


def entries_in_order(matrix: ArrayLike, order: str, products: ProductSign = "negative") -> Array:
    """Return the six independent entries of inertia matrices in a named order."""
    matrix = seal(matrix, "inertia", (..., 3, 3))
    return entries_from_symmetric(convert_product_sign(matrix, products))[
        ..., _entry_indices(order)
    ]


def convert_product_sign(matrix: Mat33, products: ProductSign) -> Mat33:
    """Convert the products of inertia between the signs `negative` and `positive`.

    Raises `ModelError`: a sign that is neither `negative` nor `positive`.
    """
    if products == "negative":
        return matrix
    if products != "positive":
        raise ModelError(f"products: expected 'negative' or 'positive', got {products!r}")
    return np.where(np.eye(3, dtype=bool), matrix, -matrix)


def spatial_matrix(phi: PhiLike, order: SpatialOrder, point: ReferencePoint = "origin") -> Mat66:
    """Return the spatial inertia about Bo in B, with linear and angular part in a named order.

    Linear first it is [[m 1, −ĥ], [ĥ, I]]; angular first [[I, ĥ], [−ĥ, m 1]].

    Args:
        phi: shape (..., 10).
        order: `linear first` (`identify`, Pinocchio) or `angular first` (Featherstone, Drake,
            DART).
        point: `mixed` replaces I by the inertia about the centre of mass.

    Returns:
        Shape (..., 6, 6).
    """
    phi = seal_phi(phi)
    matrix = spatial_inertia(phi)
    if point == "mixed":
        require_mass(phi, "spatial matrix of two points")
        matrix[..., 3:, 3:] = inertia_about_com(phi)
    return _to_linear_first(matrix, order)


def phi_from_spatial_matrix(
    matrix: ArrayLike, order: SpatialOrder, point: ReferencePoint = "origin"
) -> Phi:
    """Compute the ten parameters from a spatial inertia in a named order.

    Args:
        matrix: shape (..., 6, 6).
        order: as in `spatial_matrix`.
        point: as in `spatial_matrix`.

    Returns:
        Shape (..., 10).

    Raises:
        ModelError: the matrix is not that of a rigid body (the mass block is not m 1, or the
            off-diagonal blocks are not ±ĥ), as with fluid added mass.
    """
    M = _to_linear_first(seal(matrix, "spatial inertia", (..., 6, 6)), order)
    six = entries_from_symmetric(M[..., 3:, 3:])
    phi = np.concatenate((M[..., :1, 0], vee(M[..., 3:, :3]), six), axis=-1)
    blocks = np.stack((M[..., :3, :3], M[..., 3:, 3:]), axis=-3)
    unit = np.repeat(np.sqrt(np.abs(blocks).max(axis=(-2, -1), initial=0.0)), 3, axis=-1)
    off = np.abs(M - spatial_inertia(phi))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(off == 0.0, 0.0, off / (unit[..., :, None] * unit[..., None, :]))
    error = float(share.max(initial=0.0))  # each block by its own unit: kg, kg m, kg m²
    if not (error <= _STRUCTURE_TOLERANCE):
        raise ModelError(
            f"spatial inertia ({order}): expected the blocks m 1, ±ĥ and a symmetric I of a rigid "
            f"body, got a matrix that is off by {error:.1e} of its scale; fluid added mass cannot "
            f"be expressed by ten parameters"
        )
    if point != "mixed":
        return phi
    require_mass(phi, "spatial matrix of two points")
    return phi_from_inertia(phi[..., 0], phi[..., 1:4] / phi[..., :1], inertia_about_origin(phi))


def _entry_indices(order: str) -> np.ndarray:
    """Return, for each entry of a named order, its index in xx, xy, xz, yy, yz, zz."""
    entries = lookup(ENTRY_ORDERS, order, "order of six", ModelError)
    return np.array([ENTRIES_BY_ROWS.index("".join(sorted(entry))) for entry in entries])


def _to_linear_first(matrix: Mat66, order: SpatialOrder) -> Mat66:
    if order == "linear first":
        return matrix
    if order != "angular first":
        raise ModelError(f"order: expected 'linear first' or 'angular first', got {order!r}")
    return swap_spatial_order(matrix)
