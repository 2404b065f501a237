"""What a log would be if it had been read or measured otherwise, as maps of its wide columns.

Each gives M, shape (43, 19), with which `statistics.mapped(M, SCAN_LAYOUT)` are the statistics of
the log with that changed: z M in place of z, for rows and for their noise alike, without reading
anything again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from identify.arrays import Array, Vec3, seal
from identify.regressors.wrench import SCAN_LAYOUT, WIDE_LAYOUT, carried
from identify.spatial import Pose, PoseLike, coadjoint, rotation_from_quaternion
from identify.spatial.columns import (
    DDW,
    DW,
    FORCE_AXES,
    PROPER_ACCELERATION,
    PSI,
    RP,
    RT,
    TORQUE_AXES,
    W,
    within,
)
from identify.spatial.rotations import exp_rotation, hat

_A = within(PROPER_ACCELERATION, PSI)

_CROSS = hat(np.eye(3)).transpose(1, 0, 2)
"""(a × b)_i = Σ _CROSS_ijk a_j b_k."""


def earlier_wrench(delay: float) -> Array:
    """The wrench was logged late: w(t + τ) = w + τ ẇ + ½ τ² ẅ, to second order.

    Args:
        delay: τ by which its stamps are late [s].
    """
    M = _as_read()
    M[DW, W] = delay * np.eye(6)
    M[DDW, W] = 0.5 * delay**2 * np.eye(6)
    return M


def unlagged_wrench(lag: float) -> Array:
    """The wrench went through a filter of first order, T ẇ + w = what acted.

    Args:
        lag: its time constant T [s].
    """
    M = _as_read()
    M[DW, W] = lag * np.eye(6)
    return M


def changed_readings(G: Array, X_BS: PoseLike | None = None) -> Array:
    """The sensor's readings [f; t] in S are G times those logged.

    Args:
        G: shape (6, 6).
        X_BS: pose of the sensor's axes in B; B where not given.
    """
    M = _as_read()
    if X_BS is not None:
        X_BS = Pose.of(X_BS)
        G = coadjoint(X_BS) @ G @ coadjoint(X_BS.inverse())
    M[W, W] = G.T
    return M


def turned_wrench(angles: ArrayLike, X_BS: PoseLike | None = None) -> Array:
    """The sensor stands turned: its readings are exp(angles×) of what was read, exactly.

    Args:
        angles: rotation vector in S [rad], shape (3,).
        X_BS: where in B its axes are; in Bo, along B, where not given.
    """
    R = rotation_from_quaternion(exp_rotation(seal(angles, "angles", (3,))))
    return changed_readings(np.kron(np.eye(2), R), X_BS)


def scaled_torque(gain: float, X_BS: PoseLike | None = None) -> Array:
    """Torque, not force, is 1 + κ of what was read.

    Args:
        gain: κ.
        X_BS: pose of the sensor's axes in B, about which its torque is; B where not given.
    """
    return changed_readings(np.diag([1.0] * 3 + [1.0 + gain] * 3), X_BS)


def other_gravity(change: ArrayLike, compensated: ArrayLike = ()) -> Array:
    """Gravity is g + δg, tilted or of another size: a' − Rᵀ δg.

    For logs whose acceleration was not measured as the proper one.

    Args:
        change: δg in W [m/s²], shape (3,).
        compensated: mass and moment of the body whose weight was added back by g.
    """
    change = seal(change, "change", (3,))
    M = added_weight(compensated, change) if np.size(compensated) else _as_read()
    M[RT, _A] = -_by_attitude(change)
    return M


def gravity_tilt(angles: ArrayLike, gravity: Vec3) -> Vec3:
    """Change δg of gravity that is turned by small angles about two axes across it, shape (3,).

    Args:
        angles: about the two axes, which are near the world's [rad], shape (2,).
        gravity: g in W [m/s²], shape (3,).
    """
    R = rotation_from_quaternion(exp_rotation(np.asarray(angles) @ _across(gravity)))
    return R @ gravity - gravity


def added_weight(body: ArrayLike, gravity: Vec3) -> Array:
    """The weight of a body is missing from the wrench: w − [m Rᵀ g; h × Rᵀ g].

    Args:
        body: m [kg], and h about Bo in B [kg m], shape (4,).
        gravity: g in W [m/s²], shape (3,).
    """
    (m, x, y, z), down = seal(body, "body", (4,)), _by_attitude(np.asarray(gravity))
    M = _as_read()
    M[RT, W] = -np.hstack((m * down, down @ np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])))
    return M


def displaced_point(offset: ArrayLike) -> Array:
    """The motion is of another point P of the body than the wrench: a' + (α× + ω×ω×) p.

    Args:
        offset: p from P to Bo, in B [m], shape (3,).
    """
    M = _as_read()
    M[PSI, _A] += carried(seal(offset, "offset", (3,))).T
    return M


def scaled_accelerometer(error: float, offset: ArrayLike, place: ArrayLike) -> Array:
    """An accelerometer at r reads 1 + ε of what it was read as, and b more.

    Args:
        error: ε.
        offset: b along B [m/s²], shape (3,).
        place: r in B [m], shape (3,).
    """
    M = _as_read()
    M[0, _A] = seal(offset, "offset", (3,))
    M[_A, _A] *= 1.0 + error
    M[PSI, _A] += error * carried(seal(place, "place", (3,))).T
    return M


def other_clock(error: float, gravity: Vec3) -> Array:
    """Time runs at 1 + ε of the clock: a' + Rᵀ g, α and the products of ω over (1 + ε)².

    For logs whose rates and accelerations come from a pose.

    Args:
        error: ε.
        gravity: g in W [m/s²], shape (3,).
    """
    slower = 1.0 / (1.0 + error) ** 2
    M = other_gravity((1.0 - slower) * np.asarray(gravity))
    M[PSI, PSI] *= slower
    return M


def scaled_position(error: float, gravity: Vec3) -> Array:
    """Lengths of the motion are 1 + s of those logged: a' + Rᵀ g times that.

    Args:
        error: s.
        gravity: g in W [m/s²], shape (3,).
    """
    M = other_gravity(-error * np.asarray(gravity))
    M[_A, _A] *= 1.0 + error
    return M


def without_cable(
    stiffness: float, pull: ArrayLike, arm: ArrayLike, moments: ArrayLike, centre: ArrayLike
) -> Array:
    """A cable pulled at r in B with F = f − k (p − p̄) in W, and with r × Rᵀ F about Bo.

    The moments of F are linear in k r and r fᵀ, which are taken as independent of k and f.

    Args:
        stiffness: k [N/m].
        pull: f, at the centre [N], shape (3,).
        arm: k r [N], shape (3,).
        moments: r fᵀ [N m], shape (3, 3).
        centre: p̄ in W [m], shape (3,).
    """
    pull, centre = seal(pull, "pull", (3,)), seal(centre, "centre", (3,))
    arm, moments = seal(arm, "arm", (3,)), seal(moments, "moments", (3, 3))
    M = _as_read()
    M[RT, within(FORCE_AXES, W)] = _by_attitude(pull + stiffness * centre)
    M[RP, within(FORCE_AXES, W)] = -stiffness * np.eye(3)
    of_attitude = moments + np.outer(arm, centre)
    M[RT, within(TORQUE_AXES, W)] = np.einsum("ijk,jl->kli", _CROSS, of_attitude).reshape(9, 3)
    M[RP, within(TORQUE_AXES, W)] = -np.einsum("ijk,j->ki", _CROSS, arm)
    return M


def before_added_weight(M: Array, compensated: ArrayLike, gravity: Vec3) -> Array:
    """M that acts on the logged wrench alone, not on a weight that was added back to it.

    Args:
        M: of the columns with the weight, shape (43, 19).
        compensated: mass and moment of the body whose weight was added back; empty for none.
        gravity: g in W [m/s²], shape (3,).
    """
    if not np.size(compensated):
        return M
    weight = added_weight(compensated, gravity)[RT, W]
    M = M.copy()
    M[RT, W] += weight - weight @ M[W, W]
    return M


def of_all_columns(M: Array) -> Array:
    """M of [1, ψ, w] carried to the derivatives: what acts on w, ẇ, ẅ acts on theirs, (43, 43)."""
    K, fit = len(WIDE_LAYOUT.columns), len(SCAN_LAYOUT.columns)
    whole = np.zeros((K, K))
    whole[:, :fit] = M
    whole[RT, RT], whole[RP, RP] = np.eye(9), np.eye(3)
    whole[DW, DW] = whole[DDW, DDW] = M[W, W]
    whole[DDW, DW] = M[DW, W]
    return whole


def _as_read() -> Array:
    return np.eye(len(WIDE_LAYOUT.columns), len(SCAN_LAYOUT.columns))


def _by_attitude(v: Vec3) -> Array:
    """Matrix that maps Rᵀ, by rows, to Rᵀ v, shape (9, 3)."""
    return np.kron(np.eye(3), v[:, None])


def _across(gravity: Vec3) -> Array:
    """Two unit vectors across g and each other, near the world's axes, shape (2, 3)."""
    down = gravity / np.linalg.norm(gravity)
    first = np.eye(3)[np.argsort(np.abs(down), kind="stable")[0]]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    return np.stack((first, np.cross(down, first)))
