"""Conventions that a link's shape shows; the wrong numbers are made without the code under test."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.exchange.link_checks import MISREAD, check_links
from identify.exchange.models import read_model
from identify.exchange.repair import repair_model
from tests.close import assert_close

POUND, INCH = 0.45359237, 0.0254
NAMES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
BOXES = [  # sides [m], position [m], rpy
    ((0.30, 0.04, 0.05), (0.15, 0.02, 0.01), (0.0, 0.0, 0.0)),
    ((0.04, 0.25, 0.06), (0.28, 0.17, 0.03), (0.4, 0.0, -0.3)),
    ((0.05, 0.07, 0.20), (0.02, 0.05, 0.16), (0.0, 0.6, 0.2)),
]
PRINTED = {
    "SolidWorks": repr,
    "Solid Edge": lambda x: f"{x:.6g}",
    "Onshape": lambda x: f"{x:.5e}",
    "Fusion": lambda x: f"{x:.8f}",
}


def moved(c):
    return (c @ c) * np.eye(3) - np.outer(c, c)


def entries(inertia):
    return inertia[np.triu_indices(3)]


class Bracket:
    """Three boxes of 1240 kg/m³, summed by hand."""

    density = 1240.0

    def __init__(self):
        masses, centres, centrals, self.rotations = [], [], [], []
        for sides, position, rpy in BOXES:
            x, y, z = np.square(sides)
            R = Rotation.from_euler("xyz", rpy).as_matrix()
            masses.append(self.density * np.prod(sides))
            centres.append(np.array(position))
            centrals.append(masses[-1] / 12.0 * np.diag([y + z, x + z, x + y]))
            self.rotations.append(R)
        self.mass = sum(masses)
        self.com = sum(m * c for m, c in zip(masses, centres, strict=True)) / self.mass
        self.shifts = sum(m * moved(c - self.com) for m, c in zip(masses, centres, strict=True))
        turned = [R @ I @ R.T for R, I in zip(self.rotations, centrals, strict=True)]
        self.inertia = sum(turned) + self.shifts
        self.unturned = sum(centrals) + self.shifts


def mistakes():
    """Yield words of the reading, and mass, com, rpy and six numbers as written, for each kind."""
    b = Bracket()
    m, c, I, zero = b.mass, b.com, b.inertia, np.zeros(3)
    xx, xy, xz, yy, yz, zz = six = entries(I)
    yield "about the link's origin", m, c, zero, entries(I + m * moved(c))
    yield "has the parallel-axis term twice", m, c, zero, entries(I + 2 * m * moved(c))
    yield "moved to the centre of mass twice", m, c, zero, entries(I - m * moved(c))
    yield "without their parallel-axis terms", m, c, zero, entries(I - b.shifts)
    yield "with their parallel-axis terms twice", m, c, zero, entries(I + b.shifts)
    yield "in the axes of its shapes", m, c, zero, entries(b.unturned)
    rpy = np.array([0.5, -0.3, 0.8])
    R = Rotation.from_euler("xyz", rpy).as_matrix()
    yield "rpy turns it again", m, c, rpy, six
    yield "inverse rotation", m, c, rpy, entries(R @ I @ R.T)
    for axis, degrees in itertools.product("xyz", (90, -90)):
        Q = Rotation.from_euler(axis, degrees, degrees=True).as_matrix()
        turned = f"turned by {degrees}° about {axis}"
        yield f"its inertia is {turned}", m, c, zero, entries(Q @ I @ Q.T)
        yield f"centre of mass and inertia are {turned}", m, Q @ c, zero, entries(Q @ I @ Q.T)
    yield "products are in the order xy, yz, xz", m, c, zero, [xx, xy, yz, yy, xz, zz]
    for names, moments in (("yy, zz, xx", (yy, zz, xx)), ("zz, yy, xx", (zz, yy, xx))):
        written = [moments[0], xy, xz, moments[1], yz, moments[2]]
        yield f"moments are in the order {names}", m, c, zero, written
    yield "angles are in degrees", m, c, np.degrees(rpy), entries(R.T @ I @ R)
    principal = np.linalg.eigvalsh(I)
    yield "principal ones without their axes", m, c, zero, entries(np.diag(principal))
    yield "left at the link's origin: ", m, zero, zero, six
    yield "origin, and its inertia is about it", m, zero, zero, entries(I + m * moved(c))
    yield "origin, and its inertia in the axes of its shapes", m, zero, zero, entries(b.unturned)
    yield "products of inertia are missing", m, c, zero, entries(np.diag(np.diag(I)))
    yield "its inertia is 10 times too large", m, c, zero, 10.0 * six
    yield "its inertia is 100 times too small", m, c, zero, six / 100.0
    yield "its inertia is that of 1 kg", m, c, zero, six / m
    yield "the matrix row by row", m, c, zero, [xx, xy, xz, xy, yy, yz]
    yield "order xx, yy, zz, xy, xz, yz", m, c, zero, [xx, yy, zz, xy, xz, yz]
    yield "order xx, yy, zz, yz, xz, xy", m, c, zero, [xx, yy, zz, yz, xz, xy]
    yield "order xx, xy, yy, xz, yz, zz", m, c, zero, [xx, xy, yy, xz, yz, zz]
    yield "signs of its three products", m, c, zero, [xx, -xy, -xz, yy, -yz, zz]
    yield "sign of its ixy", m, c, zero, [xx, -xy, xz, yy, yz, zz]
    yield "sign of its ixz", m, c, zero, [xx, xy, -xz, yy, yz, zz]
    yield "sign of its iyz", m, c, zero, [xx, xy, xz, yy, -yz, zz]
    for axis, D in zip("xyz", 1 - 2 * np.eye(3), strict=True):
        other = entries(np.diag(D) @ I @ np.diag(D))
        yield f"mirrored in {axis}, as of the link of the other side", m, D * c, zero, other
        yield f"centre of mass is mirrored in {axis}", m, D * c, zero, six
    yield "its inertia is in g mm²", m, c, zero, six * 1e9
    yield "its inertia is in kg mm²", m, c, zero, six * 1e6
    yield "its inertia is in g cm²", m, c, zero, six * 1e7
    yield "its inertia is in lb in²", m, c, zero, six / POUND / INCH**2
    yield "its mass is in g: ", m * 1e3, c, zero, six
    yield "its mass is in lb: ", m / POUND, c, zero, six
    yield "its centre of mass is in mm: ", m, c * 1e3, zero, six
    yield "its centre of mass is in in: ", m, c / INCH, zero, six
    about_origin = entries(I + m * moved(c))
    yield "its inertia is in g mm², and about the link's origin", m, c, zero, about_origin * 1e9
    both = "its centre of mass is in mm, its inertia is in kg mm², and about the link's origin"
    yield both, m, c * 1e3, zero, about_origin * 1e6
    mmg = "its mass is in g, its centre of mass is in mm, its inertia is in g mm²"
    yield mmg, m * 1e3, c * 1e3, zero, six * 1e9
    inches = "its mass is in lb, its centre of mass is in in, its inertia is in lb in²"
    yield inches, m / POUND, c / INCH, zero, six / POUND / INCH**2
    yield "its inertia is that of water", m / 1240 * 7850, c, zero, six / 1240 * 1000
    yield "centre of mass is outside its shapes", m, c + np.array([0.0, 0.1, 0.4]), zero, six


MISTAKES = {entry[0]: entry[1:] for entry in mistakes()}


def write(path, mass, com, rpy, six, printed=repr, shapes=""):
    def words(values):
        return " ".join(printed(float(x)) for x in values)

    numbers = " ".join(f'{k}="{printed(float(x))}"' for k, x in zip(NAMES, six, strict=True))
    shapes = shapes or "".join(
        f'<collision><origin xyz="{" ".join(map(repr, p))}" rpy="{" ".join(map(repr, r))}"/>'
        f'<geometry><box size="{" ".join(map(repr, s))}"/></geometry></collision>\n'
        for s, p, r in BOXES
    )
    path.write_text(
        f'<robot name="r"><link name="a"><inertial>\n<origin xyz="{words(com)}" '
        f'rpy="{words(rpy)}"/>\n<mass value="{printed(float(mass))}"/>\n<inertia {numbers}/>\n'
        f"</inertial>\n{shapes}</link></robot>"
    )
    return path


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


MJCF_KINDS = [kind for kind, (_, _, rpy, _) in MISTAKES.items() if not rpy.any()]


def write_mjcf(path, mass, com, six, *, diagonal):
    """Write six numbers in MuJoCo's order, or the moments in principal axes."""
    xx, xy, xz, yy, yz, zz = six
    inertia = f'fullinertia="{numbers((xx, yy, zz, xy, xz, yz))}"'
    if diagonal:
        moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        axes = axes * np.linalg.det(axes)
        x, y, z, w = Rotation.from_matrix(axes).as_quat()
        inertia = f'diaginertia="{numbers(moments)}" quat="{numbers((w, x, y, z))}"'
    geoms = "".join(
        f'<geom class="solid" pos="{numbers(p)}" euler="{numbers(r)}" size="{numbers(s)}"/>'
        for s, p, r in ((np.array(s) / 2, p, r) for s, p, r in BOXES)
    )
    path.write_text(
        '<mujoco><compiler angle="radian" eulerseq="XYZ"/><default><default class="solid">'
        '<geom type="box"/></default></default><worldbody><body name="a"><freejoint/><inertial '
        f'pos="{numbers(com)}" mass="{float(mass)!r}" {inertia}/>{geoms}</body></worldbody>'
        "</mujoco>"
    )
    return path


@pytest.mark.parametrize("kind", MJCF_KINDS)
@pytest.mark.parametrize("diagonal", [False, True])
def test_bodies_of_mjcf_are_judged_by_their_geoms(tmp_path, kind, diagonal, mujoco):
    """The number that is wrong is named for six numbers, and for moments where they show it."""
    mass, com, _, six = MISTAKES[kind]
    as_read = "order" not in kind and "row by row" not in kind
    path = write_mjcf(tmp_path / "r.xml", mass, com, six, diagonal=diagonal)
    if not (as_read or diagonal):
        return
    result = checked(path)
    assert result.problem in (MISREAD, "impossible")
    if as_read and not (diagonal and "principal" in kind):
        assert kind in result.reasons[0]
    repaired = repair_model(path)
    assert not repaired.unrepaired
    path.write_bytes(repaired.content)
    assert (checked(path).problem, checked(path).warning) == ("", "")
    model = mujoco.MjModel.from_xml_path(str(path))
    m = Bracket().mass / 1240 * 7850 if "water" in kind else Bracket().mass
    assert_close(model.body_mass[1], m, 1e-5)
    moments = np.sort(model.body_inertia[1])
    assert_close(moments, np.linalg.eigvalsh(m / Bracket().mass * Bracket().inertia), 1e-3)


def checked(path):
    (result,) = check_links(read_model(path).links, None, read_model(path).shapes())
    return result


@pytest.mark.parametrize("exporter", PRINTED)
def test_a_link_as_its_shapes_are_is_accepted(tmp_path, exporter):
    b = Bracket()
    path = write(
        tmp_path / "r.urdf", b.mass, b.com, np.zeros(3), entries(b.inertia), PRINTED[exporter]
    )
    result = checked(path)
    assert (result.problem, result.warning) == ("", "")


@pytest.mark.parametrize("exporter", PRINTED)
@pytest.mark.parametrize("kind", MISTAKES)
def test_the_reading_that_fits_is_named_first_and_repaired(tmp_path, kind, exporter):
    path = write(tmp_path / "r.urdf", *MISTAKES[kind], PRINTED[exporter])
    result = checked(path)
    assert result.problem in (MISREAD, "impossible")
    assert kind in result.reasons[0]
    repaired = repair_model(path)
    assert not repaired.unrepaired
    path.write_bytes(repaired.content)
    again = checked(path)
    assert (again.problem, again.warning) == ("", "")
    b = Bracket()
    mass = b.mass / 1240 * 7850 if "water" in kind else b.mass
    known = [mass, *(mass * b.com)]
    assert_close(again.link.phi[:4], known, 1e-5)


def test_a_body_that_no_reading_explains_is_left_alone(tmp_path):
    """A hollow bracket with a motor at one end: all numbers are right, and none is the shape's."""
    b = Bracket()
    c = 0.6 * b.com + 0.4 * np.array(BOXES[0][1])
    six = entries(0.7 * b.inertia + 0.4 * b.mass * moved(c - BOXES[0][1]))
    result = checked(write(tmp_path / "r.urdf", 1.7 * b.mass, c, np.zeros(3), six))
    assert (result.problem, result.warning, result.reading) == ("", "", None)


@pytest.mark.parametrize(
    ("density", "words"), [(40_000.0, "denser than osmium"), (4.0, "lighter than foam")]
)
def test_a_density_of_no_material_is_a_warning(tmp_path, density, words):
    b, scale = Bracket(), density / Bracket.density
    numbers = scale * b.mass, b.com, np.zeros(3), scale * entries(b.inertia)
    result = checked(write(tmp_path / "r.urdf", *numbers))
    assert result.problem == ""
    assert words in result.warning
    assert f"{density:.3g} kg/m³" in result.warning


SIZES = {
    "the diameter in place of the radius": (2, 1),
    "half the radius": (0.5, 1),
    "twice the length": (1, 2),
    "half the length": (1, 0.5),
    "twice its sizes": (2, 2),
    "half its sizes": (0.5, 0.5),
}


@pytest.mark.parametrize("kind", SIZES)
def test_sizes_of_one_part_that_are_taken_wrong(tmp_path, kind):
    """The inertia of a turned cylinder, by the formula of the handbooks."""
    factors = SIZES[kind]
    r, length, m, rpy = 0.05, 0.4, 3.0, (0.2, 0.7, 0.1)
    R = Rotation.from_euler("xyz", rpy).as_matrix()

    def inertia(r, length):
        across = m * (3 * r**2 + length**2) / 12
        return R @ np.diag([across, across, m * r**2 / 2]) @ R.T

    pose = f'<origin xyz="0 0.1 0.2" rpy="{numbers(rpy)}"/>'
    path, com = tmp_path / "r.urdf", np.array([0, 0.1, 0.2])
    six = entries(inertia(factors[0] * r, factors[1] * length))
    write(
        path,
        m,
        com,
        np.zeros(3),
        six,
        shapes=(
            f'<collision>{pose}<geometry><cylinder radius="{r}" length="{length}"/></geometry>'
            "</collision>"
        ),
    )
    assert f"its inertia is that of its shape with {kind}: " in checked(path).reasons[0]
    path.write_bytes(repair_model(path).content)
    (link,) = read_model(path).links
    assert_close(link.printed[4:], entries(inertia(r, length)), 1e-6)


SOLIDS = {  # URDF element, and moments by the handbooks of 3 kg with extents 2, 2 and 3
    "a box": ('<box size="2 2 3"/>', (13 / 4, 13 / 4, 2.0)),
    "a cylinder along z": ('<cylinder radius="1" length="3"/>', (3.0, 3.0, 1.5)),
    "an ellipsoid": ("", (13 * 3 / 20, 13 * 3 / 20, 6 / 5)),
}


def of_solid(path, element, moments):
    """Judge a turned link with the moments of a solid in its own axes."""
    rpy = (0.2, 0.7, 0.1)
    R = Rotation.from_euler("xyz", rpy).as_matrix()
    pose = f'<origin xyz="0 1 2" rpy="{numbers(rpy)}"/>'
    shapes = f"<collision>{pose}<geometry>{element}</geometry></collision>"
    six = entries(R @ np.diag(moments) @ R.T)
    write(path, 3.0, np.array([0, 1, 2]), np.zeros(3), six, shapes=shapes)
    return checked(path), R


@pytest.mark.parametrize("own", ["a box", "a cylinder along z"])
@pytest.mark.parametrize("other", SOLIDS)
def test_the_formula_of_another_solid(tmp_path, own, other):
    path = tmp_path / "r.urdf"
    result, R = of_solid(path, SOLIDS[own][0], SOLIDS[other][1])
    assert (result.problem == MISREAD) is (own != other)
    if own == other:
        return
    assert f"its inertia is that of {other} as large as its shape: " in result.reasons[0]
    path.write_bytes(repair_model(path).content)
    (link,) = read_model(path).links
    assert_close(link.printed[4:], entries(R @ np.diag(SOLIDS[own][1]) @ R.T), 1e-6)


@pytest.mark.parametrize(
    ("element", "moments"),
    [
        ('<sphere radius="1"/>', (2.0, 2.0, 2.0)),  # 2/3 m r², which is also that of a cube
        ('<cylinder radius="1" length="3"/>', (15 / 4, 15 / 4, 3.0)),  # an open tube
        ('<cylinder radius="1" length="3"/>', (3.0, 3.0, 1.8)),  # a motor inside
    ],
)
def test_of_hollow_links_nothing_is_said(tmp_path, element, moments):
    result, _ = of_solid(tmp_path / "r.urdf", element, moments)
    assert (result.problem, result.reading) == ("", None)


@pytest.mark.parametrize(
    ("mass", "words"), [(1e-3, "lighter than foam"), (1e7, "denser than osmium")]
)
def test_a_density_far_from_any_with_another_inertia(tmp_path, mass, words):
    """A motor at an end of a rough shape, whose mass is off by orders of magnitude."""
    b = Bracket()
    c = 0.6 * b.com + 0.4 * np.array(BOXES[0][1])
    six = entries(0.7 * b.inertia + 0.4 * b.mass * moved(c - BOXES[0][1])) / b.mass * mass
    result = checked(write(tmp_path / "r.urdf", mass, c, np.zeros(3), six))
    assert words in result.warning


def test_a_link_lighter_than_air_is_warned_of(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="r"><link name="a"><inertial><mass value="0.001"/><inertia ixx="0.001" '
        'ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.002"/></inertial></link></robot>'
    )
    (result,) = check_links(read_model(path).links)
    assert "lighter than air (3.8e-05 kg/m³)" in result.warning


def test_a_placeholder_is_not_read_by_its_shape(tmp_path):
    result = checked(write(tmp_path / "r.urdf", 1.0, np.zeros(3), np.zeros(3), [1, 0, 0, 1, 0, 1]))
    assert result.reading is None
    assert "placeholder" in result.warning


def test_one_wrong_number_becomes_that_of_the_shape(tmp_path, cli):
    """Both forms of the command write it; the other numbers and lines keep their place."""
    b = Bracket()
    six = entries(b.inertia).copy()
    six[3] *= 1.7
    path = write(tmp_path / "r.urdf", b.mass, b.com, np.zeros(3), six)
    assert "one of its six numbers" in checked(path).reasons[0]
    plain, option = tmp_path / "a.urdf", tmp_path / "b.urdf"
    cli.done("inspect", path, "--repair", plain)
    cli.done("inspect", path, "--repair", "-o", option)
    assert plain.read_text() == option.read_text()
    before, after = (file.read_text().splitlines() for file in (path, plain))
    assert [i for i, pair in enumerate(zip(before, after, strict=True)) if len(set(pair)) > 1] == [
        3
    ]
    assert_close(read_model(plain).links[0].printed[4:], entries(b.inertia), 1e-8)


def test_a_link_larger_than_machines_is_warned_of(tmp_path):
    path = tmp_path / "r.urdf"
    six = " ".join(f'{k}="{x}"' for k, x in zip(NAMES, (70, 0, 0, 80, 0, 90), strict=True))
    path.write_text(
        f'<robot name="r"><link name="a"><inertial><mass value="1"/><inertia {six}/></inertial>'
        "</link></robot>"
    )
    (result,) = check_links(read_model(path).links)
    assert "its radius of gyration is 11 m" in result.warning
