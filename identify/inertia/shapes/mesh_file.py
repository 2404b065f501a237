"""Triangle meshes from files, through trimesh."""

from __future__ import annotations

import struct
from importlib import import_module
from pathlib import Path

import numpy as np

from identify.arrays import Array, Indices
from identify.errors import MissingExtra, ModelError
from identify.inertia.shapes.mesh import Mesh, MeshSurface
from identify.inertia.shapes.sizes import positive

_PARSER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
)
"""What the readers of trimesh raise at damaged files: they leave it to the parsers they use."""


def read_mesh(path: Path | str, *, scale: float = 1.0) -> Mesh:
    """The inside of a mesh file: STL, OBJ, PLY, OFF and what else trimesh reads.

    Args:
        path: the file.
        scale: metres per unit of the file, 0.001 for one in millimetres (STL does not say).

    Raises:
        MissingExtra: trimesh is not installed.
        ModelError: no such file, not a mesh, or one that is not closed.
    """
    vertices, faces = _read_triangles(Path(path))
    try:
        return Mesh(vertices * positive(scale, f"{path}: scale", "m"), faces)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def read_mesh_surface(path: Path | str, *, scale: float = 1.0) -> MeshSurface:
    """The surface of a mesh file, which need not be closed; arguments and errors of `read_mesh`."""
    vertices, faces = _read_triangles(Path(path))
    try:
        return MeshSurface(vertices * positive(scale, f"{path}: scale", "m"), faces)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def _read_triangles(path: Path) -> tuple[Array, Indices]:
    try:
        trimesh = import_module("trimesh")  # an optional dependency
    except ImportError as error:
        raise MissingExtra("triangle meshes", "shapes", "trimesh") from error
    if not path.is_file():
        raise ModelError(f"{path}: no such file")
    try:
        mesh = trimesh.load_mesh(path, process=False)
    except _PARSER_ERRORS as error:
        raise ModelError(f"{path}: trimesh cannot read it: {error}") from error
    if not len(getattr(mesh, "faces", ())):
        raise ModelError(f"{path}: expected a triangle mesh, found no triangles")
    return np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces)
