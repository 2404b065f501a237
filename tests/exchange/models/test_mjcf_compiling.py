import numpy as np
import pytest

from identify.errors import ModelError
from identify.exchange.models import read_model
from identify.exchange.repair import repair_model
from identify.exchange.rewriting import rewrite_model
from identify.inertia.conventions import MujocoInertial
from tests.close import assert_close, assert_same_body

TOTAL = """<mujoco><compiler settotalmass="10"/><worldbody>
  <body name="a"><freejoint/><inertial pos="0 1 0" mass="30" diaginertia="1 1 INERTIA"/></body>
  <body name="b"><freejoint/><geom type="box" size=".1 .2 .3" mass="10"/></body>
</worldbody></mujoco>"""


def write(path, text):
    path.write_text(text)
    return path


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(mujoco, path, name):
    with pytest.warns(UserWarning, match="settotalmass"):
        model = mujoco.MjSpec.from_file(str(path)).compile()
    n = model.body(name).id
    numbers = (model.body_ipos, model.body_iquat, model.body_inertia)
    return MujocoInertial(model.body_mass[n], *(array[n] for array in numbers)).to_phi()


def test_a_total_mass_scales_every_body_as_mujoco_does(in_folder, mujoco, capfd):
    path = write(in_folder / "m.xml", TOTAL.replace("INERTIA", "1"))
    a, b = read_model(path).links
    assert capfd.readouterr() == ("", "")
    assert not (in_folder / "MUJOCO_LOG.TXT").exists()
    assert a.phi[0] == 7.5
    assert b.phi[0] == 2.5
    assert a.note == "<compiler settotalmass> scales its 30 kg and its inertia by 0.25"
    assert_close(a.printed[0], 30.0)
    for link in (a, b):
        assert_same_body(link.phi, compiled(mujoco, path, link.name), 1e-12)


def test_an_imconsistent_body_counts_in_the_total_and_is_repaired_as_it_is_printed(
    in_folder, mujoco
):
    path = write(in_folder / "m.xml", TOTAL.replace("INERTIA", "3"))
    a, b = read_model(path).links
    assert (a.phi[0], b.phi[0]) == (7.5, 2.5)
    assert a.verdict.impossible
    path.write_bytes(repair_model(path).content)
    a, b = read_model(path).links
    assert 'mass="30" diaginertia="1.5' in path.read_text()
    assert not a.verdict.impossible
    assert_same_body(a.phi, compiled(mujoco, path, "a"), 1e-12)
    with pytest.raises(ModelError, match=r"m.xml:1: <compiler settotalmass> .*remove it first"):
        rewrite_model(path, {"a": a.phi})


@pytest.mark.parametrize(
    ("geom", "reason"),
    [
        ('size="1" density="-5"', "mass, inertia or density are negative in geom"),
        ('size="nan"', "nan size in geom"),
        ('size="-1"', "size 0 must be positive in geom"),
    ],
)
def test_mujoco_error_is_quoted_and_nothing_else_is_printed(in_folder, mujoco, capfd, geom, reason):
    text = f'<mujoco><worldbody><body name="a"><geom {geom}/><joint/></body></worldbody></mujoco>'
    (link,) = read_model(write(in_folder / "m.xml", text)).links
    assert link.verdict is None
    assert f"MuJoCo does not compile it: Error: {reason}" in link.note
    assert capfd.readouterr() == ("", "")
    assert not (in_folder / "MUJOCO_LOG.TXT").exists()


DECLARED = {
    "a grid": ('<asset><hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/></asset>', ""),
    "pixels": (
        '<asset><texture builtin="flat" width="30000" height="30000"/></asset>',
        "",
    ),
    "copies": ("", '<replicate count="100000000"><geom size=".1"/></replicate>'),
}


@pytest.mark.parametrize("kind", DECLARED)
def test_a_file_that_declares_far_more_than_a_model_has_is_not_compiled(in_folder, mujoco, kind):
    asset, body = DECLARED[kind]
    text = f"""<mujoco>{asset}<worldbody>{body}<body name="b"><geom size="1"/></body></worldbody>
      </mujoco>"""
    (link,) = read_model(write(in_folder / "m.xml", text)).links
    expected = "over 10000 bodies and geoms" if kind == "copies" else "in line 1 declares over 1e"
    assert expected in link.note
    assert link.phi is None


@pytest.mark.parametrize("sep", ["", ' sep="-"'])
def test_bodies_under_replicate_are_the_first_of_their_copies(in_folder, mujoco, sep):
    text = f"""<mujoco><worldbody><replicate count="12"{sep} offset="1 0 0">
      <replicate count="3" offset="0 1 0"><body name="r"><geom size=".1" mass="2"/>
      <body name="r1x"><geom size=".1" mass="3"/></body></body></replicate></replicate>
      <body name="b"><geom size=".1" mass="4"/></body></worldbody></mujoco>"""
    r, inner, b = read_model(write(in_folder / "m.xml", text)).links
    assert_close([link.phi[0] for link in (r, inner, b)], [2.0, 3.0, 4.0], 1e-12)
    assert "the first of 36 copies by <replicate>" in r.note
    assert b.note == "its inertia comes from its geoms"


def test_static_bodies_are_not_fused(in_folder, mujoco):
    text = """<mujoco><compiler fusestatic="true"/><worldbody><body name="a"><freejoint/>
      <geom size=".1" mass="2"/><body name="b"><geom size=".1" mass="3"/></body></body></worldbody>
      </mujoco>"""
    links = read_model(write(in_folder / "m.xml", text)).links
    assert_close(np.array([link.phi[0] for link in links]), [2.0, 3.0], 1e-12)


GEOMS = """<mujoco><compiler angle="radian" meshdir="parts"/>
<default><geom density="1000"/><mesh scale="1 -2 1"/>
  <default class="rod"><geom type="capsule" size="0.03"/>
    <default class="long"><geom size="0.03 0.4"/></default></default></default>
<asset><mesh file="wedge.obj"/></asset>
<worldbody><body name="a" childclass="rod" pos="1 2 3"><freejoint/>
  <geom fromto="0 0 0 0.3 0.1 -0.2"/><geom class="long" pos="0.1 0 0" euler="0.3 0.2 0.1"/>
  <frame pos="0 0.5 0" axisangle="1 1 0 0.7" childclass="main">
    <geom type="box" size="0.1 0.2 0.3" quat="0.5 0.4 0.3 0.2"/><geom size="0.05"/>
    <geom type="cylinder" size="0.1 0.2" xyaxes="0 1 0 0 0 1"/></frame>
  <geom class="main" type="ellipsoid" size="0.1 0.2 0.3" zaxis="1 1 0"/>
  <geom class="main" type="box" size="0.1 0.2" fromto="0 0 0 0.3 0.1 -0.2"/>
  <geom class="main" type="mesh" mesh="wedge" pos="0.2 0 0"/>
  <body name="b" pos="0 0 1"><joint/><geom class="long" contype="0" conaffinity="0"/></body>
  <body name="c"><joint/><geom type="sphere" size="0.1"/><replicate count="2" offset="1 0 0">
    <geom size="0.1" type="sphere"/></replicate></body>
</body></worldbody></mujoco>"""
WEDGE = "v 0 0 0\nv 0.3 0 0\nv 0 0.2 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_geoms_have_the_inertia_that_mujoco_computes(in_folder, mujoco):
    """Copies by <replicate> are not filled; a geom that touches nothing is visual."""
    (in_folder / "parts").mkdir()
    write(in_folder / "parts" / "wedge.obj", WEDGE)
    path = write(in_folder / "m.xml", GEOMS)
    shapes = read_model(path).shapes()
    assert shapes.keys() == {"a", "b"}
    assert shapes["b"].description == "its visual geometry (capsule)"
    model = mujoco.MjModel.from_xml_path(str(path))
    for name, shape in shapes.items():
        n = model.body(name).id
        arrays = model.body_mass, model.body_ipos, model.body_iquat, model.body_inertia
        expected = MujocoInertial(*(np.array(array[n]) for array in arrays)).to_phi()
        assert_same_body(1000.0 * shape.phi, expected, 1e-6)
