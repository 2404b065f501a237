"""Shapes of even density and their ten parameters; points, densities, and an ellipsoid around them.

A body of parts is the sum of theirs about one point, a bore is taken away with a minus:
`Box(0.1, 0.1, 0.01).phi(density=2700.0) - Cylinder(0.02, 0.01).phi(density=2700.0)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from identify.lazy import attach

if TYPE_CHECKING:
    from identify.inertia.shapes.bounding import BoundingEllipsoid as BoundingEllipsoid
    from identify.inertia.shapes.bounding import enclosing_ellipsoid as enclosing_ellipsoid
    from identify.inertia.shapes.density import DensityField as DensityField
    from identify.inertia.shapes.density import Points as Points
    from identify.inertia.shapes.mesh import Mesh as Mesh
    from identify.inertia.shapes.mesh import read_mesh as read_mesh
    from identify.inertia.shapes.registry import SHAPES as SHAPES
    from identify.inertia.shapes.registry import shape_from_sizes as shape_from_sizes
    from identify.inertia.shapes.registry import shape_sizes as shape_sizes
    from identify.inertia.shapes.shape import DENSITY_UNITS as DENSITY_UNITS
    from identify.inertia.shapes.shape import Shape as Shape
    from identify.inertia.shapes.shape import Size as Size
    from identify.inertia.shapes.shells import BoxShell as BoxShell
    from identify.inertia.shapes.shells import CapsuleShell as CapsuleShell
    from identify.inertia.shapes.shells import ConeShell as ConeShell
    from identify.inertia.shapes.shells import CylinderShell as CylinderShell
    from identify.inertia.shapes.shells import Disc as Disc
    from identify.inertia.shapes.shells import EllipsoidShell as EllipsoidShell
    from identify.inertia.shapes.shells import Plate as Plate
    from identify.inertia.shapes.shells import Rod as Rod
    from identify.inertia.shapes.shells import SphereShell as SphereShell
    from identify.inertia.shapes.shells import Tube as Tube
    from identify.inertia.shapes.solids import Box as Box
    from identify.inertia.shapes.solids import Capsule as Capsule
    from identify.inertia.shapes.solids import Cone as Cone
    from identify.inertia.shapes.solids import Cylinder as Cylinder
    from identify.inertia.shapes.solids import Ellipsoid as Ellipsoid
    from identify.inertia.shapes.solids import Sphere as Sphere
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "bounding": ("BoundingEllipsoid", "enclosing_ellipsoid"),
            "density": ("DensityField", "Points"),
            "mesh": ("Mesh", "read_mesh"),
            "registry": ("SHAPES", "shape_from_sizes", "shape_sizes"),
            "shape": ("DENSITY_UNITS", "Shape", "Size"),
            "shells": (
                "BoxShell",
                "CapsuleShell",
                "ConeShell",
                "CylinderShell",
                "Disc",
                "EllipsoidShell",
                "Plate",
                "Rod",
                "SphereShell",
                "Tube",
            ),
            "solids": ("Box", "Capsule", "Cone", "Cylinder", "Ellipsoid", "Sphere"),
        },
    )
