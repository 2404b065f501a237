"""A function in a file beside the study as an estimator."""

from pathlib import Path

import pytest

from identify.errors import StudyError
from identify.studies import load_study, open_results, parse_study, run_study

FILE = """
import numpy as np
from identify.estimation import EstimatorSettings, body_system, weighted_least_squares
from identify.studies import EstimatorOutput

HALF = 0.5


def ridge(data, options):
    fit = weighted_least_squares(body_system([data.blocks], EstimatorSettings()))
    A, b = fit.problem.A @ fit.scaling.to_x, fit.problem.b
    theta = np.linalg.solve(A.T @ A + options.get("weight", HALF) * np.eye(10), A.T @ b)
    return fit.scaling.to_x @ theta


def told(data, options):
    return EstimatorOutput(np.eye(10)[0] * options["mass"][1], 1, {"m": (0.0, 9.0)}, solver="mine")


def short(data, options):
    return [1.0, 2.0]


def words(data, options=None):
    return "heavy"


def three(data, options, more):
    return None
"""


def study_in(folder: Path, *estimators: object, text: str = FILE):
    (folder / "mine.py").write_text(text, encoding="utf-8")
    content = {
        "name": "own",
        "seed": 1,
        "logs": [{"kind": "synthetic", "number": 1, "duration": 3.0, "rate_hz": 100.0}],
        "perturbations": [{"kind": "noise", "force": 0.1, "torque": 0.01}],
        "estimators": list(estimators),
        "metrics": ["mass_error", "covered", "n_identifiable"],
    }
    return parse_study(content, folder)


def rows_of(study, folder: Path, workers: int = 0) -> dict[str, dict]:
    run_study(study, folder / "out", workers=workers)
    frame = open_results(folder / "out").frame
    return {row["estimator"]: row for row in frame.to_dict("records")}


@pytest.mark.parametrize("workers", [0, 1])
def test_custom_estimator_runs_with_option_grid(tmp_path, workers):
    study = study_in(
        tmp_path,
        "wls",
        "mine.py:ridge",
        {"kind": "mine.py:ridge", "weight": [1e-9, 1e9]},
        {"kind": "mine.py:told", "label": "by heart", "mass": [[1.0, 2.0]]},
    )
    rows = rows_of(study, tmp_path, workers)
    labels = ["wls", "ridge", "ridge(weight=1e-09)", "ridge(weight=1e+09)", "by heart"]
    assert sorted(rows) == sorted(labels)
    none, much = rows["ridge(weight=1e-09)"], rows["ridge(weight=1e+09)"]
    assert none["mass_error"] == pytest.approx(rows["wls"]["mass_error"], abs=1e-2)
    assert much["mass_error"] > 90.0
    assert much["estimator_function"] == "mine.py:ridge"
    assert much["estimator_weight"] == 1e9
    assert len(much["estimator_sha256"]) == 64
    told = rows["by heart"]
    assert (told["solver"], told["n_identifiable"], told["covered_m"]) == ("mine", 1.0, 1.0)


def test_a_file_that_changed_is_run_again_and_the_same_is_not(tmp_path):
    first = [trial.key for trial in study_in(tmp_path, "mine.py:ridge").trials()]
    same = [trial.key for trial in study_in(tmp_path, "mine.py:ridge").trials()]
    other = study_in(tmp_path, "mine.py:ridge", text=FILE.replace("HALF = 0.5", "HALF = 0.6"))
    assert first == same
    assert first != [trial.key for trial in other.trials()]
    weighed = study_in(tmp_path, {"kind": "mine.py:ridge", "weight": 0.5})
    assert first != [trial.key for trial in weighed.trials()]


def test_reading_a_study_does_not_execute_estimator_file(tmp_path):
    study = study_in(tmp_path, "mine.py:ridge", text=FILE + "\nraise SystemError('now')\n")
    (row,) = rows_of(study, tmp_path).values()
    assert (row["error_type"], row["error"]) == ("SystemError", "now")


def test_invalid_estimator_output_is_row_error(tmp_path):
    rows = rows_of(study_in(tmp_path, "wls", "mine.py:short", "mine.py:words"), tmp_path)
    assert rows["wls"]["status"] == "solved"
    assert "mine.py:short: expected ten numbers (m, hx" in rows["short"]["error"]
    assert rows["short"]["error"].endswith("got list of shape (2,)")
    assert rows["words"]["error"].endswith("got 'heavy'")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("other.py:ridge", r"estimators\]\] no. 1: other.py:ridge: .*other.py cannot be read: No"),
        ("mine.py:rigde", r"has no function 'rigde'; did you mean 'ridge'\?; it has ridge, told"),
        ("mine.py:", r"has no function ''"),
        ("mine.py:three", r"two arguments, .* got three\(data, options, more\)"),
    ],
)
def test_uncallable_estimator_is_rejected_before_run(tmp_path, kind, message):
    with pytest.raises(StudyError, match=message):
        study_in(tmp_path, kind)
    (tmp_path / "broken.py").write_text("def (", encoding="utf-8")
    with pytest.raises(StudyError, match=r"broken.py is not valid Python: .*line 1"):
        study_in(tmp_path, "broken.py:f")


def test_a_path_is_from_the_folder_of_the_study_file(tmp_path):
    folder = tmp_path / "deep"
    folder.mkdir()
    (folder / "mine.py").write_text(FILE, encoding="utf-8")
    (folder / "s.toml").write_text(
        'name = "s"\nseed = 1\nestimators = ["mine.py:ridge"]\n[[logs]]\nkind = "synthetic"\n'
        "number = 1\nduration = 3.0\n",
        encoding="utf-8",
    )
    (trial,) = load_study(folder / "s.toml").trials()
    assert trial.estimator.label == "ridge"
