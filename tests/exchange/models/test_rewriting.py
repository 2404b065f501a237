import numpy as np
import pytest
from hypothesis import given

from identify.errors import ModelError
from identify.exchange.models import read_model
from identify.exchange.rewriting import inertial_snippet, rewrite_model
from identify.inertia import phi_from_inertia
from tests.close import assert_same_body
from tests.exchange.models.many_bodies import allowed
from tests.strategies import bodies

PHI = phi_from_inertia(2.0, [0.1, 0.0, 0.0], np.diag([1.0, 1.5, 2.0]))

URDF = """<?xml version="1.0"?>
<!-- a comment with > and "quotes" ü -->
<robot  name='r'>
\t<link name='a'>
\t\t<inertial><!-- keep me -->
\t\t\t<mass value='1.0' />
\t\t\t<origin rpy="0 0 1"   xyz="0 0 0.1"/>
\t\t\t<inertia ixx="0.1" ixy="0" ixz="0" iyy='0.1' iyz="0" izz="0.1"/>  <!-- and me -->
\t\t</inertial>
\t\t<visual name="1 > 0"><geometry><box size="0.1 .2 .3"/></geometry></visual>
\t</link>
\t<link name="b"/>
\t<link
\t   name="c" ></link>
</robot>
"""

URDF_AFTER = """<?xml version="1.0"?>
<!-- a comment with > and "quotes" ü -->
<robot  name='r'>
\t<link name='a'>
\t\t<inertial><!-- keep me -->
\t\t\t<mass value="2"/>
\t\t\t<origin xyz="0.1 0 0" rpy="0 0 0"/>
\t\t\t<inertia ixx="1" ixy="0" ixz="0" iyy="1.5" iyz="0" izz="2"/>  <!-- and me -->
\t\t</inertial>
\t\t<visual name="1 > 0"><geometry><box size="0.1 .2 .3"/></geometry></visual>
\t</link>
\t<link name="b">
\t\t<inertial>
\t\t\t<origin xyz="0.1 0 0" rpy="0 0 0"/>
\t\t\t<mass value="2"/>
\t\t\t<inertia ixx="1" ixy="0" ixz="0" iyy="1.5" iyz="0" izz="2"/>
\t\t</inertial>
\t</link>
\t<link
\t   name="c" ></link>
</robot>
"""

SDF = """<sdf version="1.10"><model name="m">
  <link name="a">
    <inertial auto='true'>
      <mass>2</mass><!-- kept -->
      <fluid_added_mass><xx>1</xx><yy>2</yy></fluid_added_mass>
    </inertial>
  </link>
</model></sdf>
"""

SDF_AFTER = """<sdf version="1.10"><model name="m">
  <link name="a">
    <inertial>
      <mass>2</mass><!-- kept -->
      <fluid_added_mass><xx>1</xx><yy>2</yy></fluid_added_mass>
      <pose>0.1 0 0 0 0 0</pose>
      <inertia>
        <ixx>1</ixx>
        <ixy>0</ixy>
        <ixz>0</ixz>
        <iyy>1.5</iyy>
        <iyz>0</iyz>
        <izz>2</izz>
      </inertia>
    </inertial>
  </link>
</model></sdf>
"""

MJCF = """<mujoco>
  <worldbody>
    <body name="a"  pos='1 0 0'><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/> <!-- x -->
      <body name="b"><joint/></body>
    </body>
  </worldbody>
</mujoco>
"""

MJCF_AFTER = """<mujoco>
  <worldbody>
    <body name="a"  pos='1 0 0'><inertial pos="0.1 0 0" mass="2" diaginertia="IN"/> <!-- x -->
      <body name="b">
        <inertial pos="0.1 0 0" mass="2" diaginertia="IN"/><joint/></body>
    </body>
  </worldbody>
</mujoco>
""".replace("IN", "1 1.5 2")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("before", "after", "links"),
    [(URDF, URDF_AFTER, "ab"), (SDF, SDF_AFTER, "a"), (MJCF, MJCF_AFTER, "ab")],
    ids=["urdf", "sdf", "mjcf"],
)
def test_only_the_inertia_changes(tmp_path, before, after, links, newline):
    path = tmp_path / "model.xml"
    path.write_bytes(before.replace("\n", newline).encode())
    rewritten = rewrite_model(path, dict.fromkeys(links, PHI))
    assert rewritten.content.decode() == after.replace("\n", newline)
    assert path.read_bytes() == before.replace("\n", newline).encode()
    path.write_bytes(rewritten.content)
    for link in read_model(path).links:
        if link.name in links:
            assert_same_body(link.phi, PHI, 1e-12)
    assert rewrite_model(path, dict.fromkeys(links, PHI)).content == rewritten.content


@pytest.mark.parametrize("form", ["urdf", "sdf", "mjcf"])
@given(phi=bodies())
def test_a_snippet_reads_as_the_body_that_it_reports(form, phi, tmp_path_factory):
    snippet = inertial_snippet(phi, form)
    path = tmp_path_factory.mktemp("snippet") / "model.xml"
    path.write_text(
        {
            "urdf": '<robot name="r"><link name="a">{}</link></robot>',
            "sdf": '<sdf version="1.9"><model name="m"><link name="a">{}</link></model></sdf>',
            "mjcf": '<mujoco><worldbody><body name="a">{}</body></worldbody></mujoco>',
        }[form].format(snippet.text)
    )
    (link,) = read_model(path).links
    assert read_model(path).format == form
    assert_same_body(link.phi, snippet.body.phi, 1e-13)
    assert_same_body(link.phi, phi, allowed(phi) + (4e-6 if form == "sdf" else 0.0))  # rods
    assert not link.verdict.impossible


def test_latin_letters_in_another_encoding_stay(tmp_path):
    path = tmp_path / "latin.urdf"
    text = '<?xml version="1.0" encoding="iso-8859-1"?><robot name="ä"><link name="a"/></robot>'
    path.write_bytes(text.encode("latin-1"))
    content = rewrite_model(path, {"a": PHI}).content.decode("latin-1")
    assert content.startswith(text[: text.index("<link")])
    path.write_bytes(text.replace("iso-8859-1", "utf-16").encode("utf-16"))
    assert read_model(path).links[0].massless
    with pytest.raises(ModelError, match="only text in UTF-8 or ASCII can be edited"):
        rewrite_model(path, {"a": PHI})


def test_invalid_rewrites_are_rejected(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(URDF)
    with pytest.raises(ModelError, match=r"model.xml: no link 'd' among \['a', 'b', 'c'\]"):
        rewrite_model(path, {"d": PHI})
    with pytest.raises(ModelError, match=r"^b: impossible: .*triangle"):
        rewrite_model(path, {"b": [1, 0, 0, 0, 1, 0, 0, 1, 0, 3]})
    path.write_text('<mujoco><compiler inertiafromgeom="true"/><worldbody/></mujoco>')
    with pytest.raises(ModelError, match=r"xml:1: .*set it to 'auto' first"):
        rewrite_model(path, {"a": PHI})
