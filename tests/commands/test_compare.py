import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from identify.commands.main import main
from identify.commands.output import write_results
from identify.exchange import read_estimate, write_estimate
from identify.inertia import InertialParameters
from identify.logs.synthetic import synthetic_recording
from identify.pipeline import fit
from identify.spatial import BodyFrame, Pose
from tests.reporting.conftest import BODY, SENSOR
from tests.reporting.page import Page

HEAVIER = InertialParameters.from_com(1.02 * BODY.mass, BODY.com, BODY.inertia_about_com)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> Path:
    """Two days of one body, and a heavier one."""
    folder = tmp_path_factory.mktemp("fitted")
    for seed, (name, body) in enumerate({"mon": BODY, "tue": BODY, "tool": HEAVIER}.items()):
        log = synthetic_recording(
            body.phi, rng=np.random.default_rng(seed), duration=6.0, rate_hz=100.0, noise=SENSOR
        )
        write_results(folder / name, fit(log), None, report=name == "mon")
    return folder


@pytest.fixture
def folder(fitted, tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(shutil.copytree(fitted, tmp_path / "days"))
    return tmp_path / "days"


def said(capsys) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_compare_reports_agreement_and_difference(folder, capsys):
    assert main(["compare", "mon", "tue"]) == 0
    assert "The 2 estimates agree." in said(capsys)
    assert main(["compare", "mon", "tue", "tool/estimate.json"]) == 0
    assert "These differ from the rest: tool" in said(capsys)


def test_the_page_leads_to_the_reports(folder, capsys):
    assert main(["compare", "mon", "tue", "-o", "pages/both.html"]) == 0
    page = Page(Path("pages/both.html").read_text(encoding="utf-8"))
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert {"../mon/report.html", "../tue/estimate.json"} <= set(links)
    assert "Inertia of 2 fits, side by side" in page.text


def test_another_frame_is_rejected_and_with_a_pose_compared(folder, capsys):
    saved = read_estimate("tue/estimate.json")
    X_AB = Pose.from_quaternion([0.0, 0.0, np.sin(0.1), np.cos(0.1)], [0.01, 0.0, 0.02])
    inverse = X_AB.inverse()
    F = np.array([InertialParameters(row).in_frame(inverse).phi for row in np.eye(10)]).T
    moved = replace(
        saved,
        parameters=saved.parameters.in_frame(inverse),
        covariance=F @ saved.covariance @ F.T,
        frames=BodyFrame("elsewhere"),
    )
    write_estimate(moved, "tue/estimate.json")
    named = replace(read_estimate("mon/estimate.json"), frames=BodyFrame("here"))
    write_estimate(named, "mon/estimate.json")
    assert main(["compare", "mon", "tue"]) == 2
    assert "these differ: give the pose with --at" in capsys.readouterr().err
    at = ["0.01", "0", "0.02", "0", "0", "0.2"]
    assert main(["compare", "mon", "tue", "--at", *at]) == 0
    assert "The 2 estimates agree." in said(capsys)
    assert main(["compare", "mon", "tue", "--at", *at[:5], "0.3"]) == 0
    assert "The 2 estimates differ." in said(capsys)


def test_compare_notes_estimates_of_same_log(folder, capsys):
    shutil.copytree("mon", "again")
    assert main(["compare", "mon", "again"]) == 0
    assert re.search("again and mon share a log", said(capsys))


def test_an_exact_body_stands_beside_the_other(folder, capsys):
    """In either order; a page takes bodies with intervals alone."""
    body = read_estimate(Path("mon") / "estimate.json").parameters
    Path("exact.json").write_text(json.dumps({"phi": (1.1 * body.phi).tolist()}))
    for words in (("mon", "exact.json"), ("exact.json", "mon")):
        main(["compare", *words])
        printed = capsys.readouterr().out
        assert "mon, and exact.json as true" in printed
        assert f"{1.1 * body.mass:.3f}" in printed
    assert main(["compare", "mon", "exact.json", "-o", "page.html"]) == 2
    assert "cannot be compared" in capsys.readouterr().err


def test_incomparable_estimates_are_rejected(folder, capsys):
    assert main(["compare", "mon"]) == 2
    assert main(["compare", "mon", "tue", "tool", "--at", *"000000"]) == 2
    assert main(["compare", "mon", "nowhere"]) == 2
    Path("bare.json").write_text('{"phi": [1, 0, 0, 0, 1, 0, 0, 1, 0, 1]}')
    assert main(["compare", "mon", "tue", "bare.json"]) == 2
    errors = capsys.readouterr().err
    for part in (
        "missing OUT",
        "1 times --at for 2 bodies",
        "nowhere",
        "without covariance, intervals or decided_by cannot be compared",
    ):
        assert part in errors


URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial>
  <origin xyz="0 0 0.1"/><mass value="2"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial></link>
  <link name="tool"><inertial><mass value="1"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="k" type="fixed"><origin xyz="0 0 1"/><parent link="arm"/><child link="tool"/></joint>
</robot>"""
MJCF = """<mujoco><worldbody><body name="arm"><joint/>
  <inertial pos="0 0 0.4" mass="{mass}" diaginertia="0.65 0.76 0.275"/></body></worldbody>
</mujoco>"""


def test_models_of_one_robot_are_compared_with_fixed_joints_merged(cli, tmp_path):
    """0.1 + 0.01 + 2 · 0.3² + 1 · 0.6² = 0.65, 0.76 and 0.275 kg m², by hand."""
    urdf, mjcf = tmp_path / "r.urdf", tmp_path / "r.xml"
    urdf.write_text(URDF)
    mjcf.write_text(MJCF.format(mass=3))
    out = cli.done("compare", urdf, mjcf)
    assert f"{urdf}: arm includes tool (fixed)" in out
    assert "Within 0.1 % agree 1 bodies; 0 differ." in out
    assert "Total mass: 3 kg and 3 kg." in out
    mjcf.write_text(MJCF.format(mass=3.3))
    status, out, _ = cli("compare", urdf, mjcf)
    assert status == 1
    assert "arm: 3 kg and 3.3 kg, inertia per mass 9.09 % apart" in out
    mjcf.write_text(MJCF.format(mass=3).replace("0.65 0.76 0.275", "0 0 0"))
    assert "arm: one without inertia\n" in cli("compare", urdf, mjcf).out


def test_a_model_is_not_compared_with_a_fit(cli, tmp_path):
    (tmp_path / "r.urdf").write_text(URDF)
    assert "expected two models" in cli.refused("compare", tmp_path / "r.urdf", tmp_path)
