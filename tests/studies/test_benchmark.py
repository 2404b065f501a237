"""`identify benchmark`: methods as programs, what goes wrong in them, and its page."""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from identify.documents import read_toml
from identify.errors import StudyError
from identify.logs import Noise, synthetic_recording
from identify.reporting.study.benchmark import _with_families
from identify.studies import EstimatorOutput, TrialData, parse_study
from identify.studies.command_estimator import CommandEstimator, write_task
from identify.studies.metrics import METRICS
from identify.studies.study import Truth
from identify.studies.study_log import StudyLog
from tests.close import assert_close

ROOT = Path(__file__).parents[2]
PHI = np.array([1.5, 0.03, 0.02, 0.13, 0.02, 0.0, 0.0, 0.02, 0.0, 0.004])
ANSWER = (
    "import json, pathlib, sys; folder = pathlib.Path(sys.argv[-1]); "
    "(folder / 'estimate.json').write_text(json.dumps({}))"
)


@pytest.fixture(scope="module")
def data() -> TrialData:
    noise = Noise(force=0.05, torque=0.005)
    rng = np.random.default_rng(3)
    recording = synthetic_recording(PHI, rng=rng, duration=8.0, rate_hz=100.0, noise=noise)
    return TrialData(StudyLog.of(recording))


def program(answer: str) -> tuple[str, ...]:
    return (sys.executable, "-c", ANSWER.replace("{}", answer))


def test_a_program_gets_rows_and_the_log(data, tmp_path):
    write_task(data, tmp_path)
    rows = np.load(tmp_path / "rows.npz")
    phi = np.linalg.lstsq(rows["A"], rows["b"], rcond=None)[0]
    assert_close(phi, PHI, 2e-2)
    assert set(rows["channels"]) == set(range(6))
    heads = (tmp_path / "log.csv").read_text().split("\n", 1)[0]
    assert heads.startswith("time [s],")
    assert "fx" in heads
    known = json.loads((tmp_path / "task.json").read_text())
    assert known == {"gravity": [0.0, 0.0, -9.80665], "frames": {"wrench": "body"}}


def test_an_answer_with_intervals(data):
    answer = {"phi": PHI.tolist(), "intervals": [[x - 1.0, x + 1.0] for x in PHI], "refused": True}
    text = json.dumps(answer).replace("true", "True")
    output = CommandEstimator(command=program(text)).estimate(data)
    assert_close(output.phi, PHI)
    assert output.intervals["m"] == (0.5, 2.5)
    assert output.refused
    assert output.cpu_seconds > 0.0
    assert output.memory_mb > 1.0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("no-such-program",), "not installed: no-such-program"),
        ((sys.executable, "-c", "raise ValueError('no')"), "exit status 1: ValueError: no"),
        ((sys.executable, "-c", "import time; time.sleep(9)"), "stopped after 0.3 s"),
        ((sys.executable, "-c", "pass"), "no answer: FileNotFoundError"),
        (program("{'phi': [1.0] * 9}"), r"expected ten numbers.*got \(9,\)"),
        (program("{'phi': None}"), "expected ten numbers"),
        (program("[1.0]"), "no answer: TypeError"),
    ],
)
def test_what_goes_wrong_in_a_program(data, command, message):
    seconds = 0.3 if "sleep" in command[-1] else 30.0
    with pytest.raises(StudyError, match=message):
        CommandEstimator(command=command, seconds=seconds).estimate(data)


def test_scores_of_refusals():
    poor, truth = PHI.copy(), Truth(PHI)
    poor[0] *= 1.2

    def right(phi, refused):
        return METRICS["right"].compute(EstimatorOutput(phi, refused=refused), truth)["right"]

    assert (right(PHI, None), right(PHI, True)) == (1.0, 0.0)
    assert (right(poor, False), right(poor, True)) == (0.0, 1.0)
    assert METRICS["right"].compute(EstimatorOutput(PHI), None) == {"right": None}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rigeo_problem", "mujoco_sysid", "figaroh_fit"])
def test_adapters_find_the_body(name, data, tmp_path):
    path = ROOT / "experiments" / "peers" / f"{name}.py"
    assert len(path.read_text().splitlines()) <= 60
    if find_spec(name.partition("_")[0]) is None:
        pytest.skip(f"{name} is not installed")
    write_task(data, tmp_path)
    subprocess.run([sys.executable, path, tmp_path], check=True)
    assert_close(json.loads((tmp_path / "estimate.json").read_text())["phi"], PHI, 2e-2)


def test_a_run_says_what_failed_and_resumes(cli, tmp_path, monkeypatch):
    from identify.commands import benchmark

    tasks = read_toml(ROOT / "identify" / "studies" / "benchmark" / "tasks.toml", StudyError)
    few = dict(tasks) | {"perturbations": list(tasks["perturbations"])[:1]}
    few["logs"] = [{"kind": "synthetic", "duration": 8.0, "number": 1, "include": "pose"}]
    few["estimators"] = [e for e in tasks["estimators"] if e["label"] != "identify"]
    monkeypatch.setattr("identify.documents.read_toml", _reading(few))
    monkeypatch.setattr(benchmark, "_QUICK_NUMBER", 1)
    missing = tmp_path / "elsewhere.toml"
    missing.write_text("")
    words = ["benchmark", "--quick", "-o", str(tmp_path / "out"), "--workers", "0"]
    words += ["--method", "nine=" + " ".join(["no-such-program"]), "--tasks", str(missing)]
    monkeypatch.setattr(benchmark, "_TIME_LIMIT", None)
    status, out, _ = cli(*words)
    assert status == 0
    assert "generated: 6 trials, 2 failed" in out
    assert "elsewhere: not run: study: " in out
    drawn = json.loads((tmp_path / "out" / "run.json").read_text())["drawn"]
    text = (tmp_path / "out" / "benchmark.md").read_text()
    assert f"and {drawn} drawn" in text
    assert "not installed: no-such-program" in text
    assert "`cvxpy` | " in text
    scores = (tmp_path / "out" / "benchmark.csv").read_text()
    assert scores.startswith("family,method,score,n,mean,low,high,tasks\n")
    assert "\\begin{tabular}" in (tmp_path / "out" / "benchmark.tex").read_text()
    assert cli(*words).status == 0  # resumed, with the same seed
    assert json.loads((tmp_path / "out" / "run.json").read_text())["drawn"] == drawn
    assert (tmp_path / "out" / "benchmark.csv").read_text() == scores


def test_errors_of_refused_answers_do_not_count():
    frame = pd.DataFrame(
        {"perturbation": ["a", "a"], "mass_error": [1.0, 2.0], "log_excitation": [1.0, 0.2]}
    )
    plain = _with_families(frame)  # such as of arms
    assert plain["mass_error"].tolist() == [1.0, 2.0]
    assert plain["perturbation"].tolist() == ["a", "a, weak motion"]
    refused = _with_families(frame.assign(refused=[0.0, 1.0]))
    assert refused["mass_error"].isna().tolist() == [False, True]


def _reading(few):
    return lambda path, error: few if path.name == "tasks.toml" else {"logs": []}


def test_a_method_without_a_command(cli, tmp_path):
    status, _, err = cli("benchmark", "-o", tmp_path / "out", "--method", "rigeo")
    assert (status, (tmp_path / "out").exists()) == (2, False)
    assert "expected NAME=COMMAND" in err


def test_the_shipped_tasks_are_a_study():
    tasks = dict(read_toml(ROOT / "identify" / "studies" / "benchmark" / "tasks.toml", StudyError))
    assert tasks.pop("version") == 1
    study = parse_study(tasks, ROOT / "identify" / "studies" / "benchmark")
    assert [each.label for each in study.perturbations] == [
        "clean",
        "noisy pose",
        "small fault",
        "misreading",
    ]
    other = tasks | {"logs": [{**tasks["logs"][0], "draw": 7}], "estimators": ["ols"]}
    drawn = parse_study(other)
    assert drawn.logs[0].data_digest != study.logs[0].data_digest


def test_the_folder_of_a_kit(cli, tmp_path):
    status, out, _ = cli("benchmark", "check", tmp_path)
    assert status == 2
    assert "loaded/: 0 logs, expected 3 or more" in out
    assert "measurement.toml: no such file" in out
    keys = ("body", "robot", "sensor", "temperature_c", "licence", "citation")
    (tmp_path / "measurement.toml").write_text("".join(f'{key} = "x"\n' for key in keys))
    arm = ROOT / "datasets" / "payload_arm"
    for name in ("truth.json", "schema.toml"):
        shutil.copy(arm / name, tmp_path / name)
    for kind, number in (("loaded", 3), ("empty", 1)):
        (tmp_path / kind).mkdir()
        for k in range(number):
            (tmp_path / kind / f"{k}.parquet").symlink_to(arm / "payload_arm.parquet")
    assert "is complete" in cli.done("benchmark", "check", tmp_path)
    (tmp_path / "empty" / "0.parquet").unlink()
    (tmp_path / "empty" / "0.csv").write_text("t\n")
    status, out, _ = cli("benchmark", "check", tmp_path)
    assert (status, out.count("missing or wrong")) == (2, 1)
