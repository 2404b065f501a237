import json
import re
from pathlib import Path

import numpy as np
import pytest

from identify.exchange import read_model
from identify.inertia import check_consistency, nearest_consistent

LINK = (
    '<link name="{name}"><inertial><origin xyz="{xyz}" rpy="0 0 0.3"/><mass value="{mass}"/>'
    '<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial></link>'
)


def link(name: str, ixx: str, iyy: str, izz: str, mass: str = "1.5", xyz: str = "0.1 0 0") -> str:
    return LINK.format(name=name, ixx=ixx, iyy=iyy, izz=izz, mass=mass, xyz=xyz)


GOOD = link("good", "0.002", "0.003", "0.004")
BAD = link("bad", "0.00100", "0.00100", "0.00300")
FRAME = '<link name="frame"/>'


@pytest.fixture
def urdf(tmp_path):
    def write(*links: str) -> Path:
        path = tmp_path / "robot.urdf"
        body = "\n  ".join(links)
        path.write_text(f'<robot name="r">\n  <!-- kept -->\n  {body}\n</robot>\n')
        return path

    return write


def test_good_model_passes_inspection(cli, urdf):
    out = cli.done("inspect", urdf(FRAME, GOOD))
    lines = out.splitlines()
    assert re.fullmatch(r" +3  frame +–  a massless frame", lines[1])
    assert re.fullmatch(r" +4  good +1\.5  possible: solid", lines[2])
    assert lines[-1].endswith("2 links (urdf): 1 massless, 1 possible.")


def test_inconsistent_link_reports_violation_and_its_size(cli, urdf):
    status, out, err = cli("inspect", urdf(GOOD, BAD))
    assert (status, err) == (1, "")
    assert "bad          1.5  impossible\n" in out
    assert "exceeds the sum of the others, 0.001 + 0.001, by 0.001 kg m² (33.3 % of" in out
    assert "- perhaps a typo, izz 10 times too large: izz 0.003 → 0.0003 kg m²" in out
    assert out.endswith("2 links (urdf): 1 possible, 1 impossible.\n")


def test_inconsistency_from_printed_digits_is_attributed_to_rounding(cli, urdf):
    status, out, _ = cli("inspect", urdf(link("rounded", "0.0010", "0.0013", "0.0023003")))
    assert status == 1
    assert "impossible by rounding" in out


def test_repair_keeps_mass_centre_and_every_other_byte(cli, urdf, tmp_path):
    model, fixed = urdf(FRAME, GOOD, BAD), tmp_path / "new" / "fixed.urdf"
    before = model.read_bytes()
    status, out, err = cli("inspect", model, "--repair", "-o", fixed)
    assert (status, err) == (0, "")
    assert model.read_bytes() == before
    assert out.splitlines() == [
        "Repaired bad: principal moments 0.001, 0.001, 0.003 → 0.0015, 0.0015, 0.003 kg m².",
        str(fixed),
    ]
    kept = [line for line in before.decode().splitlines() if 'name="bad"' not in line]
    assert [line for line in fixed.read_text().splitlines() if line in kept] == kept
    was, now = read_model(model).links[2], read_model(fixed).links[2]
    assert now.verdict is not None
    assert not now.verdict.impossible
    np.testing.assert_allclose(now.phi[:4], was.phi[:4], rtol=1e-9)
    np.testing.assert_allclose(now.phi, nearest_consistent(was.phi).phi, rtol=1e-6, atol=1e-11)
    assert cli("inspect", fixed).status == 0


def test_unrepairable_link_is_kept_and_named(cli, urdf, tmp_path):
    """A link with inertia and no mass has no nearest body; the other one is mended all the same."""
    fixed = tmp_path / "fixed.urdf"
    weightless = link("ghost", "0.1", "0.1", "0.1", mass="0")
    status, out, _ = cli("inspect", urdf(BAD, weightless), "--repair", "-o", fixed)
    assert status == 1
    assert "Not repaired: ghost: it has no positive mass" in out
    links = {entry.name: entry.verdict for entry in read_model(fixed).links}
    assert not links["bad"].impossible
    assert links["ghost"].impossible
    dense = tmp_path / "dense.urdf"
    words = ("inspect", urdf(weightless), "--repair", "--density", 1000, "-o", dense)
    status, out, _ = cli(*words)
    assert status == 1
    assert "no volume to compute it from (it has no geometry); write its mass into the" in out


CYLINDER = '<geometry><cylinder radius="0.05" length="0.4"/></geometry>'
DISC = (
    '<link name="disc"><inertial><mass value="2"/><inertia ixx="0.001" ixy="0" ixz="0" '
    f'iyy="0.001" iyz="0" izz="0.005"/></inertial><collision>{CYLINDER}</collision></link>'
)


def test_a_long_cylinder_repaired_into_a_thin_disc_is_warned_of(cli, urdf, tmp_path):
    """The nearest possible body has no thickness, where the shape is 0.4 m long."""
    fixed = tmp_path / "fixed.urdf"
    status, out, _ = cli("inspect", urdf(DISC, GOOD), "--repair", "-o", fixed)
    assert status == 0
    (warning,) = [line for line in out.splitlines() if line.startswith("Warning")]
    assert warning.startswith("Warning: disc: its shape contradicts its inertia: along [0, 0, 1]")
    assert "0.12 m for its collision geometry (cylinder) of uniform density" in warning
    assert "--from-geometry" in warning
    status, out, _ = cli("inspect", fixed, "--quiet")
    assert status == 0
    assert "- warning: its shape contradicts its inertia: along [0, 0, 1]" in out
    assert "good" not in out


def test_from_geometry_replaces_inertia_by_that_of_shape(cli, urdf, tmp_path):
    """2 kg of a cylinder: m r²/2 = 0.0025 and m (3 r² + l²)/12 = 0.0279167 kg m²."""
    fixed = tmp_path / "fixed.urdf"
    status, out, _ = cli("inspect", urdf(DISC, GOOD), "--repair", "--from-geometry", "-o", fixed)
    assert status == 0
    assert "0.001, 0.001, 0.005 → 0.0025, 0.02792, 0.02792 kg m²; new inertia: its collision" in out
    assert "Warning" not in out
    disc, good = read_model(fixed).links
    moments = [2 * (3 * 0.05**2 + 0.4**2) / 12] * 2 + [2 * 0.05**2 / 2]
    np.testing.assert_allclose(disc.phi[[4, 7, 9]], moments, rtol=1e-8)
    np.testing.assert_array_equal(good.phi, read_model(urdf(GOOD)).links[0].phi)
    assert "warning" not in cli.done("inspect", fixed)


def test_small_repairs_are_printed_with_enough_digits(cli, urdf, tmp_path):
    rounded = link("rounded", "0.0010", "0.0013", "0.0023003")
    out = cli.done("inspect", urdf(rounded), "--repair", "-o", tmp_path / "fixed.urdf")
    assert "principal moments 0.001, 0.0013, 0.0023003 → 0.0010002, 0.0013002, 0.0023" in out


def test_links_that_could_not_be_judged_are_counted(cli, tmp_path):
    path = tmp_path / "m.sdf"
    path.write_text(
        '<sdf><model name="m"><link name="a"><inertial auto="true"/></link>'
        '<link name="b"><inertial><mass>1</mass></inertial></link></model></sdf>'
    )
    status, out, _ = cli("inspect", path)
    assert status == 0
    assert out.endswith("2 links (sdf): 1 not checked, 1 possible.\n")


def test_many_links_are_judged_at_once(cli, tmp_path, monkeypatch):
    """A verdict each would take most of the time; only an impossible link needs one."""
    asked = []
    monkeypatch.setattr(
        "identify.exchange.link_inertia.check_consistency",
        lambda *a, **k: asked.append(a) or check_consistency(*a, **k),
    )
    path = tmp_path / "r.urdf"
    links = "\n".join(GOOD.replace("good", f"good{n}") for n in range(500))
    path.write_text(f"<robot>{links}\n{FRAME}{BAD}</robot>")
    status, out, _ = cli("inspect", path)
    assert status == 1
    assert out.endswith("502 links (urdf): 500 possible, 1 massless, 1 impossible.\n")
    assert len(asked) == 1


def test_inspect_judges_and_repairs_estimates(cli, tmp_path):
    path, fixed = tmp_path / "estimate.json", tmp_path / "fixed.json"
    path.write_text(json.dumps({"phi": [1.0, 0, 0, 0, 1e-3, 0, 0, 1e-3, 0, 5e-3], "frame": "tool"}))
    assert cli("inspect", path).status == 1
    assert cli("inspect", path, "--repair", "-o", fixed).status == 0
    document = json.loads(fixed.read_text())
    assert document["frame"] == "tool"
    assert "impossible" in document["provenance"]["repaired"]
    assert not check_consistency(np.array(document["phi"])).impossible


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Missing from identify inspect: MODEL"),
        (("{model}", "--repair"), "require each other; add -o FIXED"),
        (("{model}", "-o", "x.urdf"), "require each other; add --repair"),
        (("{model}", "--repair", "-o", "{model}"), "is the model itself; give -o another file"),
        (
            ("{model}", "--from-geometry", "--density", "8"),
            "--from-geometry and --density requires",
        ),
        (
            ("{model}", "--repair", "-o", "x.urdf", "--from-geometry", "--no-geometry"),
            "--no-geometry and --from-geometry cannot be combined",
        ),
        (("{model}", "again.urdf"), "inspect: unexpected again.urdf"),
        (("{folder}/none.urdf",), "no such file"),
        (("{model}", "--repair", "-o", "{folder}"), "is a folder"),
    ],
)
def test_bad_use(cli, urdf, tmp_path, words, message):
    model = urdf(BAD)
    before = model.read_bytes()
    outcome = cli("inspect", *(word.format(model=model, folder=tmp_path) for word in words))
    assert outcome.status == 2
    assert message in outcome.message
    assert model.read_bytes() == before


def test_repair_keeps_good_model_unchanged(cli, urdf, tmp_path):
    model, fixed = urdf(GOOD), tmp_path / "fixed.urdf"
    status, out, _ = cli("inspect", model, "--repair", "-o", fixed)
    assert status == 0
    assert "Nothing to repair" in out
    assert fixed.read_bytes() == model.read_bytes()
