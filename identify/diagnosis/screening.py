"""Screening of interpretations of pose and wrench on a few rows, before logs are read again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from identify.arrays import Array, Vec4
from identify.diagnosis.fault import Fault, wrench_map_of_patch
from identify.logs.log_properties import LogProperties
from identify.logs.patch import reinterpret_rotation, selection_matrix
from identify.logs.schema_tables import PoseTable
from identify.regressors.newton_euler import regressor_with_offset
from identify.spatial.columns import ATTITUDE, FEATURES, PROPER_ACCELERATION, WRENCH
from identify.spatial.rotations import (
    quaternion_conjugate,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
)

MAX_SCREENED_ROWS = 1000
"""Maximum number of rows with which axes and rotation conventions are screened."""

_ATTITUDE_TOLERANCE = 1e-9
"""Largest 1 − |q·q′| of two attitudes that count as equal."""

_MAX_COST_INCREASE = 0.2
"""Largest increase of the cost of the point mass from that of the schema: what the model leaves out
decides smaller differences."""

_MAX_POSE_INTERPRETATIONS = 8
"""Largest number of interpretations that pass the screening, of the attitude and of the position
each: without a motion of the position, all of its axes are alike."""


_SMALLEST_POWER = 1e-300
"""Power added to that of a signal, which may be zero."""


def likeliest_poses(
    candidates: Sequence[tuple[Fault, ...]],
    rows: Array,
    rotation: Array | None,
    setup: LogProperties,
) -> list[tuple[Fault, ...]]:
    """Return the interpretations of the pose with which a point mass fits the wrench best.

    The model is force m a' + offset and torque h × a' + offset, without angular rates, which would
    have to be differentiated again. Interpretations with a clearly larger residual than that of the
    schema are dropped, and of those that are equal in all rows only the first is returned.

    `candidates`: faults with patches of `[pose]`, one instance for each log; only that of the first
    log is tested; `rows`: extended rows of the first log's series, shape (n, 43); `rotation`: its
    logged numbers in those rows, shape (n, k); None for a quaternion; `setup`: measurement setup of
    the first log.
    """
    pose = None if setup.schema is None else setup.schema.pose
    if not candidates or pose is None:
        return []
    R_BW = rows[:, ATTITUDE].reshape(-1, 3, 3)
    logged = quaternion_from_rotation(R_BW.swapaxes(-1, -2))
    if pose.quaternion is not None:
        rotation = quaternion_conjugate(logged) if pose.maps == "world_to_body" else logged
        rotation = rotation[:, [3, 0, 1, 2]] if pose.rotation_order == "wxyz" else rotation
    if rotation is None:
        candidates = [each for each in candidates if each[0].code == "position_axes"]
    as_read = None if rotation is None else _attitude(rotation, pose, pose)
    cost_as_read = _point_mass_cost(rows, R_BW, logged, pose, pose, setup)
    better = list[tuple[float, int, Array, tuple[Fault, ...]]]()
    for candidate in candidates:
        patch = candidate[0].patch
        assert patch is not None
        keys = {key.partition(".")[2]: value for key, value in patch(np.zeros(0)).items()}
        new_pose = pose.model_copy(update=keys)
        q = logged
        if "position" not in keys and rotation is not None and as_read is not None:
            turn = quaternion_product(
                _attitude(rotation, pose, new_pose), quaternion_conjugate(as_read)
            )
            q = quaternion_product(turn, logged)  # of the body, if the log is of a tool point
        cost = _point_mass_cost(rows, R_BW, q, pose, new_pose, setup)
        if cost < cost_as_read + _MAX_COST_INCREASE:
            better.append((cost, candidate[0].mistake_count, q, candidate))
    better.sort(key=lambda each: (round(each[0], 6), each[1]))
    likely = list[tuple[Array, tuple[Fault, ...]]]()
    for _, _, q, candidate in better:
        is_position = candidate[0].code == "position_axes"
        same = (
            np.abs(np.sum(q * other, axis=1)).min() > 1.0 - _ATTITUDE_TOLERANCE
            for other, each in likely
            if each[0].code != "position_axes"
        )
        alike = sum((other[0].code == "position_axes") == is_position for _, other in likely)
        if alike < _MAX_POSE_INTERPRETATIONS and (is_position or not any(same)):
            likely.append((q, candidate))
    return [candidate for _, candidate in likely]


def _attitude(rotation: Array, pose: PoseTable, new_pose: PoseTable) -> Vec4:
    q = reinterpret_rotation(rotation, pose, new_pose)
    return quaternion_conjugate(q) if new_pose.maps == "world_to_body" else q


def _point_mass_cost(
    rows: Array,
    R_BW: Array,
    attitude: Array,
    pose: PoseTable,
    new_pose: PoseTable,
    setup: LogProperties,
) -> float:
    """Return the log of the product of the residual sums of squares of force and of torque."""
    a = rows[:, FEATURES][:, PROPER_ACCELERATION]
    w = rows[:, WRENCH].reshape(-1, 2, 3)
    g = setup.gravity
    turned = rotation_from_quaternion(attitude).swapaxes(-1, -2)
    if setup.acceleration_from_position and pose.position_kind == "world":
        world = np.einsum("nji,nj->ni", R_BW, a)
        if new_pose.position != pose.position and pose.position and new_pose.position:
            world = (world + g) @ selection_matrix(pose.position, new_pose.position).T - g
        a = np.einsum("nij,nj->ni", turned, world)
    else:
        a = a + (R_BW - turned) @ g
    if setup.wrench_frame == "world":
        w = np.einsum("nij,nkj,nlk->nli", turned, R_BW, w)
    A_torque = np.cross(np.eye(3), a[:, None]).swapaxes(-1, -2)  # h × a' as a matrix times h
    squares = _residual_sum(a[:, :, None], w[:, 0]), _residual_sum(A_torque, w[:, 1])
    return float(np.log(np.array(squares) + _SMALLEST_POWER).sum())


def _residual_sum(A: Array, b: Array) -> float:
    """Return the residual sum of squares of b = A x + offset, shapes (n, 3, k) and (n, 3)."""
    A, b = (A - A.mean(axis=0)).reshape(b.size, -1), (b - b.mean(axis=0)).reshape(-1)
    return float(np.sum((b - A @ np.linalg.lstsq(A, b, rcond=None)[0]) ** 2))


def likeliest_axes(
    candidates: Sequence[tuple[Fault, ...]], rows: Array, setup: LogProperties, count: int
) -> list[tuple[Fault, ...]]:
    """Return the axis assignments of the wrench that a body with an offset explains best.

    With the regressor of body and offset A = Q R, an assigned wrench w leaves r = w − Q Qᵀ w. Its
    cost is log ‖r_force‖² + log ‖r_torque‖², so that neither unit matters.

    `candidates`: faults with patches of `[wrench]`, one instance for each log; only that of the
    first log is tested; `rows`: extended rows of the first log's series, shape (n, 43); `setup`:
    measurement setup of the first log; `count`: largest number of assignments to return.
    """
    if not candidates or setup.schema is None:
        return []
    rows = rows[:: max(1, len(rows) // MAX_SCREENED_ROWS)]
    A = regressor_with_offset(rows[:, FEATURES])
    force_and_torque = rows[:, WRENCH].reshape(-1, 2, 3)
    sizes = np.sqrt(np.mean(force_and_torque**2, axis=(0, 2))) + _SMALLEST_POWER
    scales = np.repeat(1.0 / sizes, 3)
    Q = np.linalg.qr((scales[:, None] * A).reshape(-1, 16))[0]
    costs = list[float]()
    for fault, *_ in candidates:
        w = (scales * _assigned_wrench(rows, fault, setup)).reshape(-1)
        r = (w - Q @ (Q.T @ w)).reshape(-1, 2, 3)
        costs.append(float(np.log(np.sum(r**2, axis=(0, 2)) + _SMALLEST_POWER).sum()))
    return [candidates[k] for k in np.argsort(costs)[:count]]


def _assigned_wrench(rows: Array, fault: Fault, setup: LogProperties) -> Array:
    """Return the wrench in B with its axes assigned otherwise, shape (n, 6).

    If the log has it in world axes, the map G of its columns acts there: Rᵀ G R.
    """
    if fault.linear:
        return rows @ fault.fit_map()[:, WRENCH]
    assert fault.patch is not None
    assert setup.schema is not None
    G = wrench_map_of_patch(fault.patch(np.zeros(0)), setup.schema)
    G_halves = np.stack((G[:3, :3], G[3:, 3:]))
    R_BW = rows[:, ATTITUDE].reshape(-1, 1, 3, 3)
    turned = R_BW @ G_halves @ R_BW.swapaxes(-1, -2)
    return np.einsum("nkij,nkj->nki", turned, rows[:, WRENCH].reshape(-1, 2, 3)).reshape(-1, 6)
