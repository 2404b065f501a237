import struct

import numpy as np
import pytest

from identify.exchange import read_estimate
from identify.inertia.shapes import SHAPES, shape_sizes


def test_a_box_is_written_for_other_commands(cli, tmp_path):
    path = tmp_path / "box.json"
    outcome = cli("shape", "box", "0.1", "0.2", "0.3", "--mass", "1.2", "-o", path)
    assert outcome == (0, f"{path}\n", "")
    saved = read_estimate(path)
    assert saved.frame == "that of the shape: box 0.1 0.2 0.3"
    assert saved.provenance["command"].startswith("identify shape box")
    np.testing.assert_allclose(np.diag(saved.parameters.inertia_about_com), [0.013, 0.01, 0.005])
    assert cli("inspect", path).status == 0


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape(cli, tmp_path, name):
    """Thick enough for each: sizes in falling order suit a tube's outer and inner radius."""
    sizes = [0.3 / (1 + k) for k in range(len(shape_sizes(name)))]
    path = tmp_path / "shape.json"
    assert cli("shape", name, *sizes, "--density", "2", "-o", path).status == 0
    assert read_estimate(path).parameters.mass > 0.0
    assert f"shape {name}: expected" in cli("shape", name, "--mass", "1").message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "Missing from identify shape: NAME"),
        ("bocks 1 1 1 --mass 1", "no shape 'bocks' among box,"),
        ("mash part.stl --mass 1", "tube, mesh; did you mean 'mesh'?"),
        ("box 0.1 0.2 --mass 1", "shape box: expected 3 sizes, got 2: x (length along x)"),
        ("box 0.1 -0.2 0.3 --mass 1", "y (length along y): expected a positive"),
        ("box 0.1 two 0.3 --mass 1", "shape: expected a size [m], got 'two'"),
        ("box 0.1 0.2 0.3", "either a mass [kg] or a density [kg/m³], got neither"),
        ("box 0.1 0.2 0.3 --mass 1 --density 1", "got both"),
        ("box 0.1 0.2 0.3 --mass -1", "mass: expected a positive"),
        ("box 0.1 0.2 0.3 --mass 1 --scale 2", "apply to a mesh"),
        ("mesh --mass 1", "shape: mesh takes a file or several, got none"),
        ("cone", "the origin is the middle of its base, the apex above it"),
        ("tube", "open at both ends"),
        ("rod", "shape rod: expected 1 size, got 0"),
        (
            "box 1 1 1 --mass 1e300",
            "shape: the body has 1e+300 kg and up to 1.66667e+299 kg m²; expecte",
        ),
    ],
)
def test_bad_use(cli, words, message):
    assert message in cli.refused("shape", *words.split())


def test_a_mesh_in_millimetres(cli, tmp_path):
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    corners = 60.0 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    mesh, out = tmp_path / "part.stl", tmp_path / "part.json"
    triangles = b"".join(
        struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0) for face in faces
    )
    mesh.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + triangles)
    words = ("shape", "mesh", mesh, "--density", "1000", "--scale", "0.001", "-o", out)
    assert cli(*words) == (0, f"{out}\n", "")
    body = read_estimate(out).parameters
    assert body.mass == pytest.approx(1000 * 0.06**3 / 6)
    np.testing.assert_allclose(body.com, 0.06 / 4)


def test_a_mesh_that_is_read_in_metres_and_huge_is_asked_about(cli, tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    path = tmp_path / "part.ply"
    trimesh.creation.box((200.0, 30.0, 50.0)).export(path)
    message = cli.refused("shape", "mesh", path, "--density", "1000")
    assert "200 m wide in metres: is it in millimetres? Give its unit: --scale 0.001" in message
    assert cli("shape", "mesh", path, "--density", "1000", "--scale", "1").err == ""
    assert cli("shape", "mesh", path, "--density", "1000", "--scale", "0.001").err == ""


def test_the_hull_of_a_mesh_with_holes_is_taken_on_request(cli, tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    box = trimesh.creation.box((200.0, 300.0, 500.0))
    path, out = tmp_path / "open.ply", tmp_path / "open.json"
    trimesh.Trimesh(box.vertices, box.faces[:-1], process=False).export(path)
    words = ("shape", "mesh", path, "--density", "1000", "--scale", "0.001", "-o", out)
    assert "use its convex hull (identify shape --hull;" in cli.refused(*words)
    status, _, err = cli(*words, "--hull")
    assert status == 0
    assert "3 edges of its 11 faces have no neighbour" in err
    assert err.endswith("its convex hull of 0.03 m³ is used\n")
    assert read_estimate(out).parameters.mass == pytest.approx(30.0)
    assert "expected a positive" in cli.refused(*words[:5], "--hull", "--scale", "-1")


@pytest.fixture
def cover(tmp_path):
    """A box of 80 mm × 70 mm × 90 mm away from the origin, in millimetres."""
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    box = trimesh.creation.box((80.0, 70.0, 90.0))
    box.apply_translation((10.0, 0.0, 30.0))
    box.export(tmp_path / "cover.stl")
    return tmp_path / "cover.stl"


def test_a_mesh_in_millimetres_with_a_mass_is_asked_about(cli, cover):
    """In metres 0.3 kg would be lighter than air; the right scale is named with its density."""
    message = cli.refused("shape", cover, "--mass", 0.3)
    assert "0.3 kg in 5.04e+05 m³ is lighter than air" in message
    assert f"With --scale 0.001 it would be {0.3 / 504e-6:.4g} kg/m³" in message
    printed = cli.done("shape", cover, "--mass", 0.3, "--scale", 0.001)
    assert printed.startswith(f"Volume 504 cm³, density {0.3 / 504e-6:.6g} kg/m³.\n")
    assert "denser than any metal" in cli.refused("shape", cover, "--mass", 0.3, "--scale", 1e-5)


def test_a_material_by_name(cli, cover, tmp_path):
    out = tmp_path / "cover.json"
    words = ("shape", "mesh", cover, "--scale", 0.001, "--density")
    assert cli(*words, "Aluminium", "-o", out).status == 0
    assert read_estimate(out).parameters.mass == pytest.approx(2700.0 * 504e-6, rel=1e-6)
    assert "no material 'stel' among abs, " in cli.refused(*words, "stel")
    plate = cli.refused("shape", "plate", 0.1, 0.1, "--density", "steel")
    assert "a material is of a solid; give the density of a plate as a number" in plate


def test_rounding_of_a_mesh_is_not_printed(cli, tmp_path):
    """The centre of a cylinder's mesh is some 1e-20 m from its axis."""
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    trimesh.creation.cylinder(radius=0.03, height=0.1).export(tmp_path / "pin.stl")
    out = tmp_path / "pin.json"
    assert cli("shape", tmp_path / "pin.stl", "--density", "steel", "-o", out).status == 0
    body = read_estimate(out).parameters
    np.testing.assert_array_equal(body.com, 0.0)
    products = body.inertia_about_com[~np.eye(3, dtype=bool)]
    np.testing.assert_array_equal(products, 0.0)
    assert "10⁻²" not in cli.done("shape", tmp_path / "pin.stl", "--density", "steel")


def test_a_coarse_round_mesh_is_said_to_miss_volume(cli, tmp_path):
    """A prism of seven sides, 24 triangles: 1 - sin θ / θ = 12.9 % of its cylinder."""
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    angles = 2.0 * np.pi * np.arange(7) / 7.0
    vertices = [f"v {np.cos(t)} {np.sin(t)} {z}" for z in (0, 1) for t in angles]
    faces = [
        f"f {1 + i} {1 + j} {8 + j}\nf {1 + i} {8 + j} {8 + i}"
        for i, j in zip(range(7), [*range(1, 7), 0], strict=True)
    ]
    faces += [f"f 1 {i + 2} {i + 1}\nf 8 {8 + i} {9 + i}" for i in range(1, 6)]
    path = tmp_path / "prism.obj"
    path.write_text("\n".join([*vertices, *faces]))
    result = cli("shape", "mesh", path, "--density", 1000)
    assert "faces meet at 51.4°" in result.err
    assert "up to 13 % of the volume is missing" in result.err


def test_parts_with_densities_or_masses_of_their_own(cli, tmp_path):
    """Two boxes in the frame of their assembly, by hand."""
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    sides, centres = (
        np.array([[0.1, 0.2, 0.05], [0.04, 0.04, 0.3]]),
        np.array([[0, 0, 0], [1, 2, 3]]),
    )
    for i in range(2):
        box = trimesh.creation.box(sides[i])
        box.apply_translation(0.1 * centres[i])
        box.export(tmp_path / f"{i}.stl")
    meshes, volumes = (tmp_path / "0.stl", tmp_path / "1.stl"), sides.prod(axis=1)
    cases = [
        ("--density pla --density steel", np.array([1240.0, 7850.0]) * volumes),
        ("--mass 0.3 --mass 2", np.array([0.3, 2.0])),
        ("--mass 2", 2.0 * volumes / volumes.sum()),
    ]
    for words, masses in cases:
        out = tmp_path / "sum.json"
        cli.done("shape", *meshes, *words.split(), "-o", out)
        body = read_estimate(out).parameters
        com = masses @ (0.1 * centres) / masses.sum()
        np.testing.assert_allclose([body.mass, *body.com], [masses.sum(), *com], rtol=1e-6)
        offsets = 0.1 * centres - com
        second = np.diag(masses @ sides**2 / 12.0) + (offsets.T * masses) @ offsets
        expected = np.trace(second) * np.eye(3) - second
        np.testing.assert_allclose(body.inertia_about_com, expected, rtol=1e-6, atol=1e-9)
    assert "density 7850 kg/m³" in cli.done("shape", *meshes, *cases[0][0].split())
    message = cli.refused("shape", *meshes, *["--mass", "1", "--mass", "2", "--mass", "3"])
    assert "got 3 times --mass; expected one, or one for each of 2 meshes in order" in message
