"""Closed triangle meshes: volume integrals, validity checks, and reading of mesh files."""

from __future__ import annotations

import struct
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

from identify.arrays import Array, Indices, Vec3, require_positive, seal
from identify.errors import MissingExtra, ModelError
from identify.inertia.shapes.shape import ShapeMoments, Solid

_PARSER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
)
"""Exceptions that trimesh and its parsers raise for damaged files."""

_FACET_ANGLES = 10.0, 75.0
"""Smallest and largest angle between the facets of a rounded surface [°]."""

MAX_MESH_BYTES = 2**27
"""Largest size of a mesh file, uncompressed [bytes]."""

_ARCHIVE_SUFFIXES = (".gz", ".bz2", ".zip")
"""Suffixes of archives, which trimesh would extract without a size limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Mesh(Solid):
    """Solid bounded by a closed triangle mesh; its volume integrals are exact.

    Cavities are closed surfaces wound the other way. Self-intersections are not detected: a volume
    that is enclosed twice counts twice.

    Attributes:
        vertices: in A [m], shape (n, 3).
        faces: indices into the vertices, counter-clockwise seen from outside, shape (k, 3).
    """

    vertices: Vec3
    faces: Indices
    _moments: ShapeMoments = field(init=False, repr=False)

    def __post_init__(self) -> None:
        vertices = seal(self.vertices, "mesh: vertices", (None, 3))
        faces = np.array(self.faces)
        if faces.ndim != 2 or faces.shape[1:] != (3,) or not len(faces):
            raise ModelError(f"mesh: expected triangles of shape (k, 3), got {faces.shape}")
        if not np.issubdtype(faces.dtype, np.integer):
            raise ModelError(f"mesh: expected faces of integers, got {faces.dtype}")
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise ModelError(
                f"mesh: faces refer to vertices {faces.min()} to {faces.max()}; "
                f"expected 0 to {len(vertices) - 1}"
            )
        faces.flags.writeable = False
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)
        self._check_closed()
        object.__setattr__(self, "_moments", self._integrate())
        self._check_winding()

    def moments(self) -> ShapeMoments:
        """Return volume [m³], centroid [m] and covariance [m²] of the polyhedron."""
        return self._moments

    @property
    def corners(self) -> Vec3:
        """Vertices that belong to at least one face [m], shape (n, 3)."""
        return self.vertices[np.unique(self.faces)]

    @property
    def facet_angle(self) -> float:
        """Usual angle between faces of a rounded surface [rad], 0 without one.

        It is the median of the angles from 10° to 75° at the edges. A prism of n such
        facets has a volume of sin θ / θ of its cylinder's, θ = 2π / n.
        """
        corners = self.vertices[self.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
        ids = _position_ids(self.vertices)[self.faces]
        start, end = ids.reshape(-1), np.roll(ids, -1, axis=1).reshape(-1)
        keys = np.minimum(start, end) * len(self.vertices) + np.maximum(start, end)
        order = np.argsort(keys, kind="stable")
        pairs = order[: 2 * (len(order) // 2)].reshape(-1, 2)
        pairs = pairs[keys[pairs[:, 0]] == keys[pairs[:, 1]]]
        a, b = (normals[pairs[:, k] // 3] for k in (0, 1))
        angles = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), (a * b).sum(axis=1))
        low, high = np.radians(_FACET_ANGLES)
        angles = angles[(angles > low) & (angles < high)]
        return float(np.median(angles)) if len(angles) else 0.0

    @property
    def facet_loss(self) -> float:
        """Share of the volume of a rounded body that its facets cut off, 1 − sin θ / θ."""
        return 1.0 - float(np.sinc(self.facet_angle / np.pi))

    def _integrate(self) -> ShapeMoments:
        """Integrate over the inside, as a sum of signed tetrahedra from the mean of the vertices.

        Over the tetrahedron (0, a, b, c) of volume V = a · (b × c) / 6, with s = a + b + c:
        ∫ r dV = V s / 4 and ∫ r rᵀ dV = V (a aᵀ + b bᵀ + c cᵀ + s sᵀ) / 20. Faces wound
        counter-clockwise seen from outside give positive volumes.
        """
        corners, volumes = self._tetrahedra()
        volume = float(volumes.sum())
        sums = corners.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = volumes @ sums / 4.0 / volume
            squares = np.einsum("i,ijk,ijl->kl", volumes, corners, corners)
            squares += (sums * volumes[:, None]).T @ sums
            covariance = squares / 20.0 / volume - np.outer(mean, mean)
        return ShapeMoments(volume, self.vertices.mean(axis=0) + mean, covariance)

    def _tetrahedra(self) -> tuple[Array, Array]:
        """Return corners of faces relative to the mean vertex, (k, 3, 3), and volumes, (k,)."""
        corners = (self.vertices - self.vertices.mean(axis=0))[self.faces]
        normals = np.cross(corners[:, 1], corners[:, 2])
        return corners, np.einsum("ij,ij->i", corners[:, 0], normals) / 6.0

    def _check_closed(self) -> None:
        """Check that each edge is used equally often in both directions, as on a closed surface.

        Vertices at the same position count as one.
        """
        corners = _position_ids(self.vertices)[self.faces]
        start, end = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)
        forwards = np.sign(end - start)
        keys = np.minimum(start, end) * len(self.vertices) + np.maximum(start, end)
        _, index = np.unique(keys[forwards != 0], return_inverse=True)
        odd = np.bincount(index) % 2 == 1
        twisted = (np.bincount(index, weights=forwards[forwards != 0]) != 0) & ~odd
        if odd.any():
            raise ModelError(
                f"mesh: not watertight: {odd.sum()} edges of its {len(self.faces)} faces have no "
                f"neighbour, so it has no inside; close the gaps in the program that wrote it (or "
                f"with trimesh.repair.fill_holes), use its convex hull (identify shape --hull; in "
                f"Python, convex_hull), or, for sheet metal, model the thickness"
            )
        if twisted.any():
            raise ModelError(
                f"mesh: adjacent faces have opposite winding along {twisted.sum()} edges, so that "
                f"inside and outside are ambiguous; make the winding outward everywhere "
                f"(for example with trimesh.repair.fix_normals)"
            )

    def _check_winding(self) -> None:
        """Check that the mesh encloses a volume and that its faces are wound outwards."""
        extents = np.ptp(self.vertices, axis=0)
        if abs(self.measure) <= 1e-14 * float(np.prod(extents)):
            raise ModelError(
                f"mesh: it encloses no volume ({self.measure:.3g} m³ in a box of "
                f"{extents.tolist()} m); for sheet metal, model the thickness"
            )
        if self.measure < 0.0:
            raise ModelError(
                f"mesh: its volume is {self.measure:.6g} m³: its faces are wound inwards; "
                f"invert them in a mesh editor (in Python, faces[:, ::-1])"
            )
        inwards = self._count_inverted_parts()
        # Points of a solid have a positive variance along every axis; parts of negative volume, as
        # of faces wound inwards, can make it negative.
        spread = np.linalg.eigvalsh(self.covariance)
        if inwards or spread[0] < -1e-12 * spread[2]:
            raise ModelError(
                f"mesh: {inwards or 'some'} of its parts are wound inwards without being cavities "
                f"of another part; make the winding outward everywhere (trimesh.repair.fix_normals)"
            )

    def _count_inverted_parts(self) -> int:
        """Count connected parts of negative volume that are not cavities.

        A cavity is wound inwards and lies in the bounding box of a part that is wound outwards.
        """
        from scipy.sparse import coo_array  # slow to import, and rarely needed
        from scipy.sparse.csgraph import connected_components

        ids = _position_ids(self.vertices)
        corners = ids[self.faces]
        start, end = corners[:, [0, 1]].reshape(-1), corners[:, [1, 2]].reshape(-1)
        count = int(ids.max()) + 1
        links = coo_array((np.ones(len(start)), (start, end)), shape=(count, count))
        count, part_of = connected_components(links, directed=False)
        volumes = np.bincount(part_of[corners[:, 0]], self._tetrahedra()[1], minlength=count)
        lower, upper = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
        np.minimum.at(lower, part_of[ids], self.vertices)
        np.maximum.at(upper, part_of[ids], self.vertices)
        outward, inward = np.flatnonzero(volumes > 0.0), np.flatnonzero(volumes < 0.0)
        above = (lower[inward, None] >= lower[outward]).all(axis=-1)
        below = (upper[inward, None] <= upper[outward]).all(axis=-1)
        return len(inward) - int(np.count_nonzero((above & below).sum(axis=-1)))


def _position_ids(vertices: Vec3) -> Indices:
    """Return an integer per vertex, from 0, that is the same for vertices at the same position."""
    order = np.lexsort(vertices.T)
    new = (vertices[order][1:] != vertices[order][:-1]).any(axis=1)
    ids = np.empty(len(vertices), dtype=np.int64)
    ids[order] = np.concatenate(([0], np.cumsum(new)))
    return ids


def read_mesh(path: Path | str, *, scale: float = 1.0) -> Mesh:
    """Read a closed mesh from STL, OBJ, PLY, OFF or another format of trimesh.

    Args:
        path: the file.
        scale: metres per unit of the file, 0.001 for millimetres (STL files have no unit).

    Raises:
        MissingExtra: trimesh is not installed.
        ModelError: no such file, not a mesh, or one that is not closed.
    """
    vertices, faces = read_triangles(Path(path))
    try:
        return Mesh(vertices * require_positive(scale, f"{path}: scale", "m"), faces)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def convex_hull(points: Vec3) -> Mesh:
    """Compute the convex hull of points [m], shape (n, 3).

    Raises:
        ModelError: fewer than four points, or all in a plane.
    """
    from scipy.spatial import ConvexHull, QhullError  # slow to import, and rarely needed

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise ModelError(f"the convex hull of {len(points)} points has no volume") from error
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.sum(normals * hull.equations[:, :3], axis=-1) < 0.0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    return Mesh(points, faces)


def _require_bounded(path: Path) -> None:
    """Raise `ModelError` for archives, and for files larger than `MAX_MESH_BYTES` uncompressed."""
    if path.name.lower().endswith(_ARCHIVE_SUFFIXES):
        raise ModelError(f"{path}: is a compressed archive; unpack it")
    size = path.stat().st_size
    with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:  # 3MF, for one
        size = max(size, sum(info.file_size for info in archive.infolist()))
    if size > MAX_MESH_BYTES:
        raise ModelError(
            f"{path}: {size / 1e6:.0f} MB, expected at most {MAX_MESH_BYTES / 1e6:.0f} MB; "
            f"simplify the mesh: fewer triangles hardly change its inertia"
        )


def read_triangles(path: Path) -> tuple[Array, Indices]:
    """Read vertices [file's unit] and triangles of a mesh file; same errors as `read_mesh`."""
    try:
        trimesh = import_module("trimesh")  # an optional dependency
    except ImportError as error:
        raise MissingExtra("triangle meshes", "shapes", "trimesh") from error
    if not path.is_file():
        raise ModelError(f"{path}: no such file")
    _require_bounded(path)
    try:
        mesh = trimesh.load_mesh(path, process=False)
    except _PARSER_ERRORS as error:
        raise ModelError(f"{path}: trimesh cannot read it: {error}") from error
    if not len(getattr(mesh, "faces", ())):
        raise ModelError(f"{path}: expected a triangle mesh, got no triangles")
    return np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces)
