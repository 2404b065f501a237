"""Order of the columns of the equations of motion: constant, motion, wrench, attitude, rates.

A row is z = [1, ψ, w, Rᵀ, ẇ, ẅ, Rᵀp], with the motion features ψ of `BodyMotion.features`.

A fit reads the first `FIT_COLUMN_COUNT`, [1, ψ, w]; linear maps between logs read all ("wide").
Where rows have no constant, as in covariances of noise, columns are one lower: `without_constant`.
"""

import numpy as np

FEATURES = slice(1, 13)
"""Columns of the motion features ψ = [a', α, wx², wy², wz², wx wy, wx wz, wy wz], in axes of B."""

WRENCH = slice(13, 19)
"""Columns of the wrench w = [f; t] at Bo in B."""

WRENCH_NAMES = ("fx", "fy", "fz", "tx", "ty", "tz")
"""Names of the six components of a wrench."""

ATTITUDE = slice(19, 28)
"""Columns of the attitude: entries of R_WBᵀ by rows."""

WRENCH_RATE = slice(28, 34)
"""Columns of the derivative ẇ of the wrench, as seen from B."""

WRENCH_SECOND_RATE = slice(34, 40)
"""Columns of the second derivative ẅ of the wrench, as seen from B."""

POSITION = slice(40, 43)
"""Columns of the position of Bo in axes of B, Rᵀp."""

FIT_COLUMN_COUNT = WRENCH.stop
"""Number of leading columns that a fit reads: constant, motion features and wrench."""

COLUMN_COUNT = POSITION.stop
"""Number of all columns, which the comparison of explanations of a log reads."""

PROPER_ACCELERATION = slice(0, 3)
"""Entries of the proper acceleration among the motion features."""

ANGULAR_ACCELERATION = slice(3, 6)
"""Entries of the angular acceleration among the motion features."""

RATE_PRODUCTS = slice(6, 12)
"""Entries of the six products of angular rates among the motion features."""

RATE_SQUARES = slice(6, 9)
"""Entries of the squared angular rates among the motion features."""

PRODUCT_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Axes of the two factors of each product of angular rates, in the order of the features."""

PRODUCT_FIRST_AXES = np.array([first for first, _ in PRODUCT_PAIRS])
"""Axis of the first factor of each product of angular rates."""

PRODUCT_SECOND_AXES = np.array([second for _, second in PRODUCT_PAIRS])
"""Axis of the second factor of each product of angular rates."""

PRODUCT_COLUMNS = tuple(
    tuple(RATE_PRODUCTS.start + PRODUCT_PAIRS.index((min(i, j), max(i, j))) for j in range(3))
    for i in range(3)
)
"""Entry of the product of two angular rates among the motion features, by their axes."""

FORCE_AXES = slice(0, 3)
"""Entries of the force in a wrench."""

TORQUE_AXES = slice(3, 6)
"""Entries of the torque in a wrench."""


def without_constant(columns: slice) -> slice:
    """Convert a slice of columns to one for rows that lack the leading constant."""
    return slice(columns.start - 1, columns.stop - 1)


def columns_of_part(part: slice, whole: slice) -> slice:
    """Return the columns of a part, such as the force, of some columns, such as the wrench."""
    return slice(whole.start + part.start, whole.start + part.stop)
