"""Columns z = [1, ψ, w, Rᵀ, ẇ, ẅ, Rᵀp] of the equations of motion: their only order, and slices.

A fit reads the first `FIT_COLUMN_COUNT`, [1, ψ, w]; linear maps between logs read all ("wide").
Where rows have no constant, as in covariances of noise, columns are one lower: `without_constant`.
"""

import numpy as np

FEATURES = slice(1, 13)
"""Columns of the twelve features ψ = [a', α, wx², wy², wz², wx wy, wx wz, wy wz] of the motion, in
B."""

WRENCH = slice(13, 19)
"""Columns of the wrench w = [f; t] at Bo in B."""

ATTITUDE = slice(19, 28)
"""Columns of Rᵀ, by rows, where R is R_WB."""

WRENCH_RATE = slice(28, 34)
"""Columns of the derivative ẇ of the wrench, as seen from B."""

WRENCH_SECOND_RATE = slice(34, 40)
"""Columns of the second derivative ẅ of the wrench, as seen from B."""

POSITION = slice(40, 43)
"""Columns of the position of Bo in axes of B, Rᵀp."""

FIT_COLUMN_COUNT = WRENCH.stop
"""Number of columns that a fit needs: constant, features and wrench."""

COLUMN_COUNT = POSITION.stop
"""Number of all columns, which comparing explanations of a log needs."""

PROPER_ACCELERATION = slice(0, 3)
"""Entries of the proper acceleration a' in ψ."""

ANGULAR_ACCELERATION = slice(3, 6)
"""Entries of the angular acceleration α in ψ."""

RATE_PRODUCTS = slice(6, 12)
"""Entries of the six products of the angular velocity in ψ, in the order of `PRODUCT_PAIRS`."""

RATE_SQUARES = slice(6, 9)
"""Entries of the squares of the angular velocity in ψ."""

PRODUCT_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Axes of the two factors of each product of the angular velocity."""

PRODUCT_FIRST_AXES = np.array([first for first, _ in PRODUCT_PAIRS])
"""Axis of the first factor of each product of the angular velocity."""

PRODUCT_SECOND_AXES = np.array([second for _, second in PRODUCT_PAIRS])
"""Axis of the second factor of each product of the angular velocity."""

PRODUCT_COLUMNS = tuple(
    tuple(RATE_PRODUCTS.start + PRODUCT_PAIRS.index((min(i, j), max(i, j))) for j in range(3))
    for i in range(3)
)
"""Entry in ψ of the product of two components of the angular velocity, by their axes."""

FORCE_AXES = slice(0, 3)
"""Entries of the force f in w."""

TORQUE_AXES = slice(3, 6)
"""Entries of the torque t in w."""


def without_constant(columns: slice) -> slice:
    """Convert columns of z to columns of rows [ψ, w, …] without the constant."""
    return slice(columns.start - 1, columns.stop - 1)


def columns_of_part(part: slice, whole: slice) -> slice:
    """Return columns of a part of the features or of the wrench as columns of z."""
    return slice(whole.start + part.start, whole.start + part.stop)
