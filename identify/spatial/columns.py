"""Columns of the equations of motion, z = [1, ψ, w, Rᵀ, ẇ, ẅ, Rᵀp]: the one order, and its slices.

A fit reads the first `FIT_COLUMNS`, [1, ψ, w]; linear maps between logs read all of them ("wide").
Where rows have no constant, as in covariances of noise, columns are one lower: `without_constant`.
"""

import numpy as np

PSI = slice(1, 13)
"""Twelve features ψ = [a', α, wx², wy², wz², wx wy, wx wz, wy wz] of the motion, in B."""

W = slice(13, 19)
"""Wrench w = [f; t] at Bo in B."""

RT = slice(19, 28)
"""Rᵀ of R_WB, by rows."""

DW = slice(28, 34)
"""Derivative ẇ of the wrench, as seen from B."""

DDW = slice(34, 40)
"""Second derivative ẅ of the wrench, as seen from B."""

RP = slice(40, 43)
"""Position of Bo along B, Rᵀp."""

FIT_COLUMNS = W.stop
"""Number of columns that a fit reads."""

WIDE_COLUMNS = RP.stop
"""Number of all columns."""

PROPER_ACCELERATION = slice(0, 3)
"""Proper acceleration a', in ψ."""

ANGULAR_ACCELERATION = slice(3, 6)
"""Angular acceleration α, in ψ."""

RATE_PRODUCTS = slice(6, 12)
"""Six products of the angular velocity, in ψ, in the order of `PRODUCT_PAIRS`."""

SQUARES = slice(6, 9)
"""Squares among these products, in ψ."""

PRODUCT_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Axes of the factors of each product."""

FIRST_AXES = np.array([first for first, _ in PRODUCT_PAIRS])
"""Axis of the first factor of each product."""

SECOND_AXES = np.array([second for _, second in PRODUCT_PAIRS])
"""Axis of the second factor of each product."""

PRODUCT_COLUMNS = tuple(
    tuple(RATE_PRODUCTS.start + PRODUCT_PAIRS.index((min(i, j), max(i, j))) for j in range(3))
    for i in range(3)
)
"""Column of the product of two components of the angular velocity, in ψ, by their axes."""

FORCE_AXES = slice(0, 3)
"""Force f, in w."""

TORQUE_AXES = slice(3, 6)
"""Torque t, in w."""


def without_constant(columns: slice) -> slice:
    """Shift columns of z to rows [ψ, w, …] without the constant."""
    return slice(columns.start - 1, columns.stop - 1)


def within(part: slice, whole: slice) -> slice:
    """Return columns of a part of the features or the wrench within a row of z."""
    return slice(whole.start + part.start, whole.start + part.stop)
