"""Shapes by name, for the command line: descriptions, sizes and construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from identify.documents import lookup
from identify.errors import ModelError
from identify.inertia.shapes.primitives import (
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
from identify.inertia.shapes.shape import Shape, Size, sizes_of


class NamedShape(NamedTuple):
    """Shape that a few lengths define, with its description.

    Attributes:
        shape_class: its class.
        description: its geometry, and whether a shell is closed.
        origin: position of the origin of its frame.
    """

    shape_class: type[Shape]
    description: str
    origin: str = "its centre"


_CONE_ORIGIN = "the middle of its base, the apex above it"

SHAPES: Mapping[str, NamedShape] = MappingProxyType(
    {
        "box": NamedShape(Box, "solid, sides along the axes"),
        "box-shell": NamedShape(BoxShell, "the six sides of a box, closed"),
        "capsule": NamedShape(Capsule, "solid cylinder along z between two half balls"),
        "capsule-shell": NamedShape(CapsuleShell, "the whole surface of a capsule, closed"),
        "cone": NamedShape(Cone, "solid, its axis along z", _CONE_ORIGIN),
        "cone-shell": NamedShape(ConeShell, "side and base disc of a cone, closed", _CONE_ORIGIN),
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
        "tube": NamedShape(Tube, "lateral surface of a cylinder along z, open at both ends"),
    }
)
"""Shapes that a few sizes define, by name."""


def shape_sizes(name: str) -> tuple[Size, ...]:
    """Return names and meanings of the sizes of a shape, in their order.

    Raises:
        ModelError: no shape of that name.
    """
    return sizes_of(lookup(SHAPES, name, "shape", ModelError).shape_class)


def shape_from_sizes(name: str, values: Sequence[float]) -> Shape:
    """Create a shape from its name and sizes: `shape_from_sizes("box", [0.1, 0.2, 0.3])`.

    Args:
        name: one of `SHAPES`.
        values: as many numbers as `shape_sizes(name)` [m].

    Raises:
        ModelError: no shape of that name, another number of sizes, or one that is not positive.
    """
    expected = shape_sizes(name)
    shape_class, description, origin = SHAPES[name]
    if len(values) != len(expected):
        spelled = ", ".join(f"{size.name} ({size.meaning}) [m]" for size in expected)
        count = "1 size" if len(expected) == 1 else f"{len(expected)} sizes"
        raise ModelError(
            f"shape {name}: expected {count}, got {len(values)}: {spelled}. The shape is: "
            f"{description}; the origin is {origin}"
        )
    return shape_class(*values)


MATERIAL_DENSITIES: Mapping[str, float] = MappingProxyType(
    {
        "abs": 1040.0,
        "aluminium": 2700.0,
        "aluminum": 2700.0,
        "brass": 8500.0,
        "carbon-fibre": 1550.0,
        "copper": 8960.0,
        "nylon": 1140.0,
        "petg": 1270.0,
        "pla": 1240.0,
        "pmma": 1180.0,
        "polycarbonate": 1200.0,
        "pom": 1410.0,
        "ptfe": 2200.0,
        "stainless-steel": 7900.0,
        "steel": 7850.0,
        "titanium": 4430.0,
        "water": 1000.0,
    }
)
"""Typical densities of materials of tools and grippers [kg/m³], by name.

Titanium is Ti-6Al-4V, stainless steel 1.4301, nylon PA 6. Alloys and plastics of one name differ by
some percent, and printed parts by their infill: weigh the part and give its mass where it matters.
"""
