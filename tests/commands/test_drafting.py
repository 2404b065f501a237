"""Commands without `--schema`: the schema is drafted, settled by the log, and asked for."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.transform import Rotation

from identify.commands.main import main
from identify.logs import load_schema, synthetic_recording
from identify.logs.draft_lines import drafted_keys, with_value
from identify.logs.wrench_sensors import wrench_sensors
from tests.slow import mostly_slow
from tests.strategies import random_body

_DATASETS = Path(__file__).parents[2] / "datasets"
_ARMS = _DATASETS / "arms" / "six_axes"
_PAYLOAD = _DATASETS / "payload_arm" / "payload_arm.parquet"
_BODY = random_body(np.random.default_rng(3))


@pytest.fixture(scope="module")
def signals():
    recording = synthetic_recording(
        _BODY, rng=np.random.default_rng(3), duration=12.0, rate_hz=100.0
    )
    return {name: np.array(values) for name, values in recording.signals.items()} | {
        "time": np.array(recording.time)
    }


def named(**vectors):
    """A table whose columns are named by a word for each vector, or a space between three."""
    columns = {}
    for key, values in vectors.items():
        words = key.split("__") if "__" in key else [key]
        columns |= dict(zip(words, np.atleast_2d(values.T), strict=True))
    return pd.DataFrame(columns)


def sloppy(kind, s):
    """A log as people write it, and how its file is separated."""
    t, p, f, m = s["time"], s["position"], s["force"], s["torque"]
    turn = Rotation.from_quat(s["quaternion"])
    xyz, forces = {"x__y__z": p}, {"fx__fy__fz": -f}
    torques = {"mx__my__mz": -m}
    match kind:
        case "decimal commas, mm, degrees, Nmm":
            table = named(
                Zeit=1e3 * t,
                x__y__z=1e3 * p,
                A__B__C=turn.as_euler("ZYX", degrees=True),
                Kraft_X__Kraft_Y__Kraft_Z=-f,
                **{"Moment_X [Nmm]__Moment_Y [Nmm]__Moment_Z [Nmm]": -1e3 * m},
            )
            return table, {"sep": ";", "decimal": ","}
        case "rotation vector in degrees":
            turns = {"rx__ry__rz": turn.as_rotvec(degrees=True)}
        case "Euler angles by the name of a vector":
            turns = {"rx__ry__rz": turn.as_euler("xyz")}
        case "scalar of the quaternion first":
            turns = {"q0__q1__q2__q3": np.roll(s["quaternion"], 1, axis=1)}
        case "wrench on the body":
            turns = {"qx__qy__qz__qw": s["quaternion"]}
            forces, torques = {"fx__fy__fz": f}, {"mx__my__mz": m}
        case _:
            raise AssertionError(kind)
    return named(time=t, **xyz, **turns, **forces, **torques), {}


SLOPPY = [
    "decimal commas, mm, degrees, Nmm",
    "rotation vector in degrees",
    "Euler angles by the name of a vector",
    "scalar of the quaternion first",
    "wrench on the body",
]


@pytest.mark.parametrize("kind", mostly_slow(SLOPPY, SLOPPY[:1]))
def test_one_command_fits_a_sloppy_log(kind, signals, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table, marks = sloppy(kind, signals)
    table.to_csv("log.csv", index=False, **marks)
    status = main(["fit", "log.csv", "-o", "out", "--no-report"])
    err = capsys.readouterr().err
    assert status == 0, err
    assert "wrote the schema out/schema.toml" in err
    assert "identify export --to NAME --at" in err
    phi = json.loads((tmp_path / "out/estimate.json").read_text())["phi"]
    assert phi[0] == pytest.approx(_BODY[0], rel=0.01)
    keys = list(drafted_keys((tmp_path / "out/schema.toml").read_text()))
    assert not any(key.uncertain for key in keys)
    assert not (tmp_path / "schema.toml").exists()
    # The schema beside the results is read again, and not written.
    assert main(["fit", "log.csv", "-o", "out", "--no-report", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.fixture
def upside_down(signals, tmp_path, monkeypatch):
    """A log in a world whose z points down: gravity along z, or other signs, explain it."""
    monkeypatch.chdir(tmp_path)
    turn = Rotation.from_euler("x", 180, degrees=True)
    named(
        t=signals["time"],
        x__y__z=turn.apply(signals["position"]),
        qx__qy__qz__qw=(turn * Rotation.from_quat(signals["quaternion"])).as_quat(),
        fx__fy__fz=-signals["force"],
        tx__ty__tz=-signals["torque"],
    ).to_csv("log.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_what_a_log_does_not_determine_is_named_and_the_draft_read_next_time(upside_down, capsys):
    words = ["fit", "log.csv", "-o", "out", "--no-report"]
    assert main([*words, "--json"]) == 2
    message = json.loads(capsys.readouterr().out)["error"]["message"]
    head, gravity, tail = message.splitlines()
    assert "drafted as schema.toml" in head
    assert gravity.startswith("  [world] gravity = [0.0, 0.0, 9.80665]  # ")
    assert "run the same command again" in tail
    draft = (upside_down / "schema.toml").read_bytes()
    assert not (upside_down / "out").exists()
    assert main(words) == 0
    assert "the schema is schema.toml, which exists" in capsys.readouterr().err
    assert (upside_down / "schema.toml").read_bytes() == draft
    assert main(["check", "log.csv"]) == 0
    assert main(["fit", "--each", "log.csv", "-o", "each", "--workers", "0", "--quiet"]) == 0


def answer(monkeypatch, *answers):
    """Answer the questions of a terminal, and return the list of those asked."""
    asked, given = [], iter(answers)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or next(given))
    return asked


@pytest.mark.slow
def test_a_terminal_is_asked_only_for_what_is_uncertain(upside_down, monkeypatch, capsys):
    asked = answer(monkeypatch, "", "down", "[0, 0, 9.81]")
    assert main(["fit", "log.csv", "-o", "out", "--no-report"]) == 0
    sensor, question, again = asked
    assert sensor.startswith("Type of the force-torque sensor")
    assert question.startswith(
        "[world] gravity = [0.0, 0.0, 9.80665] (the log fits as well position"
    )
    assert "[world] gravity: expected a list of 3 numbers, got 'down'" in again
    assert load_schema("out/schema.toml").world.gravity == (0.0, 0.0, 9.81)
    assert "wrote the schema out/schema.toml" in capsys.readouterr().err
    answer(monkeypatch, "", "up", "up", "up")
    assert main(["check", "log.csv"]) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert "expected a list of 3 numbers" in err
    assert "The answers before it are in schema.toml" in err


def test_columns_of_no_known_name_are_asked_for(signals, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = named(
        t=signals["time"],
        x__y__z=signals["position"],
        qx__qy__qz__qw=signals["quaternion"],
        a1__a2__a3=-signals["force"],
        b1__b2__b3=-signals["torque"],
    )
    table.to_csv("log.csv", index=False)
    assert main(["check", "log.csv"]) == 2
    assert "no columns look like force and torque: name them" in capsys.readouterr().err
    (tmp_path / "schema.toml").unlink()
    asked = answer(monkeypatch, "", "a1, a2, a33", "a1, a2, a3", "b1,b2,b3")
    assert main(["check", "log.csv"]) == 0
    assert "did you mean 'a3'?" in asked[2]
    assert load_schema("schema.toml").wrench.torque == ("b1", "b2", "b3")
    assert "no columns look like" not in (tmp_path / "schema.toml").read_text()


@pytest.mark.slow
def test_a_draft_of_another_log_is_not_taken_for_this_one(signals, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    poses = {"x__y__z": signals["position"], "qx__qy__qz__qw": signals["quaternion"]}
    wrenches = [
        {"fx__fy__fz": -signals["force"], "tx__ty__tz": -signals["torque"]},
        {
            "Kraft X__Kraft Y__Kraft Z": -signals["force"],
            "Mom X__Mom Y__Mom Z": -signals["torque"],
        },
    ]
    for name, wrench in zip(("a", "b"), wrenches, strict=True):
        named(t=signals["time"], **poses, **wrench).to_csv(f"{name}.csv", index=False)
    assert main(["check", "a.csv"]) == 0
    first = Path("schema.toml").read_bytes()
    capsys.readouterr()
    assert main(["check", "b.csv"]) == 0
    err = capsys.readouterr().err
    assert "schema.toml is a draft of another log" in err
    assert "no columns of its wrench.force, wrench.torque" in err
    assert "wrote the schema b.schema.toml" in err
    assert Path("schema.toml").read_bytes() == first
    assert load_schema("b.schema.toml").wrench.torque == ("Mom X", "Mom Y", "Mom Z")
    assert main(["check", "b.csv"]) == 0
    assert "the schema is b.schema.toml, which exists" in capsys.readouterr().err
    assert main(["check", "a.csv"]) == 0
    assert "the schema is schema.toml, which exists" in capsys.readouterr().err


def test_a_draft_of_another_log_names_it_and_its_units(signals, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    wrench = {"fx__fy__fz": -signals["force"], "tx__ty__tz": -signals["torque"]}
    turn = {"qx__qy__qz__qw": signals["quaternion"]}
    for name, scale in (("a", 1.0), ("b", 1e3), ("c", 1.0)):
        position = {"x__y__z": scale * (signals["position"] + 0.1)}
        named(t=signals["time"], **position, **turn, **wrench).to_csv(f"{name}.csv", index=False)
    assert main(["check", "a.csv"]) == 0
    assert "# Drafted for a.csv\n" in Path("schema.toml").read_text()
    capsys.readouterr()
    main(["check", "b.csv"])
    err = capsys.readouterr().err
    assert "schema.toml was drafted for a.csv; units of b.csv are others" in err
    assert "pose.position_unit: mm, not none" in err
    assert "identify init b.csv -o b.schema.toml" in err
    assert main(["check", "c.csv"]) == 0
    assert "schema.toml was drafted for a.csv\n" in capsys.readouterr().err
    main(["check", "a.csv"])
    assert "was drafted for" not in capsys.readouterr().err
    assert main(["init", "b.csv"]) == 2
    assert "schema.toml exists, drafted for a.csv; give another" in capsys.readouterr().err
    assert main(["init", "b.csv", "-o", "b.toml"]) == 0
    Path("schema.toml").write_bytes(Path("b.toml").read_bytes())
    main(["check", "a.csv"])
    assert "others, pose.position_unit: none, not mm" in capsys.readouterr().err


_TOOL_POINT = [0.02, 0.0, 0.1, 0.0, 0.0, 0.0]


@pytest.fixture
def of_tool_point(signals, tmp_path, monkeypatch):
    """A log of a tool point beside the wrench of a sensor at the flange."""
    monkeypatch.chdir(tmp_path)
    turn = Rotation.from_quat(signals["quaternion"])
    poses = np.hstack([signals["position"] + turn.apply(_TOOL_POINT[:3]), turn.as_rotvec()])
    named(
        t=signals["time"],
        fx__fy__fz=-signals["force"],
        tx__ty__tz=-signals["torque"],
        **{"__".join(f"ActualTCPPose_{k}" for k in range(6)): poses},
    ).to_csv("log.csv", index=False)
    return tmp_path


def exported_mass(capsys):
    """The mass in the payload setting of Universal Robots of the estimate in `out` [kg]."""
    assert main(["export", "out/estimate.json", "--to", "ur"]) == 0
    out = capsys.readouterr().out
    return float(out.partition("set_target_payload(")[2].partition(",")[0])


@pytest.mark.slow
def test_a_tool_point_is_named_before_the_fit_and_one_edit_gives_the_payload(of_tool_point, capsys):
    words = ["fit", "log.csv", "-o", "out", "--no-report"]
    assert main(words) == 2
    err = capsys.readouterr().err
    assert "[body.tcp] pose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]" in err
    assert "[imprecise]" not in err  # as zeros are of another tool
    assert '[wrench] frame = "body"  # at the flange' in err
    schema = of_tool_point / "schema.toml"
    schema.write_text(with_value(schema.read_text(), "body.tcp.pose", _TOOL_POINT))
    assert main(words) == 0
    assert exported_mass(capsys) == pytest.approx(_BODY[0], rel=1e-3)


def test_a_tool_point_is_asked_for_at_a_terminal(of_tool_point, monkeypatch, capsys):
    asked = answer(monkeypatch, "ati_mni40", "ati_mini40", "20 0 100 0 0 0")
    assert main(["fit", "log.csv", "-o", "out", "--no-report"]) == 0
    _, again, question = asked  # none of the payload set on the pendant, which acts on no sensor
    assert "no force-torque sensor 'ati_mni40'" in again
    assert "did you mean 'ati_mini40'" in again
    assert question.startswith("Tool point as shown on the pendant")
    schema = load_schema("out/schema.toml")
    assert list(schema.body.tcp.pose) == _TOOL_POINT
    accuracy = wrench_sensors()["ati_mini40"].gain_accuracy
    assert list(schema.wrench.gain_accuracy) == accuracy
    assert exported_mass(capsys) == pytest.approx(_BODY[0], rel=1e-3)


def test_answers_before_a_question_without_an_answer_are_kept(of_tool_point, monkeypatch, capsys):
    answer(monkeypatch, "", "20 0 100", "", "[0.02, 0, 0.1, 0, 0, 0]", *["sideways"] * 3)
    assert main(["fit", "log.csv", "-o", "out", "--no-report"]) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert "The answers before it are in out/schema.toml" in err
    keys = {key.place: key for key in drafted_keys((of_tool_point / "out/schema.toml").read_text())}
    assert (keys["body.tcp.pose"].value, keys["body.tcp.pose"].uncertain) == (_TOOL_POINT, False)
    (of_tool_point / "out/schema.toml").unlink()
    answer(monkeypatch, "ur5e", "20 0 100", *["x"] * 3)
    assert main(["init", "log.csv"]) == 2
    assert "The answers before it are in schema.toml" in " ".join(capsys.readouterr().err.split())
    text = Path("schema.toml").read_text()
    assert "pose = [0.02, 0.0, 0.1, 0.0, 0.0, 0.0]" in text
    assert "gain_accuracy = [0.046, 0.017]" in text
    Path("schema.toml").unlink()
    answer(monkeypatch, *["mine"] * 3)
    assert main(["init", "log.csv"]) == 2
    assert "no force-torque sensor 'mine' among" in capsys.readouterr().err


def test_values_of_a_draft_are_changed_in_their_lines():
    text = with_value('[wrench]\nframe = "body" # (?) axes\n', "wrench.acts_on", "sensor")
    (key,) = (key for key in drafted_keys(text) if key.uncertain)
    assert (key.place, key.value, key.comment) == ("wrench.frame", "body", "axes")
    assert with_value(text, "wrench.mount.translation", [0.0, 0.0, 0.1]).endswith(
        "\n[wrench.mount]\ntranslation = [0.0, 0.0, 0.1]\n"
    )
    assert "frame" not in with_value(text, "wrench.frame", None)


def test_logs_of_joints_need_a_robot_and_are_drafted_with_its_joints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    log = str(_ARMS / "empty.parquet")
    assert main(["check", log]) == 2
    assert "check: logs of joints, with [joints] and no [wrench], need --robot" in (
        capsys.readouterr().err
    )
    assert list(tmp_path.iterdir()) == []
    robot = str(_ARMS / "arm.urdf")
    assert main(["check", log, "--robot", robot]) == 0
    assert load_schema("schema.toml").joints.names[0] == "joint1"
    text = (tmp_path / "schema.toml").read_text()
    assert not any(key.uncertain for key in drafted_keys(text))


@pytest.mark.slow
def test_gravity_of_another_place_is_no_wrong_clock(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["check", str(_PAYLOAD)]) == 0
    assert "[clock_rate]" not in capsys.readouterr().out
    text = (tmp_path / "schema.toml").read_text()
    exact = with_value(text, "world.gravity_accuracy", None)
    (tmp_path / "schema.toml").write_text(exact)
    assert main(["check", str(_PAYLOAD)]) == 0
    out = capsys.readouterr().out
    assert "[clock_rate]" in out
    assert "or gravity is 9.81" in out
