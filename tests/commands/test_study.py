import json
import re
from pathlib import Path

import pandas as pd
import pytest

from identify.commands.main import main
from identify.studies import open_results
from identify.studies.results import mean_interval
from identify.studies.store import Store

STUDY = """
name = "small"
seed = 5
seeds = 2
metrics = ["mass_error", "relative_inertia_error", "consistent", "covered"]
estimators = ["ols", "wls"]

[[logs]]
kind = "synthetic"
number = 2
duration = 4.0
rate_hz = 50.0

[[perturbations]]
kind = "none"

[[perturbations]]
label = "noisy"
kind = "noise"
force = 0.05
"""
TRIALS = 2 * (1 + 2) * 2


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    """Results of the whole study, which are not to be changed."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(STUDY)
    words = ["study", "run", folder / "small.toml", "-o", folder / "done", "--workers", "0"]
    assert main([*map(str, words), "--quiet"]) == 0
    return folder / "done"


def widest(text: str) -> int:
    return max(map(len, text.splitlines()))


def test_check_counts_the_trials_and_writes_nothing(cli, file, tmp_path):
    out = cli.done("study", "check", file, "--workers", "3")
    assert out.startswith(f"small: {TRIALS} trials\n  6 noisy logs (2 logs) × 2 estimators\n")
    for line in ("       1  none", "       2  noisy", "       6  ols", "       6  wls"):
        assert f"\n{line}\n" in out
    assert re.search(r"^time: about \d+ s with 3 workers", out, flags=re.MULTILINE)
    assert widest(out) <= 80
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_check_reports_failing_trials(cli, file):
    file.write_text(STUDY.replace('"wls"]', '{kind = "wls", mass = "known"}]'))
    assert "note:" not in cli("study", "check", file).out
    file.write_text(
        STUDY.replace(
            "force = 0.05",
            "force = 0.05\n[[perturbations]]\nlabel = 'few'\nkind = 'decimation'\nevery = 400",
        )
    )
    assert "note: a test trial failed: " in cli("study", "check", file).out


def test_run_writes_rows_and_summary_and_prints_paths(cli, file, tmp_path):
    out = tmp_path / "new" / "out"
    status, printed, err = cli("study", "run", file, "-o", out, "--workers", "0")
    assert status == 0
    assert f"{TRIALS} of {TRIALS} trials, 0 failed" in err
    assert "\r" not in err
    assert f"{TRIALS} trials: 0 cached, {TRIALS} run in " in printed
    assert re.search(r" by 1 worker \(\d+ % busy\), 0 failed$", printed, flags=re.MULTILINE)
    assert re.search(r"in the last one, in [^,]+, 1 worker\b", (out / "summary.md").read_text())
    assert printed.endswith(f"{out / 'summary.md'}\n{out / 'summary.html'}\n")
    assert "# Study small" in (out / "summary.md").read_text()
    assert len(pd.read_parquet(out / "results.parquet")) == TRIALS
    assert (out / "study.toml").read_text() == STUDY
    assert widest(printed.replace(str(out), "")) <= 80


def test_figures_are_written_where_something_varies(cli, file, tmp_path):
    file.write_text(STUDY.replace("duration = 4.0", "duration = [2.0, 4.0]"))
    out = tmp_path / "out"
    printed = cli("study", "run", file, "-o", out, "--workers", "0").out
    figure = out / "accuracy_log_duration.png"
    assert f"{figure}\n" in printed
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert f"]({figure.name})" in (out / "summary.md").read_text()


def test_selected_trials_then_remaining_trials(cli, file, tmp_path):
    out = tmp_path / "out"
    words = ("study", "run", file, "-o", out, "--workers", "0")
    printed = cli(*words, "--only", "estimator=ols").out
    assert f"{TRIALS // 2} trials: 0 cached" in printed
    assert f"{TRIALS // 2} of {TRIALS}: the run is not complete" in (out / "summary.md").read_text()
    assert f"{TRIALS} trials: {TRIALS // 2} cached, {TRIALS // 2} run" in cli(*words).out
    assert "not complete" not in (out / "summary.md").read_text()


def test_failing_trials_are_rows_and_the_exit_status_stays_0(cli, file, tmp_path):
    file.write_text(
        STUDY + "\n[[perturbations]]\nlabel = 'few'\nkind = 'decimation'\nevery = 400\n"
    )
    out = tmp_path / "out"
    words = ("study", "run", file, "-o", out, "--workers", "0")
    status, printed, _ = cli(*words)
    assert status == 0
    assert (
        ", 4 failed\nsummary.md lists the errors; --retry-failed runs these trials again" in printed
    )
    assert "`LogError: " in (out / "summary.md").read_text()
    assert f"{TRIALS + 4} cached, 0 run" in cli(*words).out
    assert f"{TRIALS} cached, 4 run" in cli(*words, "--retry-failed").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "FILE"), "Missing from identify study run: -o OUT, --output OUT"),
        (("run", "FILE", "-o", "OUT", "--workers", "-1"), "--workers N: expected 0 or more, got -"),
        (("run", "FILE", "-o", "OUT", "--workers", "1", "--scheduler", "tcp://a:1"), "--scheduler"),
        (("run", "FILE", "-o", "OUT", "--only", "estimator=wsl"), "did you mean 'wls'"),
        (("run", "FILE", "-o", "OUT", "--only", "ols"), "expected log=NAME or"),
        (("run", "nowhere.toml", "-o", "OUT"), "nowhere.toml: no such file"),
        (("check", "FILE", "--only", "estimater=wls"), "did you mean 'estimator'"),
        (("table", "OUT"), "it has no results"),
        (("compare", "OUT", "ols"), "Missing from identify study compare: B"),
        (("tables", "OUT"), "study: unknown command 'tables'; did you mean 'table'?"),
    ],
)
def test_invalid_study_arguments_are_rejected(cli, file, tmp_path, words, said):
    names = {"FILE": file, "OUT": tmp_path / "out"}
    outcome = cli("study", *(names.get(word, word) for word in words))
    assert outcome.status == 2
    assert said in outcome.message
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_to_is_an_error(cli, file):
    assert "cannot be written to" in cli.refused("study", "run", file, "-o", file, "--workers", "0")


def test_interrupted_run_resumes(cli, file, tmp_path, monkeypatch):
    out, add = tmp_path / "out", Store.add

    def interrupted_run_error(store: Store, rows: list) -> None:
        add(store, rows)
        raise KeyboardInterrupt

    words = ("study", "run", file, "-o", out, "--workers", "0")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", interrupted_run_error)
        status, printed, err = cli(*words)
    assert (status, printed) == (130, "")
    assert f"partial results are kept in {out}; run the same command to resume" in err
    assert "Traceback" not in err
    there = len(open_results(out).frame)
    assert len(pd.read_parquet(out / "results.parquet")) == there > 0
    assert f"{there} trials of code " in cli("study", "table", out).out
    assert f"{TRIALS} trials: {there} cached" in cli(*words).out


def test_table_fits_80_columns_and_names_every_metric(cli, done):
    out = cli.done("study", "table", done)
    pieces = [piece.splitlines() for piece in out.split("\n\n")]
    heads = [word for head, *_ in pieces for word in head.split()]
    assert heads[:5] == ["mass", "%", "I", "%", "cons.%"]
    for _, group, ols, *_ in pieces:
        assert group == "none (2 trials each)"
        assert ols.split()[0] == "ols"
    assert "mass %: mass_error; I %: relative_inertia_error" in out
    assert f"{done}: {TRIALS} trials of code " in out
    assert widest(out.replace(str(done), "")) <= 80


def test_table_means_match_the_rows(cli, done):
    out = cli("study", "table", done, "--metric", "mass_error").out
    frame = open_results(done).frame
    noisy = frame[(frame["perturbation"] == "noisy") & (frame["estimator"] == "wls")]
    line = [line for line in out.splitlines() if line.split()[0] == "wls"][-1]
    mean, low, high = (float(word.strip("[],")) for word in line.split()[1:4])
    assert mean == pytest.approx(noisy["mass_error"].mean(), rel=5e-3)
    assert (low, high) == pytest.approx(mean_interval(noisy["mass_error"]), rel=5e-3)


def test_compare_is_paired_and_fits_80_columns(cli, done):
    out = cli.done("study", "compare", done, "ols", "wls", "--metric", "mass_error")
    assert out.startswith("A: ols\nB: wls\n")
    frame = open_results(done).frame
    means = frame[frame["perturbation"] == "noisy"].groupby("estimator")["mass_error"].mean()
    row = out.splitlines()[out.splitlines().index("noisy") + 1].split()
    first, second, difference, low, high = (float(x.rstrip("*")) for x in row[2:7])
    assert first == pytest.approx(means["ols"], rel=5e-3)
    assert second == pytest.approx(means["wls"], rel=5e-3)
    assert difference == pytest.approx(means["wls"] - means["ols"], rel=1e-2)
    assert low < difference < high
    assert row[-1] == "4"
    assert widest(out.replace(str(done), "")) <= 80


def test_rows_of_other_code_are_shown_and_named_if_only_those_exist(cli, done, monkeypatch):
    from identify.reporting.study import rows
    from identify.studies import results
    from identify.studies.keys import CodeFingerprint

    for module in (results, rows):
        monkeypatch.setattr(module, "code_fingerprint", lambda: CodeFingerprint("other", ()))
    monkeypatch.setattr(
        "identify.studies.keys.code_fingerprint", lambda: CodeFingerprint("other", ())
    )
    assert ", not the running version" in cli("study", "table", done).out


def test_documents_of_the_results(cli, done):
    found = json.loads(cli.done("study", "table", done, "--metric", "mass_error", "--json"))
    frame = open_results(done).frame
    assert (found["command"], found["trials"]) == ("study table", len(frame))
    means = frame.groupby(["perturbation", "estimator"])["mass_error"].mean()
    for line in found["lines"]:
        mean = means[line["perturbation"], line["estimator"]]
        assert line["mass_error"] == pytest.approx(mean, nan_ok=True)
    pairs = json.loads(cli.done("study", "compare", done, "ols", "wls", "--json"))["lines"]
    assert {line["metric"] for line in pairs} >= {"mass_error", "consistent"}
