"""Faults of the joint positions from which a robot's model gives the pose."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from identify.diagnosis.fault import Fault, discrete_fault
from identify.logs.log_properties import LogProperties
from identify.logs.schema_fields import negate_column


def joint_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of order, sign and unit of the joint positions that give the pose."""
    schema = setup.schema
    if (
        schema is None
        or schema.joints is None
        or not (schema.has_pose_from_joints and setup.has_attitude)
    ):
        return
    joints, columns = schema.joints, schema.joints.position
    for i, j in combinations(range(len(columns)), 2):
        swapped = list(columns)
        swapped[i], swapped[j] = columns[j], columns[i]
        text = f"the positions of joints {joints.names[i]} and {joints.names[j]} are exchanged"
        yield discrete_fault(setup, "joint_order", text, {"joints.position": swapped})
    for j, name in enumerate(joints.names):
        mirrored = [*columns[:j], negate_column(columns[j]), *columns[j + 1 :]]
        text = f"joint {name} turns the other way than in the robot's model"
        yield discrete_fault(setup, "joint_sign", text, {"joints.position": mirrored})
    unit = joints.units[0]
    if unit in ("rad", "deg") and len({*joints.units}) == 1 and not joints.offset:
        other = "deg" if unit == "rad" else "rad"
        text = f'the positions of the joints are in "{other}", not in "{unit}"'
        yield discrete_fault(setup, "angle_unit", text, {"joints.unit": other})
