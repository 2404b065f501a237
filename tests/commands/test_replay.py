import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from identify.exchange import SavedBias, SavedEstimate, write_estimate
from identify.findings import Finding, derive_verdict
from identify.inertia import InertialParameters
from identify.logs import read_log
from identify.logs.log_writing import write_log
from tests.recordings import POSE, Path, record
from tests.strategies import random_body

PHI = random_body(np.random.default_rng(0))
BIAS = np.array([1.0, -2.0, 3.0, 0.1, 0.05, -0.1])
SIGNALS = (*POSE, "linear_velocity", "angular_velocity")
SPREAD = np.diag((1e-3 * np.array([PHI[0], *[0.1 * PHI[0]] * 3, *[PHI[4]] * 6])) ** 2)


@pytest.fixture
def log(tmp_path):
    recording = record(Path.random(1), PHI, np.arange(0.0, 6.0, 5e-3), SIGNALS, bias=BIAS)
    path = tmp_path / "log.parquet"
    return path, write_log(recording, path)


@pytest.fixture
def estimate(tmp_path):
    def write(**changes) -> str:
        saved = replace(SavedEstimate(InertialParameters(PHI), covariance=SPREAD), **changes)
        return str(write_estimate(saved, tmp_path / "estimate.json"))

    return write


def errors(out: str, what: str) -> list[float]:
    return [float(x) for x in re.findall(rf"{what}: (?:RMS )?([\d.e+-]+) mm", out)]


def test_the_body_of_a_log_stays_near_it(cli, log, estimate, tmp_path):
    out = tmp_path / "out"
    words = ("--schema", log[1], "--estimate", estimate(), "-o", out)
    printed = cli.done("replay", log[0], *words)
    assert "Subtracted sensor offset: [1, -2, 3, 0.1, 0.05, -0.1] N, N m (fitted" in printed
    assert "5 windows, estimate: RMS " in printed
    assert errors(printed, "estimate")[0] < 2.0
    windows = pd.read_parquet(out / "windows.parquet")
    assert windows["window"].nunique() == 5
    apart = windows[["simulated_px", "simulated_py", "simulated_pz"]].to_numpy()
    apart = apart - windows[["measured_px", "measured_py", "measured_pz"]].to_numpy()
    assert np.abs(apart).max() < 2e-3
    shot = pd.read_parquet(out / "single_shot.parquet")
    assert shot["position_error_estimate"].iloc[0] == 0.0
    assert (out / "replay.png").read_bytes().startswith(b"\x89PNG")


def test_the_bias_is_the_estimates_for_its_own_log(cli, log, estimate, tmp_path):
    sha256 = read_log(*log).sha256
    other = BIAS + 0.5
    path = estimate(bias=(SavedBias("0" * 64, np.zeros(6), None), SavedBias(sha256, other, None)))
    words = ("--schema", log[1], "--estimate", path, "-o", tmp_path / "out")
    printed = cli("replay", log[0], *words).out
    assert "[1.5, -1.5, 3.5, 0.6, 0.55, 0.4] N, N m (the estimate's for this log)" in printed
    printed = cli("replay", log[0], *words, "--no-bias").out
    assert "[0, 0, 0, 0, 0, 0] N, N m (none)" in printed


def test_another_body_beside_it(cli, log, estimate, tmp_path):
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps({"phi": (PHI * ([1.05] + [1] * 9)).tolist()}))
    words = ("--schema", log[1], "--estimate", estimate(), "--truth", truth, "-o", tmp_path / "o")
    printed = cli("replay", log[0], *words, "--horizon", 0.5).out
    assert "after 0.5 s" in printed
    assert errors(printed, "windows, truth")[0] > 5.0 * errors(printed, "windows, estimate")[0]


def test_missing_band_states_reason(cli, log, estimate, tmp_path):
    words = ("--schema", log[1], "-o", tmp_path / "out", "--estimate")
    printed = cli("replay", log[0], *words, estimate(decided_by={"Ixx": "default"})).out
    assert "No band: Ixx are those of a default body, not measured" in printed
    printed = cli("replay", log[0], *words, estimate(covariance=None)).out
    assert "No band: the estimate has no covariance.\n" in printed


def test_replay_of_unusable_estimate_repeats_reasons_and_status(cli, log, estimate, tmp_path):
    found = Finding("unexplained", "error", "little is explained.")
    verdict = derive_verdict([found], possible=True, optimal=True, identifiable=[])
    unusable = estimate(findings=(found,), verdict=verdict)
    words = ("--schema", log[1], "-o", tmp_path / "out", "--estimate", unusable)
    status, printed, err = cli("replay", log[0], *words)
    assert (status, err) == (4, "identify: error: little is explained. [unexplained]\n")
    assert "5 windows, estimate: RMS " in printed
    assert (tmp_path / "out" / "replay.png").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--estimate", "none.json"), "none.json: no such file"),
        (("--horizon", "0"), "horizon: expected a positive, finite number"),
    ],
)
def test_bad_use(cli, log, estimate, tmp_path, words, message):
    given = ("--schema", log[1], "--estimate", estimate(), "-o", tmp_path / "out", *words)
    assert message in cli.refused("replay", log[0], *given)
    assert not (tmp_path / "out").exists()


def test_diverged_replay_does_not_affect_other_bodies(cli, log, estimate, tmp_path):
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps({"phi": (1e-9 * PHI).tolist()}))
    words = ("--schema", log[1], "--estimate", estimate(), "--truth", truth, "-o", tmp_path / "o")
    status, printed, _ = cli("replay", log[0], *words)
    assert status == 0
    assert errors(printed, "windows, estimate")[0] < 2.0
    assert "No replay in windows with the truth: " in printed
