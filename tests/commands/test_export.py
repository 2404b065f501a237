import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import identify
from identify.errors import ModelError
from identify.exchange import EXPORT_FORMATS, SavedEstimate, export_body, read_model, write_estimate
from identify.exchange.controllers import CONTROLLERS, payload_setting
from identify.exchange.rewriting import inertial_snippet
from identify.findings import Finding, derive_verdict
from identify.inertia import InertialParameters
from identify.spatial import BodyFrame, Pose
from tests.close import assert_close
from tests.small_faults import still

BODY = InertialParameters.from_com(
    1.25, [0.02, -0.01, 0.04], [[0.004, 1e-4, 2e-4], [1e-4, 0.005, -3e-4], [2e-4, -3e-4, 0.003]]
)
SAME = ("--at", *"000000")
"""Of a body whose flange nobody knows: it is the body frame."""
FRAME = ("0.1", "-0.2", "0.3", "0", "0", "0.6", "0.8")
URDF = (
    '<robot name="r">\n  <!-- kept -->\n  <link name="tool"/>\n  <link name="other"/>\n</robot>\n'
)


@pytest.fixture
def estimate(tmp_path) -> Path:
    path = tmp_path / "estimate.json"
    path.write_text(json.dumps({"phi": BODY.phi.tolist()}))
    return path


def test_export_frame_is_pose_of_frame_in_body(cli, estimate):
    """The centre of mass seen from the frame: R_BFᵀ (c − p_BF)."""
    _, out, _ = cli("export", estimate, "--to", "ur", "--frame", *FRAME)
    numbers = np.array(FRAME, dtype=float)
    X_BF = Pose.from_quaternion(numbers[3:], numbers[:3])
    com = X_BF.rotation.T @ (BODY.com - X_BF.position)
    said = np.array(re.findall(r"\[(.*?)\]", out)[1].split(","), dtype=float)
    np.testing.assert_allclose(said, com, rtol=1e-7)


def test_into_a_link_of_a_model(cli, estimate, tmp_path):
    model, out = tmp_path / "robot.urdf", tmp_path / "new.urdf"
    model.write_text(URDF)
    outcome = cli("export", estimate, "--link", "tool", "--into", model, "-o", out)
    assert outcome == (0, f"{out}\n", "identify: note: about B, in its axes\n")
    assert model.read_text() == URDF
    assert "<!-- kept -->" in out.read_text()
    links = {link.name: link for link in read_model(out).links}
    np.testing.assert_allclose(links["tool"].phi, BODY.phi, rtol=1e-7, atol=1e-12)
    assert links["other"].massless
    assert cli("export", estimate, "--link", "tool", "--into", model).out == out.read_text()


def test_a_model_is_written_in_place_where_it_is_named_twice(cli, estimate, tmp_path):
    model = tmp_path / "robot.urdf"
    model.write_text(URDF)
    assert cli("export", estimate, "--link", "tool", "--into", model, "-o", model).status == 0
    assert read_model(model).links[0].phi[0] == 1.25


def test_unidentified_parameters_are_noted(cli, tmp_path):
    path = tmp_path / "estimate.json"
    decided = dict.fromkeys(("m", "hx", "hy", "hz"), "data") | {"Ixx": "default"}
    path.write_text(json.dumps({"phi": BODY.phi.tolist(), "decided_by": decided}))
    _, _, err = cli("export", path, "--to", "urdf")
    assert err.startswith("identify: note: Ixx is not identifiable from the data")


COMMENTS = {
    **dict.fromkeys(("urdf", "sdf", "mjcf"), "<!--"),
    **dict.fromkeys(("drake", "dart", "usd", "ros", "ur", "ur_ros2", "ur_ros2_rolling"), "#"),
    **dict.fromkeys(("ros2_gravity", "mujoco_gravity", "xarm"), "#"),
    "abb": "!",
    "kuka": ";",
    "franka": "//",
    **dict.fromkeys(("fanuc", "franka_desk", "yaskawa"), ""),
}


@pytest.fixture
def unusable(tmp_path) -> Path:
    """An estimate that is not to be used; what it says would end any comment."""
    said = "R² is 0.1 -- \n--> set_payload(99)"
    errors = [Finding("unexplained", "error", said), Finding("delay", "info", "a whisper")]
    verdict = derive_verdict(errors, possible=True, optimal=True, identifiable=[])
    saved = SavedEstimate(BODY, findings=tuple(errors), verdict=verdict)
    return write_estimate(saved, tmp_path / "unusable.json")


def test_unusable_estimate_is_not_exported(cli, unusable, tmp_path):
    out = tmp_path / "new" / "out.txt"
    outcome = cli("export", unusable, "--to", "ur", "-o", out)
    assert (outcome.status, outcome.out) == (4, "")
    assert (
        "this estimate must not be used, so nothing was written\n  error: R² is 0.1" in outcome.err
    )
    assert "--accept-findings" in outcome.err
    assert not out.parent.exists()
    model = tmp_path / "robot.urdf"
    model.write_text(URDF)
    words = ("--link", "tool", "--into", model, "-o", model)
    assert cli("export", unusable, *words).status == 4
    assert model.read_text() == URDF


def test_a_mass_that_the_mechanism_hides_is_not_exported(cli, tmp_path):
    saved = SavedEstimate(BODY, decided_by={"m": "mechanism"})
    hidden = write_estimate(saved, tmp_path / "hidden.json")
    outcome = cli("export", hidden, "--to", "ur", "--at", *"000000")
    assert outcome.status == 4
    assert not outcome.out
    assert "no motion of the arm shows it: weigh the load" in outcome.err


def test_a_refused_export_names_the_needs_with_which_it_is_not_refused(cli, tmp_path):
    short = identify.fit(still(3), needs="controller")
    refused = cli("export", write_estimate(short.estimate, tmp_path / "e.json"), "--to", "ur")
    assert refused.status == 4
    (needs,) = re.findall(r'fit again with --need "([^"]+)"', refused.err)
    assert needs == "mass 2%, com 4mm"
    again = identify.fit(still(3), needs=needs)
    path = write_estimate(again.estimate, tmp_path / "again.json")
    assert cli("export", path, "--to", "ur", *SAME).status == 0


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_accepted_findings_are_repeated_in_a_comment(cli, unusable, estimate, name):
    status, out, err = cli("export", unusable, "--to", name, *SAME, "--accept-findings")
    assert status == 0
    plain, mark = cli("export", estimate, "--to", name, *SAME).out, COMMENTS[name]
    if name == "usd":  # its first line is that of every layer
        out, plain = (text.removeprefix("#usda 1.0\n") for text in (out, plain))
    assert out.endswith(plain)
    comment = out.removesuffix(plain)
    assert comment.isascii()
    assert "identify: error: R² is 0.1" in err
    if not mark:
        assert comment == ""
        assert f"identify: note: {name} has no comments" in err
        return
    assert "R^2 is 0.1" in comment
    assert "whisper" not in comment
    if mark == "<!--":
        assert comment.startswith("<!--\n")
        assert comment.endswith("\n-->\n")
        assert "--" not in comment[4:-5]
    else:
        assert all(line.startswith(f"{mark} ") for line in comment.splitlines())


def test_accepted_findings_are_repeated_in_a_model(cli, unusable, estimate, tmp_path):
    model = tmp_path / "robot.urdf"
    model.write_text('<?xml version="1.0"?>\n' + URDF)
    words = ("--link", "tool", "--into", model)
    plain = cli("export", estimate, *words).out
    out = cli("export", unusable, *words, "--accept-findings").out
    head, _, rest = out.partition("<!--\n")
    comment, _, rest = rest.partition("-->\n")
    assert head + rest == plain
    assert "R^2 is 0.1" in comment
    path = tmp_path / "new.urdf"
    path.write_text(out)
    assert_close(read_model(path).links[0].phi, BODY.phi, 1e-7)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "export: missing --to NAME, one of urdf, sdf"),
        (("--to", "urdff"), "no export format 'urdff' among urdf, sdf, "),
        (("--to", "urdf", "--link", "tool"), "require each other; add --into FILE"),
        (("--into", "{model}"), "require each other; add --link L"),
        (("--to", "sdf", "--link", "tool", "--into", "{model}"), "is urdf, but --to is sdf"),
        (("--link", "toool", "--into", "{model}"), "no link 'toool' among"),
        (("--to", "ur", "--frame", *"0000000"), "a quaternion that is not zero"),
        (("--to", "ur", "--frame", *"000000", "nan"), "expected finite numbers"),
        (("--to", "ur", "--frame", "0", "0", "0"), "--frame: expected 7 numbers"),
        (("--to", "ur", *SAME, "--largest-mass", "1"), "expected at most 1 kg"),
        (("--to", "urdf", "--largest-mass", "1"), "take a largest mass"),
        (("--to", "ur", "--frame", "1000", *"000001"), "check the units"),
        (("--to", "urdf", "-o", "{folder}"), "is a folder"),
    ],
)
def test_bad_use(cli, estimate, tmp_path, words, message):
    model = tmp_path / "robot.urdf"
    model.write_text(URDF)
    words = [word.format(model=model, folder=tmp_path) for word in words]
    assert message in cli.refused("export", estimate, *words)
    assert model.read_text() == URDF


X_BF = Pose(Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix(), [0.01, -0.02, -0.05])
X_BT = Pose(Rotation.from_rotvec([0.0, 0.4, 0.1]).as_matrix(), [0.0, 0.03, 0.15])
KNOWN = BodyFrame("wrist sensor", flange=X_BF)
TOOL = BodyFrame(None, Pose.identity(), X_BT)


def saved(tmp_path, frames: BodyFrame, name: str = "known.json") -> Path:
    return write_estimate(SavedEstimate(BODY, frames=frames), tmp_path / name)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_controller_export_needs_known_flange(cli, tmp_path, name):
    model, out = tmp_path / "robot.urdf", tmp_path / "out.txt"
    inertial = inertial_snippet(BODY.phi, "urdf").text
    model.write_text(f'<robot name="r"><link name="l">{inertial}</link></robot>')
    by_hand = tmp_path / "hand.json"
    by_hand.write_text(json.dumps({"phi": BODY.phi.tolist()}))
    for body in (saved(tmp_path, BodyFrame("wrist sensor")), by_hand, f"{model}#l"):
        outcome = cli("export", body, "--to", name, "-o", out)
        if CONTROLLERS[name].frame == "any":
            assert outcome.status == 0
            assert "identify: note: about B" in outcome.err
            continue
        assert (outcome.status, outcome.out) == (2, "")
        assert not out.exists()
        where = "[body.tcp]" if name == "abb" else "[body.flange]"
        for way in (where, "--at 0 0 0 0 0 0", "--frame", "X_AB"):
            assert way in outcome.message
        assert cli("export", body, "--to", name, *SAME, "-o", out).status == 0
        out.unlink()


@pytest.mark.parametrize("name", CONTROLLERS)
def test_controller_export_uses_known_flange(cli, tmp_path, name):
    status, out, err = cli("export", saved(tmp_path, KNOWN), "--to", name)
    if name == "abb":
        assert status == 2
        return
    about_b = CONTROLLERS[name].frame == "any"
    body = BODY if about_b else BODY.in_frame(X_BF.inverse())
    assert out == payload_setting(name, body).text
    said = "B (wrist sensor), in its axes" if about_b else "the flange, from [body.flange]"
    assert f"identify: note: about {said}\n" in err
    asked = cli("export", saved(tmp_path, KNOWN), "--to", name, *SAME)
    assert asked.out == payload_setting(name, BODY).text
    assert "identify: note: about the frame given by --at" in asked.err


@pytest.mark.parametrize("name", CONTROLLERS)
def test_tool_point_log_exports_flange_and_tool_frames(cli, tmp_path, name):
    out, err = cli("export", saved(tmp_path, TOOL), "--to", name)[1:]
    body = BODY.in_frame(X_BT.inverse()) if name == "abb" else BODY
    assert out == payload_setting(name, body).text
    what = {"tool": "the tool point, from [body.tcp]", "any": "B (the flange), in its axes"}
    frame = what.get(CONTROLLERS[name].frame, "the flange, from [body.tcp]")
    assert f"identify: note: about {frame}\n" in err


def test_python_estimates_export_like_files():
    estimate = SavedEstimate(BODY, frames=KNOWN)
    about_flange = payload_setting("ur", BODY.in_frame(X_BF.inverse()))
    assert payload_setting("ur", estimate).text == about_flange.text
    assert export_body(estimate, "ur").text == about_flange.text
    assert export_body(estimate, "sdf").text == export_body(BODY, "sdf").text
    for unknown in (SavedEstimate(BODY), SavedEstimate(BODY, frames=BodyFrame("wrist"))):
        with pytest.raises(ModelError, match=r"ur: .* flange, whose pose in B .*is not known"):
            export_body(unknown, "ur")
    with pytest.raises(ModelError, match=r"abb: .* tool point, whose pose in .* is not known"):
        export_body(estimate, "abb")
