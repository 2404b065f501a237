import importlib.util

import numpy as np
import pytest

from identify.errors import ModelError
from identify.exchange.link_checks import LinkRequirements, check_links
from identify.exchange.link_geometry import ShapeInertia, shape_contradiction
from identify.exchange.link_inertia import MAX_MATERIAL_DENSITY, implied_density
from identify.exchange.models import read_model
from identify.exchange.repair import RepairSettings, repair_model
from identify.inertia import check_consistency, in_frame, inertia_about_com
from identify.inertia.conventions.axes import rotation_from_rpy
from identify.inertia.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from identify.spatial import Pose
from tests.close import assert_close

ZERO = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
SHAPES = """<collision><origin xyz="0.1 0 0.2" rpy="0.3 -0.2 0.5"/>
  <geometry><box size="0.1 0.2 0.3"/></geometry></collision>
<collision><geometry><sphere radius="0.1"/></geometry></collision>
<collision><origin xyz="0 -0.1 0"/><geometry><capsule radius="0.02" length="0.1"/></geometry>
  </collision>
<visual><geometry><mesh filename="package://nowhere/seen.stl"/></geometry></visual>"""
TETRAHEDRON = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.3]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def urdf(path, inertial, shapes=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<robot name="r">\n<link name="a"><inertial>{inertial}</inertial>\n{shapes}</link></robot>'
    )
    return path


def repaired(path, **settings):
    done = repair_model(path, settings=RepairSettings(**settings))
    assert not done.unrepaired, done.unrepaired
    (repair,) = done.repairs
    path.write_bytes(done.content)
    (link,) = read_model(path).links
    assert_close(link.phi, repair.phi, 1e-12)
    return link.phi, repair


def by_hand(density):
    R = rotation_from_rpy(np.array([0.3, -0.2, 0.5]))
    parts = (
        in_frame(Box(0.1, 0.2, 0.3).body(density=density).phi, Pose(R, np.array([0.1, 0, 0.2]))),
        Sphere(0.1).body(density=density).phi,
        in_frame(
            Capsule(0.02, 0.1).body(density=density).phi, Pose(np.eye(3), np.array([0, -0.1, 0]))
        ),
    )
    return sum(parts)


def write_stl(path, vertices, faces):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["solid s"]
    for corners in vertices[faces]:
        points = "".join(f"vertex {x} {y} {z}\n" for x, y, z in corners.tolist())
        lines.append(f"facet normal 0 0 0\nouter loop\n{points}endloop\nendfacet")
    path.write_text("\n".join([*lines, "endsolid s"]))


def test_the_shapes_of_collisions_with_the_links_mass_about_its_centre_of_mass(tmp_path):
    """In axes that are turned against the link's, which stay as the centre of mass does."""
    origin = '<origin xyz="0.01 0.02 0.03" rpy="0.7 0.1 -0.4"/><mass value="2"/>'
    path = urdf(tmp_path / "r.urdf", origin + ZERO, SHAPES)
    phi, repair = repaired(path)
    expected = by_hand(1.0)
    inertia = 2.0 / expected[0] * inertia_about_com(expected)
    assert_close(inertia_about_com(phi), inertia, 1e-8)
    assert_close(phi[:4], [2.0, 0.02, 0.04, 0.06], 1e-15)
    assert repair.source.startswith("its collision geometry (box, sphere, capsule) with its mass")
    assert origin in path.read_text()


def test_a_mass_alone_gets_an_inertia(tmp_path):
    """A URDF without <inertia>, MJCF with a mass alone; both are findings, not errors."""
    path = urdf(tmp_path / "r.urdf", '<mass value="2"/>', SHAPES)
    (link,) = read_model(path).links
    assert link.note == "it has no <inertia>"
    phi, _ = repaired(path)
    assert_close(
        inertia_about_com(phi), 2 / by_hand(1.0)[0] * inertia_about_com(by_hand(1.0)), 1e-8
    )
    path = tmp_path / "m.xml"
    path.write_text(
        '<mujoco><worldbody><body name="a"><joint/><inertial pos="0 0 0" mass="2" />'
        "</body></worldbody></mujoco>"
    )
    phi, _ = repaired(path)
    ball = Sphere((3 * 2.0 / (4 * np.pi * 1000.0)) ** (1 / 3)).body(mass=2.0).phi
    assert_close(phi, ball, 1e-8)


@pytest.mark.parametrize("mass", ["-1", "0"])
def test_missing_mass_is_computed_from_density(tmp_path, mass):
    inertia = ZERO.replace('izz="0"', 'izz="0.1"')
    path = urdf(tmp_path / "r.urdf", f'<mass value="{mass}"/>{inertia}', SHAPES)
    ((_, why),) = repair_model(path).unrepaired
    assert "give the density of its geometry (--density RHO)" in why
    ((_, why),) = repair_model(
        path, settings=RepairSettings(geometry=False, density=1.0)
    ).unrepaired
    assert "--no-geometry excludes its geometry" in why
    phi, repair = repaired(path, density=700.0)
    assert_close(phi, by_hand(700.0), 1e-8)
    assert "with 700 kg/m³: mass and centre of mass are new" in repair.source


def test_sdf_has_the_same_shapes(tmp_path):
    path = tmp_path / "m.sdf"
    six = "".join(f"<{name}>0</{name}>" for name in ("ixx", "iyy", "izz"))
    text = (
        '<sdf version="1.9"><model name="m"><link name="a">'
        f"<inertial><mass>2</mass><inertia>{six}</inertia></inertial><collision name='c'>"
        "<pose>0 0 0.5 0 0 0</pose><geometry><cylinder><radius>0.1</radius><length>0.3</length>"
        "</cylinder></geometry></collision></link></model></sdf>"
    )
    path.write_text(text)
    phi, _ = repaired(path)
    assert_close(
        inertia_about_com(phi), inertia_about_com(Cylinder(0.1, 0.3).body(mass=2).phi), 1e-8
    )
    path.write_text(text.replace("<pose>", "<pose relative_to='other'>"))
    _, repair = repaired(path)
    assert "the volume of a <shape at a pose in another frame> is not known" in repair.source


@pytest.mark.skipif(importlib.util.find_spec("trimesh") is None, reason="trimesh is not installed")
class TestMeshes:
    @pytest.mark.parametrize(
        ("name", "place"),
        [
            ("package://robots/meshes/part.stl", "robots/meshes/part.stl"),
            ("package://robots/meshes/part.stl", "meshes/part.stl"),
            ("part%20one.stl", "robots/urdf/part%20one.stl"),
            ("../meshes/part.stl", "robots/meshes/part.stl"),
            ("file://{folder}/part.stl", "part.stl"),
        ],
    )
    def test_meshes_are_located_as_in_ros(self, tmp_path, name, place):
        base = tmp_path / "robots"
        file = (base if place.startswith("meshes") else tmp_path) / place
        write_stl(file, TETRAHEDRON * 1000.0, FACES)
        name = name.format(folder=tmp_path)
        mesh = f'<mesh filename="{name}" scale="0.001 0.001 0.001"/>'
        shapes = f"<visual><geometry>{mesh}</geometry></visual>"
        path = urdf(base / "urdf" / "r.urdf", f'<mass value="2"/>{ZERO}', shapes)
        phi, repair = repaired(path)
        expected = Mesh(TETRAHEDRON, FACES).body(mass=2.0).phi
        assert_close(inertia_about_com(phi), inertia_about_com(expected), 1e-6)
        assert "its visual geometry (mesh part" in repair.source

    def test_open_mesh_uses_convex_hull_and_mirrored_mesh_is_reoriented(self, tmp_path):
        write_stl(tmp_path / "part.stl", TETRAHEDRON, FACES[:3])
        mesh = '<mesh filename="part.stl" scale="-1 1 1"/>'
        shapes = f"<visual><geometry>{mesh}</geometry></visual>"
        path = urdf(tmp_path / "r.urdf", f'<mass value="2"/>{ZERO}', shapes)
        phi, repair = repaired(path)
        mirror = np.array([-1.0, 1.0, 1.0])
        expected = Mesh(TETRAHEDRON * mirror, FACES[:, ::-1]).body(mass=2.0).phi
        assert_close(inertia_about_com(phi), inertia_about_com(expected), 1e-6)
        assert "convex hull of the mesh part.stl" in repair.source

    def test_mesh_of_implausible_density_is_not_used(self, tmp_path):
        """A mesh that is a thousand times too small."""
        write_stl(tmp_path / "part.stl", 1e-3 * TETRAHEDRON, FACES)
        mesh = '<mesh filename="part.stl"/>'
        shapes = f"<collision><geometry>{mesh}</geometry></collision>"
        path = urdf(tmp_path / "r.urdf", f'<mass value="2"/>{ZERO}', shapes)
        phi, repair = repaired(path)
        assert "would have 2e+12 kg/m³" in repair.source
        assert implied_density(phi) < 2000.0

    def test_missing_mesh_file_is_reported(self, tmp_path):
        shapes = SHAPES[SHAPES.index("<visual>") :]
        path = urdf(tmp_path / "r.urdf", f'<mass value="2"/>{ZERO}', shapes)
        _, repair = repaired(path)
        assert "cannot find the mesh 'package://nowhere/seen.stl' around" in repair.source


@pytest.mark.parametrize("moments", [(0.0, 0.01, 0.01), (0.0, 0.0, 0.01), (1e-9, 0.01, 0.03)])
@pytest.mark.parametrize("mass", [0.1, 0.5, 30.0])
def test_repaired_inertia_implies_plausible_density(tmp_path, moments, mass):
    """Never possible and useless: nothing is denser than any material about its own axis."""
    six = dict(zip(("ixx", "iyy", "izz"), map(repr, moments), strict=True))
    entries = " ".join(f'{name}="{six.get(name, "0")}"' for name in (*six, "ixy", "ixz", "iyz"))
    path = urdf(tmp_path / "r.urdf", f'<mass value="{mass}"/><inertia {entries}/>')
    phi, _ = repaired(path)
    assert not check_consistency(phi).impossible
    assert implied_density(phi) <= MAX_MATERIAL_DENSITY
    assert not check_links(read_model(path).links)[0].problem


@pytest.mark.parametrize("margin", [1e-6, 0.01, 0.2, 0.33])
@pytest.mark.parametrize(
    "diagonal", [(0.001, 0.001, 0.005), (1e-4, 0.01, 0.0101), (0.01, 0.011, 0.021)]
)
def test_a_margin_is_asked_for_and_reached(tmp_path, margin, diagonal):
    six = dict(zip(("ixx", "iyy", "izz"), map(repr, diagonal), strict=True))
    entries = " ".join(f'{name}="{six.get(name, "0")}"' for name in (*six, "ixy", "ixz", "iyz"))
    path = urdf(tmp_path / "r.urdf", f'<mass value="0.1"/><inertia {entries}/>')
    asked = LinkRequirements(margin=margin)
    phi, _ = repaired(path, requirement=asked)
    assert check_consistency(phi).margin >= margin * (1 - 1e-6)
    assert not check_links(read_model(path).links, asked)[0].problem


@pytest.mark.parametrize("margin", [-0.1, 1 / 3, float("nan")])
def test_unattainable_margin_is_rejected(margin):
    with pytest.raises(ModelError, match=r"expected from 0 .* to below 1/3"):
        LinkRequirements(margin=margin)


@pytest.mark.parametrize("density", [-1.0, 0.0, 1e6])
def test_implausible_density_is_rejected(density):
    with pytest.raises(ModelError, match="density: expected more than 0 and up to 100000 kg/m³"):
        RepairSettings(density=density)


@pytest.mark.parametrize("scale", [0.19, 0.21, 1.0, 4.8, 5.2])
@pytest.mark.parametrize("seed", range(3))
def test_a_body_contradicts_its_shape_along_the_direction_that_is_five_times_off(seed, scale):
    """Exact for a body that is the shape, drawn out or pressed along a direction of any frame."""
    rng = np.random.default_rng(seed)
    shape = ShapeInertia(
        Box(0.3, 0.2, 0.1).body(density=1.0).phi[None], np.eye(3)[None], np.zeros((0, 3)), "its box"
    )
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    root = np.diag([0.3, 0.2, 0.1]) / np.sqrt(12.0)  # of ∫ x xᵀ dm / m of the box
    drawn = root @ (np.eye(3) + (scale - 1.0) * np.outer(axis, axis))
    second = 2.0 * drawn @ drawn.T
    sentence = shape_contradiction(second, 2.0, shape)
    assert bool(sentence) == (not 0.2 < scale < 5.0)
    R = rotation_from_rpy(rng.uniform(-3, 3, 3))
    turned = ShapeInertia(
        in_frame(shape.phi, Pose(R, np.array([1.0, 2.0, 3.0])))[None],
        R[None],
        np.zeros((0, 3)),
        "its box",
    )
    assert bool(shape_contradiction(R @ second @ R.T, 2.0, turned)) == bool(sentence)


@pytest.mark.parametrize(
    ("x", "overlap"), [("0.05", True), ("0.02", True), ("0.1", False), ("0.3", False)]
)
def test_parts_that_overlap_are_said_to_count_twice(tmp_path, x, overlap):
    """Boxes of 0.1 m side by side, one in another, and apart."""
    shapes = "".join(
        f'<collision><origin xyz="{p} 0 0" rpy="0 0 0.1"/><geometry><box size="0.1 0.1 0.1"/>'
        "</geometry></collision>"
        for p in ("0", x)
    )
    path = urdf(tmp_path / "r.urdf", '<mass value="2"/>' + ZERO, shapes)
    _, repair = repaired(path)
    assert ("overlapping parts count twice" in repair.source) == overlap


def test_coarse_facets_of_a_mesh_are_said_to_miss_volume(tmp_path):
    """A prism of seven sides misses 1 - sin θ / θ = 12.9 % of its cylinder, one of 60 0.18 %."""
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    for sides, words in ((7, "mesh p.obj whose facets may miss 13 %"), (60, "mesh p.obj)")):
        angles = 2.0 * np.pi * np.arange(sides) / sides
        lines = [f"v {np.cos(t)} {np.sin(t)} {z}" for z in (0, 1) for t in angles]
        for i, k in zip(range(1, sides + 1), [*range(2, sides + 1), 1], strict=True):
            lines += [f"f {i} {k} {k + sides}", f"f {i} {k + sides} {i + sides}"]
        for i in range(2, sides):
            lines += [f"f 1 {i + 1} {i}", f"f {1 + sides} {i + sides} {i + 1 + sides}"]
        (tmp_path / "p.obj").write_text("\n".join(lines))
        shapes = '<collision><geometry><mesh filename="p.obj"/></geometry></collision>'
        path = urdf(tmp_path / "r.urdf", '<mass value="200"/>' + ZERO, shapes)
        _, repair = repaired(path)
        assert words in repair.source


def test_a_default_inertia_of_sdf_becomes_that_of_the_shape_on_request(tmp_path):
    """A box of 2 kg at its pose, where SDFormat would take 1 kg m² about each axis."""
    path = tmp_path / "m.sdf"
    path.write_text(
        '<sdf version="1.11"><model name="m"><link name="a"><inertial><pose>0 0 .1 0 0 0</pose>'
        '<mass>2</mass></inertial><collision name="c"><pose>0 0 .1 0 0 0</pose><geometry><box>'
        "<size>.1 .2 .3</size></box></geometry></collision></link></model></sdf>"
    )
    phi, _ = repaired(path, from_geometry=True)
    assert_close(phi[:4], [2.0, 0.0, 0.0, 0.2], 1e-12)
    moments = 2.0 / 12.0 * np.array([0.13, 0.1, 0.05])
    assert_close(inertia_about_com(phi), np.diag(moments), 1e-8)
