import re
import sys

import numpy as np
import pytest

from identify.exchange import SavedEstimate, write_estimate
from identify.exchange.models import read_model
from identify.inertia import InertialParameters, in_frame, phi_from_inertia
from identify.inertia.conventions import MujocoInertial, rotation_from_rpy
from identify.spatial import Pose
from tests.close import assert_close, assert_same_body

URDF = """<robot name="r">
  <link name="base"/>
  <link name="ghost"><inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0"
    izz="0"/></inertial></link>
  <link name="arm">
    <inertial><origin xyz="0.1 0.2 -0.3" rpy="0.4 -0.5 2.0"/><mass value="1.50"/>
      <inertia ixx="0.10" ixy="0.01" ixz="-0.02" iyy="0.12" iyz="0.005" izz="0.15"/></inertial>
  </link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="k" type="fixed"><parent link="base"/><child link="ghost"/></joint>
</robot>"""


def write(path, text):
    path.write_text(text)
    return path


def test_urdf_links_are_those_that_pinocchio_reads(tmp_path, pinocchio):
    model = read_model(write(tmp_path / "r.urdf", URDF))
    base, ghost, arm = model.links
    assert model.format == "urdf"
    assert [link.name for link in model.links] == ["base", "ghost", "arm"]
    assert [link.line for link in model.links] == [2, 3, 6]
    assert base.massless
    assert ghost.massless
    assert base.phi is None
    assert str(base.verdict) == "a massless frame"
    inertia = pinocchio.buildModelFromXML(URDF).inertias[1]
    expected = phi_from_inertia(inertia.mass, inertia.lever, inertia.inertia)
    assert_same_body(arm.phi, expected, 1e-14)
    assert_close(arm.rounding_errors, [5e-3, 0, 0, 0, 5e-3, 5e-3, 5e-3, 5e-3, 5e-4, 5e-3], 1e-12)
    assert arm.note == ""


@pytest.mark.parametrize(
    ("box", "mass", "moment", "message"),
    [
        ("0.002 0.001 0.001", "1", "10", r"gyration is 3.87 m, but the largest .* 0.002 m"),
        ("0.2 0.1 0.1", "1000", "1e-3", r"makes it denser than 6e\+10 kg/m³"),
        ("0.2 0.1 0.1", "1", "0.01", "^$"),
        # Whose cubed length leaves double precision.
        ("0.2 0.1 0.1", "1e300", "1", r"makes it denser than \S+ kg/m³"),
        ("0.2 0.1 0.1", "1", "1e-300", r"makes it denser than 1e\+300 kg/m³"),
        ("0.2 0.1 0.1", "1", "1e300", r"gyration is 1.22e\+150 m"),
        ("0.2 0.1 0.1", "1e-300", "1", r"gyration is 1.22e\+150 m"),
        ("", "1e-300", "1", "^$"),
        ("", "1", "1e300", "^$"),
    ],
)
def test_units_that_look_wrong_are_noted(tmp_path, box, mass, moment, message):
    text = f"""<robot><link name="a"><inertial><mass value="{mass}"/><inertia ixx="{moment}" ixy="0"
      ixz="0" iyy="{moment}" iyz="0" izz="{moment}"/></inertial>
      <visual><geometry><box size="{box}"/></geometry></visual></link></robot>"""
    assert re.search(message, read_model(write(tmp_path / "r.urdf", text)).links[0].note)


SDF = """<sdf version="1.10"><world name="w">
<include><uri>model://x</uri></include>
<model name="m">
  <link name="a">
    <inertial><mass>2</mass><pose degrees="true">0 0 1 90 0 30</pose>
      <inertia><ixx>1</ixx><iyy>2</iyy><izz>2.5</izz><ixy>0.1</ixy></inertia>
      <fluid_added_mass><xx>1</xx><yy>2</yy><zz>3</zz><pp>1</pp><qq>1</qq><rr>1</rr><xq>0.1</xq>
      </fluid_added_mass></inertial>
  </link>
  <model name="n">
    <link name="a"><inertial><mass>2</mass>
      <pose rotation_format="quat_xyzw">0 0 1 0 0 2 0</pose></inertial></link>
    <model name="o"><link name="b"><inertial auto="true"/></link></model>
  </model>
  <link name="c"/>
</model></world></sdf>"""


def test_sdf_links_of_nested_models(tmp_path):
    model = read_model(write(tmp_path / "m.sdf", SDF))
    a, na, b, c = model.links
    assert [link.name for link in model.links] == ["a", "n::a", "n::o::b", "c"]
    R = rotation_from_rpy(np.radians([90.0, 0.0, 30.0]))
    tensor = np.array([[1.0, 0.1, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 2.5]])
    expected = phi_from_inertia(2.0, np.array([0.0, 0.0, 1.0]), R @ tensor @ R.T)
    assert_same_body(a.phi, expected, 1e-14)
    assert a.added_mass[0, 4] == a.added_mass[4, 0] == 0.1
    assert_close(np.diag(a.added_mass), [1, 2, 3, 1, 1, 1])
    assert_same_body(na.phi, phi_from_inertia(2.0, np.array([0.0, 0.0, 1.0]), np.eye(3)), 1e-14)
    assert "no <inertia>" in na.note
    assert b.phi is None
    assert not b.massless
    assert b.verdict is None
    assert "auto='true'" in b.note
    assert c.massless
    assert "1 kg" in c.note
    assert model.notes == ("line 2: <include> refers to another file, which is not read",)


TURNS = [
    'quat="0.5 0.1 -0.7 0.3"',
    'axisangle="1 2 3 50"',
    'euler="10 20 30"',
    'xyaxes="1 1 0 0 1 1"',
    'zaxis="0.1 0.2 -0.4"',
    'zaxis="0 0 -1"',
    "",
]


@pytest.mark.parametrize("compiler", ["", 'angle="radian"', 'eulerseq="zYx"', 'eulerseq="XYZ"'])
def test_mjcf_rotations_match_mujoco(tmp_path, mujoco, compiler):
    inner = "".join(
        f'<body name="b{i}"><freejoint/><inertial pos="1 2 3" mass="2" diaginertia="2 3 4" {turn}/>'
        f"</body>"
        for i, turn in enumerate(TURNS)
    )
    text = f"<mujoco><compiler {compiler}/><worldbody>{inner}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    links = read_model(write(tmp_path / "m.xml", text)).links
    assert len(links) == len(TURNS)
    for i, link in enumerate(links):
        quat, moments = model.body_iquat[i + 1], model.body_inertia[i + 1]
        expected = MujocoInertial(2.0, model.body_ipos[i + 1], quat, moments).to_phi()
        assert_same_body(link.phi, expected, 1e-12)


MJCF = """<mujoco><worldbody>
  <body name="a"><inertial pos="0 0 1" mass="1" fullinertia="1 2 9 0.1 0.2 0.3"/>
    <body name="b"><geom size=".1"/><joint/></body>
    <body><frame pos="0 0 1"><geom type="box" size=".1 .2 .3" mass="2"/></frame></body>
  </body>
  <body name="c"/>
</worldbody></mujoco>"""


def test_bodies_made_of_geoms_are_read_through_mujoco(tmp_path, mujoco):
    a, b, box, c = read_model(write(tmp_path / "m.xml", MJCF)).links
    tensor = np.array([[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 9.0]])
    assert_same_body(a.phi, phi_from_inertia(1.0, np.array([0.0, 0.0, 1.0]), tensor), 1e-14)
    assert a.verdict.impossible  # and yet the others compile
    mass = 1000.0 * 4.0 / 3.0 * np.pi * 1e-3
    ball = phi_from_inertia(mass, np.zeros(3), 0.4 * mass * 0.01 * np.eye(3))
    assert_same_body(b.phi, ball, 1e-9)
    assert b.note == "its inertia comes from its geoms"
    assert box.name == "unnamed body 3"
    moments = 2.0 / 3.0 * np.diag([0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04])
    at_origin = phi_from_inertia(2.0, np.zeros(3), moments)
    expected = in_frame(at_origin, Pose(np.eye(3), np.array([0.0, 0.0, 1.0])))
    assert_same_body(box.phi, expected, 1e-9)
    assert c.massless


def test_replicated_bodies_are_found_by_name(tmp_path, mujoco):
    text = """<mujoco><worldbody><replicate count="3" offset="1 0 0"><body><geom size=".1"/></body>
      </replicate><body name="b"><geom size=".1" mass="2"/></body></worldbody></mujoco>"""
    unnamed, b = read_model(write(tmp_path / "m.xml", text)).links
    assert unnamed.phi is None
    assert "give it a name" in unnamed.note
    assert_close(b.phi[0], 2.0)


def test_links_not_compiled_by_mujoco_have_a_note(tmp_path, mujoco, monkeypatch):
    broken = MJCF.replace('type="box"', 'type="mesh" mesh="none"')
    note = read_model(write(tmp_path / "m.xml", broken)).links[1].note
    assert note.startswith("its inertia comes from its geoms, but MuJoCo does not compile it: ")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    a, b, *_ = read_model(write(tmp_path / "m.xml", MJCF)).links
    assert a.phi is not None
    assert b.phi is None
    assert "pip install mujoco" in b.note


def test_estimate_is_read_as_single_link_model(tmp_path):
    body = InertialParameters.from_com(2.0, [0.1, 0.0, 0.0], np.diag([1.0, 2.0, 2.5]))
    write_estimate(SavedEstimate(parameters=body, frame="tool"), tmp_path / "estimate.json")
    model = read_model(tmp_path / "estimate.json")
    assert model.format == "estimate"
    assert model.links[0].name == "tool"
    assert_close(model.links[0].phi, body.phi, 1e-15)
    assert str(model.links[0].verdict) == "possible: solid"


@pytest.mark.parametrize(
    ("xyz", "mass"), [("1 1 1", "1e308"), ("1e200 0 0", "1"), ("1e10 0 0", "1e300")]
)
def test_a_link_too_large_to_be_judged_leaves_the_others(tmp_path, xyz, mass):
    text = URDF.replace("0.1 0.2 -0.3", xyz).replace('mass value="1.50"', f'mass value="{mass}"')
    text = text.replace("</robot>", "<link name='last'/></robot>")
    *_, arm, last = read_model(write(tmp_path / "r.urdf", text)).links
    assert arm.note == "its numbers are too large for a verdict"
    assert (arm.phi, arm.verdict, arm.line) == (None, None, 6)
    assert last.massless
