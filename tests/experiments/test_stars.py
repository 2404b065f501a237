"""The STARS study end to end: on a made-up set always, on the logs themselves where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import stars
from experiments.stars_study.corruptions import LEVELS, corrupt, noise_generator
from experiments.stars_study.estimators import ESTIMATORS, Answer
from experiments.stars_study.metrics import mass_error
from experiments.stars_study.run import NAMES, Outcome, coverage, fit_once, run, run_log
from experiments.stars_study.tools import FOLDER_VARIABLES, load_tool, published_scores, tool_names
from experiments.stars_study.write import ESTIMATE, TARGETS, Study, report
from identify.errors import SolveError
from identify.pipeline import fit

NONE, LOW = LEVELS[0], LEVELS[1]


def everything(folder, **choices) -> list[Outcome]:
    return [outcome for part in run(folder, **choices) for outcome in part]


def without_times(outcomes: Sequence[Outcome]) -> str:
    return repr([replace(outcome, seconds=0.0) for outcome in outcomes])


def study_of(folder, outcomes: Sequence[Outcome]) -> Study:
    bodies = {name: load_tool(folder, name).phi for name in tool_names(folder)}
    return Study(outcomes, published_scores(folder), bodies, seconds=1.0, workers=1)


def failing(error: Exception):
    def estimator(log) -> Answer:
        raise error

    return "failing", estimator


def test_without_noise_every_estimator_finds_the_body(made_up_folder):
    outcomes = everything(made_up_folder, levels=[NONE], seeds=1)
    assert len(outcomes) == 2 * len(ESTIMATORS)
    for outcome in outcomes:
        assert outcome.error == ""
        assert outcome.consistent
        assert max(outcome.mass_error, outcome.first_moment_error, outcome.inertia_error) < 1e-5
        assert outcome.told == 10


def test_a_run_is_what_fit_gives_for_the_noisy_log(made_up_folder):
    tool = load_tool(made_up_folder, "Rod")
    noisy = corrupt(tool.recording, LOW, noise_generator(LEVELS.index(LOW), 1, 7))
    (outcome,) = (o for o in run_log(tool, LOW, 1, 7) if o.estimator == ESTIMATE)
    estimate = fit(noisy).estimate
    assert outcome.mass_error == mass_error(estimate.parameters.phi, tool.phi)
    assert outcome.solver == estimate.certificate.solver


def test_two_workers_find_what_one_finds(made_up_folder):
    alone = everything(made_up_folder, levels=[LOW], seeds=1)
    together = everything(made_up_folder, levels=[LOW], seeds=1, workers=2)
    assert without_times(together) == without_times(alone)


@pytest.mark.parametrize(
    ("error", "solver_failed"),
    [(SolveError("did not converge"), True), (ZeroDivisionError("oops"), False)],
)
def test_a_failed_fit_is_an_outcome_and_not_the_end(made_up_folder, error, solver_failed):
    tool = load_tool(made_up_folder, "Box")
    outcome = fit_once(tool, LOW, 0, failing(error), log=None)
    assert outcome.error == f"{type(error).__name__}: {error}"
    assert outcome.solver_failed is solver_failed
    assert not outcome.consistent
    assert np.isnan(outcome.mass_error)


def test_coverage_is_judged_against_the_truth(made_up_folder):
    tool = load_tool(made_up_folder, "Box")
    m, hx = tool.phi[:2]
    intervals = {"m": (m - 0.1, m + 0.1), "hx": (hx + 0.1, hx + 0.2), "hy": None}
    covered = dict(zip(NAMES, coverage(Answer(tool.phi, intervals=intervals), tool), strict=True))
    assert covered["m"] == 1.0
    assert covered["hx"] == 0.0
    assert np.isnan(covered["hy"])


def test_the_report_counts_failures_against_consistency(made_up_folder):
    outcomes = everything(made_up_folder, levels=[LOW], seeds=1)
    tool = load_tool(made_up_folder, "Box")
    label, estimator = failing(SolveError("did not converge"))
    failed = replace(fit_once(tool, LOW, 1, (label, estimator), log=None), estimator=ESTIMATE)
    text = report(study_of(made_up_folder, [*outcomes, failed]))
    assert "| solver failures | all | 1 | 0 | **no** |" in text
    assert "| consistent estimates % | all | 66.67 | 100 | **no** |" in text
    assert "SolveError: did not converge" in text
    assert "published OLS" in text


def test_the_command_writes_the_report(made_up_folder, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(FOLDER_VARIABLES[0], str(made_up_folder))
    path = tmp_path / "new" / "stars.md"
    assert stars.main(["-o", str(path), "--seeds", "1", "--workers", "1"]) == 0
    text = path.read_text(encoding="utf-8")
    for heading in ("Targets", "Scores", "By tool", "Intervals", "Times"):
        assert f"## {heading}" in text
    assert "## Scores" in capsys.readouterr().out


def test_without_data_the_command_says_what_to_set(monkeypatch, tmp_path, capsys):
    for name in FOLDER_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert stars.main(["-o", str(tmp_path / "stars.md")]) == 2
    assert "set IDENTIFY_SHARED_DATA or IDENTIFY_DATA" in capsys.readouterr().err
    monkeypatch.setenv(FOLDER_VARIABLES[1], str(tmp_path / "nowhere"))
    assert stars.main(["-o", str(tmp_path / "stars.md")]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert not (tmp_path / "stars.md").exists()


def test_accuracy_on_the_noisy_tools(stars_folder):
    """Mean errors within their targets, every estimate consistent, no fit without an estimate."""
    outcomes = everything(stars_folder, levels=LEVELS[1:], seeds=2)
    frame = pd.DataFrame([o for o in outcomes if o.estimator == ESTIMATE])
    assert len(frame) == 20 * 2 * 3
    assert frame[frame["error"] != ""][["tool", "level", "seed", "error"]].values.tolist() == []
    assert frame["consistent"].all()
    for metric, limits in TARGETS.items():
        means = frame.groupby("level")[metric].mean()
        for level, limit in limits.items():
            assert means[level] <= limit, f"{metric} at {level} noise"


def test_accuracy_on_the_tools_without_noise(stars_folder):
    outcomes = everything(stars_folder, levels=[NONE], seeds=1)
    frame = pd.DataFrame([o for o in outcomes if o.estimator == ESTIMATE])
    assert (frame["error"] == "").all()
    assert frame["consistent"].all()
    assert frame[["mass_error", "first_moment_error"]].to_numpy().max() <= 5e-4
