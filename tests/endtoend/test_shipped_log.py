import hashlib
import importlib.util
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import binom

import identify
from identify.estimation import estimate_body
from identify.inertia import PHI
from identify.regressors import summarise_log
from tests.endtoend.conftest import ROOT
from tests.endtoend.estimates import INTERVALS, SIX, load, values
from tests.slow import few_or_many

UNLIKELY = 1e-3
"""Probability with which intervals that hold 95 % fail a test of how often they do."""


@pytest.fixture(scope="session")
def truth(shipped):
    return json.loads((shipped / "truth.json").read_text())


@pytest.fixture(scope="module")
def demo(shipped, tmp_path_factory):
    """One real run of the program, in a process of its own: its output and what it wrote."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    log, schema = shipped / "payload_arm.parquet", shipped / "schema.toml"
    words = ["fit", log, "--schema", schema, "-o", folder, "--truth", shipped / "truth.json"]
    words.append("--verbose")
    program = [sys.executable, "-m", "identify"]
    return subprocess.run([*program, *words], capture_output=True, text=True, cwd=ROOT), folder


def test_shipped_log_payload_setting_is_about_flange(demo, truth, cli):
    """B is 33.3 mm in front of the flange and turned by 30° about its z, as the data card says."""
    _, folder = demo
    outcome = cli("export", folder / "estimate.json", "--to", "ur")
    assert outcome.status == 0
    assert "about the flange, from [body.flange]" in outcome.err
    com, six = (
        np.fromstring(said, sep=",") for said in re.findall(r"\[([-\d., ]+)\]", outcome.out)
    )
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(com, R @ truth["com"] + [0.0, 0.0, 0.0333], rtol=0.0, atol=1e-5)
    assert com[2] == pytest.approx(0.1161, abs=5e-5)
    true = R @ np.array(truth["inertia_about_com"]) @ R.T
    true = true[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    np.testing.assert_allclose(six, true, rtol=0.0, atol=5e-6)


def require_accuracy(mass, com, central, truth):
    """As the README says: mass within 0.01 %, centre of mass 0.01 mm, inertia about it 0.1 %.

    The largest errors of the noise seeds 0 to 99 were 0.0052 %, 0.0049 mm (both of seed 28) and
    0.047 % (seed 9); the medians 0.0012 %, 0.0024 mm and 0.030 %.
    """
    true_central = np.array(truth["inertia_about_com"])
    assert abs(mass - truth["mass"]) <= 1e-4 * truth["mass"]
    assert np.linalg.norm(np.subtract(com, truth["com"])) <= 1e-5
    assert np.linalg.norm(central - true_central) <= 1e-3 * np.linalg.norm(true_central)


def errors_in_half_widths(found, intervals, truth):
    """Of every parameter that has an interval, by its name."""
    central = np.array(truth["inertia_about_com"])
    numbers = [*truth["phi"], *truth["com"], *central[SIX], *np.linalg.eigvalsh(central)]
    true = dict(zip(INTERVALS, numbers, strict=True))
    return {
        name: abs(value - true[name]) / (0.5 * (intervals[name][1] - intervals[name][0]))
        for name, value in found.items()
    }


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


def test_shipped_log_intervals_cover_true_values(demo, truth):
    """All of them, of this log; the furthest is the mass, at 0.88 of its half-width."""
    estimate = load(demo[1])
    off = errors_in_half_widths(values(estimate), estimate["intervals"], truth)
    assert max(off.values()) <= 1.0, off


def test_table_lists_estimates_and_true_values(demo, truth):
    out = demo[0].stdout
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.split()}
    for name in INTERVALS[:-3]:  # principal moments are in the report alone
        assert "data" in lines[name], name
    unit, mass, sign, half_width, by, true, off = lines["m"][1:]
    assert (unit, sign, by, true) == ("kg", "±", "data", "1.295887")
    assert abs(float(mass) - 1.295922) < 3e-6
    assert abs(float(half_width) - 0.000049) < 3e-6
    assert abs(float(off) - 0.000035) < 3e-6
    assert "noise of wrench and motion counted" in out
    assert "\x1b" not in out


def test_output_ends_with_findings_and_file_paths(demo):
    done, folder = demo
    lines = done.stdout.splitlines()
    possible, identifiable, explained, optimal, cutoff, replay, *files = lines[-9:]
    assert lines[0] == "Usable: yes."
    assert [line.partition(": ")[2][:3] for line in lines[1:4]] == ["yes"] * 3
    assert possible.startswith(
        "Physically consistent: yes, some distribution of mass has these parameters"
    )
    assert identifiable == "Identifiable: all 10 parameters."
    assert explained.startswith("Explains the data: yes (held out: R² of the forces 0.9999")
    assert "Certified" not in done.stdout
    assert optimal.startswith("Optimal for the data: ")
    assert cutoff == "Low-pass: 5 Hz for all signals (default)."
    assert replay.startswith("Replay: ")
    names = ("estimate.json", "result.npz", "report.html")
    assert files == [str(folder / name) for name in names]


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


@pytest.mark.slow
@pytest.mark.parametrize("seeds", few_or_many(3, 14))
def test_shipped_motion_with_other_noise_keeps_accuracy_and_coverage(
    generator, clean, shipped, truth, tmp_path, seeds
):
    """95 % of the time, of each parameter and of the ten together.

    Of the noise seeds 0 to 99 intervals of the ten hold 93.8 %, each 92 % (hy, Ixx) to 96 % (m,
    Iyy), all 22 together 94.1 %; the furthest was the mass of seed 28, at 1.63 half-widths.
    """
    missed = dict.fromkeys(INTERVALS, 0)
    for seed in range(1, 1 + seeds):
        generator.measure(clean, noise_seed=seed).table.to_parquet(tmp_path / "log.parquet")
        recording = identify.read_log(tmp_path / "log.parquet", shipped / "schema.toml")
        estimate = estimate_body([summarise_log(recording).statistics])
        body = estimate.parameters
        require_accuracy(body.mass, body.com, body.inertia_about_com, truth)
        assert np.linalg.eigvalsh(body.pseudo_inertia)[0] > 0.0
        assert estimate.complete
        numbers = {"phi": body.phi, "com": body.com, "inertia_about_com": body.inertia_about_com}
        off = errors_in_half_widths(values(numbers), estimate.intervals, truth)
        assert max(off.values()) < 2.0, (seed, off)
        for name, share in off.items():
            missed[name] += share > 1.0
    ten = sum(missed[name] for name in PHI)
    assert ten <= binom.isf(UNLIKELY, len(PHI) * seeds, 0.05), missed
    assert max(missed.values()) <= binom.isf(UNLIKELY / len(missed), seeds, 0.05), missed
