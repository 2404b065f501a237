"""Faults of the rotation convention of a pose, and of swapped or mirrored axes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

from identify.diagnosis.fault import Fault, discrete_fault
from identify.logs.log_properties import LogProperties
from identify.logs.patch import Patch
from identify.logs.schema_fields import Column, negate_column
from identify.logs.schema_tables import PoseTable

SIGNED_ORDERS = tuple(
    tuple(zip(signs, order, strict=True))
    for order in permutations(range(3))
    for signs in product((1, -1), repeat=3)
    if order != (0, 1, 2) or abs(sum(signs)) != 3
)
"""Signed permutations of three columns, except the identity and the negation of all."""

_EULER_SEQUENCES = tuple(
    "".join(axes) for axes in product("XYZ", repeat=3) if axes[1] not in (axes[0], axes[2])
)
"""The twelve sequences of Euler angles."""

_OTHER_ANGLE_UNIT = {"rad": "deg", "deg": "rad"}
_ANGLE_UNIT_NAMES = {"rad": "radians", "deg": "degrees"}


def rotation_faults(setup: LogProperties) -> Iterator[Fault]:
    """Yield faults of convention, unit, order and signs of a rotation, and of position axes."""
    pose = None if setup.schema is None else setup.schema.pose
    if pose is None or not setup.has_attitude:
        return
    columns = pose.rotation_columns
    if pose.matrix is None and len(columns) >= 3:
        if pose.quaternion is None:
            yield from _convention_faults(setup, pose, columns)
        yield from _sign_faults(setup, pose, columns)
    if (
        setup.acceleration_from_position
        and pose.position is not None
        and pose.position_kind == "world"
    ):
        for order in SIGNED_ORDERS:
            patch = {"pose.position": reordered(pose.position, order)}
            yield discrete_fault(
                setup, "position_axes", f"the position's {describe_axes(order)}", patch
            )


def reordered(columns: tuple[Column, ...], order: tuple[tuple[int, int], ...]) -> list[Column]:
    """Apply a signed permutation to three columns."""
    return [columns[k] if sign > 0 else negate_column(columns[k]) for sign, k in order]


def describe_axes(order: tuple[tuple[int, int], ...]) -> str:
    """Describe a signed permutation of axes, as the end of a sentence."""
    shown = ", ".join(("" if sign > 0 else "-") + "xyz"[k] for sign, k in order)
    return f"x, y, z are what the log calls {shown}"


def _convention_faults(
    setup: LogProperties, pose: PoseTable, columns: tuple[Column, ...]
) -> Iterator[Fault]:
    """Yield interpretations as Euler angles of any order or as rotation vector, in either unit.

    Logs of robots rarely have proper Euler angles, such as "xzx": they count as a mistake more.
    """
    meanings = [("rotation_vector", "", columns)]
    meanings += [("euler", s, columns) for axes in _EULER_SEQUENCES for s in (axes, axes.lower())]
    meanings += [  # the second logged angle is not that of the second rotation
        ("euler", axes, tuple(columns[k] for k in order))
        for axes in _EULER_SEQUENCES
        if len({*axes}) == 3
        for order in permutations(range(3))
        if order[1] != 1
    ]
    present = pose.rotation_kind, pose.rotation_order, columns
    for (kind, order, permuted), unit in product(
        meanings, (pose.angle_unit, _OTHER_ANGLE_UNIT[pose.angle_unit])
    ):
        patch: dict[str, object] = {}
        texts = []
        if (kind, order, permuted) != present:
            if kind != pose.rotation_kind:
                patch[f"pose.{pose.rotation_kind}"] = None
            if kind != pose.rotation_kind or permuted != columns:
                patch[f"pose.{kind}"] = list(permuted)
            if order != pose.rotation_order:
                patch["pose.order"] = order or None
            texts.append(_convention_text(kind, order, permuted, columns))
        if unit != pose.angle_unit:
            patch["pose.angle_unit"] = unit
            texts.append(
                f"the angles of the pose are in {_ANGLE_UNIT_NAMES[unit]}, not in "
                f"{_ANGLE_UNIT_NAMES[pose.angle_unit]}"
            )
        if texts:
            code = "rotation_convention" if (kind, order, permuted) != present else "angle_unit"
            rare = kind == "euler" and len({*order.upper()}) < 3
            mistakes = len(texts) + (permuted != columns) + rare
            yield discrete_fault(setup, code, " and ".join(texts), patch, mistake_count=mistakes)


def _convention_text(
    kind: str, order: str, permuted: tuple[Column, ...], columns: tuple[Column, ...]
) -> str:
    if kind == "rotation_vector":
        return "the three numbers of the rotation are a rotation vector"
    axes = "moving" if order.isupper() else "fixed"
    names = f" {', '.join(map(str, permuted))}" if permuted != columns else ""
    return f'the three numbers{names} of the rotation are Euler angles "{order}" about {axes} axes'


def _sign_faults(
    setup: LogProperties, pose: PoseTable, columns: tuple[Column, ...]
) -> Iterator[Fault]:
    """Yield interpretations of a rotation with other signs or, for a vector, in another order."""
    place = 1 if pose.rotation_order == "wxyz" else 0
    vector, scalar = columns[place : place + 3], [*columns[:place], *columns[place + 3 :]]
    orders = SIGNED_ORDERS
    if pose.euler is not None:
        orders = tuple(each for each in orders if [k for _, k in each] == [0, 1, 2])
        orders += (((-1, 0), (-1, 1), (-1, 2)),)
    for order in orders:
        signed = reordered(vector, order)
        patch: Patch = {f"pose.{pose.rotation_kind}": [*scalar[:place], *signed, *scalar[place:]]}
        text = f"the rotation's {describe_axes(order)}"
        if pose.euler is not None:
            text = f"the Euler angles are {', '.join(map(str, signed))}"
        yield discrete_fault(setup, "rotation_convention", text, patch)
