import json
from pathlib import Path

import numpy as np
import pytest

from identify.exchange import SavedEstimate, read_estimate, write_estimate
from identify.inertia import InertialParameters
from identify.logs.log_writing import write_log
from identify.logs.synthetic import synthetic_recording

BODY = InertialParameters.from_com(1.2, [0.01, -0.02, 0.1], np.diag([0.01, 0.02, 0.015]))
HALF = InertialParameters(0.5 * BODY.phi)
SAID = "The file was changed after it was written: its contents do not match its digest."


@pytest.fixture
def edited(tmp_path) -> Path:
    """One whose covariance got smaller."""
    path = write_estimate(SavedEstimate(BODY, covariance=np.eye(10)), tmp_path / "edited.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["covariance"][0][0] = 1e-6
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return path


@pytest.fixture
def half(tmp_path) -> Path:
    return write_estimate(SavedEstimate(HALF, covariance=np.eye(10)), tmp_path / "half.json")


@pytest.fixture
def log(tmp_path) -> tuple[object, ...]:
    recording = synthetic_recording(
        BODY.phi, rng=np.random.default_rng(1), duration=4.0, rate_hz=50.0
    )
    path = tmp_path / "log.csv"
    return path, "--schema", write_log(recording, path)


def test_export_refuses_it_unless_its_findings_are_accepted(cli, edited):
    outcome = cli("export", edited, "--to", "urdf")
    assert (outcome.status, outcome.out) == (4, "")
    assert f"error: {SAID}" in outcome.err
    assert "[edited]" in outcome.err
    outcome = cli("export", edited, "--to", "urdf", "--accept-findings")
    assert outcome.status == 0
    assert SAID in " ".join(outcome.out.split())
    assert SAID in outcome.err


@pytest.mark.parametrize(("key", "number"), [("mass", 1.3), ("phi", [1.3, *BODY.phi[1:]])])
def test_contradictory_estimate_counts_as_edited_and_phi_is_used(cli, half, key, number):
    document = json.loads(half.read_text(encoding="utf-8")) | {key: number}
    half.write_text(json.dumps(document), encoding="utf-8")
    phi = number if key == "phi" else HALF.phi
    assert (read_estimate(half).parameters.phi == phi).all()
    assert cli("export", half, "--to", "urdf").status == 4
    assert cli("export", half, "--to", "urdf", "--accept-findings").status == 0


def test_replay_and_inspect_report_edited_estimate(cli, edited, log, tmp_path):
    outcome = cli("replay", *log, "--estimate", edited, "-o", tmp_path / "out")
    assert outcome.status == 4
    assert SAID in outcome.err
    outcome = cli("inspect", edited)
    assert outcome.status == 0
    assert f"Note: {SAID}" in outcome.out


def test_commands_without_findings_reject_edited_estimate(cli, edited, log, tmp_path):
    out = tmp_path / "out"
    spec = tmp_path / "spec.toml"
    spec.write_text(
        '[body]\nestimate = "edited.json"\n[state]\nposition = [0, 0, 0]\n'
        "quaternion = [0, 0, 0, 1]\nlinear = [0, 0, 0]\nangular = [0, 0, 1]\n"
        'frame = "body"\n[world]\ngravity = [0, 0, -9.81]\n'
    )
    for words in (
        ("simulate", edited, "--duration", 0.1, "--dt", 0.01, "-o", out),
        ("simulate", spec, "--duration", 0.1, "--dt", 0.01, "-o", out),
        ("fit", *log, "--truth", edited, "-o", out),
    ):
        assert f"{SAID} Use the file as it was written" in cli.refused(*words)
        assert not out.exists()


def test_an_edited_body_is_not_repaired(cli, tmp_path):
    impossible = InertialParameters([1.0, 0, 0, 0, 1e-3, 0, 0, 1e-3, 0, 5e-3])
    path, out = tmp_path / "estimate.json", tmp_path / "fixed.json"
    write_estimate(SavedEstimate(impossible), path)
    assert cli("inspect", path, "--repair", "-o", out).status == 0
    out.unlink()
    path.write_text(path.read_text(encoding="utf-8").replace('"body"', '"tool"'), encoding="utf-8")
    assert SAID in cli("inspect", path, "--repair", "-o", out).message
    assert not out.exists()
