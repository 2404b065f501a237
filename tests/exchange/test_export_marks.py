"""What the log decides too poorly is marked in each exported text, or left out of it."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
import yaml
from hypothesis import given

from identify.estimation.intervals import INERTIA_ABOUT_COM_NAMES, intervals_of
from identify.exchange import EXPORT_FORMATS, SavedEstimate, export_body, read_model, write_estimate
from identify.exchange.controllers import CONTROLLERS, payload_setting
from identify.exchange.estimate_views import PRINCIPAL_MOMENT_NAMES
from identify.exchange.export_marks import export_marks
from identify.findings import QUANTITIES, Finding, Verdict, derive_verdict
from identify.inertia import PHI, InertialParameters
from identify.inertia.frames import frame_map
from identify.spatial import BodyFrame, Pose
from tests.close import assert_close
from tests.exchange.controllers.reading import READERS
from tests.strategies import poses

BODY = InertialParameters.from_com(
    1.25, [0.02, -0.01, 0.04], [[0.004, 1e-4, 2e-4], [1e-4, 0.005, -3e-4], [2e-4, -3e-4, 0.003]]
)
SIZE = 2.0 * np.sqrt(0.012 / (2.0 * 1.25))
SAME = Pose.identity()
WITHOUT_COMMENTS = ("fanuc", "franka_desk", "yaskawa")
ZERO_IS_DOCUMENTED = [name for name, entry in CONTROLLERS.items() if entry.zero_inertia]
ANY_FRAME = [name for name, entry in CONTROLLERS.items() if entry.frame == "any"]
WEIGHT_ONLY = [name for name, entry in CONTROLLERS.items() if entry.weight_only]


def estimate(
    *, mass: float = 0.01, com: float = 0.01, inertia: float = 0.1, **fields: object
) -> SavedEstimate:
    """95 % half-widths relative to the mass, to the size, and of moments to the largest moment.

    Errors of I_c are those of a random symmetric matrix whose distribution no rotation changes.
    """
    moment, product = inertia, inertia / np.sqrt(2.0)
    relative = [mass, com, com, com, moment, product, product, moment, product, moment]
    largest = BODY.principal_moments[-1]
    wholes = [BODY.mass, *[BODY.mass * SIZE] * 3, *[largest] * 6]
    to_com = np.linalg.inv(frame_map(Pose(np.eye(3), -BODY.com)))
    errors = to_com * (np.array(relative) * wholes / 1.959964)
    decided = dict.fromkeys(PHI, "data")
    covariance = errors @ errors.T
    intervals = intervals_of(BODY.phi, covariance, np.inf, decided)
    given = {"covariance": covariance, "intervals": intervals, "decided_by": decided}
    return SavedEstimate(BODY, **(given | fields))


def default_inertia(**fields: object) -> SavedEstimate:
    decided = {name: "default" if name.startswith("I") else "data" for name in PHI}
    known = estimate()
    intervals = intervals_of(BODY.phi, known.covariance, np.inf, decided)
    return replace(known, decided_by=decided, intervals=intervals, default_body="a ball", **fields)


POOR: Mapping[str, tuple[Callable[[], SavedEstimate], str]] = {
    "inertia": (
        lambda: estimate(inertia=0.57),
        "poor inertia: known to ± 57 % of the largest principal moment (95 %)",
    ),
    "com": (
        lambda: estimate(com=0.6),
        "poor centre of mass: known to ± 83.1 mm, of a size of 139 mm (95 %)",
    ),
    "mass": (lambda: estimate(mass=0.6), "poor mass: known to ± 60 % (95 %)"),
    "default": (
        default_inertia,
        "poor inertia: Ixx, Ixy, Ixz, Iyy, Iyz, Izz are not identifiable from the data: "
        "a default body stands in (a ball)",
    ),
}


def require_readable(name: str, text: str) -> None:
    """Read a text back by a parser of its format, which finds the body in it."""
    if name in ("urdf", "sdf", "mjcf"):
        element = fromstring(text)
        mass = element.get("mass") or element.find("mass").get("value") or element.find("mass").text
        assert float(mass) == BODY.mass
    elif name == "usd":
        assert text.startswith("#usda 1.0\n")
        assert f"float physics:mass = {BODY.mass}\n" in text
    elif name in ("drake", "dart"):
        assert isinstance(ast.parse(text).body[-1], ast.Assign)
    else:
        assert READERS[name](text).mass == BODY.mass
    if name == "ros":
        assert yaml.safe_load(text)["m"] == BODY.mass


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_text_of_a_good_estimate_has_no_marks(name):
    plain = export_body(BODY, name)
    for good in (estimate(), estimate(inertia=0.3, com=0.45, mass=0.45)):
        export = export_body(good, name, X_AB=SAME)
        assert export.text == plain.text
        assert export.notes == plain.notes


@pytest.mark.parametrize("quantity", POOR)
@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_poor_quantities_are_marked(name, quantity):
    make, mark = POOR[quantity]
    plain, export = export_body(BODY, name).text, export_body(make(), name, X_AB=SAME)
    if name in WEIGHT_ONLY and quantity in ("inertia", "default"):
        assert export.text == plain
        return
    if quantity == "default" and name in ZERO_IS_DOCUMENTED:
        point = InertialParameters.from_com(BODY.mass, BODY.com, np.zeros((3, 3)))
        plain = export_body(point, name).text
        left_out = f"; left out: {CONTROLLERS[name].zero_inertia}"
        mark = f"poor inertia: not identifiable from the data{left_out}"
    if quantity == "inertia" and name in CONTROLLERS and CONTROLLERS[name].principal:
        widest = max(np.ptp(make().intervals[each]) / 2.0 for each in PRINCIPAL_MOMENT_NAMES)
        mark = mark.replace("57", f"{100.0 * widest / BODY.principal_moments[-1]:.3g}")
    assert export.notes[0] == mark
    require_readable(name, export.text)
    if name in WITHOUT_COMMENTS:
        assert export.notes[1] == f"{name} has no comments: the mark is only here"
        label = f" with {mark.partition(':')[0]}" if name == "franka_desk" else ""
        assert export.text == plain.replace('"Payload"', f'"Payload{label}"')
        return
    marked = export.text
    if name == "usd":  # its first line is that of every layer
        marked, plain = (text.removeprefix("#usda 1.0\n") for text in (marked, plain))
    assert marked.endswith(plain)
    comment = marked.removesuffix(plain)
    words = re.sub(r"<!--|-->|^(#|//|;|!) ", "", comment, flags=re.MULTILINE).split()
    assert words == mark.replace("±", "+/-").split()


@pytest.mark.parametrize("make", [lambda: estimate(inertia=1.5), lambda: default_inertia()])
@pytest.mark.parametrize("name", CONTROLLERS)
def test_an_inertia_that_may_be_zero_is_left_out_where_zero_is_documented(name, make):
    export = payload_setting(name, make(), X_AB=SAME)
    read, known = READERS[name](export.text), READERS[name](payload_setting(name, BODY).text)
    assert_close([read.mass, *read.com], [known.mass, *known.com])
    left_out = name in ZERO_IS_DOCUMENTED
    assert_close(read.inertia, np.zeros((3, 3)) if left_out else known.inertia)
    assert ("left out" in export.notes[0]) == left_out
    assert ("left out" in export.text) == left_out


@pytest.mark.parametrize("name", ZERO_IS_DOCUMENTED)
def test_an_inertia_of_which_one_moment_is_known_is_kept(name):
    known = READERS[name](payload_setting(name, BODY).text).inertia
    for unknown in (estimate(inertia=1.5), default_inertia()):
        widths = {**unknown.intervals, "Icxx": (0.0039, 0.0041)}
        partly = replace(unknown, covariance=None, intervals=widths)
        export = payload_setting(name, partly, X_AB=SAME)
        assert "poor inertia" in export.text
        assert_close(READERS[name](export.text).inertia, known)


@given(poses())
def test_half_widths_follow_the_axes_of_the_text(X_AB):
    """The same marks as for the intervals of the estimate moved to the frame of the text."""
    known = estimate(com=0.7, inertia=0.8)
    stretch = np.diag([1.0, 1.0, 0.8, 0.6, 1.0, 0.9, 0.4, 0.7, 0.8, 0.5])
    covariance = stretch @ known.covariance @ stretch
    known = replace(
        known,
        covariance=covariance,
        intervals=intervals_of(BODY.phi, covariance, np.inf, known.decided_by, limits={}),
    )
    F = frame_map(X_AB)
    phi = BODY.in_frame(X_AB).phi
    moved = intervals_of(phi, F @ covariance @ F.T, np.inf, known.decided_by, limits={})
    for names, whole, unit, mark in (
        (INERTIA_ABOUT_COM_NAMES, BODY.principal_moments[-1], 1e2, "inertia"),
        (("cx", "cy", "cz"), SIZE, 1e3 * SIZE, "com"),
    ):
        width = max(0.5 * (high - low) for low, high in map(moved.get, names)) / whole
        text = export_marks(known, X_AB).by_quantity.get(mark)
        assert (text is not None) == (width > 0.5)
        if text:
            shown = float(re.search(r"± ([0-9.e+]+)", text)[1])
            assert_close(shown, unit * width, 6e-3)


def test_intervals_of_the_covariance_alone_and_of_an_unmeasured_quantity():
    alone = replace(estimate(inertia=0.57), intervals={}, decided_by={})
    assert "± 57 %" in export_marks(alone).by_quantity["inertia"]
    unmeasured = SavedEstimate(BODY, intervals={"m": (1.2, 1.3), "Icxx": None})
    assert export_marks(unmeasured).by_quantity == {"inertia": "poor inertia: not measured"}


def test_quantities_to_be_used_with_care_are_noted():
    levels = dict.fromkeys(QUANTITIES, "yes") | {"inertia": "with care"}
    verdict = Verdict("with care", True, True, True, (), quantities=levels)
    note = "use with care: inertia, known to ± 30 % of the largest principal moment (95 %)"
    export = export_body(estimate(inertia=0.3, verdict=verdict), "ur", X_AB=SAME)
    assert export.text == export_body(BODY, "ur").text
    assert export.notes[0] == note
    marked = export_body(estimate(inertia=0.57, verdict=verdict), "ur", X_AB=SAME)
    assert not any("with care" in remark for remark in marked.notes)


TURNED = ("0.1", "0", "0", "0", "0", "0.3")
URDF = '<robot name="r">\n  <link name="tool"/>\n</robot>\n'


def test_the_widths_of_principal_moments_are_their_own():
    """Two moments that are nearly equal have wider intervals than the entries of the tensor."""
    good = estimate()
    low, high = BODY.principal_moments[-1] * np.array([0.4, 1.6])
    wide = replace(good, intervals={**good.intervals, "I2": (low, high)})
    assert not export_marks(wide).by_quantity
    marked = export_marks(wide, principal=True).by_quantity
    assert "± 60 %" in marked["inertia"]
    assert list(marked) == ["inertia"]


def test_quantities_that_an_error_doubts_are_marked():
    wrong = Finding("time_unit", "error", "twice", evidence={"doubted": ["inertia"]})
    verdict = Verdict(
        "with care",
        possible=True,
        optimal=True,
        explains_data=True,
        identifiable=PHI,
        quantities={**dict.fromkeys(QUANTITIES, "yes"), "inertia": "no"},
    )
    marks = export_marks(estimate(verdict=verdict, findings=(wrong,)))
    assert marks.lines == ("poor inertia: the log contradicts its schema (time_unit)",)


DISPLACED = Finding("kinematic_offset", "warning", "apart.", "Set it.", {"size": [0, 0, 0.12]})


@pytest.mark.parametrize("name", EXPORT_FORMATS)
def test_a_pose_of_a_displaced_origin_is_refused_and_marked(cli, tmp_path, name):
    verdict = derive_verdict([DISPLACED], possible=True, optimal=True, identifiable=PHI)
    displaced = estimate(findings=(DISPLACED,), verdict=verdict)
    path = write_estimate(displaced, tmp_path / "estimate.json")
    for pose in (("--at", *"000000"), ("--frame", *"0000001")):
        refused = cli("export", path, "--to", name, *pose)
        assert (refused.status, refused.out) == (4, "")
        assert "the point whose pose is logged is 120 mm away" in refused.err
        assert "Set it. [kinematic_offset]\n  override: --accept-findings" in refused.err
        accepted = cli("export", path, "--to", name, *pose, "--accept-findings")
        mark = "poor centre of mass: the frame may be 120 mm from where the pose given places it"
        assert (accepted.status, accepted.err.count(mark)) == (0, 1)
        assert mark in export_body(displaced, name, X_AB=SAME).notes
    alone = cli("export", path, "--to", name)
    if name not in CONTROLLERS or name in ANY_FRAME:
        assert alone.status == 0
        assert "note: about B at the wrench's point, in its axes" in alone.err
    else:
        assert (alone.status, alone.out) == (2, "")
        assert "the point whose pose is logged is 120 mm away" in alone.err
        assert "remedy: Set it." in alone.err
        assert "--at" not in alone.err


def test_a_pose_of_a_displaced_origin_places_no_other_body(cli, tmp_path):
    path = write_estimate(estimate(findings=(DISPLACED,)), tmp_path / "estimate.json")
    other = write_estimate(estimate(), tmp_path / "other.json")
    for command in ("add", "subtract", "compare"):
        for both in ((path, other), (other, path)):
            refused = cli(command, *both, "--at", *TURNED)
            assert refused.status == 2
            assert "the point whose pose is logged is 120 mm away" in refused.err
    near = replace(DISPLACED, evidence={"size": [0, 0, 0.019]})
    write_estimate(estimate(findings=(near,)), path)
    assert cli("export", path, "--to", "ur", "--at", *TURNED).status == 0


@pytest.mark.parametrize("quantity", ["mass", "com"])
def test_a_quantity_of_every_format_that_no_need_is_about_is_not_exported(cli, tmp_path, quantity):
    levels = dict.fromkeys(QUANTITIES, "yes") | {quantity: "no"}
    verdict = Verdict("yes", True, True, True, (), needs={"inertia": True}, quantities=levels)
    path = write_estimate(estimate(verdict=verdict), tmp_path / "estimate.json")
    refused = cli("export", path, "--to", "urdf")
    assert (refused.status, refused.out) == (4, "")
    named = {"mass": "mass", "com": "centre of mass"}[quantity]
    assert f"error: the {named} must not be used" in refused.err
    accepted = cli("export", path, "--to", "urdf", "--accept-findings")
    assert accepted.status == 0
    assert f"the {named} must not be used" in accepted.out
    inertia = replace(verdict, quantities=dict.fromkeys(QUANTITIES, "yes") | {"inertia": "no"})
    write_estimate(estimate(verdict=inertia), path)
    assert cli("export", path, "--to", "urdf").status == 0


def test_a_note_does_not_repeat_a_finding(cli, tmp_path):
    path = write_estimate(default_inertia(), tmp_path / "estimate.json")
    for name, note in (("ur", "poor inertia; left out: a zero matrix"), ("kuka", "poor inertia")):
        err = cli("export", path, "--to", name, "--at", *"000000").err
        assert err.count("not identifiable from the data") == 1
        assert err.count(f"note: {note}") == (name == "ur")
        notes = err.splitlines()
        assert len(notes) == len(set(notes))


def test_the_command_marks_in_every_frame_and_in_a_model(cli, tmp_path):
    flange = Pose.from_quaternion([0.0, 0.0, 0.6, 0.8], [0.0, 0.0, -0.05])
    poor = estimate(inertia=0.57, frames=BodyFrame("wrist", flange=flange))
    path, model = write_estimate(poor, tmp_path / "estimate.json"), tmp_path / "robot.urdf"
    model.write_text(URDF)
    mark = "poor inertia: known to {} 57 % of the largest principal moment (95 %)"
    for frame in ((), ("--at", *TURNED), ("--frame", "0", "0", "0.1", "0", "0", "0.6", "0.8")):
        _, out, err = cli("export", path, "--to", "ur", *frame)
        assert out.startswith(f"# {mark.format('+/-')}\n# kg; m from")
        assert f"identify: note: {mark.format('±')}\n" in err
        _, out, err = cli("export", path, "--link", "tool", "--into", model, *frame)
        assert out.startswith(f"<!--\n  link tool: {mark.format('+/-')}\n-->\n<robot")
        assert f"identify: note: {mark.format('±')}\n" in err
        written = tmp_path / "new.urdf"
        written.write_text(out)
        assert read_model(written).links[0].phi[0] == BODY.mass


def test_sums_and_differences_are_marked(cli, tmp_path):
    poor = write_estimate(estimate(inertia=0.57), tmp_path / "poor.json")
    tool = tmp_path / "tool.json"
    write_estimate(SavedEstimate(InertialParameters(0.1 * BODY.phi)), tool)
    for command in ("add", "subtract"):
        result = tmp_path / f"{command}.json"
        assert cli(command, poor, tool, "-o", result).status == 0
        text = cli("export", result, "--to", "urdf").out
        # The largest moment is 1.1 or 0.9 times that of the estimate.
        shown = re.search(r"\+/- ([0-9.]+) %", text)
        assert_close(float(shown[1]), 57.0 / (1.1 if command == "add" else 0.9), 6e-3)
