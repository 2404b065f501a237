"""Meshes from files, through trimesh."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from identify.errors import MissingExtra, ModelError
from identify.inertia import phi_from_inertia
from identify.inertia.shapes import (
    Box,
    Capsule,
    Cylinder,
    Mesh,
    Sphere,
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


@pytest.mark.parametrize(
    ("shape", "make"),
    [
        (Sphere(0.5), lambda t: t.creation.icosphere(subdivisions=5, radius=0.5)),
        (Cylinder(0.2, 0.6), lambda t: t.creation.cylinder(radius=0.2, height=0.6, sections=400)),
        (
            Capsule(0.2, 0.6),
            lambda t: t.creation.capsule(radius=0.2, height=0.6, count=[256, 256]),
        ),
    ],
    ids=["sphere", "cylinder", "capsule"],
)
def test_tessellations_come_near_the_shapes(trimesh, shape, make):
    theirs = make(trimesh)
    mesh = Mesh(theirs.vertices, theirs.faces)
    assert_close(mesh.measure, shape.measure, 1e-3)
    assert_close(mesh.body(mass=1.0), shape.body(mass=1.0), 1e-3)


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
