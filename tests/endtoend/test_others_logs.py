"""Logs of others through the command line: simulated tools, and measurements on real arms."""

from __future__ import annotations

import json

import numpy as np
import pytest

from identify.inertia import InertialParameters
from tests.close import group_errors
from tests.endtoend.estimates import load
from tests.thorough import rounds

pytestmark = pytest.mark.usefixtures("no_report")

TOOLS = (
    *("Adjustable_Wrench", "Allen_Key", "Bent_Jaw_Pliers", "Box_Wrench", "C_Clamp", "Clamp"),
    *("Electronic_Caliper", "File", "Hacksaw", "Hammer", "Machinist_Hammer", "Measuring_Tape"),
    *("Nut_Screwdriver", "Pliers", "Rubber_Mallet", "Ruler", "Screwdriver", "Socket_Wrench"),
    *("Vise_Clamp", "Vise_Grip"),
)


@pytest.mark.parametrize("tool", TOOLS[: rounds(3, len(TOOLS))])
def test_a_tool_without_noise(cli, shared_data, tmp_path, tool):
    """Of twenty workshop tools, files of nine digits: every group of errors within 5e-6."""
    log = shared_data / "stars_tools" / f"{tool}.csv"
    schema = shared_data / "schemas" / "stars_tools.toml"
    out = cli.done("fit", log, "--schema", schema, "-o", tmp_path)
    assert "Optimal for the data: " in out
    truth = json.loads((shared_data / "stars_tools" / "truth.json").read_text())[tool]
    body = InertialParameters.from_com(
        truth["mass"],
        np.array(truth["com_in_sensor"]),
        np.array(truth["inertia_about_com_in_sensor"]),
    )
    estimate = load(tmp_path)
    errors = group_errors(estimate["phi"], body.phi)
    assert max(errors) <= 5e-6, errors
    assert "default" not in estimate["decided_by"].values()


def test_the_truth_file_names_the_tools(shared_data):
    truth = json.loads((shared_data / "stars_tools" / "truth.json").read_text())
    assert tuple(sorted(truth)) == TOOLS


def test_a_real_arm(cli, shared_data, tmp_path):
    """Raw text at 1 kHz with repeated rows; the motion hardly excites the inertia."""
    log = shared_data / "panda_optoforce" / "run_11-32-28.txt"
    schema = shared_data / "schemas" / "panda_optoforce.toml"
    status, out, err = cli("fit", log, "--schema", schema, "-o", tmp_path)
    # The schema reads its position in the wrong axes, which is found.
    assert status == 4
    assert "position_axes" in err
    estimate = load(tmp_path)
    assert estimate["verdict"]["usable"] == "no"
    assert estimate["findings"][0]["code"] == "position_axes"
    assert 1.10 <= estimate["mass"] <= 1.20
    assert {estimate["decided_by"][name] for name in ("m", "hx", "hy", "hz")} == {"data"}
    assert "Low-pass: all signals alike at 5 Hz (default)." in out


def test_seven_still_poses(cli, shared_data, tmp_path):
    """They tell mass and centre of mass; the inertia is said to be unknown."""
    log = shared_data / "axia80_static"
    schema = shared_data / "schemas" / "axia80_static.toml"
    out = cli.done("fit", log, "--schema", schema, "-o", tmp_path)
    estimate = load(tmp_path)
    assert estimate["mass"] == pytest.approx(1.10, abs=0.01)
    assert estimate["com"][2] == pytest.approx(0.052, abs=0.001)
    assert estimate["samples"] == 7
    decided_by = estimate["decided_by"]
    assert {decided_by[name] for name in ("m", "hx", "hy", "hz")} == {"data"}
    for entry in ("xx", "xy", "xz", "yy", "yz", "zz"):
        assert decided_by[f"I{entry}"] == "default"
        assert estimate["intervals"][f"I{entry}"] is None
        assert estimate["intervals"][f"Ic{entry}"] is None
        for name in (f"I{entry}", f"Ic{entry}"):
            (line,) = (line for line in out.splitlines() if line.split()[:1] == [name])
            assert "unidentifiable" in line
            assert "±" not in line
            assert line.rstrip().endswith("default")
    assert "solid ball of 1000 kg/m³" in estimate["default_body"]
    assert "not identifiable" in out
    assert "Low-pass: none, still poses are not filtered." in out
    assert "No replay: Ixx" in out
    # That they tell no inertia is to be known, and nothing is wrong with them.
    assert estimate["verdict"]["usable"] == "with care"
    out = cli.done("check", log, "--schema", schema)
    assert "Note [completed]: " in out


def test_two_logs_of_one_tool(cli, shared_data, tmp_path):
    """One log in two files is fitted as two logs, each with its own bias."""
    lines = (shared_data / "stars_tools" / "Hammer.csv").read_text().splitlines(keepends=True)
    halves = [tmp_path / "first.csv", tmp_path / "second.csv"]
    halves[0].write_text("".join(lines[:501]))
    halves[1].write_text("".join([lines[0], *lines[501:]]))
    schema = shared_data / "schemas" / "stars_tools.toml"
    _ = cli.done("fit", *halves, "--schema", schema, "-o", tmp_path / "out")
    truth = json.loads((shared_data / "stars_tools" / "truth.json").read_text())["Hammer"]
    estimate = load(tmp_path / "out")
    assert estimate["mass"] == pytest.approx(truth["mass"], rel=5e-6)
    assert len(estimate["bias"]) == 2
