"""What the tables of a schema must agree on; each check raises ValueError with the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from identify.logs.schema.document import Schema


def check_streams(schema: Schema) -> None:
    """A stream belongs to a group of signals the schema describes."""
    for name in type(schema.streams).model_fields:
        if getattr(schema.streams, name) is not None and name not in schema.groups:
            raise ValueError(f"[streams.{name}] names a file, but there is no [{name}] table")


def check_clocks(schema: Schema) -> None:
    """Every file has exactly one clock, and all files the same kind of it."""
    clocks = {}
    for group in schema.groups:
        layout = schema.layout(group)
        if not layout.clocks:
            raise ValueError(
                "[log] must give exactly one of time (a column), rate_hz (rows a second) "
                "and still = true (every row is a still pose); got none"
            )
        clocks[group] = (layout.clocks[0], layout.rate_hz)
    if len(set(clocks.values())) > 1:
        spelled = {
            group: kind if rate is None else f"{kind} {rate}"
            for group, (kind, rate) in clocks.items()
        }
        raise ValueError(f"[streams.*]: the files must share one clock, got {spelled}")


def check_motion(schema: Schema) -> None:
    """The log tells the orientation, the linear acceleration and the rotation of the body."""
    if schema.pose is None:
        _check_without_pose(schema)
    still = schema.layout("wrench").still
    if not still:
        _check_linear(schema)


def _check_without_pose(schema: Schema) -> None:
    needs_axes = [
        f'[{name}] frame = "world"'
        for name in schema.groups
        if getattr(schema, name).frame == "world"
    ]
    if needs_axes:
        raise ValueError(f"{needs_axes[0]} needs the orientation of the body: give [pose]")
    acceleration = schema.acceleration
    if acceleration is None or acceleration.linear is None:
        raise ValueError(
            "without [pose], gravity can only come from an accelerometer: give [pose], or "
            '[acceleration] linear with kind = "proper" and frame = "body"'
        )
    if acceleration.kind != "proper":
        raise ValueError(
            f'[acceleration] kind = "{acceleration.kind}" needs the orientation of the body to '
            'take gravity off: give [pose], or kind = "proper" if an accelerometer measured it'
        )
    rates = schema.twist is not None and schema.twist.angular is not None
    if not rates and not schema.layout("wrench").still:
        raise ValueError(
            "without [pose], the rotation can only come from a gyroscope: give [pose], or "
            '[twist] angular with frame = "body"'
        )


def _check_linear(schema: Schema) -> None:
    acceleration, twist, pose = schema.acceleration, schema.twist, schema.pose
    position = pose is not None and pose.has_position
    velocity = position or (twist is not None and twist.linear is not None)
    if acceleration is None or acceleration.linear is None:
        if not velocity:
            raise ValueError(
                "nothing tells the linear acceleration of the body: give [pose] position, "
                "[twist] linear or [acceleration] linear, or [log] still = true"
            )
    elif acceleration.kind == "spatial" and not velocity:
        raise ValueError(
            '[acceleration] kind = "spatial" needs the velocity of the body\'s origin: give '
            "[twist] linear or [pose] position"
        )
