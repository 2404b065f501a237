"""The six entries of a symmetric matrix: their orders and the sign of products of inertia, by name.

Products of inertia are the matrix's off-diagonal entries where they are said to be `negative`
integrals, Ixy = −∫ρ x y dV, as in phi and nearly everywhere; `positive` ones, +∫ρ x y dV, are what
SolidWorks calls positive tensor notation and prints unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Mat33
from identify.errors import ModelError, did_you_mean
from identify.inertia.conventions.sealing import seal_batch
from identify.inertia.matrices import six_from_symmetric, symmetric_from_six

Products: TypeAlias = Literal["negative", "positive"]

_ROWS = ("xx", "xy", "xz", "yy", "yz", "zz")
_COLUMNS = ("xx", "xy", "yy", "xz", "yz", "zz")
_DIAGONAL_FIRST = ("xx", "yy", "zz", "xy", "xz", "yz")
_VOIGT = ("xx", "yy", "zz", "yz", "xz", "xy")
_CYCLIC = ("xx", "yy", "zz", "xy", "yz", "zx")

SIX_ORDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "identify": _ROWS,
        "rigeo": _ROWS,
        "ros": _ROWS,
        "sdf": _ROWS,
        "urdf": _ROWS,
        "pinocchio": _COLUMNS,
        "dart": _DIAGONAL_FIRST,
        "drake": _DIAGONAL_FIRST,
        "gazebo": _DIAGONAL_FIRST,
        "mujoco": _DIAGONAL_FIRST,
        "voigt": _VOIGT,
        "wensing": _VOIGT,
        "cyclic": _CYCLIC,
    }
)
"""Order of the six entries, by the tool or the name it has. Reading the upper triangle by rows
(`identify`) is reading the lower one by columns; `pinocchio` reads the lower one by rows."""


def matrix_from_six(six: ArrayLike, order: str, products: Products = "negative") -> Mat33:
    """Symmetric matrices of their six entries in a named order.

    Args:
        six: shape (..., 6).
        order: a name in `SIX_ORDERS`.
        products: sign of the products of inertia among the six.

    Returns:
        Inertia matrices, shape (..., 3, 3).

    Raises:
        ModelError: an unknown name, or not six finite numbers.
    """
    six = seal_batch(six, f"six numbers ({order})", (6,))
    ours = np.argsort(_positions(order))
    return signed(symmetric_from_six(six[..., ours]), products)


def six_in_order(matrix: ArrayLike, order: str, products: Products = "negative") -> Array:
    """The six entries of symmetric matrices in a named order; inverse of `matrix_from_six`."""
    matrix = seal_batch(matrix, "inertia", (3, 3))
    return six_from_symmetric(signed(matrix, products))[..., _positions(order)]


def signed(matrix: Mat33, products: Products) -> Mat33:
    """Matrices between the two signs of their products of inertia: its own inverse.

    Raises:
        ModelError: a sign that is neither `negative` nor `positive`.
    """
    if products == "negative":
        return matrix
    if products != "positive":
        raise ModelError(f"products: expected 'negative' or 'positive', got {products!r}")
    return np.where(np.eye(3, dtype=bool), matrix, -matrix)


def _positions(order: str) -> np.ndarray:
    """Where each of the named six is in xx, xy, xz, yy, yz, zz."""
    if order not in SIX_ORDERS:
        hint = did_you_mean(order, SIX_ORDERS)
        raise ModelError(f"no order of six {order!r} among {sorted(SIX_ORDERS)}{hint}")
    return np.array([_ROWS.index("".join(sorted(entry))) for entry in SIX_ORDERS[order]])
