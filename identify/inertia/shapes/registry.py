"""Shapes by name, for commands: what sizes each takes, and building one from numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

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
        raise ModelError(
            f"shape {name}: expected {len(expected)} sizes, got {len(values)}; it takes {spelled}"
        )
    return SHAPES[name](*values)
