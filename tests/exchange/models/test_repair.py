import re

import numpy as np
import pytest

from identify.exchange.models import read_model
from identify.exchange.repair import repair_model
from identify.exchange.rewriting import rewrite_model
from identify.exchange.rounding import MIN_MOMENT_RATIO
from identify.inertia import nearest_consistent
from identify.inertia.matrices import second_moment_about_com
from tests.close import assert_close, assert_same_body

URDF = """<robot name="r">
  <link name="a"><!-- kept -->
    <inertial>
      <inertia izz='0.0030'  ixx="0.0010" ixy="0" ixz="0.000" iyz="-0.0" iyy="1e-3"/><!-- too -->
      <origin rpy="0 -0 0.3" xyz="0.000001 0 0"/>
      <mass value="0.000001e6" />
    </inertial>
  </link>
</robot>
"""
SDF = """<sdf version="1.9"><model name="m"><link name="a"><inertial>
  <pose frame="" degrees="true">0.000001 0 0 10 -0 30</pose><mass>1.0</mass>
  <inertia><ixx>0.0010</ixx><izz> 0.0030 </izz> <!-- kept -->
    <iyy>0.001</iyy></inertia></inertial></link></model></sdf>
"""
DIAG = """<mujoco><worldbody><body name="a"><freejoint/>
  <inertial  mass="1.0" euler="10 20 -30" diaginertia="0.001 0.0010 0.003"  pos="1e-6 0 0"/>
</body></worldbody></mujoco>
"""
FULL = DIAG.replace(
    'euler="10 20 -30" diaginertia="0.001 0.0010 0.003"', 'fullinertia="SIX"'
).replace("SIX", "0.001 0.001 0.003 1e-4 0 2e-4")
NEW = "0.001500000004"
SIX = {"ixx": NEW, "ixy": "0", "ixz": "0", "iyy": NEW, "iyz": "0", "izz": "0.003"}
ATTRIBUTES = " ".join(f'{name}="{text}"' for name, text in SIX.items())
ELEMENTS = "".join(f"\n    <{name}>{text}</{name}>" for name, text in SIX.items())
CASES = {
    "urdf": (URDF, re.sub("<inertia .*?/>", f"<inertia {ATTRIBUTES}/>", URDF)),
    "sdf": (
        SDF,
        re.sub("<inertia>.*</inertia>", f"<inertia>{ELEMENTS}\n  </inertia>", SDF, flags=re.DOTALL),
    ),
    "diag": (
        DIAG,
        DIAG.replace("0.001 0.0010 0.003", f"{NEW} {NEW} 0.003")
        .replace("  mass", " mass")
        .replace("  pos", " pos"),
    ),
}


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("case", CASES)
def test_only_the_element_of_the_inertia_is_touched(tmp_path, case):
    """Second moments of 0.0015, 0.0015 and −0.0005: the last becomes a hair above zero."""
    before, expected = CASES[case]
    path = write(tmp_path / "model.xml", before)
    repaired = repair_model(path)
    assert repaired.content.decode() == expected
    path.write_bytes(repaired.content)
    (link,) = read_model(path).links
    assert not link.verdict.impossible
    assert_same_body(link.phi, repaired.repairs[0].phi, 1e-13)
    assert repair_model(path).content == repaired.content


def test_full_inertia_stays_full(tmp_path, mujoco):
    path = write(tmp_path / "m.xml", FULL)
    was = read_model(path).links[0]
    content = repair_model(path).content.decode()
    kept = re.compile(r'fullinertia="[^"]*"')
    assert kept.sub("", content).split() == kept.sub("", FULL).split()
    strict = '<compiler balanceinertia="false"/><worldbody>'
    assert mujoco.MjModel.from_xml_string(content.replace("<worldbody>", strict)).nbody == 2
    now = read_model(write(path, content)).links[0]
    assert not now.verdict.impossible
    assert_close(now.phi[:4], was.phi[:4], 0.0)
    assert_same_body(now.phi, nearest_consistent(was.phi).phi, 1e-8)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("form", ["urdf", "sdf"])
def test_repair_in_rotated_axes_keeps_half_the_margin_after_rounding(tmp_path, form, seed):
    rng = np.random.default_rng(seed)
    six = dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), rng.normal(size=6), strict=True))
    rpy = " ".join(f"{x:.3f}" for x in rng.uniform(-3, 3, 3))
    if form == "urdf":
        entries = " ".join(f'{name}="{abs(x):.4f}"' for name, x in six.items())
        text = (
            f'<robot name="r"><link name="a"><inertial><origin xyz="7 8 9" rpy="{rpy}"/>'
            f'<mass value="2"/><inertia {entries}/></inertial></link></robot>'
        )
    else:
        entries = "".join(f"<{name}>{abs(x):.4f}</{name}>" for name, x in six.items())
        text = (
            f'<sdf><model name="m"><link name="a"><inertial><pose>7 8 9 {rpy}</pose>'
            f"<mass>2</mass><inertia>{entries}</inertia></inertial></link></model></sdf>"
        )
    path = write(tmp_path / "model.xml", text)
    path.write_bytes(repair_model(path).content)
    (link,) = read_model(path).links
    values = np.linalg.eigvalsh(second_moment_about_com(link.printed))
    assert values[0] >= 0.499 * MIN_MOMENT_RATIO * values.sum()
    assert not link.verdict.impossible
    assert not repair_model(path).repairs


@pytest.mark.parametrize("entry", ["2.40741e-35", "1.35525e-20"])
def test_negligible_inertia_becomes_that_of_plausible_ball(tmp_path, entry, mujoco):
    """0.78 kg of water's density: r³ = 3 m / 4πρ and I = 2/5 m r². No geometry says otherwise."""
    text = (
        '<robot name="r"><link name="w"/><joint name="j" type="continuous"><parent link="w"/>'
        '<child link="head"/><axis xyz="0 0 1"/></joint><link name="head"><inertial>'
        '<origin xyz="0 0.1 0.2" rpy="0 0 0"/><mass value="0.78"/>'
        f'<inertia ixx="0" ixy="0" ixz="{entry}" iyy="0" iyz="0" izz="0" /></inertial></link>'
        "</robot>"
    )
    path = write(tmp_path / "r.urdf", text)
    repaired = repair_model(path)
    assert not repaired.unrepaired
    ball = "a ball of its mass and a radius of 0.0571 m, of 1000 kg/m³ (--density)"
    assert ball in repaired.repairs[0].source
    assert repaired.repairs[0].source.endswith("it has no geometry")
    radius = (3.0 * 0.78 / (4.0 * np.pi * 1000.0)) ** (1.0 / 3.0)
    assert_close(repaired.repairs[0].moments, np.full(3, 0.4 * 0.78 * radius**2), 1e-8)
    content = repaired.content.decode()
    strict = '<mujoco><compiler balanceinertia="false"/></mujoco></robot>'
    assert mujoco.MjModel.from_xml_string(content.replace("</robot>", strict)).nbody == 2
    path.write_text(content)
    assert not read_model(path).links[1].verdict.impossible


def test_no_mass_in_the_digits_printed_cannot_be_repaired(tmp_path):
    text = URDF.replace("0.000001e6", "0.00000000").replace("izz='0.0030'", 'izz="0.0015"')
    repaired = repair_model(write(tmp_path / "r.urdf", text))
    assert not repaired.repairs
    ((link, why),) = repaired.unrepaired
    assert link.verdict.by_rounding
    assert "write its mass into the file, or zeros for its inertia" in why


def test_an_inconsistent_inertia_is_not_written(tmp_path):
    path = write(tmp_path / "r.urdf", URDF)
    with pytest.raises(ValueError, match="triangle"):
        rewrite_model(path, {}, inertias={"a": np.diag([1.0, 1.0, 3.0])})
    with pytest.raises(ValueError, match="no link 'b'"):
        rewrite_model(path, {}, inertias={"b": np.eye(3)})
    path = write(tmp_path / "f.urdf", '<robot name="r">\n<link name="a"/></robot>')
    with pytest.raises(ValueError, match=r"f.urdf:2: link 'a': its inertia is not stored here"):
        rewrite_model(path, {}, inertias={"a": np.eye(3)})
