"""Shapes of a link, as its model file has them, filled with an even density.

Meshes are found as ROS and Gazebo find theirs, by the names of the folders around the model. One
that is not closed has no inside: it is taken by its convex hull, and that is said.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np

from identify.arrays import Array, Mat33, Phi
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

_SIZES: dict[str, tuple[type[Shape], tuple[tuple[str, int], ...]]] = {
    "box": (Box, (("size", 3),)),
    "sphere": (Sphere, (("radius", 1),)),
    "cylinder": (Cylinder, (("radius", 1), ("length", 1))),
    "capsule": (Capsule, (("radius", 1), ("length", 1))),
    "ellipsoid": (Ellipsoid, (("radii", 3),)),
}
"""Shapes by the name of their element in URDF and SDF, with the numbers that say their sizes."""

_CONTRADICTS = 5.0
"""Ratio of radii of gyration along a direction that no body of a shape has. At the surface of a
ball, mass has √5 times that of the even one; in its middle that of what sits there."""

_FAR_RADII, _FAR_METRES = 30.0, 3.0
"""A centre of mass is far from its link's origin beyond so many radii of gyration and metres."""

UNLIKE = "its shape contradicts its inertia"

OUTSIDE = math.sqrt(5.0)
"""Ratio of radii of gyration from which a body is larger than a convex shape like a ball or box."""


class LinkGeometry(NamedTuple):
    """One shape of a link.

    Attributes:
        role: `collision` or `visual`.
        kind: name of its element.
        pose: of the shape in the link's axes.
        text: gives what the file says of a size, or nothing.
    """

    role: str
    kind: str
    pose: Pose
    text: Callable[[str], str]


class Filled(NamedTuple):
    """Shapes of a link, filled with 1 kg/m³.

    Attributes:
        phi: ten parameters about the link's origin, shape (10,); the mass is the volume [m³].
        what: which shapes they are, in words.
    """

    phi: Phi
    what: str


def fill(geometries: Iterable[LinkGeometry], model: Path) -> Filled:
    """A link's collision shapes filled with an even density, or where that fails its visual ones.

    Shapes that overlap count twice where they do; meshes are looked for around the model's file.

    Raises:
        ModelError: there are none that can be filled; says why.
    """
    every = tuple(geometries)
    reasons: list[str] = []
    for role in ("collision", "visual"):
        some = [geometry for geometry in every if geometry.role == role]
        if not some:
            continue
        try:
            bodies, words = zip(*(_filled(geometry, model) for geometry in some), strict=True)
        except IdentifyError as error:
            reasons.append(f"{role}: {error}")
            continue
        return Filled(np.sum(bodies, axis=0), f"its {role} geometry ({', '.join(words)})")
    raise ModelError("; ".join(reasons) or "it has no geometry")


def contradiction(second: Mat33, mass: float, shape: Filled, most: float = _CONTRADICTS) -> str:
    """Along which direction a body and its shape are of different extents, in a sentence.

    The direction is that of the largest ratio of radii of gyration √(uᵀ S u / m), of the body and
    of the shape filled evenly; nothing is said from a fifth up to `most`, or of one without extent.

    Args:
        second: of the body about its centre of mass in the link's axes [kg m²], shape (3, 3).
        mass: of the body [kg].
        shape: of the link.
        most: largest ratio of a body that belongs to it.
    """
    even = second_moment_about_com(shape.phi) / float(shape.phi[0])
    sizes = np.linalg.eigvalsh(even)
    if not sizes[0] > 1e-12 * sizes[2]:
        return ""
    # With even = L Lᵀ, the squared ratio along L⁻ᵀ v is vᵀ L⁻¹ (S / m) L⁻ᵀ v.
    inverse = np.linalg.inv(np.linalg.cholesky(even))
    squares, directions = np.linalg.eigh(inverse @ (second / mass) @ inverse.T)
    ratios = np.sqrt(np.maximum(squares, 0.0))
    farthest = int(np.argmax(np.maximum(ratios, most / _CONTRADICTS / np.maximum(ratios, 1e-300))))
    if 1.0 / _CONTRADICTS <= ratios[farthest] <= most:
        return ""
    u = inverse.T @ directions[:, farthest]
    u /= np.linalg.norm(u) * (1.0 if u[np.argmax(np.abs(u))] > 0.0 else -1.0)
    of_shape = float(np.sqrt(u @ even @ u))
    along = ", ".join(f"{x:.3g}" for x in np.where(np.abs(u) < 1e-6, 0.0, u))
    return (
        f"{UNLIKE}: along [{along}] its radius of gyration is "
        f"{ratios[farthest] * of_shape:.2g} m, and {of_shape:.2g} m for {shape.what} filled "
        f"evenly; --from-geometry puts the inertia of the shape there"
    )


def far_from_shape(phi: Phi, shape: Filled | None) -> str:
    """How far a centre of mass is from its link's shape or origin, where its unit looks wrong."""
    whole = phi if shape is None else shape.phi
    centre = np.zeros(3) if shape is None else whole[1:4] / whole[0]
    away = float(np.linalg.norm(phi[1:4] / phi[0] - centre))
    radius = float(np.sqrt(np.trace(second_moment_about_com(whole)) / whole[0]))
    least = max(_FAR_RADII * radius, _FAR_METRES) if shape is None else _CONTRADICTS * radius
    place = "the link's origin" if shape is None else shape.what
    far = f"its centre of mass is {away:.3g} m from {place}: is its place in metres?"
    return far if away > least else ""


def _filled(geometry: LinkGeometry, model: Path) -> tuple[Phi, str]:
    if geometry.kind == "mesh":
        shape, what = _mesh(geometry, model)
    elif geometry.kind in _SIZES:
        kind, names = _SIZES[geometry.kind]
        sizes = [
            x for name, count in names for x in _numbers(geometry.text(name), count, geometry, name)
        ]
        shape, what = kind(*sizes), geometry.kind
    else:
        raise ModelError(f"a <{geometry.kind}> has no volume that is known here")
    return in_frame(shape.body(density=1.0).phi, geometry.pose), what


def _numbers(text: str, count: int, geometry: LinkGeometry, name: str) -> Array:
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.empty(0)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ModelError(f"<{geometry.kind}> {name}: expected {count} numbers, got {text[:60]!r}")
    return values


def _mesh(geometry: LinkGeometry, model: Path) -> tuple[Shape, str]:
    scale = _numbers(geometry.text("scale") or "1 1 1", 3, geometry, "scale")
    path = _mesh_file(geometry.text("filename") or geometry.text("uri").strip(), model)
    vertices, faces = read_triangles(path)
    vertices = vertices * scale
    if scale.prod() < 0.0:  # mirrored, so wound the other way
        faces = faces[:, ::-1]
    try:
        return Mesh(vertices, faces), f"mesh {path.name}"
    except ModelError:  # open, as meshes for collisions and pictures often are
        return convex_hull(vertices), f"convex hull of the mesh {path.name}"


def _mesh_file(name: str, model: Path) -> Path:
    """The file of a mesh: by itself, or `package://NAME/REST` in a folder NAME around the model.

    Raises:
        ModelError: there is none.
    """
    scheme, package, rest = "", "", name
    if "://" in name:
        parts = urlsplit(name)
        scheme, package, rest = parts.scheme, parts.netloc, unquote(parts.path).lstrip("/")
    if scheme == "file":
        candidates: Sequence[Path] = (Path("/") / rest,)
    elif scheme in ("package", "model"):
        around = model.absolute().parents
        listed = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        candidates = (
            *(folder / rest for folder in around if folder.name == package),
            *(folder / package / rest for folder in around),
            *(Path(folder) / package / rest for folder in listed if folder),
        )
    elif scheme:
        raise ModelError(f"the mesh {name!r} is not a file")
    else:
        candidates = (model.parent / rest,)
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ModelError(f"the mesh {name!r} is not to be found around {model}")
