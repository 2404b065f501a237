import json
import os
from pathlib import Path

import numpy as np
import pytest

from identify.inertia import InertialParameters
from identify.logs.log_writing import write_log
from identify.logs.synthetic import Noise, synthetic_recording
from identify.texts import plain_name
from tests.close import assert_close
from tests.endtoend.conftest import BODY
from tests.endtoend.estimates import load
from tests.recordings import NO_EFFECTS


@pytest.fixture
def fit(cli, log, tmp_path):

    def run(*words: object, status: int = 0, schema: Path = log.schema):
        found, out, err = cli(
            "fit", log.path, "--schema", schema, "-o", tmp_path / "out", "--verbose", *words
        )
        assert (found, bool(err)) == (status, status != 0)
        return load(tmp_path / "out"), out

    return run


@pytest.fixture
def other_log(tmp_path):
    recording = synthetic_recording(
        BODY.phi,
        rng=np.random.default_rng(12),
        duration=8.0,
        rate_hz=100.0,
        bias=(-4.0, 2.0, 9.0, 0.3, 0.5, -0.2),
        noise=Noise(force=0.02, torque=1e-3),
    )
    write_log(recording, tmp_path / "other.csv")
    return tmp_path / "other.csv"


@pytest.mark.usefixtures("no_report")
class TestOptions:
    def test_logs_merge_each_with_its_own_bias(self, fit, other_log):
        estimate, _ = fit(other_log)
        assert_close(estimate["mass"], BODY.mass, rtol=2e-3)
        first, second = (np.array(bias["wrench"]) for bias in estimate["bias"])
        np.testing.assert_allclose(first[:3], [1.0, -2.0, 3.0], rtol=0, atol=0.02)
        np.testing.assert_allclose(second[:3], [-4.0, 2.0, 9.0], rtol=0, atol=0.02)

    def test_shared_bias_option_reaches_fit(self, fit):
        estimate, _ = fit("--shared-bias")
        assert estimate["provenance"]["options"]["bias"] == "shared"

    def test_every_option_reaches_the_fit(self, fit, log, tmp_path):
        without_effects = tmp_path / "schema.toml"
        without_effects.write_text(f"{log.schema.read_text()}\n{NO_EFFECTS}")
        (tmp_path / "cad.json").write_text(json.dumps({"phi": (1.1 * BODY.phi).tolist()}))
        words = ("--no-bias", "--mass", "1.3", "--cutoff", "3", "--simultaneous", "--check")
        words += ("--gravity", "0", "0", "-9.8")
        # Without an offset, and with another mass than the body's: the data contradict both.
        words += ("--truth", tmp_path / "cad.json")
        estimate, out = fit(*words, status=4, schema=without_effects)
        asked = {"bias": "none", "mass": 1.3, "cutoff_hz": 3.0, "simultaneous": True, "check": True}
        asked["gravity"] = [0.0, 0.0, -9.8]
        assert asked.items() <= estimate["provenance"]["options"].items()
        assert estimate["provenance"]["logs"][0]["gravity"] == [0.0, 0.0, -9.8]
        assert estimate["bias"][0]["wrench"] == [0.0] * 6
        assert (estimate["mass"], estimate["decided_by"]["m"]) == (1.3, "given")
        assert estimate["interval_kind"].endswith("; all parameters of a body at once")
        assert "all parameters of a body at once" in " ".join(out.split())
        assert "Low-pass: 3 Hz for all signals (given)." in out
        (line,) = (line for line in out.splitlines() if line.split()[:1] == ["m"])
        assert "given" in line
        assert line.split()[-2:] == ["1.43", "-0.13"]  # the truth, and how far off it is
        assert estimate["provenance"]["logs"][0]["cutoff_hz"] == 3.0

    def test_progress_is_shown_on_a_terminal(self, cli, log, tmp_path, monkeypatch):
        shown = []
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        monkeypatch.setattr(
            "rich.status.Status.update", lambda self, line, **options: shown.append(str(line))
        )
        words = ("fit", log.path, "--schema", log.schema, "-o", tmp_path / "out")
        assert cli(*words).status == 0
        assert shown[0] == f"reading {log.path}"
        assert shown[-1] == "writing the report"
        shown.clear()
        assert cli(*words, "--quiet") == (0, "", "")
        assert shown == []


@pytest.mark.usefixtures("no_report")
def test_noise_that_makes_a_thin_body_inconsistent(cli, tmp_path):
    """Least squares gives no possible body of this rod; the estimate is one, and proved optimal."""
    rod = InertialParameters.from_com(0.3, np.array([0.01, 0.0, 0.12]), np.diag([2e-3, 2e-3, 4e-6]))
    recording = synthetic_recording(
        rod.phi,
        rng=np.random.default_rng(5),
        duration=8.0,
        rate_hz=100.0,
        noise=Noise(force=0.05, torque=5e-3),
    )
    schema = write_log(recording, tmp_path / "rod.csv")
    out = cli.done(
        "fit", tmp_path / "rod.csv", "--schema", schema, "-o", tmp_path / "out", "--verbose"
    )
    estimate = load(tmp_path / "out")
    assert estimate["certificate"]["solver"] == "Clarabel"
    assert estimate["certificate"]["distance_to_optimum"] < 0.01
    assert "constraint" in estimate["decided_by"].values()
    assert "default" not in estimate["decided_by"].values()
    assert "solver Clarabel; active constraints: physical consistency." in out
    assert "it is not physically consistent" in out
    assert_close(estimate["mass"], rod.mass, rtol=5e-3)


class TestFolder:
    def test_results_of_an_earlier_fit_are_replaced_file_by_file(self, fit, tmp_path):
        out = tmp_path / "out"
        out.mkdir()
        (out / "estimate.json").write_text("old")
        (out / "report.html").write_text("old")
        (out / "notes.txt").write_text("mine")
        fit()
        assert sorted(path.name for path in out.iterdir()) == [
            "estimate.json",
            "notes.txt",
            "report.html",
            "result.npz",
        ]
        assert (out / "notes.txt").read_text() == "mine"
        assert (out / "report.html").read_text(encoding="utf-8").count("<svg") >= 1


NAMES = (
    "--[bold red]x[reset] <script>alert(1)<script>.csv",
    "$x^2_{a}$ & \\frac %s{0}{{x}} \x1b[31mred.csv",
    os.fsdecode(b"new\nline odd\xff\xfe.csv"),
)


@pytest.mark.skipif(os.name == "nt", reason="such names cannot be")
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_hostile_names(cli, log, tmp_path, monkeypatch, name):
    folder = tmp_path / name.removesuffix(".csv")
    folder.mkdir()
    log.path.rename(folder / name)
    monkeypatch.chdir(folder)
    out = cli.done("fit", "--schema", log.schema, "-o", folder / "out", "--", name)
    estimate = load(folder / "out")
    assert estimate["provenance"]["logs"][0]["files"][0]["name"] == name
    assert estimate["provenance"]["logs"][0]["name"] == plain_name(name.removesuffix(".csv"))
    report = (folder / "out" / "report.html").read_bytes()
    assert b"<script>alert" not in report
    assert out.rstrip("\n").endswith("report.html")
    assert "\x1b" not in out
