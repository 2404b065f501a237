"""Corrections of a log (delay, gain, gravity, …) as linear maps of the columns of its equations.

Each function returns M, shape (43, 19): `statistics.mapped(M, SCAN_LAYOUT)` are the statistics of
the corrected log, z M in place of z, for rows and for their noise alike, without reading the log
again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Vec3, seal
from identify.regressors.wrench import SCAN_LAYOUT, WIDE_LAYOUT, point_acceleration_map
from identify.spatial import Pose, PoseLike, coadjoint, rotation_from_quaternion
from identify.spatial.columns import (
    ATTITUDE,
    FEATURES,
    FORCE_AXES,
    POSITION,
    PROPER_ACCELERATION,
    TORQUE_AXES,
    WRENCH,
    WRENCH_RATE,
    WRENCH_SECOND_RATE,
    columns_of_part,
)
from identify.spatial.rotations import exp_rotation, hat

_ACCELERATION_COLUMNS = columns_of_part(PROPER_ACCELERATION, FEATURES)

_LEVI_CIVITA = hat(np.eye(3)).transpose(1, 0, 2)
"""Levi-Civita tensor ε: (a × b)_i = Σ ε_ijk a_j b_k."""


def delay_map(delay: float) -> Array:
    """Return the map that corrects a delay of the wrench: w(t + τ) = w + τ ẇ + ½ τ² ẅ.

    `delay`: τ by which the stamps of the wrench are late [s].
    """
    M = _identity_map()
    M[WRENCH_RATE, WRENCH] = delay * np.eye(6)
    M[WRENCH_SECOND_RATE, WRENCH] = 0.5 * delay**2 * np.eye(6)
    return M


def lag_map(lag: float) -> Array:
    """Return the map that inverts a first-order low-pass filter of the wrench: w + T ẇ.

    `lag`: time constant T of the filter [s].
    """
    M = _identity_map()
    M[WRENCH_RATE, WRENCH] = lag * np.eye(6)
    return M


def sensor_gain_map(G: Array, X_BS: PoseLike | None = None) -> Array:
    """Return the map that multiplies the wrench [f; t] measured by the sensor by a gain matrix.

    `G`: shape (6, 6); `X_BS`: pose of the sensor frame S in B; identity if not given.
    """
    M = _identity_map()
    if X_BS is not None:
        X_BS = Pose.of(X_BS)
        G = coadjoint(X_BS) @ G @ coadjoint(X_BS.inverse())
    M[WRENCH, WRENCH] = G.T
    return M


def misalignment_map(angles: ArrayLike, X_BS: PoseLike | None = None) -> Array:
    """Return the map that rotates the wrench measured by a misaligned sensor.

    `angles`: rotation vector θ of the correction exp(θ×) in S [rad], shape (3,); `X_BS`: pose of
    the sensor frame S in B; identity if not given.
    """
    R = rotation_from_quaternion(exp_rotation(seal(angles, "angles", (3,))))
    return sensor_gain_map(np.kron(np.eye(2), R), X_BS)


def torque_gain_map(gain: float, X_BS: PoseLike | None = None) -> Array:
    """Return the map that multiplies the measured torque by 1 + κ; the force is unchanged.

    `X_BS`: pose of the sensor frame S in B, about whose origin the torque is measured; identity if
    not given.
    """
    return sensor_gain_map(np.diag([1.0] * 3 + [1.0 + gain] * 3), X_BS)


def gravity_map(change: ArrayLike, compensated: ArrayLike = ()) -> Array:
    """Return the map that changes gravity to g + δg in direction or magnitude: a' − Rᵀ δg.

    For logs whose proper acceleration was not measured.

    `change`: δg in W [m/s²], shape (3,); `compensated`: mass and first moment of the body whose
    weight was added back with g.
    """
    change = seal(change, "change", (3,))
    M = weight_map(compensated, change) if np.size(compensated) else _identity_map()
    M[ATTITUDE, _ACCELERATION_COLUMNS] = -_attitude_product(change)
    return M


def gravity_tilt(angles: ArrayLike, gravity: Vec3) -> Vec3:
    """Compute the change δg of gravity when it is tilted about two axes normal to it, shape (3,).

    `angles`: rotation about the two axes, which are close to axes of W [rad], shape (2,);
    `gravity`: g in W [m/s²], shape (3,).
    """
    R = rotation_from_quaternion(exp_rotation(np.asarray(angles) @ _normal_axes(gravity)))
    return R @ gravity - gravity


def weight_map(body: ArrayLike, gravity: Vec3) -> Array:
    """Return the map that adds a missing weight to the wrench: w − [m Rᵀ g; h × Rᵀ g].

    `body`: m [kg], and h about Bo in B [kg m], shape (4,); `gravity`: g in W [m/s²], shape (3,).
    """
    (m, x, y, z), down = seal(body, "body", (4,)), _attitude_product(np.asarray(gravity))
    M = _identity_map()
    M[ATTITUDE, WRENCH] = -np.hstack(
        (m * down, down @ np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]]))
    )
    return M


def point_offset_map(offset: ArrayLike) -> Array:
    """Return the map that moves the motion from another point of the body to Bo.

    The proper acceleration becomes a' + (α× + ω×ω×) p.

    `offset`: p from P to Bo, in B [m], shape (3,).
    """
    M = _identity_map()
    M[FEATURES, _ACCELERATION_COLUMNS] += point_acceleration_map(seal(offset, "offset", (3,))).T
    return M


def accelerometer_map(error: float, offset: ArrayLike, position: ArrayLike) -> Array:
    """Return the map that corrects scale and offset of an accelerometer: (1 + ε) times, plus b.

    `offset`: b along B [m/s²], shape (3,); `position`: r in B [m], shape (3,).
    """
    M = _identity_map()
    M[0, _ACCELERATION_COLUMNS] = seal(offset, "offset", (3,))
    M[_ACCELERATION_COLUMNS, _ACCELERATION_COLUMNS] *= 1.0 + error
    M[FEATURES, _ACCELERATION_COLUMNS] += (
        error * point_acceleration_map(seal(position, "position", (3,))).T
    )
    return M


def clock_rate_map(error: float, gravity: Vec3) -> Array:
    """Return the map that corrects the clock rate of a log by 1 + ε.

    It divides a' + Rᵀ g, α and ω_i ω_j by (1 + ε)².

    For logs whose rates and accelerations are derivatives of the pose.

    `error`: relative error ε of the clock rate; `gravity`: g in W [m/s²], shape (3,).
    """
    slower = 1.0 / (1.0 + error) ** 2
    M = gravity_map((1.0 - slower) * np.asarray(gravity))
    M[FEATURES, FEATURES] *= slower
    return M


def position_scale_map(error: float, gravity: Vec3) -> Array:
    """Return the map that multiplies the lengths of the motion, and so a' + Rᵀ g, by 1 + s.

    `gravity`: g in W [m/s²], shape (3,).
    """
    M = gravity_map(-error * np.asarray(gravity))
    M[_ACCELERATION_COLUMNS, _ACCELERATION_COLUMNS] *= 1.0 + error
    return M


def cable_map(
    stiffness: float, pull: ArrayLike, arm: ArrayLike, moments: ArrayLike, centre: ArrayLike
) -> Array:
    """Return the map that removes an elastic cable force F = f − k (p − p̄) with its moment.

    The force acts at r in B. Its moment is linear in k r and r fᵀ, which are treated as independent
    of k and f.

    `stiffness`: k [N/m]; `pull`: force f at the centre of the motion [N], shape (3,); `arm`: k r
    [N], shape (3,); `moments`: r fᵀ [N m], shape (3, 3); `centre`: centre of the motion p̄ in W
    [m], shape (3,).
    """
    pull, centre = seal(pull, "pull", (3,)), seal(centre, "centre", (3,))
    arm, moments = seal(arm, "arm", (3,)), seal(moments, "moments", (3, 3))
    M = _identity_map()
    M[ATTITUDE, columns_of_part(FORCE_AXES, WRENCH)] = _attitude_product(pull + stiffness * centre)
    M[POSITION, columns_of_part(FORCE_AXES, WRENCH)] = -stiffness * np.eye(3)
    attitude_moments = moments + np.outer(arm, centre)
    M[ATTITUDE, columns_of_part(TORQUE_AXES, WRENCH)] = np.einsum(
        "ijk,jl->kli", _LEVI_CIVITA, attitude_moments
    ).reshape(9, 3)
    M[POSITION, columns_of_part(TORQUE_AXES, WRENCH)] = -np.einsum("ijk,j->ki", _LEVI_CIVITA, arm)
    return M


def logged_wrench_only(M: Array, compensated: ArrayLike, gravity: Vec3) -> Array:
    """Restrict a map to the wrench as logged, without a compensated weight that was added back.

    `M`: map of the columns with the weight, shape (43, 19); `compensated`: mass and first moment of
    the body whose weight was added back; may be empty; `gravity`: g in W [m/s²], shape (3,).
    """
    if not np.size(compensated):
        return M
    weight = weight_map(compensated, gravity)[ATTITUDE, WRENCH]
    M = M.copy()
    M[ATTITUDE, WRENCH] += weight - weight @ M[WRENCH, WRENCH]
    return M


def extend_to_derivatives(M: Array) -> Array:
    """Extend a map of the columns of a fit to all columns, so that maps can follow each other.

    Derivatives of the wrench are mapped as the wrench is, shape (43, 19) to (43, 43).
    """
    K, fit = len(WIDE_LAYOUT.columns), len(SCAN_LAYOUT.columns)
    extended = np.zeros((K, K))
    extended[:, :fit] = M
    extended[ATTITUDE, ATTITUDE], extended[POSITION, POSITION] = np.eye(9), np.eye(3)
    extended[WRENCH_RATE, WRENCH_RATE] = extended[WRENCH_SECOND_RATE, WRENCH_SECOND_RATE] = M[
        WRENCH, WRENCH
    ]
    extended[WRENCH_SECOND_RATE, WRENCH_RATE] = M[WRENCH_RATE, WRENCH]
    return extended


def _identity_map() -> Array:
    return np.eye(len(WIDE_LAYOUT.columns), len(SCAN_LAYOUT.columns))


def _attitude_product(v: Vec3) -> Array:
    """Return the matrix that maps the entries of Rᵀ, by rows, to the vector Rᵀ v, shape (9, 3)."""
    return np.kron(np.eye(3), v[:, None])


def _normal_axes(gravity: Vec3) -> Array:
    """Return two orthogonal unit vectors normal to g, close to axes of W, shape (2, 3)."""
    down = gravity / np.linalg.norm(gravity)
    first = np.eye(3)[np.argsort(np.abs(down), kind="stable")[0]]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    return np.stack((first, np.cross(down, first)))
