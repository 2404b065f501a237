"""Triangle meshes, solid and surface."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from identify.arrays import Indices, Mat33, Vec3, seal
from identify.errors import ModelError
from identify.inertia.shapes.directions import farthest_corners
from identify.inertia.shapes.hull import affine_frame, hull_vertices
from identify.inertia.shapes.polyhedron import (
    Edges,
    Moments,
    edges_of,
    parts_wound_inwards,
    surface_moments,
    volume_moments,
)
from identify.inertia.shapes.shape import Shape, Solid, Surface


class _Triangles(Shape):
    __slots__ = ()
    vertices: Vec3
    faces: Indices

    @property
    def corners(self) -> Vec3:
        """Vertices that are corners of the convex hull [m], shape (n, 3)."""
        used = self.vertices[np.unique(self.faces)]
        flat = affine_frame(used).coordinates(used)
        return used[hull_vertices(flat)] if flat.shape[1] else used[:1]

    def support_points(self, directions: Vec3) -> Vec3:
        """The vertex that reaches farthest."""
        return farthest_corners(self.corners, directions)

    def _seal(self, what: str) -> None:
        vertices = seal(self.vertices, f"{what}: vertices", (None, 3))
        faces = np.array(self.faces)
        if faces.ndim != 2 or faces.shape[1:] != (3,) or not len(faces):
            raise ModelError(f"{what}: expected triangles of shape (k, 3), got {faces.shape}")
        if not np.issubdtype(faces.dtype, np.integer):
            raise ModelError(f"{what}: expected faces of whole numbers, got {faces.dtype}")
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise ModelError(
                f"{what}: faces name the vertices {faces.min()} to {faces.max()}, "
                f"but there are {len(vertices)}, counted from 0"
            )
        faces.flags.writeable = False
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh(_Triangles, Solid):
    """The inside of a closed triangle mesh; integrals are exact for the polyhedron.

    Cavities are closed surfaces wound the other way. A surface that cuts through itself is not
    noticed: what it encloses twice counts twice.

    Attributes:
        vertices: in A [m], shape (n, 3).
        faces: indices into the vertices, counter-clockwise seen from outside, shape (k, 3).
    """

    vertices: Vec3
    faces: Indices
    _moments: Moments = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._seal("mesh")
        _check_closed(edges_of(self.vertices, self.faces), len(self.faces))
        object.__setattr__(self, "_moments", volume_moments(self.vertices, self.faces))
        self._check_inside()

    @property
    def volume(self) -> float:
        """Volume of the polyhedron [m³]."""
        return self._moments.measure

    @property
    def centroid(self) -> Vec3:
        """Centroid of the polyhedron [m], shape (3,)."""
        return self._moments.centroid

    @property
    def covariance(self) -> Mat33:
        """Covariance of the polyhedron [m²], shape (3, 3)."""
        return self._moments.covariance

    def _check_inside(self) -> None:
        extents = np.ptp(self.vertices, axis=0)
        if abs(self.volume) <= 1e-14 * float(np.prod(extents)):
            raise ModelError(
                f"mesh: it encloses no volume ({self.volume:.3g} m³ in a box of "
                f"{extents.tolist()} m); if it is sheet metal, give it its thickness (in Python, "
                f"MeshSurface takes it as it is)"
            )
        if self.volume < 0.0:
            raise ModelError(
                f"mesh: its volume is {self.volume:.6g} m³: its faces are wound inwards; "
                f"turn them round in a mesh editor (in Python, faces[:, ::-1])"
            )
        parts = parts_wound_inwards(self.vertices, self.faces)
        spread = np.linalg.eigvalsh(self.covariance)
        if parts or spread[0] < -1e-12 * spread[2]:
            raise ModelError(
                f"mesh: {parts or 'some'} of its parts are wound inwards without being cavities of "
                f"another part; make the winding outward everywhere (trimesh.repair.fix_normals)"
            )


@dataclass(frozen=True, slots=True, eq=False)
class MeshSurface(_Triangles, Surface):
    """The triangles of a mesh, of even density an area; the mesh may be open.

    Attributes:
        vertices: in A [m], shape (n, 3).
        faces: indices into the vertices, in any winding, shape (k, 3).
    """

    vertices: Vec3
    faces: Indices
    _moments: Moments = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._seal("mesh surface")
        object.__setattr__(self, "_moments", surface_moments(self.vertices, self.faces))
        if not self.area > 0.0:
            raise ModelError("mesh surface: its triangles have no area")

    @property
    def area(self) -> float:
        """Area of the triangles [m²]."""
        return self._moments.measure

    @property
    def centroid(self) -> Vec3:
        """Centroid of the triangles [m], shape (3,)."""
        return self._moments.centroid

    @property
    def covariance(self) -> Mat33:
        """Covariance of the triangles [m²], shape (3, 3)."""
        return self._moments.covariance


def _check_closed(edges: Edges, faces: int) -> None:
    if edges.open:
        raise ModelError(
            f"mesh: not watertight: {edges.open} edges of its {faces} faces have no neighbour, so "
            f"it has no inside; close the gaps in the program that wrote it (or with "
            f"trimesh.repair.fill_holes), take its convex hull (in Python, convex_mesh(vertices)), "
            f"or, if it is sheet metal, give it its thickness (in Python, MeshSurface takes it as "
            f"it is)"
        )
    if edges.twisted:
        raise ModelError(
            f"mesh: its faces are wound against each other along {edges.twisted} edges, so that "
            f"inside and outside change places; make the winding outward everywhere "
            f"(trimesh.repair.fix_normals does)"
        )


def convex_mesh(points: Vec3) -> Mesh:
    """The convex hull of points as a closed mesh.

    Args:
        points: [m], shape (n, 3).

    Raises:
        ModelError: the points lie in a plane, a line or one place.
    """
    from scipy.spatial import ConvexHull  # slow to import, and rarely needed

    points = seal(points, "convex mesh: points", (None, 3))
    if len(points) < 4 or affine_frame(points).basis.shape[1] < 3:
        raise ModelError("convex mesh: the points lie in a plane and enclose no volume")
    centre = points.mean(axis=0)
    hull = ConvexHull((points - centre) / np.abs(points - centre).max(axis=0))
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, corners.mean(axis=1) - centre) < 0.0
    faces = hull.simplices.copy()
    faces[inward] = faces[inward, ::-1]
    return Mesh(points, faces)
