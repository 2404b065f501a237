"""The shipped log through the command line, as `make demo` does it, and with other noise."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import identify
from identify.estimation import estimate_body
from identify.regressors import scan
from tests.endtoend.conftest import ROOT
from tests.endtoend.estimates import INTERVALS, SIX, load, values

SEEDS = range(1, 11)


@pytest.fixture(scope="session")
def truth(shipped):
    return json.loads((shipped / "truth.json").read_text())


@pytest.fixture(scope="module")
def demo(shipped, tmp_path_factory):
    """One real run of the program, in a process of its own: its output and what it wrote."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    log, schema = shipped / "payload_arm.parquet", shipped / "schema.toml"
    words = ["fit", log, "--schema", schema, "-o", folder, "--truth", shipped / "truth.json"]
    program = [sys.executable, "-m", "identify"]
    return subprocess.run([*program, *words], capture_output=True, text=True, cwd=ROOT), folder


def require_accuracy(mass, com, central, truth):
    """Mass within 0.5 %, centre of mass within 1 mm, inertia about it within 3 %."""
    true_central = np.array(truth["inertia_about_com"])
    assert abs(mass - truth["mass"]) <= 5e-3 * truth["mass"]
    assert np.linalg.norm(np.subtract(com, truth["com"])) <= 1e-3
    assert np.linalg.norm(central - true_central) <= 0.03 * np.linalg.norm(true_central)


def test_the_body_is_found(demo, truth, shipped):
    done, folder = demo
    assert (done.returncode, done.stderr) == (0, "")
    estimate = load(folder)
    require_accuracy(
        estimate["mass"], estimate["com"], np.array(estimate["inertia_about_com"]), truth
    )
    assert set(estimate["decided_by"].values()) == {"data"}
    assert estimate["default_body"] is None
    assert estimate["dropped_rows"] == 0
    (bias,) = estimate["bias"]
    log = (shipped / "payload_arm.parquet").read_bytes()
    assert bias["sha256"] == hashlib.sha256(log).hexdigest()
    np.testing.assert_allclose(
        bias["wrench"], truth["sensor_bias"]["acts_on_body"], rtol=0, atol=2e-3
    )


def test_its_arrays_give_the_same_estimate(demo, shipped):
    table = pd.read_parquet(shipped / "payload_arm.parquet")
    recording = identify.Recording.from_arrays(
        time=(table["t_us"] - table["t_us"][0]) / 1e6,
        position=table[["px", "py", "pz"]],
        quaternion=table[["qx", "qy", "qz", "qw"]],
        force=table[["fx", "fy", "fz"]],
        torque=table[["tx", "ty", "tz"]],
        wrench_frame="body",
        acts_on="sensor",
        gravity=[0, 0, -9.81],
    )
    estimate, saved = identify.fit(recording).estimate, load(demo[1])
    np.testing.assert_allclose(estimate.parameters.phi, saved["phi"], rtol=1e-12, atol=1e-15)
    for name, interval in saved["intervals"].items():
        np.testing.assert_allclose(estimate.intervals[name], interval, rtol=1e-9, atol=1e-15)


def test_the_truth_is_near_its_intervals(demo, truth):
    """They leave out the noise of the motion, so not all hold it: most do, and all nearly."""
    estimate = load(demo[1])
    central = np.array(truth["inertia_about_com"])[SIX]
    moments = np.linalg.eigvalsh(np.array(truth["inertia_about_com"]))
    numbers = [*truth["phi"], *truth["com"], *central, *moments]
    true = dict(zip(INTERVALS, numbers, strict=True))
    off = {}
    for name, value in values(estimate).items():
        low, high = estimate["intervals"][name]
        off[name] = abs(value - true[name]) / (0.5 * (high - low))
    assert max(off.values()) < 2.0, off
    assert sum(share <= 1.0 for share in off.values()) >= 0.8 * len(off), off


def test_the_provenance_says_how_it_was_made(demo, shipped):
    provenance = load(demo[1])["provenance"]
    assert provenance["command"].startswith("identify fit ")
    assert str(shipped / "schema.toml") in provenance["command"]
    assert provenance["options"] == {
        "bias": "per_log",
        "mass": None,
        "cutoff_hz": None,
        "gravity": None,
        "terms": [],
        "needs": "",
        "apply": [],
        "check": False,
        "interval": "formula",
        "simultaneous": False,
    }
    (log,) = provenance["logs"]
    assert (log["name"], log["rows"], log["cutoff_hz"]) == ("payload_arm", 30_000, 5.0)
    assert log["gravity"] == [0.0, 0.0, -9.81]
    assert log["schema"]["wrench"]["acts_on"] == "sensor"


def test_the_table_has_every_parameter_with_its_truth(demo, truth):
    out = demo[0].stdout
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.split()}
    for name in INTERVALS[:-3]:  # principal moments are in the report alone
        assert "data" in lines[name], name
    assert lines["m"][1:] == ["kg", "1.295922", "±", "0.000041", "data", "1.295887", "+0.000036"]
    assert "noise of wrench and motion counted" in out
    assert "\x1b" not in out


def test_the_output_ends_with_what_to_know_and_where_the_files_are(demo):
    done, folder = demo
    lines = done.stdout.splitlines()
    usable, possible, identifiable, explained, optimal, cutoff, replay, estimate, report = lines[
        -9:
    ]
    assert usable == "Usable: yes."
    assert possible.startswith("Possible: yes, some distribution of mass has these parameters")
    assert identifiable == "Identifiable: all 10 parameters."
    assert explained.startswith("Explains the data: yes (held out: R² of the forces 0.9999")
    assert "Certified" not in done.stdout
    assert optimal.startswith("Optimal for the data: ")
    assert cutoff == "Low-pass: all signals alike at 5 Hz (default)."
    assert replay.startswith("Replay: ")
    assert (estimate, report) == (str(folder / "estimate.json"), str(folder / "report.html"))


def test_the_report_is_one_file_that_asks_for_nothing(demo):
    text = (demo[1] / "report.html").read_text(encoding="utf-8")
    assert len(text.encode()) <= 5_000_000
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert text.count("<svg") >= 4
    for request in ('src="http', "src='http", "@import", "<link", 'src="//'):
        assert request not in text
    assert "noise of wrench and motion counted" in text


def test_what_was_saved_is_read_back(demo):
    saved = identify.load_estimate(demo[1] / "estimate.json")
    document = load(demo[1])
    assert saved.parameters.phi.tolist() == document["phi"]
    assert saved.intervals["cx"] == tuple(document["intervals"]["cx"])
    assert dict(saved.certificate) == document["certificate"]


@pytest.fixture(scope="module")
def generator(shipped):
    pytest.importorskip("mujoco", reason="makes the log again; only the shipped one works without")
    spec = importlib.util.spec_from_file_location("generate", shipped / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["generate"]


@pytest.fixture(scope="module")
def clean(generator):
    return generator.simulate()


@pytest.mark.parametrize("seed", SEEDS)
def test_other_noise(generator, clean, shipped, truth, tmp_path, seed):
    measured = generator.measure(clean, noise_seed=seed)
    measured.table.to_parquet(tmp_path / "log.parquet")
    recording = identify.read_log(tmp_path / "log.parquet", shipped / "schema.toml")
    estimate = estimate_body([scan(recording).statistics])
    body = estimate.parameters
    require_accuracy(body.mass, body.com, body.inertia_about_com, truth)
    assert np.linalg.eigvalsh(body.pseudo_inertia)[0] > 0.0
    assert estimate.complete
