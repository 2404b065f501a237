"""Conversion of logged attitudes to quaternions [x, y, z, w]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from identify.arrays import Array, Vec4
from identify.findings import Finding
from identify.logs.schema_tables import PoseTable
from identify.logs.table import Table
from identify.logs.units import ANGLE_UNITS
from identify.spatial import exp_rotation, quaternion_from_rotation, quaternion_product

_ROTATION_TOLERANCE = 1e-2
"""Tolerance on norm and orthogonality of logged rotations."""

_MAX_LOGGED_ANGLE = 1.01 * 2.0 * np.pi
_MAX_ANGLE_RATE = 10.0
"""Angular rate of angles read in radians above which they must be in degrees [rad/s]."""

_MIN_PATH_RATIO = 1.5
"""Minimum ratio of the path of an angle to its range if it oscillates instead of revolving."""


def read_rotation(valid: Table, pose: PoseTable) -> Vec4:
    """Convert rotations, in their logged direction, to unit quaternions [x, y, z, w], shape (n, 4).

    Raises `LogError`: a row that is no rotation.
    """
    match pose.rotation_kind:
        case "quaternion":
            return _from_quaternion(valid, pose)
        case "matrix":
            return _from_matrix(valid, pose)
        case _:
            return rotation_from_columns(valid.stacked_columns(pose.rotation_columns), pose)


def logged_rotation_angles(valid: Table, pose: PoseTable) -> Array | None:
    """Return logged Euler angles or rotation vectors, shape (n, k); None for other rotations."""
    if pose.rotation_kind in ("quaternion", "matrix", "robot"):
        return None
    return valid.stacked_columns(pose.rotation_columns)


def rotation_from_columns(numbers: Array, pose: PoseTable) -> Vec4:
    """Convert quaternions, Euler angles or rotation vectors as logged to unit quaternions.

    Euler angles are as SciPy means them: "xyz" turns about fixed axes, "XYZ" about moving ones.

    `numbers`: as the log has them, shape (n, k).
    """
    order = pose.rotation_order
    if pose.rotation_kind == "quaternion":
        q = numbers[:, [1, 2, 3, 0]] if order == "wxyz" else numbers
        return q / np.linalg.norm(q, axis=-1, keepdims=True)
    angles = numbers * ANGLE_UNITS[pose.angle_unit]
    if pose.rotation_kind == "rotation_vector":
        return exp_rotation(angles)
    q = np.tile([0.0, 0.0, 0.0, 1.0], (len(angles), 1))
    for k, axis in enumerate(order.lower()):
        turn = exp_rotation(angles[:, k, None] * np.eye(3)["xyz".index(axis)])
        q = quaternion_product(q, turn) if order.isupper() else quaternion_product(turn, q)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def angles_in_degrees(valid: Table, pose: PoseTable, time: Array | None) -> Iterator[Finding]:
    """Return a finding if angles declared in radians must be in degrees.

    Radians of Euler angles and of rotation vectors go beyond a turn only where somebody unwrapped
    them. They then do not change by turns in a second, unless the body spins: always the same way.
    The time is in seconds, None for static poses.
    """
    if pose.angle_unit != "rad" or pose.rotation_kind not in ("euler", "rotation_vector"):
        return
    angles = valid.stacked_columns(pose.rotation_columns)
    largest = float(np.abs(angles).max(initial=0.0))
    if largest <= _MAX_LOGGED_ANGLE:
        return
    if time is not None:
        steps = np.abs(np.diff(angles, axis=0))
        rates = steps.max(axis=1) / np.maximum(np.diff(time), 1e-12)
        to_and_fro = steps.sum(axis=0) > _MIN_PATH_RATIO * np.ptp(angles, axis=0)
        if np.median(rates) < _MAX_ANGLE_RATE or not to_and_fro[np.argmax(steps.sum(axis=0))]:
            return
    yield Finding(
        "angle_unit",
        "error",
        f"the angles of the pose go up to {largest:.4g}: in radians, that is "
        f"{largest / (2.0 * np.pi):.3g} turns; they are in degrees.",
        'In the schema, [pose], set `angle_unit = "deg"`.',
        {"largest": largest},
    )


def _from_quaternion(valid: Table, pose: PoseTable) -> Vec4:
    q = valid.stacked_columns(pose.rotation_columns)
    if pose.rotation_order == "wxyz":
        q = q[:, [1, 2, 3, 0]]
    with np.errstate(over="ignore"):
        norm = np.linalg.norm(q, axis=-1)
    quaternion_name = f"the quaternion of columns {list(pose.rotation_columns)}"
    for row in np.flatnonzero(norm < 1e-6).tolist():
        problem = "is zero, not a rotation; remove the rows in which the pose was not measured"
        raise valid.error_at(row, f"{quaternion_name} {problem}", pose.rotation_columns[0])
    for row in np.flatnonzero(~(np.abs(norm - 1.0) <= _ROTATION_TOLERANCE)).tolist():
        raise valid.error_at(
            row,
            f"{quaternion_name} has norm {norm[row]:.4g}, expected 1; are these the four columns "
            "of the quaternion?",
            pose.rotation_columns[0],
        )
    return q / norm[:, None]


def _from_matrix(valid: Table, pose: PoseTable) -> Vec4:
    matrix = _transforms(valid, pose)
    rotation = matrix[:, :3, :3]
    first, last = pose.rotation_columns[0], pose.rotation_columns[-1]
    if pose.is_homogeneous_matrix:
        _require_bottom_row(valid, pose, matrix)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(np.swapaxes(rotation, -1, -2) @ rotation - np.eye(3)).max(axis=(-1, -2))
    for row in np.flatnonzero(~(error <= _ROTATION_TOLERANCE)).tolist():
        raise valid.error_at(
            row,
            f"the matrix of columns {first!r} to {last!r} is not orthonormal: "
            f"RᵀR is off by {error[row]:.2g}; are these the columns of the rotation?",
            first,
        )
    for row in np.flatnonzero(np.linalg.det(rotation) < 0.0).tolist():
        raise valid.error_at(
            row,
            f"the matrix of columns {first!r} to {last!r} is a reflection "
            "(determinant −1), not a rotation; one of its axes has the wrong sign, or two of its "
            "rows or columns are swapped",
            first,
        )
    for _ in range(3):  # to the nearest rotation (Newton-Schulz, quadratic)
        gram = np.swapaxes(rotation, -1, -2) @ rotation
        rotation = rotation @ (1.5 * np.eye(3) - 0.5 * gram)
    return quaternion_from_rotation(rotation)


def read_translation(valid: Table, pose: PoseTable) -> Array:
    """Return the position in homogeneous transforms of sixteen columns, shape (n, 3)."""
    return np.ascontiguousarray(_transforms(valid, pose)[:, :3, 3])


def _transforms(valid: Table, pose: PoseTable) -> Array:
    flat = valid.stacked_columns(pose.rotation_columns)
    side = 4 if pose.is_homogeneous_matrix else 3
    matrix = flat.reshape(-1, side, side)
    return matrix if pose.rotation_order == "row" else np.swapaxes(matrix, -1, -2)


def _require_bottom_row(valid: Table, pose: PoseTable, matrix: Array) -> None:
    off = np.abs(matrix[:, 3, :] - [0.0, 0.0, 0.0, 1.0]).max(axis=-1)
    for row in np.flatnonzero(off > 1e-6).tolist():
        other = "column" if pose.rotation_order == "row" else "row"
        fits = np.abs(matrix[row, :, 3] - [0.0, 0.0, 0.0, 1.0]).max() <= 1e-6
        raise valid.error_at(
            row,
            f"the transform's last row is {matrix[row, 3].tolist()}, expected [0, 0, 0, 1]"
            + (f'; its columns are in the other order: set order = "{other}"' if fits else ""),
            pose.rotation_columns[0],
        )
