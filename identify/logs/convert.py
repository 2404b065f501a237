"""Columns in a log's units, order and sign become the signals of a `Recording`."""

from __future__ import annotations

from identify.arrays import Array
from identify.logs.orientation import read_rotation, read_translation
from identify.logs.rows import Selection
from identify.logs.schema import AccelerationTable, PoseTable, TwistTable, WrenchTable
from identify.logs.units import ACCELERATION, ANGLE, FORCE, LENGTH, TORQUE
from identify.spatial.rotations import quaternion_conjugate, rotate_back, rotation_from_quaternion


def pose_signals(selection: Selection, pose: PoseTable) -> dict[str, Array]:
    """`quaternion` of R_WB, and `position` p_WoBo_W where the log has it.

    A log that maps the world to the body has the inverse: R_WB = Rᵀ, p_WoBo_W = −Rᵀ p.

    Raises:
        LogError: a row that is no rotation.
    """
    q = read_rotation(selection, pose)
    p = _position(selection, pose)
    if pose.maps == "world_to_body":
        if p is not None:
            p = -rotate_back(rotation_from_quaternion(q), p)
        q = quaternion_conjugate(q)
    return {"quaternion": q} if p is None else {"position": p, "quaternion": q}


def twist_signals(selection: Selection, twist: TwistTable) -> dict[str, Array]:
    """`linear_velocity` [m/s] and `angular_velocity` [rad/s], those that the log has."""
    signals = {}
    if twist.linear is not None:
        signals["linear_velocity"] = selection.columns(twist.linear)
    if twist.angular is not None:
        signals["angular_velocity"] = selection.columns(twist.angular) * ANGLE[twist.angle_unit]
    return signals


def acceleration_signals(selection: Selection, table: AccelerationTable) -> dict[str, Array]:
    """`linear_acceleration` [m/s²] and `angular_acceleration` [rad/s²], those the log has."""
    signals = {}
    if table.linear is not None:
        factor = ACCELERATION[table.unit]
        signals["linear_acceleration"] = selection.columns(table.linear) * factor
    if table.angular is not None:
        factor = ANGLE[table.angle_unit]
        signals["angular_acceleration"] = selection.columns(table.angular) * factor
    return signals


def wrench_signals(selection: Selection, wrench: WrenchTable) -> dict[str, Array]:
    """`force` [N] and `torque` [N m] that act on the body: the reaction on a sensor is negated."""
    sign = 1.0 if wrench.acts_on == "body" else -1.0
    return {
        "force": selection.columns(wrench.force) * (sign * FORCE[wrench.force_unit]),
        "torque": selection.columns(wrench.torque) * (sign * TORQUE[wrench.torque_unit]),
    }


def _position(selection: Selection, pose: PoseTable) -> Array | None:
    factor = LENGTH[pose.position_unit]
    if pose.homogeneous:
        return read_translation(selection, pose) * factor
    return None if pose.position is None else selection.columns(pose.position) * factor
