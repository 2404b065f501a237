"""`identify benchmark`: methods as programs, what goes wrong in them, and its page."""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
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
from identify.studies.estimators import ConsistentLeastSquares, OrdinaryLeastSquares, WholeFit
from identify.studies.metrics import METRICS
from identify.studies.perturbations import RowsAlone
from identify.studies.study import Truth
from identify.studies.study_log import NotForTask, StudyLog
from tests.arms.simulated import LOAD, read_arm_model, simulate
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
        (
            (sys.executable, "-c", "raise ValueError('no')"),
            "ended by exit status 1: ValueError: no",
        ),
        (
            (sys.executable, "-c", "raise ValueError('a matrix\\nis singular')"),
            "exit status 1: ValueError: a matrix is singular",
        ),
        (("sh", "-c", "echo one; echo two >&2; exit 3"), "sh ended by exit status 3: one two"),
        (("sh", "-c", "kill -9 $$"), "sh ended by SIGKILL: it wrote no message"),
        ((sys.executable, "-c", "import time; time.sleep(9)"), "stopped after 0.3 s"),
        (("sh", "-c", "sleep 9; true"), "stopped after 0.3 s"),
        ((sys.executable, "-c", "pass"), "ended without an error, and wrote no estimate.json"),
        (program("{'phi': [1.0] * 9}"), r"ten numbers m, hx.*got \"phi\" of shape \(9,\)"),
        (program("{'phi': None}"), r"got \"phi\" of shape \(\)"),
        (program("{'phi': ['a']}"), r"got {\"phi\": \[\"a\"\]} \(could not convert"),
        (program("{'refused': False}"), r"got {\"refused\": false} \('phi'\)"),
        (program("[1.0]"), r"got \[1.0\] \('list' object"),
        (
            program("{'phi': [1.0] * 10, 'intervals': [[0.0, 1.0]]}"),
            r"ten \"intervals\", .*got \"intervals\" of shape \(1, 2\)",
        ),
    ],
)
def test_what_goes_wrong_in_a_program(data, command, message):
    seconds = 0.3 if "sleep" in command[-1] else 30.0
    began = time.monotonic()
    with pytest.raises(StudyError, match=message):
        CommandEstimator(command=command, seconds=seconds).estimate(data)
    assert "sleep" not in command[-1] or time.monotonic() - began < 8.0


@pytest.fixture(scope="module")
def arm(pinocchio, tmp_path_factory) -> StudyLog:
    """An arm without and with a load, whose torques have no noise."""
    robot = read_arm_model(tmp_path_factory.mktemp("arm"))
    loaded, unloaded = simulate(robot, 1, load=LOAD), simulate(robot, 2)
    return StudyLog("arm", (loaded,), (unloaded,), robot, "tool")


def test_rows_of_a_load(arm, tmp_path):
    """Torques of inverse dynamics, links other than the model's, and friction give exact rows."""
    data = TrialData(arm)
    assert_close(data.rows.least_squares(), LOAD.phi, 1e-4)
    assert set(data.rows.channels) == {0, 1, 2}
    assert_close(OrdinaryLeastSquares().estimate(data).phi, LOAD.phi, 1e-4)
    write_task(data, tmp_path)
    rows = np.load(tmp_path / "rows.npz")
    assert_close(np.linalg.lstsq(rows["A"], rows["b"], rcond=None)[0], LOAD.phi, 1e-4)
    assert not (tmp_path / "log.csv").exists()
    with pytest.raises(NotForTask, match="not for this task: logs of an arm without a load"):
        CommandEstimator(command=program("{}")).estimate(TrialData(replace(arm, loaded=())))


def test_an_error_with_its_cause_is_a_refusal(data):
    """The sign of the wrench is wrong: there is no estimate, and least squares would be poor."""
    signals = data.recording.signals
    other = {name: -signals[name] for name in ("force", "torque")}
    misread = TrialData(StudyLog.of(replace(data.recording, signals={**signals, **other})))
    output = WholeFit().estimate(misread)
    assert (output.phi, output.refused, output.reasons) == (None, True, ("wrench_sign",))
    assert output.refused_phi[0] < 0.0
    truth = Truth(PHI, np.ones(3))
    scores = {name: metric.compute(output, truth) for name, metric in METRICS.items()}
    assert scores["right"] == {"right": 1.0}
    assert scores["refused"] == {"refused": 1.0}
    assert scores["mass_error"] == {"mass_error": None}
    rightly = replace(output, refused_phi=PHI)  # what was refused was sound
    assert METRICS["right"].compute(rightly, truth) == {"right": 0.0}
    assert WholeFit().estimate(data).reasons == ()


def test_rows_alone(data, arm):
    """Methods that need a log are not for them; the others get what they get of the log."""
    for log in (data.log, arm):
        alone = TrialData(RowsAlone().apply_to_log(log, np.random.SeedSequence(1)))
        assert np.array_equal(alone.rows.A, TrialData(log).rows.A)
        phi = alone.rows.least_squares()
        assert_close(OrdinaryLeastSquares().estimate(alone).phi, phi, 1e-12)
        assert_close(WholeFit().estimate(alone).phi, phi, 3e-2)
        with pytest.raises(NotForTask, match="not for this task: the estimator takes the motion"):
            ConsistentLeastSquares().estimate(alone)
        with pytest.raises(NotForTask, match="takes the joints of an arm"):
            _ = alone.robot


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
    refusing = tmp_path / "refusing.py"
    refusing.write_text(
        "from identify.studies import EstimatorOutput\n\n\n"
        "def refuse(data, options):\n"
        "    reasons = ('too_dense', 'unexplained')\n"
        "    return EstimatorOutput(None, refused=True, reasons=reasons)\n"
    )
    words += [
        "--method",
        f"careful={refusing}:refuse",
        "--method",
        "nine=no-such-program",
        "--method",
        f"absent={tmp_path / 'absent.py'}:estimate",
        "--method",
        f"misspelt={refusing}:refuze",
        "--tasks",
        str(missing),
    ]
    status, out, _ = cli(*words)
    assert status == 0
    assert "generated: 12 trials, 6 failed, 0 not for the task" in out
    assert "elsewhere: not run: study: " in out
    drawn = json.loads((tmp_path / "out" / "run.json").read_text())["drawn"]
    text = (tmp_path / "out" / "benchmark.md").read_text()
    assert f"and {drawn} drawn" in text
    assert "not installed: no-such-program" in text
    assert "absent.py cannot be read: No such file or directory" in text
    assert "refusing.py has no function 'refuze'; did you mean 'refuse'?" in text
    assert "`cvxpy` | " in text
    scores = (tmp_path / "out" / "benchmark.csv").read_text()
    assert scores.startswith("family,method,score,n,mean,low,high,tasks\n")
    for code in ("too_dense", "unexplained"):
        assert f"clean,careful,refused: {code},2,1.0,1.0,1.0,generated\n" in scores
    assert scores.count("refused: ") == 2
    assert "| `careful` | `clean` | 2 | " in text
    assert "| `too_dense, unexplained` |" in text
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


@pytest.mark.parametrize(
    ("method", "message"),
    [("rigeo", "expected NAME=COMMAND"), ("rigeo=python 'rigeo.py", "No closing quotation")],
)
def test_a_method_that_is_no_command(cli, tmp_path, method, message):
    status, _, err = cli("benchmark", "-o", tmp_path / "out", "--method", method)
    assert (status, (tmp_path / "out").exists()) == (2, False)
    assert message in err


def test_the_shipped_tasks_are_a_study():
    tasks = dict(read_toml(ROOT / "identify" / "studies" / "benchmark" / "tasks.toml", StudyError))
    assert tasks.pop("version") == 3
    study = parse_study(tasks, ROOT / "identify" / "studies" / "benchmark")
    assert [each.label for each in study.perturbations] == [
        "clean",
        "noisy pose",
        "small fault",
        "misreading",
        "rows alone",
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
