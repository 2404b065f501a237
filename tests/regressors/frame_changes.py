"""Statistics of a wrench in another frame, by maps of their columns."""

import numpy as np

from identify.arrays import Array
from identify.regressors import Statistics
from identify.regressors.wrench import WIDE_LAYOUT, point_acceleration_map
from identify.spatial import Pose, PoseLike, coadjoint
from identify.spatial.columns import (
    ANGULAR_ACCELERATION,
    ATTITUDE,
    FEATURES,
    FIT_COLUMN_COUNT,
    POSITION,
    PRODUCT_PAIRS,
    PROPER_ACCELERATION,
    RATE_PRODUCTS,
    WRENCH,
    WRENCH_RATE,
    WRENCH_SECOND_RATE,
    without_constant,
)


def statistics_in_frame(statistics: Statistics, X_CB: PoseLike) -> Statistics:
    """Transform the sufficient statistics of a wrench from body frame B to body frame C.

    Features and wrench change linearly, so the log is not read again.

    Args:
        statistics: statistics of the wrench columns, or the wide columns.
        X_CB: pose of the old body frame B in the new one C (both fixed in the body).
    """
    columns = statistics.layout.columns
    M = np.eye(len(columns))
    M[1:FIT_COLUMN_COUNT, 1:FIT_COLUMN_COUNT] = feature_frame_map(X_CB).T
    if columns == WIDE_LAYOUT.columns:
        X_CB = Pose.of(X_CB)
        M[ATTITUDE, ATTITUDE] = np.kron(X_CB.rotation, np.eye(3)).T
        M[WRENCH_RATE, WRENCH_RATE] = M[WRENCH_SECOND_RATE, WRENCH_SECOND_RATE] = M[WRENCH, WRENCH]
        M[POSITION, POSITION], M[0, POSITION] = X_CB.rotation.T, -X_CB.position
    return statistics.mapped(M)


def feature_frame_map(X_CB: PoseLike) -> Array:
    """Return the matrix that maps motion features and wrench from frame B to frame C, (18, 18).

    a'_C = R (a'_B + (α× + ω×ω×) p) with p = p_BoCo_B and R = R_CB; α and the products of ω rotate;
    the wrench transforms by the coadjoint.
    """
    X_CB = Pose.of(X_CB)
    R = X_CB.rotation
    p = X_CB.inverse().position
    G = np.zeros((FIT_COLUMN_COUNT - 1, FIT_COLUMN_COUNT - 1))
    G[PROPER_ACCELERATION, without_constant(FEATURES)] = R @ point_acceleration_map(p)
    G[PROPER_ACCELERATION, PROPER_ACCELERATION] += R
    G[ANGULAR_ACCELERATION, ANGULAR_ACCELERATION] = R
    G[RATE_PRODUCTS, RATE_PRODUCTS] = _rotated_products(R)
    G[without_constant(WRENCH), without_constant(WRENCH)] = coadjoint(X_CB)
    return G


def _rotated_products(R: Array) -> Array:
    """Return the matrix that rotates the six products of angular rates by R, shape (6, 6)."""
    matrix = np.empty((6, 6))
    for row, (i, j) in enumerate(PRODUCT_PAIRS):
        for column, (k, m) in enumerate(PRODUCT_PAIRS):
            entry = R[i, k] * R[j, m] + (R[i, m] * R[j, k] if k != m else 0.0)
            matrix[row, column] = entry
    return matrix
