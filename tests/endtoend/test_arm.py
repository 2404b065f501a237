"""The load of the shipped simulated arm, from its joint torques."""

import contextlib
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from identify.arms import read_arm, write_arm
from identify.commands.main import main
from identify.exchange import read_estimate
from identify.robots import read_robot
from tests.close import assert_close
from tests.reporting.page import Page

LOGS = Path(__file__).resolve().parents[2] / "datasets" / "arms" / "six_axes"
SCHEMA = ("--schema", LOGS / "schema.toml")
EMPTY = ("--unloaded", LOGS / "empty.parquet")
ROBOT = ("--robot", LOGS / "arm.urdf", "--frame", "tool0")
TRUTH = json.loads((LOGS / "truth.json").read_text())


class Done(NamedTuple):
    """Status, standard output and result folder of a fit."""

    status: int
    document: dict
    folder: Path


@pytest.fixture(scope="module")
def done(tmp_path_factory, pinocchio) -> Done:
    folder = tmp_path_factory.mktemp("arm")
    truth = ("--truth", LOGS / "truth.json")
    words = [LOGS / "loaded.parquet", *EMPTY, *SCHEMA, *ROBOT, "-o", folder, *truth]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = main(["fit", *map(str, words), "--json"])
    return Done(status, json.loads(printed.getvalue()), folder)


def test_mass_and_centre_of_mass_of_the_load_are_within_their_intervals(done):
    assert done.status == 0
    saved = read_estimate(done.folder / "estimate.json")
    assert saved.verdict.usable == "with care"
    assert dict(saved.verdict.quantities) == {
        **dict.fromkeys(("mass", "com"), "with care"),
        "inertia": "no",
    }
    assert [each.code for each in saved.findings] == ["completed", "scale_limit", "scale_limit"]
    for name, value in zip(("m", "cx", "cy", "cz"), (TRUTH["mass"], *TRUTH["com"]), strict=True):
        low, high = saved.intervals[name]
        assert low < value < high
    assert 2.0 * 1.96 * np.sqrt(saved.repeatability[0, 0]) < 0.2
    assert saved.frame_description == "B (tool0)"
    assert [len(each.wrench) for each in saved.bias] == [6, 6]


def test_document_has_logs_errors_of_torque_and_friction(done):
    document = done.document
    assert document["estimate"] == json.loads((done.folder / "estimate.json").read_text())
    assert [log["name"] for log in document["logs"]] == ["loaded", "empty (unloaded)"]
    errors = document["torque_errors"]
    assert set(errors) == {"fitted", "first half", "second half"}
    assert errors["fitted"]["total"] < errors["first half"]["total"] < 0.05
    assert document["joints"]["joint3 viscous"][0] == pytest.approx(6.8, abs=0.5)
    robot = document["estimate"]["provenance"]["robot"]
    assert (
        robot["torque_scale"]
        == "torque scale of each joint to 2 % (assumed), gains of joints fitted"
    )


def test_report_shows_torques_friction_and_scale(done):
    html = (done.folder / "report.html").read_text()
    page = Page(html)
    for heading in ("How well it explains the torques", "Friction and rotors of the joints"):
        assert heading in page.texts
    assert any("Intervals count with: torque scale of each joint to 2 %" in t for t in page.texts)
    assert "joint6, empty (unloaded)" in html
    assert html.count("<svg") >= 6
    assert not re.search(r"\bnan\b", html)


def test_other_commands_take_the_load(done, cli):
    shown = cli("export", done.folder / "estimate.json", "--to", "ur")
    assert shown.status == 0
    assert "set_target_payload(1.9" in shown.out
    assert "about the flange, which is B (tool0)" in shown.err
    html = (done.folder / "report.html").read_text()
    assert cli("report", done.folder).status == 0
    assert without_date((done.folder / "report.html").read_text()) == without_date(html)
    assert (
        "Ixx, Ixy, Ixz, Iyy, Iyz, Izz are not identifiable from the data: a default body"
        in shown.err
    )
    assert "1 possible" in cli("inspect", done.folder / "estimate.json").out
    compared = cli("compare", done.folder, done.folder)
    assert compared.status == 0
    assert "share a log" in compared.out


def test_check_names_faults_of_joint_logs(cli, tmp_path, pinocchio):
    load = (LOGS / "loaded.parquet", *EMPTY, *ROBOT)
    done = cli("check", *load, *SCHEMA)
    assert done.status == 0
    assert "Estimate: InertialParameters(mass 1.9" in done.out
    assert cli("check", EMPTY[1], *ROBOT[:2], *SCHEMA).out.endswith("No faults were found.\n")
    assert "need --robot ARM.urdf" in cli.refused("check", EMPTY[1], *SCHEMA)
    assert "need --robot ARM.urdf" in cli.refused("fit", EMPTY[1], *SCHEMA, "-o", tmp_path)
    schema = tmp_path / "schema.toml"
    schema.write_text(
        (LOGS / "schema.toml")
        .read_text()
        .replace("[joints]\n", '[joints]\neffort_acts_on = "motor"\n')
    )
    done = cli("check", *load, "--schema", schema)
    assert done.status == 4
    assert done.out.startswith(
        "No estimate: none is possible with this schema.\nError [effort_sign]"
    )


@pytest.mark.slow
def test_each_log_is_fitted_on_the_arm(arm, cli, tmp_path):
    for name in ("a", "b"):
        shutil.copy(LOGS / "loaded.parquet", tmp_path / f"{name}.parquet")
    words = ("--each", tmp_path, *SCHEMA, *ROBOT, "--arm", arm.folder / "arm.json", "--workers", 0)
    done = cli("fit", *words, "-o", tmp_path / "out", "--no-report")
    assert done.status == 0
    assert not (tmp_path / "out" / "b").exists()  # its data are those of a
    assert read_estimate(tmp_path / "out" / "a" / "estimate.json").frames.name == "tool0"


def test_gains_that_a_known_load_shows_are_printed(cli, tmp_path, pinocchio):
    words = (*EMPTY, *SCHEMA, *ROBOT, "--known-load", 1.5, "--interval", "formula", "--no-report")
    shown = cli("fit", LOGS / "loaded.parquet", *words, "-o", tmp_path)
    printed = re.search(
        r"by a load of 1.5 kg; logged = gain × true: joint1 (\S+) ± \S+, joint2 (\S+) ± ",
        shown.out,
    )
    gain = TRUTH["mass"] / 1.5
    assert_close([float(value) for value in printed.groups()], [gain, gain], 0.05)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (ROBOT, r"--robot needs logs of the arm without the load"),
        ((*ROBOT[:2], *EMPTY), r"--robot needs --frame NAME"),
        ((*EMPTY, "--known-load", 2), r"--known-load requires --robot ARM.urdf"),
        (
            (*ROBOT, *EMPTY, "--no-bias", "--follow", "--prior", "none"),
            r"--prior and --no-bias and --follow cannot be combined with --robot",
        ),
        ((*ROBOT, *EMPTY, "--mass", 2, "--known-load", 2), r"--mass cannot be combined"),
        ((*ROBOT, *EMPTY, "--known-load", -2), r"--known-load -2: expected a mass above zero"),
        ((*ROBOT, *EMPTY, "--torque-scale", 2), r"shares from 0 to 1 separated by commas"),
        ((*ROBOT, *EMPTY, "--torque-scale", "0.1,0.1"), r"one for each of 6 joints, got 2"),
        ((*ROBOT, "--unloaded", LOGS / "loaded.parquet"), r"both with the payload and without it"),
        ((*ROBOT[:2], "--frame", "tol0", *EMPTY), r"did you mean 'tool0'"),
        ((*ROBOT, "--arm", LOGS / "truth.json"), r"truth.json: is not .*no key 'schema_version'"),
        ((*ROBOT, "--arm", "missing.json"), r"^missing.json: no such file"),
    ],
)
def test_bad_use_is_refused(words, message, cli, tmp_path, pinocchio):
    out = tmp_path / "out"
    error = cli.refused("fit", LOGS / "loaded.parquet", *SCHEMA, *words, "-o", out)
    assert re.search(message, error)
    assert not out.exists()


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        ("joint3", "j3", r"robot.urdf: no moving joint 'joint3'; write those of"),
        (r"(?s)<inertial>.*?</inertial>", "", r"no moving link has a mass"),
    ],
)
def test_robot_that_does_not_fit_the_log_is_refused(
    pattern, replacement, message, cli, tmp_path, pinocchio
):
    model = tmp_path / "robot.urdf"
    model.write_text(re.sub(pattern, replacement, (LOGS / "arm.urdf").read_text()))
    words = (LOGS / "loaded.parquet", *EMPTY, *SCHEMA, "--robot", model, "--frame", "tool0")
    assert re.search(message, cli.refused("fit", *words, "-o", tmp_path / "out"))


def test_schema_that_is_not_of_joints_is_refused(cli, tmp_path, pinocchio):
    schema = tmp_path / "schema.toml"
    words = (LOGS / "loaded.parquet", *EMPTY, "--schema", schema, *ROBOT, "-o", tmp_path / "out")
    schema.write_text((LOGS.parents[1] / "payload_arm" / "schema.toml").read_text())
    assert "the schema has no [joints]" in cli.refused("fit", *words)


@pytest.fixture(scope="module")
def arm(tmp_path_factory, pinocchio) -> Done:
    folder = tmp_path_factory.mktemp("fitted")
    words = (LOGS / "empty.parquet", *SCHEMA, *ROBOT[:2], "-o", folder)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = main(
            [str(word) for word in ("fit-arm", *words, "--export", folder / "fixed.urdf", "--json")]
        )
    return Done(status, json.loads(printed.getvalue()), folder)


def test_fitted_arm_explains_torques_better_than_its_model(arm):
    assert arm.status == 0
    held = arm.document["held_out"]
    assert set(held) == {"first half", "second half"}
    assert arm.document["torque_error"] < arm.document["torque_error_of_model"]
    assert max(held.values()) < 0.06
    assert len(arm.document["base_parameters_ols_wls_error"]) == 58


def test_exported_model_is_that_of_the_fitted_links(arm, mujoco, pinocchio):
    path = arm.folder / "fixed.urdf"
    robot = read_robot(path)
    saved = read_arm(arm.folder / "arm.json")
    for name, phi in zip(robot.links, robot.phi, strict=True):
        assert_close(phi, saved.links[name], 1e-7)
    simulated = mujoco.MjModel.from_xml_path(str(path))
    built = pinocchio.buildModelFromUrdf(str(path))
    masses = [saved.links[name][0] for name in robot.links]
    assert_close(simulated.body_mass[1:], masses, 1e-7)
    assert_close([body.mass for body in built.inertias[1:]], masses, 1e-7)


def test_report_of_an_arm_is_rebuilt(arm, cli):
    html = (arm.folder / "report.html").read_text()
    assert cli("report", arm.folder).status == 0
    assert without_date((arm.folder / "report.html").read_text()) == without_date(html)


def without_date(html):
    return re.sub(r"written [-0-9: ]*", "", html)


def test_report_of_the_arm_has_base_parameters_and_links(arm):
    html = (arm.folder / "report.html").read_text()
    page = Page(html)
    assert page.rows("hy of link2")
    assert page.rows("joint6")
    assert "Links, and what the logs tell of each" in page.texts
    assert not re.search(r"\bnan\b", html)


def test_a_fit_of_an_arm_that_must_not_be_used_is_no_start_of_another(arm, cli, tmp_path):
    saved = read_arm(arm.folder / "arm.json")
    error = {"code": "choice_contradicted", "severity": "error", "text": "wrong load", "remedy": ""}
    write_arm(replace(saved, report={**saved.report, "findings": [error]}), tmp_path / "arm.json")
    words = (LOGS / "loaded.parquet", *SCHEMA, *ROBOT, "--arm", tmp_path / "arm.json")
    outcome = cli("fit", *words, "-o", tmp_path, "--interval", "formula", "--no-report")
    assert outcome.status == 4
    assert "the fit of the arm must not be used: wrong load" in outcome.out


@pytest.mark.slow
def test_fitted_arm_takes_the_place_of_the_log_without_the_load(arm, done, cli, tmp_path):
    words = (LOGS / "loaded.parquet", *SCHEMA, *ROBOT, "--arm", arm.folder / "arm.json")
    assert cli("fit", *words, "-o", tmp_path).status == 0
    low, high = read_estimate(tmp_path / "estimate.json").intervals["m"]
    assert low < TRUTH["mass"] < high
    other = read_estimate(done.folder / "estimate.json").intervals["m"]
    assert high - low == pytest.approx(other[1] - other[0], rel=0.2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--export", LOGS / "arm.urdf"), r"--export .*arm.urdf is the model itself"),
        (("--torque-scale", "2%"), r"--torque-scale 2%: expected shares from 0 to 1"),
        (("--held-out", LOGS / "none.parquet"), r"none.parquet: no such file"),
    ],
)
def test_bad_use_of_an_arm_fit_is_refused(words, message, cli, tmp_path, pinocchio):
    given = (LOGS / "empty.parquet", *SCHEMA, *ROBOT[:2], "-o", tmp_path / "out", *words)
    assert re.search(message, cli.refused("fit-arm", *given))
    assert not (tmp_path / "out").exists()


def test_fit_that_fails_names_the_fault_of_its_log(cli, tmp_path, pinocchio):
    table = pd.read_parquet(LOGS / "empty.parquet")
    table["q6"], table["tau2"] = 0.1, -30.0  # a joint that does not move, and no real torque
    log = tmp_path / "log.parquet"
    table.to_parquet(log)
    error = cli.refused("fit-arm", log, *SCHEMA, *ROBOT[:2], "-o", tmp_path / "out", status=3)
    assert "the effort of joint2 is -30 in all rows while the joint moves" in error
    assert "as read: the motion does not excite joint6 rotor_inertia" in error
