"""Cones of a program in standard form, and projections to their dual cones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import SolveError

if TYPE_CHECKING:
    from cvxpy.reductions.dcp2cone.cone_matrix_stuffing import ConeDims


@dataclass(frozen=True, slots=True)
class ConeBlock:
    """Cone of a conic program with its number of rows; all except "zero" are self-dual.

    A positive semidefinite matrix of order n takes n (n + 1)/2 rows: its upper triangle column by
    column, off-diagonal entries times √2, so that products of rows are those of matrices.

    Attributes:
        kind: type of the cone.
        size: number of rows.
    """

    kind: Literal["zero", "nonnegative", "second_order", "semidefinite"]
    size: int

    @property
    def order(self) -> int:
        """Order of the matrix of a semidefinite cone."""
        return int(np.sqrt(2 * self.size))

    def to_clarabel(self, clarabel: ModuleType) -> object:
        """Convert to Clarabel's cone type."""
        match self.kind:
            case "zero":
                return clarabel.ZeroConeT(self.size)
            case "nonnegative":
                return clarabel.NonnegativeConeT(self.size)
            case "second_order":
                return clarabel.SecondOrderConeT(self.size)
            case "semidefinite":
                return clarabel.PSDTriangleConeT(self.order)

    def project_to_dual(self, z: Array) -> Array:
        """Project a multiplier z to the dual cone."""
        match self.kind:
            case "zero":
                return z
            case "nonnegative":
                return np.maximum(z, 0.0)
            case "second_order":
                return _project_to_second_order(z)
            case "semidefinite":
                values, vectors = np.linalg.eigh(_matrix_from_triangle(z, self.order))
                row, column, products = _upper_triangle_indices(self.order)
                matrix = (vectors * np.maximum(values, 0.0)) @ vectors.T
                return products * matrix[row, column]


def cone_blocks(dims: ConeDims) -> tuple[ConeBlock, ...]:
    """Convert the cone dimensions of a cvxpy program to blocks in Clarabel's order.

    Raises `SolveError`: it has cones of other kinds (exponential, power).
    """
    if dims.exp or dims.p3d or getattr(dims, "pnd", None):
        raise SolveError(
            "terms with exponential or power cones cannot be certified: use linear, second-order "
            "cone or semidefinite constraints"
        )
    cones = [ConeBlock("zero", dims.zero)] if dims.zero else []
    cones += [ConeBlock("nonnegative", dims.nonneg)] if dims.nonneg else []
    cones += [ConeBlock("second_order", size) for size in dims.soc]
    cones += [ConeBlock("semidefinite", n * (n + 1) // 2) for n in dims.psd]
    return tuple(cones)


def project_to_dual(z: Array, cones: Sequence[ConeBlock]) -> Array:
    """Project a multiplier z to the product of the dual cones."""
    edges = np.cumsum([cone.size for cone in cones])[:-1]
    return np.concatenate(
        [cone.project_to_dual(part) for cone, part in zip(cones, np.split(z, edges), strict=True)]
    )


def _project_to_second_order(z: Array) -> Array:
    head, norm = float(z[0]), float(np.linalg.norm(z[1:]))
    if norm <= head:
        return z
    if norm <= -head:
        return np.zeros_like(z)
    share = 0.5 * (1.0 + head / norm)
    return np.concatenate(([share * norm], share * z[1:]))


def _matrix_from_triangle(rows: Array, order: int) -> Array:
    matrix = np.zeros((order, order))
    row, column, products = _upper_triangle_indices(order)
    matrix[row, column] = matrix[column, row] = rows / products
    return matrix


@lru_cache
def _upper_triangle_indices(order: int) -> tuple[Indices, Indices, Array]:
    """Return rows, columns and factors of the upper triangle's entries, column by column."""
    column, row = np.tril_indices(order)
    return row, column, np.where(row == column, 1.0, np.sqrt(2.0))
