import re

import pytest

from identify.errors import MissingFile, ModelError
from identify.exchange import xml_document
from identify.exchange.link_checks import check_links
from identify.exchange.models import read_model
from identify.exchange.rewriting import rewrite_model
from identify.exchange.xml_document import MAX_NESTING, ModelFileError

SIX = 'ixx="{}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"'


def urdf(inertial: str) -> str:
    link = f'<link name="a">\n  {inertial}\n </link>'
    return f'<robot name="r">\n {link}\n<link name="b"/></robot>'


def sdf(inertial: str) -> str:
    link = f'<link name="a">\n<inertial>{inertial}</inertial></link>'
    return f'<sdf><model name="m">\n{link}<link name="b"/></model></sdf>'


def mjcf(attributes: str) -> str:
    body = f'<body name="a">\n<inertial {attributes}/></body>'
    return f"<mujoco><worldbody>\n{body}<body name='b'/></worldbody></mujoco>"


BOMB = """<?xml version="1.0"?>
<!-- c -->
<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>
<robot>&b;</robot>"""
GOOD = SIX.format("1")
MASS = '<inertial><mass value="1"/>\n'
BAD = {
    "not well-formed": ("<robot>\n<link></robot>", 2, "not well-formed XML: mismatched tag"),
    "empty": ("", None, "not well-formed XML: no element found"),
    "bomb": (BOMB, 3, "a DTD, an entity or .*remove the <!DOCTYPE"),
    "a DTD elsewhere": ('<!DOCTYPE r SYSTEM "none.dtd">\n<robot/>', 1, "a DTD, an entity or a ref"),
    "an entity elsewhere": (
        '<!DOCTYPE r [\n<!ENTITY a SYSTEM "none.txt">]>\n<robot>&a;</robot>',
        1,
        "a DTD, an entity or a reference to another file",
    ),
    "another root": (
        "<html/>",
        1,
        r"<html> is not a robot model; expected one of <robot>",
    ),
    "encoding": ('<?xml version="1.0" encoding="x-none"?><robot/>', 1, "unknown encoding"),
    "xacro": ("<robot>\n<xacro:m/></robot>", 2, "this is a xacro file.*xacro .* > model.urdf"),
    "unnamed": ("<robot>\n<link/></robot>", 2, "a <link> without a name"),
    "twice": ('<robot>\n<link name="a"/>\n<link name="a"/></robot>', 3, "a second <link> 'a'"),
    "an expression": (urdf('<inertial>\n<mass value="${m}"/></inertial>'), 4, "expand it first"),
    "sdf model": ("<sdf>\n<model/></sdf>", 2, "a <model> without a name"),
    "mjcf eulerseq": ('<mujoco>\n<compiler eulerseq="abc"/></mujoco>', 2, "expected .* got 'abc'"),
}
UNREADABLE = {
    "two inertials": (
        urdf(f"{MASS}<inertia {GOOD}/></inertial>\n<inertial/>"),
        5,
        "a second <inertial>",
    ),
    "two masses": (
        urdf(f'{MASS}<mass value="2"/><inertia {GOOD}/></inertial>'),
        4,
        "a second <mass>",
    ),
    "no mass": (urdf(f"<inertial><inertia {GOOD}/></inertial>"), 3, "without <mass>"),
    "no izz": (
        urdf(f'{MASS}<inertia ixx="1" iyy="1"/></inertial>'),
        4,
        "attribute 'ixy', 'ixz', 'iyz'",
    ),
    "nan": (urdf(f"{MASS}<inertia {SIX.format('nan')}/></inertial>"), 4, "<inertia ixx>: .*'nan'"),
    "huge": (urdf(f"{MASS}<inertia {SIX.format('1e999')}/></inertial>"), 4, "1e999' is too large"),
    "xyz": (urdf(f'{MASS}<origin xyz="0 0"/></inertial>'), 4, "<origin xyz>: .* got '0 0'"),
    "sdf expression": (sdf("<mass>${m}</mass>"), 3, r"got '\${m}'; expand xacro first"),
    "sdf degrees": (
        sdf('<mass>1</mass>\n<pose degrees="1" rotation_format="quat_xyzw">0 0 0 0 0 0 1</pose>'),
        4,
        "SDFormat refuses degrees='true'",
    ),
    "sdf quaternion": (
        sdf('<mass>1</mass>\n<pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose>'),
        4,
        "a quaternion of length zero",
    ),
    "sdf added mass": (
        sdf("<mass>1</mass><fluid_added_mass><xx>-1</xx></fluid_added_mass>"),
        3,
        "<fluid_added_mass>: .*linear x has -1 on the diagonal",
    ),
    "mjcf mass": (mjcf('pos="0 0 0" diaginertia="1 1 1"'), 3, "an <inertial> without mass"),
    "mjcf pos": (mjcf('mass="1" diaginertia="1 1 1"'), 3, "<inertial> has no attribute 'pos'"),
    "mjcf two": (
        mjcf('mass="1" pos="0 0 0" fullinertia="1 1 1 0 0 0" quat="1 0 0 0"'),
        3,
        "has quat and fullinertia; MJCF allows one",
    ),
    "mjcf quat": (
        mjcf('mass="1" pos="0 0 0" diaginertia="1 1 1" quat="0 0 0 0"'),
        3,
        "has no direction",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_the_file_and_the_line_are_named(tmp_path, case):
    text, line, message = BAD[case]
    path = tmp_path / "model.xml"
    path.write_text(text)
    with pytest.raises(ModelFileError, match=message) as caught:
        read_model(path)
    if line is not None:
        assert caught.value.line == line
        assert str(caught.value).startswith(f"{path}:{line}: ")
    assert caught.value.path == path


@pytest.mark.parametrize("case", UNREADABLE)
def test_an_inertial_that_is_wrong_leaves_the_other_links(tmp_path, cli, case):
    text, line, message = UNREADABLE[case]
    path = tmp_path / "model.xml"
    path.write_text(text)
    link, other = read_model(path).links
    assert (link.name, link.unreadable, link.line, link.phi) == ("a", True, line, None)
    assert re.search(message, link.note)
    assert other.massless
    (judged, _) = check_links((link, other))
    assert (judged.problem, judged.reasons) == ("unreadable", (link.note,))
    assert cli("inspect", path).status == 1
    status, out, _ = cli("inspect", path, "--repair", "-o", tmp_path / "fixed.xml")
    assert status == 1
    assert f"Not repaired: a: {link.note}; write a complete inertial element into the file." in out
    assert link.note in cli.refused("add", f"{path}#a", f"{path}#a", "-o", tmp_path / "sum.json")


def test_rewriting_link_with_two_inertials_is_rejected(tmp_path):
    path = tmp_path / "model.urdf"
    path.write_text(UNREADABLE["two inertials"][0])
    with pytest.raises(ModelError, match="link 'a': a second <inertial>"):
        rewrite_model(path, {"a": [1.0, 0, 0, 0, 1, 0, 0, 1, 0, 1]})


def test_a_file_of_200_mb_is_rejected_at_once(tmp_path):
    path = tmp_path / "model.urdf"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(ModelError, match="200 MB, expected at most 50 MB"):
        read_model(path)


def test_elements_without_end_are_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(xml_document, "MAX_ELEMENTS", 1000)
    path = tmp_path / "model.urdf"
    path.write_text("<robot>" + "<a/>\n" * 1000 + "</robot>")
    with pytest.raises(ModelError, match="urdf:1000: more than 1000 elements"):
        read_model(path)


def test_deep_nesting_does_not_overflow_stack(tmp_path):
    path = tmp_path / "model.xml"
    depth = MAX_NESTING - 10
    path.write_text(
        "<mujoco><worldbody>" + "<body>\n" * depth + "</body>" * depth + "</worldbody></mujoco>"
    )
    assert len(read_model(path).links) == depth

    path.write_text("<mujoco><worldbody>" + "<body>\n" * MAX_NESTING)
    with pytest.raises(ModelError, match="levels of nested elements"):
        read_model(path)


def test_a_missing_file_and_a_xacro_are_named(tmp_path):
    (tmp_path / "loop.urdf").symlink_to("loop.urdf")
    with pytest.raises(MissingFile, match=r"is a link to loop\.urdf, which does not exist$"):
        read_model(tmp_path / "loop.urdf")
    with pytest.raises(MissingFile, match=r"none\.urdf: no such file"):
        read_model(tmp_path / "none.urdf")
    path = tmp_path / "r.urdf.xacro"
    path.write_text('<robot name="r"/>')
    with pytest.raises(ModelFileError, match=r"xacro .*r.urdf.xacro > model.urdf"):
        read_model(path)
