from identify.inertia.shapes.bounding import (
    BoundingEllipsoid as BoundingEllipsoid,
    enclosing_ellipsoid as enclosing_ellipsoid,
)
from identify.inertia.shapes.mesh import (
    Mesh as Mesh,
    convex_hull as convex_hull,
    read_mesh as read_mesh,
    read_triangles as read_triangles,
)
from identify.inertia.shapes.points import PointMasses as PointMasses
from identify.inertia.shapes.primitives import (
    Box as Box,
    BoxShell as BoxShell,
    Capsule as Capsule,
    CapsuleShell as CapsuleShell,
    Cone as Cone,
    ConeShell as ConeShell,
    Cylinder as Cylinder,
    CylinderShell as CylinderShell,
    Disc as Disc,
    Ellipsoid as Ellipsoid,
    EllipsoidShell as EllipsoidShell,
    Plate as Plate,
    Rod as Rod,
    Sphere as Sphere,
    SphereShell as SphereShell,
    Tube as Tube,
)
from identify.inertia.shapes.registry import (
    MATERIAL_DENSITIES as MATERIAL_DENSITIES,
    SHAPES as SHAPES,
    shape_from_sizes as shape_from_sizes,
    shape_sizes as shape_sizes,
)
from identify.inertia.shapes.shape import (
    DENSITY_UNITS as DENSITY_UNITS,
    Shape as Shape,
    Size as Size,
)
