"""Bodies that programs simulate: the rules, and the programs themselves where installed."""

import itertools
from importlib import import_module, util

import numpy as np
import pytest

from identify.exchange.installed_programs import InstalledBodies
from identify.exchange.rewriting import bodies_in_program as bodies_by_rules
from identify.exchange.simulators import SIMULATORS
from identify.exchange.xml_document import read_xml
from identify.inertia import in_frame
from identify.inertia.conventions import MujocoInertial
from identify.inertia.conventions.axes import rotation_from_rpy
from identify.inertia.matrices import phi_from_inertia
from identify.spatial import Pose
from tests.close import assert_same_body


def bodies_in_program(path, program):
    result = bodies_by_rules(read_xml(path), SIMULATORS[program])
    assert not [body for body in result.bodies.values() if "installed" in " ".join(body.changes)]
    return result.bodies


def inertial(ixx, iyy, izz, mass=2.0, ixy=0.0, rpy="0 0 0"):
    return (
        f'<inertial><origin xyz="0 0.02 0.1" rpy="{rpy}"/><mass value="{mass}"/><inertia '
        f'ixx="{ixx}" ixy="{ixy}" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>'
    )


SHAPES = (
    '<collision><origin xyz="0 0 0.05" rpy="0.1 0 0"/><geometry><box size="0.2 0.1 0.3"/>'
    '</geometry></collision><collision><geometry><cylinder radius="0.05" length="0.4"/></geometry>'
    '</collision><visual><geometry><sphere radius="0.3"/></geometry></visual>'
)
ARMS = {
    "solid": inertial(0.1, 0.2, 0.25, ixy=0.01),
    "turned": inertial(0.1, 0.2, 0.25, ixy=0.01, rpy="0.4 0.5 0.6"),
    "shapes": SHAPES,
    "both": inertial(0.1, 0.2, 0.25) + SHAPES,
    "bare": "",
    "A + B < C": inertial(0.1, 0.2, 0.5, ixy=0.05),
    "negative moment": inertial(-0.1, 0.2, 0.25),
    "no moments": inertial(0, 0, 0),
    "no mass": inertial(0.1, 0.2, 0.25, mass=0.0),
    "negative mass": inertial(0.1, 0.2, 0.25, mass=-1.0),
}
COMPILERS = (
    "",
    'fusestatic="false"',
    'settotalmass="30"',
    'settotalmass="30" fusestatic="false"',
    'boundmass="2.5" boundinertia="0.15"',
    'boundmass="2.5" boundinertia="0.15" fusestatic="false"',
    'balanceinertia="true"',
    'balanceinertia="true" boundinertia="0.12" settotalmass="7" fusestatic="false"',
    'inertiafromgeom="true"',
    'inertiafromgeom="false" fusestatic="false"',
    'inertiafromgeom="true" inertiagrouprange="1 3"',
    'inertiafromgeom="true" boundmass="30" fusestatic="false"',
    'inertiafromgeom="true" boundmass="30"',
    'inertiafromgeom="true" settotalmass="5" balanceinertia="true"',
)
JOINT = (
    '<joint name="{child}_joint" type="{kind}"><origin xyz="0.1 0 1" rpy="0.3 0 0.2"/>'
    '<parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/></joint>'
)


def robot(path, arm, compiler="", tool="fixed"):
    settings = f"<mujoco><compiler {compiler}/></mujoco>" if compiler else ""
    joints = JOINT.format(parent="base", child="arm", kind="continuous")
    joints += JOINT.format(parent="arm", child="tool", kind=tool)
    path.write_text(
        f'<robot name="r">{settings}<link name="base">{inertial(1, 1, 1, 3.0)}</link>'
        f'<link name="arm">{ARMS[arm]}</link><link name="tool">{inertial(0.01, 0.02, 0.025, 1.0)}'
        f"</link>{joints}</robot>"
    )
    return path


def compare(bodies, programs):
    """Compare all bodies that a program has with the rules, which have no others with a mass."""
    assert {name for name, it in bodies.items() if it.phi is not None and it.phi[0]} == {
        name for name, phi in programs.items() if phi.any()
    }
    for name, phi in programs.items():
        if phi.any():
            assert_same_body(bodies[name].phi, phi, 1e-9)


def in_mujoco(mujoco, path):
    """Return MuJoCo's bodies by name, or None if it does not compile the file."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return None
    finally:
        mujoco.set_mju_user_warning(before)
    numbers = zip(
        model.body_mass, model.body_ipos, model.body_iquat, model.body_inertia, strict=True
    )
    return {
        model.body(n).name: MujocoInertial(*body).to_phi() if body[0] else np.zeros(10)
        for n, body in enumerate(numbers)
        if n
    }


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("arm", "compiler"), list(itertools.product(ARMS, COMPILERS)))
def test_mujoco_has_the_bodies_of_the_rules(tmp_path, mujoco, arm, compiler):
    path = robot(tmp_path / "r.urdf", arm, compiler)
    programs = in_mujoco(mujoco, path)
    if programs is not None:
        compare(bodies_in_program(path, "mujoco"), programs)


def test_mujoco_compiles_most_of_these_models(tmp_path, mujoco):
    models = [
        in_mujoco(mujoco, robot(tmp_path / "r.urdf", arm, compiler))
        for arm, compiler in itertools.product(ARMS, COMPILERS)
    ]
    assert sum(model is not None for model in models) >= 60


MJCF = """<mujoco><compiler {compiler}/><worldbody>
  <body name="still"><geom type="box" size=".1 .2 .1"/></body>
  <body name="a" pos="0 1 0"><freejoint/><inertial pos="0 0 .1" mass="2" diaginertia=".1 .2 {izz}"/>
    <geom size=".1" group="1"/>
    <body name="t" pos="0 0 1" euler="0 30 0"><geom type="capsule" size=".1 .2"/></body></body>
  <body name="b"><freejoint/><geom type="box" size=".1 .1 .1"/>
    <geom type="sphere" size=".1" group="1" pos="0 0 1"/></body>
</worldbody></mujoco>"""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("izz", "compiler"), list(itertools.product((0.25, 0.5), COMPILERS)))
def test_mujoco_has_the_bodies_of_the_rules_of_mjcf(tmp_path, mujoco, izz, compiler):
    path = tmp_path / "m.xml"
    path.write_text(MJCF.format(compiler=compiler, izz=izz))
    programs = in_mujoco(mujoco, path)
    if programs is not None:
        compare(bodies_in_program(path, "mujoco"), programs)


def in_drake(path):
    parsing = import_module("pydrake.multibody.parsing")
    plant = import_module("pydrake.multibody.plant").MultibodyPlant(0.0)
    parsing.Parser(plant).AddModels(str(path))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    bodies = {}
    for index in plant.GetBodyIndices(plant.GetModelInstanceByName("r")):
        body = plant.get_body(index)
        spatial = body.CalcSpatialInertiaInBodyFrame(context)
        six = spatial.CalcRotationalInertia().CopyToFullMatrix3()[np.triu_indices(3)]
        mass = spatial.get_mass()
        bodies[body.name()] = np.array([mass, *(mass * spatial.get_com()), *six])
    return bodies


@pytest.mark.skipif(util.find_spec("pydrake") is None, reason="Drake is not installed")
@pytest.mark.parametrize("arm", ARMS)
def test_drake_has_the_bodies_of_the_rules(tmp_path, arm):
    path = robot(tmp_path / "r.urdf", arm)
    compare(bodies_in_program(path, "drake"), in_drake(path))


SDF = {
    "none": "",
    "no mass": "<inertial><inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial>",
    "mass alone": "<inertial><mass>4</mass></inertial>",
    "auto": '<inertial auto="true"/>',
    "auto with density": '<inertial auto="true"><density>2700</density></inertial>',
    "auto with mass": '<inertial auto="true"><mass>4</mass></inertial>',
}
SDF_SHAPES = """<collision name="c"><pose>0 0 .05 .3 0 0</pose>{density}<geometry><box>
  <size>.2 .1 .3</size></box></geometry></collision><collision name="d"><geometry><cylinder>
  <radius>.1</radius><length>.3</length></cylinder></geometry></collision>"""


@pytest.mark.skipif(util.find_spec("pydrake") is None, reason="Drake is not installed")
@pytest.mark.parametrize("density", ["", "<density>500</density>"])
@pytest.mark.parametrize("kind", SDF)
def test_sdformat_has_the_bodies_of_the_rules(tmp_path, kind, density):
    path = tmp_path / "m.sdf"
    shapes = SDF_SHAPES.format(density=density)
    path.write_text(
        f'<sdf version="1.11"><model name="r"><link name="a">{SDF[kind]}{shapes}</link></model>'
        "</sdf>"
    )
    for program in ("drake", "gazebo"):
        compare(bodies_in_program(path, program), in_drake(path))


@pytest.mark.parametrize("arm", [arm for arm in ARMS if arm not in ("no mass", "negative mass")])
@pytest.mark.parametrize("tool", ["fixed", "continuous"])
def test_pinocchio_has_the_bodies_of_the_rules(tmp_path, arm, tool):
    pin = pytest.importorskip("pinocchio")
    path = robot(tmp_path / "r.urdf", arm, tool=tool)
    model = pin.buildModelFromUrdf(str(path))
    programs = {}
    for name, body in zip(model.names, model.inertias, strict=True):
        if name != "universe":
            phi = phi_from_inertia(body.mass, body.lever, body.inertia)
            programs[name.removesuffix("_joint")] = phi if body.mass else np.zeros(10)
    compare(bodies_in_program(path, "pinocchio"), programs)


UNIT = phi_from_inertia(1.0, np.zeros(3), np.eye(3))
COM = np.array([0.0, 0.02, 0.1])
BAD = np.array([[0.1, 0.05, 0.0], [0.05, 0.2, 0.0], [0.0, 0.0, 0.5]])
RECORDED = {
    ("bullet", "bare"): UNIT,
    ("bullet", "A + B < C"): phi_from_inertia(2.0, COM, np.zeros((3, 3))),
    ("bullet", "negative moment"): phi_from_inertia(2.0, COM, np.zeros((3, 3))),
    ("dart", "bare"): UNIT,
    ("dart", "shapes"): UNIT,
    ("dart", "A + B < C"): phi_from_inertia(2.0, COM, BAD),
    ("newton", "A + B < C"): phi_from_inertia(2.0, COM, BAD + 0.2 * np.eye(3)),
    ("newton", "negative moment"): phi_from_inertia(2.0, COM, np.diag([0.05, 0.35, 0.4])),
    ("newton", "negative mass"): np.zeros(10),
    ("newton", "bare"): np.zeros(10),
}
"""Bodies that PyBullet 3.2.7, DART 6.20.0 and Newton 1.8.0 had of the arm."""


@pytest.mark.parametrize(("program", "arm"), RECORDED)
def test_recorded_bodies_of_other_programs(tmp_path, program, arm):
    body = bodies_in_program(robot(tmp_path / "r.urdf", arm), program)["arm"]
    np.testing.assert_allclose(body.phi, RECORDED[program, arm], atol=1e-12)


def test_newton_fills_the_shapes_of_a_link_without_inertial(tmp_path):
    """Box and cylinder at 1000 kg/m³, by hand."""
    body = bodies_in_program(robot(tmp_path / "r.urdf", "shapes"), "newton")["arm"]
    box = phi_from_inertia(6.0, np.zeros(3), 0.5 * np.diag([0.1, 0.13, 0.05]))
    r, length = 0.05, 0.4
    mass = 1000.0 * np.pi * r**2 * length
    across = mass / 12.0 * (3.0 * r**2 + length**2)
    cylinder = phi_from_inertia(mass, np.zeros(3), np.diag([across, across, 0.5 * mass * r**2]))
    X = Pose(rotation_from_rpy(np.array([0.1, 0.0, 0.0])), np.array([0.0, 0.0, 0.05]))
    assert_same_body(body.phi, in_frame(box, X) + cylinder, 1e-12)


SETTINGS = {"settotalmass": 'settotalmass="30"', "boundinertia": 'boundinertia="2"'}


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_body_is_not_written_where_mujoco_would_change_it(tmp_path, cli, setting):
    """Neither into the file, nor out of it."""
    path = robot(tmp_path / "r.urdf", "solid", f'{SETTINGS[setting]} fusestatic="false"')
    plain = robot(tmp_path / "plain.urdf", "solid")
    words = ("export", f"{plain}#tool", "--into", path, "--link", "arm", "-o", tmp_path / "o.urdf")
    assert f"MuJoCo would not simulate the body that is written: {setting}" in cli.refused(*words)
    assert not (tmp_path / "o.urdf").exists()
    message = cli.refused("export", f"{path}#arm", "--to", "urdf")
    assert "in MuJoCo link 'arm' is not the body of its numbers" in message
    words = ("export", f"{plain}#tool", "--into", plain, "--link", "arm", "-o", tmp_path / "o.urdf")
    assert cli(*words).status == 0


def test_a_mass_without_inertia_is_not_exported(tmp_path, cli):
    path = tmp_path / "m.xml"
    path.write_text(
        '<mujoco><worldbody><body name="a"><freejoint/><inertial pos="0 0 0" mass="1"/>'
        '<geom size=".1"/></body></worldbody></mujoco>'
    )
    message = cli.refused("export", f"{path}#a", "--to", "urdf")
    assert "link 'a' has a mass of 1 kg, but no inertia" in message


def test_inspect_shows_the_body_of_the_program(tmp_path, cli):
    path = robot(tmp_path / "r.urdf", "solid", 'settotalmass="30"')
    out = cli.done("inspect", path, "--for", "mujoco")
    assert "MuJoCo simulates 30 kg at [" in out
    assert "it includes tool; settotalmass scales mass and inertia by 10" in out
    assert "- in MuJoCo it is part of 'arm'" in out
    assert "- in MuJoCo it is fixed to the world, and has no body" in out
    assert "MuJoCo simulates" not in cli.done("inspect", path)


def test_balanced_inertia_compiles(tmp_path, cli):
    path = robot(tmp_path / "r.urdf", "A + B < C", 'balanceinertia="true"')
    status, out, _ = cli("inspect", path, "--for", "mujoco")
    assert status == 1  # the numbers are of no body
    assert "does not compile" not in out
    assert "balanceinertia makes each moment the mean, 0.266667 kg m²" in out


def test_a_moving_link_with_shapes_and_no_inertial_is_warned_of(tmp_path, cli):
    out = cli.done("inspect", robot(tmp_path / "r.urdf", "shapes"))
    assert "it has no <inertial>: MuJoCo and Newton simulate 9.142 kg of its collision" in out


def test_a_difference_from_the_installed_program_is_said(tmp_path, monkeypatch):
    path = robot(tmp_path / "r.urdf", "solid", tool="continuous")
    monkeypatch.setattr(
        "identify.exchange.rewriting.installed_bodies",
        lambda *_: InstalledBodies("9.9", {"arm": 2.0 * UNIT}),
    )
    bodies = bodies_by_rules(read_xml(path), SIMULATORS["mujoco"]).bodies
    assert bodies["arm"].changes == ("the installed MuJoCo 9.9 has 2 kg in its place",)
    assert not bodies["tool"].changes


def test_a_repaired_model_is_loaded_in_the_program(tmp_path, cli, mujoco):
    """A mesh that MuJoCo does not find keeps the repaired file from compiling."""
    path, fixed = robot(tmp_path / "r.urdf", "A + B < C"), tmp_path / "fixed.urdf"
    assert "Not loaded" not in cli.done("inspect", path, "--for", "mujoco", "--repair", fixed)
    assert in_mujoco(mujoco, fixed)
    mesh = '<collision><geometry><mesh filename="gone.stl"/></geometry></collision></link>'
    path.write_text(path.read_text().replace("</link>", mesh, 1))
    status, out, _ = cli("inspect", path, "--for", "mujoco", "--repair", fixed)
    assert status == 1
    assert "Not loaded: the installed MuJoCo" in out
    assert "gone.stl" in out
    status, out, _ = cli("inspect", fixed, "--for", "mujoco")
    assert status == 0
    assert "does not load it: Error: Error opening file 'gone.stl'" in out


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


@pytest.mark.parametrize(("mesh", "found"), [("part.obj", True), ("gone.obj", False)])
def test_meshes_of_packages_are_looked_up_for_mujoco(tmp_path, cli, mujoco, mesh, found):
    """MuJoCo does not resolve package://; a mesh that nobody finds is named."""
    folder, fixed = tmp_path / "my_robot", tmp_path / "elsewhere.urdf"
    (folder / "urdf").mkdir(parents=True)
    (folder / "part.obj").write_text(TETRAHEDRON)
    path = robot(folder / "urdf" / "r.urdf", "A + B < C")
    name = f"package://my_robot/{mesh}"
    element = f'<collision><geometry><mesh filename="{name}"/></geometry></collision></link>'
    path.write_text(path.read_text().replace("</link>", element, 1))
    status, out, _ = cli("inspect", path, "--for", "mujoco", "--repair", fixed)
    assert fixed.exists()
    assert status == (0 if found else 1)
    assert (f"cannot find the mesh {name!r}" in out) is not found


@pytest.mark.parametrize(("program", "module"), [("drake", "pydrake"), ("pinocchio", "pinocchio")])
def test_a_difference_from_drake_and_pinocchio_is_said(tmp_path, monkeypatch, program, module):
    pytest.importorskip(module)
    monkeypatch.setattr("identify.exchange.simulated_bodies.simulated_bodies", lambda *_: {})
    path = robot(tmp_path / "r.urdf", "A + B < C")
    bodies = bodies_by_rules(read_xml(path), SIMULATORS[program]).bodies
    assert f"the installed {SIMULATORS[program].title} " in bodies["arm"].changes[0]
    mass = {"drake": 2, "pinocchio": 3}[program]
    assert bodies["arm"].changes[0].endswith(f" has {mass} kg in its place")
