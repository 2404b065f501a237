"""Meshes from files, through trimesh."""

from __future__ import annotations

import bz2
import sys
import zipfile

import numpy as np
import pytest

from identify.errors import MissingExtra, ModelError
from identify.inertia import phi_from_inertia
from identify.inertia.shapes import (
    Box,
    Mesh,
    read_mesh,
)
from tests.close import assert_close, assert_same_body
from tests.inertia.shapes.meshes import CUBE, CUBE_FACES, ball


@pytest.fixture
def trimesh():
    return pytest.importorskip("trimesh", reason="trimesh is not installed")


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off"])
def test_a_box_through_a_file(trimesh, tmp_path, ending):
    path = tmp_path / f"box.{ending}"
    trimesh.creation.box((200.0, 300.0, 500.0)).export(path)
    mesh = read_mesh(path, scale=0.001)
    assert_same_body(mesh.body(mass=2.0), Box(0.2, 0.3, 0.5).body(mass=2.0), 1e-7)


def test_integrals_are_those_of_trimesh(trimesh):
    vertices, faces = ball(300)
    vertices = vertices * [0.2, 0.3, 0.5] + [1.0, -0.5, 0.2]
    theirs = trimesh.Trimesh(vertices, faces, process=False)
    theirs.density = 700.0
    expected = phi_from_inertia(theirs.mass, theirs.center_mass, theirs.moment_inertia)
    assert_same_body(Mesh(vertices, faces).body(density=700.0), expected, 1e-10)


def test_what_is_wrong_with_a_file_is_told_with_its_name(trimesh, tmp_path):
    with pytest.raises(ModelError, match=r"none\.stl: no such file"):
        read_mesh(tmp_path / "none.stl")
    (tmp_path / "words.stl").write_text("hello")
    with pytest.raises(ModelError, match=r"words\.stl: (expected a triangle mesh|trimesh cannot)"):
        read_mesh(tmp_path / "words.stl")
    (tmp_path / "box.xyzq").write_text("hello")
    with pytest.raises(ModelError, match=r"box\.xyzq: trimesh cannot read it"):
        read_mesh(tmp_path / "box.xyzq")
    path = tmp_path / "open.ply"
    trimesh.Trimesh(CUBE, CUBE_FACES[:-1], process=False).export(path)
    with pytest.raises(ModelError, match=r"open\.ply: mesh: not watertight: 3 edges"):
        read_mesh(path)
    path = tmp_path / "inside_out.ply"
    trimesh.Trimesh(CUBE, CUBE_FACES[:, ::-1], process=False).export(path)
    with pytest.raises(ModelError, match=r"inside_out\.ply: mesh: .* wound inwards"):
        read_mesh(path)
    with pytest.raises(ModelError, match="scale: expected a positive, finite number"):
        read_mesh(path, scale=0.0)


def test_without_trimesh_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(
        MissingExtra, match=r"triangle meshes needs trimesh.*inertia-identify\[shapes\]"
    ):
        read_mesh(tmp_path / "box.stl")


def test_meshes_from_arrays_need_no_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    assert_close(Mesh(CUBE, CUBE_FACES).measure, 1.0, 1e-15)
    assert np.array_equal(Mesh(CUBE, CUBE_FACES).faces, CUBE_FACES)


def test_a_file_larger_than_any_mesh_is_refused_before_it_is_read(trimesh, tmp_path):
    """A file with holes takes no room on the disk, and all of its size in memory."""
    path = tmp_path / "part.stl"
    with path.open("wb") as file:
        file.write(bytes(80) + (100_000_000).to_bytes(4, "little"))
        file.truncate(84 + 50 * 100_000_000)
    with pytest.raises(ModelError, match=r"part.stl: 5000 MB, expected 134 MB at the most"):
        read_mesh(path)


def test_more_triangles_in_the_header_than_in_the_file(trimesh, tmp_path):
    path = tmp_path / "part.stl"
    path.write_bytes(bytes(80) + (4_000_000_000).to_bytes(4, "little") + bytes(500))
    with pytest.raises(ModelError, match=r"part\.stl: "):
        read_mesh(path)


def test_packed_meshes_are_bounded_too(trimesh, tmp_path, monkeypatch):
    box = trimesh.creation.box((1.0, 1.0, 1.0)).export(file_type="stl")
    with zipfile.ZipFile(tmp_path / "part.3mf", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("3D/part.model", bytes(3_000_000))
    monkeypatch.setattr("identify.inertia.shapes.mesh.LARGEST_PART", 2_000_000)
    with pytest.raises(ModelError, match=r"part\.3mf: 3 MB, expected 2 MB"):
        read_mesh(tmp_path / "part.3mf")
    (tmp_path / "part.stl.bz2").write_bytes(bz2.compress(box))
    with pytest.raises(ModelError, match="is packed; unpack it"):
        read_mesh(tmp_path / "part.stl.bz2")
