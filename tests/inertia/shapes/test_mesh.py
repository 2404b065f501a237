import sys

import numpy as np
import pytest
from hypothesis import given

from identify.errors import MissingExtra, ModelError
from identify.inertia import in_frame
from identify.inertia.shapes import (
    Box,
    Mesh,
    enclosing_ellipsoid,
    read_mesh,
)
from tests.close import assert_close, assert_same_body
from tests.inertia.shapes.meshes import CUBE, CUBE_FACES, ball, joined
from tests.strategies import poses, seeds

SIDES = np.array([0.2, 0.3, 0.5])


@given(poses())
def test_box_mesh_matches_box_at_any_pose(X):
    mesh = Mesh(X.apply(CUBE * SIDES), CUBE_FACES)
    box = in_frame(Box(*SIDES).body(density=700.0), X)
    assert_same_body(mesh.body(density=700.0), box, 1e-11)


@given(seeds(), poses())
def test_meshes_move_and_scale_with_their_vertices(seed, X):
    sizes = np.random.default_rng(seed).uniform(0.1, 1.0, 3)
    vertices, faces = ball(30)
    mesh = Mesh(vertices * sizes, faces)
    moved = Mesh(X.apply(vertices * sizes), faces)
    assert_same_body(moved.body(mass=2.0), in_frame(mesh.body(mass=2.0), X), 1e-10)
    assert_close(Mesh(3.0 * vertices * sizes, faces).measure, 27.0 * mesh.measure, 1e-13)
    assert enclosing_ellipsoid(mesh.corners).contains(mesh.vertices).all()


def test_a_cavity_is_a_hole():
    mesh = Mesh(*joined((CUBE, CUBE_FACES), (0.5 * CUBE, CUBE_FACES[:, ::-1])))
    hollow = Box(1, 1, 1).body(density=2.0) - Box(0.5, 0.5, 0.5).body(density=2.0)
    assert_same_body(mesh.body(density=2.0), hollow, 1e-13)


def test_duplicate_vertices_are_merged():
    soup = CUBE[CUBE_FACES].reshape(-1, 3)
    faces = np.arange(len(soup)).reshape(-1, 3)
    assert_same_body(Mesh(soup, faces).body(mass=1.0), Box(1, 1, 1).body(mass=1.0), 1e-14)


def test_unused_vertices_do_not_count():
    mesh = Mesh(np.concatenate((CUBE, [[9.0, 9.0, 9.0]])), CUBE_FACES)
    assert_close(mesh.corners, CUBE, 0.0)
    assert_same_body(mesh.body(mass=1.0), Box(1, 1, 1).body(mass=1.0), 1e-13)


FLIPPED = CUBE_FACES.copy()
FLIPPED[3] = FLIPPED[3, ::-1]
BESIDE = joined((CUBE, CUBE_FACES), (0.5 * CUBE + [2.0, 0.0, 0.0], CUBE_FACES[:, ::-1]))
SLABS = [
    (CUBE * [1.0, 1.0, 0.24] + [0.0, 0.0, z], CUBE_FACES[:, ::-1]) for z in (-0.37, 0.37)
] * 2  # fmt: skip


@pytest.mark.parametrize(
    ("vertices", "faces", "message"),
    [
        (CUBE, CUBE_FACES[:-1], r"not watertight: 3 edges of its 11 faces .* or, for sheet"),
        (CUBE, CUBE_FACES[:, ::-1], r"volume is -1 m³: its faces are wound inwards; invert them"),
        (CUBE, FLIPPED, "opposite winding along 3 edges"),
        (*BESIDE, "1 of its parts are wound inwards without being cavities"),
        (*joined((CUBE, CUBE_FACES), *SLABS), "some of its parts are wound inwards"),
        (CUBE * [1, 1, 0], CUBE_FACES, "encloses no volume .* model the thickness"),
        (CUBE, CUBE_FACES.astype(float), "expected faces of integers, got float64"),
        (CUBE, CUBE_FACES + 1, "refer to vertices 1 to 8; expected 0 to 7"),
        (CUBE, CUBE_FACES - 1, "refer to vertices -1 to 6"),
        (CUBE, CUBE_FACES[:, :2], r"expected triangles of shape \(k, 3\), got \(12, 2\)"),
        (CUBE, CUBE_FACES[:0], r"expected triangles of shape \(k, 3\), got \(0, 3\)"),
        (CUBE * np.nan, CUBE_FACES, r"mesh: vertices: entry \(0, 0\) is nan"),
    ],
    ids=["open", "inverted", "twisted", "inverted part", "overlapping cavities", "flat", "floats",
         "from one", "negative", "edges", "empty", "nan"],
)  # fmt: skip
def test_a_mesh_without_an_inside_is_rejected(vertices, faces, message):
    with pytest.raises(ModelError, match=message):
        Mesh(vertices, faces)


@pytest.fixture
def trimesh():
    return pytest.importorskip("trimesh", reason="trimesh is not installed")


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off"])
def test_a_box_through_a_file(trimesh, tmp_path, ending):
    path = tmp_path / f"box.{ending}"
    trimesh.creation.box((200.0, 300.0, 500.0)).export(path)
    mesh = read_mesh(path, scale=0.001)
    assert_same_body(mesh.body(mass=2.0), Box(0.2, 0.3, 0.5).body(mass=2.0), 1e-7)


def test_invalid_mesh_file_reports_name(trimesh, tmp_path):
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


def test_a_file_larger_than_any_mesh_is_rejected_before_it_is_read(trimesh, tmp_path):
    """A file with holes takes no room on the disk, and all of its size in memory."""
    path = tmp_path / "part.stl"
    with path.open("wb") as file:
        file.write(bytes(80) + (100_000_000).to_bytes(4, "little"))
        file.truncate(84 + 50 * 100_000_000)
    with pytest.raises(ModelError, match=r"part.stl: 5000 MB, expected at most 134 MB"):
        read_mesh(path)
