"""Shapes of even density: their ten parameters, bounding ellipsoids and convex hulls.

A plate with a bore: `Compound([Box(0.1, 0.1, 0.01)], [Cylinder(0.02, 0.01)]).phi(density=2700.0)`.
"""

from identify.inertia.shapes.bounding_ellipsoid import BoundingEllipsoid
from identify.inertia.shapes.box import Box, BoxShell
from identify.inertia.shapes.capsule import Capsule, CapsuleShell
from identify.inertia.shapes.compound import Compound
from identify.inertia.shapes.cone import Cone, ConeShell
from identify.inertia.shapes.cylinder import Cylinder, CylinderShell, Tube
from identify.inertia.shapes.density import DensityField
from identify.inertia.shapes.ellipsoid import Ellipsoid, EllipsoidShell, Sphere, SphereShell
from identify.inertia.shapes.enclosing import enclosing_ellipsoid
from identify.inertia.shapes.hull import Hull, polytope_hull
from identify.inertia.shapes.mesh import Mesh, MeshSurface, convex_mesh
from identify.inertia.shapes.mesh_file import read_mesh, read_mesh_surface
from identify.inertia.shapes.placed import Placed
from identify.inertia.shapes.plate import Disc, Plate
from identify.inertia.shapes.points import Points
from identify.inertia.shapes.registry import (
    SHAPE_MEANINGS,
    SHAPES,
    ShapeMeaning,
    shape_from_sizes,
    shape_sizes,
)
from identify.inertia.shapes.rod import Rod
from identify.inertia.shapes.shape import DENSITY_UNITS, Shape
from identify.inertia.shapes.sizes import Size
from identify.inertia.shapes.submerged import cylinder_added_mass, ellipsoid_added_mass

__all__ = [
    "DENSITY_UNITS",
    "SHAPES",
    "SHAPE_MEANINGS",
    "BoundingEllipsoid",
    "Box",
    "BoxShell",
    "Capsule",
    "CapsuleShell",
    "Compound",
    "Cone",
    "ConeShell",
    "Cylinder",
    "CylinderShell",
    "DensityField",
    "Disc",
    "Ellipsoid",
    "EllipsoidShell",
    "Hull",
    "Mesh",
    "MeshSurface",
    "Placed",
    "Plate",
    "Points",
    "Rod",
    "Shape",
    "ShapeMeaning",
    "Size",
    "Sphere",
    "SphereShell",
    "Tube",
    "convex_mesh",
    "cylinder_added_mass",
    "ellipsoid_added_mass",
    "enclosing_ellipsoid",
    "polytope_hull",
    "read_mesh",
    "read_mesh_surface",
    "shape_from_sizes",
    "shape_sizes",
]
