from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from identify.errors import StudyError
from identify.studies import compare, open_results, run_study, table
from identify.studies.results import Results
from identify.studies.store import StoreInfo
from tests.close import assert_close
from tests.studies.hostile import GivesNoNumber, Raises
from tests.studies.studies import quick, with_estimators


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("results")
    logs = [{"kind": "synthetic", "number": 3, "duration": 4.0, "rate_hz": 50.0}]
    run_study(with_estimators(quick(logs=logs), bad=Raises()), folder, workers=0)
    return open_results(folder)


def made_up(errors: dict[tuple[str, str, int], float]) -> Results:
    """Rows of one perturbation from errors by (estimator, log, seed)."""
    frame = pd.DataFrame(
        [
            {
                "key": str(number),
                "log": log,
                "log_data": log,
                "perturbation": "noise",
                "seed": seed,
                "noise_seed": f"{log}{seed}",
                "estimator": estimator,
                "mass_error": error,
                "error_type": None,
            }
            for number, ((estimator, log, seed), error) in enumerate(errors.items())
        ]
    )
    return Results(Path("made_up"), frame, StoreInfo("made up"), "code")


def test_means_are_by_perturbation_and_estimator_in_the_studys_order(
    results: Results,
) -> None:
    means = table(results)
    assert means["perturbation"].tolist() == [
        each for each in ("none", "noise(force=0.05)", "noise(force=0.2)") for _ in range(3)
    ]
    assert means["estimator"].tolist() == ["ols", "wls", "bad"] * 3
    row = means.iloc[4]
    frame = results.frame
    chosen = frame[(frame["perturbation"] == "noise(force=0.05)") & (frame["estimator"] == "wls")]
    assert_close(row["mass_error"], np.mean(chosen["mass_error"]))
    assert (row["cells"], row["failed"]) == (9, 0)
    assert means.iloc[5]["failed"] == 9
    assert np.isnan(means.iloc[5]["mass_error"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: table(r, ["mass_eror"]), "no metric 'mass_eror'; did you mean 'mass_error'"),
        (lambda r: table(r, by=["perturbatoin"]), "no column 'perturbatoin'; did you mean"),
        (lambda r: compare(r, "ols", "wlss"), "no estimator 'wlss' among "),
        (
            lambda r: compare(r, "ols", "wls", ["riemann"]),
            "'riemann'; they have mass_err",
        ),
        (lambda r: table(r, by=["x"]), "no column 'x'; it has key, code, "),
    ],
)
def test_missing_results_raise(results: Results, call, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        call(results)


def test_the_interval_is_students_over_the_logs() -> None:
    rng = np.random.default_rng(3)
    logs, seeds = list("abcdef"), range(4)
    first = {("A", log, seed): rng.uniform() for log in logs for seed in seeds}
    second = {("B", log, seed): rng.uniform() for log in logs for seed in seeds}
    row = compare(made_up(first | second), "A", "B", ["mass_error"]).iloc[0]
    differences = np.array(
        [np.mean([second["B", log, s] - first["A", log, s] for s in seeds]) for log in logs]
    )
    expected = stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)
    assert_close(row["difference"], differences.mean())
    assert_close([row["low"], row["high"]], [expected.low, expected.high])
    assert_close(row["second"] - row["first"], row["difference"])
    assert (row["pairs"], row["logs"], row["unpaired"]) == (24, 6, 0)


def test_the_interval_of_a_share_is_within_what_is_possible() -> None:
    hits = {("A", log, 0): float(log != "a") for log in "abc"}
    hits |= {("B", log, 0): float(log == "a") for log in "abc"}
    found = made_up(hits)
    found.frame["consistent"] = found.frame["mass_error"]
    frame = compare(found, "A", "B", ["consistent", "mass_error"]).set_index("metric")
    assert frame.loc["consistent", ["low", "high"]].tolist() == [-1.0, 1.0]
    assert frame.loc["mass_error", "low"] < -1.0


def test_unpaired_trials_are_excluded() -> None:
    errors = {("A", "a", 0): 1.0, ("B", "a", 0): 0.5, ("A", "b", 0): 9.0, ("B", "c", 0): 7.0}
    row = compare(made_up(errors), "A", "B", ["mass_error"]).iloc[0]
    assert (row["pairs"], row["unpaired"], row["difference"]) == (1, 2, -0.5)
    assert np.isnan(row["low"])


def test_nan_estimate_counts_as_failure(tmp_path: Path) -> None:
    run_study(with_estimators(quick(seeds=1), none=GivesNoNumber()), tmp_path, workers=0)
    rows = open_results(tmp_path).frame
    failed = rows[rows["estimator"] == "none"]
    assert (failed["error_type"] == "StudyError").all()
    assert failed["error"].str.contains("not a number").all()
