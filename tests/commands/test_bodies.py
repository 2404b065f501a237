import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from identify.estimation.scale_accuracy import WITHOUT_SENSOR_FAULTS
from identify.exchange import SavedEstimate, read_estimate, read_model, write_estimate
from identify.inertia import PHI, InertialParameters, in_frame
from identify.inertia.shapes import Box, Sphere
from identify.spatial import BodyFrame, Pose
from tests.close import assert_close

TOOL = in_frame(
    Box(0.1, 0.08, 0.15).body(mass=2.0).phi, Pose(np.eye(3), np.array([0.01, 0.0, 0.02]))
)
BALL = Sphere(0.04).body(mass=0.5).phi
AT = (0.1, -0.05, 0.2, 0.3, -1.2, 0.7)
SPREAD = np.array([1e-3, *[1e-4] * 3, *[1e-5] * 6])
POSE = Pose(Rotation.from_rotvec(AT[3:]).as_matrix(), np.array(AT[:3]))
"""Of SciPy, in place of the toolkit's own exponential."""


@pytest.fixture
def tool(tmp_path):
    covariance = np.diag(SPREAD**2)
    decided = {**dict.fromkeys(PHI, "data"), "Ixy": "default"}
    saved = SavedEstimate(
        InertialParameters(TOOL), "flange", covariance=covariance, decided_by=decided
    )
    return write_estimate(saved, tmp_path / "tool.json")


@pytest.fixture
def ball(tmp_path):
    path = tmp_path / "ball.json"
    path.write_text(json.dumps({"phi": BALL.tolist(), "frame": "ball"}))
    return path


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / "robot.urdf"
    moment = 0.4 * 0.5 * 0.04**2
    path.write_text(
        '<robot name="r"><link name="base"/><link name="hand"><inertial><mass value="0.5"/>'
        f'<inertia ixx="{moment!r}" ixy="0" ixz="0" iyy="{moment!r}" iyz="0" izz="{moment!r}"/>'
        "</inertial></link></robot>"
    )
    return path


def test_a_shape_at_a_pose(cli, tmp_path):
    out = tmp_path / "box.json"
    status, _, _ = cli("shape", "box", 0.1, 0.2, 0.3, "--mass", 2, "--at", *AT, "-o", out)
    assert status == 0
    saved = read_estimate(out)
    assert_close(saved.parameters.phi, in_frame(Box(0.1, 0.2, 0.3).body(mass=2.0).phi, POSE), 1e-12)
    assert "the frame in which that of the shape: box 0.1 0.2 0.3 is at 0.1 -0.05" in saved.frame


def test_bodies_are_added_with_their_covariances(cli, tool, tmp_path):
    """Two of the same kind: that of the second moves with it, by differences of `in_frame`."""
    out = tmp_path / "sum.json"
    status, printed, err = cli("add", tool, tool, "--at", *AT, "-o", out)
    assert status == 0
    assert "Ixx, Ixy, Ixz, Iyy, Iyz, Izz are not identifiable" in err
    assert printed.endswith(f"{out}\n")
    saved = read_estimate(out)
    assert_close(saved.parameters.phi, TOOL + in_frame(TOOL, POSE), 1e-12)
    F = np.array([in_frame(row, POSE) for row in np.eye(10)]).T
    covariance = np.diag(SPREAD**2) + F @ np.diag(SPREAD**2) @ F.T
    assert_close(saved.covariance, covariance, 1e-12)
    low, high = saved.intervals["m"]
    assert (high - low) / 2 == pytest.approx(1.959964 * np.sqrt(2) * 1e-3, rel=1e-6)
    assert saved.frame == "flange"
    assert saved.decided_by["m"] == "data"
    assert saved.decided_by["hx"] == "data"
    assert {saved.decided_by[name] for name in PHI[4:]} == {"default"}
    assert saved.interval_kind == (
        "95 %, from the covariances of the two estimates, assumed independent"
    )


def test_interval_kind_of_sum_states_exclusions(cli, tool, tmp_path):
    said = f"95 %; {WITHOUT_SENSOR_FAULTS}"
    one = write_estimate(replace(read_estimate(tool), interval_kind=said), tmp_path / "one.json")
    total = tmp_path / "total.json"
    assert cli("add", one, tool, "-o", total).status == 0
    assert read_estimate(total).interval_kind.endswith(
        f"assumed independent; {WITHOUT_SENSOR_FAULTS}"
    )


def test_subtract_inverts_add(cli, tool, ball, tmp_path):
    total, rest = tmp_path / "total.json", tmp_path / "rest.json"
    second = ("--at", 0, 0, 1, 0, 0, 0)
    status, out, _ = cli("add", tool, ball, tool, "--at", *AT, *second, "-o", total)
    assert status == 0
    assert f"Note: {ball} has no covariance and counts as exact" in out
    assert read_estimate(total).interval_kind.startswith("95 %, from the covariances of the 3 est")
    two = tmp_path / "two.json"
    assert cli("subtract", total, tool, *second, "-o", two).status == 0
    status, out, _ = cli("subtract", two, ball, "--at", *AT, "-o", rest)
    assert status == 0
    assert f"Note: {ball} has no covariance and counts as exact" in out
    assert "frames are called differently" not in out
    assert_close(read_estimate(rest).parameters.phi, TOOL, 1e-9)


NEAR = Pose(Rotation.from_rotvec([0.0, 0.0, -0.5]).as_matrix(), [0.0, 0.0, -0.04])
FAR = Pose(Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix(), [0.01, 0.0, -0.09])


@pytest.mark.parametrize("command", ["add", "subtract"])
def test_differing_frames_need_a_pose(cli, tmp_path, command):
    """With both on one flange the message has the pose: the sum is then that about the flange."""
    big, small = InertialParameters(2.0 * TOOL), InertialParameters(TOOL)

    def write(name, body, frames):
        return write_estimate(SavedEstimate(body, frames=frames), tmp_path / f"{name}.json")

    near = write("near", big, BodyFrame("near", flange=NEAR))
    far = write("far", small.in_frame(FAR @ NEAR.inverse()), BodyFrame("far", flange=FAR))
    out = tmp_path / "out.json"
    refused = cli(command, near, far, "-o", out)
    assert refused.status == 2
    assert not out.exists()
    said = "far.json is about B (far), but "
    assert said in refused.message
    pose = re.search(r"on the same flange, give --at (.*)$", refused.message).group(1).split()
    assert cli(command, near, far, "--at", *pose, "-o", out).status == 0
    found = read_estimate(out)
    assert_close(found.parameters.phi, (3.0 if command == "add" else 1.0) * TOOL, 1e-7)
    assert found.frames.name == "near"
    assert_close(found.frames.flange.matrix, NEAR.matrix, 1e-12)


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (BodyFrame("near", flange=NEAR), BodyFrame("other name", flange=NEAR), False),
        (BodyFrame("near", flange=NEAR), BodyFrame(), False),
        (BodyFrame(), BodyFrame("far"), False),
        (BodyFrame("near"), BodyFrame("near", flange=NEAR), False),
        (BodyFrame("near"), BodyFrame("far", flange=FAR), True),
        (BodyFrame("near"), BodyFrame("far"), True),
    ],
)
def test_only_frames_that_are_known_to_differ_are_rejected(cli, tmp_path, one, other, differ):
    words = [
        write_estimate(SavedEstimate(InertialParameters(TOOL), frames=of), tmp_path / name)
        for name, of in (("one.json", one), ("other.json", other))
    ]
    assert cli("add", *words).status == (2 if differ else 0)
    assert cli("add", *words, "--at", *AT).status == 0


def test_pose_contradicting_flanges_is_rejected(cli, tmp_path):
    """A part may be held elsewhere now; a tool was on the flange with its payload."""
    body = InertialParameters(TOOL)
    one, other = (
        write_estimate(SavedEstimate(body, frames=BodyFrame(flange=flange)), tmp_path / name)
        for name, flange in (("one.json", NEAR), ("other.json", FAR))
    )
    out, known = tmp_path / "out.json", NEAR @ FAR.inverse()
    turn = Rotation.from_matrix(known.rotation).as_rotvec()
    pose = [round(x, 4) for x in (*known.position, *turn)]  # as a person copies it
    wrong = [pose[0] + 0.01, *pose[1:]]
    assert "according to the flange" not in cli("add", one, other, "--at", *pose).out
    added = cli("add", one, other, "--at", *wrong, "-o", out)
    assert added.status == 0
    asked = " ".join(f"{x:.9g}" for x in wrong[:3])
    exact = " ".join(f"{x:.9g}" for x in known.position)
    said = rf"{other} is placed at {asked} .*, but .* is at {exact} .* relative to {one}"
    assert re.search(said, added.out)
    out.unlink()
    refused = cli("subtract", one, other, "--at", *wrong, "-o", out)
    assert refused.status == 2
    assert re.search(said, refused.message)
    assert not out.exists()


def test_a_link_of_a_model_is_a_body_for_every_command(cli, tool, urdf, tmp_path):
    link, out = f"{urdf}#hand", tmp_path / "out.json"
    status, printed, _ = cli("add", tool, link, "--at", *AT, "-o", out)
    assert status == 0
    assert f"Note: {link} has no covariance and counts as exact" in printed
    assert_close(read_estimate(out).parameters.phi, TOOL + in_frame(BALL, POSE), 1e-12)
    assert cli("subtract", out, link, "--at", *AT, "-o", out).status == 0
    assert_close(read_estimate(out).parameters.phi, TOOL, 1e-9)
    status, text, _ = cli("export", link, "--to", "urdf", "--at", 0, 0, 0.1, 0, 0, 0)
    assert status == 0
    assert '<origin xyz="0 0 0.1" rpy="0 0 0"/>' in text
    frames = cli("add", link, link).out
    assert "frames are called differently" not in frames
    assert "have different names, 'flange' and 'link hand of" in cli("add", tool, link).out


def test_at_option_is_inverse_of_frame_option(cli, tool):
    """--frame is the pose of the frame in the body, --at that of the body in the frame."""
    back = POSE.inverse()
    quaternion = Rotation.from_matrix(back.rotation).as_quat()
    framed = cli("export", tool, "--to", "urdf", "--frame", *back.position, *quaternion)
    placed = cli("export", tool, "--to", "urdf", "--at", *AT)
    assert (framed.status, placed.status) == (0, 0)
    assert framed.out == placed.out


def test_digits(cli, ball, urdf, tmp_path):
    text = cli("export", ball, "--to", "urdf", "--digits", 4).out
    assert 'ixx="0.00032"' in text
    full = cli("export", ball, "--to", "urdf", "--digits", 17, "--at", *AT).out
    assert len(full) > len(cli("export", ball, "--to", "urdf", "--at", *AT).out)
    new, place = tmp_path / "new.urdf", np.array([1.0 / 7.0, -1.0 / 19.0, 3.0 / 13.0])
    exact = in_frame(BALL, Pose(POSE.rotation, place))
    words = ("--into", urdf, "--link", "base", "--at", *place, *AT[3:], "-o", new)
    for digits, least, most in ((4, 1e-6, 1e-4), (15, 0.0, 1e-14)):
        assert cli("export", ball, *words, "--digits", digits).status == 0
        error = np.abs(read_model(new).links[0].phi - exact).max() / np.abs(exact).max()
        assert least <= error <= most
    outcome = cli("export", ball, "--to", "ur", "--digits", 12)
    assert "ur: the controller determines the digits" in outcome.message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("export", "{urdf}", "--to", "urdf"), "is a model; choose a link as "),
        (("export", "{urdf}#finger", "--to", "urdf"), "no link 'finger' among "),
        (("export", "{urdf}#base", "--to", "urdf"), "link 'base' is a massless frame"),
        (
            ("export", "{tool}#x", "--to", "urdf"),
            "{tool}: no body 'x' in it: it is an estimate.json",
        ),
        (("export", "none.urdf#x", "--to", "urdf"), "none.urdf: no such file"),
        (("add", "{tool}"), "add: missing BODY; expected two or more"),
        (("add", "{tool}", "{tool}", "{tool}", "--at", 0, 0, 0, 0, 0, 0), "1 times --at for 2 bod"),
        (("subtract", "{tool}", "{tool}", "--at", 0, 0, "nan", 0, 0, 0), "expected finite numbers"),
        (
            ("export", "{tool}", "--to", "ur", "--at", 0, 0, 0, 0, 0, 90),
            "RX RY RZ rotate by 90 rad,",
        ),
        (
            ("export", "{tool}", "--to", "ur", "--at", *[0] * 6, "--frame", *[0] * 6, 1),
            "export: --at is the inverse of --frame",
        ),
        (("inspect", "{urdf}", "--for", "gazeboo"), "did you mean 'gazebo'"),
        (("inspect", "{urdf}", "--density", 1), "--density requires --repair"),
        (("inspect", "{urdf}", "--margin", 0.5), "margin: expected from 0 (the"),
    ],
)
def test_bad_use(cli, tool, urdf, words, message):
    given = [str(word).format(tool=tool, urdf=urdf) for word in words]
    assert message.format(tool=tool, urdf=urdf) in cli.refused(*given)


def test_a_file_is_written_before_anything_is_printed(cli, tool, ball, tmp_path, monkeypatch):
    def gone(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("identify.commands.main._print_lines", gone)
    out = tmp_path / "sum.json"
    assert cli("add", tool, ball, "-o", out).status == 141
    assert read_estimate(out).parameters.mass == pytest.approx(2.5)


def test_inspect_for_a_program(cli, urdf, tmp_path):
    """MuJoCo asks for more than what is possible; the file is mended for it."""
    moment = repr(0.4 * 0.5 * 0.04**2)
    small = urdf.read_text().replace(moment, "9e-16").replace('"0.5"', '"1e-12"')
    urdf.write_text(small)
    assert cli("inspect", urdf).status == 0
    status, out, _ = cli("inspect", urdf, "--for", "mujoco")
    assert status == 1
    assert "not for MuJoCo" in out
    assert "MuJoCo does not compile the file: a principal moment is 9e-16 kg m²" in out
    fixed = tmp_path / "fixed.urdf"
    assert cli("inspect", urdf, "--for", "mujoco", "--repair", "-o", fixed).status == 0
    assert cli("inspect", fixed, "--for", "mujoco").status == 0
    urdf.write_text(small.replace("1e-12", "1e-16"))
    status, out, _ = cli("inspect", urdf, "--for", "mujoco", "--repair", "-o", fixed)
    assert status == 1
    assert "Not repaired: hand: MuJoCo does not compile the file: the mass is 1e-16 kg" in out
    assert "Note: for massless links, Bullet gives those without <inertial> 1 kg" in (
        cli("inspect", urdf, "--for", "bullet").out
    )
    sdf = tmp_path / "m.sdf"
    sdf.write_text('<sdf><model name="m"><link name="a"/></model></sdf>')
    outcome = cli("inspect", sdf, "--for", "mujoco")
    assert "is sdf, which MuJoCo does not read (it reads urdf, mjcf)" in outcome.message


def test_inconsistent_sum_is_rejected(cli, ball, tmp_path):
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"phi": [1.0, 0, 0, 0, 1e-3, 0, 0, 1e-3, 0, 5e-1]}))
    assert "the combined body is not physically consistent: triangle inequality" in cli.refused(
        "add", ball, path, "-o", tmp_path / "out.json"
    )
    assert not (tmp_path / "out.json").exists()
