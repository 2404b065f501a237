"""Shapes by name, for commands: what sizes each takes, and building one from numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from identify.errors import ModelError, did_you_mean
from identify.inertia.shapes.box import Box, BoxShell
from identify.inertia.shapes.capsule import Capsule, CapsuleShell
from identify.inertia.shapes.cone import Cone, ConeShell
from identify.inertia.shapes.cylinder import Cylinder, CylinderShell, Tube
from identify.inertia.shapes.ellipsoid import Ellipsoid, EllipsoidShell, Sphere, SphereShell
from identify.inertia.shapes.plate import Disc, Plate
from identify.inertia.shapes.rod import Rod
from identify.inertia.shapes.shape import Shape
from identify.inertia.shapes.sizes import Size, sizes_of

SHAPES: Mapping[str, type[Shape]] = MappingProxyType(
    {
        "box": Box,
        "box-shell": BoxShell,
        "capsule": Capsule,
        "capsule-shell": CapsuleShell,
        "cone": Cone,
        "cone-shell": ConeShell,
        "cylinder": Cylinder,
        "cylinder-shell": CylinderShell,
        "disc": Disc,
        "ellipsoid": Ellipsoid,
        "ellipsoid-shell": EllipsoidShell,
        "plate": Plate,
        "rod": Rod,
        "sphere": Sphere,
        "sphere-shell": SphereShell,
        "tube": Tube,
    }
)
"""The shapes that are said by a few sizes."""


class ShapeMeaning(NamedTuple):
    """What a shape is, in words.

    Attributes:
        what: what is filled, and of a shell whether it is closed.
        origin: where in it the origin of its frame is.
    """

    what: str
    origin: str


_CENTRE = "its centre"
_BASE = "the middle of its base, the apex above it"

SHAPE_MEANINGS: Mapping[str, ShapeMeaning] = MappingProxyType(
    {
        "box": ShapeMeaning("solid, sides along the axes", _CENTRE),
        "box-shell": ShapeMeaning("the six sides of a box, closed", _CENTRE),
        "capsule": ShapeMeaning("solid cylinder along z between two half balls", _CENTRE),
        "capsule-shell": ShapeMeaning("the whole surface of a capsule, closed", _CENTRE),
        "cone": ShapeMeaning("solid, its axis along z", _BASE),
        "cone-shell": ShapeMeaning("side and base disc of a cone, closed", _BASE),
        "cylinder": ShapeMeaning("solid, its axis along z", _CENTRE),
        "cylinder-shell": ShapeMeaning("side and both end discs of a cylinder, closed", _CENTRE),
        "disc": ShapeMeaning("round plate without thickness, in the plane z = 0", _CENTRE),
        "ellipsoid": ShapeMeaning("solid, axes along x, y and z", _CENTRE),
        "ellipsoid-shell": ShapeMeaning(
            "the whole surface of an ellipsoid, closed, a skin of one thickness", _CENTRE
        ),
        "plate": ShapeMeaning("rectangle without thickness, in the plane z = 0", _CENTRE),
        "rod": ShapeMeaning("line without thickness, along z", _CENTRE),
        "sphere": ShapeMeaning("solid ball", _CENTRE),
        "sphere-shell": ShapeMeaning("the whole surface of a ball, closed", _CENTRE),
        "tube": ShapeMeaning("side of a cylinder along z alone, open at both ends", _CENTRE),
    }
)
"""What each of `SHAPES` is."""


def shape_sizes(name: str) -> tuple[Size, ...]:
    """Names, meanings and units of the sizes that a shape takes, in their order.

    Raises:
        ModelError: no shape of that name.
    """
    if name not in SHAPES:
        raise ModelError(f"no shape {name!r} among {', '.join(SHAPES)}{did_you_mean(name, SHAPES)}")
    return sizes_of(SHAPES[name])


def shape_from_sizes(name: str, values: Sequence[float]) -> Shape:
    """The shape of a name and its sizes: `shape_from_sizes("box", [0.1, 0.2, 0.3])`.

    Args:
        name: one of `SHAPES`.
        values: as many numbers as `shape_sizes(name)` [m].

    Raises:
        ModelError: no shape of that name, another number of sizes, or one that is not positive.
    """
    expected = shape_sizes(name)
    if len(values) != len(expected):
        spelled = ", ".join(f"{size.name} ({size.meaning}) [{size.unit}]" for size in expected)
        count = "1 size" if len(expected) == 1 else f"{len(expected)} sizes"
        meaning = SHAPE_MEANINGS[name]
        raise ModelError(
            f"shape {name}: expected {count}, got {len(values)}; it takes {spelled}. It is: "
            f"{meaning.what}; the origin is {meaning.origin}"
        )
    return SHAPES[name](*values)
