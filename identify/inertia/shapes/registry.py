"""Shapes by name, for commands: what each is, what sizes it takes, and building one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from identify.documents import lookup
from identify.errors import ModelError
from identify.inertia.shapes.shape import Shape, Size, sizes_of
from identify.inertia.shapes.shells import (
    Box,
    BoxShell,
    Capsule,
    CapsuleShell,
    Cone,
    ConeShell,
    Cylinder,
    CylinderShell,
    Disc,
    Ellipsoid,
    EllipsoidShell,
    Plate,
    Rod,
    Sphere,
    SphereShell,
    Tube,
)


class NamedShape(NamedTuple):
    """A shape that is said by a few sizes.

    Attributes:
        kind: its class.
        what: what is filled, and of a shell whether it is closed.
        origin: where in it the origin of its frame is.
    """

    kind: type[Shape]
    what: str
    origin: str = "its centre"


_BASE = "the middle of its base, the apex above it"

SHAPES: Mapping[str, NamedShape] = MappingProxyType(
    {
        "box": NamedShape(Box, "solid, sides along the axes"),
        "box-shell": NamedShape(BoxShell, "the six sides of a box, closed"),
        "capsule": NamedShape(Capsule, "solid cylinder along z between two half balls"),
        "capsule-shell": NamedShape(CapsuleShell, "the whole surface of a capsule, closed"),
        "cone": NamedShape(Cone, "solid, its axis along z", _BASE),
        "cone-shell": NamedShape(ConeShell, "side and base disc of a cone, closed", _BASE),
        "cylinder": NamedShape(Cylinder, "solid, its axis along z"),
        "cylinder-shell": NamedShape(
            CylinderShell, "side and both end discs of a cylinder, closed"
        ),
        "disc": NamedShape(Disc, "round plate without thickness, in the plane z = 0"),
        "ellipsoid": NamedShape(Ellipsoid, "solid, axes along x, y and z"),
        "ellipsoid-shell": NamedShape(
            EllipsoidShell, "the whole surface of an ellipsoid, closed, a skin of one thickness"
        ),
        "plate": NamedShape(Plate, "rectangle without thickness, in the plane z = 0"),
        "rod": NamedShape(Rod, "line without thickness, along z"),
        "sphere": NamedShape(Sphere, "solid ball"),
        "sphere-shell": NamedShape(SphereShell, "the whole surface of a ball, closed"),
        "tube": NamedShape(Tube, "side of a cylinder along z alone, open at both ends"),
    }
)
"""The shapes that are said by a few sizes."""


def shape_sizes(name: str) -> tuple[Size, ...]:
    """Names and meanings of the sizes that a shape takes, in their order.

    Raises:
        ModelError: no shape of that name.
    """
    return sizes_of(lookup(SHAPES, name, "shape", ModelError).kind)


def shape_from_sizes(name: str, values: Sequence[float]) -> Shape:
    """The shape of a name and its sizes: `shape_from_sizes("box", [0.1, 0.2, 0.3])`.

    Args:
        name: one of `SHAPES`.
        values: as many numbers as `shape_sizes(name)` [m].

    Raises:
        ModelError: no shape of that name, another number of sizes, or one that is not positive.
    """
    expected = shape_sizes(name)
    kind, what, origin = SHAPES[name]
    if len(values) != len(expected):
        spelled = ", ".join(f"{size.name} ({size.meaning}) [m]" for size in expected)
        count = "1 size" if len(expected) == 1 else f"{len(expected)} sizes"
        raise ModelError(
            f"shape {name}: expected {count}, got {len(values)}; it takes {spelled}. It is: "
            f"{what}; the origin is {origin}"
        )
    return kind(*values)
