"""Constraints as rows in cones, F θ + G u + f ∈ K, and projections to the dual cones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Indices

ConeKind = Literal["zero", "nonnegative", "second_order", "semidefinite"]

_LINEAR: tuple[ConeKind, ...] = ("zero", "nonnegative")


@dataclass(frozen=True, slots=True)
class ConeBlock:
    """Cone of a conic program with its number of rows; all except "zero" are self-dual.

    A positive semidefinite matrix of order n takes n (n + 1)/2 rows: its upper triangle column by
    column, off-diagonal entries times √2, so that products of rows are those of matrices.

    Attributes:
        kind: type of the cone.
        size: number of rows.
    """

    kind: ConeKind
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


@dataclass(frozen=True, slots=True)
class ConicRows:
    """Constraints on θ and auxiliary variables u in conic standard form, F θ + G u + f ∈ K.

    Attributes:
        F: coefficients of the scaled unknowns, shape (n, p).
        G: coefficients of the auxiliary variables, shape (n, q).
        f: shape (n,).
        cones: K, in the order of the rows.
    """

    F: Array
    G: Array
    f: Array
    cones: tuple[ConeBlock, ...]

    @classmethod
    def of(cls, kind: ConeKind, F: Array, f: ArrayLike = 0.0) -> ConicRows:
        """Return F θ + f in one cone: F of shape (n, p) or (p,), f of shape (n,) or a number."""
        F = np.atleast_2d(F)
        n = len(F)
        cones = (ConeBlock(kind, n),) if n else ()
        return cls(F, np.zeros((n, 0)), np.full(n, f, dtype=np.float64), cones)

    @classmethod
    def semidefinite(cls, F: Array, f: Array) -> ConicRows:
        """Return F θ + f ⪰ 0 of symmetric matrices: F of shape (n, n, p), f of shape (n, n)."""
        row, column, products = _upper_triangle_indices(len(f))
        return cls.of("semidefinite", products[:, None] * F[row, column], products * f[row, column])

    @classmethod
    def stack(cls, parts: Sequence[ConicRows]) -> ConicRows:
        """Stack constraints, linear ones first; each has auxiliary variables of its own."""
        edges = np.cumsum([0, *(part.G.shape[1] for part in parts)])
        blocks: list[tuple[ConeBlock, Array, Array, Array]] = []
        for part, start, stop in zip(parts, edges, edges[1:], strict=False):
            G = np.zeros((len(part.f), edges[-1]))
            G[:, start:stop] = part.G
            ends = np.cumsum([cone.size for cone in part.cones])[:-1]
            split = (np.split(values, ends) for values in (part.F, G, part.f))
            blocks += zip(part.cones, *split, strict=False)  # of no rows there are no cones
        blocks.sort(key=lambda block: get_args(ConeKind).index(block[0].kind))
        cones, F, G, f = zip(*blocks, strict=True)
        sizes = [sum(cone.size for cone in cones if cone.kind == kind) for kind in _LINEAR]
        linear = (ConeBlock(*block) for block in zip(_LINEAR, sizes, strict=True) if block[1])
        others = (cone for cone in cones if cone.kind not in _LINEAR)
        return cls(np.concatenate(F), np.concatenate(G), np.concatenate(f), (*linear, *others))

    @property
    def linear_count(self) -> int:
        """Number of stacked rows that are equalities or inequalities; they come first."""
        return sum(cone.size for cone in self.cones if cone.kind in _LINEAR)


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
