"""A body as a person holds it, through each command that takes one."""

import json

import numpy as np
import pytest

from identify.exchange import read_estimate, write_estimate
from identify.exchange.estimate_json import SavedEstimate
from identify.inertia import InertialParameters
from tests.close import assert_close
from tests.exchange.body_formats.printing import (
    bracket,
    fusion_text,
    onshape_body,
    onshape_json,
    solidworks_text,
)
from tests.exchange.controllers.reading import READERS

BODY = bracket()
AT_THE_SAME = ("--at", 0, 0, 0, 0, 0, 0)


@pytest.fixture
def solidworks(tmp_path):
    path = tmp_path / "bracket.txt"
    path.write_text(solidworks_text(BODY))
    return path


@pytest.fixture
def one_point(tmp_path):
    """A text of Fusion about one point, which does not tell the sign of its products."""
    path = tmp_path / "one point.txt"
    path.write_text(fusion_text(BODY, origin=False))
    return path


def test_a_text_is_shown_in_si_with_how_it_was_read(cli, solidworks):
    printed = cli.done("body", solidworks)
    assert printed.startswith("SolidWorks, coordinate system tool0: bracket of ")
    assert "products of inertia are positive integrals, by the inertia about both" in printed
    assert "1.901146" in printed


def test_an_answer_is_written_for_other_commands(cli, one_point, tmp_path):
    message = cli.refused("body", one_point)
    assert f"remedy: identify body {one_point} --products negative|positive" in message
    out = tmp_path / "body.json"
    assert cli("body", one_point, "--products", "negative", "-o", out) == (0, f"{out}\n", "")
    saved = read_estimate(out)
    assert_close(saved.parameters.phi, BODY.phi, 1e-8)
    assert saved.provenance["command"].startswith("identify body")
    assert cli("inspect", out).status == 0


def test_a_text_at_a_pose(cli, solidworks, tmp_path):
    out = tmp_path / "moved.json"
    assert (
        cli("body", solidworks, "--at", 0.1, 0, 0, 0, 0, 1.5707963267948966, "-o", out).status == 0
    )
    saved = read_estimate(out).parameters
    x, y, z = BODY.com
    np.testing.assert_allclose(saved.com, [0.1 - y, x, z], rtol=1e-12)


def test_every_form_of_a_text(cli, solidworks):
    """Controllers about the flange are written once it is known."""
    unplaced = cli.done("body", solidworks, "--forms")
    assert "\nur:\nnot written: the setting is about the flange, whose pose in B" in unplaced
    placed = cli.done("body", solidworks, "--forms", *AT_THE_SAME)
    assert "not written" not in placed
    for line in ("set_target_payload(", "LOAD_DATA[1]=", "robot.setLoad(", "<inertial>"):
        assert line in placed


@pytest.mark.parametrize("name", ["ur", "kuka", "franka_desk", "urdf", "mjcf"])
def test_one_command_from_a_cad_text_to_a_setting(cli, solidworks, name):
    status, out, err = cli("export", solidworks, "--to", name, *AT_THE_SAME)
    assert status == 0
    assert "note: products of inertia are positive integrals, by the inertia about both" in err
    if name in READERS:
        assert_close(READERS[name](out).phi, BODY.phi, 1e-4)


def test_a_setting_of_one_controller_becomes_that_of_another(cli, solidworks, tmp_path):
    desk = tmp_path / "endeffector-config.json"
    assert cli("export", solidworks, "--to", "franka_desk", *AT_THE_SAME, "-o", desk).status == 0
    status, out, _ = cli("export", desk, "--to", "ur")
    assert status == 0
    assert_close(READERS["ur"](out).phi, BODY.phi, 1e-8)


def test_texts_are_inspected_repaired_and_added(cli, solidworks, tmp_path):
    assert "1 link (estimate): 1 possible" in cli.done("inspect", solidworks)
    flat = tmp_path / "flat.toml"
    flat.write_text(
        "mass = 1.0\ncom = [0, 0, 0.1]\ninertia_about_com = [[1,0,0],[0,1,0],[0,0,3]]\n"
    )
    assert cli("inspect", flat).status == 1
    fixed, total = tmp_path / "fixed.json", tmp_path / "sum.json"
    assert cli("inspect", flat, "--repair", "-o", fixed).status == 0
    assert read_estimate(fixed).parameters.consistent
    onshape = tmp_path / "part.json"
    onshape.write_text(onshape_json(JHD=onshape_body(BODY)))
    assert cli("add", solidworks, f"{onshape}#JHD", "-o", total).status == 0
    assert_close(read_estimate(total).parameters.phi, 2.0 * BODY.phi, 1e-12)


def test_an_estimate_keeps_what_its_logs_say(cli, tmp_path):
    path = write_estimate(SavedEstimate(InertialParameters(BODY.phi), "tool0"), tmp_path / "e.json")
    document = json.loads(cli.done("body", path, "--json"))
    assert document["estimate"]["frame"] == "tool0"
    assert document["notes"] == []


def test_an_impossible_body_is_shown_with_a_warning(cli, tmp_path):
    flat = tmp_path / "flat.toml"
    flat.write_text(
        "mass = 1.0\ncom = [0, 0, 0.1]\ninertia_about_com = [[1,0,0],[0,1,0],[0,0,3]]\n"
    )
    status, out, err = cli("body", flat)
    assert status == 0
    assert "Iczz" in out
    assert "identify: warning: impossible" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("body",), "Missing from identify body: BODY"),
        (("body", "absent.txt"), "absent.txt: no such file"),
        (("body", "x.txt", "--products", "plus"), "invalid choice 'plus'"),
    ],
)
def test_bad_use(cli, words, message):
    assert message in cli.refused(*words)


def test_a_mesh_is_sent_to_the_command_for_shapes(cli, tmp_path):
    mesh = tmp_path / "box.stl"
    mesh.write_text("solid box\nendsolid box\n")
    assert f"identify shape {mesh} --mass KG" in cli.refused("body", mesh)
    assert "no such file" in cli.refused("body", tmp_path / "absent.stl")


def test_a_unit_that_is_likely_wrong_is_a_warning(tmp_path, cli):
    """Millimetres for metres, and an inertia of a body denser than any material."""
    path = tmp_path / "tool.txt"
    path.write_text("set_target_payload(1.2, [0, 0, 80], [1e-9, 1e-9, 1e-9, 0, 0, 0])")
    _, _, messages = cli("body", path)
    assert "its centre of mass is 80 m from the origin: is it given in metres?" in messages
    assert "so than any material: are the units kg, m and kg m²?" in messages


def test_a_body_without_mass_is_refused(tmp_path, cli):
    path = tmp_path / "tool.toml"
    path.write_text(
        "mass = 0\ncom = [0, 0, 0]\ninertia_about_com = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]"
    )
    assert "a mass of 0 kg; expected more than 0" in cli.refused("body", path)
