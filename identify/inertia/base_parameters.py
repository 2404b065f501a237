"""Base parameters: the combinations of inertial parameters that a regressor can identify.

Columns of a regressor of connected bodies depend on each other: a link that turns about one axis
shows one of its ten parameters by itself. With p independent columns K of W,

    W φ = W_K (D φ),    β = D φ

where β are the base parameters (Gautier, "Numerical calculation of the base inertial parameters of
robots", 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr, solve_triangular

from identify.arrays import Array, Indices, as_array
from identify.errors import ModelError

RANK_TOLERANCE = 1e-5
"""Largest pivot of a dependent column, relative to the largest pivot: models print angles of 90
degrees as 1.5708, and a parameter that only such rounding makes independent is not identifiable."""

_MIN_LISTED_COEFFICIENT = 1e-4
"""Smallest coefficient that the text of a base parameter lists; the independent column has 1."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseColumns:
    """Independent columns of a regressor, and how the other columns depend on them.

    Attributes:
        independent: indices of the p independent columns K, ascending, shape (p,).
        dependence: D, with W = W_K D and β = D φ; its columns K are the identity,
            shape (p, columns).
    """

    independent: Indices
    dependence: Array

    def describe(self, names: Sequence[str]) -> tuple[str, ...]:
        """Format each base parameter, such as "hx 2 + 0.4 m 3", in the order of `independent`.

        Args:
            names: of all columns.

        Raises:
            ModelError: not as many names as columns.
        """
        if len(names) != self.dependence.shape[1]:
            raise ModelError(
                f"names: expected {self.dependence.shape[1]}, one for each column, got {len(names)}"
            )
        return tuple(
            _format_sum(names, row, first)
            for row, first in zip(self.dependence, self.independent, strict=True)
        )


def base_columns(regressor: ArrayLike, tolerance: float = RANK_TOLERANCE) -> BaseColumns:
    """Find independent columns of a regressor by rank-revealing QR.

    Args:
        regressor: rows W of a motion that excites everything, shape (rows, columns); or their
            triangular factor. Units of the columns matter as far as they make entries comparable.
        tolerance: largest pivot of a dependent column, relative to the largest.

    Returns:
        The p columns of largest pivots; W − W_K D is below about `tolerance` times the largest
        column.

    Raises:
        ModelError: not a finite matrix, or every entry is zero.
    """
    regressor = as_array(regressor, "regressor", (None, None))
    R, order = qr(regressor, mode="r", pivoting=True)
    pivots = np.abs(np.diagonal(R))
    if not pivots.any():
        raise ModelError("regressor: every entry is zero, so that nothing is identifiable")
    rank = int(np.count_nonzero(pivots > tolerance * pivots[0]))
    dependence = np.empty((rank, regressor.shape[1]))
    dependence[:, order[:rank]] = np.eye(rank)
    dependence[:, order[rank:]] = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    ascending = np.argsort(order[:rank])
    independent, dependence = order[ascending], dependence[ascending]
    for array in (independent, dependence):
        array.flags.writeable = False
    return BaseColumns(independent, dependence)


def _format_sum(names: Sequence[str], coefficients: Array, first: int) -> str:
    """Format a linear combination of parameters, the independent one first."""
    terms = [names[first]]
    for index in np.flatnonzero(np.abs(coefficients) > _MIN_LISTED_COEFFICIENT).tolist():
        if index != first:
            size = f"{abs(coefficients[index]):.4g}"
            sign = "−" if coefficients[index] < 0.0 else "+"
            terms.append(
                f"{sign} {names[index]}" if size == "1" else f"{sign} {size} {names[index]}"
            )
    return " ".join(terms)
