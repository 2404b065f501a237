"""Inertia of the shapes of a link in a model file, filled with uniform density.

Meshes are located as in ROS and Gazebo, by the names of the folders around the model. A mesh that
is not closed has no interior: its convex hull is used, and reported.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, product
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np

from identify.arrays import Array, Indices, Mat33, Phi, Vec3
from identify.errors import IdentifyError, ModelError
from identify.inertia import in_frame
from identify.inertia.matrices import second_moment_about_com
from identify.inertia.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Mesh,
    Shape,
    Sphere,
    convex_hull,
    read_triangles,
)
from identify.spatial import Pose

_SIZE_ATTRIBUTES: dict[str, tuple[type[Shape], tuple[tuple[str, int], ...]]] = {
    "box": (Box, (("size", 3),)),
    "sphere": (Sphere, (("radius", 1),)),
    "cylinder": (Cylinder, (("radius", 1), ("length", 1))),
    "capsule": (Capsule, (("radius", 1), ("length", 1))),
    "ellipsoid": (Ellipsoid, (("radii", 3),)),
}
"""Element names of shapes in URDF and SDF, with the attributes of their sizes."""

_MAX_GYRATION_RATIO = 5.0
"""Largest plausible ratio, along a direction, of the radii of gyration of a body and its shape.

With all mass at the surface of a ball the ratio is √5; with all mass inside it may be small."""

_INNER_PART = 0.6
"""Part of a bounding box, along each side, that is inside of most shapes."""

_MAX_COARSE_FACES, _MAX_FACET_LOSS = 500, 0.03
"""Number of faces up to which a mesh may be coarse, and the share of its volume that facets may
miss without a word."""

_MAX_ORIGIN_DISTANCE_RADII, _MAX_ORIGIN_DISTANCE = 30.0, 3.0
"""Largest plausible distance of a centre of mass from its link's origin, in radii of gyration and
in [m]."""

PACKAGE_SCHEMES = ("package://", "model://")
"""Schemes of mesh files that ROS and Gazebo look up by a folder's name."""

SHAPE_CONTRADICTION = "its shape contradicts its inertia"
"""Text of the problem that the body and the shapes of a link differ in size."""

MAX_CONVEX_RATIO = math.sqrt(5.0)
"""Largest ratio of the radii of gyration of a body and of a convex shape that contains the body."""


class LinkGeometry(NamedTuple):
    """One collision or visual shape of a link.

    Attributes:
        role: `collision` or `visual`.
        kind: name of its element.
        pose: of the shape in the link's axes.
        attribute: returns the text of an attribute by name, empty if it is absent.
    """

    role: str
    kind: str
    pose: Pose
    attribute: Callable[[str], str]


class ShapeInertia(NamedTuple):
    """Inertia of the shapes of a link, filled with 1 kg/m³.

    Attributes:
        parts: ten parameters of each about the link's origin, shape (k, 10); the mass is the volume
            [m³].
        rotations: R_LP of their own axes P in the link's, shape (k, 3, 3).
        corners: of their bounding boxes along their own axes, in the link's [m], shape (8 k, 3).
        description: the shapes, for messages.
    """

    parts: Phi
    rotations: Mat33
    corners: Vec3
    description: str

    @property
    def phi(self) -> Phi:
        """Ten parameters of all shapes about the link's origin, shape (10,)."""
        return self.parts.sum(axis=0)


def inertia_from_shapes(geometries: Iterable[LinkGeometry], model: Path) -> ShapeInertia:
    """Fill a link's collision shapes with uniform density; if that fails, its visual shapes.

    `geometries`: as of `ModelFormat.geometry`, collision shapes first; read no further than needed.
    Overlapping volumes count twice; meshes are searched for around the model's file.

    Raises `ModelError`: no shapes can be filled; gives the reason.
    """
    reasons: list[str] = []
    for role, group in groupby(geometries, key=lambda geometry: geometry.role):
        selected = list(group)
        try:
            filled = [_fill_shape(geometry, model) for geometry in selected]
        except IdentifyError as error:
            reasons.append(f"{role}: {error}")
            continue
        names = ", ".join(description for _, _, description in filled)
        if _overlap([corners for _, corners, _ in filled]):
            names += "; overlapping parts count twice"
        return ShapeInertia(
            np.array([phi for phi, _, _ in filled]),
            np.array([geometry.pose.rotation for geometry in selected]),
            np.concatenate([corners for _, corners, _ in filled]),
            f"its {role} geometry ({names})",
        )
    raise ModelError("; ".join(reasons) or "it has no geometry")


def _overlap(boxes: Sequence[Vec3]) -> bool:
    """Return whether a point well inside the bounding box of a part is in that of another."""
    if len(boxes) == 1:
        return False
    centres = [corners.mean(axis=0) for corners in boxes]
    points = [
        np.vstack((centre, centre + _INNER_PART * (corners - centre)))
        for corners, centre in zip(boxes, centres, strict=True)
    ]
    for i, (corners, centre) in enumerate(zip(boxes, centres, strict=True)):
        edges = corners[[4, 2, 1]] - corners[0]  # of the corners in the order of `product`
        squares = np.maximum((edges**2).sum(axis=1), 1e-300)
        for k, others in enumerate(points):
            share = (others - centre) @ edges.T / squares
            if k != i and (np.abs(share) < 0.5 * _INNER_PART).all(axis=1).any():
                return True
    return False


def bounding_corners(geometry: LinkGeometry, model: Path) -> Vec3:
    """Return the corners of a shape's bounding box along its own axes, in the link's axes.

    Shape (8, 3) [m].
    Raises `ModelError`: a mesh that is not found, an unknown shape, or sizes that are no numbers.
    """
    if geometry.kind == "mesh":
        vertices, _ = _mesh_triangles(geometry, model)
        return _box_corners(vertices.min(axis=0), vertices.max(axis=0), geometry.pose)
    if geometry.kind not in _SIZE_ATTRIBUTES:
        raise ModelError(f"the size of a <{geometry.kind}> is not known")
    sizes = _read_sizes(geometry)
    if geometry.kind == "box":
        high = 0.5 * sizes["size"]
    elif geometry.kind == "ellipsoid":
        high = sizes["radii"]
    else:
        radius, length = sizes["radius"][0], sizes.get("length", np.zeros(1))[0]
        end = 0.0 if geometry.kind == "cylinder" else radius
        high = np.array([radius, radius, 0.5 * length + end])
    return _box_corners(-high, high, geometry.pose)


def _box_corners(low: Vec3, high: Vec3, pose: Pose) -> Vec3:
    corners = np.array(list(product(*zip(low, high, strict=True))))
    return corners @ pose.rotation.T + pose.position


def _read_sizes(geometry: LinkGeometry) -> dict[str, Array]:
    return {
        name: _read_numbers(geometry.attribute(name), count, geometry, name)
        for name, count in _SIZE_ATTRIBUTES[geometry.kind][1]
    }


def shape_contradiction(
    second_moment: Mat33, mass: float, shape: ShapeInertia, max_ratio: float = _MAX_GYRATION_RATIO
) -> str:
    """Return a sentence on the direction in which a body and its shape differ most in extent.

    The direction has the largest ratio of radii of gyration √(uᵀ S u / m), of the body and of the
    uniform shape. The sentence is empty for ratios from a fifth to `max_ratio`, and for shapes
    without extent in some direction.

    `second_moment`: about the centre of mass in the link's axes [kg m²], shape (3, 3); `mass`: of
    the body [kg]; `max_ratio`: largest ratio that does not contradict the shape.
    """
    uniform = second_moment_about_com(shape.phi) / float(shape.phi[0])
    sizes = np.linalg.eigvalsh(uniform)
    if not sizes[0] > 1e-12 * sizes[2]:
        return ""
    # With uniform = L Lᵀ, the squared ratio along L⁻ᵀ v is vᵀ L⁻¹ (S / m) L⁻ᵀ v.
    inverse = np.linalg.inv(np.linalg.cholesky(uniform))
    squares, directions = np.linalg.eigh(inverse @ (second_moment / mass) @ inverse.T)
    ratios = np.sqrt(np.maximum(squares, 0.0))
    too_small = max_ratio / _MAX_GYRATION_RATIO / np.maximum(ratios, 1e-300)
    worst = int(np.argmax(np.maximum(ratios, too_small)))
    if 1.0 / _MAX_GYRATION_RATIO <= ratios[worst] <= max_ratio:
        return ""
    u = inverse.T @ directions[:, worst]
    u /= np.linalg.norm(u) * (1.0 if u[np.argmax(np.abs(u))] > 0.0 else -1.0)
    shape_radius = float(np.sqrt(u @ uniform @ u))
    along = ", ".join(f"{x:.3g}" for x in np.where(np.abs(u) < 1e-6, 0.0, u))
    return (
        f"{SHAPE_CONTRADICTION}: along [{along}] its radius of gyration is "
        f"{ratios[worst] * shape_radius:.2g} m, and {shape_radius:.2g} m for "
        f"{shape.description} of uniform density; --from-geometry takes the inertia of the shape"
    )


def com_distance_warning(phi: Phi, shape: ShapeInertia | None) -> str:
    """Return a warning if a centre of mass is so far from its shape that its unit may be wrong."""
    reference = phi if shape is None else shape.phi
    centre = np.zeros(3) if shape is None else reference[1:4] / reference[0]
    distance = float(np.linalg.norm(phi[1:4] / phi[0] - centre))
    radius = float(np.sqrt(np.trace(second_moment_about_com(reference)) / reference[0]))
    limit = _MAX_GYRATION_RATIO * radius
    if shape is None:
        limit = max(_MAX_ORIGIN_DISTANCE_RADII * radius, _MAX_ORIGIN_DISTANCE)
    origin = "the origin" if shape is None else shape.description
    warning = f"its centre of mass is {distance:.3g} m from {origin}: is it given in metres?"
    return warning if distance > limit else ""


def _fill_shape(geometry: LinkGeometry, model: Path) -> tuple[Phi, Vec3, str]:
    """Return the inertia of a shape filled with 1 kg/m³, its corners, and its description."""
    if geometry.kind == "mesh":
        vertices, faces = _mesh_triangles(geometry, model)
        shape, description = _mesh_shape(vertices, faces, geometry)
        corners = _box_corners(vertices.min(axis=0), vertices.max(axis=0), geometry.pose)
    elif geometry.kind in _SIZE_ATTRIBUTES:
        sizes = np.concatenate(list(_read_sizes(geometry).values()))
        shape, description = _SIZE_ATTRIBUTES[geometry.kind][0](*sizes), geometry.kind
        corners = bounding_corners(geometry, model)
    else:
        raise ModelError(f"the volume of a <{geometry.kind}> is not known")
    return in_frame(shape.body(density=1.0).phi, geometry.pose), corners, description


def _read_numbers(text: str, count: int, geometry: LinkGeometry, name: str) -> Array:
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.empty(0)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ModelError(f"<{geometry.kind}> {name}: expected {count} numbers, got {text[:60]!r}")
    return values


def _mesh_shape(vertices: Vec3, faces: Indices, geometry: LinkGeometry) -> tuple[Shape, str]:
    name = Path(geometry.attribute("filename") or geometry.attribute("uri").strip()).name
    try:
        mesh = Mesh(vertices, faces)
        loss = mesh.facet_loss if len(faces) <= _MAX_COARSE_FACES else 0.0
        coarse = f" whose facets may miss {100.0 * loss:.2g} %" if loss > _MAX_FACET_LOSS else ""
        return mesh, f"mesh {name}{coarse}"
    except ModelError:  # open, as meshes for collisions and pictures often are
        return convex_hull(vertices), f"convex hull of the mesh {name}"


def _mesh_triangles(geometry: LinkGeometry, model: Path) -> tuple[Vec3, Indices]:
    """Return the vertices of a mesh in the shape's axes [m], and its triangles."""
    scale = _read_numbers(geometry.attribute("scale") or "1 1 1", 3, geometry, "scale")
    path = mesh_file(geometry.attribute("filename") or geometry.attribute("uri").strip(), model)
    vertices, faces = read_triangles(path)
    # A mirrored mesh is wound the other way.
    return vertices * scale, faces[:, ::-1] if scale.prod() < 0.0 else faces


def mesh_file(name: str, model: Path) -> Path:
    """Return the file of a mesh: a path, or `package://NAME/REST` in a folder around the model.

    Raises `ModelError`: the file does not exist.
    """
    parts = urlsplit(name)
    package, rest = parts.netloc, unquote(parts.path).lstrip("/")
    if name.startswith("file://"):
        candidates: Sequence[Path] = (Path("/") / rest,)
    elif name.startswith(PACKAGE_SCHEMES):
        parents = model.absolute().parents
        search_path = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        candidates = (
            *(folder / rest for folder in parents if folder.name == package),
            *(folder / package / rest for folder in parents),
            *(Path(folder) / package / rest for folder in search_path if folder),
        )
    elif "://" in name:
        raise ModelError(f"the mesh {name!r} is not a file")
    else:
        candidates = (model.parent / name,)
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ModelError(f"cannot find the mesh {name!r} around {model}")
